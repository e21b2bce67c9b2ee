"""The models that the hub is set to ask, a test of each, and what they may cost."""

from __future__ import annotations

from typing import Any

from django.conf import settings as hub
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from memoryhub.console.frame.access import action_at, operator_view, page_at, tenant_page
from memoryhub.console.frame.forms import run_and_report
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.pages.models import endpoint_check
from memoryhub.console.pages.policies import switch_form
from memoryhub.console.pages.usage.views import sum_usage_since
from memoryhub.inference.budgets import compute_day_start
from memoryhub.policies.services import load_layers
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import set_tenant_engine

BUDGET_SWITCHES = ("llm.budget_tokens_per_day", "llm.budget_money_per_day")


@page_at("models/", "models")
@tenant_page()
def models_page(request: ConsoleRequest) -> HttpResponse:
    return render(request, "models/models.html", _build_models_context(request))


def _build_models_context(request: ConsoleRequest) -> dict[str, Any]:
    layers, spent = (
        load_layers(request.tenant.id, None),
        sum_usage_since(compute_day_start(timezone.now())),
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


@action_at("models/test", "models-test")
@operator_view
def probe_models(request: ConsoleRequest) -> HttpResponse:
    """Ask the endpoints. What comes of it is shown in the answer."""
    tested = [endpoint_check.probe_embedding_model()]
    if hub.OPENAI_BASE_URL or request.tenant.engine == Tenant.Engine.LLM:
        tested.insert(0, endpoint_check.probe_language_model())
    with tenant_scope(request.tenant.id):
        return render(
            request, "models/models.html", {"tested": tested, **_build_models_context(request)}
        )


@action_at("models/engine", "models-engine")
@operator_view
def choose_engine(request: ConsoleRequest) -> HttpResponse:
    """Whether rules or a model read what is said: a model costs the hub's operator."""
    engine = request.POST.get("engine", "")
    if engine == Tenant.Engine.LLM and not (hub.OPENAI_BASE_URL and hub.LLM_MODEL):
        messages.error(
            request, _("Not changed: set OPENAI_BASE_URL and MEMORYHUB_LLM_MODEL first.")
        )
    else:
        run_and_report(
            request,
            lambda: set_tenant_engine(request.tenant.id, engine, actor=request.actor),
            _("Changed: it counts from the next job on."),
            refused=_("Not changed"),
        )
    return redirect("models")
