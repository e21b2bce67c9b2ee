"""Rules: answers given beforehand, each explained and removable."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from memoryhub.console.frame.access import ADMIN, action_at, check_role, page_at, tenant_view
from memoryhub.console.frame.form_values import read_ids
from memoryhub.console.frame.lists import read_filters
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.pages.review.queries import get_proposal_or_404
from memoryhub.console.pages.rules import queries
from memoryhub.errors import MemoryHubError
from memoryhub.pipeline.review import review_rules
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.models import ReviewRule

# The words of a form that are columns of a rule.
_RULE_CONDITIONS = ("predicate_key", "role")


@page_at("review/rules/", "review-rules")
@tenant_view()
def rule_list_page(request: ConsoleRequest) -> HttpResponse:
    """The rules there are. Sent, one is made; `?case=` fills the form in from a case."""
    if request.method == "POST":
        check_role(request, ADMIN)
        return _create_rule(request)
    with tenant_scope(request.tenant.id):
        filters = read_filters(request.GET, (queries.RULE_STATE_CHOICE,))
        context = {
            "filters": filters,
            "page": queries.load_rules(filters),
            **_build_rule_form(request),
        }
        return render(request, "rules/list.html", context)


def _build_rule_form(request: ConsoleRequest) -> dict[str, Any]:
    context: dict[str, Any] = {
        "what": [(kind, queries.RULE_SUBJECTS[kind]) for kind in review_rules.RULED_KINDS],
        "answers": ReviewRule.Answer.choices,
        "roles": queries.SPEAKER_ROLES,
    }
    ids = read_ids(request.GET.getlist("case"))
    if not ids:
        return context
    proposal = get_proposal_or_404(ids[0])
    return context | {"case": proposal, "about": queries.load_rule_conditions(proposal)}


def _create_rule(request: ConsoleRequest) -> HttpResponse:
    sent, now = request.POST, timezone.now()
    conditions = {name: sent.get(name, "").replace("\0", "").strip() for name in _RULE_CONDITIONS}
    space = _find_rule_space(request, sent.get("space", ""))
    try:
        made = review_rules.create_rule(
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
    messages.success(request, _("%(rule)s: in force.") % {"rule": queries.describe_rule(made)})
    if sent.get("now") == "yes":
        _apply_rule_to_open_cases(request, made)
    return redirect("review-rules")


def _apply_rule_to_open_cases(request: ConsoleRequest, rule: ReviewRule) -> None:
    with tenant_scope(request.tenant.id):
        found = review_rules.list_covered_proposals(rule)
    outcomes = review_rules.apply_rule(rule, found, timezone.now())
    refused = sum(bool(outcome.refused) for outcome in outcomes)
    said = _("Open cases answered by it: %(count)s.") % {"count": len(outcomes) - refused}
    if refused:
        said += " " + _("Left for a person: %(count)s.") % {"count": refused}
    messages.success(request, said)


def _find_rule_space(request: ConsoleRequest, given: str) -> Space | None:
    """None for all of them."""
    if not given:
        return None
    with tenant_scope(request.tenant.id):
        return get_object_or_404(Space.objects.filter(id__in=read_ids([given])))


@action_at("review/rules/<uuid:rule_id>/remove", "review-rule-remove")
@tenant_view(role=ADMIN)
def remove_review_rule(request: ConsoleRequest, rule_id: UUID) -> HttpResponse:
    with tenant_scope(request.tenant.id):
        rule = queries.get_rule_or_404(rule_id)
    try:
        review_rules.remove_rule(request.tenant.id, rule.id, request.user.username, timezone.now())
    except MemoryHubError as error:
        messages.error(request, _("Not removed: %(why)s.") % {"why": error.message})
    else:
        messages.success(request, _("Removed: it answers nothing more. What it answered stays."))
    return redirect("review-rules")
