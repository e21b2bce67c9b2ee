"""Rules: answers given beforehand, each explained and removable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from memoryhub.console.frame.access import ADMIN, action_at, check_role, page_at, tenant_view
from memoryhub.console.frame.forms import attempt, read_ids, run_and_report
from memoryhub.console.frame.lists import (
    FilterChoice,
    Filters,
    ListPage,
    build_text_condition,
    load_page,
    read_filters,
)
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.text.predicate_words import format_predicate
from memoryhub.console.pages.review.queries import get_proposal_or_404
from memoryhub.pipeline.review import review_rules
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.models import Proposal, ReviewRule

RULE_STATE_CHOICE = FilterChoice(
    "state",
    _("Show"),
    (("active", _("In force")), ("removed", pgettext_lazy("rules", "Removed")), ("all", _("All"))),
)
RULE_SUBJECTS = {
    "conflict": _("what contradicts a memory"),
    "quarantine": _("quarantined content"),
    "overwrite": _("changes to what a person corrected or pinned"),
    "merge": _("names that may be the same"),
    "rename": _("names that were put right elsewhere"),
}
_RULE_SENTENCES = {
    "accept": _("Always accept %(what)s"),
    "keep_both": _("Always keep both of %(what)s"),
    "reject": _("Always reject %(what)s"),
}
SPEAKER_ROLES = {
    "user": _("a person"),
    "assistant": _("an assistant"),
    "system": _("a system message"),
    "tool": _("a tool"),
}


@dataclass(frozen=True, slots=True)
class RuleRow:
    rule: ReviewRule
    answered: int

    @property
    def words(self) -> str:
        return describe_rule(self.rule)


def describe_rule(rule: ReviewRule) -> str:
    """ "Always reject what contradicts a memory, about “lives in”, said by a tool"."""
    said = _RULE_SENTENCES[rule.answer] % {"what": RULE_SUBJECTS[rule.kind]}
    if rule.predicate_key:
        about = format_predicate(rule.predicate_key)
        said = gettext("%(rule)s, about “%(about)s”") % {"rule": said, "about": about}
    if rule.role:
        said = gettext("%(rule)s, said by %(role)s") % {
            "rule": said,
            "role": SPEAKER_ROLES[rule.role],
        }
    return said


def load_rules(filters: Filters) -> ListPage[RuleRow]:
    """Three statements."""
    rows = ReviewRule.objects.filter(
        build_text_condition(filters.q, "predicate_key", "reason", "created_by", "space__subject")
    )
    if filters["state"] != "all":
        rows = rows.filter(removed_at__isnull=filters["state"] == "active")
    found = load_page(rows.select_related("space"), filters.page)
    decided = Proposal.objects.filter(rule_id__in=[rule.id for rule in found.rows])
    answered = decided.exclude(state=Proposal.State.OPEN).order_by().values_list("rule_id")
    counts = dict(answered.annotate(number=Count("id")))
    return found.map(lambda rule: RuleRow(rule, counts.get(rule.id, 0)))


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
        filters = read_filters(request.GET, (RULE_STATE_CHOICE,))
        context = {"filters": filters, "page": load_rules(filters), **_build_rule_form(request)}
        return render(request, "rules/list.html", context)


def _build_rule_form(request: ConsoleRequest) -> dict[str, Any]:
    context: dict[str, Any] = {
        "what": [(kind, RULE_SUBJECTS[kind]) for kind in review_rules.RULED_KINDS],
        "answers": ReviewRule.Answer.choices,
        "roles": SPEAKER_ROLES,
    }
    ids = read_ids(request.GET.getlist("case"))
    if not ids:
        return context
    proposal = get_proposal_or_404(ids[0])
    return context | {"case": proposal, "about": review_rules.load_cases([proposal])[0]}


def _create_rule(request: ConsoleRequest) -> HttpResponse:
    sent, now = request.POST, timezone.now()
    conditions = {name: sent.get(name, "").replace("\0", "").strip() for name in _RULE_CONDITIONS}
    space = None  # all of them
    if sent.get("space"):
        with tenant_scope(request.tenant.id):
            space = get_object_or_404(Space.objects.filter(id__in=read_ids([sent["space"]])))
    made = attempt(
        request,
        lambda: review_rules.create_rule(
            request.tenant.id,
            sent.get("kind", ""),
            sent.get("answer", ""),
            request.actor,
            now,
            space=space,
            reason=sent.get("reason", "").replace("\0", "").strip(),
            **conditions,
        ),
        gettext("No rule was created: %(why)s."),
    )
    if made is None:
        return redirect("review-rules")
    messages.success(request, gettext("%(rule)s: in force.") % {"rule": describe_rule(made)})
    if sent.get("now") == "yes":
        _apply_rule_to_open_cases(request, made)
    return redirect("review-rules")


def _apply_rule_to_open_cases(request: ConsoleRequest, rule: ReviewRule) -> None:
    with tenant_scope(request.tenant.id):
        found = review_rules.list_covered_proposals(rule)
    outcomes = review_rules.apply_rule(rule, found, timezone.now())
    refused = sum(bool(outcome.refused) for outcome in outcomes)
    said = gettext("Open cases decided by it: %(count)s.") % {"count": len(outcomes) - refused}
    if refused:
        said += " " + gettext("Left for review: %(count)s.") % {"count": refused}
    messages.success(request, said)


@action_at("review/rules/<uuid:rule_id>/remove", "review-rule-remove")
@tenant_view(role=ADMIN)
def remove_review_rule(request: ConsoleRequest, rule_id: UUID) -> HttpResponse:
    with tenant_scope(request.tenant.id):
        rule = get_object_or_404(ReviewRule.objects.filter(id=rule_id))
    run_and_report(
        request,
        lambda: review_rules.remove_rule(request.tenant.id, rule.id, request.actor, timezone.now()),
        gettext("Removed: it decides no more cases. Its past decisions stay."),
        refused=gettext("Not removed"),
    )
    return redirect("review-rules")
