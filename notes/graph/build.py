"""Entities and relations: projections of facts, whose validity is the fact's (Mem0g, I3, R8)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q

from memoryhub.dialogues.messages import normalise_text
from memoryhub.dialogues.models import Turn
from memoryhub.engines.types import NamePair
from memoryhub.tenants.models import Space
from notes.graph.identity import (
    MAX_NAME_LENGTH,
    decide_name_merge,
    find_survivor,
    is_name_said,
    load_known_entities,
    load_taken_names,
    may_be_alias,
    may_be_same_entity,
    normalise_name,
)
from notes.history.change_set import ChangeSet, TurnEvidence
from notes.history.unit_of_work import UnitOfWork
from notes.index import indexer
from notes.index.nearest import find_nearest_owners
from notes.models import Entity, EvolutionEvent, Fact, Relation
from notes.review.proposals import build_merge_key, propose_change

Triple = tuple[str, str, str]
_UPDATED_COLUMNS = ("aliases", "mention_count", "merged_into", "version", "retired_at", "type")


@dataclass(frozen=True, slots=True)
class FactTriples:
    """A stored fact with the triples it tells, what supports it, and all entities it names."""

    fact: Fact
    triples: Sequence[Triple]
    sources: Sequence[TurnEvidence]
    named: Sequence[str] = ()

    @property
    def names(self) -> list[str]:
        """Of entities in a triple, then of those that stand in none; each once."""
        ends = [name for src, _, dst in self.triples for name in (src, dst)]
        return [name for name in dict.fromkeys([*ends, *self.named]) if normalise_name(name)]


@dataclass(frozen=True, slots=True)
class EntityPair:
    """An entity, and the better known one it may be. `is_one`: code may say so by itself."""

    entity: Entity
    into: Entity
    cosine: float
    is_one: bool

    @property
    def key(self) -> str:
        return build_merge_key(self.entity.id, self.into.id)

    def build_question(self, number: int, said: Mapping[UUID, Sequence[str]]) -> NamePair:
        """As an engine is asked about it, with some of what is said of each."""
        one, other = (tuple(said.get(each.id, ())[:3]) for each in (self.entity, self.into))
        return NamePair(f"p{number}", self.entity.name, self.into.name, one, other)


@dataclass
class GraphDraft:
    """Entities and relations to be written. `aliases`: by entity, those it did not have. Of pairs
    with new entities, `merges` are one, `doubts` are for a person to decide, and an engine found
    `distinct` ones to be two."""

    space: Space
    known: dict[str, Entity]
    new_entities: dict[str, Entity] = field(default_factory=dict)
    relations: list[Relation] = field(default_factory=list)
    sources: dict[UUID, list[TurnEvidence]] = field(default_factory=dict)
    mentions: dict[str, int] = field(default_factory=dict)
    aliases: dict[UUID, list[str]] = field(default_factory=dict)
    merges: list[EntityPair] = field(default_factory=list)
    doubts: list[EntityPair] = field(default_factory=list)
    distinct: list[EntityPair] = field(default_factory=list)

    def get_entity(self, name: str) -> Entity:
        return self.known.get(name) or self.new_entities[name]

    def is_stale(self) -> bool:
        """Whether an entity has come or changed since. Call inside the tenant's scope."""
        now = load_known_entities(self.space, [*self.known, *self.new_entities])
        return {n: (e.id, e.version) for n, e in now.items()} != {
            n: (e.id, e.version) for n, e in self.known.items()
        }


def pair_if_near(
    entity: Entity, into: Entity, cosine: float, merge_at: float, ask_at: float
) -> EntityPair | None:
    """The two where they are near enough to be one (GR5)."""
    kind = decide_name_merge(cosine, merge_at=merge_at, ask_at=ask_at)
    may_be_one = may_be_same_entity(entity.name, into.name, entity.type, into.type)
    if kind == "apart" or not may_be_one:
        return None
    return EntityPair(entity, into, cosine, kind == "merge")


def build_entity_pairs(
    graph: GraphDraft,
    new: Sequence[Entity],
    near: Mapping[int, tuple[Entity, float]],
    merge_at: float,
    ask_at: float,
) -> list[tuple[EntityPair, NamePair]]:
    """The pairs near enough to be one entity, and the question about each.

    Call inside the tenant's scope.
    """
    pairs = [
        pair
        for place, (known, cosine) in near.items()
        if (pair := pair_if_near(new[place], known, cosine, merge_at, ask_at))
    ]
    said = load_entity_texts({pair.into.id for pair in pairs})
    for pair in pairs:
        told = [r.fact.text for r in graph.relations if pair.entity in (r.src, r.dst)]
        said[pair.entity.id] = told
    return [(pair, pair.build_question(number, said)) for number, pair in enumerate(pairs, 1)]


def load_entity_texts(ids: set[UUID]) -> dict[UUID, list[str]]:
    """By entity, the facts told of it, the latest first. Call inside the tenant's scope."""
    said: dict[UUID, list[str]] = {}
    edges = Relation.objects.filter(Q(src__in=ids) | Q(dst__in=ids), retired_at=None)
    for src, dst, text in edges.order_by("-fact__asserted_at").values_list(
        "src", "dst", "fact__text"
    )[:100]:
        for end in {src, dst} & ids:
            said.setdefault(end, []).append(text)
    return said


def list_undecided_pairs(pairs: Sequence[tuple[EntityPair, NamePair]]) -> list[NamePair]:
    """Those that code leaves to an engine."""
    return [question for pair, question in pairs if not pair.is_one]


def apply_pair_answers(
    graph: GraphDraft, pairs: Sequence[tuple[EntityPair, NamePair]], answers: Mapping[str, bool]
) -> None:
    """Merge what is one, leave apart what is not, and ask a person about the rest."""
    for pair, question in pairs:
        one = True if pair.is_one else answers.get(question.handle)
        kind = graph.doubts if one is None else graph.merges if one else graph.distinct
        kind.append(pair)


def build_graph(
    space: Space,
    told: Sequence[FactTriples],
    types: Mapping[str, str],
    stamp: str,
    aliases: Mapping[str, Sequence[str]] | None = None,
) -> GraphDraft:
    """The entities and relations that stored facts tell of; entities also where they stand in no
    relation (spec §6.2). `aliases`: by key, what the messages also call an entity. Call inside the
    tenant's scope."""
    names = {normalise_name(name): name for each in told for name in each.names}
    graph = GraphDraft(space, load_known_entities(space, names))
    for canonical, name in names.items():
        if canonical not in graph.known:
            graph.new_entities[canonical] = Entity(
                tenant_id=space.tenant_id,
                space=space,
                name=name[:MAX_NAME_LENGTH],
                canonical_key=canonical,
                type=types.get(canonical, "")[:20],
                mention_count=0,
                engine=stamp,
            )
    for each in told:
        _add_relations(graph, each, stamp)
    called = {key: some for key, some in (aliases or {}).items() if key in names}
    _add_aliases(graph, called, {source.turn_id for each in told for source in each.sources})
    return graph


def _add_aliases(
    graph: GraphDraft, called: Mapping[str, Sequence[str]], turns: Collection[UUID]
) -> None:
    """Names that the turns say, so that a question finds the entity by them too. One that another
    entity has is not taken: nobody is found under the name of somebody else."""
    wanted = {normalise_name(a) for some in called.values() for a in some if may_be_alias(a)}
    if not wanted:
        return
    said = normalise_text(
        "\n".join(Turn.objects.filter(id__in=turns).values_list("text", flat=True))
    )
    own = {*graph.known, *graph.new_entities, *map(normalise_name, graph.space.called_names)}
    free = {name for name in wanted if is_name_said(name, said)} - own
    free -= load_taken_names(graph.space, free)
    for key, some in called.items():
        entity = graph.get_entity(key)
        for alias in some:
            if normalise_name(alias) in free:
                free.discard(normalise_name(alias))
                graph.aliases.setdefault(entity.id, []).append(alias[:MAX_NAME_LENGTH])


def _add_relations(graph: GraphDraft, told: FactTriples, stamp: str) -> None:
    via = [
        TurnEvidence(s.turn_id, s.start, s.end, s.role, "fact", told.fact.id) for s in told.sources
    ]
    related: set[UUID] = set()
    for src, label, dst in told.triples:
        if not (normalise_name(src) and normalise_name(dst)):
            continue
        relation = Relation(
            tenant_id=graph.space.tenant_id,
            space=graph.space,
            fact=told.fact,
            src=graph.get_entity(normalise_name(src)),
            label=label[:120],
            dst=graph.get_entity(normalise_name(dst)),
            engine=stamp,
        )
        graph.relations.append(relation)
        graph.sources[relation.id] = via
        for entity in {relation.src.id: relation.src, relation.dst.id: relation.dst}.values():
            _count_mention(graph, entity, via)
            related.add(entity.id)
    for entity in {(e := graph.get_entity(normalise_name(n))).id: e for n in told.names}.values():
        if entity.id not in related:
            _count_mention(graph, entity, via)


def _count_mention(graph: GraphDraft, entity: Entity, via: Sequence[TurnEvidence]) -> None:
    name = entity.canonical_key
    graph.mentions[name] = graph.mentions.get(name, 0) + 1
    graph.sources.setdefault(entity.id, []).extend(via)


def build_graph_entries(graph: GraphDraft) -> list[indexer.EntryDraft]:
    """Index entries of what is new: entities by their name, relations as they would be asked.

    An entity that had been taken back, and is spoken of again, lost its entry then.
    """
    back = [entity for entity in graph.known.values() if entity.retired_at]
    entities = {entity.id: entity for entity in [*graph.new_entities.values(), *back]}
    return [
        *indexer.build_entity_entries(entities.values()),
        *indexer.build_relation_entries(graph.relations),
    ]


def save_graph(graph: GraphDraft, changes: ChangeSet) -> None:
    """Write what was drawn; its causes go into `changes`, merges into an event of their own."""
    merging = ChangeSet(
        graph.space,
        EvolutionEvent.Kind.MERGE,
        changes.actor,
        changes.at,
        reason="found to be one",
        engine=changes.engine,
        job_id=changes.job_id,
        trigger=changes.trigger,
        policy_version=changes.policy_version,
    )
    unit = UnitOfWork.from_change_set(changes)
    for name, entity in graph.new_entities.items():
        entity.mention_count = graph.mentions.get(name, 1)
        entity.aliases = graph.aliases.get(entity.id, [])
        unit.add_row(changes, entity, graph.sources.get(entity.id, []))
    _count_mentions(graph, unit)
    for pair in graph.merges:
        sources = graph.sources.get(pair.entity.id, [])
        merge_entity(unit, merging, pair.entity, pair.into, sources)
    for relation in graph.relations:
        unit.add_row(changes, relation, graph.sources[relation.id])
    unit.write_rows()
    merging.save()
    for pair in [*graph.doubts, *graph.distinct]:
        turns = {source.turn_id for source in graph.sources.get(pair.entity.id, [])}
        # That two are apart is noted, so that it is not asked again.
        declined = changes.engine or "pipeline" if pair in graph.distinct else ""
        propose_merge(graph.space, pair, turns, changes.at, declined_by=declined)


def _count_mentions(graph: GraphDraft, unit: UnitOfWork) -> None:
    """Known entities that were spoken of again, by other names perhaps; one that was retired is
    back."""
    for entity in {entity.id: entity for entity in graph.known.values()}.values():
        names = [name for name, known in graph.known.items() if known is entity]
        mentions = sum(graph.mentions.get(name, 0) for name in names)
        unit.edit_row(
            unit.changes,
            entity,
            aliases=[*entity.aliases, *graph.aliases.get(entity.id, ())],
            mention_count=entity.mention_count + mentions,
            retired_at=None,
        )
        unit.changes.record_support(entity, graph.sources.get(entity.id, []))


def merge_entity(
    unit: UnitOfWork,
    merging: ChangeSet,
    entity: Entity,
    into: Entity,
    sources: Sequence[TurnEvidence],
) -> None:
    """Let one entity stand for another. The one way to merge entities: while a graph is drawn, by
    the sweep, and by a person's answer."""
    unit.edit_row(merging, entity, merged_into=into)
    merging.record_support(entity, sources)
    unit.edit_row(merging, into, aliases=list(dict.fromkeys([*into.aliases, entity.name])))


def propose_merge(
    space: Space, pair: EntityPair, turns: set[UUID], now: datetime, *, declined_by: str = ""
) -> None:
    """Put the pair before a person; or note who found it to be two, so that nobody is asked."""
    ids = {"entity": str(pair.entity.id), "into": str(pair.into.id)}
    propose_change(
        space,
        "merge",
        pair.key,
        f'"{pair.entity.name}" may be "{pair.into.name}"',
        now,
        payload={**ids, "cosine": round(pair.cosine, 3)},
        row=pair.entity,
        turn_ids=turns,
        declined_by=declined_by,
    )


def find_nearest_entities(
    space: Space, model: str, vectors: Sequence[Any]
) -> dict[int, tuple[Entity, float]]:
    """By place, the entity whose name is nearest to a name's vector, and their cosine; it stands
    for those merged into it. Call inside the tenant's scope."""
    held = "JOIN notes_entity x ON x.id = e.owner_id AND x.retired_at IS NULL"
    asked = [("", vector) for vector in vectors]
    found = find_nearest_owners(space, "entity", model, asked, 1, held)
    near = {place: of_one[0] for place, of_one in enumerate(found) if of_one}
    known = _load_with_survivors({owner for owner, _ in near.values()})
    return {n: (find_survivor(known[owner], known), cosine) for n, (owner, cosine) in near.items()}


def _load_with_survivors(ids: set[UUID]) -> dict[UUID, Entity]:
    known: dict[UUID, Entity] = {}
    while ids:
        known |= Entity.objects.in_bulk(ids)
        ids = {e.merged_into_id for e in known.values() if e.merged_into_id} - known.keys()
    return known
