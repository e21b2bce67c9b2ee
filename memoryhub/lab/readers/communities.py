"""Zep's communities: entities that are joined among themselves, with a summary each (Rasmussen et
al., 2025, section 2.3).

Found by label propagation over the graph as it stands, which is what the paper renews now and then
in place of what it adds to as edges come.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from memoryhub.lab.readers.base import ReaderInputs, build_item
from memoryhub.lab.readers.chunks import embed_texts
from memoryhub.recall.render.results import MemoryItem
from memoryhub.tenants.scope import tenant_scope
from notes.models import Entity, Relation

_LEAST_MEMBERS = 3  # two entities are an edge
_MOST_ROUNDS = 10
_MOST_MEMBERS, _MOST_SENTENCES = 30, 5


class CommunityIndex:
    """The summaries of a space's communities, made once and compared with each question."""

    def __init__(self, place: ReaderInputs) -> None:
        self._embedder = place.embedder
        told = _load_members(place)
        self._texts = [
            place.engine.summarise_texts(members, max_sentences=_MOST_SENTENCES) for members in told
        ]
        self._vectors = embed_texts(self._texts, place.embedder)

    def find_nearest(self, question: str, most: int, now: datetime) -> list[MemoryItem]:
        if not self._texts or not most:
            return []
        near = self._vectors @ self._embedder.embed([question]).reshape(-1)
        order = sorted(range(len(self._texts)), key=lambda at: (-near[at], at))
        return [build_item("core", self._texts[at], float(near[at]), now) for at in order[:most]]


def _load_members(place: ReaderInputs) -> list[list[str]]:
    """Of each community what is told of its members, who is spoken of most first."""
    with tenant_scope(place.space.tenant_id):
        rows = Entity.objects.filter(space=place.space, merged_into=None, retired_at=None)
        entities = {row.id: row for row in rows.order_by("-mention_count", "name")}
        joined = Relation.objects.filter(space=place.space, retired_at=None)
        edges = list(joined.order_by("id").values_list("src_id", "dst_id"))
    labels = propagate_labels([e for e in edges if e[0] in entities and e[1] in entities])
    groups: dict[UUID, list[str]] = defaultdict(list)
    for row, entity in entities.items():
        if row in labels:
            groups[labels[row]].append(f"{entity.name}: {entity.summary}".rstrip(": "))
    return [told[:_MOST_MEMBERS] for told in groups.values() if len(told) >= _LEAST_MEMBERS]


def propagate_labels(edges: Sequence[tuple[UUID, UUID]]) -> Mapping[UUID, UUID]:
    """By node the label that most of its neighbours have by now, round after round until none
    changes. Pure; what is alike is decided by the node's id, so that the same graph gives the same
    communities."""
    near: dict[UUID, Counter[UUID]] = defaultdict(Counter)
    for one, other in edges:
        if one != other:
            near[one][other] += 1
            near[other][one] += 1
    labels = {node: node for node in sorted(near)}
    for _ in range(_MOST_ROUNDS):
        before = dict(labels)
        for node in labels:
            votes: Counter[UUID] = Counter()
            for other, weight in near[node].items():
                votes[labels[other]] += weight
            labels[node] = max(
                votes, key=lambda label: (votes[label], label == labels[node], label)
            )
        if labels == before:
            break
    return labels
