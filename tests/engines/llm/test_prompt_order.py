"""Two calls of one space after each other begin alike, up to what was said since: endpoints keep
what they have read of a prompt up to the first difference."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from typing import Any

import pytest

from memoryhub.engines.llm.engine import LLMEngine
from memoryhub.engines.llm.packaged_prompts import Purpose
from memoryhub.engines.types import (
    AgentContext,
    AgentMessage,
    AgentTool,
    ClaimCandidate,
    ClaimComparison,
    Exchange,
    ExtractionOptions,
    HeldClaim,
    JudgeEntry,
    Neighbourhood,
    NoteState,
    Passage,
    Quote,
    TraitScale,
    TraitState,
    Utterance,
)
from tests.support.claims import make_changes_reply
from tests.support.hub import ScriptedModel

AT = datetime(2024, 5, 20, 15, tzinfo=UTC)
MAY = datetime(2024, 5, 1, tzinfo=UTC)
# What goes on is the model's affair: each reply says that nothing comes of it.
REPLIES: Mapping[str, Any] = {
    "construct": make_changes_reply(),
    "extract_facts": {"facts": [], "speech_acts": [], "related": []},
    "resolve": {"decisions": []},
    "fold_summary": {"text": "They talked."},
    "digest": {"text": "They talked."},
    "summarise": {"summary": "They talked."},
    "kb_extract": {"user": [], "agent": []},
    "calibrate": {"statements": []},
    "trait_update": {"traits": []},
    "agent_step": {"tool": "", "arguments": {}, "text": "Rest."},
    "link_evolve": {"links": [], "neighbours": []},
    "answer": {"answer": "", "used": [], "known": False},
    "route": {"query": "q"},
    "judge": {"relevant": [], "conflicts": [], "enough": False},
}
Call = Callable[[LLMEngine, int], object]


def find_common_beginning(first: str, second: str) -> str:
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False))
    return "".join(character for character, _ in alike)


def say(handle: str, text: str, minutes: int = 0) -> Utterance:
    return Utterance(handle, "Ana", "user", text, AT + timedelta(minutes=minutes))


def make_exchange(nth: int) -> Exchange:
    """The first of a session, or the second: what was said then is history by now, and other claims
    come near."""
    told = [say("h1", "My flat in Porto is damp."), say("h2", "I moved to Faro.", 5)]
    near = ("Ana lives in Porto.", "Ana has a cat.")[nth]
    return Exchange(
        [say("t1", ("I moved to Faro.", "The cat likes it here.")[nth], 5 + nth)],
        history=told[: nth + 1],
        participants=("Ana", "Hub"),
        subject="Ana",
        summary="Ana rents a flat.",
        held=[HeldClaim("m1", near, "Ana", "lives_in", MAY)],
        relations=("has_pet", "lives_in"),
    )


def make_pages(nth: int) -> list[Passage]:
    return [Passage(f"p{nth}", f"Ana told of day {nth}.", AT)]


def read(engine: LLMEngine, nth: int) -> None:
    engine.extract_memories([make_exchange(nth)], ExtractionOptions())


def read_apart(engine: LLMEngine, nth: int) -> None:
    engine.extract_memories([make_exchange(nth)], ExtractionOptions(combine=False, graph=False))


def compare(engine: LLMEngine, nth: int) -> None:
    new = ClaimCandidate("c1", f"Ana lives in town {nth}.", "Ana", "Ana", AT, offered=("m1",))
    held = HeldClaim("m1", f"Ana lives in Porto {nth}.", "Ana", "lives_in", MAY)
    engine.resolve_claims(ClaimComparison([new], [held], "Ana"))


def assess(engine: LLMEngine, nth: int) -> None:
    scales = [TraitScale("warmth", "warm", "cool"), TraitScale("order", "tidy", "loose")]
    held = [TraitState("warmth", "high", "She thanks everyone.")]
    engine.assess_traits(make_pages(nth), held, scales)


def take_step(engine: LLMEngine, nth: int) -> None:
    said = [AgentMessage("user", "Hello!"), AgentMessage("user", "Are you there?")][: nth + 1]
    tool = AgentTool("recall_search", "Looks it up.", {"type": "object", "properties": {}})
    engine.choose_agent_step(AgentContext(said, [tool]))


def link(engine: LLMEngine, nth: int) -> None:
    new, old = (NoteState(f"{name}{nth}", f"Note {nth}.", (), (), "", AT) for name in "no")
    engine.link_and_evolve([Neighbourhood(new, [old])])


def ask(engine: LLMEngine, nth: int) -> None:
    engine.answer_question(f"What of day {nth}?", [Quote(f"Day {nth}.", AT)], subject="Ana")


WINDOW = [say("h1", "My flat in Porto is damp.")]
# By purpose, two calls of it, and the part of the input in which they begin to differ.
CALLS: Mapping[Purpose, tuple[str, Call]] = {
    "construct": ("history", read),
    "extract_facts": ("history", read_apart),
    "resolve": ("kept", compare),
    "fold_summary": (
        "summary",
        lambda engine, nth: engine.fold_summary(f"Day {nth}.", [say("t1", f"{nth}")], agent="Hub"),
    ),
    "digest": ("parts", lambda engine, nth: engine.build_digest("day", make_pages(nth))),
    "summarise": ("facts", lambda engine, nth: engine.summarise_texts([f"Day {nth}."])),
    "kb_extract": (
        "pages",
        lambda engine, nth: engine.extract_knowledge(make_pages(nth), subject="Ana"),
    ),
    "calibrate": (
        "predicted",
        lambda engine, nth: engine.find_unpredicted(f"{nth}", make_pages(nth), subject="Ana"),
    ),
    "trait_update": ("pages", assess),
    "agent_step": ("messages", take_step),
    "link_evolve": ("notes", link),
    "answer": ("question", ask),
    "route": ("question", lambda engine, nth: engine.route_question(f"Day {nth}?", WINDOW)),
    "judge": (
        "question",
        lambda engine, nth: engine.judge_entries(
            f"Day {nth}?", [JudgeEntry("m1", f"Day {nth}.")], WINDOW
        ),
    ),
}


@pytest.mark.parametrize("purpose", CALLS)
def test_two_calls_of_a_space_begin_alike(purpose: Purpose) -> None:
    model = ScriptedModel(_standing=dict(REPLIES))
    differs_in, call = CALLS[purpose]
    for nth in range(2):
        call(LLMEngine(model), nth)
    first, second = (r for r in model.requests if r.purpose == purpose)
    assert first.messages[0] == second.messages[0]
    same = [part for part, value in first.data.items() if second.data[part] == value]
    assert list(first.data) == list(second.data)
    assert list(first.data)[: len(same) + 1] == [*same, differs_in]
    alike = find_common_beginning(first.messages[1]["content"], second.messages[1]["content"])
    assert f'"{differs_in}": ' in alike


def test_what_was_shown_of_the_history_is_read_once() -> None:
    model = ScriptedModel(_standing=dict(REPLIES))
    for nth in range(2):
        read(LLMEngine(model), nth)
    first, second = (request.messages[1]["content"] for request in model.requests)
    (shown,) = json.loads(first)["history"]
    assert json.dumps(shown) in find_common_beginning(first, second)
    assert list(json.loads(second))[-3:] == ["history", "known", "messages"]
