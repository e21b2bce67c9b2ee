"""The inbox: what the pipeline may not decide by itself, one by one and many at once."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from memoryhub.console.access import need, tenant_page, tenant_view
from memoryhub.console.listing import read_filters
from memoryhub.console.queries import review as queries
from memoryhub.console.queries.history import proposal_or_404
from memoryhub.console.queries.spaces import space_or_404
from memoryhub.console.reading import read_ids
from memoryhub.console.requests import ConsoleRequest
from memoryhub.console.views.history import undoable
from memoryhub.console.views.spaces import tab
from memoryhub.errors import Conflict, MemoryHubError
from memoryhub.pipeline import reviewing
from memoryhub.pipeline.answers import COMMON, meant
from memoryhub.tenants.models import Membership
from memoryhub.tenants.scope import tenant_scope
from notes.models import Proposal

MOST_AT_ONCE = 100
TAKE_BACK = "take_back"
_SAID = {
    "accept": gettext_lazy("Accepted"),
    "keep_both": gettext_lazy("Kept both"),
    "reject": gettext_lazy("Rejected"),
    TAKE_BACK: gettext_lazy("Taken back"),
}


@tenant_page()
def review(request: ConsoleRequest) -> HttpResponse:
    context = _listed(request, None)
    return render(request, "review.html", context | {"all_spaces": True})


@tenant_page()
def of_space(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space = space_or_404(space_id, timezone.now())
    return tab(request, space, "review", **_listed(request, space))


def _listed(request: ConsoleRequest, space: Any) -> dict[str, Any]:
    filters = read_filters(request.GET, queries.choices(space))
    rule = next(iter(read_ids(request.GET.getlist("rule"))), None)
    page = queries.cases(filters, timezone.now(), space, rule)
    held = {"rule": rule} if rule else {}
    return {"filters": filters, "page": page, "totals": queries.totals(space), "held": held}


@tenant_view()
def case(request: ConsoleRequest, proposal_id: UUID) -> HttpResponse:
    """One question. Sent, it is answered."""
    with tenant_scope(request.tenant.id):
        proposal = proposal_or_404(proposal_id)
        if request.method != "POST":
            context = {"case": queries.case_of(proposal), "all_spaces": True}
            return render(request, "review_case.html", context)
    said = meant(proposal.kind, request.POST.get("answer", ""))
    admin = said == "erase"
    need(request, Membership.Role.ADMIN if admin else Membership.Role.EDITOR)
    try:
        reviewing.answer(
            proposal,
            said,
            request.user.username,
            timezone.now(),
            reason=_text(request, "reason")[:500],
            text=_text(request, "text"),
        )
    except MemoryHubError as error:
        messages.error(request, _("Not done: %(why)s.") % {"why": error.message})
        return redirect("review-case", proposal_id=proposal_id)
    undo = reverse("review-take-back", args=[proposal.id])
    tags = "" if admin else undoable(undo, _("Take back"))
    messages.success(request, queries.effect(proposal.kind, said), extra_tags=tags)
    return _back(request, reverse("space-review", args=[proposal.space_id]))


def _text(request: ConsoleRequest, name: str) -> str:
    return request.POST.get(name, "").replace("\0", "").strip()


def _back(request: ConsoleRequest, otherwise: str) -> HttpResponse:
    asked = request.POST.get("back", "")
    own = url_has_allowed_host_and_scheme(asked, allowed_hosts=None)
    return redirect(asked if own else otherwise)


@require_POST
@tenant_view(role=Membership.Role.EDITOR)
def take_back(request: ConsoleRequest, proposal_id: UUID) -> HttpResponse:
    """Undo an answer, and ask again."""
    with tenant_scope(request.tenant.id):
        proposal = proposal_or_404(proposal_id)
    where = reverse("review-case", args=[proposal_id])
    try:
        reviewing.take_back(proposal, request.user.username, timezone.now())
    except MemoryHubError as error:
        messages.error(request, _("Not taken back: %(why)s.") % {"why": error.message})
        return redirect(where)
    messages.success(request, _("Taken back: the question is open again."))
    return _back(request, where)


@require_POST
@tenant_view(role=Membership.Role.EDITOR)
def many(request: ConsoleRequest) -> HttpResponse:
    """One answer to all that were chosen, each for itself; what came of each is shown."""
    said = request.POST.get("answer", "")
    ids = read_ids(request.POST.getlist("ids"))[:MOST_AT_ONCE]
    if said not in (*COMMON, TAKE_BACK) or not ids:
        messages.error(request, _("Nothing was done: choose cases first, then an answer."))
        return _back(request, reverse("review"))
    with tenant_scope(request.tenant.id):
        rows = Proposal.objects.filter(id__in=ids).select_related("space")
        found = list(rows.order_by("-created_at", "-id"))
    outcomes = reviewing.each(found, lambda proposal: _answer(request, proposal, said))
    with tenant_scope(request.tenant.id):
        context = {
            "said": _SAID[said],
            "outcomes": _told(outcomes),
            "done": sum(not outcome.refused for outcome in outcomes),
            "back": _own(request.POST),
            "undoable": said != TAKE_BACK,
        }
        return render(request, "review_done.html", context)


def _answer(request: ConsoleRequest, proposal: Proposal, said: str) -> None:
    who, now = request.user.username, timezone.now()
    if said == TAKE_BACK:
        reviewing.take_back(proposal, who, now)
        return
    if meant(proposal.kind, said) == "erase" and not request.seat.can_administer:
        raise Conflict(_("erasing takes an admin"))
    reason = _text(request, "reason")[:500]
    reviewing.answer(proposal, said, who, now, reason=reason)


def _told(outcomes: list[reviewing.Outcome]) -> list[tuple[queries.Case, str]]:
    shown = queries.cases_of([outcome.proposal for outcome in outcomes])
    return [(case, outcome.refused) for case, outcome in zip(shown, outcomes, strict=True)]


def _own(sent: QueryDict) -> str:
    back = sent.get("back", "")
    return back if url_has_allowed_host_and_scheme(back, allowed_hosts=None) else reverse("review")
