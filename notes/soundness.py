"""Finding the facts that the signals of `notes.quality` are about, by the space's rows.

A handful of statements a space, whatever it holds; pairs by vectors are bounded. Call inside the
tenant's scope, but for `compare`, which takes long and opens nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from django.db.models import Exists, OuterRef, QuerySet
from numpy.typing import NDArray

from memoryhub.tenants.models import Space
from notes import quality
from notes.models import Derivation, Fact, IndexEntry, Proposal
from notes.quality import Compared
from notes.queries import is_current

SAMPLES = 25  # kept of each signal, the newest


@dataclass(frozen=True, slots=True)
class Sample:
    """A fact, the other one of a pair, and how alike they are."""

    fact: UUID
    other: UUID | None = None
    cosine: float | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """`found` facts of `of` that were looked at; the other of a pair is not counted."""

    signal: str
    found: int
    of: int
    samples: list[Sample] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Vectors:
    """The newest facts held that have a vector, oldest first."""

    ids: Sequence[UUID]
    rows: Sequence[Compared]
    vectors: NDArray[np.float32]


def held(space: Space, now: datetime) -> QuerySet[Fact]:
    rows: QuerySet[Fact] = Fact.objects.filter(is_current(now), space=space)
    return rows


def by_rows(space: Space, now: datetime) -> list[Finding]:
    """All signals but those that vectors tell. Thirteen statements."""
    facts = held(space, now)
    of = facts.count()
    support = Derivation.objects.filter(
        child_type="fact", child_id=OuterRef("pk"), role=Derivation.Role.SUPPORT
    )
    free = facts.filter(pinned=False)
    single = {
        "fragments": facts.filter(text__regex=quality.SHORT)
        | facts.filter(text__iregex=quality.NAMELESS),
        "stale": free.filter(asserted_at__lt=now - quality.STALE_AFTER, corrected_by="").exclude(
            kind="event"
        ),
        "unrecalled": free.filter(recall_count=0, recorded_at__lt=now - quality.UNUSED_AFTER),
        "unsupported": facts.filter(~Exists(support), corrected_by=""),
    }
    found = [_single(name, rows, of) for name, rows in single.items()]
    pairs = _contradicting(space, facts)
    return [*found, Finding("contradicting", len(pairs), of, pairs[:SAMPLES])]


def _single(name: str, rows: QuerySet[Fact], of: int) -> Finding:
    newest = rows.order_by("-recorded_at", "-id").values_list("id", flat=True)[:SAMPLES]
    return Finding(name, rows.count(), of, [Sample(row) for row in newest])


def _contradicting(space: Space, facts: QuerySet[Fact]) -> list[Sample]:
    pairs = dict.fromkeys([*_in_the_inbox(space), *_denied(facts)])
    wanted = {row for pair in pairs for row in pair}
    there = set(facts.filter(id__in=wanted).values_list("id", flat=True))
    return [Sample(new, old) for new, old in pairs if {new, old} <= there]


def _in_the_inbox(space: Space) -> Iterable[tuple[UUID, UUID]]:
    waiting = Proposal.objects.filter(
        space=space, kind="conflict", row_type="fact", state=Proposal.State.OPEN
    )
    for old, payload in waiting.order_by("-created_at").values_list("row_id", "payload"):
        if old and payload.get("fact_id"):
            yield UUID(str(payload["fact_id"])), old


def _denied(facts: QuerySet[Fact]) -> Iterable[tuple[UUID, UUID]]:
    """A denial, and what holds in its words all the same. Two statements."""
    denials = facts.filter(polarity__in=("denied", "ended")).exclude(predicate_key="")
    said = list(denials.order_by("-recorded_at")[: quality.MOST_COMPARED])
    held_by = {_matter(fact): fact.id for fact in _of_the_matters(facts, said)}
    return [(fact.id, held_by[_matter(fact)]) for fact in said if _matter(fact) in held_by]


def _of_the_matters(facts: QuerySet[Fact], said: Sequence[Fact]) -> QuerySet[Fact]:
    return facts.filter(
        polarity="holds",
        owner__in={fact.owner for fact in said},
        predicate_key__in={fact.predicate_key for fact in said},
    )


def _matter(fact: Fact) -> tuple[str, str, str]:
    return fact.owner.casefold(), fact.predicate_key, fact.o.casefold()


def vectors_of(space: Space, model: str, now: datetime) -> Vectors:
    """Three statements."""
    facts = held(space, now).order_by("-recorded_at", "-id")[: quality.MOST_COMPARED]
    rows = {fact.id: fact for fact in facts}
    entries = IndexEntry.objects.filter(
        space=space, kind="fact", model=model, chunk=0, owner_id__in=rows
    ).exclude(embedding=None)
    known = dict(entries.values_list("owner_id", "embedding"))
    ids = [row for row in reversed(rows) if row in known]
    people = _said_by_people(ids)
    vectors = np.array([known[row] for row in ids], np.float32)
    return Vectors(ids, [_compared(rows[row], row in people) for row in ids], vectors)


def _said_by_people(ids: Sequence[UUID]) -> set[UUID]:
    """Also those whose sources are not known: nobody says that an assistant said them."""
    support = Derivation.objects.filter(
        child_type="fact", child_id__in=ids, role=Derivation.Role.SUPPORT
    )
    roles: dict[UUID, set[str]] = {}
    for row, role in support.values_list("child_id", "turn__role").distinct():
        roles.setdefault(row, set()).add(role)
    return {row for row in ids if "user" in roles.get(row, {"user"})}


def _compared(fact: Any, by_a_person: bool) -> Compared:
    return Compared(
        fact.owner,
        fact.polarity,
        fact.text,
        fact.recorded_at,
        fact.event_from,
        fact.recall_count > 0,
        by_a_person,
    )


def compare(given: Vectors) -> list[Finding]:
    """Duplicates and echoes: every pair of the vectors, a second at most. Pure."""
    twins: dict[int, Sample] = {}
    echoes: dict[int, Sample] = {}
    for older, newer, cosine in quality.alike(given.vectors, quality.ECHOED) if given.ids else ():
        one, other = given.rows[older], given.rows[newer]
        sample = Sample(given.ids[newer], given.ids[older], round(cosine, 3))
        if quality.are_duplicates(one, other, cosine):
            twins.setdefault(newer, sample)
        if quality.is_echo(other, one, cosine):
            echoes.setdefault(newer, sample)
    return [_paired("duplicates", twins, given), _paired("loops", echoes, given)]


def _paired(name: str, found: dict[int, Sample], given: Vectors) -> Finding:
    newest = [found[place] for place in sorted(found, reverse=True)[:SAMPLES]]
    return Finding(name, len(found), len(given.ids), newest)
