"""Of a long sentence that tells many things the clauses that answer are quoted."""

from __future__ import annotations

import pytest

from memoryhub.engines.local.answers.evidence import EvidenceSentence
from memoryhub.engines.local.answers.long_quotes import shorten_to_clauses

RAMBLING = (
    "Right so I'm in the ticket office at the tram depot four days, and the other three I'm looking"
    " after my mum, she's got bad lungs and lives downstairs, and then there's the kids, Kit's nine"
    " and does judo on Tuesdays, and my own back is playing up so I'm seeing an osteopath"
)
LONG_CHINESE = (
    "我在城西的电车公司卖票，一周上四天班，剩下三天照顾我妈，她肺不好，住楼下，大的孩子九岁，星期二学柔道，"
    "小的还在上幼儿园，我自己腰也不好，最近在看推拿，老公在外地跑车，一个月回来一趟，家里全靠我一个人撑着"
)


def make(text: str, start: int = 10) -> EvidenceSentence:
    return EvidenceSentence(0, start, start + len(text), text, "", 1.0, 1.0)


@pytest.mark.parametrize(
    ("question", "told", "left_out"),
    [
        ("where do i work", "ticket office at the tram depot", "osteopath"),
        ("what does my kid do on tuesdays", "judo on Tuesdays", "ticket office"),
        ("whats wrong with my mum", "my mum, she's got bad lungs", "osteopath"),
    ],
)
def test_what_answers_is_quoted_and_the_rest_is_left_out(
    question: str, told: str, left_out: str
) -> None:
    found = shorten_to_clauses(question, make(RAMBLING), "en")
    assert told in found.text
    assert left_out not in found.text
    assert "…" in found.text


def test_where_it_stands_is_told_without_the_marks() -> None:
    found = shorten_to_clauses("where do i work", make(RAMBLING), "en")
    quoted = f"{' ' * 10}{RAMBLING}"[found.start : found.end]
    assert "ticket office at the tram depot" in quoted
    assert "osteopath" not in quoted


def test_so_it_is_in_chinese() -> None:
    found = shorten_to_clauses("我在哪上班", make(LONG_CHINESE), "zh")
    assert "电车公司卖票" in found.text
    assert "柔道" not in found.text


@pytest.mark.parametrize(
    "text",
    ["I'm in the ticket office, four days a week, and I like it.", "a" * 300, "word " * 60],
)
def test_what_is_short_or_one_clause_is_quoted_whole(text: str) -> None:
    sentence = make(text)
    assert shorten_to_clauses("where do i work", sentence, "en") == sentence
