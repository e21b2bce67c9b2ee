"""A reply that was cut, or a context that is too small: every batch is asked in parts (E12)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from memoryhub.engines.llm.engine import LLMEngine
from memoryhub.engines.types import (
    ClaimCandidate,
    ClaimComparison,
    HeldClaim,
    NamePair,
    Passage,
    TraitScale,
)
from memoryhub.errors import EngineError
from tests.support.hub import START_TIME, ScriptedModel

CUT = EngineError("the reply was cut", code="reply_cut")
PAGES = [Passage(f"p{n}", f"Words of page {n}.", START_TIME) for n in range(1, 5)]


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel()


def list_handles(model: ScriptedModel, purpose: str, name: str) -> list[list[str]]:
    """What each question was about, the one that was cut included."""
    return [
        [each["handle"] for each in asked.data[name]]
        for asked in model.requests
        if asked.purpose == purpose
    ]


HALVED = [["p1", "p2", "p3", "p4"], ["p1", "p2"], ["p3", "p4"]]


def reply_for_pages(make: Callable[[str], Any]) -> Callable[[dict[str, Any]], list[Any]]:
    return lambda data: [make(page["handle"]) for page in data["pages"]]


def test_E12_knowledge_is_read_of_fewer_pages(model: ScriptedModel) -> None:
    items = reply_for_pages(lambda page: {"text": f"Of {page}.", "evidence": [page]})
    model.script("kb_extract", CUT, *[lambda data: {"user": items(data), "agent": []}] * 2)
    known = LLMEngine(model).extract_knowledge(PAGES, subject="Ana")
    assert [item.text for item in known.user] == [f"Of p{n}." for n in range(1, 5)]
    assert list_handles(model, "kb_extract", "pages") == HALVED


def test_E12_what_a_slow_model_has_no_time_for_is_asked_in_parts(model: ScriptedModel) -> None:
    slow = EngineError("no answer in time", code="timeout")
    items = reply_for_pages(lambda page: {"text": f"Of {page}.", "evidence": [page]})
    model.script("kb_extract", slow, *[lambda data: {"user": items(data), "agent": []}] * 2)
    known = LLMEngine(model).extract_knowledge(PAGES, subject="Ana")
    assert [item.text for item in known.user] == [f"Of p{n}." for n in range(1, 5)]
    assert list_handles(model, "kb_extract", "pages") == HALVED


def test_E12_a_model_that_never_answers_is_not_asked_for_ever(model: ScriptedModel) -> None:
    model.allow(kb_extract=EngineError("no answer in time", code="timeout"))
    with pytest.raises(EngineError, match="in time"):
        LLMEngine(model).extract_knowledge(PAGES, subject="Ana")
    assert list_handles(model, "kb_extract", "pages") == [
        [f"p{n}" for n in range(1, 5)],
        ["p1", "p2"],
        ["p1"],
    ]


def test_E12_traits_are_judged_by_fewer_pages_and_the_later_word_stands(
    model: ScriptedModel,
) -> None:
    def judged(level: str) -> Callable[[dict[str, Any]], Any]:
        made = reply_for_pages(
            lambda page: {"key": "music", "level": level, "why": "", "evidence": [page]}
        )
        return lambda data: {"traits": made(data)}

    model.script("trait_update", CUT, judged("low"), judged("high"))
    scales = [TraitScale("music", "likes music", "turns away from music")]
    (one,) = LLMEngine(model).assess_traits(PAGES, [], scales)
    assert one.level == "high"
    assert list_handles(model, "trait_update", "pages") == HALVED


def test_E12_of_many_traits_fewer_are_asked_for_before_pages_are_left_out(
    model: ScriptedModel,
) -> None:
    scales = [TraitScale(f"trait{n}", "much of it", "little of it") for n in range(40)]
    found = {"key": "trait39", "level": "high", "why": "", "evidence": ["p4"]}
    model.script("trait_update", CUT, {"traits": []}, {"traits": [found]})
    (one,) = LLMEngine(model).assess_traits(PAGES, [], scales)
    assert one.key == "trait39"
    calls = model.list_calls("trait_update")
    assert [len(call["keys"]) for call in calls] == [40, 20, 20]
    assert [len(call["pages"]) for call in calls] == [4, 4, 4]


def test_E12_a_chain_goes_on_where_its_first_half_ended(model: ScriptedModel) -> None:
    def told(word: str) -> Callable[[dict[str, Any]], Any]:
        made = reply_for_pages(lambda page: {"handle": page, "continues": True, "summary": word})
        return lambda data: {"pages": made(data)}

    model.script("chain", CUT, told("So far."), told("And then."))
    found = LLMEngine(model).chain_pages(PAGES, None, "Before.")
    assert found.continues == (True,) * 4
    assert found.summaries == ("So far.", "So far.", "And then.", "And then.")
    cut, first, second = model.list_calls("chain")
    assert (cut["summary"], first["summary"], second["summary"]) == (
        "Before.",
        "Before.",
        "So far.",
    )
    assert first["previous"] is None
    assert second["previous"]["handle"] == "p2"


def test_E12_themes_and_topics_are_read_of_fewer_pages(model: ScriptedModel) -> None:
    def themed(data: dict[str, Any]) -> Any:
        pages = [page["handle"] for page in data["pages"]]
        return {"themes": [{"name": "a", "keywords": ["a"], "text": "A.", "pages": pages}]}

    model.script("themes", CUT, themed, themed)
    found = LLMEngine(model).extract_themes(PAGES)
    assert [theme.pages for theme in found] == [("p1", "p2"), ("p3", "p4")]
    model.script(
        "segment_refresh",
        CUT,
        {"text": "First.", "keywords": ["one"]},
        {"text": "First and second.", "keywords": ["one", "two"]},
    )
    text = LLMEngine(model).refresh_segment("Held.", ["held"], PAGES)
    assert (text.text, text.keywords) == ("First and second.", ("one", "two"))
    asked = [call["summary"] for call in model.list_calls("segment_refresh")]
    assert asked == ["Held.", "Held.", "First."]


def make_comparison(count: int) -> ClaimComparison:
    """Candidates that may each be compared with a claim of their own and all before them."""
    held = [HeldClaim(f"m{n}", f"Held {n}.", "Ana", "", START_TIME) for n in range(1, count + 1)]
    candidates = [
        ClaimCandidate(
            f"c{n}",
            f"New {n}.",
            "Ana",
            "Ana",
            START_TIME,
            offered=(f"m{n}", *(f"c{before}" for before in range(1, n))),
        )
        for n in range(1, count + 1)
    ]
    return ClaimComparison(candidates, held, "Ana")


def test_E12_claims_are_compared_in_parts_with_those_before_them(model: ScriptedModel) -> None:
    def like_the_first(data: dict[str, Any]) -> Any:
        same = [{"candidate": new["handle"], "op": "same", "target": "c1"} for new in data["new"]]
        return {"decisions": same}

    model.script("resolve", CUT, {"decisions": []}, like_the_first)
    verdicts = LLMEngine(model).resolve_claims(make_comparison(4))
    assert [(v.candidate, v.op, v.target) for v in verdicts] == [
        ("c3", "same", "c1"),
        ("c4", "same", "c1"),
    ]
    assert list_handles(model, "resolve", "new") == [
        ["c1", "c2", "c3", "c4"],
        ["c1", "c2"],
        ["c3", "c4"],
    ]
    assert list_handles(model, "resolve", "kept")[1:] == [["m1", "m2"], ["m3", "m4", "c1", "c2"]]


def test_E12_names_are_compared_in_parts(model: ScriptedModel) -> None:
    pairs = [NamePair(f"p{n}", "Ann", f"Anna {n}") for n in range(1, 4)]

    def same(data: dict[str, Any]) -> Any:
        return {"decisions": [{"pair": each["handle"], "same": True} for each in data["pairs"]]}

    model.script("merge_check", CUT, same, same)
    assert LLMEngine(model).compare_names(pairs) == {"p1": True, "p2": True, "p3": True}


def test_a_single_page_that_is_too_much_has_failed(model: ScriptedModel) -> None:
    model.script("kb_extract", CUT)
    with pytest.raises(EngineError) as raised:
        LLMEngine(model).extract_knowledge(PAGES[:1], subject="Ana")
    assert raised.value.code == "reply_cut"
