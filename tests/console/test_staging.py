"""The way of a question stage by stage: nothing that was brought, dropped or timed is lost."""

from __future__ import annotations

from typing import get_args
from uuid import uuid4

from memoryhub.console.explained import WHY, of_sections
from memoryhub.console.staging import Brought, Stage, stages_of
from memoryhub.recall.results import Dropped, Explanation, Finding, Item, RouteTaken, Why
from tests.support.hub import START

ROUTE = RouteTaken("kayak?", "rules", "fused", ["facts"], "it is short", named=["Ana", "Ben"])
EXPLAINED = Explanation(
    ROUTE,
    channels={"facts": 40, "notes": 2},
    dropped=[Dropped("fact", uuid4(), "", why) for why in get_args(Why)],
)


def item(*channels: str) -> Item:
    found = [Finding(channel, 1, 0.5) for channel in channels]
    return Item("fact", uuid4(), "a kayak", 0.5, {}, START, found=found)


def told(explain: Explanation = EXPLAINED, **options: int) -> dict[str, Stage]:
    shown = of_sections([("", [item("facts"), item("facts", "linked"), item()])])
    took = {"route": 1.0, "embed": 2.0, "candidates": 4.0, "pack": 8.0}
    return {each.name: each for each in stages_of(explain, shown, took, **options)}


def test_each_channel_tells_what_it_brought_and_what_of_it_is_shown() -> None:
    assert told()["Channels"].brought == [
        Brought("facts", 40, 2),
        Brought("notes", 2, 0),
        Brought("linked", 0, 1),
    ]


def test_all_that_was_dropped_was_dropped_by_one_stage() -> None:
    dropped = [why for stage in told().values() for why, count in stage.dropped if count == 1]
    assert sorted(dropped) == sorted(WHY[why] for why in get_args(Why))


def test_all_the_time_is_some_stages() -> None:
    assert {name: stage.took for name, stage in told().items()} == {
        "Question": 3,
        "Channels": 4,
        "Fusion": 0,
        "Judge": 0,
        "Packing": 8,
    }


def test_it_is_said_in_words() -> None:
    says = {name: stage.says for name, stage in told(tokens=480, budget=1000).items()}
    assert says["Question"] == "it is short; it names Ana, Ben"
    assert says["Judge"] == "Nobody was asked: the floor alone decides."
    assert says["Packing"] == "3 shown, 480 of 1,000 tokens."
    assert told()["Packing"].says == "3 shown."
    judged = Explanation(ROUTE, judged="enough")
    assert told(judged, rounds=2)["Judge"].says == "enough (2 rounds)"
