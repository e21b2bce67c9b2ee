"""The inbox: what the pipeline may not decide by itself, one by one and many at once."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memoryhub.console.frame.access import (
    ADMIN,
    EDITOR,
    action_at,
    check_role,
    page_at,
    tenant_page,
    tenant_view,
)
from memoryhub.console.frame.forms import read_back_address, read_ids
from memoryhub.console.frame.lists import PAGE_SIZE, read_filters
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.space.tabs import get_space_or_404, render_tab
from memoryhub.console.pages.history.views import build_undo_tags
from memoryhub.console.pages.review import queries
from memoryhub.console.pages.review.queries import get_proposal_or_404
from memoryhub.errors import Conflict, MemoryHubError
from memoryhub.pipeline.review import answer_proposals
from memoryhub.pipeline.review.answers import COMMON_ANSWERS, translate_common_answer
from memoryhub.tenants.scope import tenant_scope
from notes.models import Proposal

MAX_CASES_AT_ONCE = 100
TAKE_BACK = "take_back"
_ANSWER_OUTCOME_LABELS = {
    "accept": gettext_lazy("Accepted"),
    "keep_both": gettext_lazy("Kept both"),
    "reject": gettext_lazy("Rejected"),
    TAKE_BACK: gettext_lazy("Undone"),
}


@page_at("review/", "review")
@tenant_page()
def review_page(request: ConsoleRequest) -> HttpResponse:
    context = _build_review_context(request, None) | {"all_spaces": True}
    return render(request, "review/list.html", context)


@page_at("spaces/<uuid:space_id>/review/", "space-review")
@tenant_page()
def space_review_page(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space = get_space_or_404(space_id, timezone.now())
    return render_tab(
        request, space, "review", "review/space.html", **_build_review_context(request, space)
    )


def _build_review_context(request: ConsoleRequest, space: Any) -> dict[str, Any]:
    filters = read_filters(request.GET, queries.load_case_choices(space))
    rule = next(iter(read_ids(request.GET.getlist("rule"))), None)
    single = request.GET.get("view") == "one"
    now = timezone.now()
    page = queries.load_case_page(filters, now, space, rule, 1 if single else PAGE_SIZE)
    held = ({"rule": rule} if rule else {}) | ({"view": "one"} if single else {})
    return {
        "filters": filters,
        "page": page,
        "totals": queries.count_open_by_kind(space),
        "settled": queries.count_settled(now, space),
        "held": held,
        "single": single,
        "related": queries.load_related_cases(page.rows[0]) if single and page.rows else [],
    }


@page_at("review/<uuid:proposal_id>/", "review-case")
@tenant_view()
def case_page(request: ConsoleRequest, proposal_id: UUID) -> HttpResponse:
    """One question. Sent, it is answered."""
    with tenant_scope(request.tenant.id):
        proposal = get_proposal_or_404(proposal_id)
        if request.method != "POST":
            context = {"case": queries.load_cases([proposal])[0], "all_spaces": True}
            return render(request, "review/case.html", context)
    said = translate_common_answer(proposal.kind, request.POST.get("answer", ""))
    check_role(request, ADMIN if said == "erase" else EDITOR)
    if said == "erase":
        # What is meant is chosen, and all that goes is seen, before anything does.
        where = reverse("space-erase", args=[proposal.space_id])
        return redirect(f"{where}?wish={proposal.id}")
    try:
        answer_proposals.answer_proposal(
            proposal,
            said,
            request.actor,
            timezone.now(),
            reason=_read_posted_text(request, "reason")[:500],
            text=_read_posted_text(request, "text"),
        )
    except MemoryHubError as error:
        messages.error(request, _("Not done: %(why)s.") % {"why": error.message})
        return redirect("review-case", proposal_id=proposal_id)
    undo = reverse("review-take-back", args=[proposal.id])
    tags = build_undo_tags(undo, _("Undo"))
    messages.success(request, queries.describe_effect(proposal.kind, said), extra_tags=tags)
    return _redirect_back(request, reverse("space-review", args=[proposal.space_id]))


def _read_posted_text(request: ConsoleRequest, name: str) -> str:
    return request.POST.get(name, "").replace("\0", "").strip()


def _redirect_back(request: ConsoleRequest, otherwise: str) -> HttpResponse:
    return redirect(read_back_address(request) or otherwise)


@action_at("review/<uuid:proposal_id>/take-back", "review-take-back")
@tenant_view(role=EDITOR)
def undo_answer(request: ConsoleRequest, proposal_id: UUID) -> HttpResponse:
    """Undo an answer, and ask again."""
    with tenant_scope(request.tenant.id):
        proposal = get_proposal_or_404(proposal_id)
    where = reverse("review-case", args=[proposal_id])
    try:
        answer_proposals.take_back_answer(proposal, request.actor, timezone.now())
    except MemoryHubError as error:
        messages.error(request, _("Not undone: %(why)s.") % {"why": error.message})
        return redirect(where)
    messages.success(request, _("Undone: the case is open again."))
    return _redirect_back(request, where)


@action_at("review/answer", "review-answer")
@tenant_view(role=EDITOR)
def answer_cases(request: ConsoleRequest) -> HttpResponse:
    """One answer to all that were chosen, each for itself; what came of each is shown."""
    said = request.POST.get("answer", "")
    ids = read_ids(request.POST.getlist("ids"))[:MAX_CASES_AT_ONCE]
    if said not in (*COMMON_ANSWERS, TAKE_BACK) or not ids:
        messages.error(request, _("Nothing was done: select cases first, then an answer."))
        return _redirect_back(request, reverse("review"))
    with tenant_scope(request.tenant.id):
        rows = Proposal.objects.filter(id__in=ids).select_related("space")
        found = list(rows.order_by("-created_at", "-id"))
    outcomes = answer_proposals.run_for_each(
        found, lambda proposal: _answer_case(request, proposal, said)
    )
    with tenant_scope(request.tenant.id):
        shown = queries.load_cases([outcome.proposal for outcome in outcomes])
        context = {
            "said": _ANSWER_OUTCOME_LABELS[said],
            "outcomes": list(zip(shown, (each.refused for each in outcomes), strict=True)),
            "done": sum(not outcome.refused for outcome in outcomes),
            "back": read_back_address(request) or reverse("review"),
            "undoable": said != TAKE_BACK,
        }
        return render(request, "review/done.html", context)


def _answer_case(request: ConsoleRequest, proposal: Proposal, said: str) -> None:
    now = timezone.now()
    if said == TAKE_BACK:
        answer_proposals.take_back_answer(proposal, request.actor, now)
        return
    if translate_common_answer(proposal.kind, said) == "erase":
        raise Conflict(_("what to erase has to be selected one by one"))
    reason = _read_posted_text(request, "reason")[:500]
    answer_proposals.answer_proposal(proposal, said, request.actor, now, reason=reason)
