"""Chinese in traditional characters: read by rules written in simplified ones, and told
in the writer's own."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memoryhub.engines.local.answers.asked import asks_for_past, is_about_subject
from memoryhub.engines.local.chinese.traditional import fold_traditional, list_written_forms
from memoryhub.engines.local.claims.predicates import find_question_predicates
from memoryhub.engines.types import (
    ClaimCandidate,
    ClaimComparison,
    Exchange,
    FactCandidate,
    HeldClaim,
    Quote,
    Utterance,
)
from tests.engines.local.dialogue import AT, ENGINE

NAME = "陳怡婷"


def read(text: str) -> tuple[FactCandidate, ...]:
    said = [Utterance("m0", NAME, "user", text, AT)]
    return ENGINE.extract_memories([Exchange(said, [], (NAME,), NAME)])[0].facts


def test_each_character_stands_for_one() -> None:
    text = "我每週三晚上去上日文課，老師是田中小姐，歲數不大。"
    folded = fold_traditional(text)
    assert folded == "我每周三晚上去上日文课，老师是田中小姐，岁数不大。"
    assert folded.translate(list_written_forms([text])) == text
    assert fold_traditional("他甚至于不来了") == "他甚至于不来了"


def test_what_is_written_in_both_ways_is_left() -> None:
    assert ord("后") not in list_written_forms(["皇后後來走了"])


@pytest.mark.parametrize(
    ("text", "told", "key"),
    [
        ("我住在台北大安區", "陳怡婷住在台北大安區。", "lives_in"),
        ("在一家設計公司當插畫設計師", "陳怡婷在一家設計公司當插畫設計師。", "works_as"),
        ("我離職了", "陳怡婷離職了。", "works_as"),
        ("我29歲", "陳怡婷29歲。", "age"),
        ("吃素，已經五年了", "陳怡婷吃素，已經五年了。", ""),
        ("我男朋友叫阿凱", "阿凱是陳怡婷的男朋友。", ""),
        ("手機號碼換了，新的是0987-654-321", "陳怡婷手機號碼現在是0987-654-321。", ""),
    ],
)
def test_it_is_read_and_told_as_it_was_written(text: str, told: str, key: str) -> None:
    assert (told, key) in [(fact.text, fact.predicate_key) for fact in read(text)]
    assert {fact.speaker for fact in read(text)} == {NAME}


def test_a_name_is_written_as_it_is_known() -> None:
    said = [Utterance("m0", NAME, "user", "阿凱跳槽去台積電了", AT)]
    (fact, *_) = ENGINE.extract_memories([Exchange(said, [], (NAME,), NAME, (), ("阿凱",))])[
        0
    ].facts
    assert fact.owner == "阿凱"


def test_a_split_ends_a_couple() -> None:
    held = HeldClaim("m1", "阿凱是陳怡婷的男朋友。", "阿凱", "", AT, said_at=AT)
    new = ClaimCandidate(
        "c1",
        "陳怡婷跟阿凱分手了。",
        NAME,
        NAME,
        AT + timedelta(days=60),
        offered=("m1",),
        polarity="ended",
        said="跟阿凱分手了",
        assisted=True,
    )
    found = ENGINE.resolve_claims(ClaimComparison([new], [held], NAME, (NAME,)))
    assert [(verdict.op, verdict.target, verdict.sure) for verdict in found] == [
        ("deny", "m1", True)
    ]


def test_a_question_is_understood_and_answered_in_what_was_told() -> None:
    assert is_about_subject("現在住哪裡")
    assert asks_for_past("我還養貓嗎")
    assert find_question_predicates("我幾歲") == ("age",)
    home = Quote(
        "陳怡婷住在台北大安區。", AT, owner=NAME, predicate="lives_in", object="台北大安區"
    )
    answer = ENGINE.answer_question("我住哪裡", [home], subject=NAME)
    assert answer.text == "“陳怡婷住在台北大安區。”"
    start, end = answer.supports[0].span or (0, 0)
    assert home.text[start:end] == "陳怡婷住在台北大安區。"


def test_who_was_ones_friend_before_is_told_by_name() -> None:
    told = Quote("阿凱是陳怡婷的男朋友。", AT, owner="阿凱", until=AT + timedelta(days=60))
    assert ENGINE.answer_question("我前男友叫什麼", [told], subject=NAME).text == "阿凱"
