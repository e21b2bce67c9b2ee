"""Spans in the words that were said, English and Chinese, without a model."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from memoryhub.engines.local.engine import LocalEngine
from memoryhub.engines.types import Passage, Utterance

AT = datetime(2026, 5, 12, 9, tzinfo=UTC)
ENGINE = LocalEngine()


def make_passage(text: str, minutes: int = 0, **more: tuple[str, ...]) -> Passage:
    return Passage("p", text, AT + timedelta(minutes=minutes), **more)


GARDEN = [
    make_passage("Ana: Hi! How are you?\nHub: Hello!"),
    make_passage(
        "Ana: I planted a white fig tree in the garden yesterday.\nHub: Nice, how tall is it?"
    ),
    make_passage("Ana: It is two metres tall and already carries fruit."),
]


def test_an_episode_tells_statements_under_their_speakers_and_no_small_talk() -> None:
    written = ENGINE.summarise_episode(GARDEN)
    assert "Ana: I planted a white fig tree in the garden yesterday." in written.text
    assert "two metres" in written.text
    assert "How are you" not in written.text
    assert 0 < len(written.title) <= 200


def test_a_picture_s_caption_is_no_event() -> None:
    shown = make_passage(
        "Ana: We signed the divorce papers on Friday. [shares a photo of a brown dog on a beach]"
    )
    written = ENGINE.summarise_episode([shown])
    assert "divorce" in written.text
    assert "photo" not in written.text


def test_claims_read_before_are_told_rather_than_sentences() -> None:
    told = make_passage("Ana: I did it!", claims=("Ana ran a marathon.",), keywords=("marathon",))
    written = ENGINE.summarise_episode([told])
    assert (written.title, written.text) == ("marathon", "Ana ran a marathon.")


def test_chinese_is_told_in_chinese() -> None:
    written = ENGINE.summarise_episode(
        [make_passage("小李: 你好！我昨天在花园里种了一棵无花果树。")]
    )
    assert "种了一棵无花果树" in written.text
    assert "你好" not in written.text


def test_an_episode_of_small_talk_is_its_beginning() -> None:
    assert ENGINE.summarise_episode(GARDEN[:1]).text == "Ana: Hi! How are you?"


def test_the_gate_opens_at_a_turning_phrase_a_silence_and_a_request() -> None:
    assert (
        ENGINE.detect_episode_end(GARDEN, make_passage("Ana: It is a white one.", 1)).open is False
    )
    turned = ENGINE.detect_episode_end(GARDEN, make_passage("Ana: By the way, I bought a car.", 1))
    assert (turned.open, turned.cause) == (True, "shift")
    assert ENGINE.detect_episode_end(GARDEN, make_passage("Ana: It grows.", 45)).cause == "shift"
    assert (
        ENGINE.detect_episode_end(GARDEN, make_passage("小李: 对了，我买了一辆车。", 1)).cause
        == "shift"
    )
    assert (
        ENGINE.detect_episode_end(GARDEN, make_passage("Ana: Can you sum this up?", 1)).cause
        == "request"
    )
    assert ENGINE.detect_episode_end([], make_passage("Ana: Hi there!")).open is False


def make_utterances(*texts: str) -> list[Utterance]:
    return [Utterance(f"t{n}", "Ana", "user", text, AT) for n, text in enumerate(texts)]


def test_the_summary_so_far_keeps_within_its_words_and_what_is_newest() -> None:
    text = ""
    for number in range(12):
        told = f"I visited my friend number {number} in the town of Porto today."
        text = ENGINE.fold_summary(text, make_utterances(told), max_words=40)
    assert len(text.split()) <= 40
    assert "number 11" in text
    assert "number 1 " not in text


def test_a_fold_of_nothing_new_keeps_the_old_summary() -> None:
    assert (
        ENGINE.fold_summary("Ana: I have a fig tree.", make_utterances("Ok!"))
        == "Ana: I have a fig tree."
    )


def test_a_day_has_points_and_all_days_a_line_each_in_order() -> None:
    day = ENGINE.build_digest("day", GARDEN)
    assert any("fig tree" in point for point in day.points)
    days = [
        make_passage("Ana planted a fig tree."),
        make_passage("The fig has fruit.", minutes=60 * 48),
    ]
    everything = ENGINE.build_digest("global", days)
    assert everything.text == "2026-05-12: Ana planted a fig tree.\n2026-05-14: The fig has fruit."


def test_a_persona_shows_likes_and_mood_and_is_empty_without_any() -> None:
    shown = ENGINE.build_digest(
        "persona", [make_passage("Ana: I love old trees. I am so happy today!")]
    )
    assert shown.traits == ("Ana: I love old trees.",)
    assert shown.mood == "cheerful"
    assert (
        ENGINE.build_digest("persona", [make_passage("小李: 我很喜欢爬山，今天真开心。")]).mood
        == "愉快"
    )
    assert ENGINE.build_digest("persona", [make_passage("Ana: The train was late.")]).text == ""
