"""What models were asked, what it cost, and each question."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone

from memoryhub.console.access import tenant_page
from memoryhub.console.listing import read_filters
from memoryhub.console.queries import usage as queries
from memoryhub.console.requests import ConsoleRequest
from memoryhub.policies.services import policy_of_tenant


@tenant_page()
def usage(request: ConsoleRequest) -> HttpResponse:
    now = timezone.now()
    filters = read_filters(request.GET, (queries.DAYS, queries.PURPOSE, queries.STATUS))
    models = queries.by("model", filters, now)
    context = {
        "filters": filters,
        "page": queries.calls(filters, now),
        "days": queries.by_day(filters, now),
        "purposes": queries.by("purpose", filters, now),
        "models": models,
        "unpriced": [m.key for m in models if m.tokens and m.key not in settings.MODEL_PRICES],
        "today": queries.today(now),
        "limits": policy_of_tenant(request.tenant.id).policy.llm,
        "now": now,
    }
    return render(request, "usage.html", context)


@tenant_page()
def call(request: ConsoleRequest, call_id: UUID) -> HttpResponse:
    """Figures for everyone; what was said to the model and by it for admins."""
    found = queries.call_or_404(call_id)
    return render(request, "call.html", {"call": found, "now": timezone.now()})
