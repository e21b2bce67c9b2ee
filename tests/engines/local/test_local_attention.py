"""What the local engine keeps at hand and calls an interest."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from memoryhub.engines.local.engine import LocalEngine
from memoryhub.engines.local.personas.traits import _INTEREST_WORDS, find_interests
from memoryhub.engines.types import AgentContext, AgentMessage, AgentTool, Passage
from personas.dimensions import DIMENSIONS, list_allowed_keys

AT = datetime(2024, 5, 10, 15, tzinfo=UTC)
SCALES = [DIMENSIONS[key] for key in list_allowed_keys(extras=False, sensitive=False)]


def make_passages(*texts: str) -> list[Passage]:
    return [Passage(f"p{n}", text, AT) for n, text in enumerate(texts, start=1)]


def test_what_is_stated_of_oneself_is_kept_with_its_page() -> None:
    said = make_passages("Nora: I live in Ghent.\nHub: Lovely.", "Nora: Is it raining?\nHub: No.")
    known = LocalEngine().extract_knowledge(said, subject="Nora")
    assert [(item.text, item.evidence) for item in known.user] == [
        ("Nora lives in Ghent.", ("p1",))
    ]


def test_claims_read_from_a_page_are_taken_over_in_their_words() -> None:
    claims = ("Nora lives in Ghent.", "Omar has a dog.")
    page = Passage("p1", "Nora: Hm.", AT, claims=claims)
    known = LocalEngine().extract_knowledge([page], subject="Nora")
    assert [item.text for item in known.user] == ["Nora lives in Ghent."]


def test_chinese_statements_are_kept_in_chinese() -> None:
    known = LocalEngine().extract_knowledge(make_passages("林晓雨: 我住在上海。"), subject="林晓雨")
    assert [item.text for item in known.user if "上海" in item.text]


def test_an_interest_is_what_comes_up_again_and_again() -> None:
    said = make_passages(
        "Nora: I went hiking again.\nHub: Where?",
        "Nora: The trail was long.\nHub: How was the concert?",
        "Nora: I slept.\nHub: Good.",
    )
    found = LocalEngine().assess_traits(said, [], SCALES)
    assert [(t.key, t.level, t.evidence) for t in found] == [("outdoors", "medium", ("p1", "p2"))]


def test_what_is_disliked_is_low_and_much_is_high() -> None:
    said = make_passages(*["Nora: I practised the guitar."] * 4, "Nora: I hate football.")
    found = {t.key: t for t in LocalEngine().assess_traits(said, [], SCALES)}
    assert found["music"].level == "high"
    assert (found["sports"].level, found["sports"].evidence) == ("low", ("p5",))


def test_interests_are_found_in_chinese() -> None:
    said = make_passages("林晓雨: 我周末去爬山了。", "林晓雨: 又去徒步了，很开心。")
    assert [t.key for t in LocalEngine().assess_traits(said, [], SCALES)] == ["outdoors"]


def test_only_what_is_switched_on_is_assessed() -> None:
    said = make_passages(*["Nora: I saw the doctor."] * 4)
    assert LocalEngine().assess_traits(said, [], SCALES) == []
    every = list(DIMENSIONS.values())
    assert [t.key for t in LocalEngine().assess_traits(said, [], every)] == ["health"]


def test_interests_are_registered_traits() -> None:
    assert _INTEREST_WORDS.keys() <= DIMENSIONS.keys()
    assert find_interests("Nothing at all.") == set()


def test_the_local_agent_searches_and_says_what_it_found() -> None:
    offered = [AgentTool("recall_search", "", {}), AgentTool("send_message", "", {})]
    engine = LocalEngine()
    first = engine.choose_agent_step(
        AgentContext([AgentMessage("user", "Where is Nora?")], offered)
    )
    assert (first.tool, json.loads(first.arguments)["query"]) == ("recall_search", "Where is Nora?")
    found = AgentMessage("tool", "In Ghent.", "call-1", "recall_search")
    second = engine.choose_agent_step(AgentContext([found], offered))
    assert (second.tool, json.loads(second.arguments)) == ("send_message", {"text": "In Ghent."})
