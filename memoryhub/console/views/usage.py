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
from django.views.decorators.http import require_POST

from memoryhub.console import exports
from memoryhub.console.access import tenant_page
from memoryhub.console.listing import Filters, page_of, read_filters
from memoryhub.console.queries import usage as queries
from memoryhub.console.requests import ConsoleRequest
from memoryhub.inference import redacting
from memoryhub.inference.models import ModelCall
from memoryhub.policies.services import policy_of_tenant
from memoryhub.tenants import audit
from memoryhub.tenants.models import Membership

_CHOICES = (queries.DAYS, queries.PURPOSE, queries.STATUS)
_COLUMNS = exports.fields(
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


@tenant_page()
def usage(request: ConsoleRequest) -> HttpResponse:
    now = timezone.now()
    filters = read_filters(request.GET, _CHOICES)
    if form := exports.wanted(request):
        return _exported(request, form, filters, now)
    models = queries.by("model", filters, now)
    context = {
        "filters": filters,
        "page": page_of(queries.calls(filters, now), filters.page),
        "days": queries.by_day(filters, now),
        "purposes": queries.by("purpose", filters, now),
        "models": models,
        "unpriced": [m.key for m in models if m.tokens and m.key not in settings.MODEL_PRICES],
        "today": queries.today(now),
        "limits": policy_of_tenant(request.tenant.id).policy.llm,
        "now": now,
    }
    return render(request, "usage.html", context)


def _exported(request: ConsoleRequest, form: str, filters: Filters, now: datetime) -> HttpResponse:
    """`?words=1`: with what was asked and answered, for admins."""
    words = request.GET.get("words") == "1" and request.seat.can_administer
    columns = [*_COLUMNS, *exports.fields("input", "output")] if words else _COLUMNS
    return exports.download(form, "model-calls", columns, queries.calls(filters, now, words=words))


@tenant_page()
def call(request: ConsoleRequest, call_id: UUID) -> HttpResponse:
    """Figures for everyone; what was said to the model and by it for admins."""
    found = queries.call_or_404(call_id)
    return render(request, "call.html", {"call": found, "now": timezone.now()})


@require_POST
@tenant_page(role=Membership.Role.ADMIN)
def redact(request: ConsoleRequest, call_id: UUID) -> HttpResponse:
    queries.call_or_404(call_id)
    if redacting.redact(ModelCall.objects.filter(id=call_id)):
        _noted(request, f"call {call_id}")
    messages.success(request, _("The words are gone; the figures stay."))
    return redirect("usage-call", call_id=call_id)


@require_POST
@tenant_page(role=Membership.Role.ADMIN)
def redact_all(request: ConsoleRequest) -> HttpResponse:
    """Of all calls that the filters in the address leave."""
    filters = read_filters(request.GET, _CHOICES)
    count = redacting.redact(queries.calls(filters, timezone.now(), words=True))
    if count:
        _noted(request, "1 call" if count == 1 else f"{count:,} calls")
    told = ngettext(
        "Words taken out of %(count)s call; their figures stay.",
        "Words taken out of %(count)s calls; their figures stay.",
        count,
    )
    messages.success(request, told % {"count": f"{count:,}"})
    return redirect("usage")


def _noted(request: ConsoleRequest, what: str) -> None:
    audit.note(request.tenant.id, audit.Action.REDACTED, request.user.get_username(), what)
