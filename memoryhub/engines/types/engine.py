"""What an engine can be asked: one method a purpose (spec §12.3), and the embedder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memoryhub.engines.types.abstraction import (
    ChainJudgement,
    DigestKind,
    DigestText,
    EpisodeText,
    Gate,
    SegmentText,
    Theme,
)
from memoryhub.engines.types.associations import Association, Neighbourhood
from memoryhub.engines.types.attention import (
    AgentContext,
    AgentStep,
    Knowledge,
    TraitAssessment,
    TraitView,
)
from memoryhub.engines.types.claims import (
    Comparison,
    Construction,
    Exchange,
    NamePair,
    NoteDraft,
    Verdict,
    Wanted,
)
from memoryhub.engines.types.dialogue import Passage, Utterance
from memoryhub.engines.types.recall import Answer, Entry, Judgement, Quote, RoutedQuestion


class Engine(Protocol):
    """A reader of dialogue. Raises EngineError; never returns a guess for a failure.

    Handles in replies are among those offered: what names another is dropped and counted.
    """

    name: str
    version: str

    # Claims and associations
    def construct(
        self, exchanges: Sequence[Exchange], wanted: Wanted | None = None
    ) -> list[Construction]:
        """One construction per exchange, in order; as few calls as `wanted` allows."""

    def resolve(self, comparison: Comparison) -> list[Verdict]:
        """At most one verdict a candidate; candidates without one stay undecided."""

    def merge_check(self, pairs: Sequence[NamePair]) -> dict[str, bool]:
        """By handle, whether the two names are one entity's. Pairs not judged are left out."""

    def note_build(self, texts: Sequence[Passage]) -> list[NoteDraft | None]:
        """Descriptors of each text, in order; None for one that was not described."""

    def link_evolve(
        self, notes: Sequence[Neighbourhood], *, links: bool = True, evolve: bool = True
    ) -> Association:
        """Links of new notes with their neighbours, and neighbours' new descriptors.

        What is not wanted is not asked for, and not in the answer.
        """

    # Abstraction
    def chain(
        self, pages: Sequence[Passage], previous: Passage | None = None, summary: str = ""
    ) -> ChainJudgement:
        """`previous` is the page before the first, of the chain `summary` sums up."""

    def themes(self, pages: Sequence[Passage]) -> list[Theme]:
        """At most two themes, each with the pages that belong to it."""

    def segment_refresh(
        self, summary: str, keywords: Sequence[str], pages: Sequence[Passage]
    ) -> SegmentText:
        """The summary and keywords of a segment that `pages` have joined."""

    def episode_gate(self, window: Sequence[Passage], newest: Passage) -> Gate:
        """Whether `newest` begins something else than `window`, oldest first, is about."""

    def episode_write(self, span: Sequence[Passage]) -> EpisodeText:
        """What happened in the span, oldest first."""

    def fold_summary(
        self, previous: str, said: Sequence[Utterance], *, max_words: int = 100
    ) -> str:
        """`previous` renewed by what was said since."""

    def digest(self, kind: DigestKind, parts: Sequence[Passage]) -> DigestText:
        """A digest of exchanges (day, session, persona) or of digests (the global kinds)."""

    def summarise(self, texts: Sequence[str], *, max_sentences: int = 3) -> str:
        """An extractive or written summary of facts' texts, in their language."""

    # Attention
    def kb_extract(self, pages: Sequence[Passage], *, subject: str) -> Knowledge:
        """What of the pages to keep at hand about the user and the agent."""

    def trait_update(
        self, pages: Sequence[Passage], current: Sequence[TraitView], keys: Sequence[str]
    ) -> list[TraitAssessment]:
        """Assessments of registered traits (`keys`) that the pages are evidence for."""

    def agent_step(self, context: AgentContext) -> AgentStep:
        """The agent's next tool call or text."""

    # Recall
    def route(self, question: str, window: Sequence[Utterance]) -> RoutedQuestion: ...

    def judge(
        self, question: str, entries: Sequence[Entry], window: Sequence[Utterance] = ()
    ) -> Judgement: ...

    def query_entities(self, question: str) -> list[str]: ...

    def answer(self, question: str, quotes: Sequence[Quote], *, subject: str = "") -> Answer:
        """Answer from the quotes (best first) and nothing else; abstain when they are silent."""

    def grade(self, question: str, expected: str, answer: str) -> bool:
        """Whether `answer` says what `expected` says."""


class Embedder(Protocol):
    """Texts to unit vectors."""

    name: str  # names the vectors: rows of different names are never compared
    dimension: int
    max_tokens: int

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(len(texts), dimension) float32, each row of length 1. Longer texts are cut."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, without special tokens and without cutting."""
