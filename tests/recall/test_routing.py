from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryhub.engines.embedding.packaged import PackagedEmbedder
from memoryhub.engines.local.language import (
    can_embed_language,
    can_search_language,
    choose_floor,
)
from memoryhub.recall.question.parse import READ_WORDS, parse_question

NOW = datetime(2026, 6, 1, tzinfo=UTC)
PEOPLE = ["Ana", "Ben Miller", "assistant", "林"]


@pytest.mark.parametrize(
    ("question", "speaker"),
    [
        ("What does Ana play?", "Ana"),
        ("what is ana's job", "Ana"),
        ("whats anas job", "Ana"),
        ("Where did Ben go?", "Ben Miller"),
        ("Did Ben Miller call?", "Ben Miller"),
        ("林住在哪里？", "林"),
        ("Do Ana and Ben know each other?", ""),
        ("Which banana is best?", ""),
        ("What did the assistant say?", ""),
    ],
)
def test_the_one_person_named(question: str, speaker: str) -> None:
    assert parse_question(question, PEOPLE, NOW, 256).speaker == speaker


def test_names_are_a_signal_of_their_own() -> None:
    way = parse_question("What does Ana's friend Ben Miller play?", PEOPLE, NOW, 256)
    assert way.text_to_embed == "What does friend play?"
    assert way.words == "what does friend play?"


def test_a_name_typed_without_its_apostrophe_is_left_out_too() -> None:
    assert parse_question("whats anas job", PEOPLE, NOW, 256).text_to_embed == "whats job"


def test_a_chinese_given_name_is_the_person_s() -> None:
    assert parse_question("晓雨住在哪里？", ["林晓雨", "Hub"], NOW, 256).speaker == "林晓雨"


def test_a_name_alone_is_searched_for() -> None:
    assert parse_question("Ana", PEOPLE, NOW, 256).words == "ana"


def test_a_name_that_is_a_common_word_must_be_capitalised() -> None:
    assert parse_question("when will she come", ["Will"], NOW, 256).speaker == ""
    assert parse_question("When did Will come", ["Will"], NOW, 256).speaker == "Will"


@pytest.mark.parametrize("question", ["When did it start?", "On what day?", "她什么时候搬家？"])
def test_questions_for_a_time(question: str) -> None:
    assert parse_question(question, PEOPLE, NOW, 256).asks_when


def test_dates_and_predicates_are_read() -> None:
    way = parse_question("Where did she live in May 2024?", PEOPLE, NOW, 256)
    (span,) = way.spans
    assert (span.start.year, span.start.month) == (2024, 5)
    assert way.predicates == ("lives_in",)
    assert parse_question("她住在哪里？", PEOPLE, NOW, 256).predicates == ("lives_in",)


@given(st.text(min_size=1, max_size=2000).filter(str.strip))
def test_any_question_can_be_routed(question: str) -> None:
    way = parse_question(question, PEOPLE, NOW, 256)
    assert way.text_to_embed.strip()


def test_vectors_are_used_only_for_a_language_they_speak() -> None:
    assert can_embed_language("minilm-l6-v2-int8", "en")
    assert not can_embed_language("minilm-l6-v2-int8", "zh")
    assert can_embed_language("paraphrase-multilingual-MiniLM-L12-v2", "zh")
    assert can_embed_language("text-embedding-3-small", "zh")
    packaged = PackagedEmbedder.name
    assert can_search_language(packaged, "zh")
    assert not can_embed_language(packaged, "zh")
    assert not can_search_language("minilm-l6-v2-int8", "zh")
    assert choose_floor(packaged, "She moved to Porto.", 0.3) == 0.3
    assert choose_floor(packaged, "她搬到了厦门。", 0.3) == -1.0


def test_a_query_is_cut_before_anything_reads_it() -> None:
    way = parse_question("猫狗" * 500_000, PEOPLE, NOW, 256)
    assert way.truncated
    assert len(way.query) == READ_WORDS
    assert len(way.words.split()) <= READ_WORDS
    short = parse_question("  where is she?" + " " * READ_WORDS, PEOPLE, NOW, 256)
    assert (short.query, short.truncated) == ("where is she?", False)


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("where does she live", "Ana"),
        ("What did she tell me?", "Ana"),
        ("What is my address?", "Ana"),
        ("whats my number", "Ana"),
        ("what does the user do", "Ana"),
        ("我住哪", "Ana"),
        ("Where does my sister live?", ""),
        ("我妈妈住在哪", ""),
        ("她住在哪里？", "Ana"),
        ("Where does Ben live?", "Ben"),
        ("Where do we meet?", ""),
        ("what car do we have", "Ana"),
        ("他们住在哪里？", ""),
        ("Where is the theatre?", ""),
    ],
)
def test_whoever_is_not_named_is_whom_the_space_is_about(question: str, about: str) -> None:
    assert parse_question(question, ["Ana", "Ben"], NOW, 256, "Ana").speaker == about
