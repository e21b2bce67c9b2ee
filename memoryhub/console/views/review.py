"""Open questions: what the pipeline may not decide by itself."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from memoryhub.console.access import tenant_page, tenant_view
from memoryhub.console.listing import read_filters
from memoryhub.console.queries import review as queries
from memoryhub.console.queries.history import proposal_or_404
from memoryhub.console.queries.spaces import space_or_404
from memoryhub.console.requests import ConsoleRequest
from memoryhub.console.views.history import need
from memoryhub.console.views.spaces import tab
from memoryhub.errors import MemoryHubError
from memoryhub.pipeline.reviewing import answer
from memoryhub.tenants.models import Membership
from memoryhub.tenants.scope import tenant_scope

CHOICES = (queries.STATE, queries.KIND)


@tenant_page()
def review(request: ConsoleRequest) -> HttpResponse:
    filters = read_filters(request.GET, CHOICES)
    context = {"filters": filters, "page": queries.cases(filters), "all_spaces": True}
    return render(request, "review.html", context)


@tenant_page()
def of_space(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space = space_or_404(space_id, timezone.now())
    filters = read_filters(request.GET, CHOICES)
    return tab(request, space, "review", filters=filters, page=queries.cases(filters, space))


@tenant_view()
def case(request: ConsoleRequest, proposal_id: UUID) -> HttpResponse:
    """One question. Sent, it is answered."""
    with tenant_scope(request.tenant.id):
        proposal = proposal_or_404(proposal_id)
        if request.method != "POST":
            context = {"case": queries.case_of(proposal), "all_spaces": True}
            return render(request, "review_case.html", context)
    said = request.POST.get("answer", "")
    admin = said == "erase"
    need(request, Membership.Role.ADMIN if admin else Membership.Role.EDITOR)
    try:
        answer(proposal, said, request.user.username, timezone.now())
    except MemoryHubError as error:
        messages.error(request, f"Not done: {error.message}.")
        return redirect("review-case", proposal_id=proposal_id)
    label, effect = queries.WORDS[said]
    messages.success(request, f"{label}: {effect}")
    return redirect("space-review", space_id=proposal.space_id)
