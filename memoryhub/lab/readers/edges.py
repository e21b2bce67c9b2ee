"""Zep: a bi-temporal graph (Rasmussen et al., 2025, sections 2.2 and 3).

Edges are the hub's facts: each says since when and until when it held, and what holds no longer is
found with both. Of a question that names a day, those that held then come first. Nodes are entities
with their summaries, beside them the communities they form.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.db.models import Q

from memoryhub.engines.local.dates.times import find_times
from memoryhub.lab.readers.base import ReaderInputs, ReaderResult, build_item, build_result
from memoryhub.lab.readers.communities import CommunityIndex
from memoryhub.recall.render.results import MemoryItem, SearchResult
from memoryhub.recall.services import search_memories
from memoryhub.tenants.scope import tenant_scope
from notes.models import Entity


class EdgeReader:
    """Options: `edges`, the most of them, by meaning, words and graph ranked together; `nodes`, the
    most summaries of entities that they join; `communities`, the most summaries of those."""

    def __init__(self, place: ReaderInputs) -> None:
        self._space = place.space
        self._edges, self._nodes = int(place.options["edges"]), int(place.options["nodes"])
        self._communities = CommunityIndex(place)
        self._most_communities = int(place.options["communities"])

    def recall(self, question: str, now: datetime) -> ReaderResult:
        found = self._find_edges(question, now)
        then = self._find_day_asked(question, now)
        held = self._find_edges(question, now, then).items if then else ()
        edges = list({item.id: item for item in (*held, *found.items)}.values())[: self._edges]
        near = self._communities.find_nearest(question, self._most_communities, now)
        made = build_result([*edges, *self._load_nodes(edges, now), *near])
        return ReaderResult(made.items, made.tokens, found.insufficient, found.degraded)

    def _find_edges(
        self, question: str, now: datetime, as_of: datetime | None = None
    ) -> SearchResult:
        """As of a day, or of all times."""
        return search_memories(
            self._space,
            question,
            limit=self._edges,
            kinds=("fact",),
            as_of=as_of,
            include_past=as_of is None,
            now=now,
            reinforce=False,
        )

    def _find_day_asked(self, question: str, now: datetime) -> datetime | None:
        """The last moment of the first time that the question names, unless it is yet to come."""
        named = find_times(question, now.astimezone(ZoneInfo(self._space.timezone)))
        ends = [
            min(span.end - timedelta(microseconds=1), now) for span in named if span.start < now
        ]
        return ends[0] if ends else None

    def _load_nodes(self, edges: Sequence[MemoryItem], now: datetime) -> list[MemoryItem]:
        facts = [item.id for item in edges]
        with tenant_scope(self._space.tenant_id):
            joined = Entity.objects.filter(
                Q(relations_out__fact__in=facts) | Q(relations_in__fact__in=facts),
                merged_into=None,
                retired_at=None,
            ).exclude(summary="")
            rows = list(joined.distinct().order_by("-mention_count", "name")[: self._nodes])
        return [build_item("core", f"{row.name}: {row.summary}", 0.0, now) for row in rows]
