"""What an engine can be asked: one method a purpose (spec §12.3), and the embedder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memoryhub.engines.types.claims import (
    ClaimComparison,
    ClaimVerdict,
    Exchange,
    Extraction,
    ExtractionOptions,
    NamePair,
    NoteDraft,
)
from memoryhub.engines.types.dialogue import Passage, Utterance
from memoryhub.engines.types.notes import Association, Neighbourhood
from memoryhub.engines.types.personas import (
    AgentContext,
    AgentStep,
    Knowledge,
    TraitAssessment,
    TraitState,
)
from memoryhub.engines.types.recall import (
    GroundedAnswer,
    JudgeEntry,
    Judgement,
    Quote,
    RoutedQuestion,
)
from memoryhub.engines.types.topics import (
    ChainJudgement,
    DigestKind,
    DigestText,
    EpisodeGate,
    EpisodeText,
    SegmentText,
    Theme,
)


class Engine(Protocol):
    """A reader of dialogue. Raises EngineError; never returns a guess for a failure.

    Handles in replies are among those offered: what names another is dropped and counted.
    """

    name: str
    version: str

    # Claims and associations
    def extract_memories(
        self, exchanges: Sequence[Exchange], wanted: ExtractionOptions | None = None
    ) -> list[Extraction]:
        """One construction per exchange, in order; as few calls as `wanted` allows."""

    def resolve_claims(self, comparison: ClaimComparison) -> list[ClaimVerdict]:
        """At most one verdict a candidate; candidates without one stay undecided."""

    def compare_names(self, pairs: Sequence[NamePair]) -> dict[str, bool]:
        """By handle, whether the two names are one entity's. Pairs not judged are left out."""

    def describe_notes(self, texts: Sequence[Passage]) -> list[NoteDraft | None]:
        """Descriptors of each text, in order; None for one that was not described."""

    def link_and_evolve(
        self, notes: Sequence[Neighbourhood], *, links: bool = True, evolve: bool = True
    ) -> Association:
        """Links of new notes with their neighbours, and neighbours' new descriptors.

        What is not wanted is not asked for, and not in the answer.
        """

    # Abstraction
    def chain_pages(
        self, pages: Sequence[Passage], previous: Passage | None = None, summary: str = ""
    ) -> ChainJudgement:
        """`previous` is the page before the first, of the chain `summary` sums up."""

    def extract_themes(self, pages: Sequence[Passage]) -> list[Theme]:
        """At most two themes, each with the pages that belong to it."""

    def refresh_segment(
        self, summary: str, keywords: Sequence[str], pages: Sequence[Passage]
    ) -> SegmentText:
        """The summary and keywords of a segment that `pages` have joined."""

    def detect_episode_end(self, window: Sequence[Passage], newest: Passage) -> EpisodeGate:
        """Whether `newest` begins something else than `window`, oldest first, is about."""

    def summarise_episode(self, span: Sequence[Passage]) -> EpisodeText:
        """What happened in the span, oldest first."""

    def fold_summary(
        self, previous: str, said: Sequence[Utterance], *, max_words: int = 100
    ) -> str:
        """`previous` renewed by what was said since."""

    def build_digest(self, kind: DigestKind, parts: Sequence[Passage]) -> DigestText:
        """A digest of exchanges (day, session, persona) or of digests (the global kinds)."""

    def summarise_texts(self, texts: Sequence[str], *, max_sentences: int = 3) -> str:
        """An extractive or written summary of facts' texts, in their language."""

    # Attention
    def extract_knowledge(self, pages: Sequence[Passage], *, subject: str) -> Knowledge:
        """What of the pages to keep at hand about the user and the agent."""

    def assess_traits(
        self, pages: Sequence[Passage], current: Sequence[TraitState], keys: Sequence[str]
    ) -> list[TraitAssessment]:
        """Assessments of registered traits (`keys`) that the pages are evidence for."""

    def choose_agent_step(self, context: AgentContext) -> AgentStep:
        """The agent's next tool call or text."""

    # Recall
    def route_question(self, question: str, window: Sequence[Utterance]) -> RoutedQuestion: ...

    def judge_entries(
        self, question: str, entries: Sequence[JudgeEntry], window: Sequence[Utterance] = ()
    ) -> Judgement: ...

    def extract_question_names(self, question: str) -> list[str]: ...

    def answer_question(
        self, question: str, quotes: Sequence[Quote], *, subject: str = ""
    ) -> GroundedAnswer:
        """Answer from the quotes (best first) and nothing else; abstain when they are silent."""

    def grade_answer(self, question: str, expected: str, answer: str) -> bool:
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
