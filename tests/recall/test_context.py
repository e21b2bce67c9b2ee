"""What is handed to a model: which sections, in which order, under which budget."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memoryhub.errors import InvalidInput
from memoryhub.recall import reinforcing
from memoryhub.recall.arms import candidates
from memoryhub.recall.channels import core
from memoryhub.recall.context import Context, context
from memoryhub.recall.gathering import each_once
from memoryhub.recall.packing import pack
from memoryhub.recall.prompting import ORDER, heading, line_of, words_for
from memoryhub.recall.results import Item, ItemKind, Source
from memoryhub.recall.services import KINDS, search
from memoryhub.tenants.ids import new_id
from memoryhub.tenants.scope import tenant_scope
from notes.models import Chain, Fact
from personas.models import CoreBlock, ProfileAttribute, Trait
from tests.recall.scene import Scene
from tests.support.hub import START


def asked(scene: Scene, question: str = "kayak", **options: Any) -> Context:
    return context(scene.space, question, now=scene.hub.now, **options)


def furnished(scene: Scene) -> dict[str, Any]:
    """A memory of every kind that bears on a kayak."""
    scene.near(kayak=[1, 0])
    far, waiting = scene.say("my kayak leaks", *(f"word {n}" for n in range(8)))[0], None
    (waiting,) = scene.say("I sold it today", read=False)
    kept = scene.fact("Ana loves her kayak", shelf="user_kb", shelved_at=scene.hub.now)
    fact = scene.fact("Ana bought a kayak in May")
    note = scene.note("about the kayak")
    episode = scene.episode("topic", "a week in the kayak")
    other = scene.say("the kayak race was lost", *(f"more {n}" for n in range(8)), session="s3")[0]
    scene.segment("kayak races", other, keywords=["kayak"])
    block = CoreBlock(label="persona", value="You are brief.", updated_at=scene.hub.now)
    scene._add(block)
    return {
        "core": block,
        "shelf": kept,
        "facts": fact,
        "notes": note,
        "episodes": episode,
        "pages": scene.page(other),
        "raw": far,
        "stm": waiting,
    }


def test_every_channel_has_its_section_in_order(scene: Scene) -> None:
    there = furnished(scene)
    made = asked(scene)
    names = [section.name for section in made.sections]
    assert names == [name for name in ORDER if name in there]
    for name, row in there.items():
        assert row.id in [item.id for item in made.items(name)], name
    titles = [line for line in made.text.splitlines() if line.startswith("## ")]
    assert titles == [heading(name, words_for([])) for name in names]


def test_items_carry_times_validity_and_sources(scene: Scene) -> None:
    scene.near(town=[1, 0])
    (turn,) = scene.say("I am in the town of Lisbon")
    end = scene.hub.now + timedelta(days=9)
    fact = scene.fact("the town is Lisbon", turn, valid_to=end)
    made = asked(scene, "which town")
    (item,) = made.items("facts")
    assert (item.id, item.valid_to) == (fact.id, end)
    assert [source.ref for source in item.sources] == ["D1:1"]
    assert f"{START:%Y-%m-%d} the town is Lisbon (until {end:%Y-%m-%d}) [D1:1]" in made.text


def test_MB9_the_digest_of_everything_is_there_whatever_is_asked(scene: Scene) -> None:
    scene.hub.policy("memorybank")
    scene.near(kayak=[1, 0], overview=[0, 1])
    told = scene.episode("global", "overview: Ana moved twice and keeps bees")
    scene.episode("day", "kayak all day")
    made = asked(scene, "kayak")
    assert told.id in [item.id for item in made.items("episodes")]
    assert "keeps bees" in made.text
    scene.hub.policy("memorybank", recall__channels=["raw"])
    assert "keeps bees" not in asked(scene, "kayak").text


def test_MB9_a_stale_digest_of_everything_is_withheld(scene: Scene) -> None:
    scene.episode("global", "keeps bees", stale=True)
    assert "keeps bees" not in asked(scene, "anything").text


def test_a_page_comes_with_the_summary_of_its_chain(scene: Scene) -> None:
    scene.near(kayak=[1, 0])
    turn = scene.say("my kayak leaks", *(f"word {n}" for n in range(8)))[0]
    scene.segment("kayak", turn)
    chain = scene._add(Chain(summary="Repairs of the boat", page_count=1))
    scene.page(turn, chain_id=chain.id)
    (page,) = asked(scene).items("pages")
    assert page.summary == "Repairs of the boat"
    assert "(Repairs of the boat) Ana: my kayak leaks" in asked(scene).text


@pytest.mark.parametrize("budget", [100, 200, 400, 1000])
def test_the_budget_is_kept_and_unread_turns_are_not_pushed_out(scene: Scene, budget: int) -> None:
    scene.near(kayak=[1, 0])
    for n in range(12):
        scene.fact(f"Ana's kayak number {n} is a very long and very red kayak with two seats")
    (waiting,) = scene.say("I sold it", read=False)
    made = asked(scene, budget_tokens=budget)
    assert made.tokens <= budget
    assert waiting.id in [item.id for item in made.items("stm")]
    assert made.left_out == 0 or budget < 1000


def item(kind: ItemKind, *sources: Source, **values: Any) -> Item:
    return Item(kind, new_id(), "text", 1.0, {}, START, sources=sources, **values)


def source() -> Source:
    return Source(new_id(), "D1:1", "Ana", "text", START)


def nine(texts: Any) -> list[int]:
    """With its break, ten tokens each."""
    return [9 for _ in texts]


def said(number: int, **values: Any) -> list[Item]:
    return [item("turn", **values) for _ in range(number)]


def test_packing_keeps_the_newest_of_the_latest_and_the_best_of_the_rest() -> None:
    facts, latest = [item("fact") for _ in range(9)], said(9, unread=True)
    packed = pack({"stm": latest}, facts, 60, nine)
    assert packed.parts == {"stm": latest[-1:], "facts": facts[:4]}
    assert packed.left_out == [*latest[:-1], *facts[4:]]


def test_packing_goes_on_behind_what_is_too_long() -> None:
    long, short = item("fact", owner="long"), item("fact")
    sizes = {"long": 500, "": 9}

    def count(texts: Any) -> list[int]:
        return [sizes[each.owner] for each in (long, short)]

    assert pack({}, [long, short], 100, count).parts["facts"] == [short]


def test_findings_come_before_the_latest_exchanges_that_are_read() -> None:
    facts, latest = [item("fact") for _ in range(9)], said(9)
    packed = pack({"stm": latest}, facts, 124, nine)
    # A tenth of the budget is too little for one of them with its heading.
    assert packed.parts == {"facts": facts, "stm": latest[-2:]}


def test_what_an_agent_wrote_has_more_room_than_traits() -> None:
    blocks, traits = [item("core") for _ in range(9)], [item("core", owner="Ana")]
    facts = [item("fact") for _ in range(99)]
    packed = pack({"core": [*traits, *blocks]}, facts, 400, nine)
    assert packed.parts["core"] == [*traits, *blocks]
    tight = pack({"core": [*traits, *blocks]}, facts, 60, nine)
    assert tight.parts["core"] == blocks[:1]
    assert len(tight.parts["facts"]) == 4


def test_what_is_short_goes_before_what_is_long_and_a_little_better() -> None:
    long, short = item("turn", owner="long"), item("fact")

    def count(texts: Any) -> list[int]:
        return [99, 9]

    assert pack({}, [long, short], 105, count).parts == {"facts": [short]}
    assert pack({}, [long, short], 125, count).parts == {"facts": [short], "raw": [long]}


def test_what_is_always_there_and_was_found_has_the_worth_of_a_finding() -> None:
    shelf, facts = [item("fact") for _ in range(5)], [item("fact") for _ in range(99)]
    latest = said(9)
    found = [shelf[4], latest[0], *facts]
    packed = pack({"shelf": shelf, "stm": latest}, found, 60, nine)
    assert packed.parts["shelf"] == shelf[4:]
    assert packed.parts["stm"] == latest[:1]


def spoken(at: Source) -> Item:
    return Item("turn", at.turn_id, "text", 1.0, {}, START, sources=(at,))


def test_a_turn_is_not_lost_to_an_exchange_that_does_not_fit() -> None:
    a, b = source(), source()
    page, turn = item("page", a, b, owner="long"), spoken(a)

    def count(texts: Any) -> list[int]:
        return [200, 9]

    packed = pack({}, [page, turn], 100, count)
    assert packed.parts == {"raw": [turn]}
    assert [(each.id, of.id) for each, of in packed.told] == [(page.id, turn.id)]


def test_words_that_are_there_are_not_shown_again() -> None:
    a, b, c, d = (source() for _ in range(4))
    turn, fact, reply = spoken(a), item("fact", a), spoken(b)
    note, wider = item("note", a), item("note", a, c, d)
    packed = pack({}, [turn, fact, note, wider, spoken(c), reply], 1000, nine)
    # A fact and the turn it was read from: the one says what holds, the other is its evidence.
    assert packed.parts == {"raw": [turn, reply], "facts": [fact], "notes": [wider]}
    assert [(each.kind, of.id) for each, of in packed.told] == [
        ("note", turn.id),
        ("turn", wider.id),
    ]
    assert packed.left_out == []


def test_where_there_is_room_an_exchange_stands_for_its_turns() -> None:
    a, b = source(), source()
    turn, page, latest = spoken(a), item("page", a, b), spoken(source())
    wide = pack({"stm": [latest]}, [turn, page, latest], 100, nine)
    assert wide.parts == {"pages": [page], "stm": [latest]}
    assert [(each.id, of.id) for each, of in wide.told] == [(turn.id, page.id)]
    # Not for a turn that is there as one of the latest.
    recent = pack({"stm": [turn]}, [turn, page], 100, nine)
    assert recent.parts == {"stm": [turn]}


def test_BL1_under_a_budget_the_whole_loses_its_oldest_turns_and_says_so() -> None:
    turns = said(9)
    packed = pack({}, turns, 54, nine, whole=True)
    assert packed.parts == {"raw": turns[4:]}
    assert packed.left_out == turns[:4]


def test_BL1_of_the_whole_nothing_is_left_out_in_between() -> None:
    old, long, new = said(1)[0], item("turn", owner="long"), said(1)[0]

    def count(texts: Any) -> list[int]:
        return [9, 99, 9]

    packed = pack({}, [old, long, new], 60, count, whole=True)
    assert packed.parts == {"raw": [new]}
    assert packed.left_out == [old, long]


def test_BL1_a_context_that_can_t_hold_everything_holds_the_newest(scene: Scene) -> None:
    scene.hub.policy("full_context")
    turns = scene.say(*(f"line {n} of what was said" for n in range(60)))
    made = asked(scene, "line 7", budget_tokens=300)
    kept = [each.id for each in made.items("raw")]
    assert kept == [turn.id for turn in turns[-len(kept) :]]
    assert made.left_out == 60 - len(kept) > 0
    assert made.tokens <= 300


def test_a_question_about_what_was_just_said_is_not_insufficient(scene: Scene) -> None:
    scene.near(kayak=[1, 0])
    (turn,) = scene.say("my kayak leaks")
    made = asked(scene)
    assert not made.insufficient
    assert made.rounds == 1
    assert made.ranked == [turn.id]
    assert [each.id for each in made.items()] == [turn.id]


def test_each_thing_once() -> None:
    a, b, c = source(), source(), source()
    fact, page = item("fact", a), item("page", b)
    told, on_page, other = (
        Item("turn", s.turn_id, "text", 1.0, {}, START, sources=(s,)) for s in (a, b, c)
    )
    anchored, wider = item("note", b), item("note", b, c)
    kept, gone = each_once([told, on_page, other, anchored, wider, fact, page])
    # What tells of it takes its place.
    assert [each.id for each in kept] == [fact.id, page.id, other.id, wider.id]
    assert [(each.id, each.of, each.why) for each in gone] == [
        (told.id, fact.id, "duplicate"),
        (on_page.id, page.id, "duplicate"),
        (anchored.id, page.id, "duplicate"),
    ]
    assert "(linked)" in line_of(item("note", linked=True))


def test_what_is_always_there_does_not_count_as_recalled(scene: Scene) -> None:
    scene.near(kayak=[1, 0])
    (turn,) = scene.say("my kayak leaks")
    fact = scene.fact("Ana has a kayak")
    asked(scene)
    reinforcing.flush()
    assert scene.page(turn).strength == 1
    with tenant_scope(scene.hub.tenant.id):
        assert Fact.objects.get(id=fact.id).strength == 2


def test_the_core_is_blocks_profile_and_traits_of_now(scene: Scene) -> None:
    now, past = scene.hub.now, scene.hub.now - timedelta(days=9)
    scene._add(CoreBlock(label="human", value="Likes tea.", updated_at=now))
    scene._add(CoreBlock(label="empty", value="  ", updated_at=now))
    scene._add(CoreBlock(label="mine", value="Be kind.", agent="Bo", updated_at=now))
    scene._add(ProfileAttribute(owner="Ana", key="birth_year", value="1990"))
    scene._add(Trait(owner="Ana", key="openness", level="high", valid_from=past))
    scene._add(Trait(owner="Ana", key="order", level="low", valid_from=past, valid_to=now))
    ask = scene.ask("anything")
    with tenant_scope(ask.space.tenant_id):
        texts = [each.text for each in core.read(ask)]
        theirs = [each.text for each in core.read(ask, "Bo")]
    assert texts == ["human: Likes tea.", "Ana, birth year: 1990", "Ana, openness: high"]
    assert "mine: Be kind." in theirs


def test_full_context_is_every_turn_in_order(scene: Scene) -> None:
    scene.hub.policy("full_context")
    said = scene.say(*(f"line {n}" for n in range(30)))
    made = asked(scene, "line 7", budget_tokens=5000)
    assert [each.id for each in made.items("raw")] == [turn.id for turn in said]


def test_a_context_looks_at_what_it_may_show_not_at_the_whole_space(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at = list[int]()

    def spy(*args: Any, **values: Any) -> Any:
        looked_at.append(values["per_arm"])
        return candidates(*args, **values)

    monkeypatch.setattr("memoryhub.recall.ranking.candidates", spy)
    scene.say("my kayak leaks")
    asked(scene)
    assert looked_at == [120]


def test_where_all_channels_are_ranked_together_the_budget_decides_not_K(scene: Scene) -> None:
    scene.near(kayak=[1, 0])
    for n in range(12):
        scene.fact(f"kayak {n}")
    assert len(asked(scene).items("facts")) == 12
    scene.hub.policy("mem0")
    assert len(asked(scene).items("facts")) == 10


def test_MB10_nothing_of_another_subject(scene: Scene) -> None:
    scene.near(kayak=[1, 0])
    furnished(scene)
    scene.hub.subject = "Ben"
    made = asked(scene)
    assert made.items() == []
    assert made.insufficient
    # Nor is any index looked through: nothing of it is even a candidate.
    found = search(
        scene.space, "kayak", kinds=KINDS, explain=True, deep=True, include_past=True,
        now=scene.hub.now,
    )  # fmt: skip
    assert found.explain is not None
    assert not found.items
    assert not found.explain.dropped
    assert not any(found.explain.channels.values())
    wide = asked(scene, deep=True, include_past=True)
    assert wide.items() == []


@pytest.mark.parametrize("budget", [0, 99, 1_000_001])
def test_a_budget_out_of_bounds_is_refused(scene: Scene, budget: int) -> None:
    with pytest.raises(InvalidInput) as caught:
        asked(scene, budget_tokens=budget)
    assert caught.value.field == "budget_tokens"
