"""Each channel: what it finds, what it leaves out, and at what cost."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memoryhub.errors import EngineError
from memoryhub.recall.candidates.channels import FINDERS, graph, pages
from memoryhub.recall.candidates.channels.hits import (
    ChannelHit,
    compute_reciprocal_rank,
    rank_by_score,
)
from memoryhub.recall.context import build_context
from memoryhub.recall.log import reinforcement
from memoryhub.recall.question.prepare import PreparedQuestion
from memoryhub.recall.ranking.fusion import fuse_channels
from memoryhub.tenants.scope import tenant_scope
from notes.models import Segment, SegmentPage
from tests.recall.scene import RecallScene

Find = Callable[[PreparedQuestion], list[ChannelHit]]


def run_channel(find: Find, ask: PreparedQuestion) -> list[ChannelHit]:
    with tenant_scope(ask.space.tenant_id):
        return find(ask)


def list_ids(hits: list[ChannelHit]) -> list[UUID]:
    return [hit.id for hit in hits]


def test_AM7_linked_notes_have_a_budget_of_their_own(scene: RecallScene) -> None:
    scene.set_vectors(kayak=[1, 0], paddle=[0.9, 0.44], tent=[0.5, 0.87], stove=[0.4, 0.92])
    scene.hub.set_policy("amem", recall__k_min=2, recall__k_max=2)
    scene.hub.model.allow("query_terms")
    a, b = scene.add_note("I bought a kayak"), scene.add_note("A paddle came too")
    c, d = scene.add_note("The tent is green"), scene.add_note("The stove is old")
    scene.add_link(a, c)
    found = run_channel(FINDERS["notes"], scene.prepare_ask("kayak"))
    assert list_ids(found) == [a.id, b.id, c.id]
    assert [hit.linked for hit in found] == [False, False, True]
    assert found[2].score < found[1].score
    assert d.id not in list_ids(found)
    with_linked = build_context(scene.space, "kayak", now=scene.hub.now)
    assert [(i.id, i.linked) for i in with_linked.items("notes")] == [
        (a.id, False),
        (b.id, False),
        (c.id, True),
    ]


def test_AM7_linked_notes_are_scored_anew_and_damped(scene: RecallScene) -> None:
    scene.set_vectors(kayak=[1, 0], paddle=[0.9, 0.44], tent=[0.5, 0.87], stove=[0.4, 0.92])
    scene.hub.set_policy("amem", recall__k_min=1, recall__k_max=1, recall__link_budget=1)
    scene.hub.model.allow("query_terms")
    a, c, d = scene.add_note("a kayak"), scene.add_note("a tent"), scene.add_note("a stove")
    scene.add_link(a, d)
    scene.add_link(a, c)
    direct, linked = run_channel(FINDERS["notes"], scene.prepare_ask("kayak"))
    assert (direct.id, linked.id) == (a.id, c.id)
    # Second of three by meaning, in no list by words; of which nine tenths.
    assert linked.score == pytest.approx(0.9 * (1 / 62) / (2 / 61), abs=1e-6)


@pytest.mark.parametrize(
    "how", [{"active": False}, {"retired_at": "now"}], ids=["inactive", "retired"]
)
def test_a_link_that_is_no_more_leads_nowhere(scene: RecallScene, how: dict[str, Any]) -> None:
    scene.set_vectors(kayak=[1, 0], tent=[0, 1])
    a, c = scene.add_note("a kayak"), scene.add_note("a tent")
    scene.add_link(a, c, **{k: scene.hub.now if v == "now" else v for k, v in how.items()})
    assert list_ids(run_channel(FINDERS["notes"], scene.prepare_ask("kayak"))) == [a.id]


def make_alice_graph(scene: RecallScene) -> dict[str, Any]:
    """Alice owns a bakery, Bob works there, and Bob's sister lives far away."""
    names = ("Alice", "Bakery", "Bob", "Clara", "Oslo")
    who = {name: scene.add_entity(name) for name in names}
    told = {
        "owns": ("Alice", "Bakery"),
        "works_at": ("Bob", "Bakery"),
        "sister_of": ("Clara", "Bob"),
        "lives_in": ("Clara", "Oslo"),
    }
    facts = {label: scene.add_fact(f"{a} {label} {b}", owner=a) for label, (a, b) in told.items()}
    for label, (a, b) in told.items():
        scene.add_relation(facts[label], who[a], label, who[b])
    return facts


def test_GR7_two_hops_from_the_entity_named_scores_decrease_by_hop(scene: RecallScene) -> None:
    scene.set_vectors(owns=[1, 0], works_at=[1, 0], sister_of=[1, 0], lives_in=[1, 0], told=[1, 0])
    told = make_alice_graph(scene)
    scene.set_vectors(told=[0.5, 0.866])
    found = run_channel(
        FINDERS["graph"], scene.prepare_ask("What is told of Bakery and what belongs to it?")
    )
    score = {hit.id: hit.score for hit in found}
    # In and out at one hop; the sister of who works there at two; her town would be the third.
    assert score[told["owns"].id] == score[told["works_at"].id] == pytest.approx(0.45, abs=1e-3)
    assert score[told["sister_of"].id] == pytest.approx(0.405, abs=1e-3)


def test_s6_2_an_entity_is_found_by_the_meaning_of_its_name(scene: RecallScene) -> None:
    scene.set_vectors(Oporto=[0.9, 0.436], Porto=[1, 0], Lisbon=[0, 1], cellar=[0, 0, 1])
    scene.set_vectors(asked=[0, 0, 0, 1])
    ana, porto, lisbon = (scene.add_entity(name) for name in ("Ana", "Porto", "Lisbon"))
    here, there = scene.add_fact("a cellar there"), scene.add_fact("no cellar there")
    scene.add_relation(here, ana, "owns_in", porto)
    scene.add_relation(there, scene.add_entity("Bob"), "owns_in", lisbon)
    asked = scene.prepare_ask("asked: what is in Oporto?")
    assert list_ids(run_channel(FINDERS["graph"], asked)) == [here.id]
    scene.hub.set_policy(graph__ask_at=0.95)
    asked = scene.prepare_ask("asked: what is in Oporto?")
    assert run_channel(FINDERS["graph"], asked) == []


def test_s6_2_a_name_that_an_entity_has_is_no_other_s(scene: RecallScene) -> None:
    scene.set_vectors(Oporto=[0.9, 0.436], Porto=[1, 0], asked=[0, 0, 0, 1])
    porto, oporto = scene.add_entity("Porto"), scene.add_entity("Oporto")
    scene.add_relation(scene.add_fact("a cellar"), scene.add_entity("Ana"), "owns_in", porto)
    own = scene.add_fact("a boat")
    scene.add_relation(own, scene.add_entity("Bob"), "owns_in", oporto)
    asked = scene.prepare_ask("asked: what is in Oporto?")
    assert list_ids(run_channel(FINDERS["graph"], asked))[:1] == [own.id]
    with tenant_scope(scene.space.tenant_id):
        assert graph.find_named_entities(asked) == [oporto.id]


def test_GR7_beyond_two_hops_nothing_is_reached(scene: RecallScene) -> None:
    scene.set_vectors(
        owns=[1, 0], works_at=[1, 0], sister_of=[1, 0], lives_in=[1, 0], asked=[0.1, 0.995]
    )
    told = make_alice_graph(scene)
    found = run_channel(FINDERS["graph"], scene.prepare_ask("asked of Bakery"))
    assert set(list_ids(found)) == {told[label].id for label in ("owns", "works_at", "sister_of")}


def test_GR7_a_relation_is_there_as_long_as_its_fact_holds(scene: RecallScene) -> None:
    scene.set_vectors(town=[1, 0])
    ana, lisbon, porto = (scene.add_entity(name) for name in ("Ana", "Lisbon", "Porto"))
    moved = scene.hub.now
    before: dict[str, Any] = {
        "valid_from": moved - timedelta(days=90),
        "valid_to": moved,
        "status": "superseded",
    }
    old = scene.add_fact("in the town of Lisbon", **before)
    new = scene.add_fact("in the town of Porto")
    scene.add_relation(old, ana, "lives_in", lisbon)
    scene.add_relation(new, ana, "lives_in", porto)
    question = "Which town is Ana in?"
    assert list_ids(run_channel(FINDERS["graph"], scene.prepare_ask(question))) == [new.id]
    then = scene.prepare_ask(question, as_of=moved - timedelta(days=30))
    assert list_ids(run_channel(FINDERS["graph"], then)) == [old.id]
    assert set(
        list_ids(run_channel(FINDERS["graph"], scene.prepare_ask(question, include_past=True)))
    ) == {old.id, new.id}


def test_GR8_relations_alike_are_found_without_an_entity_above_the_floor(
    scene: RecallScene,
) -> None:
    scene.set_vectors(residence=[1, 0], dwells=[0.8, 0.6], cooks=[0.2, 0.98])
    ana, porto, soup = (scene.add_entity(name) for name in ("Ana", "Porto", "Soup"))
    home, dish = scene.add_fact("she dwells by the river"), scene.add_fact("she cooks it daily")
    scene.add_relation(home, ana, "lives_in", porto)
    scene.add_relation(dish, ana, "cooks", soup)
    (hit,) = run_channel(FINDERS["graph"], scene.prepare_ask("Which is the residence?"))
    assert hit.id == home.id
    assert hit.score == pytest.approx(0.8, abs=1e-3)
    assert "Ana -lives_in-> Porto" in hit.reason


def test_an_entity_is_named_as_a_word_by_alias_or_as_oneself(scene: RecallScene) -> None:
    art, ana = scene.add_entity("Art"), scene.add_entity("Ana", aliases=["Anita"])
    merged = scene.add_entity("Annie", merged_into=ana)

    def named(question: str) -> set[UUID]:
        ask = scene.prepare_ask(question)
        with tenant_scope(ask.space.tenant_id):
            return set(graph.find_named_entities(ask))

    assert named("the party started") == set()
    assert named("what did art say") == {art.id}
    assert named("where is ANITA now") == {ana.id}
    assert named("where is Annie") == {merged.id, ana.id}
    assert named("where do I live") == {ana.id}


def make_six_topics(scene: RecallScene) -> list[Segment]:
    """Six topics of three pages each, ever further from the question."""
    found = []
    for n in range(6):
        scene.set_vectors(**{f"topic{n}": [1 - 0.1 * n, 1]})
        turns = scene.say(*(f"topic{n} page{p}" for p in range(3)))
        found.append(scene.add_segment(f"topic{n}", *turns, keywords=[f"word{n}"]))
    return found


def test_MO13_five_topics_by_F_then_at_most_ten_pages_each_once(scene: RecallScene) -> None:
    scene.set_vectors(question=[1, 0])
    segments = make_six_topics(scene)
    # A page under two themes is one page.
    with tenant_scope(scene.hub.tenant.id):
        shared = SegmentPage.objects.filter(segment=segments[0])[0].page
    scene.add_page_to_segment(segments[1], shared)
    ask = scene.prepare_ask("question")
    with tenant_scope(ask.space.tenant_id):
        assert pages.select_segments(ask) == [s.id for s in segments[:5]]
    found = run_channel(FINDERS["pages"], ask)
    assert len(found) == len(set(list_ids(found))) == 10
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)
    made = build_context(scene.space, "question", now=scene.hub.now, budget_tokens=5000)
    in_pages = [item.id for item in made.items("pages")]
    assert 0 < len(in_pages) == len(set(in_pages)) <= 10
    # The question's own keywords count: the furthest topic comes first.
    worded = scene.prepare_ask("question word5")
    with tenant_scope(ask.space.tenant_id):
        assert pages.select_segments(worded)[0] == segments[5].id


def test_MO13_a_visit_for_topics_with_a_page_in_the_context_only(scene: RecallScene) -> None:
    scene.set_vectors(question=[1, 0])
    segments = make_six_topics(scene)
    scene.hub.set_policy("memoryos", recall__pages=3, stm__pages=1)
    made = build_context(scene.space, "question", now=scene.hub.now)
    assert len(made.items("pages")) == 3
    reinforcement.flush_recalls()
    with tenant_scope(scene.hub.tenant.id):
        visits = [Segment.objects.get(id=s.id).visits_total for s in segments]
    assert visits == [1, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("how", [{"tier": "cold"}, {"stale": True}, {"retired_at": "now"}])
def test_cold_stale_and_retired_topics_are_left_out(
    scene: RecallScene, how: dict[str, Any]
) -> None:
    scene.set_vectors(kayak=[1, 0])
    values: dict[str, Any] = {k: scene.hub.now if v == "now" else v for k, v in how.items()}
    scene.add_segment("kayak", *scene.say("kayak trip"), **values)
    assert run_channel(FINDERS["pages"], scene.prepare_ask("kayak")) == []
    deep = run_channel(FINDERS["pages"], scene.prepare_ask("kayak", deep=True))
    assert bool(deep) == (how.get("tier") == "cold")


def test_the_shelf_is_always_considered_ten_of_each_owner(scene: RecallScene) -> None:
    scene.set_vectors(tea=[1, 0], coffee=[0, 1])
    for n in range(12):
        scene.add_fact(f"drinks coffee {n}", shelf="user_kb", shelved_at=scene.hub.now)
    best = scene.add_fact("likes tea", shelf="user_kb", shelved_at=scene.hub.now)
    agent = scene.add_fact("promised coffee", shelf="agent", shelved_at=scene.hub.now)
    over = scene.add_fact("tea", shelf="user_kb", shelved_at=scene.hub.now, valid_to=scene.hub.now)
    found = list_ids(run_channel(FINDERS["shelf"], scene.prepare_ask("tea")))
    assert found[0] == best.id
    assert (len(found), agent.id in found, over.id in found) == (11, True, False)


def test_what_fell_off_the_shelf_is_found_as_a_fact(scene: RecallScene) -> None:
    scene.set_vectors(tea=[1, 0])
    scene.hub.set_policy(shelf__cap=1)
    old = scene.add_fact("likes tea", shelf="user_kb", shelved_at=scene.hub.now - timedelta(days=9))
    pinned = scene.add_fact(
        "hates tea bags", shelf="user_kb", shelved_at=scene.hub.now - timedelta(days=8), pinned=True
    )
    new = scene.add_fact("tea at five", shelf="user_kb", shelved_at=scene.hub.now)
    ask = scene.prepare_ask("tea")
    assert set(list_ids(run_channel(FINDERS["shelf"], ask))) == {new.id, pinned.id}
    assert old.id in list_ids(run_channel(FINDERS["facts"], ask))


def test_E11_unread_turns_are_always_in_short_term_memory(scene: RecallScene) -> None:
    said = scene.say(*(f"word {n}" for n in range(9)))
    (waiting,) = scene.say("not read so far", read=False, session="s2")
    found = run_channel(FINDERS["stm"], scene.prepare_ask("something else"))
    # None of the exchanges is placed yet, so that all of them are.
    assert list_ids(found) == [turn.id for turn in said] + [waiting.id]
    assert found[-1].reason == "not read yet"
    # However far back, what is not read yet is there.
    scene.say(*(f"later {n}" for n in range(9)))
    assert waiting.id in list_ids(run_channel(FINDERS["stm"], scene.prepare_ask("something else")))
    made = build_context(scene.space, "something else", now=scene.hub.now)
    assert waiting.id in [item.id for item in made.items("stm")]


def test_episodes_without_the_stale_and_what_is_handed_over_whole(scene: RecallScene) -> None:
    day = scene.add_episode("day", "a day at the lake")
    scene.add_episode("day", "a lake that changed", stale=True, day=None)
    scene.add_episode("topic", "lake undone", retired_at=scene.hub.now)
    scene.add_episode("rolling", "lake so far")
    scene.add_episode("topic", "lake faded", visibility="dormant")
    scene.hub.set_policy(forget__mode="sample")
    assert list_ids(run_channel(FINDERS["episodes"], scene.prepare_ask("the lake"))) == [day.id]


def test_facts_of_whom_the_question_names_come_first(scene: RecallScene) -> None:
    scene.say("hello")
    scene.say("hi")
    other = scene.add_fact("plays chess on Sundays", owner="Ben", speaker="Ben")
    mine = scene.add_fact("plays chess on Mondays")
    found = run_channel(FINDERS["facts"], scene.prepare_ask("Does Ana play chess?"))
    assert list_ids(found)[0] == mine.id
    assert other.id in list_ids(found)


def test_by_meaning_alone_no_word_or_name_of_the_question_counts(scene: RecallScene) -> None:
    """As MemoryBank (spec §2.2, 4) and Mem0 (spec §5.2, 5) search."""
    scene.hub.embedder.table |= {"kayak": [1, 0], "canoe": [0.9, 0.44], "tea in a kayak": [0, 1]}
    likes_tea = scene.add_fact("Ben likes tea in a kayak", owner="Ben", speaker="Ben")
    near = scene.add_fact("rows a canoe")
    (said,) = scene.say("a canoe again")
    by_words = run_channel(FINDERS["facts"], scene.prepare_ask("Does Ben like a kayak?"))
    assert list_ids(by_words) == [likes_tea.id, near.id]
    scene.hub.set_policy("mem0", recall__words=False)
    alone = scene.prepare_ask("Does Ben like a kayak?")
    found = run_channel(FINDERS["facts"], alone)
    assert list_ids(found) == [near.id]
    assert list_ids(run_channel(FINDERS["raw"], alone)) == [said.id]
    assert set(found[0].arms) == {"dense"}


def test_words_count_where_there_is_no_vector(
    scene: RecallScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.hub.set_policy("mem0", recall__words=False)
    plays = scene.add_fact("plays chess on Mondays")

    def fail_to_embed(texts: Any) -> Any:
        raise EngineError("it is away")

    monkeypatch.setattr(scene.hub.embedder, "embed", fail_to_embed)
    found = run_channel(FINDERS["facts"], scene.prepare_ask("Does Ana play chess?"))
    assert list_ids(found) == [plays.id]


def test_E32_channels_have_a_floor(scene: RecallScene) -> None:
    scene.set_vectors(kayak=[1, 0], tea=[0.2, 0.98])
    scene.add_fact("likes tea")
    scene.say("tea again")
    scene.add_note("tea")
    scene.add_episode("day", "tea")
    ask = scene.prepare_ask("kayak")
    for find in (
        FINDERS["facts"],
        FINDERS["raw"],
        FINDERS["notes"],
        FINDERS["episodes"],
        FINDERS["pages"],
        FINDERS["graph"],
    ):
        assert run_channel(find, ask) == []


@pytest.mark.parametrize("channel", sorted(FINDERS))
def test_a_channel_asks_two_statements_at_most(scene: RecallScene, channel: Any) -> None:
    scene.set_vectors(kayak=[1, 0])
    turn, _ = scene.say("kayak", "later")
    scene.add_segment("kayak", turn)
    fact = scene.add_fact("kayak", shelf="user_kb", shelved_at=scene.hub.now)
    scene.add_relation(fact, scene.add_entity("Ana"), "has", scene.add_entity("kayak"))
    scene.add_link(scene.add_note("kayak"), scene.add_note("other"))
    scene.add_episode("day", "kayak")
    ask = scene.prepare_ask("Has Ana a kayak?")
    with (
        tenant_scope(ask.space.tenant_id),
        CaptureQueriesContext(connection) as asked,
    ):
        found = FINDERS[channel](ask)
    assert found
    assert len(asked) <= 2
    assert all(0 <= hit.score <= 1 and hit.reason for hit in found)


def test_rank_fusion_is_by_place_alone() -> None:
    assert rank_by_score({"a": 0.2, "b": 0.9, "c": None}) == {"b": 1, "a": 2}
    assert compute_reciprocal_rank([1, 1]) == 1.0
    assert compute_reciprocal_rank([1, None]) == 0.5
    one, two, three = (ChannelHit("fact", UUID(int=n), 0.1, "r") for n in (1, 2, 3))
    merged = fuse_channels({"x": [one, two], "y": [two, three]}, {})
    assert [hit.id for hit in merged] == [two.id, one.id, three.id]
    weighted = fuse_channels({"x": [one, two], "y": [three]}, {"y": 2.0})
    assert weighted[0].id == three.id
    assert weighted[0].score == 1.0
