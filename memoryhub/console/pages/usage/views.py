"""What models were asked, what it cost, and each question."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext, ngettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from memoryhub.console.frame import day_ranges, exports
from memoryhub.console.frame.access import ADMIN, action_at, page_at, tenant_page
from memoryhub.console.frame.lists import (
    FilterChoice,
    Filters,
    build_text_condition,
    load_page,
    read_filters,
)
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.text.purpose_words import CHAT_PURPOSE, format_purpose
from memoryhub.engines.llm.own_prompts import PURPOSES
from memoryhub.inference import ledger, usage
from memoryhub.inference.budgets import compute_day_start
from memoryhub.inference.connections import load_prices
from memoryhub.inference.models import ModelCall
from memoryhub.inference.usage import UsageSums
from memoryhub.policies.services import load_tenant_policy
from memoryhub.policies.switches import PROXY_PURPOSE
from memoryhub.tenants import audit

USAGE_DAYS_CHOICE = FilterChoice(
    "days", _("Days"), (("7", _("last 7 days")), ("1", _("last day")), ("30", _("last 30 days")))
)
CALL_PURPOSE_CHOICE = FilterChoice(
    "purpose",
    _("Purpose"),
    (
        ("all", _("all")),
        *((name, format_purpose(name)) for name in (*PURPOSES, PROXY_PURPOSE, CHAT_PURPOSE)),
    ),
)
CALL_STATUS_CHOICE = FilterChoice(
    "status",
    pgettext_lazy("column", "Ended"),
    (("all", _("any outcome")), *ModelCall.Status.choices),
)


def sum_usage_since(at: datetime) -> UsageSums:
    """One statement."""
    return usage.sum_usage(ModelCall.objects.filter(created_at__gte=at))


def sum_usage_by_day(filters: Filters, now: datetime) -> list[UsageSums]:
    """Every day of the range, today first, also those without a call."""
    found = {each.key: each for each in usage.sum_usage_by_day(_filter_calls(filters, now))}
    # The last 24 hours are of two days.
    today, first = compute_day_start(now).date(), _compute_first_moment(filters, now).date()
    days = (today - timedelta(days=back) for back in range((today - first).days + 1))
    return [found.get(day, UsageSums(key=day)) for day in days]


def _compute_first_moment(filters: Filters, now: datetime) -> datetime:
    return day_ranges.compute_range_start(int(filters["days"]), now)


def list_calls(filters: Filters, now: datetime, *, words: bool = False) -> QuerySet[ModelCall]:
    """Newest first. `words`: with what was asked and answered."""
    rows = _filter_calls(filters, now).select_related("space")
    return rows if words else rows.defer("input", "output")


def get_call_or_404(call_id: UUID) -> ModelCall:
    return get_object_or_404(ModelCall.objects.select_related("space").filter(id=call_id))


def _filter_calls(filters: Filters, now: datetime) -> QuerySet[ModelCall]:
    rows: QuerySet[ModelCall] = ModelCall.objects.filter(
        build_text_condition(filters.q, "purpose", "model", "error", "space__subject"),
        created_at__gte=_compute_first_moment(filters, now),
        **filters.chosen_values("purpose", "status"),
    )
    return rows


_USAGE_CHOICES = (USAGE_DAYS_CHOICE, CALL_PURPOSE_CHOICE, CALL_STATUS_CHOICE)
_CALL_COLUMNS = exports.build_columns(
    "created_at purpose model template status attempts prompt_tokens completion_tokens "
    "cost milliseconds rejected error space.subject job_id id"
)


@page_at("usage/", "usage")
@tenant_page()
def usage_page(request: ConsoleRequest) -> HttpResponse:
    now = timezone.now()
    filters = read_filters(request.GET, _USAGE_CHOICES)
    if form := exports.read_export_format(request):
        return _export_calls(request, form, filters, now)
    calls = _filter_calls(filters, now)
    models, prices = usage.sum_usage_by(calls, "model"), load_prices()
    context = {
        "filters": filters,
        "page": load_page(list_calls(filters, now), filters.page),
        "days": sum_usage_by_day(filters, now),
        "purposes": usage.sum_usage_by(calls, "purpose"),
        "models": models,
        "unpriced": [m.key for m in models if m.tokens and m.key not in prices],
        "today": sum_usage_since(compute_day_start(now)),
        "limits": load_tenant_policy(request.tenant.id).policy.llm,
        "now": now,
    }
    return render(request, "usage/list.html", context)


def _export_calls(
    request: ConsoleRequest, form: str, filters: Filters, now: datetime
) -> HttpResponse:
    """`?words=1`: with what was asked and answered, for admins."""
    words = request.GET.get("words") == "1" and request.seat.can_administer
    columns = [*_CALL_COLUMNS, *exports.build_columns("input output")] if words else _CALL_COLUMNS
    return exports.export_rows(form, "model-calls", columns, list_calls(filters, now, words=words))


@page_at("usage/<uuid:call_id>/", "usage-call")
@tenant_page()
def model_call_page(request: ConsoleRequest, call_id: UUID) -> HttpResponse:
    """Figures for everyone; what was said to the model and by it for admins."""
    found = get_call_or_404(call_id)
    return render(request, "usage/call.html", {"call": found, "now": timezone.now()})


@action_at("usage/<uuid:call_id>/redact", "usage-redact")
@tenant_page(role=ADMIN)
def redact_call(request: ConsoleRequest, call_id: UUID) -> HttpResponse:
    get_call_or_404(call_id)
    if ledger.redact_calls(ModelCall.objects.filter(id=call_id)):
        _record_redaction(request, f"call {call_id}")
    messages.success(request, gettext("The content was deleted; the figures stay."))
    return redirect("usage-call", call_id=call_id)


@action_at("usage/redact", "usage-redact-all")
@tenant_page(role=ADMIN)
def redact_calls(request: ConsoleRequest) -> HttpResponse:
    """Of all calls that the filters in the address leave."""
    filters = read_filters(request.GET, _USAGE_CHOICES)
    count = ledger.redact_calls(list_calls(filters, timezone.now(), words=True))
    if count:
        _record_redaction(request, "1 call" if count == 1 else f"{count:,} calls")
    told = ngettext(
        "Content of %(count)s call deleted; the figures stay.",
        "Content of %(count)s calls deleted; the figures stay.",
        count,
    )
    messages.success(request, told % {"count": f"{count:,}"})
    return redirect("usage")


def _record_redaction(request: ConsoleRequest, what: str) -> None:
    audit.record_audit_entry(request.tenant.id, audit.Action.REDACTED, request.actor, what)
