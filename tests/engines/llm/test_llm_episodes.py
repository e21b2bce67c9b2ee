"""What the model writes of spans is checked, cut, and read in parts when it is too much."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from memoryhub.engines.llm.client.chat import Completion
from memoryhub.engines.llm.engine import LLMEngine
from memoryhub.engines.llm.purposes.episodes import clip_text
from memoryhub.engines.types import Passage, Utterance
from memoryhub.errors import EngineError
from tests.support.hub import ScriptedModel

AT = datetime(2026, 5, 12, 9, tzinfo=UTC)


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel()


@pytest.fixture
def engine(model: ScriptedModel) -> LLMEngine:
    return LLMEngine(model)


def make_passages(*texts: str) -> list[Passage]:
    return [Passage(f"p{n}", text, AT) for n, text in enumerate(texts, start=1)]


def test_E13_an_unknown_cause_is_counted_and_a_closed_gate_has_none(
    model: ScriptedModel, engine: LLMEngine
) -> None:
    model.script("episode_gate", {"open": "true", "cause": "mood"}, {"open": False})
    window, (newest,) = make_passages("Ana: A fig."), make_passages("Ana: A car.")
    assert engine.detect_episode_end(window, newest).cause == "shift"
    assert engine.rejected == 1
    assert engine.detect_episode_end(window, newest).cause == "none"


def test_a_page_ends_where_it_may_and_a_pause_that_was_not_offered_counts_as_none(
    model: ScriptedModel, engine: LLMEngine
) -> None:
    model.script("paginate", {"after": "p2"}, {"after": "p1"})
    passages = make_passages("One.", "Two.", "Three.")
    assert engine.find_pause(passages, 2) == 2
    assert model.list_calls("paginate")[0]["pauses"] == ["p2", "p3"]
    assert engine.find_pause(passages, 2) == 3
    assert engine.rejected == 1


def test_what_a_prediction_missed_rests_on_passages_that_were_shown(
    model: ScriptedModel, engine: LLMEngine
) -> None:
    model.script("predict", {"text": "Ana spoke of a boat."})
    assert engine.predict_episode("The boat", ["Ana owns a boat."]) == "Ana spoke of a boat."
    assert model.list_calls("predict") == [{"title": "The boat", "known": ["Ana owns a boat."]}]
    red = {"text": "Ana's boat is red.", "evidence": ["p1", "p7"]}
    model.script("calibrate", {"statements": [red, {"text": "It sank.", "evidence": ["p9"]}]})
    span = make_passages("Ana: My boat is red.")
    (missed,) = engine.find_unpredicted("Ana spoke of a boat.", span, subject="Ana")
    assert (missed.text, missed.evidence) == ("Ana's boat is red.", ("p1",))
    assert engine.rejected == 1


def test_E12_an_empty_text_is_a_failure_and_no_episode(
    model: ScriptedModel, engine: LLMEngine
) -> None:
    model.script("episode_write", {"title": "Fig", "text": "  "}, {"title": "Fig", "text": ""})
    with pytest.raises(EngineError):
        engine.summarise_episode(make_passages("Ana: A fig."))


def test_E4_too_long_a_span_is_written_in_parts_and_then_as_one(
    model: ScriptedModel, engine: LLMEngine
) -> None:
    model.allow(episode_write=lambda data: {"title": "T", "text": f"{len(data['exchanges'])}."})
    long = "word " * 4000
    assert engine.summarise_episode(make_passages(long, long, "end")).text == "2."
    sizes = [len(data["exchanges"]) for data in model.list_calls("episode_write")]
    assert sizes == [1, 2, 2]


def test_a_reply_cut_off_is_asked_for_in_halves(model: ScriptedModel, engine: LLMEngine) -> None:
    model.script("digest", EngineError("cut", code="reply_cut"))
    model.allow(digest=lambda data: {"text": data["parts"][0]["text"]})
    assert engine.build_digest("day", make_passages("one", "two")).text == "one"
    assert [len(data["parts"]) for data in model.list_calls("digest")] == [2, 1, 1, 2]


def test_a_fold_that_is_too_much_goes_on_from_its_first_half(
    model: ScriptedModel, engine: LLMEngine
) -> None:
    model.script("fold_summary", EngineError("cut", code="reply_cut"))
    model.allow(fold_summary=lambda data: {"text": f"{data['summary']}+{len(data['messages'])}"})
    said = [Utterance(f"t{n}", "Ana", "user", "A fig.", AT) for n in range(4)]
    assert engine.fold_summary("S", said) == "S+2+2"


def test_lists_are_coerced_and_capped(model: ScriptedModel, engine: LLMEngine) -> None:
    reply: dict[str, Any] = {"text": "A day.", "points": "one point", "traits": ["x"] * 40}
    model.script("digest", reply)
    digest = engine.build_digest("persona", make_passages("Ana: A fig."))
    assert digest.points == ("one point",)
    assert len(digest.traits) == 12


def test_texts_are_cut_at_a_sentence() -> None:
    assert clip_text("One two. Three four. Five six.", 5) == "One two. Three four."
    assert clip_text("一二三。四五六。七八九。", 10) == "一二三。四五六。"
    assert clip_text("short", 5) == "short"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Ana runs. She is glad. She is glad. She is glad. She is", "Ana runs. She is glad."),
        ("她住在上海。她养猫。她养猫。", "她住在上海。她养猫。"),
        ("Ana runs. So does Bo.\n\nAna swims", "Ana runs. So does Bo.\n\nAna swims"),
        ("", ""),
    ],
)
def test_a_model_that_begins_again_says_it_once(text: str, kept: str) -> None:
    assert clip_text(text) == kept


def test_a_summary_may_be_no_longer_than_so_many_words_take(
    model: ScriptedModel, engine: LLMEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, Any]] = []
    complete = model.complete

    def watch(messages: Any, name: str, schema: dict[str, Any]) -> Completion:
        asked.append(schema["properties"]["text"])
        return complete(messages, name, schema)

    monkeypatch.setattr(model, "complete", watch)
    model.allow(fold_summary={"text": "Ana runs."})
    said = [Utterance("t1", "Ana", "user", "I run.", AT)]
    for words in (100, 5000):
        engine.fold_summary("", said, max_words=words)
    assert [field.get("maxLength") for field in asked] == [1200, None]
