"""Routing and judging: what is asked of the engine, and what follows (AMA)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from memoryhub.background.deferred_writes import DeferredWriter
from memoryhub.engines import registry
from memoryhub.engines.local.answers import questions
from memoryhub.engines.local.engine import LocalEngine
from memoryhub.engines.types import RoutedQuestion
from memoryhub.errors import EngineError, InvalidInput
from memoryhub.policies.schema import Channel
from memoryhub.policies.services import load_effective_policy
from memoryhub.recall.candidates.sql import retrieve_for_question
from memoryhub.recall.context import build_context
from memoryhub.recall.judge.judge import is_satisfied
from memoryhub.recall.log import reinforcement
from memoryhub.recall.question import intents
from memoryhub.recall.services import search_memories
from memoryhub.tenants.scope import tenant_scope
from notes.history.change_set import serialize_row
from notes.models import Fact, Note, Proposal
from notes.quality import echoes
from notes.retention import decay
from notes.retention.curve import compute_fade_time, draw_chance
from notes.review.proposals import propose_change
from tests.recall.scene import RecallScene
from tests.support.snapshot import RECALL_COUNTERS, take_snapshot

RELEVANT: dict[str, Any] = {"relevant": ["m1"], "conflicts": [], "enough": True}


def judge_all_relevant(data: dict[str, Any]) -> dict[str, Any]:
    """A judge who finds it all relevant, and not enough."""
    return {"relevant": [e["handle"] for e in data["entries"]], "conflicts": [], "enough": False}


@pytest.mark.parametrize(
    ("vector", "store"),
    [
        ((1, 1, 1, 1), "raw"),
        ((0, 1, 0, 1), "episodes"),
        ((0, 0, 1, 0), "episodes"),
        ((0, 0, 0, 1), "facts"),
        ((0, 0, 0, 0), "facts"),
    ],
)
def test_AA1_the_intent_vector_chooses_the_store(vector: tuple[int, ...], store: Channel) -> None:
    fine, abstract, event, atomic = map(bool, vector)
    asked = RoutedQuestion("q", fine=fine, abstract=abstract, event=event, atomic=atomic)
    assert intents.choose_store(asked) == store


@pytest.mark.parametrize(
    ("intent", "kind"),
    [({"fine": True}, "turn"), ({"abstract": True}, "episode"), ({}, "fact")],
)
def test_AA1_a_routed_search_reads_that_store_alone(
    scene: RecallScene, intent: dict[str, bool], kind: str
) -> None:
    scene.hub.set_policy("ama", judge__mode="off")
    scene.set_vectors(kayak=[1, 0])
    scene.say("my kayak leaks")
    scene.add_fact("Ana has a kayak")
    scene.add_episode("topic", "all about the kayak")
    scene.hub.model.script("route", {"query": "kayak", "want": 1} | intent)
    found = search_memories(scene.space, "what of it?", now=scene.hub.now)
    assert {item.kind for item in found.items} == {kind}


@pytest.mark.parametrize(("want", "k"), [(1, 5), (12, 12), (999, 30), (0, 5)])
def test_AA2_K_is_what_is_wanted_within_bounds(want: int, k: int) -> None:
    assert intents.compute_memory_count(want, 5, 30) == k


def test_AA2_the_router_s_want_is_kept_to(scene: RecallScene) -> None:
    scene.hub.set_policy("ama", judge__mode="off", recall__k_min=2, recall__k_max=4)
    scene.set_vectors(kayak=[1, 0])
    for n in range(6):
        scene.add_fact(f"kayak {n}")
    for want, k in ((1, 2), (3, 3), (999, 4)):
        scene.hub.model.script("route", {"query": "kayak", "want": want})
        assert len(search_memories(scene.space, "?", limit=None, now=scene.hub.now).items) == k


def test_AA3_not_enough_twice_is_two_rounds_and_insufficient(scene: RecallScene) -> None:
    scene.hub.set_policy("ama")
    scene.set_vectors(kayak=[1, 0], weather=[0, 1])
    said, other = scene.say("my kayak leaks", "the weather turned")
    related = scene.add_fact("Ana has a kayak", said)
    scene.add_context_turn(related, other)
    scene.hub.model.script("route", {"query": "kayak"})
    scene.hub.model.script("judge", judge_all_relevant, judge_all_relevant)
    found = search_memories(scene.space, "kayak?", now=scene.hub.now)
    first, second = scene.hub.model.list_calls("judge")
    assert [e["text"] for e in first["entries"]] == ["Ana has a kayak"]
    # Expansion by related turns: the one it was read with, and the one it was read from.
    assert {e["text"] for e in second["entries"]} == {
        "Ana has a kayak",
        "the weather turned",
        "my kayak leaks",
    }
    assert found.insufficient
    assert related.id in [item.id for item in found.items]


def test_AA3_without_anything_related_the_next_store_is_tried(scene: RecallScene) -> None:
    scene.hub.set_policy("ama")
    scene.set_vectors(kayak=[1, 0])
    scene.add_fact("Ana has a kayak")
    told = scene.add_episode("topic", "a week in the kayak")
    scene.hub.model.script("route", {"query": "kayak"})
    scene.hub.model.script("judge", judge_all_relevant, RELEVANT | {"relevant": ["m1", "m2"]})
    found = search_memories(scene.space, "kayak?", now=scene.hub.now)
    assert not found.insufficient
    assert [item.kind for item in found.items] == ["fact", "episode"]
    assert found.items[1].id == told.id


def test_AA3_what_was_relevant_in_the_first_round_is_kept(scene: RecallScene) -> None:
    scene.hub.set_policy("ama")
    scene.set_vectors(kayak=[1, 0], boat=[0.9, 0.44])
    kept, dropped = scene.add_fact("Ana has a kayak"), scene.add_fact("Ana saw a boat")
    scene.hub.model.script("route", {"query": "kayak"})
    scene.add_episode("topic", "a week in the kayak")
    scene.hub.model.script("judge", RELEVANT | {"enough": False}, judge_all_relevant)
    ids = [item.id for item in search_memories(scene.space, "kayak?", now=scene.hub.now).items]
    assert kept.id in ids
    assert dropped.id not in ids
    assert len(ids) == 2


def test_AA3_what_is_relevant_comes_in_the_judge_s_order(scene: RecallScene) -> None:
    scene.hub.set_policy("ama", recall__rounds=1)
    scene.set_vectors(kayak=[1, 0], boat=[0.9, 0.4])
    near, far = scene.add_fact("Ana has a kayak"), scene.add_fact("Ana has a boat")
    scene.hub.model.allow(route={"query": "kayak", "want": 2}, judge=RELEVANT)
    scene.hub.model.script("judge", {"relevant": ["m2", "m1"], "conflicts": [], "enough": True})
    found = search_memories(scene.space, "kayak", now=scene.hub.now)
    assert [item.id for item in found.items] == [far.id, near.id]


def test_without_a_model_what_was_found_by_its_meaning_is_not_set_aside(
    scene: RecallScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`ama` on a hub without a model: rules can't tell a text that shares no word from junk."""
    monkeypatch.setattr(registry, "get_engine", lambda name, settings: LocalEngine())
    scene.hub.set_policy("ama")
    scene.set_vectors(canoe=[1, 0], boat=[0.9, 0.44], weather=[0, 1])
    boat = scene.add_fact("Ana bought a boat")
    scene.add_fact("The weather turned")
    found = search_memories(scene.space, "has she a canoe?", now=scene.hub.now)
    assert [item.id for item in found.items] == [boat.id]
    assert not found.insufficient
    assert not scene.hub.model.list_calls("judge")


def test_without_a_model_the_next_store_is_tried_where_nothing_was_found(
    scene: RecallScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "get_engine", lambda name, settings: LocalEngine())
    scene.hub.set_policy("ama")
    scene.set_vectors(canoe=[1, 0], boat=[0.9, 0.44])
    told = scene.add_episode("topic", "a week on the boat")
    found = search_memories(scene.space, "has she a canoe?", now=scene.hub.now)
    assert [item.id for item in found.items] == [told.id]
    assert found.rounds == 2


def test_AA4_one_round_is_no_retry(scene: RecallScene) -> None:
    scene.hub.set_policy("ama", recall__rounds=1)
    scene.set_vectors(kayak=[1, 0])
    (turn,) = scene.say("my kayak leaks")
    scene.add_fact("Ana has a kayak", turn)
    scene.hub.model.script("route", {"query": "kayak"})
    scene.hub.model.script("judge", judge_all_relevant)
    assert search_memories(scene.space, "kayak?", now=scene.hub.now).insufficient
    assert len(scene.hub.model.list_calls("judge")) == 1


def test_too_few_of_use_are_not_enough_either() -> None:
    assert is_satisfied(3, 10, enough=True, density=0.3)
    assert not is_satisfied(2, 10, enough=True, density=0.3)
    assert not is_satisfied(10, 10, enough=False, density=0.3)
    assert not is_satisfied(0, 0, enough=True, density=0.0)


def remove_counters(rows: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """A picture taken before, without what recalling counts."""
    return {
        name: [{k: v for k, v in row.items() if k not in RECALL_COUNTERS} for row in found]
        for name, found in rows.items()
    }


def test_AA6_a_question_changes_nothing_and_reports_the_conflict(scene: RecallScene) -> None:
    scene.hub.set_policy(judge__mode="llm", recall__rounds=1)
    scene.set_vectors(Berlin=[1, 0], Rome=[0.9, 0.44])
    (turn,) = scene.say("I live in Rome")
    rome = scene.add_fact("Ana lives in Rome", turn, predicate_key="lives_in", cardinality="single")
    before = take_snapshot(scene.hub.tenant)
    clash = {"handles": ["m1", "m77"], "why": "asked about Berlin"}
    scene.hub.model.script("judge", RELEVANT | {"conflicts": [clash]})
    found = search_memories(scene.space, "Did I move to Berlin?", now=scene.hub.now)
    assert [(c.ids, c.why) for c in found.conflicts] == [((rome.id,), "asked about Berlin")]
    assert take_snapshot(scene.hub.tenant) == before
    reinforcement.flush_recalls()
    assert take_snapshot(scene.hub.tenant, without=RECALL_COUNTERS) == remove_counters(before)
    assert take_snapshot(scene.hub.tenant) != before


def test_AA6_current_facts_that_can_not_all_hold_are_reported(scene: RecallScene) -> None:
    scene.set_vectors(town=[1, 0])
    where: dict[str, Any] = {"predicate_key": "lives_in", "cardinality": "single"}
    past = scene.hub.now - timedelta(days=30)
    a = scene.add_fact("the town is Rome", **where)
    # One open claim a matter is a constraint: the other is closed, but not yet.
    b = scene.add_fact("the town is Oslo", **where, valid_to=scene.hub.now + timedelta(days=30))
    c = scene.add_fact("the town was Bonn", **where, valid_from=past, valid_to=scene.hub.now)
    (found,) = search_memories(
        scene.space, "which town", now=scene.hub.now, include_past=True
    ).conflicts
    assert set(found.ids) == {a.id, b.id}
    assert c.id not in found.ids


@pytest.mark.parametrize("kind", ["conflict", "overwrite"])
def test_what_waits_for_a_person_is_reported_with_what_it_is_about(
    scene: RecallScene, kind: str
) -> None:
    """As long as nobody has answered, it is not known which of the two is true."""
    scene.set_vectors(town=[1, 0], kettle=[0, 1])
    held = scene.add_fact("the town is Rome")
    beside = scene.add_fact("the town is Oslo", confidence=0.3) if kind == "conflict" else None
    scene.add_fact("the kettle is red")
    payload = {"op": "supersede", "fact_id": str(beside.id) if beside else None}
    with tenant_scope(scene.space.tenant_id):
        case = propose_change(
            scene.space, kind, "x", "told of others", scene.hub.now, payload=payload, row=held
        )
    ids = (held.id, beside.id) if beside else (held.id,)

    def list_told(question: str) -> list[tuple[Any, ...]]:
        found = search_memories(scene.space, question, now=scene.hub.now)
        packed = build_context(scene.space, question, now=scene.hub.now)
        assert found.conflicts == packed.conflicts
        return [(each.ids, each.why) for each in found.conflicts]

    assert list_told("which town") == [(ids, "told of others")]
    assert list_told("which kettle") == []
    with tenant_scope(scene.space.tenant_id):
        Proposal.objects.filter(id=case.id).update(state="rejected")
    assert list_told("which town") == []


@pytest.mark.parametrize(
    "reply", ["no JSON at all", '{"intent": "facts"}', EngineError("down"), "{"]
)
def test_AA11_an_invalid_route_leaves_the_question_facts_and_K_m(
    scene: RecallScene, reply: Any
) -> None:
    scene.hub.set_policy("ama", judge__mode="off", recall__k_min=2)
    scene.set_vectors(kayak=[1, 0])
    scene.say("kayak kayak kayak")
    for n in range(4):
        scene.add_fact(f"kayak {n}")
    once = [reply] if isinstance(reply, EngineError) else [reply, reply]
    scene.hub.model.script("route", *once)
    found = search_memories(scene.space, "kayak?", limit=None, now=scene.hub.now)
    assert [item.kind for item in found.items] == ["fact", "fact"]
    assert found.degraded == ["router"]


def test_E16_X14_a_provider_that_is_down_costs_router_and_judge_only(scene: RecallScene) -> None:
    scene.hub.set_policy(route__mode="llm", judge__mode="llm")
    scene.set_vectors(kayak=[1, 0])
    fact = scene.add_fact("Ana has a kayak")
    down = EngineError("connection refused")
    scene.hub.model.script("route", down, down)
    scene.hub.model.script("judge", down, down)
    found = search_memories(scene.space, "kayak?", now=scene.hub.now)
    made = build_context(scene.space, "kayak?", now=scene.hub.now)
    assert [item.id for item in found.items] == [fact.id]
    assert [item.id for item in made.items("facts")] == [fact.id]
    for result in (found, made):
        assert list(result.degraded) == ["router", "judge"]
        assert result.unverified
        assert not result.insufficient


def test_E16_a_spent_budget_degrades_the_same_way(scene: RecallScene) -> None:
    scene.hub.set_policy(route__mode="llm", judge__mode="llm", llm__budget_tokens_per_day=0)
    scene.set_vectors(kayak=[1, 0])
    scene.add_fact("Ana has a kayak")
    found = search_memories(scene.space, "kayak?", now=scene.hub.now)
    assert list(found.degraded) == ["router", "judge"]
    assert len(found.items) == 1
    assert scene.hub.model.requests == []


def test_the_rewritten_question_is_what_is_searched(scene: RecallScene) -> None:
    scene.hub.set_policy(route__mode="llm")
    scene.set_vectors(kayak=[1, 0], she=[0, 1])
    turn, _ = scene.say("Clara bought a kayak", "she is happy")
    fact = scene.add_fact("Clara bought a kayak")
    scene.hub.model.script("route", {"query": "What of Clara's kayak?", "want": 1})
    found = search_memories(
        scene.space, "what did she buy?", session_id=turn.session_id, now=scene.hub.now
    )
    assert found.items[0].id == fact.id
    (asked,) = scene.hub.model.list_calls("route")
    assert [said["text"] for said in asked["window"]] == ["Clara bought a kayak", "she is happy"]


def test_names_are_asked_for_where_the_router_is_a_model(scene: RecallScene) -> None:
    scene.hub.set_policy(route__mode="llm", recall__channels=["graph"])
    fact = scene.add_fact("the bakery is hers")
    scene.add_relation(fact, scene.add_entity("Ana"), "owns", scene.add_entity("the old bakery"))
    scene.hub.model.script("route", {"query": "Whose is the bakery?"})
    scene.hub.model.script("query_entities", {"names": ["bakery", "Atlantis"]})
    made = build_context(scene.space, "Whose is the bakery?", now=scene.hub.now)
    assert made.degraded == []
    scene.hub.model.script("route", {"query": "Whose is the old bakery?"})
    scene.hub.model.script("query_entities", {"names": ["the old bakery"]})
    made = build_context(scene.space, "Whose is the old bakery?", now=scene.hub.now)
    assert [item.id for item in made.items("facts")] == [fact.id]


def test_s6_3_mem0g_asks_whom_a_question_names_also_for_a_search(scene: RecallScene) -> None:
    scene.hub.set_policy("mem0g", recall__channels=["graph"])
    scene.set_vectors(mill=[1, 0], place=[0, 1])
    fact = scene.add_fact("it is hers")
    scene.add_relation(fact, scene.add_entity("Ana"), "owns", scene.add_entity("the old mill"))
    scene.hub.model.script("query_entities", {"names": ["mill"]})
    found = search_memories(scene.space, "whose place is that mill?", now=scene.hub.now)
    assert [item.id for item in found.items] == [fact.id]
    assert scene.hub.model.list_calls("route") == []


def test_AA3_a_turn_is_related_to_those_its_facts_were_read_with(scene: RecallScene) -> None:
    """R_t of the raw store: as it was recorded for the facts that were read from the turn."""
    scene.hub.set_policy("ama")
    scene.set_vectors(fig=[1, 0], garden=[0, 1])
    (asked,), (said,) = scene.say("Shall we talk of the garden?"), scene.say("I bought a fig tree")
    fact = scene.add_fact("Ana planted something", said)
    scene.add_context_turn(fact, asked)
    scene.hub.model.script("route", {"query": "exactly what of the fig?", "fine": True, "want": 1})
    scene.hub.model.script(
        "judge",
        lambda data: {"relevant": ["m1"], "conflicts": [], "enough": False},
        judge_all_relevant,
    )
    found = search_memories(scene.space, "exactly what of the fig?", now=scene.hub.now)
    assert [item.id for item in found.items] == [said.id, asked.id]


def test_MB6_what_faded_is_found_by_a_deep_search_which_revives_it(scene: RecallScene) -> None:
    scene.hub.set_policy("memorybank")
    scene.set_vectors(kayak=[1, 0])
    turn, _ = scene.say("my kayak leaks", "hello there")
    scene.get_page(turn, visibility="dormant")

    def found(deep: bool = False) -> list[Any]:
        result = search_memories(scene.space, "kayak", deep=deep, now=scene.hub.now)
        reinforcement.flush_recalls()
        return [item.id for item in result.items]

    assert turn.id not in found()
    assert scene.get_page(turn).visibility == "dormant"
    assert turn.id in found(deep=True)
    assert scene.get_page(turn).visibility == "active"
    assert turn.id in found()


def test_MB5_a_search_at_day_three_strengthens_what_it_found_alone(scene: RecallScene) -> None:
    scene.hub.set_policy("memorybank")
    scene.set_vectors(kayak=[1, 0])
    recalled, other = scene.say("my kayak leaks", "hello there")
    with tenant_scope(scene.hub.tenant.id):
        decay.set_forget_dates(scene.space, load_effective_policy(scene.space).policy.forget)
    before, untouched = scene.get_page(recalled), scene.get_page(other)
    day_three = scene.hub.now + timedelta(days=3)
    search_memories(scene.space, "kayak", deep=True, now=day_three)
    reinforcement.flush_recalls()
    page = scene.get_page(recalled)
    assert (page.strength, page.recall_count, page.last_recall_at) == (2, 1, day_three)
    assert (
        page.forget_at
        == compute_fade_time(day_three, 2, draw_chance(page.id, 1), 1.0)
        != before.forget_at
    )
    assert serialize_row(scene.get_page(other)) == serialize_row(untouched)


def test_MB6_in_a_context_too(scene: RecallScene) -> None:
    scene.hub.set_policy("memorybank")
    scene.set_vectors(kayak=[1, 0])
    (turn,) = scene.say("my kayak leaks")
    scene.get_page(turn, visibility="dormant")
    assert build_context(scene.space, "kayak", now=scene.hub.now).items("raw") == []
    deep = build_context(scene.space, "kayak", deep=True, now=scene.hub.now)
    assert [item.id for item in deep.items("raw")] == [turn.id]
    reinforcement.flush_recalls()
    assert scene.get_page(turn).visibility == "active"


def test_the_last_round_of_a_judge_looks_at_what_has_faded(scene: RecallScene) -> None:
    scene.hub.set_policy("ama", forget__mode="sample")
    scene.set_vectors(kayak=[1, 0])
    scene.add_fact("Ana had a kayak", visibility="dormant")
    scene.add_fact("Ana has a kayak")
    scene.hub.model.script("route", {"query": "kayak"})
    scene.hub.model.script("judge", judge_all_relevant, judge_all_relevant)
    found = search_memories(scene.space, "kayak?", now=scene.hub.now)
    assert [item.text for item in found.items] == ["Ana has a kayak", "Ana had a kayak"]


def test_MB6_what_nothing_bears_on_is_looked_for_again_only_where_something_has_faded(
    scene: RecallScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_for = list[tuple[str, ...]]()

    def spy(ask: Any, kinds: Any, per_arm: int) -> Any:
        looked_for.append(tuple(sorted(kinds)))
        return retrieve_for_question(ask, kinds, per_arm)

    monkeypatch.setattr("memoryhub.recall.ranking.rank.retrieve_for_question", spy)
    scene.set_vectors(kayak=[1, 0], hello=[0, 1])
    scene.say("hello there")
    found = search_memories(scene.space, "kayak", now=scene.hub.now)
    assert (found.items, found.insufficient, found.rounds) == ([], True, 2)
    assert looked_for == [("fact", "note", "turn")]

    looked_for.clear()
    scene.add_fact("Ana has a kayak", visibility="dormant")
    found = search_memories(scene.space, "kayak", now=scene.hub.now)
    assert [item.text for item in found.items] == ["Ana has a kayak"]
    first, *again = looked_for
    assert (first, sorted(again)) == (("fact", "note", "turn"), [("fact",), ("note",), ("turn",)])


def test_X15_a_hundred_searches_change_nothing_but_counters(scene: RecallScene) -> None:
    scene.set_vectors(kayak=[1, 0])
    (turn,) = scene.say("my kayak leaks")
    fact, note = scene.add_fact("Ana has a kayak", turn), scene.add_note("kayak", turn)
    segment = scene.add_segment("kayak", turn)
    everything = take_snapshot(scene.hub.tenant)
    for _ in range(50):
        search_memories(scene.space, "kayak", now=scene.hub.now, deep=True)
        build_context(scene.space, "kayak", now=scene.hub.now, include_past=True)
    assert take_snapshot(scene.hub.tenant) == everything
    reinforcement.flush_recalls()
    assert take_snapshot(scene.hub.tenant, without=RECALL_COUNTERS) == remove_counters(everything)
    assert take_snapshot(scene.hub.tenant) != everything
    with tenant_scope(scene.hub.tenant.id):
        assert Fact.objects.get(id=fact.id).strength == 101
        assert Note.objects.get(id=note.id).version == note.version
        assert type(segment).objects.get(id=segment.id).visits_total == 50


def test_reading_is_counted_after_the_answer_not_within_it(scene: RecallScene) -> None:
    scene.set_vectors(kayak=[1, 0])
    fact = scene.add_fact("Ana has a kayak")

    def strength() -> int:
        with tenant_scope(scene.hub.tenant.id):
            return int(Fact.objects.get(id=fact.id).strength)

    search_memories(scene.space, "kayak", now=scene.hub.now)
    assert strength() == 1
    assert reinforcement.flush_recalls() == 1
    assert strength() == 2
    search_memories(scene.space, "kayak", now=scene.hub.now, reinforce=False)
    assert reinforcement.flush_recalls() == 0


def test_a_full_buffer_drops_the_oldest_word(
    scene: RecallScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = DeferredWriter("reinforcing", reinforcement._write_by_space, most=2)
    monkeypatch.setattr(reinforcement, "_buffer", small)
    scene.set_vectors(kayak=[1, 0])
    scene.add_fact("Ana has a kayak")
    for _ in range(5):
        search_memories(scene.space, "kayak", now=scene.hub.now)
    assert reinforcement.flush_recalls() == 2


@pytest.mark.parametrize(
    ("question", "routed"),
    [
        ("What exactly did Ana say?", {"fine": True, "atomic": False}),
        ("她的原话是什么？", {"fine": True, "atomic": False}),
        ("Summarise the last months", {"abstract": True, "atomic": False}),
        ("What happened in Rome?", {"event": True, "atomic": False}),
        ("Where does Ana live?", {"atomic": True}),
        ("List all her pets", {"atomic": True, "want": 15}),
        ("Name 3 places", {"want": 3}),
    ],
)
def test_the_local_router_reads_signal_words(question: str, routed: dict[str, Any]) -> None:
    found = questions.route_by_words(question)
    assert {name: getattr(found, name) for name in routed} == routed
    assert found.query == question


def test_E31_an_empty_question_is_refused(scene: RecallScene) -> None:
    asking: list[Callable[..., Any]] = [search_memories, build_context]
    for ask in asking:
        with pytest.raises(InvalidInput):
            ask(scene.space, " \0 ")


def test_E27_what_was_given_out_is_known_as_an_echo_when_it_comes_back(scene: RecallScene) -> None:
    scene.set_vectors(kayak=[1, 0])
    (said,) = scene.say("it was my kayak that leaked")
    scene.add_fact("Ana owns a red kayak")
    (early,) = scene.say("Ana owns a red kayak", session="s8", read=False)
    scene.hub.pass_time(hours=1)
    search_memories(scene.space, "kayak", now=scene.hub.now)
    reinforcement.flush_recalls()
    again, own = scene.hub.say(
        "Ana owns a red kayak.", "it was my kayak that leaked", role="assistant", session="s9"
    ).turns
    with tenant_scope(scene.hub.tenant.id):
        found = echoes.find_echoes(scene.space, [again, own, early, said])
    assert set(found) == {again.id}
