"""Assessments of a person along registered dimensions, each with its interval and its evidence.

They rest on pages, never override a fact (I3), and never replace one another silently: another
level closes the interval of the one before (O8, MO10).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from memoryhub.engines.types import TraitAssessment, TraitState
from memoryhub.errors import InvalidInput
from memoryhub.tenants.database.locks import lock_until_commit
from memoryhub.tenants.models import Space
from notes.history.change_set import ChangeSet, TurnEvidence
from notes.models import EvolutionEvent, Proposal
from notes.review.proposals import propose_change
from personas.dimensions import DIMENSIONS, LEVELS, describe_trait
from personas.models import Trait


@dataclass(frozen=True, slots=True)
class JudgedTrait:
    """An assessment with the turns of its evidence, and when the last of them was said."""

    assessment: TraitAssessment
    sources: tuple[TurnEvidence, ...]
    at: datetime


@dataclass
class AssessmentOutcome:
    """What became of assessments, by key."""

    made: list[str] = field(default_factory=list)
    renewed: list[str] = field(default_factory=list)
    proposed: list[str] = field(default_factory=list)


def get_owner_name(space: Space) -> str:
    """How the space's subject is called where an owner is named."""
    return space.display_name


def load_open_traits(space: Space, owner: str = "") -> list[Trait]:
    """The assessments that hold now; of the space's subject unless said otherwise."""
    rows = Trait.objects.filter(space=space, owner__in=[owner] if owner else space.called_names)
    return list(rows.filter(valid_to=None, retired_at=None))


def load_ended_by_hand(space: Space) -> dict[str, Trait]:
    """By key, the last assessment of the space's subject where a person has ended it: only a
    person ends what a person set or withdrew."""
    rows = Trait.objects.filter(space=space, owner__in=space.called_names, retired_at=None)
    last = {each.key: each for each in rows.order_by("valid_from", "id")}
    return {key: one for key, one in last.items() if one.corrected_by and one.valid_to is not None}


def build_trait_views(held: Iterable[Trait], keys: Iterable[str]) -> list[TraitState]:
    """Held assessments as an engine is told of them; those switched off since are not."""
    offered = set(keys)
    return [
        TraitState(each.key, each.level, each.rationale)  # type: ignore[arg-type]  # a checked choice
        for each in held
        if each.key in offered
    ]


def select_registered(
    said: Iterable[TraitAssessment], keys: Iterable[str]
) -> tuple[list[TraitAssessment], int]:
    """Assessments that may be kept, one a key, and how many may not: unknown, switched off, of
    an unknown level, without evidence (MO10)."""
    offered, dropped = set(keys), 0
    kept: dict[str, TraitAssessment] = {}
    for each in said:
        if each.key in offered and each.level in LEVELS and each.evidence:
            kept.setdefault(each.key, each)
        else:
            dropped += 1
    return list(kept.values()), dropped


def lock_persona(space: Space) -> None:
    """Until commit: traits, profile and portrait have one writer at a time, who sees what the one
    before has made. Call inside the tenant's scope."""
    lock_until_commit("persona", space.id)


def assess_traits(
    changes: ChangeSet, held: Sequence[Trait], judged: Iterable[JudgedTrait]
) -> AssessmentOutcome:
    """Write assessments of the space's subject. `held` are the open ones, locked by the caller.

    What a person corrected is proposed against, not overwritten.
    """
    known = load_ended_by_hand(changes.space) | {trait.key: trait for trait in held}
    result = AssessmentOutcome()
    for one in judged:
        old = known.get(one.assessment.key)
        if old is not None and old.is_protected:
            if old.level != one.assessment.level or old.valid_to is not None:
                _propose_trait(changes, old, one)
                result.proposed.append(old.key)
        elif old is not None and old.level == one.assessment.level:
            _renew_trait(changes, old, one)
            result.renewed.append(old.key)
        else:
            _open_trait(changes, old, one)
            result.made.append(one.assessment.key)
    return result


def _open_trait(changes: ChangeSet, old: Trait | None, one: JudgedTrait) -> None:
    start = max(one.at, old.valid_from) if old else one.at
    if old is not None:
        _close_trait(changes, old, start)
    _create_trait(
        changes,
        one.sources,
        key=one.assessment.key,
        level=one.assessment.level,
        confidence=one.assessment.confidence,
        rationale=one.assessment.why,
        valid_from=start,
        engine=changes.engine,
    )


def _create_trait(changes: ChangeSet, sources: Iterable[TurnEvidence], **values: Any) -> Trait:
    space = changes.space
    made = Trait.objects.create(
        tenant_id=space.tenant_id, space=space, owner=get_owner_name(space), **values
    )
    changes.record_creation(made, sources)
    return made


def _close_trait(changes: ChangeSet, old: Trait, at: datetime, actor: str = "") -> None:
    """`actor`: the person who ends it by hand."""
    changes.update_row(old, valid_to=at, corrected_by=actor[:120] or old.corrected_by)


def _renew_trait(changes: ChangeSet, old: Trait, one: JudgedTrait) -> None:
    """The same level again: its interval goes on, with the newer reason and more evidence."""
    said = one.assessment
    changes.update_row(old, rationale=said.why or old.rationale, confidence=said.confidence)
    changes.record_support(old, one.sources)


def _propose_trait(changes: ChangeSet, old: Trait, one: JudgedTrait) -> None:
    propose_change(
        changes.space,
        Proposal.Kind.OVERWRITE,
        f"trait:{old.id}:{one.assessment.level}",
        f"{old.key} may be “{describe_trait(old.key, one.assessment.level)}” now: "
        f"{one.assessment.why}",
        changes.at,
        row=old,
        payload={"level": one.assessment.level, "rationale": one.assessment.why, "valid_to": None},
        turn_ids=[source.turn_id for source in one.sources],
    )


def correct_trait(
    space: Space, key: str, level: str, actor: str, now: datetime, *, reason: str = ""
) -> tuple[ChangeSet, Trait | None]:
    """A person's own word on a trait: "" withdraws it. The pipeline only proposes against it.

    Returns the change-set, empty where it says so already, and the trait that stands now. Call
    inside the tenant's scope. Raises InvalidInput.
    """
    if key not in DIMENSIONS:
        raise InvalidInput(_("no such trait is registered"), field="key")
    if level and level not in LEVELS:
        raise InvalidInput(
            _("one of %(known)s, or empty") % {"known": ", ".join(sorted(LEVELS))}, field="level"
        )
    lock_persona(space)
    changes = ChangeSet(space, EvolutionEvent.Kind.MANUAL, actor, now, reason or "set by hand")
    rows = Trait.objects.select_for_update().filter(
        space=space, owner__in=space.called_names, key=key
    )
    old = rows.filter(valid_to=None, retired_at=None).first()
    if old is not None and (old.level, old.corrected_by) == (level, actor):
        return changes, old
    if old is not None:
        _close_trait(changes, old, max(now, old.valid_from), actor)
    said = {"key": key, "level": level, "confidence": 1.0, "corrected_by": actor[:120]}
    made = _create_trait(changes, [], valid_from=now, **said) if level else None
    changes.save()
    return changes, made
