"""Rules: answers given beforehand, each explained and removable."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from memoryhub.console.access import need, tenant_view
from memoryhub.console.listing import read_filters
from memoryhub.console.queries import rules as queries
from memoryhub.console.queries.history import proposal_or_404
from memoryhub.console.reading import read_ids
from memoryhub.console.requests import ConsoleRequest
from memoryhub.errors import MemoryHubError
from memoryhub.pipeline import ruling
from memoryhub.tenants.models import Membership, Space
from memoryhub.tenants.scope import tenant_scope
from notes.models import ReviewRule

ADMIN = Membership.Role.ADMIN
# The words of a form that are columns of a rule.
_CONDITIONS = ("predicate_key", "role")


@tenant_view()
def rules(request: ConsoleRequest) -> HttpResponse:
    """The rules there are. Sent, one is made; `?case=` fills the form in from a case."""
    if request.method == "POST":
        need(request, ADMIN)
        return _make(request)
    with tenant_scope(request.tenant.id):
        filters = read_filters(request.GET, (queries.STATE,))
        context = {"filters": filters, "page": queries.rules(filters), **_form(request)}
        return render(request, "review_rules.html", context)


def _form(request: ConsoleRequest) -> dict[str, Any]:
    context: dict[str, Any] = {
        "what": [(kind, queries.WHAT[kind]) for kind in ruling.KINDS],
        "answers": ReviewRule.Answer.choices,
        "roles": queries.ROLES,
    }
    ids = read_ids(request.GET.getlist("case"))
    if not ids:
        return context
    proposal = proposal_or_404(ids[0])
    return context | {"case": proposal, "about": queries.conditions_of(proposal)}


def _make(request: ConsoleRequest) -> HttpResponse:
    sent, now = request.POST, timezone.now()
    conditions = {name: sent.get(name, "").replace("\0", "").strip() for name in _CONDITIONS}
    space = _space(request, sent.get("space", ""))
    try:
        made = ruling.make_rule(
            request.tenant.id,
            sent.get("kind", ""),
            sent.get("answer", ""),
            request.user.username,
            now,
            space=space,
            reason=sent.get("reason", "").replace("\0", "").strip(),
            **conditions,
        )
    except MemoryHubError as error:
        messages.error(request, _("No rule was made: %(why)s.") % {"why": error.message})
        return redirect("review-rules")
    messages.success(request, _("%(rule)s: in force.") % {"rule": queries.words(made)})
    if sent.get("now") == "yes":
        _put_to_open(request, made)
    return redirect("review-rules")


def _put_to_open(request: ConsoleRequest, rule: ReviewRule) -> None:
    with tenant_scope(request.tenant.id):
        found = ruling.covered(rule)
    outcomes = ruling.apply(rule, found, timezone.now())
    refused = sum(bool(outcome.refused) for outcome in outcomes)
    said = _("Open cases answered by it: %(count)s.") % {"count": len(outcomes) - refused}
    if refused:
        said += " " + _("Left for a person: %(count)s.") % {"count": refused}
    messages.success(request, said)


def _space(request: ConsoleRequest, given: str) -> Space | None:
    """None for all of them."""
    if not given:
        return None
    with tenant_scope(request.tenant.id):
        found: Space | None = Space.objects.filter(id__in=read_ids([given])).first()
    if found is None:
        raise Http404
    return found


@require_POST
@tenant_view(role=ADMIN)
def remove(request: ConsoleRequest, rule_id: UUID) -> HttpResponse:
    with tenant_scope(request.tenant.id):
        rule = queries.rule_or_404(rule_id)
    try:
        ruling.remove_rule(request.tenant.id, rule.id, request.user.username, timezone.now())
    except MemoryHubError as error:
        messages.error(request, _("Not removed: %(why)s.") % {"why": error.message})
    else:
        messages.success(request, _("Removed: it answers nothing more. What it answered stays."))
    return redirect("review-rules")
