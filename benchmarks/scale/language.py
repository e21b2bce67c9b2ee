"""Made-up talk that behaves like talk: words of Zipf's frequencies, a topic a session.

Nothing is meant. What counts is that frequent words are as frequent and rare ones as rare as in
real dialogues, so that full-text search has as much to do, and that sessions have topics whose
vectors lie together, so that vector search has clusters to find.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memoryhub.engines.embedding.model_files import MINILM_TOKENIZER
from memoryhub.engines.types import Embedder

TOPICS = 200
# The last topics stay out of every space: questions about them are off topic.
USED_TOPICS = 160
WORDS_A_TOPIC = 80
EXCHANGES = 12
Vectors = NDArray[np.float32]


def read_vocabulary() -> list[str]:
    """English words, about the most frequent first: the embedder's own, in its order."""
    from tokenizers import Tokenizer

    known = Tokenizer.from_file(str(MINILM_TOKENIZER.locate())).get_vocab()
    ordered = sorted(known, key=known.__getitem__)
    return [w for w in ordered if w.isascii() and w.isalpha() and len(w) > 1]


@dataclass(frozen=True, slots=True)
class PatternSession:
    """One made-up session: (what was said, what was answered) a dozen times, and their facts."""

    topic: int
    user_texts: Sequence[str]
    reply_texts: Sequence[str]
    facts: Sequence[str]


class Language:
    """A seeded source of sessions and of questions about them."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.words = np.array(read_vocabulary())
        self._ranks = {str(word): rank for rank, word in enumerate(self.words)}
        ranks = np.arange(len(self.words))
        self._often = _cumulate_weights(1 / (ranks + 2.7))
        # A topic's own words: none of the most frequent, few of the rarest.
        own = np.where((ranks > 400) & (ranks < 12_000), 1 / (ranks + 1.0), 0)
        self.topics = [
            self.random.choice(self.words, WORDS_A_TOPIC, replace=False, p=own / own.sum())
            for _ in range(TOPICS)
        ]
        self._within = _cumulate_weights(1 / (np.arange(WORDS_A_TOPIC) + 5.0))

    def draw_sentence(self, topic: int, length: int) -> list[str]:
        """A quarter of it the topic's own words."""
        drawn = self.random.random((3, length))
        common = self.words[np.searchsorted(self._often, drawn[0])]
        own = self.topics[topic][np.searchsorted(self._within, drawn[1])]
        return [str(word) for word in np.where(drawn[2] < 0.25, own, common)]

    def draw_session(self, topic: int) -> PatternSession:
        said, answered, facts = [], [], []
        for length in self.random.integers(6, 26, EXCHANGES):
            first, second = (
                self.draw_sentence(topic, length),
                self.draw_sentence(topic, 30 - length),
            )
            said.append(" ".join(first))
            answered.append(" ".join(second))
            facts.append(" ".join(["Ana", *first[:8]]))
        return PatternSession(topic, said, answered, facts)

    def draw_question(self, kind: str, said: Sequence[str]) -> str:
        """`kind`: topic, off, rare or frequent. `said` is what was said in the space."""
        if kind == "frequent":
            often = [str(self.words[self.random.integers(60, 300)]) for _ in range(4)]
            return f"What about the {' '.join(often)}?"
        if kind == "off":
            topic = self.random.integers(USED_TOPICS, TOPICS)
            drawn = np.searchsorted(self._within, self.random.random(3))
            first, *others = map(str, self.topics[topic][drawn])
            return f"What did Ana say about the {first} and {' '.join(others)}?"
        words = set(str(self.random.choice(said)).split())
        own = sorted(words, key=lambda w: self._ranks.get(w, len(self._ranks)), reverse=True)
        if kind == "rare":
            return f"What was that about {own[0]}?"
        return f"What did Ana say about the {' and '.join(own[1:3])} {' '.join(own[3:5])}?"

    def embed_topic_centres(self, embedder: Embedder) -> Vectors:
        """(TOPICS, dimension) of length 1: where the embedder puts the topics' words."""
        return embedder.embed([" ".join(words[:40]) for words in self.topics])


def _cumulate_weights(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    total: NDArray[np.float64] = np.cumsum(weights) / weights.sum()
    return total


def draw_around(random: np.random.Generator, centres: Vectors, spread: float) -> Vectors:
    """For each centre a unit vector beside it: 0 the centre itself, 1 as far as it is long."""
    noise = random.standard_normal(centres.shape, dtype=np.float32)
    noise *= spread / np.sqrt(centres.shape[1])
    near = centres + noise
    unit: Vectors = near / np.linalg.norm(near, axis=1, keepdims=True)
    return unit
