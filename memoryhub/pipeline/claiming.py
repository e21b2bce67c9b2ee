"""From candidates to claims: compare with what is held, decide, write (spec §11.7).

Used by the derivation of dialogue and by promotion alike. `prepare` reads in a short transaction
of its own and asks models with nothing open; `write` runs in the caller's transaction and only
writes what was decided, if nothing it rests on has changed meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import structlog

from memoryhub.engines.types import Embedder, Engine
from memoryhub.errors import Conflict, EngineError
from memoryhub.policies.schema import Policy
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes import indexing
from notes.models import Fact
from notes.recording import ChangeSet, Source
from notes.resolving import Decision, Op
from notes.services import Resolver, Triple, held_claims, save_relations

log = structlog.get_logger()


class StaleRead(Conflict):
    """What was decided rests on rows that have changed since: prepare again."""

    code = "stale_read"


@dataclass
class FactDraft:
    """A claim to be resolved. `fact` is a row not yet saved, `sources` its support, never empty.

    `trusted`: said by a person, not by an assistant or a tool. `correction`: the speaker takes
    back what was said. `types` are the types of entities by their keys (`notes.services.key`).
    """

    fact: Fact
    sources: list[Source]
    trusted: bool
    correction: bool = False
    relations: list[Triple] = field(default_factory=list)
    types: Mapping[str, str] = field(default_factory=dict)


def copies(drafts: Sequence[FactDraft]) -> list[FactDraft]:
    """The drafts with rows of their own: deciding changes them, and may have to be done again."""
    return [replace(draft, fact=copy(draft.fact)) for draft in drafts]


@dataclass(frozen=True, slots=True)
class Decided:
    """What became of a draft. `fact` is the row that now says it: new, or the one it repeats;
    None when nothing does."""

    draft: FactDraft
    decision: Decision[Any]
    fact: Fact | None

    def shown(self) -> dict[str, Any]:
        """In the words of the API."""
        target = self.decision.target
        return {
            "text": self.draft.fact.text,
            "op": self.decision.op.value,
            "reason": self.decision.reason,
            "fact_id": str(self.fact.id) if self.fact else "",
            "target": {"id": str(target.id), "text": target.text} if target else None,
            "turns": [str(source.turn_id) for source in self.draft.sources],
        }


@dataclass(frozen=True, slots=True)
class Prepared:
    """Decisions taken and vectors made, not yet written. `read` are the versions rested on."""

    space: Space
    drafts: Sequence[FactDraft]
    decided: Sequence[Decided]
    resolver: Resolver
    read: Mapping[UUID, int]
    entries: Sequence[indexing.Entry]
    vectors: indexing.Vectors | None
    model: str

    @property
    def inserted(self) -> list[Fact]:
        """The facts that `write` will store."""
        return self.resolver.inserted


def prepare(
    space: Space,
    policy: Policy,
    drafts: Sequence[FactDraft],
    engine: Engine,
    embedder: Embedder,
    now: datetime,
) -> Prepared:
    """Decide what each draft does to the claims held. Opens its own scope: call outside any.

    Raises EngineError when a model fails: nothing is decided then, and the job tries again.
    """
    with tenant_scope(space.tenant_id):
        held = held_claims(space, [draft.fact for draft in drafts])
    read = {fact.id: fact.version for fact in held}
    resolver = Resolver(held, now)
    decided = [_decide(resolver, draft) for draft in drafts]
    entries = indexing.fact_entries(resolver.inserted, zone=ZoneInfo(space.timezone))
    vectors = _vectors(entries, embedder)
    return Prepared(space, drafts, decided, resolver, read, entries, vectors, embedder.name)


def _decide(resolver: Resolver, draft: FactDraft) -> Decided:
    decision = resolver.resolve(
        draft.fact, draft.sources, trusted=draft.trusted, correction=draft.correction
    )
    return Decided(draft, decision, draft.fact if decision.op is not Op.SAME else decision.target)


def _vectors(entries: Sequence[indexing.Entry], model: Embedder) -> indexing.Vectors | None:
    """None when the embedder is down: the rows are kept and found by their words (E18)."""
    try:
        return indexing.embed_entries(entries, model) if entries else None
    except EngineError as error:
        log.warning("embedder.failed", error=str(error))
        return None


def write(prepared: Prepared, changes: ChangeSet, now: datetime) -> Sequence[Decided]:
    """Store facts, entities, relations and their index entries; the causes go into `changes`,
    which the caller saves. Call in the transaction that also ends the job.

    Raises StaleRead: prepare again and write anew.
    """
    _refuse_stale(prepared)
    prepared.resolver.save(changes)
    stored = {fact.id for fact in prepared.inserted}
    kept = [draft for draft in prepared.drafts if draft.fact.id in stored]
    types = {name: kind for draft in kept for name, kind in draft.types.items()}
    found = [(draft.fact, draft.relations) for draft in kept]
    save_relations(prepared.space, found, types, changes.engine)
    indexing.write_entries(prepared.space, prepared.model, prepared.entries, prepared.vectors)
    return prepared.decided


def _refuse_stale(prepared: Prepared) -> None:
    now_held = held_claims(prepared.space, [draft.fact for draft in prepared.drafts])
    if {fact.id: fact.version for fact in now_held} != prepared.read:
        raise StaleRead("claims changed while they were being compared")
