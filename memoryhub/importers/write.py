"""Writing ready-made memories: facts with their relations, notes and blocks, each with where it
came from. What is there already, by the id it had, is left as it is.

Functions open their own scopes and embed with nothing open: call them outside of a transaction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from django.db.models import Q

from memoryhub.dialogues.messages import hash_text
from memoryhub.dialogues.models import Turn
from memoryhub.errors import MemoryHubError
from memoryhub.importers.fields import parse_uuid
from memoryhub.importers.records import BlockRecord, MemoryRecord, PassageRecord
from memoryhub.pipeline import corrections
from memoryhub.pipeline.corrections import UnitOfWork
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.facts.terms import apply_terms
from notes.graph import build as graphs
from notes.graph.build import FactTriples
from notes.graph.identity import normalise_name as entity_key
from notes.history.change_set import ChangeSet, TurnEvidence
from notes.models import Fact, Note
from personas import blocks
from personas.blocks import MAX_CHAR_LIMIT, BlockWriter
from personas.models import CoreBlock

DEFAULT_BLOCK_LIMIT = 2000


@dataclass(frozen=True, slots=True)
class ImportOrigin:
    """Where memories come from: the system, the file, and who brings them."""

    source: str
    title: str
    file: str
    actor: str
    now: datetime

    @property
    def reason(self) -> str:
        return f"imported from {self.title}" + (f" ({self.file})" if self.file else "")

    @property
    def engine(self) -> str:
        return f"import:{self.source}"

    def build_id(self, space: Space, kind: str, own_id: str) -> UUID:
        """The same for the same thing of the same system, and another in another space."""
        return uuid5(space.id, f"{self.source}:{kind}:{own_id}")


@dataclass(frozen=True, slots=True)
class LineageMatch:
    """A memory and the lineage it has, or gets: its own id where that is a UUID that no other
    space uses, so that clients find it under the id they know."""

    memory: MemoryRecord
    lineage: UUID
    known: bool


def match_lineages(
    space: Space | None, memories: Sequence[MemoryRecord], origin: ImportOrigin
) -> list[LineageMatch]:
    """Which memories are there already: by id, or as a current fact of the same words.

    Opens its own scope. `space` None: there is none yet.
    """
    if space is None:
        return [LineageMatch(memory, UUID(int=0), False) for memory in memories]
    made = {id(m): origin.build_id(space, "fact", m.id or hash_text(m.text)) for m in memories}
    own = {id(m): parse_uuid(m.id) for m in memories}
    wanted = {*made.values(), *(each for each in own.values() if each)}
    keys = {compute_text_key(space, m.text) for m in memories}
    spaces: dict[UUID, set[UUID]] = {}
    with tenant_scope(space.tenant_id):
        rows = Fact.objects.filter(lineage__in=wanted)
        for lineage, space_id in rows.values_list("lineage", "space_id"):
            spaces.setdefault(lineage, set()).add(space_id)
        current = Q(retired_at=None, status=Fact.Status.ACTIVE, text_key__in=keys)
        said = set(Fact.objects.filter(current, space=space).values_list("text_key", flat=True))
    found = []
    for memory in memories:
        mine, hashed = own[id(memory)], made[id(memory)]
        usable = mine if mine and spaces.get(mine, {space.id}) == {space.id} else hashed
        there = any(space.id in spaces.get(each, ()) for each in (usable, hashed))
        stated = not memory.earlier and not memory.valid_to and not memory.said_in
        known = there or (stated and compute_text_key(space, memory.text) in said)
        if stated and not known:
            said.add(compute_text_key(space, memory.text))
        found.append(LineageMatch(memory, usable, known))
    return found


def compute_text_key(space: Space, text: str) -> str:
    return hash_text(f"{get_owner_name(space)} {text}")


def get_owner_name(space: Space) -> str:
    return space.display_name


def write_facts(space: Space, places: Sequence[LineageMatch], origin: ImportOrigin) -> None:
    """Write these memories, in one event that can be undone. Raises Conflict when others write
    the same at the same time."""

    def write_all(bench: UnitOfWork, changes: ChangeSet) -> None:
        changes.event.trigger, changes.event.engine = "import", origin.engine
        named = {name for place in places for name in place.memory.said_in}
        turns = Turn.objects.filter(space=space, external_id__in=named)
        sources = {name: TurnEvidence(id_) for name, id_ in turns.values_list("external_id", "id")}
        told = []
        for place in places:
            memory = place.memory
            rests_on = [sources[name] for name in memory.said_in if name in sources]
            fact = _add_versions(bench, changes, place, rests_on, origin)
            triples = [(t.source, t.label, t.target) for t in memory.triples]
            told.append(FactTriples(fact, triples, rests_on))
        _add_relations(bench, changes, told, _collect_entity_types(places), origin.engine)

    corrections.edit_rows(space, write_all, origin.actor, origin.now, reason=origin.reason)


def _add_versions(
    bench: UnitOfWork,
    changes: ChangeSet,
    place: LineageMatch,
    rests_on: list[TurnEvidence],
    origin: ImportOrigin,
) -> Fact:
    """Put the memory and its former versions on the bench; returns the one that stands last."""
    memory, before = place.memory, None
    for number, version in enumerate(memory.earlier, 1):
        fact = _build_fact(bench.space, place, origin, version.text, version.since)
        fact.lineage_version, fact.supersedes = number, before
        fact.valid_to, fact.status = version.until, Fact.Status.SUPERSEDED
        bench.add_row(changes, fact, [])
        before = fact
    since = memory.valid_from or memory.said_at or origin.now
    fact = _build_fact(bench.space, place, origin, memory.text, since)
    fact.lineage_version, fact.supersedes = len(memory.earlier) + 1, before
    until = {"until": memory.valid_to.isoformat()} if memory.valid_to else {}
    bench.add_row(changes, apply_terms(fact, {"pinned": memory.pinned} | until), rests_on)
    return fact


def _build_fact(
    space: Space, place: LineageMatch, origin: ImportOrigin, text: str, since: datetime
) -> Fact:
    memory = place.memory
    known_as = {"source": origin.source, "id": memory.id} | dict(memory.origin)
    return Fact(
        tenant_id=space.tenant_id,
        space=space,
        lineage=place.lineage,
        owner=get_owner_name(space),
        speaker=(memory.speaker or origin.title)[:120],
        text=text,
        text_key=compute_text_key(space, text),
        valid_from=since,
        asserted_at=memory.said_at or since,
        recorded_at=origin.now,
        metadata={**memory.metadata, "imported_from": known_as},
        engine=origin.engine,
    )


def _collect_entity_types(places: Sequence[LineageMatch]) -> dict[str, str]:
    """By the key of their names, the types of entities."""
    found: dict[str, str] = {}
    for place in places:
        for triple in place.memory.triples:
            found.setdefault(entity_key(triple.source), triple.source_type)
            found.setdefault(entity_key(triple.target), triple.target_type)
    return found


def _add_relations(
    bench: UnitOfWork,
    changes: ChangeSet,
    told: Sequence[FactTriples],
    types: dict[str, str],
    stamp: str,
) -> None:
    """The entities and relations the facts tell of, known entities among them."""
    drawn = graphs.build_graph(bench.space, told, types, stamp)
    for name, entity in drawn.new_entities.items():
        entity.mention_count = drawn.mentions.get(name, 1)
        bench.add_row(changes, entity, drawn.sources.get(entity.id, []))
    mentions: Counter[UUID] = Counter()
    for name, entity in drawn.known.items():
        mentions[entity.id] += drawn.mentions.get(name, 0)
    for entity_id, times in mentions.items():
        row: Any = bench.get_row("entity", entity_id)
        bench.edit_row(changes, row, mention_count=row.mention_count + times, retired_at=None)
    for relation in drawn.relations:
        bench.add_row(changes, relation, drawn.sources[relation.id])


def build_note_id(space: Space, passage: PassageRecord, origin: ImportOrigin) -> UUID:
    return origin.build_id(space, "note", passage.id or hash_text(passage.text))


def find_known_notes(
    space: Space | None, passages: Sequence[PassageRecord], origin: ImportOrigin
) -> set[UUID]:
    """Which of them are there already. Opens its own scope."""
    if space is None:
        return set()
    ids = [build_note_id(space, passage, origin) for passage in passages]
    with tenant_scope(space.tenant_id):
        return set(Note.objects.filter(id__in=ids).values_list("id", flat=True))


def write_notes(space: Space, passages: Sequence[PassageRecord], origin: ImportOrigin) -> None:
    """Write these passages as free notes, in one event that can be undone."""

    def write_all(bench: UnitOfWork, changes: ChangeSet) -> None:
        changes.event.trigger, changes.event.engine = "import", origin.engine
        for passage in passages:
            bench.add_row(changes, _build_note(space, passage, origin), [])

    corrections.edit_rows(space, write_all, origin.actor, origin.now, reason=origin.reason)


def _build_note(space: Space, passage: PassageRecord, origin: ImportOrigin) -> Note:
    return Note(
        id=build_note_id(space, passage, origin),
        tenant_id=space.tenant_id,
        space=space,
        author=(passage.author or origin.title)[:120],
        content=passage.text,
        tags=[tag[:120] for tag in dict.fromkeys(passage.tags)][:12],
        occurred_at=passage.at or origin.now,
        created_at=origin.now,
        engine=origin.engine,
    )


def find_block(space: Space | None, block: BlockRecord) -> CoreBlock | None:
    """The block of this label that the space has for the same agent. Opens its own scope."""
    if space is None:
        return None
    with tenant_scope(space.tenant_id):
        rows = CoreBlock.objects.filter(space=space, label=block.label, agent=block.agent)
        found: CoreBlock | None = rows.filter(retired_at=None).first()
    return found


def write_block(
    space: Space, there: CoreBlock | None, block: BlockRecord, origin: ImportOrigin
) -> str:
    """Make the block, or fill the empty one. Returns why not, "" if it was."""
    writer = BlockWriter(origin.actor, "person", origin.now, space, reason=origin.reason)
    limit = min(max(block.limit or DEFAULT_BLOCK_LIMIT, len(block.value), 1), MAX_CHAR_LIMIT)
    try:
        with tenant_scope(space.tenant_id):
            if there is not None:
                blocks.revise_block(writer, there.id, value=block.value, char_limit=limit)
            else:
                blocks.create_block(
                    writer,
                    block.label,
                    block.value,
                    tenant_id=space.tenant_id,
                    space=space,
                    agent=block.agent,
                    description=block.description,
                    char_limit=limit,
                    read_only=block.read_only,
                )
    except MemoryHubError as error:
        return error.message
    return ""
