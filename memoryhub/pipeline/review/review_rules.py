"""Rules: answers that a person gives beforehand, to proposals of one kind.

A rule answers what is opened after it was made, as soon as the step that opened it is done, in
the name of whoever made it. What it can't carry out waits for a person. It is never changed:
removed, it stays to be read, and another takes its place.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import structlog
from django.db.models import Q
from django.utils.translation import gettext as _

from memoryhub.dialogues.models import Turn
from memoryhub.errors import Conflict, InvalidInput, MemoryHubError
from memoryhub.pipeline.review.answer_proposals import AnswerOutcome, answer_proposal, run_for_each
from memoryhub.pipeline.review.answers import list_answers, translate_common_answer
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.facts.trust import CLAIMANT_ROLES, is_instruction
from notes.models import Proposal, ReviewRule

log = structlog.get_logger()
Kind = Proposal.Kind
# Erasing is for good: each wish takes a person's own word, or the policy's.
RULED_KINDS = tuple(kind for kind in Kind if kind != Kind.ERASE)
RULED_ROLES = tuple(role for role in Turn.Role.values)
MAX_RULES = 200  # in force, of a tenant
MAX_CASES_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class RuleCase:
    """What rules look at: the matter of the candidate, and who said it where all sources agree."""

    space_id: UUID
    kind: str
    predicate_key: str = ""
    role: str = ""
    answers: Sequence[str] = ()
    never: frozenset[str] = frozenset()  # common words that only a person may say


def is_applicable(rule: ReviewRule, case: RuleCase) -> bool:
    """Pure. A rule that can't be meant (there is nothing to keep beside) does not fit."""
    return (
        rule.kind == case.kind
        and rule.space_id in (None, case.space_id)
        and rule.predicate_key in ("", case.predicate_key)
        and rule.role in ("", case.role)
        and translate_common_answer(rule.kind, rule.answer) in case.answers
        and rule.answer not in case.never
    )


def select_rule(rules: Iterable[ReviewRule], case: RuleCase) -> ReviewRule | None:
    """Of those that fit: the space's before the tenant's, then the one that says more, then the
    newest. Pure."""
    found = [rule for rule in rules if is_applicable(rule, case)]
    return max(
        found,
        key=lambda r: (r.space_id is not None, bool(r.predicate_key) + bool(r.role), r.created_at),
        default=None,
    )


def load_cases(proposals: Sequence[Proposal]) -> list[RuleCase]:
    """One statement. Call inside the tenant's scope."""
    wanted = {turn for proposal in proposals for turn in proposal.turn_ids}
    roles = dict(Turn.objects.filter(id__in=wanted).values_list("id", "role")) if wanted else {}
    return [_build_case(proposal, roles) for proposal in proposals]


def _build_case(proposal: Proposal, roles: dict[UUID, str]) -> RuleCase:
    candidate = proposal.payload.get("candidate") or {}
    said_by = {roles[turn] for turn in proposal.turn_ids if turn in roles}
    # Trusting what was held back takes a look, but for data of a role that is named as trusted.
    suspect = proposal.kind == Kind.QUARANTINE and (
        is_instruction(str(candidate.get("text", "")))
        or bool(said_by & CLAIMANT_ROLES)
        or not said_by
    )
    return RuleCase(
        proposal.space_id,
        proposal.kind,
        str(candidate.get("predicate_key", "")),
        said_by.pop() if len(said_by) == 1 else "",
        list_answers(proposal),
        frozenset({"accept"}) if suspect else frozenset(),
    )


def create_rule(
    tenant_id: UUID,
    kind: str,
    said: str,
    actor: str,
    now: datetime,
    *,
    space: Space | None = None,
    predicate_key: str = "",
    role: str = "",
    reason: str = "",
) -> ReviewRule:
    """In force from `now` on. Opens its own scope. Raises InvalidInput, and Conflict where one of
    the same conditions is in force."""
    _check_rule(kind, said, role)
    conditions = {"space": space, "kind": kind, "predicate_key": predicate_key[:80], "role": role}
    with tenant_scope(tenant_id):
        in_force = ReviewRule.objects.filter(removed_at=None)
        if in_force.filter(**conditions).exists():
            raise Conflict(
                _("a rule for the same is in force: remove it first"), code="rule_exists"
            )
        if in_force.count() >= MAX_RULES:
            raise Conflict(
                _("at most %(limit)s rules are in force at once") % {"limit": MAX_RULES},
                code="too_many",
            )
        made: ReviewRule = ReviewRule.objects.create(
            tenant_id=tenant_id,
            answer=said,
            reason=reason[:500],
            created_by=actor[:120],
            created_at=now,
            **conditions,
        )
    return made


def _check_rule(kind: str, said: str, role: str) -> None:
    if kind not in RULED_KINDS:
        raise InvalidInput(_("one of %(known)s") % {"known": ", ".join(RULED_KINDS)}, field="kind")
    if said not in ReviewRule.Answer.values or translate_common_answer(kind, said) == said:
        known = ", ".join(
            word for word in ReviewRule.Answer.values if translate_common_answer(kind, word) != word
        )
        raise InvalidInput(_("one of %(known)s") % {"known": known}, field="answer")
    if role and role not in RULED_ROLES:
        raise InvalidInput(
            _("one of %(known)s, or empty") % {"known": ", ".join(RULED_ROLES)}, field="role"
        )
    if kind == Kind.QUARANTINE and said == "accept" and (not role or role in CLAIMANT_ROLES):
        raise InvalidInput(
            _("name whose words are to be trusted: of a tool, or of the system"), field="role"
        )


def remove_rule(tenant_id: UUID, rule_id: UUID, actor: str, now: datetime) -> ReviewRule:
    """It answers nothing more; what it answered stays. Raises Conflict when it was removed before.
    Opens its own scope."""
    with tenant_scope(tenant_id):
        rows = ReviewRule.objects.filter(id=rule_id, removed_at=None)
        if not rows.update(removed_at=now, removed_by=actor[:120]):
            raise Conflict(_("this rule is not in force any more"), code="rule_removed")
        return ReviewRule.objects.get(id=rule_id)


def list_covered_proposals(rule: ReviewRule) -> list[Proposal]:
    """The open cases that it would answer, the oldest first. Call inside the tenant's scope."""
    rows = Proposal.objects.filter(kind=rule.kind, state=Proposal.State.OPEN)
    if rule.space_id:
        rows = rows.filter(space=rule.space_id)
    found = list(rows.select_related("space").order_by("created_at", "id")[:MAX_CASES_AT_ONCE])
    pairs = zip(found, load_cases(found), strict=True)
    return [proposal for proposal, case in pairs if is_applicable(rule, case)]


def apply_rule(
    rule: ReviewRule, proposals: Iterable[Proposal], now: datetime
) -> list[AnswerOutcome]:
    """Answer these by the rule, each for itself. Opens its own scopes."""
    return run_for_each(proposals, lambda proposal: _answer_by_rule(rule, proposal, now))


def apply_rules(
    tenant_id: UUID, space_id: UUID, opened: Collection[UUID], now: datetime
) -> list[AnswerOutcome]:
    """Answer those of the `opened` cases of a space that a rule covers. Opens its own scopes.

    One that fails stays open for a person, and is not tried again.
    """
    with tenant_scope(tenant_id):
        here = Q(space=None) | Q(space=space_id)
        rules = list(ReviewRule.objects.filter(here, removed_at=None))
        if not rules:
            return []
        rows = Proposal.objects.filter(space=space_id, state=Proposal.State.OPEN, rule_id=None)
        found = list(rows.filter(id__in=opened).order_by("created_at", "id"))
        cases = load_cases(found)
    outcomes: list[AnswerOutcome] = []
    for proposal, case in zip(found, cases, strict=True):
        older = [rule for rule in rules if rule.created_at <= proposal.created_at]
        if rule := select_rule(older, case):
            outcomes += apply_rule(rule, [proposal], now)
    return outcomes


def _answer_by_rule(rule: ReviewRule, proposal: Proposal, now: datetime) -> None:
    with tenant_scope(proposal.tenant_id):
        Proposal.objects.filter(id=proposal.id).update(rule_id=rule.id)
    why = f"by a rule of {rule.created_by}" + (f": {rule.reason}" if rule.reason else "")
    try:
        answer_proposal(proposal, rule.answer, f"rule of {rule.created_by}", now, reason=why[:500])
    except MemoryHubError as error:
        log.warning("rule.failed", rule=str(rule.id), error=error.message)
        raise
