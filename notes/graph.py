"""Entities and relations: projections of facts, whose validity is the fact's (Mem0g, I3, R8)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Q

from memoryhub.engines.types import NamePair
from memoryhub.tenants.models import Space
from notes import indexing
from notes.lexemes import lexical_text
from notes.merging import MOST_NAME, key, known_entities, may_be_one, nearness, survivor
from notes.models import Entity, EvolutionEvent, Fact, Relation
from notes.proposals import merge_key, propose
from notes.recording import ChangeSet, Source, values_of

Triple = tuple[str, str, str]
_WRITTEN = ("aliases", "mention_count", "merged_into", "version", "retired_at", "type")


@dataclass(frozen=True, slots=True)
class Told:
    """A stored fact with the triples it tells and what supports it."""

    fact: Fact
    triples: Sequence[Triple]
    sources: Sequence[Source]


@dataclass
class Graph:
    """Entities and relations to be written. `merges` are (new entity, the one it is), `doubts`
    pairs for a person to decide, `apart` those that an engine found to be two."""

    space: Space
    known: dict[str, Entity]
    made: dict[str, Entity] = field(default_factory=dict)
    relations: list[Relation] = field(default_factory=list)
    sources: dict[UUID, list[Source]] = field(default_factory=dict)
    mentions: dict[str, int] = field(default_factory=dict)
    merges: list[tuple[Entity, Entity]] = field(default_factory=list)
    doubts: list[tuple[Entity, Entity, float]] = field(default_factory=list)
    apart: list[tuple[Entity, Entity, float]] = field(default_factory=list)

    def entity(self, name: str) -> Entity:
        return self.known.get(name) or self.made[name]

    def is_stale(self) -> bool:
        """Whether an entity has come or changed since. Call inside the tenant's scope."""
        now = known_entities(self.space, [*self.known, *self.made])
        return {n: (e.id, e.version) for n, e in now.items()} != {
            n: (e.id, e.version) for n, e in self.known.items()
        }


@dataclass(frozen=True, slots=True)
class Pair:
    """A new entity, the known one nearest to it, and whether code may say that they are one."""

    new: Entity
    known: Entity
    cosine: float
    is_one: bool
    shown: NamePair


def pairs_of(
    graph: Graph,
    new: Sequence[Entity],
    near: Mapping[int, tuple[Entity, float]],
    merge_at: float,
    ask_at: float,
) -> list[Pair]:
    """The pairs near enough to be one entity, with what is said of each (GR5).

    Call inside the tenant's scope.
    """
    found = []
    for place, (known, cosine) in near.items():
        entity = new[place]
        kind = nearness(cosine, merge_at=merge_at, ask_at=ask_at)
        if kind != "apart" and may_be_one(entity.name, known.name, entity.type, known.type):
            found.append((entity, known, cosine, kind == "merge"))
    said = said_of({known.id for _, known, _, _ in found})
    return [
        Pair(
            entity,
            known,
            cosine,
            is_one,
            NamePair(
                f"p{number}",
                entity.name,
                known.name,
                tuple(r.fact.text for r in graph.relations if entity in (r.src, r.dst))[:3],
                tuple(said.get(known.id, [])[:3]),
            ),
        )
        for number, (entity, known, cosine, is_one) in enumerate(found, 1)
    ]


def said_of(ids: set[UUID]) -> dict[UUID, list[str]]:
    """By entity, the facts told of it, the latest first. Call inside the tenant's scope."""
    said: dict[UUID, list[str]] = {}
    edges = Relation.objects.filter(Q(src__in=ids) | Q(dst__in=ids), retired_at=None)
    for src, dst, text in edges.order_by("-fact__asserted_at").values_list(
        "src", "dst", "fact__text"
    )[:100]:
        for end in {src, dst} & ids:
            said.setdefault(end, []).append(text)
    return said


def unsure(pairs: Sequence[Pair]) -> list[NamePair]:
    """Those that code leaves to an engine."""
    return [pair.shown for pair in pairs if not pair.is_one]


def settle_pairs(graph: Graph, pairs: Sequence[Pair], answers: Mapping[str, bool]) -> None:
    """Merge what is one, leave apart what is not, and ask a person about the rest."""
    for pair in pairs:
        one = True if pair.is_one else answers.get(pair.shown.handle)
        if one:
            graph.merges.append((pair.new, pair.known))
        elif one is None:
            graph.doubts.append((pair.new, pair.known, pair.cosine))
        else:
            graph.apart.append((pair.new, pair.known, pair.cosine))


def draw(space: Space, told: Sequence[Told], types: Mapping[str, str], stamp: str) -> Graph:
    """The entities and relations that stored facts tell of. Call inside the tenant's scope."""
    told = [each for each in told if each.triples]
    names = {key(n): n for t in told for s, _, d in t.triples for n in (s, d) if key(n)}
    graph = Graph(space, known_entities(space, names))
    for canonical, name in names.items():
        if canonical not in graph.known:
            graph.made[canonical] = _entity(space, name, types.get(canonical, ""), stamp)
    for each in told:
        _relate(graph, each, stamp)
    return graph


def _entity(space: Space, name: str, kind: str, stamp: str) -> Entity:
    return Entity(
        tenant_id=space.tenant_id,
        space=space,
        name=name[:MOST_NAME],
        canonical_key=key(name),
        type=kind[:20],
        mention_count=0,
        engine=stamp,
    )


def _relate(graph: Graph, told: Told, stamp: str) -> None:
    via = [Source(s.turn_id, s.start, s.end, s.role, "fact", told.fact.id) for s in told.sources]
    for src, label, dst in told.triples:
        if not (key(src) and key(dst)):
            continue
        relation = Relation(
            tenant_id=graph.space.tenant_id,
            space=graph.space,
            fact=told.fact,
            src=graph.entity(key(src)),
            label=label[:120],
            dst=graph.entity(key(dst)),
            engine=stamp,
        )
        graph.relations.append(relation)
        graph.sources[relation.id] = via
        for entity in {relation.src.id: relation.src, relation.dst.id: relation.dst}.values():
            name = entity.canonical_key
            graph.mentions[name] = graph.mentions.get(name, 0) + 1
            graph.sources.setdefault(entity.id, []).extend(via)


def entries(graph: Graph) -> list[indexing.Entry]:
    """Index entries of what is new: entities by their name, relations as they would be asked.

    An entity that had been taken back, and is spoken of again, lost its entry then.
    """
    back = [entity for entity in graph.known.values() if entity.retired_at]
    entities = {entity.id: entity for entity in [*graph.made.values(), *back]}
    return [*entity_entries(entities.values()), *relation_entries(graph.relations)]


def entity_entries(entities: Iterable[Entity]) -> list[indexing.Entry]:
    return [_entry("entity", each.id, each.name, " ".join(each.aliases)) for each in entities]


def relation_entries(relations: Iterable[Relation]) -> list[indexing.Entry]:
    """The relation as "source label target", found also by the words of its fact."""
    return [
        _entry("relation", r.id, f"{r.src.name} {r.label} {r.dst.name}", r.fact.text)
        for r in relations
    ]


def _entry(kind: indexing.Kind, owner: UUID, text: str, words: str) -> indexing.Entry:
    known = lexical_text(f"{text.replace('_', ' ')} {words}")
    return indexing.Entry(kind, owner, 0, text, (), known, "")


def save(graph: Graph, changes: ChangeSet) -> None:
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
    for name, entity in graph.made.items():
        entity.mention_count = graph.mentions.get(name, 1)
        changes.created(entity, graph.sources.get(entity.id, []))
    touched = _mentioned(graph, changes)
    for entity, into in graph.merges:
        touched[into.id] = into
        merge(entity, into, merging, graph.sources.get(entity.id, []))
    Entity.objects.bulk_create(graph.made.values())
    fresh = {entity.id for entity in graph.made.values()}
    Entity.objects.bulk_update([e for e in touched.values() if e.id not in fresh], _WRITTEN)
    Relation.objects.bulk_create(graph.relations, batch_size=500)
    for relation in graph.relations:
        changes.created(relation, graph.sources[relation.id])
    merging.save()
    _ask(graph, changes)


def _mentioned(graph: Graph, changes: ChangeSet) -> dict[UUID, Any]:
    """Known entities that were spoken of again; one that was retired is back."""
    found = {entity.id: entity for entity in graph.known.values()}
    for entity in found.values():
        names = [name for name, known in graph.known.items() if known is entity]
        before = values_of(entity)
        entity.mention_count += sum(graph.mentions.get(name, 0) for name in names)
        entity.retired_at = None
        entity.version += 1
        changes.changed(entity, before)
        changes.supported(entity, graph.sources.get(entity.id, []))
    return found


def merge(entity: Entity, into: Entity, merging: ChangeSet, sources: Sequence[Source]) -> None:
    """Let one entity stand for another, in memory; the rows are the caller's to save."""
    before = values_of(entity)
    entity.merged_into = into
    entity.version += 1
    merging.changed(entity, before)
    merging.supported(entity, sources)
    before = values_of(into)
    into.aliases = [*into.aliases, entity.name]
    into.version += 1
    merging.changed(into, before)


def _ask(graph: Graph, changes: ChangeSet) -> None:
    """About doubts; that two are apart is noted, so that it is not asked again."""
    for entity, other, cosine in [*graph.doubts, *graph.apart]:
        turns = {source.turn_id for source in graph.sources.get(entity.id, [])}
        declined = (entity, other, cosine) in graph.apart
        propose(
            graph.space,
            "merge",
            merge_key(entity.id, other.id),
            f'"{entity.name}" may be "{other.name}"',
            changes.at,
            payload={"entity": str(entity.id), "into": str(other.id), "cosine": round(cosine, 3)},
            row=entity,
            turn_ids=turns,
            declined_by=changes.engine or "pipeline" if declined else "",
        )


_NEAREST = """
SELECT g.n, near.owner_id, near.cosine
FROM unnest(%(n)s::int[], %(vector)s::text[]) AS g(n, vector)
CROSS JOIN LATERAL (
  SELECT e.owner_id, 1 - (e.embedding <=> g.vector::halfvec) AS cosine
  FROM notes_indexentry e JOIN notes_entity x ON x.id = e.owner_id
  WHERE e.tenant_id = %(tenant)s AND e.space_id = %(space)s AND e.kind = 'entity'
    AND e.model = %(model)s AND e.embedding IS NOT NULL AND x.retired_at IS NULL
  ORDER BY e.embedding <=> g.vector::halfvec LIMIT 1
) near
"""


def nearest_entities(
    space: Space, model: str, vectors: Sequence[Any]
) -> dict[int, tuple[Entity, float]]:
    """By place, the entity whose name is nearest to a name's vector, and their cosine; it stands
    for those merged into it. Call inside the tenant's scope."""
    if not len(vectors):
        return {}
    given: dict[str, Any] = {
        "n": list(range(len(vectors))),
        "vector": [indexing.literal(vector) for vector in vectors],
        "tenant": space.tenant_id,
        "space": space.id,
        "model": model,
    }
    with connection.cursor() as cursor:
        cursor.execute(_NEAREST, given)
        near = {place: (owner, float(cosine)) for place, owner, cosine in cursor.fetchall()}
    known = _with_survivors({owner for owner, _ in near.values()})
    return {n: (survivor(known[owner], known), cosine) for n, (owner, cosine) in near.items()}


def _with_survivors(ids: set[UUID]) -> dict[UUID, Entity]:
    known: dict[UUID, Entity] = {}
    while ids:
        known |= Entity.objects.in_bulk(ids)
        ids = {e.merged_into_id for e in known.values() if e.merged_into_id} - known.keys()
    return known
