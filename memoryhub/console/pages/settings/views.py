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

from memoryhub.console.frame.access import check_role, operator_view, tenant_page, tenant_view
from memoryhub.console.frame.outcomes import run_and_report
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.pages.policies import switch_form
from memoryhub.console.pages.settings import endpoint_check, queries
from memoryhub.console.pages.usage import queries as usage_queries
from memoryhub.errors import NotFound
from memoryhub.pipeline.erasure import erase_targets
from memoryhub.pipeline.erasure.erase_targets import ErasureTarget
from memoryhub.policies.presets import PRESETS
from memoryhub.policies.services import load_layers
from memoryhub.tenants.models import Membership, Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import rename_tenant, set_tenant_engine

ADMIN = Membership.Role.ADMIN
BUDGET_SWITCHES = ("llm.budget_tokens_per_day", "llm.budget_money_per_day")
RETENTION_SWITCHES = ("retention.max_age_days",)
# Spaces that are erased in one request.
MAX_ERASED_AT_ONCE = 100


@tenant_page()
def settings_page(request: ConsoleRequest) -> HttpResponse:
    """Sent by an admin, the tenant gets another name."""
    if request.method == "POST":
        check_role(request, ADMIN)
        name, actor = request.POST.get("name", ""), request.user.get_username()
        run_and_report(
            request,
            lambda: rename_tenant(request.tenant.id, name, actor=actor),
            _("Renamed."),
            refused=_("Not renamed"),
        )
        return redirect("settings")
    layers = load_layers(request.tenant.id, None)
    context = {
        "layers": layers,
        "preset": PRESETS[layers.policy.preset],
        **queries.count_settings_rows(),
    }
    return render(request, "settings/tenant.html", context)


@tenant_page()
def models_page(request: ConsoleRequest) -> HttpResponse:
    return render(request, "settings/models.html", _build_models_context(request))


def _build_models_context(request: ConsoleRequest) -> dict[str, Any]:
    layers, spent = (
        load_layers(request.tenant.id, None),
        usage_queries.sum_usage_today(timezone.now()),
    )
    return {
        "configured": endpoint_check.list_configured_models(),
        "abilities": endpoint_check.read_known_abilities(),
        "engines": Tenant.Engine.choices,
        "layers": layers,
        "budgets": switch_form.build_switch_rows(layers, BUDGET_SWITCHES),
        "own_models": sorted(layers.policy.llm.model.items()),
        "spent": _("%(tokens)s tokens and %(money)s of money today")
        % {"tokens": f"{spent.tokens:,}", "money": f"{spent.money:.2f}"},
        "prices": sorted(hub.MODEL_PRICES),
        "now": timezone.now(),
    }


@require_POST
@operator_view
def probe_models(request: ConsoleRequest) -> HttpResponse:
    """Ask the endpoints. What comes of it is shown in the answer."""
    tested = [endpoint_check.probe_embedding_model()]
    if hub.OPENAI_BASE_URL or request.tenant.engine == Tenant.Engine.LLM:
        tested.insert(0, endpoint_check.probe_language_model())
    with tenant_scope(request.tenant.id):
        return render(
            request, "settings/models.html", {"tested": tested, **_build_models_context(request)}
        )


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
        run_and_report(
            request,
            lambda: set_tenant_engine(request.tenant.id, engine, actor=actor),
            _("Changed: it counts from the next job on."),
            refused=_("Not changed"),
        )
    return redirect("models")


@tenant_page(role=ADMIN)
def data_page(request: ConsoleRequest) -> HttpResponse:
    layers = load_layers(request.tenant.id, None)
    context = {
        "layers": layers,
        "keeping": switch_form.build_switch_rows(layers, RETENTION_SWITCHES),
        "logs": _list_log_retention(),
        **queries.count_settings_rows(),
        "now": timezone.now(),
    }
    return render(request, "settings/data.html", context)


@require_POST
@tenant_view(role=ADMIN)
def erase_all_spaces(request: ConsoleRequest) -> HttpResponse:
    """Every space, with a receipt for each; of many the first, to go on with the next time."""
    if request.POST.get("slug", "").strip() != request.tenant.slug:
        messages.error(request, _("Nothing was erased: type the short name to confirm."))
        return redirect("data")
    with tenant_scope(request.tenant.id):
        spaces = list(Space.objects.order_by("id")[: MAX_ERASED_AT_ONCE + 1])
    reason = request.POST.get("reason", "").replace("\0", "")[:500]
    actor, whole = request.user.get_username(), ErasureTarget("subject")
    for space in spaces[:MAX_ERASED_AT_ONCE]:
        with suppress(NotFound):  # somebody else has erased it meanwhile
            erase_targets.execute_erasure(space, whole, actor, timezone.now(), reason=reason)
    count = len(spaces[:MAX_ERASED_AT_ONCE])
    said = ngettext("Erased: %(count)s space.", "Erased: %(count)s spaces.", count)
    more = _("There are more: send it again.") if len(spaces) > MAX_ERASED_AT_ONCE else ""
    messages.success(request, f"{said % {'count': count}} {more}".rstrip())
    return redirect("receipts")


def _list_log_retention() -> list[tuple[str, str, int]]:
    """(what, the setting, days) of what is kept for a time that the operator sets."""
    return [
        (_("Requests"), "MEMORYHUB_REQUEST_LOG_DAYS", hub.REQUEST_LOG_DAYS),
        (_("Recalls"), "MEMORYHUB_RECALL_LOG_DAYS", hub.RECALL_LOG_DAYS),
        (_("Deliveries to webhooks"), "MEMORYHUB_WEBHOOK_LOG_DAYS", hub.WEBHOOK_LOG_DAYS),
    ]
