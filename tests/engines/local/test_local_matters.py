"""What a person is asked about two claims, and what not: only what can contradict at all."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memoryhub.engines.local.comparison.matters import may_contradict
from memoryhub.engines.local.comparison.pairs import ClaimView
from memoryhub.engines.local.engine import LocalEngine
from memoryhub.engines.types import FactKind, NamePair, Polarity

AT = datetime(2026, 4, 2, 9, tzinfo=UTC)


def may_ask(old: str, new: str, polarity: Polarity = "holds") -> bool:
    owner = "阿珍" if "阿珍" in old + new else "Vera"
    later = AT + timedelta(days=40)
    return may_contradict(
        ClaimView(new, owner, later, polarity=polarity),
        ClaimView(old, owner, AT),
        (owner,),
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Vera's allotment is muddy.", "Vera shares an allotment with Jim."),
        ("Vera shares an allotment with Jim.", "Vera's allotment is quite muddy in autumn."),
        ("Vera's boat yard charges a fortune.", "Vera sold the boat."),
        ("Vera's choir is noisy.", "Vera is leaving the choir."),
        ("Vera runs a café in Hove.", "Vera's café is closed on Tuesdays now."),
        ("Vera: The cellar leaked.", "Pat left the cellar."),
        ("Vera has a parrot called Kiwi.", "Kiwi comes too, of course."),
        ("Kiwi comes along, of course.", "Kiwi sleeps in the hall."),
        ("Nell is Vera's daughter.", "Vera's daughter opened a salon."),
        (
            "Vera works at a depot.",
            'Asked "As a packer?", Vera said: same work, more money.',
        ),
        ("阿珍小宝很喜欢。", "阿珍小宝上幼儿园了。"),
        ("阿珍的画室有点冷。", "阿珍把画室转让了。"),
        ("阿珍公司最近很忙。", "阿珍在一家做物流的公司。"),
        ("小宝是她儿子。", "阿珍的儿子开了家面馆。"),
        ("阿珍调到夜班了。", "阿珍的夜班没变。"),
    ],
)
def test_what_stands_side_by_side_is_not_asked_about(old: str, new: str) -> None:
    assert not may_ask(old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Vera's boss is Miss Oduya.", "Mr Lund is the boss now."),
        ("Vera's phone number is 555 0144.", "Vera has a new number, 555 0177."),
        ("Vera's allotment is tiny.", "Vera's allotment is huge."),
        ("Vera's boiler is broken.", "Vera's boiler was repaired."),
        ("Vera sings in a choir.", "Vera: The choir split up."),
        ("Vera's report is due Fridays.", "Vera's manager wants the report on Mondays."),
        ("Vera takes milk in her tea.", "Vera is back to black tea."),
        ("Vera's commute is by train.", "Vera drives to work now."),
        ("Vera's fee is forty pounds.", "Vera charges sixty pounds now."),
        ("阿珍的厨房有点小。", "阿珍的新厨房很大。"),
        ("阿珍在学二胡。", "阿珍不学二胡了。"),
        ("阿珍跟表姐合租。", "现在阿珍自己住。"),
    ],
)
def test_what_takes_the_place_of_another_is(old: str, new: str) -> None:
    assert may_ask(old, new)


@pytest.mark.parametrize(
    ("old", "held", "new", "kind", "polarity"),
    [
        ("Rex is Vera's dog.", "holds", "Vera's vet saw the dog on Friday.", "event", "ended"),
        ("Vera is diabetic.", "holds", "Vera told them again this morning.", "state", "holds"),
        ("Vera plans to visit Rome.", "planned", "Vera went to Rome in May.", "event", "ended"),
        ("Vera bakes bread.", "holds", "Vera's bread was innocent all along.", "state", "ended"),
        (
            "Asked who is at home, Vera said: her husband Sam.",
            "holds",
            "Vera and Sam are not talking a lot these days.",
            "state",
            "denied",
        ),
        ("Vera loves sailing.", "holds", "Vera prefers spicy noodles now.", "preference", "holds"),
        ("下个月阿珍要去云南旅行。", "planned", "阿珍上周去了云南。", "event", "holds"),
        ("阿珍打算自己开书店。", "planned", "阿珍请了一个店员。", "event", "holds"),
        ("阿珍每周打网球。", "holds", "阿珍上周打网球的时候扭伤了脚。", "event", "holds"),
        ("阿珍不喜欢现在的工作。", "denied", "阿珍现在更喜欢滑雪。", "preference", "holds"),
    ],
)
def test_what_happens_in_passing_and_other_tastes_are_not_asked_about(
    old: str, held: Polarity, new: str, kind: FactKind, polarity: Polarity
) -> None:
    owner = "阿珍" if "阿珍" in old else "Vera"
    told = ClaimView(new, owner, AT + timedelta(days=40), kind=kind, polarity=polarity)
    assert not may_contradict(told, ClaimView(old, owner, AT, polarity=held), (owner,))


@pytest.mark.parametrize(
    ("old", "held", "new", "kind", "polarity"),
    [
        ("Vera swims daily.", "holds", "Vera stopped swimming last week.", "event", "ended"),
        ("Vera plans to visit Rome.", "planned", "Vera cancelled the trip.", "event", "ended"),
        ("Sam is Vera's husband.", "holds", "Vera left Sam; they don't speak.", "event", "ended"),
        ("Vera loves sailing.", "holds", "Vera hates sailing by now.", "preference", "holds"),
        ("阿珍每周打网球。", "holds", "阿珍不打网球了。", "event", "ended"),
        ("阿珍喜欢喝咖啡。", "holds", "阿珍现在更喜欢喝茶。", "preference", "holds"),
    ],
)
def test_what_ends_or_turns_is(
    old: str, held: Polarity, new: str, kind: FactKind, polarity: Polarity
) -> None:
    owner = "阿珍" if "阿珍" in old else "Vera"
    told = ClaimView(new, owner, AT + timedelta(days=40), kind=kind, polarity=polarity)
    assert may_contradict(told, ClaimView(old, owner, AT, polarity=held), (owner,))


def test_a_thing_told_again_is_no_other_value() -> None:
    held = ClaimView("Vera is allergic to nuts.", "Vera", AT, predicate_key="allergic_to")
    told = ClaimView("Vera told them again this morning.", "Vera", AT + timedelta(days=40))
    assert not may_contradict(told, held, ("Vera",))


def test_an_ending_and_a_correction_are_always_asked_about() -> None:
    assert may_ask("Nell is Vera's daughter.", "Nell is not Vera's daughter.", "denied")
    wrong = ClaimView("Vera's allotment is a garden.", "Vera", AT, correction=True)
    assert may_contradict(wrong, ClaimView("Vera has an allotment.", "Vera", AT), ("Vera",))


def test_a_plain_word_is_no_second_name() -> None:
    pairs = [
        NamePair("a", "cellar", "cellar near the harbour"),
        NamePair("b", "the regatta", "Cowes regatta"),
        NamePair("c", "Lund", "Erik Lund"),
        NamePair("d", "favorite artists art", "artists"),
    ]
    assert LocalEngine().compare_names(pairs) == {"a": False, "b": False, "d": False}
