"""What is told, read in one with what is held."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from memoryhub.engines.local.comparison import messages, reading
from memoryhub.engines.local.comparison.messages import (
    MessageDecider,
    end_by_messages,
    may_be_asked,
)
from memoryhub.engines.local.comparison.pairs import ClaimView, describe_pairs
from memoryhub.engines.local.comparison.reading import (
    describe_reading,
    get_change_reader,
    write_message,
)
from memoryhub.engines.local.engine import LocalEngine
from memoryhub.engines.local.trees import BoostedTrees
from memoryhub.engines.types import ClaimCandidate, ClaimComparison, HeldClaim, ToldMessage
from memoryhub.inference.selection import get_configured_embedder

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


def judge_message(
    text: str, held: Sequence[str], *claims: str, asked: str = "", owner: str = "Dee"
) -> dict[str, tuple[str, bool]]:
    """What a message does to claims held two months before: by each, the verdict, and whether it is
    sure. `claims` were read of it."""
    old = [HeldClaim(f"m{n}", each, owner, "", AT, said_at=AT) for n, each in enumerate(held)]
    later, model = AT + timedelta(days=60), get_configured_embedder()
    of_old, of_new = (model.embed(list(texts)) for texts in (held, claims))
    new = [
        ClaimCandidate(
            f"c{n}",
            each,
            owner,
            owner,
            later,
            offered=tuple(claim.handle for claim in old),
            similar=tuple(float(of_new[n] @ vector) for vector in of_old),
            said=text,
            assisted=True,
            message=ToldMessage(text, asked),
        )
        for n, each in enumerate(claims)
    ]
    found = LocalEngine().resolve_claims(ClaimComparison(new, old, owner, (owner,), model.name))
    return {held[int(each.target[1:])]: (each.op, each.sure) for each in found}


def test_a_message_in_whole_ends_what_none_of_its_claims_ends_by_itself() -> None:
    text = "well the old landlord sold up, so the new one is a Mrs Vance. letter for her please"
    held = ("Dee's landlord is Mr Osei.", *HELD)
    assert judge_message(text, held, "Dee needs a letter.") == {held[0]: ("deny", True)}


def test_what_takes_the_place_of_it_is_told_to() -> None:
    text = "the old landlord sold up, the new one is a Mrs Vance"
    held = ("Dee's landlord is Mr Osei.", *HELD)
    found = judge_message(text, held, "Dee needs a letter.", "The new landlord is Mrs Vance.")
    assert found == {held[0]: ("contradict", True)}


def test_a_message_is_read_with_the_question_that_it_answers() -> None:
    answer = ToldMessage("no, Monique now", "Is Karl still the one you report to?")
    reader, held = get_change_reader(), ["Dee's boss is Karl."]
    (alone,) = reader.score_texts(answer.text, held)
    (whole,) = reader.score_texts(write_message(answer, "Dee"), held)
    assert whole > 0 > alone
    said = ("370, let forty heifers go to a bloke in Gore", "Are you still milking 410?")
    herd = ["Dee milks 410 cows."]
    found = judge_message(said[0], herd, f"Dee: {said[0]}.", asked=said[1])
    assert found == {herd[0]: ("contradict", True)}


@pytest.mark.parametrize(
    ("said", "asked", "held"),
    [
        ("Sundays and Mondays", "Still closed Mondays?", "The café is closed Mondays."),
        ("yes, ext 4410", "", "Dee's new extension is 4410."),
        ("she goes to the nursery down the road now", "", "Dee's niece is two years old."),
        ("long day, the kettle broke", "", "Dee has a cat named Gravy."),
    ],
)
def test_what_is_told_with_more_or_said_again_is_not_ended(
    said: str, asked: str, held: str
) -> None:
    found = judge_message(said, [held], f"Dee: {said}.", asked=asked)
    assert not any(sure for _, sure in found.values())


def test_of_what_tells_several_things_a_person_is_asked() -> None:
    told = "the night shifts are over, it is days only for me from now on"
    held = ("Dee is a nurse, on the heart ward, with eight night shifts a month.",)
    (asked,) = judge_message(told, held, "Dee works days only.").values()
    assert asked == ("contradict", False)


def test_nothing_planned_ends_what_is_so() -> None:
    new = ClaimCandidate(
        "c1",
        "Dee will get Monique for a supervisor.",
        "Dee",
        "Dee",
        AT + timedelta(days=60),
        offered=("m0",),
        polarity="planned",
        assisted=True,
        message=ToldMessage("karl retired friday. its Monique upstairs calling the shots now"),
    )
    old = [HeldClaim("m0", HELD[0], "Dee", "", AT, said_at=AT)]
    assert end_by_messages(ClaimComparison([new], old, "Dee", ("Dee",)), [], {}) == []


SURE_OF_ALL = MessageDecider(
    features=("odds",),
    ends=BoostedTrees(start=0.0, trees=(((0, -2.0, 1, 2), (-3.0,), (3.0,)),)),
    ask=0.5,
    scores={},
)


def test_a_person_is_asked_one_thing_of_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "get_message_deciders", lambda: {"en": SURE_OF_ALL})
    text = "Gravy and Biscuit both went to my sister's for the winter"
    held = ("Dee has a cat named Gravy.", "Dee has a cat named Biscuit.")
    found = judge_message(text, held, "Gravy and Biscuit went to Dee's sister's.")
    assert [sure for _, sure in found.values()] == [False]


def test_nothing_is_asked_beside_what_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "get_message_deciders", lambda: {"en": SURE_OF_ALL})
    text = "well the old landlord sold up, so the new one is a Mrs Vance. letter for her please"
    held = ("Dee's landlord is Mr Osei.", *HELD)
    assert judge_message(text, held, "Dee needs a letter.") == {held[0]: ("deny", True)}


def test_below_the_bar_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    unsure = SURE_OF_ALL.model_copy(update={"ask": 1.0})
    monkeypatch.setattr(messages, "get_message_deciders", lambda: {"en": unsure})
    found = judge_message("on days now, no more nights", ["Dee works nights."], "Dee is on days.")
    assert not any(not sure for _, sure in found.values())


def test_what_happened_is_not_over_since_it_happened_again() -> None:
    twice = {"contradicts": 1.0, "of_event": 1.0, "happened": 1.0, "able": 0.0}
    assert not may_be_asked(twice)
    assert may_be_asked(twice | {"able": 1.0})
    assert may_be_asked(twice | {"of_event": 0.0})
    assert not may_be_asked(twice | {"able": 1.0, "contradicts": 0.0})


def test_of_two_answers_to_two_questions_nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "get_message_deciders", lambda: {"en": SURE_OF_ALL})
    held = ['Asked "What made you tired?", Dee said: kiln day.']
    new = 'Asked "What keeps you going on kiln days?", Dee said: coffee.'
    assert judge_message("coffee", held, new) == {}
