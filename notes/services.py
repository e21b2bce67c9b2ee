"""Every change to what is known. Each writes its rows inside the caller's change-set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q

from memoryhub.dialogues.messages import match_text
from memoryhub.tenants.models import Space
from notes.models import Entity, Fact, Relation
from notes.recording import ChangeSet, Source, values_of
from notes.resolving import Decision, Op, decide

Triple = tuple[str, str, str]
# A Fact is a Claim, but mypy can't match a type variable's protocol with Django's fields.
Resolved = Decision[Any]


def held_claims(space: Space, candidates: Sequence[Fact]) -> list[Fact]:
    """The claims that candidates could touch: the same words, or the same owner and predicate."""
    keys = {(fact.owner, fact.predicate_key) for fact in candidates if fact.predicate_key}
    wanted = Q(text_key__in={fact.text_key for fact in candidates})
    if keys:
        wanted |= Q(
            owner__in={owner for owner, _ in keys}, predicate_key__in={key for _, key in keys}
        )
    rows = Fact.objects.filter(wanted, space=space, retired_at=None)
    return list(rows.exclude(status=Fact.Status.RETRACTED))


class Resolver:
    """Resolves candidates one after the other against the claims held, in memory.

    Nothing is written until `save`; then all of it, in a handful of statements.
    """

    def __init__(self, held: Sequence[Fact], now: datetime) -> None:
        self.held = list(held)
        self.now = now
        self.inserted: list[Fact] = []
        self._supports: list[tuple[Fact, Sequence[Source]]] = []
        self._before: dict[UUID, dict[str, Any]] = {}
        self._touched: dict[UUID, Fact] = {}

    def resolve(
        self, new: Fact, sources: Sequence[Source], *, trusted: bool, correction: bool
    ) -> Resolved:
        claim: Any = new
        decision: Resolved = decide(claim, self.held, trusted=trusted, correction=correction)
        if decision.op is Op.SAME and decision.target is not None:
            self._corroborate(decision.target, sources)
            return decision
        self._apply(decision, new)
        self._insert(new, sources)
        return decision

    def _corroborate(self, held: Fact, sources: Sequence[Source]) -> None:
        if held in self.inserted:
            held.mention_count += 1
        else:
            self._edit(held).mention_count += 1
        self._supports.append((held, sources))

    def _apply(self, decision: Resolved, new: Fact) -> None:
        """Close or retract what the new claim replaces, and bound the new one."""
        old = decision.target
        if decision.op is Op.REVIEW:
            new.cardinality, new.confidence = "multi", min(new.confidence, 0.3)
            return
        if decision.until is not None:
            new.valid_to, new.status = decision.until, Fact.Status.SUPERSEDED
        if old is None:
            return
        old = self._edit(old)
        new.supersedes = old
        if decision.op is Op.CORRECT:
            old.status = Fact.Status.RETRACTED
            self.held.remove(old)
        else:
            old.valid_to, old.status = max(new.valid_from, old.valid_from), Fact.Status.SUPERSEDED
        if new.predicate_key == old.predicate_key and decision.op is not Op.END:
            new.lineage = old.lineage

    def _edit(self, fact: Fact) -> Fact:
        """Remember what the row was, once, and raise its version. Fresh rows have no past."""
        if fact not in self.inserted and fact.id not in self._before:
            self._before[fact.id] = values_of(fact)
            self._touched[fact.id] = fact
            fact.version += 1
        return fact

    def _insert(self, new: Fact, sources: Sequence[Source]) -> None:
        self.inserted.append(new)
        self.held.append(new)
        self._supports.append((new, sources))

    def save(self, changes: ChangeSet) -> None:
        """Write what was decided, and its causes into `changes`."""
        for fact_id, fact in self._touched.items():
            changes.changed(fact, self._before[fact_id])
        # Closed before opened: one claim of a single-valued predicate is open at a time.
        Fact.objects.bulk_update(
            self._touched.values(), ["valid_to", "status", "mention_count", "version"]
        )
        Fact.objects.bulk_create(self.inserted, batch_size=500)
        for fact in self.inserted:
            changes.created(fact, [])
        for fact, sources in self._supports:
            changes.supported(fact, sources)


def save_relations(
    space: Space, found: Iterable[tuple[Fact, Sequence[Triple]]], types: dict[str, str], stamp: str
) -> None:
    """Entities and relations of stored facts: projections, whose validity is the fact's (I3)."""
    found = [(fact, triples) for fact, triples in found if triples]
    names = {key(name): name for _, triples in found for s, _, d in triples for name in (s, d)}
    entities = _entities(space, names, types, stamp)
    Relation.objects.bulk_create(
        Relation(
            tenant_id=space.tenant_id,
            space=space,
            fact=fact,
            src=entities[key(src)],
            label=label[:120],
            dst=entities[key(dst)],
            engine=stamp,
        )
        for fact, triples in found
        for src, label, dst in triples
        if key(src) in entities and key(dst) in entities
    )


def key(name: str) -> str:
    """The form under which two names are one entity; the display name is kept (R4)."""
    return match_text(name)[:200]


def _entities(
    space: Space, names: dict[str, str], types: dict[str, str], stamp: str
) -> dict[str, Entity]:
    known = {
        e.canonical_key: e for e in Entity.objects.filter(space=space, canonical_key__in=names)
    }
    for entity in known.values():
        entity.mention_count += 1
    made = [
        Entity(
            tenant_id=space.tenant_id,
            space=space,
            name=name[:200],
            canonical_key=canonical,
            type=types.get(canonical, ""),
            engine=stamp,
        )
        for canonical, name in names.items()
        if canonical and canonical not in known
    ]
    Entity.objects.bulk_update(known.values(), ["mention_count"])
    Entity.objects.bulk_create(made)
    return known | {entity.canonical_key: entity for entity in made}
