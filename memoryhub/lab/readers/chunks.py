"""RAG as the papers' baseline: fixed-size chunks of the dialogue, the k most alike (BL2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from memoryhub.dialogues.models import Turn
from memoryhub.engines.embedding.model_files import find_token_spans
from memoryhub.engines.types import Embedder
from memoryhub.lab.readers.base import ReaderInputs, ReaderResult, build_item, build_result
from memoryhub.recall.render.hydrate import build_turn_source
from memoryhub.recall.render.results import MemoryItem
from memoryhub.tenants.scope import tenant_scope

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Chunk:
    """`lines` are the numbers of the lines that any part of it is of."""

    text: str
    lines: tuple[int, ...]


def cut_chunks(lines: Sequence[str], size: int) -> list[Chunk]:
    """The lines as one text, cut every `size` tokens: ceil(tokens / size) chunks."""
    text = "\n".join(lines)
    spans = find_token_spans(text)
    starts = [spans[at][0] for at in range(0, len(spans), size)]
    ends = [*starts[1:], len(text)] if starts else []
    return [
        Chunk(text[a:b], _find_touched_lines(lines, a, b))
        for a, b in zip(starts, ends, strict=True)
    ]


def _find_touched_lines(lines: Sequence[str], start: int, end: int) -> tuple[int, ...]:
    found, at = [], 0
    for number, line in enumerate(lines):
        if at < end and at + len(line) > start:
            found.append(number)
        at += len(line) + 1
    return tuple(found)


def embed_texts(texts: Sequence[str], embedder: Embedder) -> Vectors:
    """A vector a text: what is longer than the embedder reads, as the mean of its parts."""
    parts = [[part.text for part in cut_chunks([text], embedder.max_tokens)] for text in texts]
    flat = embedder.embed([part for some in parts for part in some])
    made, at = [], 0
    for some in parts:
        mean = flat[at : at + len(some)].mean(axis=0)
        made.append(mean / (np.linalg.norm(mean) or 1.0))
        at += len(some)
    return np.stack(made) if made else np.zeros((0, embedder.dimension), np.float32)


class ChunkReader:
    """Options: `size` in tokens, `k` chunks."""

    def __init__(self, place: ReaderInputs) -> None:
        self._embedder, self._k = place.embedder, int(place.options["k"])
        with tenant_scope(place.space.tenant_id):
            said = Turn.objects.filter(space=place.space).select_related("session")
            self._turns = list(said.order_by("seq"))
        lines = [f"{t.occurred_at:%Y-%m-%d} {t.speaker}: {t.text}" for t in self._turns]
        self._chunks = cut_chunks(lines, int(place.options["size"]))
        self._vectors = embed_texts([chunk.text for chunk in self._chunks], self._embedder)

    def recall(self, question: str, now: datetime) -> ReaderResult:
        near = self._vectors @ self._embedder.embed([question]).reshape(-1)
        best = sorted(range(len(self._chunks)), key=lambda at: (-near[at], at))[: self._k]
        return build_result([self._build_chunk_item(at, float(near[at])) for at in best])

    def _build_chunk_item(self, at: int, score: float) -> MemoryItem:
        turns = [self._turns[line] for line in self._chunks[at].lines]
        sources = [build_turn_source(turn) for turn in turns]
        return build_item("page", self._chunks[at].text, score, turns[0].occurred_at, sources)
