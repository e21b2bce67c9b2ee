"""Searching a space: one question in, the memories that bear on it out (spec §12.2)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
from django.utils import timezone
from numpy.typing import NDArray

from memoryhub import models_in_use
from memoryhub.dialogues.queries import pending_count
from memoryhub.engines.types import Embedder
from memoryhub.errors import EngineError, InvalidInput
from memoryhub.recall.arms import PER_ARM, Visibility, candidates
from memoryhub.recall.fusion import Scored, fuse
from memoryhub.recall.hydration import hydrate, links_of
from memoryhub.recall.results import Kind, SearchResult
from memoryhub.recall.routing import Route, reads, route
from memoryhub.recall.selection import distinct, relevance, relevant
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.indexing import MAX_TOKENS

KINDS: tuple[Kind, ...] = ("fact", "turn", "note")
MAX_LIMIT = 100


@dataclass
class _Clock:
    """Milliseconds by stage."""

    took: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.took[name] = round((time.perf_counter() - start) * 1000, 2)


def search(
    space: Space,
    query: str,
    *,
    limit: int = 10,
    kinds: Sequence[Kind] = KINDS,
    as_of: datetime | None = None,
    include_past: bool = False,
    explain: bool = False,
) -> SearchResult:
    """The memories of `space` that bear on `query`, best first. Opens its own tenant scope.

    `as_of`: as things stood in the world then; `include_past`: also what no longer holds.
    A failing embedder degrades the search to words; raises InvalidInput for an empty query.
    """
    query = _storable(query)
    _check(query, limit, kinds)
    embedder, clock, now = _embedder(), _Clock(), timezone.now()
    with clock.stage("route"):
        way = route(
            query.replace("\0", ""),
            space.speakers,
            now,
            embedder.max_tokens if embedder else MAX_TOKENS,
        )
    with clock.stage("embed"):
        readable = embedder and reads(embedder.name, way.language)
        vector = _embedded(embedder, way.embed) if readable else None
    with tenant_scope(space.tenant_id):
        with clock.stage("candidates"):
            found = candidates(
                space,
                words=way.words,
                vector=vector,
                model=embedder.name if embedder else "",
                kinds=kinds,
                visibility=Visibility(now, as_of, include_past),
                per_arm=max(PER_ARM, limit),
            )
        with clock.stage("rank"):
            ranked = fuse(way, found)
            kept = relevant(ranked)
        with clock.stage("hydrate"):
            links = links_of(s.candidate.id for s in _derived(kept[: 3 * limit]))
            items = hydrate(distinct(kept[: 3 * limit], links, limit), links)
        pending = pending_count(space.id)
    return SearchResult(
        items=items,
        insufficient=not items,
        degraded=["dense"] if vector is None and (readable or not embedder) else [],
        pending_turns=pending,
        query_truncated=way.truncated,
        took_ms=clock.took,
        explain=_explanation(way, ranked) if explain else {},
    )


def _storable(query: str) -> str:
    """Without what PostgreSQL takes no text with: NULs, and halves of characters."""
    return query.replace("\0", "").encode("utf-8", "ignore").decode("utf-8")


def _check(query: str, limit: int, kinds: Sequence[Kind]) -> None:
    if not query.strip():
        raise InvalidInput("ask something: the query is empty", field="query")
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidInput(f"from 1 to {MAX_LIMIT}", field="limit")
    if not kinds or set(kinds) - set(KINDS):
        raise InvalidInput(f"some of {', '.join(KINDS)}", field="kinds")


def _embedder() -> Embedder | None:
    try:
        return models_in_use.embedder()
    except EngineError:
        return None


def _embedded(embedder: Embedder | None, text: str) -> NDArray[np.float32] | None:
    """The question's vector, or None when there is no embedder to make it (E16)."""
    try:
        return embedder.embed([text]).reshape(-1) if embedder else None
    except EngineError:
        return None


def _derived(ranked: Sequence[Scored]) -> list[Scored]:
    return [scored for scored in ranked if scored.candidate.kind != "turn"]


def _explanation(way: Route, ranked: Sequence[Scored]) -> dict[str, Any]:
    return {
        "embedded": way.embed,
        "words": way.words,
        "named": list(way.named),
        "speaker": way.speaker,
        "times": [span.text for span in way.spans],
        "asks_when": way.asks_when,
        "predicates": list(way.predicates),
        "candidates": [
            {
                "kind": s.candidate.kind,
                "id": str(s.candidate.id),
                "text": s.candidate.text[:120],
                "score": round(s.score, 3),
                "parts": {name: round(value, 3) for name, value in s.parts.items()},
                "relevance": round(relevance(s), 3),
            }
            for s in ranked[:50]
        ],
    }
