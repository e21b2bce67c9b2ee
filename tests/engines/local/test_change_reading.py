"""What is told, read in one with what is held."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from memoryhub.engines.local.comparison import reading
from memoryhub.engines.local.comparison.pairs import ClaimView, describe_pairs
from memoryhub.engines.local.comparison.reading import describe_reading, get_change_reader

AT = datetime(2026, 3, 4, 18, tzinfo=UTC)
HELD = (
    "Dee's supervisor is Karl.",
    "Dee has a cat named Gravy.",
    "Dee pays 720 a month for the flat.",
    "Dee's sister drives a tram.",
    "Dee goes to Zumba on Tuesdays.",
)
ENDING = {
    "karl retired friday, cake and all. its Monique upstairs calling the shots now": 0,
    "they put the flat up to 780": 2,
    "knees said no to zumba, chair yoga on Wednesdays instead": 4,
}
# Near what is held, and no end of it.
BESIDE = (
    "Gravy slept on the keyboard all afternoon",
    "long day, the kettle broke",
    "my friend's cat died, what do i write to her",
)
HELD_ZH = ("周婷的房租是每月2300元。", "周婷的男朋友是程皓。", "周婷每周二晚上跳爵士舞。")


@pytest.mark.parametrize(("said", "place"), ENDING.items())
def test_what_ends_a_claim_is_told_from_it_without_its_words(said: str, place: int) -> None:
    scores = get_change_reader().score_texts(said, HELD)
    assert int(np.argmax(scores)) == place
    assert scores[place] > 0


@pytest.mark.parametrize("said", BESIDE)
def test_what_only_comes_near_ends_nothing(said: str) -> None:
    assert max(get_change_reader().score_texts(said, HELD)) < 0


def test_chinese_is_read_by_its_glosses() -> None:
    scores = get_change_reader().score_texts("房东涨价了，现在一个月2600", HELD_ZH)
    assert int(np.argmax(scores)) == 0


def view(text: str, said: str = "") -> ClaimView:
    return ClaimView(text, "Dee", AT, said=said)


def test_a_pair_is_described_by_what_was_read_and_by_its_lead() -> None:
    new, held = view("Dee's rent is 780.", "they put the flat up to 780"), [*map(view, HELD)]
    rows = describe_pairs(new, held, [0.5] * len(held), "Dee")
    told = describe_reading(new, held, rows, assisted=True)
    assert max(range(len(HELD)), key=lambda at: told[at]["read_said"]) == 2
    assert told[2]["read_said_lead"] > 0 > told[0]["read_said_lead"]
    # Among people nothing is read, nor of a claim whose words are not at hand.
    assert {row["read"] for row in describe_reading(new, held, rows, assisted=False)} == {-8.0}
    silent = describe_reading(view("Dee's rent is 780."), held, rows, assisted=True)
    assert {row["read_said"] for row in silent} == {-8.0}
    assert describe_reading(new, [], [], assisted=True) == []


def test_beside_many_only_what_resembles_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    class Counting:
        def score_texts(self, question: str, texts: list[str]) -> list[float]:
            asked.extend(texts)
            return [1.0] * len(texts)

    monkeypatch.setattr(reading, "get_change_reader", Counting)
    new = view("Dee's rent is 780.")
    held = [view(f"Dee has {n} hens.") for n in range(2, 40)] + [view("Dee's rent is 720.")]
    rows = describe_pairs(new, held, [None] * len(held), "Dee")
    describe_reading(new, held, rows, assisted=True)
    assert len(asked) == 4
    assert "Dee's rent is 720." in asked
