from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryhub.engines.local.answers.asked import (
    AskedIdentity,
    asks_for_overview,
    find_asked_identity,
    find_asked_tense,
    find_value_kind,
    has_value,
    is_about_subject,
)
from memoryhub.engines.local.answers.decide import get_shipped_decider, weigh_sentences
from memoryhub.engines.local.answers.evidence import parse_question, rank_sentences
from memoryhub.engines.types import Quote


@pytest.mark.parametrize(
    ("question", "tense"),
    [
        ("where do i bank", "now"),
        ("how old is the cat", "now"),
        ("which dentist did she see before", "former"),
        ("what was my old locker code", "former"),
        ("他以前养什么鸟", "former"),
        ("他养什么鸟", "now"),
        ("what shift was i on when we first spoke", "former"),
        ("which shop was I at before coffee", "former"),
        ("what should I take before bed", "now"),
        ("换车前每个月租金多少", "former"),
        ("在那边的时候工资多少", "former"),
        ("最早大夫给开的是什么药", "former"),
        ("睡前吃什么药", "now"),
        ("上班怎么过去", "now"),
        ("宽带啥时候到期", "now"),
        ("What did Ana bake?", ""),
    ],
)
def test_a_question_is_after_what_holds_or_what_held_before(question: str, tense: str) -> None:
    assert find_asked_tense(question) == tense


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        ("how many hens do we have", "nine hens", "the hens are fine"),
        ("whats my email", "it's kit@barn.example", "I wrote a mail"),
        ("what is her phone number", "it's 0912 555-0199 now", "she slept through two of them"),
        ("我的电话是多少", "换成13911112222了", "我有两个手机"),
        ("what day is choir", "choir is on Mondays", "choir is fun"),
        ("我电话多少", "改成139了", "电话坏了"),
    ],
)
def test_a_value_is_of_the_kind_that_is_asked_for(question: str, right: str, wrong: str) -> None:
    kind = find_value_kind(question)
    assert has_value(right, kind)
    assert not has_value(wrong, kind)


@pytest.mark.parametrize("question", ["my aunt's phone", "what is our dog called", "我弟弟几岁"])
def test_whoever_belongs_to_somebody_is_not_the_subject(question: str) -> None:
    assert not is_about_subject(question)


@pytest.mark.parametrize(
    ("question", "overview"),
    [
        ("what do you know about me", True),
        ("What do you remember about Ana?", True),
        ("who am i", True),
        ("你都知道我什么", True),
        ("关于我你记得什么", True),
        ("what do you do on mondays", False),
        ("where do i live", False),
        ("我住在哪里", False),
    ],
)
def test_all_that_is_known_is_asked_for(question: str, overview: bool) -> None:
    assert asks_for_overview(question) is overview


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_piece_has_a_chance(question: str, text: str) -> None:
    quotes = [Quote(text, None, speaker="Kit", relevance=0.5)]
    asked = parse_question(question, quotes, "Kit")
    sentences = rank_sentences(asked, quotes)
    for chance, piece in weigh_sentences(asked, quotes, sentences, get_shipped_decider()):
        assert 0 <= chance <= 1
        assert text[piece.start : piece.end] == piece.text


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("who's Theo again?", AskedIdentity(name="Theo")),
        ("谁是苗苗", AskedIdentity(name="苗苗")),
        ("Who is my best friend?", AskedIdentity(role="friend")),
        ("what is her husband's name", AskedIdentity(role="husband")),
        ("who is coming to dinner", None),
        ("who was at the party", None),
        ("who am i", None),
        ("who is " + "a " * 50_000, None),
    ],
)
def test_a_question_after_somebody(question: str, asked: AskedIdentity | None) -> None:
    assert find_asked_identity(question) == asked
