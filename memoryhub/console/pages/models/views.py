"""The models that a tenant asks, a test of each, what they cost and may cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings as hub
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters

from memoryhub.console.frame.access import (
    ADMIN,
    action_at,
    operator_view,
    page_at,
    tenant_page,
    tenant_view,
)
from memoryhub.console.frame.forms import run_and_report
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.pages.embeddings.views import (
    count_embedded_spaces,
    find_embedder_in_use,
    list_embedder_options,
)
from memoryhub.console.pages.models import endpoint_check
from memoryhub.console.pages.models.endpoint_check import ModelProbe
from memoryhub.console.pages.policies import switch_form
from memoryhub.console.pages.usage.views import sum_usage_since
from memoryhub.errors import InvalidInput, MemoryHubError
from memoryhub.inference import connections
from memoryhub.inference.budgets import compute_day_start
from memoryhub.inference.connections import ConnectionDraft, Level
from memoryhub.inference.models import HubModels
from memoryhub.inference.prices import Price
from memoryhub.inference.selection import get_current_embedder, offer_embedder
from memoryhub.policies.services import load_layers
from memoryhub.policies.switches import MODEL, PURPOSE_SWITCHES, get_family
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import set_tenant_engine
from notes.models import IndexEntry

BUDGET_SWITCHES = ("llm.budget_tokens_per_day", "llm.budget_money_per_day")
MODEL_SWITCHES = tuple(name for name in PURPOSE_SWITCHES if get_family(name) == MODEL)
SPARE_PRICES = 2  # empty lines of the price list
MOST_PRICES = 200


@dataclass(frozen=True, slots=True)
class ConnectionForm:
    """What the form of a level holds: never a key, only whether one is kept."""

    level: Level
    url: str
    model: str
    has_key: bool
    is_set: bool
    trouble: str = ""
    trouble_at: str = ""  # the field: url, model or key
    # It was filled in and comes back: it stays open, to be gone on with.
    is_open: bool = False


@page_at("models/", "models")
@tenant_page()
def models_page(request: ConsoleRequest) -> HttpResponse:
    return render(request, "models/models.html", _build_models_context(request))


def _build_models_context(
    request: ConsoleRequest,
    sent: ConnectionForm | None = None,
    sent_prices: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    layers, spent = (
        load_layers(request.tenant.id, None),
        sum_usage_since(compute_day_start(timezone.now())),
    )
    set_for_all = connections.load_hub_models()
    known = connections.describe_connection(request.tenant, set_for_all)
    embedder, embedder_trouble = find_embedder_in_use(set_for_all)
    return {
        "configured": endpoint_check.list_connection_parts(known),
        "abilities": endpoint_check.read_known_abilities(known),
        "forms": _list_connection_forms(request, set_for_all, sent),
        "hosts": hub.TENANT_ENDPOINTS,
        "engines": Tenant.Engine.choices,
        "layers": layers,
        "budgets": switch_form.build_switch_rows(layers, BUDGET_SWITCHES),
        "purposes": switch_form.build_switch_rows(layers, MODEL_SWITCHES),
        "own_models": sum(bool(name) for name in layers.policy.llm.model.values()),
        "spent": _("today: %(tokens)s tokens, cost %(money)s")
        % {"tokens": f"{spent.tokens:,}", "money": f"{spent.money:.2f}"},
        "prices": _list_prices(set_for_all, sent_prices),
        "spare_prices": range(SPARE_PRICES),
        "embedder": endpoint_check.list_embedder_parts(set_for_all.embedder_endpoint),
        "chosen_embedder": set_for_all.embedder,
        "known_embedders": list_embedder_options(embedder) if _operates(request) else (),
        "embedder_name": embedder or embedder_trouble,
        "embedded_spaces": count_embedded_spaces(embedder)[0],
        "embedded_texts": IndexEntry.objects.count(),
        "now": timezone.now(),
    }


def _operates(request: ConsoleRequest) -> bool:
    return request.user.is_superuser and request.seat.can_administer


def _list_connection_forms(
    request: ConsoleRequest, set_for_all: HubModels, sent: ConnectionForm | None
) -> list[ConnectionForm]:
    """Those that this person may fill in."""
    operates = _operates(request)
    if not (request.seat.can_administer and connections.may_name_endpoint(operates=operates)):
        return []
    kept: dict[Level, Any] = {"tenant": request.tenant}
    if operates:
        kept["hub"] = set_for_all
    own = [
        ConnectionForm(level, row.endpoint, row.model, bool(row.sealed_key), bool(row.endpoint))
        for level, row in kept.items()
    ]
    return [sent if sent and sent.level == form.level else form for form in own]


def _list_prices(
    set_for_all: HubModels, sent: Mapping[str, Any] | None
) -> list[tuple[str, Price | Mapping[str, str], bool]]:
    """(model, price, whether it was set here), by name. `sent`: what was typed and refused stands
    in place of what is set."""
    own = set_for_all.prices if sent is None else sent
    merged = connections.merge_prices(set_for_all)
    known = {name: price for name, price in merged.items() if name not in set_for_all.prices}
    prices = merged if sent is None else {**known, **sent}
    return [(name, price, name in own) for name, price in sorted(prices.items())]


@action_at("models/test", "models-test")
@operator_view
def probe_models(request: ConsoleRequest) -> HttpResponse:
    """Ask the endpoints. What comes of it is shown in the answer."""
    tested = [endpoint_check.probe_embedding_model(get_current_embedder, hub.OPENAI_API_KEY)]
    if connections.is_connected(request.tenant) or request.tenant.engine == Tenant.Engine.LLM:
        tested.insert(0, endpoint_check.probe_tenant_model(request.tenant))
    return _render_tested(request, tested)


def _render_tested(
    request: ConsoleRequest,
    tested: list[ModelProbe],
    sent: ConnectionForm | None = None,
    status: int = 200,
    sent_prices: Mapping[str, Any] | None = None,
) -> HttpResponse:
    with tenant_scope(request.tenant.id):
        context = {"tested": tested, **_build_models_context(request, sent, sent_prices)}
        return render(request, "models/models.html", context, status=status)


@action_at("models/connection", "models-connection")
@sensitive_post_parameters("key")
@tenant_view(role=ADMIN)
def change_connection(request: ConsoleRequest) -> HttpResponse:
    """Test an endpoint with its key, and keep both once it answers; or take them away."""
    level, operates = _read_level(request), _operates(request)
    if request.POST.get("action") == "clear":
        connections.clear_connection(level, request.tenant.id, request.actor)
        messages.success(request, _("Removed. It applies from the next request on."))
        return redirect("models")
    kept: Any = request.tenant if level == "tenant" else connections.load_hub_models()
    given = {name: request.POST.get(name, "").replace("\0", "") for name in ("url", "model", "key")}
    form = ConnectionForm(
        level,
        given["url"],
        given["model"],
        bool(kept.sealed_key),
        bool(kept.endpoint),
        is_open=True,
    )
    key = given["key"] or ("" if request.POST.get("no_key") else None)
    draft = ConnectionDraft(given["url"], given["model"], key)
    try:
        wanted = connections.check_draft(draft, kept, operates=operates)
    except InvalidInput as error:
        wrong = replace(form, trouble=error.message, trouble_at=error.field or "")
        return _render_tested(request, [], wrong, status=422)
    tested = endpoint_check.probe_language_model(wanted)
    saves = request.POST.get("action") == "save"
    if saves and (tested.trouble is None or request.POST.get("anyway")):
        connections.save_connection(level, request.tenant.id, wanted, request.actor)
        messages.success(request, _("Saved. It applies from the next request on."))
        return redirect("models")
    if saves:
        messages.error(request, _("Not saved: the test failed."))
    return _render_tested(request, [tested], form)


def _read_level(request: ConsoleRequest) -> Level:
    """Raises PermissionDenied for what is the operator's to set."""
    operates = _operates(request)
    if request.POST.get("level") == "hub":
        if not operates:
            raise PermissionDenied("Only an operator of the hub may set its endpoint.")
        return "hub"
    if not connections.may_name_endpoint(operates=operates):
        raise PermissionDenied("Only an operator of the hub may name endpoints.")
    return "tenant"


@action_at("models/embedder", "models-embedder")
@operator_view
def choose_embedder(request: ConsoleRequest) -> HttpResponse:
    """Have one text embedded, and let the hub's spaces change over once that works."""
    chosen = ("", "", "")  # the environment's
    if name := request.POST.get("embedder", "").replace("\0", "").strip():
        try:
            offer = offer_embedder(name)
        except MemoryHubError as error:
            messages.error(request, _("Not saved: %(why)s") % {"why": error.message})
            return redirect("models")
        tested = endpoint_check.probe_embedding_model(lambda: offer.embedder, offer.key)
        if tested.trouble is not None:
            messages.error(request, _("Not saved: the test failed."))
            return _render_tested(request, [tested])
        chosen = (offer.embedder.name, offer.url, offer.key)
    connections.save_embedder(*chosen, request.tenant.id, request.actor)
    messages.success(request, _("Saved. Spaces switch over one after the other."))
    return redirect("models")


@action_at("models/prices", "models-prices")
@operator_view
def change_prices(request: ConsoleRequest) -> HttpResponse:
    """The hub's price list as it was sent, whole; a line without a model counts for nothing."""
    prices = _read_prices(request)
    is_saved = run_and_report(
        request,
        lambda: connections.save_prices(prices, request.tenant.id, request.actor),
        _("Saved. It applies from the next request on."),
        refused=_("Not saved"),
    )
    if is_saved:
        return redirect("models")
    return _render_tested(request, [], sent_prices=prices, status=422)


def _read_prices(request: ConsoleRequest) -> Mapping[str, Any]:
    columns = (
        request.POST.getlist(name)[:MOST_PRICES] for name in ("name", "prompt", "completion")
    )
    return {
        name.strip(): {"prompt": prompt or "0", "completion": completion or "0"}
        for name, prompt, completion in zip(*columns, strict=False)
        if name.strip()
    }


@action_at("models/engine", "models-engine")
@operator_view
def choose_engine(request: ConsoleRequest) -> HttpResponse:
    """Whether rules or a model read what is said: a model costs the hub's operator."""
    engine = request.POST.get("engine", "")
    if engine == Tenant.Engine.LLM and not connections.is_connected(request.tenant):
        said = _(
            "Not changed: enter an endpoint and a model first, or set OPENAI_BASE_URL and "
            "MEMORYHUB_LLM_MODEL."
        )
        messages.error(request, said)
    else:
        run_and_report(
            request,
            lambda: set_tenant_engine(request.tenant.id, engine, actor=request.actor),
            _("Changed. It applies from the next job on."),
            refused=_("Not changed"),
        )
    return redirect("models")
