"""The way of a question, stage by stage: what each brought, what it dropped, how long it took.
Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from memoryhub.console.frame.text.wording import join_list, join_phrases
from memoryhub.console.pages.search.explanation import ShownResult, describe_drop_reason
from memoryhub.recall.render.results import Explanation, RouteTaken

# What is timed as a stage's own, and why it drops: whatever it is that is shown or dropped, some
# stage has done it.
_STAGE_TIMINGS = {
    _("Question"): ("route", "embed"),
    _("Channels"): ("always", "candidates"),
    _("Fusion"): ("rank", "hydrate", "rerank"),
    _("Judge"): ("judge",),
    _("Packing"): ("pack", "answer"),
}
_STAGE_DROPS = {
    "Channels": ("out_of_date", "faded"),
    "Fusion": ("below_floor", "duplicate"),
    "Judge": ("irrelevant",),
    "Packing": ("over_limit", "no_room"),
}
_COMBINATION_WORDS = {
    "routed": _("the question chose its channels"),
    "fixed": _("one channel after the other"),
    "fused": _("all channels ranked together"),
}
# What a route says of itself, in parts: see `recall.render.explanation`.
ROUTE_REASONS = (
    _("the question asks for exact words"),
    _("the question asks for an overview or a story"),
    _("the question asks for a fact"),
    _("so only one store is searched"),
    _("the policy's channels are searched in parallel"),
    _("all channels are ranked together"),
)


@dataclass(frozen=True, slots=True)
class ChannelYield:
    """A channel: how many candidates it had, and how many of what is shown it found."""

    channel: str
    candidates: int
    shown_count: int


@dataclass(frozen=True, slots=True)
class SearchStage:
    """`dropped`: why in words, and how many. `took`: milliseconds."""

    name: str
    says: str
    took: float
    channel_yields: Sequence[ChannelYield] = ()
    dropped: Sequence[tuple[str, int]] = ()


def build_search_stages(
    explain: Explanation,
    shown: Sequence[ShownResult],
    took_ms: Mapping[str, float],
    *,
    rounds: int = 1,
    tokens: int | None = None,
    budget: int | None = None,
) -> list[SearchStage]:
    """The five stages, in their order, each with its part of what was done."""
    select = explain.route.select
    combined = gettext(_COMBINATION_WORDS[select]) if select in _COMBINATION_WORDS else select
    says = {
        "Question": _describe_question(explain.route),
        "Channels": gettext("Searched for candidates."),
        "Fusion": gettext("Combined: %(how)s.") % {"how": combined},
        "Judge": _describe_judge(explain.judged, rounds),
        "Packing": _describe_packing(len(shown), tokens, budget),
    }
    why = Counter[str](each.why for each in explain.dropped)
    return [
        SearchStage(
            name=gettext(name),
            says=text,
            took=sum(took_ms.get(each, 0.0) for each in _STAGE_TIMINGS[name]),
            channel_yields=_list_channel_yields(explain, shown) if name == "Channels" else (),
            dropped=[
                (describe_drop_reason(each), why[each])
                for each in _STAGE_DROPS.get(name, ())
                if why[each]
            ],
        )
        for name, text in says.items()
    ]


def describe_route_reason(said: str) -> str:
    """What a route says of itself, in the reader's language."""
    return join_phrases(map(gettext, said.split("; ")))


def _describe_question(route: RouteTaken) -> str:
    parts = [describe_route_reason(route.because)]
    if route.named:
        parts.append(gettext("it mentions %(names)s") % {"names": join_list(route.named)})
    if route.times:
        parts.append(gettext("of %(times)s") % {"times": join_list(route.times)})
    return join_phrases(parts)


def _describe_judge(judged: str, rounds: int) -> str:
    if not judged:
        return gettext("No judge: only the relevance floor decides.")
    if rounds == 1:
        return judged
    return gettext("%(word)s (%(rounds)s rounds)") % {"word": judged, "rounds": rounds}


def _describe_packing(shown: int, tokens: int | None, budget: int | None) -> str:
    if tokens is None:
        return gettext("%(shown)s shown.") % {"shown": shown}
    said = {"shown": shown, "tokens": f"{tokens:,}", "budget": f"{budget or 0:,}"}
    if budget:
        return gettext("%(shown)s shown, %(tokens)s of %(budget)s tokens.") % said
    return gettext("%(shown)s shown, %(tokens)s tokens.") % said


def _list_channel_yields(explain: Explanation, shown: Sequence[ShownResult]) -> list[ChannelYield]:
    """In the order in which they were looked into. Who reranks finds nothing."""
    places = ({place.channel for place in row.found} - {"rerank"} for row in shown)
    found = Counter(name for each in places for name in each)
    names = [*explain.channels, *(name for name in found if name not in explain.channels)]
    return [ChannelYield(name, explain.channels.get(name, 0), found[name]) for name in names]
