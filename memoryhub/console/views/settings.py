"""What belongs to the tenant as a whole: its name, its models and budgets, its data."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from django.conf import settings as hub
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from memoryhub.console import policies
from memoryhub.console.access import need, operator_view, tenant_page, tenant_view
from memoryhub.console.outcomes import tried
from memoryhub.console.queries import engines, usage
from memoryhub.console.queries import settings as queries
from memoryhub.console.requests import ConsoleRequest
from memoryhub.errors import NotFound
from memoryhub.pipeline import erasing
from memoryhub.pipeline.erasing import Target
from memoryhub.policies.presets import PRESETS
from memoryhub.policies.services import layers_of
from memoryhub.tenants.models import Membership, Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import rename_tenant, set_engine

ADMIN = Membership.Role.ADMIN
BUDGETS = ("llm.budget_tokens_per_day", "llm.budget_money_per_day")
KEEPING = ("retention.max_age_days",)
# Spaces that are erased in one request.
AT_ONCE = 100


@tenant_page()
def settings(request: ConsoleRequest) -> HttpResponse:
    """Sent by an admin, the tenant gets another name."""
    if request.method == "POST":
        need(request, ADMIN)
        name, actor = request.POST.get("name", ""), request.user.get_username()
        tried(
            request,
            lambda: rename_tenant(request.tenant.id, name, actor=actor),
            _("Renamed."),
            refused=_("Not renamed"),
        )
        return redirect("settings")
    layers = layers_of(request.tenant.id, None)
    context = {"layers": layers, "preset": PRESETS[layers.policy.preset], **queries.held()}
    return render(request, "settings.html", context)


@tenant_page()
def models(request: ConsoleRequest) -> HttpResponse:
    return render(request, "models.html", _models(request))


def _models(request: ConsoleRequest) -> dict[str, Any]:
    layers, spent = layers_of(request.tenant.id, None), usage.today(timezone.now())
    return {
        "configured": engines.configured(),
        "abilities": engines.known_language_model(),
        "engines": Tenant.Engine.choices,
        "layers": layers,
        "budgets": policies.rows_of(layers, BUDGETS),
        "own_models": sorted(layers.policy.llm.model.items()),
        "spent": _("%(tokens)s tokens and %(money)s of money today")
        % {"tokens": f"{spent.tokens:,}", "money": f"{spent.money:.2f}"},
        "prices": sorted(hub.MODEL_PRICES),
        "now": timezone.now(),
    }


@require_POST
@operator_view
def test_models(request: ConsoleRequest) -> HttpResponse:
    """Ask the endpoints. What comes of it is shown in the answer."""
    tested = [engines.embedding_model()]
    if hub.OPENAI_BASE_URL or request.tenant.engine == Tenant.Engine.LLM:
        tested.insert(0, engines.language_model())
    with tenant_scope(request.tenant.id):
        return render(request, "models.html", {"tested": tested, **_models(request)})


@require_POST
@operator_view
def choose_engine(request: ConsoleRequest) -> HttpResponse:
    """Whether rules or a model read what is said: a model costs the hub's operator."""
    engine, actor = request.POST.get("engine", ""), request.user.get_username()
    if engine == Tenant.Engine.LLM and not (hub.OPENAI_BASE_URL and hub.LLM_MODEL):
        messages.error(
            request, _("Not changed: set OPENAI_BASE_URL and MEMORYHUB_LLM_MODEL first.")
        )
    else:
        tried(
            request,
            lambda: set_engine(request.tenant.id, engine, actor=actor),
            _("Changed: it counts from the next job on."),
            refused=_("Not changed"),
        )
    return redirect("models")


@tenant_page(role=ADMIN)
def data(request: ConsoleRequest) -> HttpResponse:
    layers = layers_of(request.tenant.id, None)
    context = {
        "layers": layers,
        "keeping": policies.rows_of(layers, KEEPING),
        "logs": _logs(),
        **queries.held(),
        "now": timezone.now(),
    }
    return render(request, "data.html", context)


@require_POST
@tenant_view(role=ADMIN)
def erase(request: ConsoleRequest) -> HttpResponse:
    """Every space, with a receipt for each; of many the first, to go on with the next time."""
    if request.POST.get("slug", "").strip() != request.tenant.slug:
        messages.error(request, _("Nothing was erased: type the short name to confirm."))
        return redirect("data")
    with tenant_scope(request.tenant.id):
        spaces = list(Space.objects.order_by("id")[: AT_ONCE + 1])
    reason = request.POST.get("reason", "").replace("\0", "")[:500]
    actor, whole = request.user.get_username(), Target("subject")
    for space in spaces[:AT_ONCE]:
        with suppress(NotFound):  # somebody else has erased it meanwhile
            erasing.execute(space, whole, actor, timezone.now(), reason=reason)
    count = len(spaces[:AT_ONCE])
    said = ngettext("Erased: %(count)s space.", "Erased: %(count)s spaces.", count)
    more = _("There are more: send it again.") if len(spaces) > AT_ONCE else ""
    messages.success(request, f"{said % {'count': count}} {more}".rstrip())
    return redirect("receipts")


def _logs() -> list[tuple[str, str, int]]:
    """(what, the setting, days) of what is kept for a time that the operator sets."""
    return [
        (_("Requests"), "MEMORYHUB_REQUEST_LOG_DAYS", hub.REQUEST_LOG_DAYS),
        (_("Recalls"), "MEMORYHUB_RECALL_LOG_DAYS", hub.RECALL_LOG_DAYS),
        (_("Deliveries to webhooks"), "MEMORYHUB_WEBHOOK_LOG_DAYS", hub.WEBHOOK_LOG_DAYS),
    ]
