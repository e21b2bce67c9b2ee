"""What models were asked, what it cost, and each question."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from memoryhub.console.frame import exports
from memoryhub.console.frame.access import ADMIN, action_at, page_at, tenant_page
from memoryhub.console.frame.lists import Filters, load_page, read_filters
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.pages.usage import queries
from memoryhub.inference import ledger
from memoryhub.inference.models import ModelCall
from memoryhub.policies.services import load_tenant_policy
from memoryhub.tenants import audit

_USAGE_CHOICES = (
    queries.USAGE_DAYS_CHOICE,
    queries.CALL_PURPOSE_CHOICE,
    queries.CALL_STATUS_CHOICE,
)
_CALL_COLUMNS = exports.build_columns(
    "created_at",
    "purpose",
    "model",
    "template",
    "status",
    "attempts",
    "prompt_tokens",
    "completion_tokens",
    "cost",
    "milliseconds",
    "rejected",
    "error",
    "space.subject",
    "job_id",
    "id",
)


@page_at("usage/", "usage")
@tenant_page()
def usage_page(request: ConsoleRequest) -> HttpResponse:
    now = timezone.now()
    filters = read_filters(request.GET, _USAGE_CHOICES)
    if form := exports.read_export_format(request):
        return _export_calls(request, form, filters, now)
    models = queries.sum_usage_by("model", filters, now)
    context = {
        "filters": filters,
        "page": load_page(queries.list_calls(filters, now), filters.page),
        "days": queries.sum_usage_by_day(filters, now),
        "purposes": queries.sum_usage_by("purpose", filters, now),
        "models": models,
        "unpriced": [m.key for m in models if m.tokens and m.key not in settings.MODEL_PRICES],
        "today": queries.sum_usage_today(now),
        "limits": load_tenant_policy(request.tenant.id).policy.llm,
        "now": now,
    }
    return render(request, "usage/list.html", context)


def _export_calls(
    request: ConsoleRequest, form: str, filters: Filters, now: datetime
) -> HttpResponse:
    """`?words=1`: with what was asked and answered, for admins."""
    words = request.GET.get("words") == "1" and request.seat.can_administer
    columns = (
        [*_CALL_COLUMNS, *exports.build_columns("input", "output")] if words else _CALL_COLUMNS
    )
    return exports.export_rows(
        form, "model-calls", columns, queries.list_calls(filters, now, words=words)
    )


@page_at("usage/<uuid:call_id>/", "usage-call")
@tenant_page()
def model_call_page(request: ConsoleRequest, call_id: UUID) -> HttpResponse:
    """Figures for everyone; what was said to the model and by it for admins."""
    found = queries.get_call_or_404(call_id)
    return render(request, "usage/call.html", {"call": found, "now": timezone.now()})


@action_at("usage/<uuid:call_id>/redact", "usage-redact")
@tenant_page(role=ADMIN)
def redact_call(request: ConsoleRequest, call_id: UUID) -> HttpResponse:
    queries.get_call_or_404(call_id)
    if ledger.redact_calls(ModelCall.objects.filter(id=call_id)):
        _record_redaction(request, f"call {call_id}")
    messages.success(request, _("The words are gone; the figures stay."))
    return redirect("usage-call", call_id=call_id)


@action_at("usage/redact", "usage-redact-all")
@tenant_page(role=ADMIN)
def redact_calls(request: ConsoleRequest) -> HttpResponse:
    """Of all calls that the filters in the address leave."""
    filters = read_filters(request.GET, _USAGE_CHOICES)
    count = ledger.redact_calls(queries.list_calls(filters, timezone.now(), words=True))
    if count:
        _record_redaction(request, "1 call" if count == 1 else f"{count:,} calls")
    told = ngettext(
        "Words taken out of %(count)s call; their figures stay.",
        "Words taken out of %(count)s calls; their figures stay.",
        count,
    )
    messages.success(request, told % {"count": f"{count:,}"})
    return redirect("usage")


def _record_redaction(request: ConsoleRequest, what: str) -> None:
    audit.record_audit_entry(
        request.tenant.id, audit.Action.REDACTED, request.user.get_username(), what
    )
