"""The values that go into an engine and come out of it, plain and frozen; what it can be asked."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

# What was said, as an engine sees it.

Role = Literal["user", "assistant", "system", "tool"]
SpeechAct = Literal["assertion", "question", "request", "forget", "chitchat", "hypothetical"]
Granularity = Literal["minute", "hour", "day", "week", "month", "season", "year", "decade"]


@dataclass(frozen=True, slots=True)
class Utterance:
    """One turn as an engine sees it. `at` is aware: the date of the conversation."""

    handle: str
    speaker: str
    role: Role
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class SourceSpan:
    """Characters [start, end) of the text of the utterance with this handle."""

    handle: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A resolved time expression: the half-open interval [start, end), aware.

    `text` is the expression as written, found at characters [at, at + len(text)).
    """

    start: datetime
    end: datetime
    granularity: Granularity
    text: str
    at: int


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of dialogue already stored, under a handle: a page, an episode, a summary.

    `claims` are what was read from it before, one sentence each; rules choose from them.
    """

    handle: str
    text: str
    at: datetime
    keywords: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()


# Claims read from dialogue, and what they do to the claims held (spec §5, §6, §7, §11.7).

ClausePattern = Literal["SV", "SVO", "SVC", "SVOO", "SVOC"]
Cardinality = Literal["single", "multi"]
# What a fact says of its predicate: it holds, it never held or holds no longer, or it is about
# something still to come.
Polarity = Literal["holds", "denied", "ended", "planned"]
FactKind = Literal["state", "event", "preference", "plan", "attribute", "recommendation"]
# What a model may say of a candidate (spec §12.3).
VerdictOp = Literal["add", "same", "augment", "contradict", "deny", "forget"]


@dataclass(frozen=True, slots=True)
class ClaimChange:
    """What a claim does to `target`, a handle of `Exchange.held` or of a candidate before it."""

    op: VerdictOp
    target: str


@dataclass(frozen=True, slots=True)
class FactCandidate:
    """A claim found in an exchange (spec §7.1, §11.2). Slots follow AMA's five patterns.

    `owner` is whom the fact is about and `speaker` who said it, both by name; "I" is the
    speaker (spec E25). `predicate_key` is a normalised predicate such as `lives_in`. `changes`:
    what it does to claims held, as far as the engine has been shown any; None: not judged.
    `quoted`: the words it rests on were found to the letter. `cardinality` None: neither the engine
    nor the table of predicates knows. `withheld`: why it is not taken for said, though it names
    claims that it would change: a person is asked, and nothing is stored.
    """

    text: str
    owner: str
    speaker: str
    pattern: ClausePattern
    subject: str
    verb: str
    object: str = ""
    indirect_object: str = ""
    complement: str = ""
    predicate_key: str = ""
    cardinality: Cardinality | None = "multi"
    kind: FactKind = "state"
    polarity: Polarity = "holds"
    event: TimeSpan | None = None
    confidence: float = 1.0
    correction: bool = False
    sources: tuple[SourceSpan, ...] = ()
    until: datetime | None = None  # of a state that is over: when it ended
    handle: str = ""  # of the claim among those read with it
    changes: tuple[ClaimChange, ...] | None = None
    quoted: bool = True
    withheld: str = ""


TOLD_TOO_MUCH = "its exchange told too much already"


def cap_candidates(facts: Sequence[FactCandidate], most: int) -> dict[int, FactCandidate]:
    """By their places, the first `most` of an exchange. Of the rest those that would change what
    is held are withheld, as many again at most, so that what a model says of it is seen."""
    said = [place for place, fact in enumerate(facts) if not fact.withheld]
    late = {
        place: replace(facts[place], withheld=TOLD_TOO_MUCH)
        for place in said[most:]
        if facts[place].changes
    }
    withheld = {place: fact for place, fact in enumerate(facts) if fact.withheld} | late
    kept = {*said[:most], *sorted(withheld)[:most]}
    return {place: withheld.get(place, facts[place]) for place in sorted(kept)}


@dataclass(frozen=True, slots=True)
class EntityMention:
    name: str
    type: str  # person, place, organisation, event, object, concept, date
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RelationCandidate:
    """src -label-> dst, read off `facts[fact]` of the same construction."""

    src: str
    label: str
    dst: str
    fact: int


@dataclass(frozen=True, slots=True)
class NoteDraft:
    """A-Mem's descriptors (spec §4.1): keywords most salient first, no names or times."""

    keywords: tuple[str, ...]
    tags: tuple[str, ...]
    context: str


@dataclass(frozen=True, slots=True)
class ForgetWish:
    """A wish that claims be forgotten, in these words. `targets`: handles of claims held, or of
    claims read with it."""

    source: SourceSpan
    targets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NameCorrection:
    """A name that was told wrong, and the right one. `old` "": the one that the `thing` has.
    `thing`: what goes by it, "" where that is not said. `is_named` False: nothing says that they
    are names, and not days or towns."""

    old: str
    new: str
    thing: str
    source: SourceSpan
    is_named: bool = True


@dataclass(frozen=True, slots=True)
class Extraction:
    """What one exchange yields. `topic_cue`: the exchange opens a new topic. `wishes`: what is to
    be forgotten, where the engine has been shown what is held."""

    facts: tuple[FactCandidate, ...] = ()
    entities: tuple[EntityMention, ...] = ()
    relations: tuple[RelationCandidate, ...] = ()
    note: NoteDraft | None = None
    speech_acts: Mapping[str, SpeechAct] = field(default_factory=dict)
    times: Mapping[str, tuple[TimeSpan, ...]] = field(default_factory=dict)
    topic_cue: bool = False
    # Whether it goes on from the exchange before (MemoryOS' chain); None: not judged.
    continues: bool | None = None
    # References of earlier turns it bears on (AMA's R_t), by the handles of the history.
    related: tuple[str, ...] = ()
    wishes: tuple[ForgetWish, ...] = ()
    name_corrections: tuple[NameCorrection, ...] = ()


@dataclass(frozen=True, slots=True)
class Exchange:
    """Input of `construct`: the utterances to read, and what went before as context only.

    `history` (oldest first, at most the last 10 turns of the session) resolves references and pairs
    answers with questions; nothing is extracted from it. `earlier` are the last turns of other
    sessions, for a model. `participants` are the known speakers' names, `subject` the person the
    space is about, `aliases` whatever else that person is called, ids among it, `names` those of
    whom something is held. `held`: open claims that the messages may be about, with the names of
    relations in use, for an engine that judges while it reads; None: it is not to judge.
    """

    utterances: Sequence[Utterance]
    history: Sequence[Utterance] = ()
    participants: Sequence[str] = ()
    subject: str = ""
    aliases: Sequence[str] = ()
    names: Sequence[str] = ()
    summary: str = ""  # S, the rolling summary of the space (Mem0); context only
    earlier: Sequence[Utterance] = ()
    held: Sequence[HeldClaim] | None = None
    relations: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ExtractionOptions:
    """What a construction is to yield, and how it is asked for.

    `combine`: in one call where that can be; else each purpose in a call of its own. `patterns`:
    then also the parts of each fact's sentence, and the earlier turns it bears on (AMA). `batch`:
    exchanges of one session a call may hold.
    """

    facts: bool = True
    graph: bool = True
    notes: bool = True
    chain: bool = True
    combine: bool = True
    patterns: bool = False
    batch: int = 1


@dataclass(frozen=True, slots=True)
class ClaimSlots:
    """What was read of a claim beside its words; `object` is what it says of its owner."""

    predicate_key: str = ""
    is_single: bool = False
    verb: str = ""
    object: str = ""
    kind: FactKind = "state"


@dataclass(frozen=True, slots=True)
class HeldClaim:
    """A claim already held, offered for comparison under a handle."""

    handle: str
    text: str
    owner: str
    predicate_key: str
    valid_from: datetime
    valid_to: datetime | None = None
    polarity: Polarity = "holds"
    slots: ClaimSlots = ClaimSlots()
    said_at: datetime | None = None  # None: when it began to hold


@dataclass(frozen=True, slots=True)
class ToldMessage:
    """The words of a message in whole, and the question put just before it, "" for none."""

    text: str
    asked: str = ""


@dataclass(frozen=True, slots=True)
class ClaimCandidate:
    """A claim to be decided. `offered` are the handles it may be compared with, `similar` the
    cosines of their vectors with its own, None for one that is not known.

    `said`: the words of its message around those it rests on; `message`: all of them, None where
    they are more than is read in one. `is_wish`: not a claim but a wish to forget; every `forget`
    verdict names one held claim. `assisted`: told to an assistant, and not among people, who rarely
    take anything back.
    """

    handle: str
    text: str
    owner: str
    speaker: str
    said_at: datetime
    event_from: datetime | None = None
    offered: tuple[str, ...] = ()
    polarity: Polarity = "holds"
    is_wish: bool = False
    slots: ClaimSlots = ClaimSlots()
    correction: bool = False
    similar: tuple[float | None, ...] = ()
    said: str = ""
    assisted: bool = False
    message: ToldMessage | None = None


@dataclass(frozen=True, slots=True)
class ClaimComparison:
    """Input of `resolve`: several candidates, and the union of what is held near them.

    `aliases`: owners' names that all stand for the subject. `embedder`: whose vectors `similar`
    compares.
    """

    candidates: Sequence[ClaimCandidate]
    held: Sequence[HeldClaim]
    subject: str = ""
    aliases: tuple[str, ...] = ()
    embedder: str = ""


@dataclass(frozen=True, slots=True)
class ClaimVerdict:
    """What to do with a candidate. `target` is an offered handle or "", `text` the merged text
    of an `augment`. Code checks it before anything follows from it (spec §11.7).

    `sure` False: a suspicion, which only a person turns into a decision.
    """

    candidate: str
    op: VerdictOp
    target: str = ""
    text: str = ""
    reason: str = ""
    sure: bool = True


@dataclass(frozen=True, slots=True)
class NamePair:
    """Two names that may be one entity's, with what is said of each (Mem0g, spec R3)."""

    handle: str
    left: str
    right: str
    left_facts: tuple[str, ...] = ()
    right_facts: tuple[str, ...] = ()


# Notes, their links and their evolution (A-Mem, spec §4).

LinkKind = Literal["related", "elaborates", "continues", "contradicts", "causes"]


@dataclass(frozen=True, slots=True)
class NoteState:
    """A note under a handle, with its present descriptors."""

    handle: str
    content: str
    keywords: tuple[str, ...]
    tags: tuple[str, ...]
    context: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """A new note and those nearest to it, nearest first.

    `similar`: their cosines; empty where the embedder can't read the language.
    """

    note: NoteState
    neighbours: Sequence[NoteState]
    similar: Sequence[float] = ()


@dataclass(frozen=True, slots=True)
class LinkDraft:
    """An undirected link between two offered handles."""

    a: str
    b: str
    kind: LinkKind
    reason: str = ""
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class NoteEvolution:
    """New descriptors of an offered note; None or empty leaves a descriptor as it is (A15)."""

    handle: str
    keywords: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    context: str | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Association:
    """What `link_evolve` found for a batch of new notes."""

    links: tuple[LinkDraft, ...] = ()
    evolutions: tuple[NoteEvolution, ...] = ()


# Themes, segments, episodes: summaries of spans (MemoryBank, AMA, MemoryOS; spec §2, §7, §8).

DigestKind = Literal["day", "session", "global", "persona", "global_persona"]
EpisodeGateCause = Literal["shift", "request", "full", "none"]


@dataclass(frozen=True, slots=True)
class ChainJudgement:
    """Whether each page goes on from the one before it, and each chain's summary so far.

    `continues` is aligned with the pages given; None: not judged. `summaries` hold, for each
    page, the summary of its chain up to that page, "" for none.
    """

    continues: tuple[bool | None, ...]
    summaries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Theme:
    """What some of the pages are about; `pages` are their handles."""

    name: str
    keywords: tuple[str, ...]
    text: str
    pages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SegmentText:
    text: str
    keywords: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EpisodeGate:
    """Whether an episode ends before the newest exchange."""

    open: bool
    cause: EpisodeGateCause


@dataclass(frozen=True, slots=True)
class EpisodeText:
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class DigestText:
    """A digest; the persona kinds also give `traits`, `mood` and a `reply_strategy`."""

    text: str
    title: str = ""
    points: tuple[str, ...] = ()
    traits: tuple[str, ...] = ()
    mood: str = ""
    reply_strategy: str = ""


# Who it is about, and the agent that manages its own memory (MemoryOS, MemGPT; spec §3, §8).

TraitLevel = Literal["high", "medium", "low"]


@dataclass(frozen=True, slots=True)
class KnowledgeItem:
    """Something to keep at hand; `evidence` are handles of pages."""

    text: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Knowledge:
    """About the user, and about the agent in its dealings with this user."""

    user: tuple[KnowledgeItem, ...] = ()
    agent: tuple[KnowledgeItem, ...] = ()


@dataclass(frozen=True, slots=True)
class TraitScale:
    """A trait that may be assessed. `high` and `low` say in words what these levels mean: a key
    alone is read either way."""

    key: str
    high: str
    low: str


@dataclass(frozen=True, slots=True)
class TraitState:
    key: str
    level: TraitLevel
    why: str


@dataclass(frozen=True, slots=True)
class TraitAssessment:
    key: str
    level: TraitLevel
    why: str
    evidence: tuple[str, ...]
    confidence: float = 0.7


@dataclass(frozen=True, slots=True)
class AgentTool:
    """A tool an agent may call; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AgentMessage:
    """One message of the agent's context. A tool's result carries the `call_id` it answers."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    call_id: str = ""
    tool: str = ""
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class AgentContext:
    """What an agent sees before a step. `purpose`: by whose instructions, those of an agent that
    talks and has a window, or those of one that only looks after memories (the lab's)."""

    messages: Sequence[AgentMessage]
    tools: Sequence[AgentTool] = field(default_factory=tuple)
    purpose: Literal["agent_step", "keep_memories"] = "agent_step"


@dataclass(frozen=True, slots=True)
class AgentStep:
    """One tool call, or plain text when `tool` is "". `arguments` is the JSON text as sent."""

    tool: str = ""
    arguments: str = ""
    call_id: str = ""
    text: str = ""


# Questions: where to look, whether what was found suffices, and the answer (spec §7, §12.2).


@dataclass(frozen=True, slots=True)
class Quote:
    """A recalled memory handed to `answer`: text, when it was said, what it is about.

    `speaker` said it, word by word; a memory in the hub's own words has none, and `owner` is whom
    it is about. `predicate` and `object` are a fact's slots. `note`: how a note is described,
    what a fact relates, the summary of an exchange's chain, an episode's title: context, and never
    quoted. `until`: it holds no longer; `tells_end`: what it says is that something is over; `due`:
    it was planned, and its day has come, `planned`: not yet; `passed`: all times that it speaks of
    are over. `replaced`: the words of what it took the place of. `outdated`: characters of a
    message that told what holds no longer. `bears` False: only among the nearest, below a search's
    floor. `assisted`: of talk with an assistant, in which one person tells of themselves.
    `subject_names`: all that whom the memories are about is called by, those of now first.
    """

    text: str
    said_at: datetime | None
    event: TimeSpan | None = None
    speaker: str = ""
    owner: str = ""
    predicate: str = ""
    object: str = ""
    until: datetime | None = None
    relevance: float | None = None
    note: str = ""
    tells_end: bool = False
    due: bool = False
    planned: bool = False
    passed: bool = False
    replaced: str = ""
    outdated: Sequence[tuple[int, int]] = ()
    bears: bool = True
    assisted: bool = False
    subject_names: tuple[str, ...] = ()

    def name_person(self, name: str) -> str:
        """What somebody of this name is called now."""
        return self.subject_names[0] if name in self.subject_names else name

    def states_any_of(self, predicates: Collection[str]) -> bool:
        """Whether it is a fact of one of these kinds."""
        return bool(self.predicate) and self.predicate in predicates


@dataclass(frozen=True, slots=True)
class AnswerSupport:
    """Characters `part` of an answer rest on characters `span` of the quote with this index.

    Both are half-open; `span` None: on all of it.
    """

    quote: int
    part: tuple[int, int]
    span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class GroundedAnswer:
    """Without a quote behind it, it says that nothing is known."""

    text: str
    quoted: bool  # True: put together from memories word by word, no model wrote it
    used: tuple[int, ...] = ()  # indices into the quotes
    # Where all of the answer rests on all of a quote: none.
    supports: tuple[AnswerSupport, ...] = ()

    @property
    def abstained(self) -> bool:
        return not self.used


@dataclass(frozen=True, slots=True)
class RoutedQuestion:
    """A self-contained rewrite, AMA's intent vector, and how many memories are wanted."""

    query: str
    fine: bool = False
    abstract: bool = False
    event: bool = False
    atomic: bool = True
    want: int = 0


@dataclass(frozen=True, slots=True)
class JudgeEntry:
    """A recalled memory before the judge, under a handle."""

    handle: str
    text: str
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class MemoryConflict:
    handles: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """`relevant` are offered handles, best first. Code, not the model, derives what follows."""

    relevant: tuple[str, ...]
    conflicts: Sequence[MemoryConflict] = ()
    enough: bool = True


# What an engine can be asked: one method a purpose (spec §12.3), and the embedder.


class Engine(Protocol):
    """A reader of dialogue. Raises EngineError; never returns a guess for a failure.

    Handles in replies are among those offered: what names another is dropped and counted.
    """

    name: str
    version: str
    # Whether a call costs nothing; what rules do not know for sure is left to a person.
    reads_by_rules: bool

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
        """Themes, as many as pages at most, each with the pages that belong to it."""

    def refresh_segment(
        self, summary: str, keywords: Sequence[str], pages: Sequence[Passage]
    ) -> SegmentText:
        """The summary and keywords of a segment that `pages` have joined."""

    def detect_episode_end(self, window: Sequence[Passage], newest: Passage) -> EpisodeGate:
        """Whether `newest` begins something else than `window`, oldest first, is about."""

    def summarise_episode(self, span: Sequence[Passage]) -> EpisodeText:
        """What happened in the span, oldest first."""

    def find_pause(self, passages: Sequence[Passage], least: int) -> int:
        """After how many of the passages, `least` at least, a reader would pause (ReadAgent)."""

    def predict_episode(self, title: str, known: Sequence[str]) -> str:
        """What was probably said under this title by those of whom this is known (Nemori)."""

    def find_unpredicted(
        self, predicted: str, span: Sequence[Passage], *, subject: str
    ) -> list[KnowledgeItem]:
        """What the span says that `predicted` lacks or has otherwise (Nemori)."""

    def fold_summary(
        self, previous: str, said: Sequence[Utterance], *, max_words: int = 100, agent: str = ""
    ) -> str:
        """`previous` renewed by what was said since; in the first person of `agent`, if named."""

    def build_digest(self, kind: DigestKind, parts: Sequence[Passage]) -> DigestText:
        """A digest of exchanges (day, session, persona) or of digests (the global kinds)."""

    def summarise_texts(self, texts: Sequence[str], *, max_sentences: int = 3) -> str:
        """An extractive or written summary of facts' texts, in their language."""

    # Attention
    def extract_knowledge(self, pages: Sequence[Passage], *, subject: str) -> Knowledge:
        """What of the pages to keep at hand about the user and the agent."""

    def assess_traits(
        self, pages: Sequence[Passage], current: Sequence[TraitState], scales: Sequence[TraitScale]
    ) -> list[TraitAssessment]:
        """Assessments of registered traits (`scales`) that the pages are evidence for."""

    def choose_agent_step(self, context: AgentContext) -> AgentStep:
        """The agent's next tool call or text."""

    # Recall
    def route_question(self, question: str, window: Sequence[Utterance]) -> RoutedQuestion: ...

    def judge_entries(
        self, question: str, entries: Sequence[JudgeEntry], window: Sequence[Utterance] = ()
    ) -> Judgement: ...

    def order_entries(self, question: str, entries: Sequence[JudgeEntry]) -> Sequence[str]:
        """The handles of the entries, what answers the question best first, each once."""

    def extract_question_names(self, question: str) -> list[str]: ...

    def extract_question_terms(self, question: str) -> list[str]:
        """Keywords that notes which answer the question would be found by."""

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


@runtime_checkable
class QuestionEmbedder(Embedder, Protocol):
    """An embedder to which a question is something else than what answers it."""

    def embed_questions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """As `embed`, to be compared with its vectors of statements."""


def embed_questions(embedder: Embedder, texts: Sequence[str]) -> NDArray[np.float32]:
    """The vectors by which questions are looked for among what `embedder` made of statements."""
    if isinstance(embedder, QuestionEmbedder):
        return embedder.embed_questions(texts)
    return embedder.embed(texts)


class Reranker(Protocol):
    """Reads a question and each text together: slower than vectors, and closer."""

    name: str  # names the model in the ledger and in explanations
    # Whether a score is the logarithm of how much likelier the text answers than that nothing does,
    # and so means the same for every question; those of others only tell an order.
    tells_odds: bool

    def score_texts(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """One finite score a text, the higher the better. Raises EngineError, also where it takes
        too long."""
