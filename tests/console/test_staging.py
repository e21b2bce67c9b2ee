"""The way of a question stage by stage: nothing that was brought, dropped or timed is lost."""

from __future__ import annotations

from typing import get_args
from uuid import uuid4

from memoryhub.console.pages.search.explanation import DROP_REASONS, explain_sections
from memoryhub.console.pages.search.stages import ChannelYield, SearchStage, build_search_stages
from memoryhub.recall.render.results import (
    ChannelRank,
    DroppedMemory,
    DropReason,
    Explanation,
    MemoryItem,
    RouteTaken,
)
from tests.support.hub import START_TIME

ROUTE = RouteTaken("kayak?", "rules", "fused", ["facts"], "it is short", named=["Ana", "Ben"])
EXPLAINED = Explanation(
    ROUTE,
    channels={"facts": 40, "notes": 2},
    dropped=[DroppedMemory("fact", uuid4(), "", why) for why in get_args(DropReason)],
)


def make_found_item(*channels: str) -> MemoryItem:
    found = [ChannelRank(channel, 1, 0.5) for channel in channels]
    return MemoryItem("fact", uuid4(), "a kayak", 0.5, {}, START_TIME, found=found)


def build_stages(explain: Explanation = EXPLAINED, **options: int) -> dict[str, SearchStage]:
    shown = explain_sections(
        [("", [make_found_item("facts"), make_found_item("facts", "linked"), make_found_item()])]
    )
    took = {"route": 1.0, "embed": 2.0, "candidates": 4.0, "pack": 8.0}
    return {each.name: each for each in build_search_stages(explain, shown, took, **options)}


def test_each_channel_tells_what_it_brought_and_what_of_it_is_shown() -> None:
    assert build_stages()["Channels"].channel_yields == [
        ChannelYield("facts", 40, 2),
        ChannelYield("notes", 2, 0),
        ChannelYield("linked", 0, 1),
    ]


def test_all_that_was_dropped_was_dropped_by_one_stage() -> None:
    dropped = [
        why for stage in build_stages().values() for why, count in stage.dropped if count == 1
    ]
    assert sorted(dropped) == sorted(DROP_REASONS[why] for why in get_args(DropReason))


def test_all_the_time_is_some_stages() -> None:
    assert {name: stage.took for name, stage in build_stages().items()} == {
        "Question": 3,
        "Channels": 4,
        "Fusion": 0,
        "Judge": 0,
        "Packing": 8,
    }


def test_it_is_said_in_words() -> None:
    says = {name: stage.says for name, stage in build_stages(tokens=480, budget=1000).items()}
    assert says["Question"] == "it is short; it mentions Ana, Ben"
    assert says["Judge"] == "No judge: only the relevance floor decides."
    assert says["Packing"] == "3 shown, 480 of 1,000 tokens."
    assert build_stages()["Packing"].says == "3 shown."
    judged = Explanation(ROUTE, judged="enough")
    assert build_stages(judged, rounds=2)["Judge"].says == "enough (2 rounds)"
