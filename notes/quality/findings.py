"""Finding the facts that the signals of `notes.quality.signals` are about, by the space's rows.

A handful of statements a space, whatever it holds; pairs by vectors are bounded. Call inside the
tenant's scope, but for `compare`, which takes long and opens nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

import numpy as np
from django.db.models import Exists, OuterRef, QuerySet
from numpy.typing import NDArray

from memoryhub.tenants.models import Space
from notes.facts.validity import build_current_q
from notes.history.change_set import filter_supports
from notes.index.indexer import load_vectors
from notes.models import Fact, Proposal
from notes.quality import signals
from notes.quality.signals import ComparedFact

MAX_SAMPLES = 25  # kept of each signal, the newest


@dataclass(frozen=True, slots=True)
class FindingSample:
    """A fact, the other one of a pair, and how alike they are."""

    fact: UUID
    other: UUID | None = None
    cosine: float | None = None


@dataclass(frozen=True, slots=True)
class QualityFinding:
    """`found` facts of `of` that were looked at; the other of a pair is not counted."""

    signal: str
    found: int
    of: int
    samples: list[FindingSample] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class FactVectors:
    """The newest facts held that have a vector, oldest first."""

    ids: Sequence[UUID]
    rows: Sequence[ComparedFact]
    vectors: NDArray[np.float32]


def filter_held_facts(space: Space, now: datetime) -> QuerySet[Fact]:
    rows: QuerySet[Fact] = Fact.objects.filter(build_current_q(now), space=space)
    return rows


def find_row_signals(space: Space, now: datetime) -> list[QualityFinding]:
    """All signals but those that vectors tell. Thirteen statements at most."""
    facts = filter_held_facts(space, now)
    of = facts.count()
    support = filter_supports("fact", child_id=OuterRef("pk"))
    free = facts.filter(pinned=False)
    single = {
        "fragments": facts.filter(text__regex=signals.SHORT_TEXT_PATTERN)
        | facts.filter(text__iregex=signals.NAMELESS_PATTERN),
        "stale": free.filter(asserted_at__lt=now - signals.STALE_AFTER, corrected_by="").exclude(
            kind="event"
        ),
        "unrecalled": free.filter(recall_count=0, recorded_at__lt=now - signals.UNUSED_AFTER),
        "unsupported": facts.filter(~Exists(support), corrected_by=""),
    }
    found = [_build_finding(name, rows, of) for name, rows in single.items()]
    pairs = _find_contradictions(space, facts)
    return [*found, QualityFinding("contradicting", len(pairs), of, pairs[:MAX_SAMPLES])]


def _build_finding(name: str, rows: QuerySet[Fact], of: int) -> QualityFinding:
    newest = rows.order_by("-recorded_at", "-id").values_list("id", flat=True)[:MAX_SAMPLES]
    samples = [FindingSample(row) for row in newest]
    found = len(samples) if len(samples) < MAX_SAMPLES else rows.count()
    return QualityFinding(name, found, of, samples)


def _find_contradictions(space: Space, facts: QuerySet[Fact]) -> list[FindingSample]:
    pairs = dict.fromkeys([*_list_open_conflicts(space), *_find_denied_pairs(facts)])
    wanted = {row for pair in pairs for row in pair}
    there = set(facts.filter(id__in=wanted).values_list("id", flat=True))
    return [FindingSample(new, old) for new, old in pairs if {new, old} <= there]


def _list_open_conflicts(space: Space) -> Iterable[tuple[UUID, UUID]]:
    waiting = Proposal.objects.filter(
        space=space, kind="conflict", row_type="fact", state=Proposal.State.OPEN
    )
    for old, payload in waiting.order_by("-created_at").values_list("row_id", "payload"):
        if old and payload.get("fact_id"):
            yield UUID(str(payload["fact_id"])), old


def _find_denied_pairs(facts: QuerySet[Fact]) -> Iterable[tuple[UUID, UUID]]:
    """A denial, and what holds in its words all the same. Two statements at most."""
    denials = facts.filter(polarity__in=("denied", "ended")).exclude(predicate_key="")
    said = list(denials.order_by("-recorded_at")[: signals.MAX_COMPARED_FACTS])
    if not said:
        return []
    same = facts.filter(
        polarity="holds",
        owner__in={fact.owner for fact in said},
        predicate_key__in={fact.predicate_key for fact in said},
    )
    held_by = {_build_matter_key(fact): fact.id for fact in same}
    return [
        (fact.id, held_by[_build_matter_key(fact)])
        for fact in said
        if _build_matter_key(fact) in held_by
    ]


def _build_matter_key(fact: Fact) -> tuple[str, str, str]:
    return fact.owner.casefold(), fact.predicate_key, fact.object.casefold()


_COMPARED_COLUMNS = ("owner", "polarity", "text", "recorded_at", "event_from", "recall_count")


def load_fact_vectors(space: Space, model: str, now: datetime) -> FactVectors:
    """Three statements."""
    facts = filter_held_facts(space, now).order_by("-recorded_at", "-id").only(*_COMPARED_COLUMNS)
    rows = {fact.id: fact for fact in facts[: signals.MAX_COMPARED_FACTS]}
    known = load_vectors(space, "fact", model, rows)
    ids = [row for row in reversed(rows) if row in known]
    people = _filter_said_by_people(ids)
    vectors = np.array([known[row] for row in ids], np.float32)
    compared = [
        ComparedFact(
            fact.owner,
            fact.polarity,
            fact.text,
            fact.recorded_at,
            fact.event_from,
            fact.recall_count > 0,
            fact.id in people,
        )
        for fact in (rows[row] for row in ids)
    ]
    return FactVectors(ids, compared, vectors)


def _filter_said_by_people(ids: Sequence[UUID]) -> set[UUID]:
    """Also those whose sources are not known: nobody says that an assistant said them."""
    support = filter_supports("fact", child_id__in=ids)
    roles: dict[UUID, set[str]] = {}
    for row, role in support.values_list("child_id", "turn__role").distinct():
        roles.setdefault(row, set()).add(role)
    return {row for row in ids if "user" in roles.get(row, {"user"})}


def find_vector_signals(given: FactVectors) -> list[QualityFinding]:
    """Duplicates and echoes: every pair of the vectors, a second at most. Pure."""
    twins: dict[int, FindingSample] = {}
    echoes: dict[int, FindingSample] = {}
    for older, newer, cosine in (
        signals.find_alike_pairs(given.vectors, signals.ECHO_COSINE) if given.ids else ()
    ):
        one, other = given.rows[older], given.rows[newer]
        sample = FindingSample(given.ids[newer], given.ids[older], round(cosine, 3))
        if signals.are_duplicates(one, other, cosine):
            twins.setdefault(newer, sample)
        if signals.is_echo(other, one, cosine):
            echoes.setdefault(newer, sample)
    return [
        QualityFinding(
            name,
            len(found),
            len(given.ids),
            [found[place] for place in sorted(found, reverse=True)[:MAX_SAMPLES]],
        )
        for name, found in (("duplicates", twins), ("loops", echoes))
    ]
