"""Every switch of the memory model, with its bounds and what it does (spec §13, §16).

The defaults are those of the preset `balanced`. A policy is plain, frozen values: pure
functions take what they need of it as arguments.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Share = Annotated[float, Field(ge=0, le=1)]
PositiveCount = Annotated[int, Field(ge=1, le=1000)]
Positive = Annotated[float, Field(gt=0)]
Channel = Literal[
    "stm", "window", "core", "shelf", "raw", "pages", "notes", "facts", "graph", "episodes"
]
SelectMode = Literal["routed", "fixed", "fused"]
RerankMode = Literal["off", "packaged", "model", "llm"]
NoteVector = Literal["beside", "whole"]
CHANNELS: tuple[Channel, ...] = (
    "stm",
    "core",
    "shelf",
    "raw",
    "pages",
    "notes",
    "facts",
    "graph",
    "episodes",
)


class _PolicyGroup(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True
    )


class DerivePolicy(_PolicyGroup):
    """How turns are gathered before they are read."""

    debounce_seconds: Annotated[float, Field(ge=0, le=3600)] = 60.0
    """Seconds of silence after which a model reads what was said. The local engine does not
    wait, and neither does a caller who waits for the outcome."""
    batch_exchanges: Annotated[int, Field(ge=1, le=20)] = 5
    """Exchanges of one session that a model reads in one question; it does not wait for more."""
    context_turns: Annotated[int, Field(ge=0, le=50)] = 10
    """Turns before an exchange that are shown with it, to tell who and what is meant."""


class ShortTermPolicy(_PolicyGroup):
    pages: Annotated[int, Field(ge=1, le=100)] = 7
    """Exchanges that stay in short-term memory before they are placed in a topic."""


class FactsPolicy(_PolicyGroup):
    enabled: bool = True
    """Write down what people say as facts."""
    resolution: Literal["resolve", "append_only", "off"] = "resolve"
    """What becomes of a new fact: compared with those held (resolve), kept beside them
    (append_only), or kept as it is without a look for the same words (off)."""
    source: Literal["dialogue", "promotion"] = "dialogue"
    """Where facts come from: the dialogue, or only what promotion finds in warm topics."""
    contradiction: Literal["supersede", "retract", "keep_both"] = "supersede"
    """What a fact that contradicts one does to it: ends it (supersede), takes it back
    (retract), or nothing (keep_both)."""
    store_after_contradiction: bool = True
    """Keep the new fact after it ended an old one. Off is Mem0 to the letter."""
    patterns: bool = False
    """Take facts apart by five sentence patterns and note the earlier messages they bear on, as
    AMA, where facts are read by a call of their own."""
    neighbours: Annotated[int, Field(ge=1, le=50)] = 10
    """Existing facts that a new one is compared with in a call of its own (calls not combined, or
    a second opinion). No effect on the one call that reads and judges, the default, nor on rules:
    they have limits of their own."""
    floor: Share = 0.25
    """Similarity (cosine) below which an existing fact is not compared in a call of its own. No
    effect on the one call that reads and judges, the default, nor on rules."""
    most_per_exchange: Annotated[int, Field(ge=1, le=100)] = 20
    """Facts of one exchange that are kept, most important first."""
    most_closures: Annotated[int, Field(ge=0, le=100)] = 5
    """Facts that one turn may end at most."""
    one_value: Annotated[str, Field(max_length=4000)] = ""
    """Relations of which a person has one value at a time, by their keys with commas between, as
    drives, phone_number: a new value replaces the old one. Of others a model's word or the table of
    known relations decides."""
    many_values: Annotated[str, Field(max_length=4000)] = ""
    """Relations of which a person has several values side by side, in the same form: a new value
    stands beside the others."""
    second_opinion: bool = False
    """Ask a model once more about each fact, next to similar ones, even though it already judged
    while reading."""
    review_from: Literal["off", "high", "medium"] = "off"
    """Decisions that wait in the inbox instead of being carried out: those of high risk (a fact
    is taken back, or ended though it was said three times), those of medium risk too (any is
    ended or replaced), or none (off)."""

    def get_cardinality(self, key: str) -> Literal["single", "multi"] | None:
        """What a person has set for a relation; None: nothing."""
        if key in split_keys(self.one_value):
            return "single"
        return "multi" if key in split_keys(self.many_values) else None


def split_keys(listed: str) -> set[str]:
    """Keys of relations as a switch holds them, with commas between."""
    return {key.strip() for key in listed.split(",") if key.strip()}


class GraphPolicy(_PolicyGroup):
    enabled: bool = True
    """Keep the people, places and things that facts speak of, and how they are related."""
    merge_at: Share = 0.95
    """Similarity of two names above which they count as the same."""
    ask_at: Share = 0.70
    """Similarity of two names above which a model is asked whether they are the same."""


class NotesPolicy(_PolicyGroup):
    enabled: bool = True
    """Write a note about each exchange. What agents archive themselves is kept either way."""
    anchor: Literal["page", "fact"] = "page"
    """What a note is about: an exchange (page) or a fact."""
    vector: NoteVector = "beside"
    """What a note is embedded as: its text with its keywords, tags and context beside it, a vector
    each (beside), or one of all together, as in A-Mem (whole). Notes made before keep theirs until
    they change or are embedded again."""
    k: Annotated[int, Field(ge=1, le=50)] = 10
    """Notes that a new one is compared with."""
    floor: Share = 0.25
    """Similarity (cosine) below which a note is not compared."""
    links: bool = True
    """Link notes that belong together."""
    evolution: bool = True
    """Let new notes change the keywords, tags and context of old ones."""
    evolve_agent_notes: bool = False
    """Include notes that agents wrote themselves."""
    least_words: Annotated[int, Field(ge=0, le=100)] = 4
    """Words from which an exchange gets a note."""


class SegmentsPolicy(_PolicyGroup):
    enabled: bool = True
    """Gather exchanges by topic."""
    theta: Annotated[float, Field(ge=-1, le=2)] = 0.6
    """Similarity above which an exchange joins a topic (cosine plus shared keywords)."""
    compare: Literal["theme", "page"] = "theme"
    """What is compared with a topic: what a model says that exchanges are about (theme), or each
    exchange's own words, as in MemoryOS (page)."""
    max: Annotated[int, Field(ge=1, le=100_000)] = 200
    """Topics kept warm; the coldest beyond are left out of the topic search."""


class HeatPolicy(_PolicyGroup):
    alpha: Annotated[float, Field(ge=0)] = 1.0
    """Weight of visits in a topic's heat."""
    beta: Annotated[float, Field(ge=0)] = 1.0
    """Weight of its exchanges."""
    gamma: Annotated[float, Field(ge=0)] = 1.0
    """Weight of how recently it was visited."""
    mu_seconds: Positive = 1e7
    """Seconds after which recency has fallen to 37 %."""
    tau: Annotated[float, Field(ge=0)] = 5.0
    """Heat over which a topic is read for knowledge and traits."""
    reset: Literal["both", "pages"] = "both"
    """What promotion takes back: visits and exchanges (both), or exchanges only (pages)."""


class ChainPolicy(_PolicyGroup):
    enabled: bool = True
    """Tell whether an exchange continues the one before, and summarise such chains."""


class TraitsPolicy(_PolicyGroup):
    enabled: bool = True
    """Assess personality traits from warm topics."""
    extras: bool = False
    """Include the twelve traits beyond the ninety registered ones."""
    sensitive: bool = False
    """Include sensitive traits, such as health, religion and politics. Ask for consent first."""


class ShelfPolicy(_PolicyGroup):
    enabled: bool = True
    """Keep what promotion finds on a shelf that is always considered."""
    cap: Annotated[int, Field(ge=1, le=10_000)] = 100
    """Facts on the shelf of one owner; the oldest beyond leave it and stay searchable."""


class PortraitPolicy(_PolicyGroup):
    enabled: bool = False
    """Write a portrait of the person from traits and profile, for the agent to read."""


class EpisodesPolicy(_PolicyGroup):
    topic: bool = True
    """Write an episode when the subject changes."""
    session: bool = False
    """Summarise each session."""
    day: bool = True
    """Summarise each day."""
    global_: bool = Field(default=False, alias="global")
    """Summarise all days together."""
    rolling: bool = True
    """Keep a summary of everything so far."""
    window_turns: Annotated[int, Field(ge=2, le=200)] = 10
    """Turns after which an episode is closed even without a new subject."""
    rolling_exchanges: Annotated[int, Field(ge=1, le=1000)] = 10
    """Exchanges after which the summary so far is renewed."""
    rolling_tokens: Annotated[int, Field(ge=100, le=100_000)] = 2000
    """Tokens after which it is renewed, if sooner."""
    rolling_words: Annotated[int, Field(ge=20, le=2000)] = 100
    """Maximum number of words."""

    model_config = ConfigDict(populate_by_name=True)


class ForgetPolicy(_PolicyGroup):
    mode: Literal["off", "rank", "sample", "threshold"] = "rank"
    """How memories fade: not at all (off), by ranking lower (rank), by chance along the curve
    (sample), or below a limit (threshold)."""
    unit_days: Positive = 1.0
    """Days that one unit of strength lasts."""
    r_min: Share = 0.05
    """Retention below which memories are hidden, in mode threshold."""
    weight: Share = 0.1
    """How much fading weighs in the ranking, in mode rank."""
    keep_evidence: bool = True
    """Never hide what alone supports a fact that holds."""


Days = Annotated[int | None, Field(ge=1, le=36_500)]


class RetentionPolicy(_PolicyGroup):
    max_age_days: Annotated[float | None, Field(gt=0)] = None
    """Days after which memories are permanently erased. Empty: never."""
    turn_days: Days = None
    """Days after which messages are permanently erased, with everything based only on them.
    Empty: never."""
    recall_days: Days = None
    """Days that recalls are kept. Empty: the hub's limit."""
    request_days: Days = None
    """Days that requests are kept. Empty: the hub's limit."""
    delivery_days: Days = None
    """Days that webhook events and deliveries are kept. Empty: the hub's limit."""
    call_days: Days = None
    """Days that model calls are kept, with their text and cost. Empty: always."""
    job_days: Days = None
    """Days that finished and cancelled jobs are kept, with their decisions. Empty: always."""
    answer_days: Annotated[int | None, Field(ge=1, le=36_500)] = 90
    """Days during which a repeated write with the same Idempotency-Key gets the same response.
    Empty: always."""
    import_days: Days = None
    """Days that import reports are kept. Empty: always."""
    audit_days: Annotated[int | None, Field(ge=365, le=36_500)] = None
    """Days that the list of changes is kept. Empty: always."""
    receipt_days: Annotated[int | None, Field(ge=1, le=1_095)] = None
    """Days that erasure receipts are kept. Empty: three years."""


class WindowPolicy(_PolicyGroup):
    mode: Literal["off", "on_demand", "on"] = "on_demand"
    """Which sessions have a window: none (off), those that an agent opens (on_demand), or all in
    which something is said (on)."""
    context_limit: Annotated[int, Field(ge=200, le=2_000_000)] = 8000
    """Tokens the window may hold."""
    warn: Share = 0.7
    """Share of it from which the agent is told to save what matters."""
    flush: Share = 1.0
    """Share of it from which the oldest messages are summarised and leave."""
    evict: Share = 0.5
    """Share of the messages' tokens that leave then."""
    keep_last: Annotated[int, Field(ge=0, le=100)] = 3
    """Messages that never leave."""


class CorePolicy(_PolicyGroup):
    tools: bool = True
    """Let agents edit their memory with tools."""
    char_limit: Annotated[int, Field(ge=100, le=200_000)] = 2000
    """Characters of a new core block."""
    max_steps: Annotated[int, Field(ge=1, le=200)] = 50
    """Steps an agent may take in one turn."""


class RoutePolicy(_PolicyGroup):
    mode: Literal["off", "rules", "llm"] = "rules"
    """Who reads a question before it is searched for: nobody (off), rules, or a model (llm)."""
    keywords: bool = False
    """Have the engine name the keywords of a question, and look for both together, as A-Mem."""
    entities: bool = False
    """Have the engine name whom and what a question speaks of, for the graph, as Mem0g; in mode llm
    it is asked in any case."""


class JudgePolicy(_PolicyGroup):
    mode: Literal["off", "rules", "llm"] = "rules"
    """Who decides whether what was found is enough: nobody (off), rules, or a model (llm)."""
    density: Share = 0.3
    """Share of what was found that must be relevant."""
    trust: Literal["confirm", "guarded", "trusted"] = "guarded"
    """How far a model's word on what a new fact does to those held is carried out: after a person
    confirmed it (confirm), where the words it quotes and the times bear it out (guarded), or also
    of another speaker and where both may be so (trusted). What is not carried out waits in the
    inbox."""


class RecallPolicy(_PolicyGroup):
    """K_m, K_max, K_r of AMA; the channels and how they are combined."""

    k_min: Annotated[int, Field(ge=1, le=100)] = 5
    """Minimum number of memories to search for."""
    k_max: Annotated[int, Field(ge=1, le=100)] = 30
    """Maximum number of memories to search for."""
    rounds: Annotated[int, Field(ge=1, le=5)] = 2
    """Rounds of searching, the first included."""
    channels: tuple[Channel, ...] = CHANNELS
    """Channels in which memories are searched."""
    words: bool = True
    """Look for the question's words beside its meaning. Without it by meaning alone, as in
    MemoryBank's and Mem0's papers; where there is no vector words are looked for in any case."""
    select: SelectMode = "fused"
    """How channels are combined: one by the question (routed), one after the other (fixed), or
    ranked together (fused)."""
    segments: PositiveCount = 5
    """Topics that are searched."""
    pages: PositiveCount = 10
    """Exchanges taken from them."""
    link_budget: Annotated[int, Field(ge=0, le=100)] = 10
    """Linked notes that are added."""
    linked_weight: Share = 0.9
    """Weight of a linked note."""
    hop_weight: Share = 0.9
    """Weight of a relation, per step away from the entity asked for."""
    triplet_floor: Share = 0.30
    """Similarity (cosine) below which a relation does not count as found."""
    whole: bool = False
    """Give every turn in order, in place of a search."""
    rerank: RerankMode = "packaged"
    """Who reads the best of what was found once more beside the question and puts it in order:
    nobody (off), the reader that comes with the hub, in talk with an assistant (packaged), the
    reranking model that the hub has set (model), or a language model (llm)."""
    rerank_most: Annotated[int, Field(ge=2, le=100)] = 10
    """Number of memories to rerank."""
    rerank_weight: Share = 0.7
    """Weight of this order against the original one; 1: only this order counts."""


class LlmPolicy(_PolicyGroup):
    combine_calls: bool = True
    """Ask for facts, entities, relations and notes of an exchange in one question."""
    budget_tokens_per_day: Annotated[int | None, Field(ge=0)] = None
    """Tokens the tenant may use per day (UTC). Empty: no limit."""
    budget_money_per_day: Annotated[float | None, Field(ge=0)] = None
    """Cost the tenant may incur per day (UTC), by the price list. Empty: no limit."""
    model: dict[str, str] = Field(default_factory=dict)
    """Models by purpose, where another than the hub's is to be asked."""
    prompt: dict[str, str] = Field(default_factory=dict)
    """Operators' own prompts by purpose, where one is to be used in place of the packaged one."""


class ErasePolicy(_PolicyGroup):
    mode: Literal["strict", "lenient"] = "strict"
    """What an erasure does to memories that also rest on something else: derive them again
    (strict), or drop the one support (lenient)."""
    on_request: Literal["auto", "confirm"] = "auto"
    """What happens when the subject asks for something to be forgotten: it is done if the
    match is plain (auto), or waits for a person (confirm)."""
    undo_hours: Annotated[int, Field(ge=0, le=720)] = 24
    """Hours during which an automatic erasure can be undone. Until then the content is sealed and
    no search finds it. 0: erased immediately."""
    hold: bool = False
    """Legal hold: nothing is erased and nothing expires, whoever asks, until it is switched off."""


class Policy(BaseModel):
    """All switches of a space, after preset, tenant and space have had their say."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    preset: str = "balanced"
    derive: DerivePolicy = DerivePolicy()
    stm: ShortTermPolicy = ShortTermPolicy()
    facts: FactsPolicy = FactsPolicy()
    graph: GraphPolicy = GraphPolicy()
    notes: NotesPolicy = NotesPolicy()
    segments: SegmentsPolicy = SegmentsPolicy()
    heat: HeatPolicy = HeatPolicy()
    chain: ChainPolicy = ChainPolicy()
    traits: TraitsPolicy = TraitsPolicy()
    shelf: ShelfPolicy = ShelfPolicy()
    portrait: PortraitPolicy = PortraitPolicy()
    episodes: EpisodesPolicy = EpisodesPolicy()
    forget: ForgetPolicy = ForgetPolicy()
    retention: RetentionPolicy = RetentionPolicy()
    window: WindowPolicy = WindowPolicy()
    core: CorePolicy = CorePolicy()
    route: RoutePolicy = RoutePolicy()
    judge: JudgePolicy = JudgePolicy()
    recall: RecallPolicy = RecallPolicy()
    llm: LlmPolicy = LlmPolicy()
    erase: ErasePolicy = ErasePolicy()

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        """Switches that bound each other, the one at fault named first."""
        pairs = (
            ("recall.k_min", self.recall.k_min, "recall.k_max", self.recall.k_max),
            ("window.warn", self.window.warn, "window.flush", self.window.flush),
            ("graph.ask_at", self.graph.ask_at, "graph.merge_at", self.graph.merge_at),
        )
        for low, least, high, most in pairs:
            if least > most:
                raise ValueError(f"{low} ({least:g}) is more than {high} ({most:g})")
        return self
