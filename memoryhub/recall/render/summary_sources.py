"""What a summary says that is cited: of all the turns that it sums up, those that told it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from memoryhub.dialogues.messages import normalise_text
from memoryhub.engines.local.summarise import count_terms
from memoryhub.engines.local.topics.segments import split_sentences
from memoryhub.engines.types import GroundedAnswer
from memoryhub.recall.render.hydrate import build_spoken_source, load_source_links
from memoryhub.recall.render.results import MemoryItem, TurnSource
from memoryhub.recall.render.told_turns import load_told_turns
from notes.models import Derivation, Fact

# As many of one summary are told, as of any other memory.
MOST_SOURCES = 100
_LEAST_TERMS = 2


def cite_summaries(answer: GroundedAnswer, items: Sequence[MemoryItem]) -> list[MemoryItem]:
    """The items of an answer, the summaries that it rests on with the turns that told what is
    quoted of them; with all that they sum up where that can't be told, as of a model's words.
    Call inside the tenant's scope."""
    quoted: dict[int, list[str]] = defaultdict(list)
    supported = {support.quote for support in answer.supports}
    for support in answer.supports:
        text = items[support.quote].text
        quoted[support.quote].append(text if support.span is None else text[slice(*support.span)])
    for index in answer.used:
        if index not in supported:
            quoted[index].append(items[index].text)
    cited = {at: words for at, words in quoted.items() if items[at].kind == "episode"}
    turns = _load_turns_of_summaries(items[at].id for at in cited)
    made = list(items)
    for at, words in cited.items():
        made[at] = replace(items[at], sources=_find_tellers(turns[items[at].id], "\n".join(words)))
    return made


def _load_turns_of_summaries(ids: Iterable[UUID]) -> Mapping[UUID, list[TurnSource]]:
    rows = Derivation.objects.filter(
        child_type="episode", child_id__in=list(ids), role=Derivation.Role.SUPPORT
    )
    links = list(rows.order_by("turn__seq").values_list("child_id", "turn_id").distinct())
    spoken = load_told_turns({turn for _, turn in links}).shown
    found: dict[UUID, list[TurnSource]] = defaultdict(list)
    for child, turn in links:
        if turn in spoken:
            found[child].append(build_spoken_source(spoken[turn]))
    return found


def _find_tellers(turns: Sequence[TurnSource], quote: str) -> list[TurnSource]:
    """Those with a sentence that stands in the quote, themselves or by a fact read from them."""
    said = normalise_text(quote)
    telling = {turn.turn_id for turn in turns if _repeats(said, turn.text)}
    telling |= _find_turns_of_told_facts([turn.turn_id for turn in turns], said)
    return [turn for turn in turns if turn.turn_id in telling or not telling][:MOST_SOURCES]


def _repeats(said: str, text: str) -> bool:
    """A sentence of so few words may stand anywhere."""
    told = [each for each in split_sentences(text) if len(count_terms(each)) >= _LEAST_TERMS]
    return any(normalise_text(each) in said for each in told) or said in normalise_text(text)


def _find_turns_of_told_facts(turns: Sequence[UUID], said: str) -> set[UUID]:
    rows = Derivation.objects.filter(
        child_type="fact", turn__in=turns, role=Derivation.Role.SUPPORT
    )
    facts = Fact.objects.filter(id__in=rows.values("child_id"), retired_at=None)
    told = [fact for fact, text in facts.values_list("id", "text") if normalise_text(text) in said]
    return {turn for of_fact in load_source_links(told).values() for turn in of_fact}
