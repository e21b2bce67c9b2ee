"""Every switch of the memory model, with its bounds and what it does (spec §13, §16).

The defaults are those of the preset `balanced`. A policy is plain, frozen values: pure
functions take what they need of it as arguments.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=1, le=1000)]
Positive = Annotated[float, Field(gt=0)]
Channel = Literal[
    "stm", "window", "core", "shelf", "raw", "pages", "notes", "facts", "graph", "episodes"
]
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


class _Group(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Derive(_Group):
    """How turns are gathered before they are read."""

    debounce_seconds: Annotated[float, Field(ge=0, le=3600)] = 2.0
    batch_exchanges: Annotated[int, Field(ge=1, le=20)] = 5
    context_turns: Annotated[int, Field(ge=0, le=50)] = 10  # m of Mem0, W of AMA


class Stm(_Group):
    pages: Annotated[int, Field(ge=1, le=100)] = 7


class Facts(_Group):
    enabled: bool = True
    resolution: Literal["resolve", "append_only", "off"] = "resolve"
    # "promotion": only what promotion extracts becomes a fact (MemoryOS).
    source: Literal["dialogue", "promotion"] = "dialogue"
    contradiction: Literal["supersede", "retract", "keep_both"] = "supersede"
    store_after_contradiction: bool = True
    neighbours: Annotated[int, Field(ge=1, le=50)] = 10  # s of Mem0
    floor: Share = 0.25  # cosine below which a held fact is not offered
    most_per_exchange: Annotated[int, Field(ge=1, le=100)] = 20
    most_closures: Annotated[int, Field(ge=0, le=100)] = 5  # a turn


class Graph(_Group):
    enabled: bool = True
    merge_at: Share = 0.95
    ask_at: Share = 0.70


class Notes(_Group):
    enabled: bool = True
    anchor: Literal["page", "fact"] = "page"
    k: Annotated[int, Field(ge=1, le=50)] = 10
    floor: Share = 0.25
    links: bool = True
    evolution: bool = True
    evolve_agent_notes: bool = False
    least_words: Annotated[int, Field(ge=0, le=100)] = 4


class Segments(_Group):
    enabled: bool = True
    theta: Annotated[float, Field(ge=-1, le=2)] = 0.6
    max: Annotated[int, Field(ge=1, le=100_000)] = 200


class Heat(_Group):
    alpha: Annotated[float, Field(ge=0)] = 1.0
    beta: Annotated[float, Field(ge=0)] = 1.0
    gamma: Annotated[float, Field(ge=0)] = 1.0
    mu_seconds: Positive = 1e7
    tau: Annotated[float, Field(ge=0)] = 5.0
    reset: Literal["both", "pages"] = "both"


class Chain(_Group):
    enabled: bool = True


class Traits(_Group):
    enabled: bool = True
    extras: bool = False
    sensitive: bool = False


class Shelf(_Group):
    enabled: bool = True
    cap: Annotated[int, Field(ge=1, le=10_000)] = 100


class Portrait(_Group):
    enabled: bool = False


class Episodes(_Group):
    topic: bool = True
    session: bool = False
    day: bool = True
    global_: bool = Field(default=False, alias="global")
    rolling: bool = True
    window_turns: Annotated[int, Field(ge=2, le=200)] = 10
    rolling_exchanges: Annotated[int, Field(ge=1, le=1000)] = 10
    rolling_tokens: Annotated[int, Field(ge=100, le=100_000)] = 2000
    rolling_words: Annotated[int, Field(ge=20, le=2000)] = 100

    model_config = ConfigDict(populate_by_name=True)


class Forget(_Group):
    mode: Literal["off", "rank", "sample", "threshold"] = "rank"
    unit_days: Positive = 1.0
    r_min: Share = 0.05
    weight: Share = 0.1  # w of rank: score x R^w
    keep_evidence: bool = True


class Retention(_Group):
    max_age_days: Annotated[float | None, Field(gt=0)] = None


class Window(_Group):
    mode: Literal["off", "on_demand", "on"] = "on_demand"
    context_limit: Annotated[int, Field(ge=200, le=2_000_000)] = 8000
    warn: Share = 0.7
    flush: Share = 1.0
    evict: Share = 0.5
    keep_last: Annotated[int, Field(ge=0, le=100)] = 3


class Core(_Group):
    tools: bool = True
    char_limit: Annotated[int, Field(ge=100, le=200_000)] = 2000
    max_steps: Annotated[int, Field(ge=1, le=200)] = 50


class Route(_Group):
    mode: Literal["off", "rules", "llm"] = "rules"


class Judge(_Group):
    mode: Literal["off", "rules", "llm"] = "rules"
    density: Share = 0.3


class Recall(_Group):
    """K_m, K_max, K_r of AMA; the channels and how they are combined."""

    k_min: Annotated[int, Field(ge=1, le=100)] = 5
    k_max: Annotated[int, Field(ge=1, le=100)] = 30
    rounds: Annotated[int, Field(ge=1, le=5)] = 2
    channels: tuple[Channel, ...] = CHANNELS
    select: Literal["routed", "fixed", "fused"] = "fused"
    segments: Count = 5  # top-m of MemoryOS
    pages: Count = 10  # top-k of MemoryOS
    link_budget: Annotated[int, Field(ge=0, le=100)] = 10
    linked_weight: Share = 0.9
    hop_weight: Share = 0.9
    triplet_floor: Share = 0.30
    # Every turn in order, in place of a search (the baseline full_context).
    whole: bool = False


class Llm(_Group):
    combine_calls: bool = True
    budget_tokens_per_day: Annotated[int | None, Field(ge=0)] = None
    budget_money_per_day: Annotated[float | None, Field(ge=0)] = None
    # By purpose; what is not named here is asked of the hub's model.
    model: dict[str, str] = Field(default_factory=dict)


class Erase(_Group):
    mode: Literal["strict", "lenient"] = "strict"
    on_request: Literal["auto", "confirm"] = "auto"


class Policy(BaseModel):
    """All switches of a space, after preset, tenant and space have had their say."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    preset: str = "balanced"
    derive: Derive = Derive()
    stm: Stm = Stm()
    facts: Facts = Facts()
    graph: Graph = Graph()
    notes: Notes = Notes()
    segments: Segments = Segments()
    heat: Heat = Heat()
    chain: Chain = Chain()
    traits: Traits = Traits()
    shelf: Shelf = Shelf()
    portrait: Portrait = Portrait()
    episodes: Episodes = Episodes()
    forget: Forget = Forget()
    retention: Retention = Retention()
    window: Window = Window()
    core: Core = Core()
    route: Route = Route()
    judge: Judge = Judge()
    recall: Recall = Recall()
    llm: Llm = Llm()
    erase: Erase = Erase()

    @model_validator(mode="after")
    def _ordered(self) -> Self:
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
