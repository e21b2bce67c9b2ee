"""Routing, judging, naming and grading: what a model may claim and what is dropped."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memoryhub.engines.llm.engine import LLMEngine
from memoryhub.engines.local.engine import LocalEngine
from memoryhub.engines.types import JudgeEntry, Utterance
from memoryhub.errors import EngineError
from tests.support.hub import ScriptedModel

AT = datetime(2026, 5, 12, tzinfo=UTC)
ENTRIES = [JudgeEntry("m1", "Ana lives in Porto", AT), JudgeEntry("m2", "Ana has a cat")]


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel()


@pytest.fixture
def engine(model: ScriptedModel) -> LLMEngine:
    return LLMEngine(model)


def test_a_route_is_coerced_and_capped(model: ScriptedModel, engine: LLMEngine) -> None:
    model.script("route", {"query": "Where is Ana?", "fine": "true", "event": None, "want": "1e9"})
    routed = engine.route_question("where is she?", [Utterance("w1", "Ana", "user", "Hello", AT)])
    assert (routed.query, routed.fine, routed.event, routed.want) == (
        "Where is Ana?",
        True,
        False,
        100,
    )
    (asked,) = model.list_calls("route")
    assert asked["question"] == "where is she?"
    assert asked["window"] == [{"speaker": "Ana", "at": "2026-05-12T00:00+00:00", "text": "Hello"}]


def test_a_route_without_a_rewrite_keeps_the_question(
    model: ScriptedModel, engine: LLMEngine
) -> None:
    model.script("route", {"query": " "})
    assert engine.route_question("where is she?", []).query == "where is she?"


def test_a_route_that_is_prose_twice_has_failed(model: ScriptedModel, engine: LLMEngine) -> None:
    model.script("route", "Let me think.", "I would look at facts.")
    with pytest.raises(EngineError):
        engine.route_question("where?", [])


def test_E13_a_judge_may_only_name_what_it_was_offered(
    model: ScriptedModel, engine: LLMEngine
) -> None:
    clashes = [{"handles": ["m1", "m9"], "why": "x"}, {"handles": ["m8"], "why": "y"}, "m1"]
    model.script("judge", {"relevant": ["m2", "m7", "m2"], "conflicts": clashes, "enough": "false"})
    judged = engine.judge_entries("where?", ENTRIES)
    assert judged.relevant == ("m2",)
    assert [conflict.handles for conflict in judged.conflicts] == [("m1",)]
    assert not judged.enough
    assert engine.rejected == 2
    assert model.list_calls("judge")[0]["entries"][0] == {
        "handle": "m1",
        "text": "Ana lives in Porto",
        "at": "2026-05-12",
    }


def test_nothing_to_judge_is_no_call(model: ScriptedModel, engine: LLMEngine) -> None:
    assert not engine.judge_entries("where?", []).enough
    assert model.requests == []


def test_names_that_the_question_does_not_hold_are_dropped(
    model: ScriptedModel, engine: LLMEngine
) -> None:
    model.script("query_entities", {"names": ["ana", "Porto", "Atlantis", "Ana"]})
    assert engine.extract_question_names("When was Ana in Porto?") == ["ana", "Porto", "Ana"]
    assert engine.rejected == 1


@pytest.mark.parametrize("correct", [True, False])
def test_a_grade_is_yes_or_no(model: ScriptedModel, engine: LLMEngine, correct: bool) -> None:
    model.script("grade", {"correct": correct, "why": "because"})
    assert engine.grade_answer("where?", "Porto", "in Porto") is correct


def test_an_order_names_each_entry_once_and_none_that_was_not_offered(
    model: ScriptedModel, engine: LLMEngine
) -> None:
    entries = [*ENTRIES, JudgeEntry("m3", "It rained")]
    model.script("rerank", {"order": ["m3", "m7", "m3"]})
    assert engine.order_entries("where?", entries) == ("m3", "m1", "m2")
    assert engine.rejected == 1


def test_the_local_engine_goes_by_words() -> None:
    local = LocalEngine()
    assert local.order_entries("Does Ana have a cat?", ENTRIES) == ("m1", "m2")
    judged = local.judge_entries("Does Ana have a cat?", [*ENTRIES, JudgeEntry("m3", "It rained")])
    assert (judged.relevant, judged.enough) == (("m1", "m2"), True)
    assert not local.judge_entries("Who swims?", ENTRIES).enough
    assert local.extract_question_names('Did Ana Maria see "the old mill" in Porto?') == [
        "Ana Maria",
        "Porto",
        "the old mill",
    ]
    assert local.grade_answer("where?", "Porto, Portugal", "She lives in Porto in Portugal.")
    assert not local.grade_answer("where?", "Porto", "She lives in Lisbon.")
    assert local.grade_answer("哪里？", "波尔图", "她住在波尔图。")
