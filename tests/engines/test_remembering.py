from __future__ import annotations

import threading

import numpy as np

from memoryhub.engines.embedding.cache import CachedEmbedder
from tests.support.hub import TableEmbedder


class Counting(TableEmbedder):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[list[str]] = []

    def embed(self, texts):  # type: ignore[no-untyped-def]  # as its base
        self.seen.append(list(texts))
        return super().embed(texts)


def test_a_text_is_embedded_once_and_rows_keep_their_order() -> None:
    inner = Counting()
    embedder = CachedEmbedder(inner)
    plain = TableEmbedder().embed(["b", "a", "b", "c"])
    embedder.embed(["a", "b", "a"])
    assert np.array_equal(embedder.embed(["b", "a", "b", "c"]), plain)
    assert inner.seen == [["a", "b"], ["c"]]
    assert (embedder.name, embedder.dimension) == (inner.name, inner.dimension)


def test_what_was_not_asked_for_longest_is_forgotten_first() -> None:
    inner = Counting()
    embedder = CachedEmbedder(inner, most=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        embedder.embed([text])
    assert inner.seen == [["a"], ["b"], ["c"], ["b"]]


def test_more_texts_than_it_keeps_in_one_call() -> None:
    embedder = CachedEmbedder(Counting(), most=2)
    texts = [str(n) for n in range(9)]
    assert np.array_equal(embedder.embed(texts), TableEmbedder().embed(texts))


def test_nothing_asked_nothing_embedded() -> None:
    inner = Counting()
    assert CachedEmbedder(inner).embed([]).shape == (0, inner.dimension)
    assert inner.seen == []


def test_changing_a_row_does_not_change_what_is_remembered() -> None:
    embedder = CachedEmbedder(Counting())
    embedder.embed(["a"])[0][:] = 0
    assert embedder.embed(["a"]).any()


def test_several_threads() -> None:
    embedder = CachedEmbedder(TableEmbedder(), most=5)
    texts = [str(n) for n in range(20)]
    right = TableEmbedder().embed(texts)
    wrong: list[int] = []

    def ask(seed: int) -> None:
        for n in range(200):
            at = [(seed * n + k) % 20 for k in range(6)]
            if not np.array_equal(embedder.embed([texts[i] for i in at]), right[at]):
                wrong.append(n)

    threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
