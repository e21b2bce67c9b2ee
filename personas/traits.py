"""Assessments of a person along registered dimensions, each with its interval and its evidence.

They rest on pages, never override a fact (I3), and never replace one another silently: another
level closes the interval of the one before (O8, MO10).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.utils.translation import gettext as _

from memoryhub.engines.types import TraitAssessment, TraitView
from memoryhub.errors import InvalidInput
from memoryhub.tenants.models import Space
from notes.models import EvolutionEvent, Proposal
from notes.proposals import propose
from notes.recording import ChangeSet, Source, values_of
from personas.models import Trait
from personas.registry import DIMENSIONS, LEVELS


@dataclass(frozen=True, slots=True)
class Judged:
    """An assessment with the turns of its evidence, and when the last of them was said."""

    said: TraitAssessment
    sources: tuple[Source, ...]
    at: datetime


@dataclass
class Assessed:
    """What became of assessments, by key."""

    made: list[str] = field(default_factory=list)
    renewed: list[str] = field(default_factory=list)
    proposed: list[str] = field(default_factory=list)


def owner_of(space: Space) -> str:
    """How the space's subject is called where an owner is named."""
    return (space.name or space.subject)[:120]


def open_traits(space: Space, owner: str = "") -> list[Trait]:
    """The assessments that hold now; of the space's subject unless said otherwise."""
    rows = Trait.objects.filter(space=space, owner=owner or owner_of(space))
    return list(rows.filter(valid_to=None, retired_at=None))


def withdrawn(space: Space) -> dict[str, Trait]:
    """By key, the last assessment of the space's subject where a person has ended it: only a
    person ends what a person set or withdrew."""
    rows = Trait.objects.filter(space=space, owner=owner_of(space), retired_at=None)
    last = {each.key: each for each in rows.order_by("valid_from", "id")}
    return {key: one for key, one in last.items() if one.corrected_by and one.valid_to is not None}


def views(held: Iterable[Trait], keys: Iterable[str]) -> list[TraitView]:
    """Held assessments as an engine is told of them; those switched off since are not."""
    offered = set(keys)
    return [
        TraitView(each.key, each.level, each.rationale)  # type: ignore[arg-type]  # a checked choice
        for each in held
        if each.key in offered
    ]


def registered(
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


def assess(changes: ChangeSet, held: Sequence[Trait], judged: Iterable[Judged]) -> Assessed:
    """Write assessments of the space's subject. `held` are the open ones, locked by the caller.

    What a person corrected is proposed against, not overwritten.
    """
    known = withdrawn(changes.space) | {trait.key: trait for trait in held}
    result = Assessed()
    for one in judged:
        old = known.get(one.said.key)
        if old is not None and old.is_protected:
            if old.level != one.said.level or old.valid_to is not None:
                _propose(changes, old, one)
                result.proposed.append(old.key)
        elif old is not None and old.level == one.said.level:
            _renew(changes, old, one)
            result.renewed.append(old.key)
        else:
            _open(changes, old, one)
            result.made.append(one.said.key)
    return result


def _open(changes: ChangeSet, old: Trait | None, one: Judged) -> None:
    start = max(one.at, old.valid_from) if old else one.at
    if old is not None:
        _close(changes, old, start)
    made = Trait.objects.create(
        tenant_id=changes.space.tenant_id,
        space=changes.space,
        owner=owner_of(changes.space),
        key=one.said.key,
        level=one.said.level,
        confidence=one.said.confidence,
        rationale=one.said.why,
        valid_from=start,
        engine=changes.engine,
    )
    changes.created(made, one.sources)


def _close(changes: ChangeSet, old: Trait, at: datetime, actor: str = "") -> None:
    """`actor`: the person who ends it by hand."""
    before = values_of(old)
    old.valid_to = at
    old.corrected_by = actor[:120] or old.corrected_by
    old.version += 1
    old.save(update_fields=["valid_to", "corrected_by", "version"])
    changes.changed(old, before)


def _renew(changes: ChangeSet, old: Trait, one: Judged) -> None:
    """The same level again: its interval goes on, with the newer reason and more evidence."""
    before = values_of(old)
    old.rationale, old.confidence = one.said.why or old.rationale, one.said.confidence
    old.version += 1
    old.save(update_fields=["rationale", "confidence", "version"])
    changes.changed(old, before)
    changes.supported(old, one.sources)


def _propose(changes: ChangeSet, old: Trait, one: Judged) -> None:
    propose(
        changes.space,
        Proposal.Kind.OVERWRITE,
        f"trait:{old.id}:{one.said.level}",
        f"{old.key} may be {one.said.level} now: {one.said.why}",
        changes.at,
        row=old,
        payload={"level": one.said.level, "rationale": one.said.why, "valid_to": None},
        turn_ids=[source.turn_id for source in one.sources],
    )


def correct(
    space: Space,
    key: str,
    level: str,
    actor: str,
    now: datetime,
    *,
    reason: str = "",
) -> None:
    """A person's own word on a trait: "" withdraws it. The pipeline only proposes against it.

    Call inside the tenant's scope. Raises InvalidInput.
    """
    if key not in DIMENSIONS:
        raise InvalidInput(_("no such trait is registered"), field="key")
    if level and level not in LEVELS:
        raise InvalidInput(
            _("one of %(known)s, or empty") % {"known": ", ".join(sorted(LEVELS))}, field="level"
        )
    changes = ChangeSet(space, EvolutionEvent.Kind.MANUAL, actor, now, reason or "set by hand")
    rows = Trait.objects.select_for_update().filter(space=space, owner=owner_of(space), key=key)
    old = rows.filter(valid_to=None, retired_at=None).first()
    if old is not None and (old.level, old.corrected_by) == (level, actor):
        return
    if old is not None:
        _close(changes, old, max(now, old.valid_from), actor)
    if level:
        _by_hand(changes, key, level, actor)
    changes.save()


def _by_hand(changes: ChangeSet, key: str, level: str, actor: str) -> None:
    made = Trait.objects.create(
        tenant_id=changes.space.tenant_id,
        space=changes.space,
        owner=owner_of(changes.space),
        key=key,
        level=level,
        confidence=1.0,
        rationale="",
        valid_from=changes.at,
        corrected_by=actor[:120],
    )
    changes.created(made, [])
