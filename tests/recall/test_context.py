"""What is handed to a model: which sections, in which order, under which budget."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from memoryhub.errors import InvalidInput
from memoryhub.recall.candidates.channels import at_hand
from memoryhub.recall.candidates.sql import retrieve_for_question
from memoryhub.recall.context import MemoryContext, build_context
from memoryhub.recall.log import reinforcement
from memoryhub.recall.render.pack import pack_context
from memoryhub.recall.render.prompt import (
    SECTION_ORDER,
    choose_prompt_words,
    format_heading,
    format_memory_line,
)
from memoryhub.recall.render.results import ItemKind, MemoryItem, TurnSource
from memoryhub.recall.retrieve import remove_duplicates
from memoryhub.recall.services import DEFAULT_KINDS, search_memories
from memoryhub.tenants.ids import new_id
from memoryhub.tenants.scope import tenant_scope
from notes.models import Chain, Fact
from personas.models import CoreBlock, ProfileAttribute, Trait
from tests.recall.scene import RecallScene
from tests.support.hub import START_TIME


def get_context(scene: RecallScene, question: str = "kayak", **options: Any) -> MemoryContext:
    return build_context(scene.space, question, now=scene.hub.now, **options)


def make_memory_of_every_kind(scene: RecallScene) -> dict[str, Any]:
    """A memory of every kind that bears on a kayak."""
    scene.set_vectors(kayak=[1, 0])
    far = scene.say("my kayak leaks", *(f"word {n}" for n in range(8)))[0]
    scene.get_page(far, tier="mtm")
    (waiting,) = scene.say("I sold it today", read=False)
    kept = scene.add_fact("Ana loves her kayak", shelf="user_kb", shelved_at=scene.hub.now)
    fact = scene.add_fact("Ana bought a kayak in May")
    note = scene.add_note("about the kayak")
    episode = scene.add_episode("topic", "a week in the kayak")
    other = scene.say("the kayak race was lost", *(f"more {n}" for n in range(8)), session="s3")[0]
    scene.add_segment("kayak races", other, keywords=["kayak"])
    block = CoreBlock(label="persona", value="You are brief.", updated_at=scene.hub.now)
    scene._save_row(block)
    return {
        "core": block,
        "shelf": kept,
        "facts": fact,
        "notes": note,
        "episodes": episode,
        "pages": scene.get_page(other),
        "raw": far,
        "stm": waiting,
    }


def test_every_channel_has_its_section_in_order(scene: RecallScene) -> None:
    there = make_memory_of_every_kind(scene)
    made = get_context(scene)
    names = [section.name for section in made.sections]
    assert names == [name for name in SECTION_ORDER if name in there]
    for name, row in there.items():
        assert row.id in [item.id for item in made.items(name)], name
    titles = [line for line in made.text.splitlines() if line.startswith("## ")]
    assert titles == [format_heading(name, choose_prompt_words([])) for name in names]


def test_items_carry_times_validity_and_sources(scene: RecallScene) -> None:
    scene.set_vectors(town=[1, 0])
    (turn,) = scene.say("I am in the town of Lisbon")
    end = scene.hub.now + timedelta(days=9)
    fact = scene.add_fact("the town is Lisbon", turn, valid_to=end)
    made = get_context(scene, "which town")
    (item,) = made.items("facts")
    assert (item.id, item.valid_to) == (fact.id, end)
    assert [source.ref for source in item.sources] == ["D1:1"]
    assert f"{START_TIME:%Y-%m-%d} the town is Lisbon (until {end:%Y-%m-%d}) [D1:1]" in made.text


def test_MB9_the_digest_of_everything_is_there_whatever_is_asked(scene: RecallScene) -> None:
    scene.hub.set_policy("memorybank")
    scene.set_vectors(kayak=[1, 0], overview=[0, 1])
    told = scene.add_episode("global", "overview: Ana moved twice and keeps bees")
    scene.add_episode("day", "kayak all day")
    made = get_context(scene, "kayak")
    assert told.id in [item.id for item in made.items("episodes")]
    assert "keeps bees" in made.text
    scene.hub.set_policy("memorybank", recall__channels=["raw"])
    assert "keeps bees" not in get_context(scene, "kayak").text


def test_MB9_a_stale_digest_of_everything_is_withheld(scene: RecallScene) -> None:
    scene.add_episode("global", "keeps bees", stale=True)
    assert "keeps bees" not in get_context(scene, "anything").text


def test_a_page_comes_with_the_summary_of_its_chain(scene: RecallScene) -> None:
    scene.set_vectors(kayak=[1, 0])
    turn = scene.say("my kayak leaks", *(f"word {n}" for n in range(8)))[0]
    scene.add_segment("kayak", turn)
    chain = scene._save_row(Chain(summary="Repairs of the boat", page_count=1))
    scene.get_page(turn, chain_id=chain.id)
    (page,) = get_context(scene).items("pages")
    assert page.summary == "Repairs of the boat"
    assert "(Repairs of the boat) Ana: my kayak leaks" in get_context(scene).text


@pytest.mark.parametrize("budget", [100, 200, 400, 1000])
def test_the_budget_is_kept_and_unread_turns_are_not_pushed_out(
    scene: RecallScene, budget: int
) -> None:
    scene.set_vectors(kayak=[1, 0])
    for n in range(12):
        scene.add_fact(f"Ana's kayak number {n} is a very long and very red kayak with two seats")
    (waiting,) = scene.say("I sold it", read=False)
    made = get_context(scene, budget_tokens=budget)
    assert made.tokens <= budget
    assert waiting.id in [item.id for item in made.items("stm")]
    assert made.left_out == 0 or budget < 1000


def make_item(kind: ItemKind, *sources: TurnSource, **values: Any) -> MemoryItem:
    return MemoryItem(kind, new_id(), "text", 1.0, {}, START_TIME, sources=sources, **values)


def make_source() -> TurnSource:
    return TurnSource(new_id(), "D1:1", "Ana", "text", START_TIME)


def count_nine_tokens(texts: Any) -> list[int]:
    """With its break, ten tokens each."""
    return [9 for _ in texts]


def make_turn_items(number: int, **values: Any) -> list[MemoryItem]:
    return [make_item("turn", **values) for _ in range(number)]


def test_packing_keeps_the_newest_of_the_latest_and_the_best_of_the_rest() -> None:
    facts, latest = [make_item("fact") for _ in range(9)], make_turn_items(9, unread=True)
    packed = pack_context({"stm": latest}, facts, 60, count_nine_tokens)
    assert packed.parts == {"stm": latest[-1:], "facts": facts[:4]}
    assert packed.left_out == [*latest[:-1], *facts[4:]]


def test_packing_goes_on_behind_what_is_too_long() -> None:
    long, short = make_item("fact", owner="long"), make_item("fact")
    sizes = {"long": 500, "": 9}

    def count(texts: Any) -> list[int]:
        return [sizes[each.owner] for each in (long, short)]

    assert pack_context({}, [long, short], 100, count).parts["facts"] == [short]


def test_findings_come_before_the_latest_exchanges_that_are_read() -> None:
    facts, latest = [make_item("fact") for _ in range(9)], make_turn_items(9)
    packed = pack_context({"stm": latest}, facts, 124, count_nine_tokens)
    # A tenth of the budget is too little for one of them with its heading.
    assert packed.parts == {"facts": facts, "stm": latest[-2:]}


def test_what_an_agent_wrote_has_more_room_than_traits() -> None:
    blocks, traits = [make_item("core") for _ in range(9)], [make_item("core", owner="Ana")]
    facts = [make_item("fact") for _ in range(99)]
    packed = pack_context({"core": [*traits, *blocks]}, facts, 400, count_nine_tokens)
    assert packed.parts["core"] == [*traits, *blocks]
    tight = pack_context({"core": [*traits, *blocks]}, facts, 60, count_nine_tokens)
    assert tight.parts["core"] == blocks[:1]
    assert len(tight.parts["facts"]) == 4


def test_what_is_short_goes_before_what_is_long_and_a_little_better() -> None:
    long, short = make_item("turn", owner="long"), make_item("fact")

    def count(texts: Any) -> list[int]:
        return [99, 9]

    assert pack_context({}, [long, short], 105, count).parts == {"facts": [short]}
    assert pack_context({}, [long, short], 125, count).parts == {"facts": [short], "raw": [long]}


def test_what_is_always_there_and_was_found_has_the_worth_of_a_finding() -> None:
    shelf, facts = [make_item("fact") for _ in range(5)], [make_item("fact") for _ in range(99)]
    latest = make_turn_items(9)
    found = [shelf[4], latest[0], *facts]
    packed = pack_context({"shelf": shelf, "stm": latest}, found, 60, count_nine_tokens)
    assert packed.parts["shelf"] == shelf[4:]
    assert packed.parts["stm"] == latest[:1]


def test_what_was_said_last_stays_in_its_order_though_it_was_found() -> None:
    latest = make_turn_items(4)
    found = [latest[2], make_item("fact"), latest[0]]
    packed = pack_context({"stm": latest}, found, 500, count_nine_tokens)
    assert packed.parts["stm"] == latest


def test_of_two_summaries_of_which_one_says_all_of_the_other_that_one_is_there() -> None:
    def make_summary(text: str) -> MemoryItem:
        return MemoryItem("episode", uuid4(), text, 1.0, {}, START_TIME)

    topic = make_summary("Ana keeps bees.")
    day, other = make_summary("Ana keeps bees. It rained."), make_summary("Ana keeps hens.")
    packed = pack_context({}, [topic, day, other], 500, count_nine_tokens)
    assert packed.parts["episodes"] == [day, other]
    assert packed.duplicates == [(topic, day)]
    # Where there is no room for it, the shorter one is better than none.
    tight = pack_context({}, [topic, day], 20, lambda lines: [9, 99])
    assert tight.parts["episodes"] == [topic]


def make_turn_item(at: TurnSource) -> MemoryItem:
    return MemoryItem("turn", at.turn_id, "text", 1.0, {}, START_TIME, sources=(at,))


def test_a_turn_is_not_lost_to_an_exchange_that_does_not_fit() -> None:
    a, b = make_source(), make_source()
    page, turn = make_item("page", a, b, owner="long"), make_turn_item(a)

    def count(texts: Any) -> list[int]:
        return [200, 9]

    packed = pack_context({}, [page, turn], 100, count)
    assert packed.parts == {"raw": [turn]}
    assert [(each.id, of.id) for each, of in packed.duplicates] == [(page.id, turn.id)]


def test_words_that_are_there_are_not_shown_again() -> None:
    a, b, c, d = (make_source() for _ in range(4))
    turn, fact, reply = make_turn_item(a), make_item("fact", a), make_turn_item(b)
    note, wider = make_item("note", a), make_item("note", a, c, d)
    packed = pack_context(
        {}, [turn, fact, note, wider, make_turn_item(c), reply], 1000, count_nine_tokens
    )
    # A fact and the turn it was read from: the one says what holds, the other is its evidence.
    assert packed.parts == {"raw": [turn, reply], "facts": [fact], "notes": [wider]}
    assert [(each.kind, of.id) for each, of in packed.duplicates] == [
        ("note", turn.id),
        ("turn", wider.id),
    ]
    assert packed.left_out == []


def test_where_there_is_room_an_exchange_stands_for_its_turns() -> None:
    a, b = make_source(), make_source()
    turn, page, latest = make_turn_item(a), make_item("page", a, b), make_turn_item(make_source())
    wide = pack_context({"stm": [latest]}, [turn, page, latest], 100, count_nine_tokens)
    assert wide.parts == {"pages": [page], "stm": [latest]}
    assert [(each.id, of.id) for each, of in wide.duplicates] == [(turn.id, page.id)]
    # Not for a turn that is there as one of the latest.
    recent = pack_context({"stm": [turn]}, [turn, page], 100, count_nine_tokens)
    assert recent.parts == {"stm": [turn]}


def test_BL1_under_a_budget_the_whole_loses_its_oldest_turns_and_says_so() -> None:
    turns = make_turn_items(9)
    packed = pack_context({}, turns, 54, count_nine_tokens, whole=True)
    assert packed.parts == {"raw": turns[4:]}
    assert packed.left_out == turns[:4]


def test_BL1_of_the_whole_nothing_is_left_out_in_between() -> None:
    old, long, new = make_turn_items(1)[0], make_item("turn", owner="long"), make_turn_items(1)[0]

    def count(texts: Any) -> list[int]:
        return [9, 99, 9]

    packed = pack_context({}, [old, long, new], 60, count, whole=True)
    assert packed.parts == {"raw": [new]}
    assert packed.left_out == [old, long]


def test_BL1_a_context_that_can_t_hold_everything_holds_the_newest(scene: RecallScene) -> None:
    scene.hub.set_policy("full_context")
    turns = scene.say(*(f"line {n} of what was said" for n in range(60)))
    made = get_context(scene, "line 7", budget_tokens=300)
    kept = [each.id for each in made.items("raw")]
    assert kept == [turn.id for turn in turns[-len(kept) :]]
    assert made.left_out == 60 - len(kept) > 0
    assert made.tokens <= 300


def test_a_question_about_what_was_just_said_is_not_insufficient(scene: RecallScene) -> None:
    scene.set_vectors(kayak=[1, 0])
    (turn,) = scene.say("my kayak leaks")
    made = get_context(scene)
    assert not made.insufficient
    assert made.rounds == 1
    assert made.ranked == [turn.id]
    assert [each.id for each in made.items()] == [turn.id]


def test_each_thing_once() -> None:
    a, b, c = make_source(), make_source(), make_source()
    fact, page = make_item("fact", a), make_item("page", b)
    told, on_page, other = (
        MemoryItem("turn", s.turn_id, "text", 1.0, {}, START_TIME, sources=(s,)) for s in (a, b, c)
    )
    anchored, wider = make_item("note", b), make_item("note", b, c)
    kept, gone = remove_duplicates([told, on_page, other, anchored, wider, fact, page])
    # What tells of it takes its place.
    assert [each.id for each in kept] == [fact.id, page.id, other.id, wider.id]
    assert [(each.id, each.of, each.why) for each in gone] == [
        (told.id, fact.id, "duplicate"),
        (on_page.id, page.id, "duplicate"),
        (anchored.id, page.id, "duplicate"),
    ]
    assert "(linked)" in format_memory_line(make_item("note", linked=True))


def test_a_fact_that_bears_much_less_leaves_its_turn_where_it_is() -> None:
    source = make_source()
    turn = MemoryItem("turn", source.turn_id, "text", 2.0, {}, START_TIME, sources=(source,))
    near = replace(make_item("fact", source), score=1.5)
    far = replace(make_item("fact", source), score=-1.0)
    assert [each.id for each in remove_duplicates([turn, near], margin=1.0)[0]] == [near.id]
    kept, gone = remove_duplicates([turn, far], margin=1.0)
    assert [each.id for each in kept] == [turn.id, far.id]
    assert gone == []


def test_a_fact_without_the_amount_asked_for_leaves_its_turn() -> None:
    source = make_source()
    told = "i drive for the post, 12 years by now"
    turn = MemoryItem("turn", source.turn_id, told, 2.0, {}, START_TIME, sources=(source,))
    fact = replace(make_item("fact", source), score=1.9, text="Ana drives for the post.")
    assert [each.id for each in remove_duplicates([turn, fact])[0]] == [fact.id]
    assert remove_duplicates([turn, fact], value="amount")[0] == [turn, fact]
    silent = replace(turn, text="i drive for the post")
    assert len(remove_duplicates([silent, fact], value="amount")[0]) == 1


def test_what_is_always_there_does_not_count_as_recalled(scene: RecallScene) -> None:
    scene.set_vectors(kayak=[1, 0])
    (turn,) = scene.say("my kayak leaks")
    fact = scene.add_fact("Ana has a kayak")
    get_context(scene)
    reinforcement.flush_recalls()
    assert scene.get_page(turn).strength == 1
    with tenant_scope(scene.hub.tenant.id):
        assert Fact.objects.get(id=fact.id).strength == 2


def test_the_core_is_blocks_profile_and_traits_of_now(scene: RecallScene) -> None:
    now, past = scene.hub.now, scene.hub.now - timedelta(days=9)
    scene._save_row(CoreBlock(label="human", value="Likes tea.", updated_at=now))
    scene._save_row(CoreBlock(label="empty", value="  ", updated_at=now))
    scene._save_row(CoreBlock(label="mine", value="Be kind.", agent="Bo", updated_at=now))
    scene._save_row(ProfileAttribute(owner="Ana", key="birth_year", value="1990"))
    scene._save_row(Trait(owner="Ana", key="openness", level="high", valid_from=past))
    scene._save_row(Trait(owner="Ana", key="order", level="low", valid_from=past, valid_to=now))
    ask = scene.prepare_ask("anything")
    with tenant_scope(ask.space.tenant_id):
        texts = [each.text for each in at_hand.load_core_items(ask)]
        theirs = [each.text for each in at_hand.load_core_items(ask, "Bo")]
    assert texts == ["human: Likes tea.", "Ana, birth year: 1990", "Ana: curious about the new"]
    assert "mine: Be kind." in theirs


def test_full_context_is_every_turn_in_order(scene: RecallScene) -> None:
    scene.hub.set_policy("full_context")
    said = scene.say(*(f"line {n}" for n in range(30)))
    made = get_context(scene, "line 7", budget_tokens=5000)
    assert [each.id for each in made.items("raw")] == [turn.id for turn in said]


def test_a_context_looks_at_what_it_may_show_not_at_the_whole_space(
    scene: RecallScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at = list[int]()

    def spy(ask: Any, kinds: Any, per_arm: int) -> Any:
        looked_at.append(per_arm)
        return retrieve_for_question(ask, kinds, per_arm)

    monkeypatch.setattr("memoryhub.recall.ranking.rank.retrieve_for_question", spy)
    scene.say("my kayak leaks")
    get_context(scene)
    assert looked_at == [120]


def test_where_all_channels_are_ranked_together_the_budget_decides_not_K(
    scene: RecallScene,
) -> None:
    scene.set_vectors(kayak=[1, 0])
    for n in range(12):
        scene.add_fact(f"kayak {n}")
    assert len(get_context(scene).items("facts")) == 12
    scene.hub.set_policy("mem0")
    assert len(get_context(scene).items("facts")) == 10


def test_MB10_nothing_of_another_subject(scene: RecallScene) -> None:
    scene.set_vectors(kayak=[1, 0])
    make_memory_of_every_kind(scene)
    scene.hub.subject = "Ben"
    made = get_context(scene)
    assert made.items() == []
    assert made.insufficient
    # Nor is any index looked through: nothing of it is even a candidate.
    found = search_memories(
        scene.space, "kayak", kinds=DEFAULT_KINDS, explain=True, deep=True, include_past=True,
        now=scene.hub.now,
    )  # fmt: skip
    assert found.explain is not None
    assert not found.items
    assert not found.explain.dropped
    assert not any(found.explain.channels.values())
    wide = get_context(scene, deep=True, include_past=True)
    assert wide.items() == []


@pytest.mark.parametrize("budget", [0, 99, 1_000_001])
def test_a_budget_out_of_bounds_is_refused(scene: RecallScene, budget: int) -> None:
    with pytest.raises(InvalidInput) as caught:
        get_context(scene, budget_tokens=budget)
    assert caught.value.field == "budget_tokens"


def test_the_subject_has_one_name_though_it_was_known_by_another(scene: RecallScene) -> None:
    """What was said before the name was known would read like somebody else's."""
    scene.hub.subject = "user-7"
    scene.set_vectors(boat=[1, 0], note=[1, 0])
    scene.say("I have a boat")
    scene.add_note("the user: my boat leaks\nBen: the user: is a strange name")
    scene.set_name("Ines Prado")
    scene.hub.set_policy("balanced", recall__channels=["raw", "notes"])
    made = build_context(scene.space, "boat", now=scene.hub.now)
    assert "Ines Prado: I have a boat" in made.text
    assert "Ines Prado: my boat leaks" in made.text
    assert "Ben: the user: is a strange name" in made.text
    assert "user-7" not in made.text
