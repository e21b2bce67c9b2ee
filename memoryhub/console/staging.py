"""The way of a question, stage by stage: what each brought, what it dropped, how long it took.
Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memoryhub.console.explained import WHY, Shown
from memoryhub.recall.results import Explanation, RouteTaken

# What is timed as a stage's own, and why it drops: whatever it is that is shown or dropped, some
# stage has done it.
_TIMED = {
    "Question": ("route", "embed"),
    "Channels": ("always", "candidates"),
    "Fusion": ("rank", "hydrate"),
    "Judge": ("judge",),
    "Packing": ("pack", "answer"),
}
_DROPS = {
    "Channels": ("out_of_date", "faded"),
    "Fusion": ("below_floor", "duplicate"),
    "Judge": ("irrelevant",),
    "Packing": ("over_limit", "no_room"),
}
_COMBINED = {
    "routed": "the question chose its channels",
    "fixed": "one channel after the other",
    "fused": "all channels ranked together",
}


@dataclass(frozen=True, slots=True)
class Brought:
    """A channel: how many candidates it had, and how many of what is shown it found."""

    channel: str
    candidates: int
    shown: int


@dataclass(frozen=True, slots=True)
class Stage:
    """`dropped`: why in words, and how many. `took`: milliseconds."""

    name: str
    says: str
    took: float
    brought: Sequence[Brought] = ()
    dropped: Sequence[tuple[str, int]] = ()


def stages_of(
    explain: Explanation,
    shown: Sequence[Shown],
    took_ms: Mapping[str, float],
    *,
    rounds: int = 1,
    tokens: int | None = None,
    budget: int | None = None,
) -> list[Stage]:
    """The five stages, in their order, each with its part of what was done."""
    says = {
        "Question": _question(explain.route),
        "Channels": "Looked for candidates.",
        "Fusion": f"Combined: {_COMBINED.get(explain.route.select, explain.route.select)}.",
        "Judge": _judge(explain.judged, rounds),
        "Packing": _packing(len(shown), tokens, budget),
    }
    why = Counter[str](each.why for each in explain.dropped)
    return [
        Stage(
            name=name,
            says=text,
            took=sum(took_ms.get(each, 0.0) for each in _TIMED[name]),
            brought=_brought(explain, shown) if name == "Channels" else (),
            dropped=[(WHY[each], why[each]) for each in _DROPS.get(name, ()) if why[each]],
        )
        for name, text in says.items()
    ]


def _question(route: RouteTaken) -> str:
    named = f"; it names {', '.join(route.named)}" if route.named else ""
    times = f"; of {', '.join(route.times)}" if route.times else ""
    return f"{route.because}{named}{times}"


def _judge(judged: str, rounds: int) -> str:
    if not judged:
        return "Nobody was asked: the floor alone decides."
    return f"{judged} ({rounds} rounds)" if rounds > 1 else judged


def _packing(shown: int, tokens: int | None, budget: int | None) -> str:
    if tokens is None:
        return f"{shown} shown."
    of = f" of {budget:,}" if budget else ""
    return f"{shown} shown, {tokens:,}{of} tokens."


def _brought(explain: Explanation, shown: Sequence[Shown]) -> list[Brought]:
    """In the order in which they were looked into."""
    found = Counter(name for row in shown for name in {place.channel for place in row.found})
    names = [*explain.channels, *(name for name in found if name not in explain.channels)]
    return [Brought(name, explain.channels.get(name, 0), found[name]) for name in names]
