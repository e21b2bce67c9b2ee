"""Rules for the inbox, in the operator's words."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from memoryhub.console.frame.lists import (
    FilterChoice,
    Filters,
    ListPage,
    build_text_condition,
    load_page,
)
from memoryhub.pipeline.review import review_rules
from notes.models import Proposal, ReviewRule

RULE_STATE_CHOICE = FilterChoice(
    "state",
    _("Show"),
    (("active", _("In force")), ("removed", pgettext_lazy("rules", "Removed")), ("all", _("All"))),
)
RULE_SUBJECTS = {
    "conflict": _("what contradicts a memory"),
    "quarantine": _("what is held back as not trusted"),
    "overwrite": _("changes of what a person corrected or pinned"),
    "merge": _("names that may be the same"),
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
        about = rule.predicate_key.replace("_", " ")
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
    counts = _count_answered([rule.id for rule in found.rows])
    return found.map(lambda rule: RuleRow(rule, counts.get(rule.id, 0)))


def _count_answered(ids: list[UUID]) -> dict[UUID, int]:
    decided = Proposal.objects.filter(rule_id__in=ids).exclude(state=Proposal.State.OPEN)
    return dict(decided.order_by().values_list("rule_id").annotate(number=Count("id")))


def get_rule_or_404(rule_id: UUID) -> ReviewRule:
    return get_object_or_404(ReviewRule.objects.filter(id=rule_id))


def load_rule_conditions(proposal: Proposal) -> review_rules.RuleCase:
    """What a rule made of this case may look at."""
    return review_rules.load_cases([proposal])[0]
