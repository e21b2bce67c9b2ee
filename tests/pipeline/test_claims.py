"""Mem0's checks (spec §15.5) and those of AMA and of spec §10 that are about claims."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import pytest

from memoryhub.dialogues.models import Turn
from memoryhub.errors import Conflict, EngineError
from memoryhub.inference.models import ModelCall
from memoryhub.pipeline import corrections
from memoryhub.pipeline.jobs import runner
from memoryhub.pipeline.models import Job
from memoryhub.policies.services import set_predicate_cardinality
from memoryhub.recall.services import search_memories
from memoryhub.tenants.scope import tenant_scope
from notes.models import (
    Derivation,
    Episode,
    EvolutionEvent,
    Fact,
    IndexEntry,
    Revision,
)
from tests.support.claims import (
    decide_on_claim,
    list_current_texts,
    list_facts,
    make_change_reply,
    make_changes_reply,
    make_fact_reply,
    make_facts_reply,
    make_home_reply,
    make_resolve_reply,
    say_and_derive,
)
from tests.support.hub import START_TIME, ScriptedHub
from tests.support.snapshot import take_snapshot

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("only_claims")]

LIKES = {"kind": "preference", "verb": "likes"}


def search_facts(hub: ScriptedHub, query: str, **options: Any) -> list[str]:
    """Facts that a search answers with."""
    result = search_memories(
        hub.space, query, kinds=("fact",), now=hub.now, reinforce=False, **options
    )
    return [item.text for item in result.items]


def test_M1_the_model_sees_S_ten_messages_the_pair_and_the_date(hub: ScriptedHub) -> None:
    hub.model.allow(extract_facts=make_facts_reply())
    for number in range(14):
        hub.say(f"Earlier message {number} about the garden")
    hub.run_due_jobs()
    with tenant_scope(hub.tenant.id):
        space = hub.space
        Episode.objects.create(
            tenant_id=hub.tenant.id,
            space=space,
            kind="rolling",
            text="Ana plants a garden.",
            from_seq=1,
            to_seq=9,
            from_at=START_TIME,
            to_at=START_TIME,
        )
    hub.say_exchange("I bought a fig tree.", "How nice!")
    hub.run_due_jobs()
    asked = hub.model.list_calls("extract_facts")[-1]
    assert asked["summary"] == "Ana plants a garden."
    earlier = [f"Earlier message {number} about the garden" for number in range(4, 14)]
    assert [message["text"] for message in asked["history"]] == earlier
    assert [m["text"] for m in asked["messages"]] == ["I bought a fig tree.", "How nice!"]
    assert asked["observed"] == hub.now.date().isoformat()


def test_M2_without_neighbours_a_candidate_is_added_unasked(hub: ScriptedHub) -> None:
    say_and_derive(hub, "I like cricket.", make_fact_reply("Ana likes cricket.", **LIKES))
    assert hub.model.list_calls("resolve") == []
    assert list_current_texts(hub) == ["Ana likes cricket."]
    with tenant_scope(hub.tenant.id):
        assert Revision.objects.get(row_type="fact").before is None
        assert EvolutionEvent.objects.filter(kind="resolve").count() == 1


def test_M3_an_augment_is_a_new_version_of_the_same_memory(hub: ScriptedHub) -> None:
    hub.embedder.table["cricket"] = [1.0]
    say_and_derive(hub, "I like cricket.", make_fact_reply("Ana likes cricket.", **LIKES))
    merged = "Ana loves cricket with friends."
    hub.model.script("resolve", decide_on_claim("Ana likes cricket.", "augment", merged))
    say_and_derive(hub, "I love cricket with friends.", make_fact_reply(merged, **LIKES))
    old, new = sorted(list_facts(hub), key=lambda known: known.lineage_version)
    assert list_current_texts(hub) == [merged]
    assert (new.lineage, new.lineage_version, new.valid_from) == (old.lineage, 2, old.valid_from)
    assert old.retired_at is not None
    assert (old.valid_to, old.status) == (None, "active")
    with tenant_scope(hub.tenant.id):
        supports = Derivation.objects.filter(child_id=new.id, role="support")
        assert supports.values("turn").distinct().count() == 2
        assert Revision.objects.get(row_id=old.id, version_after=2).before is not None


@pytest.mark.parametrize(
    ("chosen", "current"),
    [("single", ["Ana drives a Kia."]), (None, ["Ana drives a Fiat.", "Ana drives a Kia."])],
)
def test_a_person_sets_that_a_predicate_has_one_value_at_a_time(
    hub: ScriptedHub, chosen: Literal["single"] | None, current: list[str]
) -> None:
    """Of a predicate that the table does not know, without a model's verdict."""
    set_predicate_cardinality(hub.tenant.id, "drives", "single", actor="ida")
    set_predicate_cardinality(hub.tenant.id, "drives", chosen, actor="ida")
    for car in ("Fiat", "Kia"):
        reply = make_fact_reply(f"Ana drives a {car}.", predicate="drives", object=car)
        hub.model.allow("resolve")
        say_and_derive(hub, f"I drive a {car}.", reply)
        hub.pass_time(days=1)
    assert list_current_texts(hub) == current


def test_M4_a_contradiction_closes_the_old_and_keeps_it_for_the_past(hub: ScriptedHub) -> None:
    say_and_derive(hub, "I love cheese pizza.", make_fact_reply("Ana loves cheese pizza.", **LIKES))
    yesterday = hub.now
    hub.pass_time(days=1)
    hub.model.script("resolve", decide_on_claim("Ana loves cheese pizza.", "contradict"))
    say_and_derive(
        hub, "I dislike cheese pizza.", make_fact_reply("Ana dislikes cheese pizza.", **LIKES)
    )
    old, new = list_facts(hub)
    assert list_current_texts(hub) == ["Ana dislikes cheese pizza."]
    assert (old.status, old.valid_to, new.supersedes_id) == ("superseded", new.valid_from, old.id)
    assert old.valid_from <= yesterday < new.valid_from
    assert search_facts(hub, "pizza") == ["Ana dislikes cheese pizza."]
    assert search_facts(hub, "pizza", as_of=yesterday) == ["Ana loves cheese pizza."]


def test_M5_E7_the_same_words_later_corroborate_and_delete_nothing(hub: ScriptedHub) -> None:
    for _ in range(2):
        say_and_derive(hub, "I like cricket.", make_fact_reply("Ana likes cricket.", **LIKES))
        hub.pass_time(days=1)
    (known,) = list_facts(hub)
    assert (known.mention_count, known.status, known.valid_to) == (2, "active", None)
    assert hub.model.list_calls("resolve") == []
    with tenant_scope(hub.tenant.id):
        assert Derivation.objects.filter(child_id=known.id, role="support").count() == 2


def test_M6_E13_a_target_that_was_not_offered_makes_a_new_fact(hub: ScriptedHub) -> None:
    say_and_derive(hub, "I like cricket.", make_fact_reply("Ana likes cricket.", **LIKES))
    hub.model.script("resolve", make_resolve_reply(("c1", "augment", "m42")))
    say_and_derive(
        hub, "I like cricket on TV.", make_fact_reply("Ana likes cricket on TV.", **LIKES)
    )
    assert list_current_texts(hub) == ["Ana likes cricket.", "Ana likes cricket on TV."]
    with tenant_scope(hub.tenant.id):
        assert ModelCall.objects.get(purpose="resolve").rejected == 1


def test_M7_E12_E15_prose_is_retried_and_never_no_facts(hub: ScriptedHub) -> None:
    hub.model.script("extract_facts", "Sure! Here is", "I'm sorry, I can't help with that.")
    hub.say("I like cricket.")
    hub.run_due_jobs()
    with tenant_scope(hub.tenant.id):
        job = Job.objects.get(step="derive")
        assert (job.state, Fact.objects.count()) == (Job.State.RETRY, 0)
        assert Turn.objects.get().state == Turn.State.PENDING
        assert job.run_after > hub.now
    hub.model.script(
        "extract_facts", make_facts_reply(make_fact_reply("Ana likes cricket.", **LIKES))
    )
    hub.run_due_jobs()
    assert list_current_texts(hub) == ["Ana likes cricket."]


def test_M8_at_most_s_neighbours_are_offered(hub: ScriptedHub) -> None:
    many = [make_fact_reply(f"Ana likes tea of kind {n}.", **LIKES) for n in range(12)]
    say_and_derive(hub, "I like many teas.", *many)
    hub.model.script("resolve", make_resolve_reply())
    say_and_derive(
        hub,
        "I like tea of another kind.",
        make_fact_reply("Ana likes tea of another kind.", **LIKES),
    )
    (asked,) = hub.model.list_calls("resolve")
    assert len(asked["new"][0]["compare"]) == len(asked["kept"]) == 10


def test_M8_our_own_instructions_are_nobodys_facts(hub: ScriptedHub) -> None:
    say_and_derive(
        hub,
        "Good morning to you.",
        make_fact_reply("Leave out questions, wishes, hypotheses, jokes, role play."),
        make_fact_reply("Ana says good morning."),
    )
    assert list_current_texts(hub) == ["Ana says good morning."]


def test_M9_a_second_closure_of_the_same_claim_is_decided_anew(hub: ScriptedHub) -> None:
    say_and_derive(
        hub, "I drink tea daily.", make_fact_reply("Ana drinks tea daily.", verb="drinks")
    )
    hub.set_policy("mem0", episodes__rolling=False, graph__enabled=True, derive__batch_exchanges=2)
    both = ("Ana drinks tea weekly.", "Ana drinks tea monthly.")
    said = ("Now I drink tea weekly.", "No, monthly I drink tea.")
    hub.model.script(
        "resolve",
        lambda data: make_resolve_reply(
            *((new["handle"], "contradict", "m1") for new in data["new"])
        ),
        decide_on_claim(both[0], "contradict"),
    )
    hub.pass_time(days=1)
    hub.model.script(
        "extract_facts",
        make_facts_reply(
            make_fact_reply(both[0], verb="drinks", quote=said[0]),
            make_fact_reply(both[1], "t2", verb="drinks", quote=said[1]),
        ),
    )
    hub.say(*said)
    hub.run_due_jobs()
    first, second = hub.model.list_calls("resolve")
    assert len(first["new"]) == 2
    assert [new["text"] for new in second["new"]] == [both[1]]
    assert both[0] in [kept["text"] for kept in second["kept"]]
    daily, weekly, monthly = list_facts(hub)
    assert (daily.valid_to, weekly.valid_to) == (weekly.valid_from, monthly.valid_from)
    assert (weekly.supersedes_id, monthly.supersedes_id) == (daily.id, weekly.id)


def test_M10_mem0_to_the_letter_forgets_and_keeps_nothing(hub: ScriptedHub) -> None:
    hub.set_policy(
        "mem0",
        episodes__rolling=False,
        facts__store_after_contradiction=False,
        facts__contradiction="retract",
    )
    say_and_derive(hub, "I love cheese pizza.", make_fact_reply("Ana loves cheese pizza.", **LIKES))
    hub.model.script("resolve", decide_on_claim("Ana loves cheese pizza.", "contradict"))
    say_and_derive(
        hub, "I dislike cheese pizza.", make_fact_reply("Ana dislikes cheese pizza.", **LIKES)
    )
    (old,) = list_facts(hub)
    assert (old.status, list_current_texts(hub)) == ("retracted", [])


def test_keep_both_closes_nothing(hub: ScriptedHub) -> None:
    hub.set_policy(
        "mem0", episodes__rolling=False, graph__enabled=True, facts__contradiction="keep_both"
    )
    say_and_derive(hub, "I live in Porto.", make_home_reply("Porto"))
    hub.pass_time(days=1)
    say_and_derive(hub, "I live in Faro.", make_home_reply("Faro"))
    assert list_current_texts(hub) == ["Ana lives in Porto.", "Ana lives in Faro."]


def test_append_only_never_asks(hub: ScriptedHub) -> None:
    hub.set_policy(
        "mem0", episodes__rolling=False, graph__enabled=True, facts__resolution="append_only"
    )
    for city in ("Porto", "Faro", "Faro"):
        say_and_derive(hub, f"I live in {city}.", make_home_reply(city))
    assert list_current_texts(hub) == ["Ana lives in Porto.", "Ana lives in Faro."]


def test_M11_relative_dates_are_of_the_conversation(hub: ScriptedHub) -> None:
    said = datetime(2023, 5, 24, 10, tzinfo=UTC)
    ran = make_fact_reply(
        "Ana ran 10 km.", kind="event", when="yesterday", **{"from": "2023-05-23"}
    )
    say_and_derive(hub, "Yesterday I ran 10 km.", ran, at=said)
    (known,) = list_facts(hub)
    assert known.event_from == datetime(2023, 5, 23, tzinfo=UTC)
    (asked,) = [each for each in hub.model.requests if each.purpose == "extract_facts"]
    assert asked.data["observed"] == "2023-05-24"
    # Nothing of the wall clock, nor of the hub's own, in what the model is told.
    for day in (datetime.now(UTC), hub.now):
        assert day.date().isoformat() not in str(asked.messages)


def test_X4_E8_late_news_is_a_closed_interval_of_the_past(hub: ScriptedHub) -> None:
    say_and_derive(hub, "I live in Porto.", make_home_reply("Porto"))
    early = START_TIME - timedelta(days=300)
    say_and_derive(hub, "I live in Faro.", make_home_reply("Faro"), at=early)
    faro, porto = list_facts(hub)
    assert (porto.status, porto.valid_to) == ("active", None)
    assert (faro.valid_from, faro.valid_to) == (early, porto.valid_from)


def get_resolving_event(hub: ScriptedHub, city: str) -> EvolutionEvent:
    with tenant_scope(hub.tenant.id):
        made = Revision.objects.select_related("event").get(
            row_id__in=Fact.objects.filter(object=city).values("id"), version_after=1
        )
        return made.event


def test_X8_an_event_that_a_later_one_rests_on_is_undone_with_it_or_not_at_all(
    hub: ScriptedHub,
) -> None:
    say_and_derive(hub, "I live in Rome.", make_home_reply("Rome"))
    hub.pass_time(days=30)
    say_and_derive(hub, "I moved to Berlin.", make_home_reply("Berlin"))
    first, second = get_resolving_event(hub, "Rome"), get_resolving_event(hub, "Berlin")
    before = take_snapshot(hub.tenant)
    with pytest.raises(Conflict) as refused:
        corrections.undo_event(first, "eva", hub.now)
    assert refused.value.extra["later"] == [str(second.id)]
    assert take_snapshot(hub.tenant) == before
    undone = corrections.undo_event(first, "eva", hub.now, cascade=True).event
    assert list_current_texts(hub) == []
    assert search_facts(hub, "Where does Ana live?", include_past=True) == []
    with tenant_scope(hub.tenant.id):
        undos = EvolutionEvent.objects.filter(kind="undo").order_by("created_at", "id")
        assert [event.undo_of_id for event in undos] == [second.id, first.id]
    # And redo, of the older one and then of what rested on it.
    again = corrections.undo_event(undone, "eva", hub.now).event
    assert (again.undo_of_id, list_current_texts(hub)) == (undone.id, ["Ana lives in Rome."])


def test_AA5_moving_closes_one_home_and_keeps_both(hub: ScriptedHub) -> None:
    say_and_derive(hub, "I live in Rome.", make_home_reply("Rome"))
    hub.pass_time(days=30)
    say_and_derive(hub, "I moved to Berlin.", make_home_reply("Berlin", kind="event"))
    rome, berlin = list_facts(hub)
    assert (rome.status, rome.valid_to, berlin.status) == (
        "superseded",
        berlin.valid_from,
        "active",
    )
    assert (berlin.lineage, berlin.supersedes_id) == (rome.lineage, rome.id)
    assert search_facts(hub, "Where does Ana live?") == ["Ana lives in Berlin."]
    both = search_facts(hub, "Where does Ana live?", include_past=True)
    assert set(both) == {"Ana lives in Rome.", "Ana lives in Berlin."}
    with tenant_scope(hub.tenant.id):
        closing = Revision.objects.get(row_id=rome.id, version_after=2)
        opening = Revision.objects.get(row_id=berlin.id)
        assert closing.event_id == opening.event_id


def test_AA10_J6_related_turns_that_do_not_come_before_are_dropped(hub: ScriptedHub) -> None:
    hub.set_policy("mem0", episodes__rolling=False, llm__combine_calls=True, notes__enabled=True)
    hub.model.allow(construct=make_changes_reply())
    hub.subject = "Ben"
    (foreign,) = hub.say("I have another garden.").turns
    hub.subject = "Ana"
    hub.say("Shall we talk of the garden?")
    hub.run_due_jobs()
    strange = ["h99", "t2", "t1", str(foreign.id), f"h{foreign.seq + 1}", f"D1:{foreign.seq}"]
    tree = make_change_reply("add", "Ana bought a fig tree.", quote="I bought a fig tree.")
    exchange = {"exchange": "e1", "related": ["h1", *strange]}
    hub.model.script("construct", make_changes_reply(tree, exchanges=[exchange]))
    hub.say("I bought a fig tree.")
    hub.run_due_jobs()
    with tenant_scope(hub.tenant.id):
        (context,) = Derivation.objects.filter(child_type="fact", role="context")
        assert context.turn.text == "Shall we talk of the garden?"


def test_E19_taken_back_was_never_so(hub: ScriptedHub) -> None:
    say_and_derive(hub, "I live in Porto.", make_home_reply("Porto"))
    denial = make_home_reply(
        "Porto", text="Ana does not live in Porto.", polarity="denied", correction=True
    )
    say_and_derive(hub, "I never said I live in Porto.", denial)
    (porto,) = list_facts(hub)
    assert (porto.status, porto.retired_at is None, porto.valid_to) == ("retracted", False, None)
    assert search_facts(hub, "Where does Ana live?", as_of=porto.valid_from) == []


def test_E19_a_corrected_day_takes_the_place_of_the_wrong_one(hub: ScriptedHub) -> None:
    met = {"verb": "met", "object": "Tom", "kind": "event"}
    say_and_derive(hub, "I met Tom on Monday.", make_fact_reply("Ana met Tom on Monday.", **met))
    tuesday = make_fact_reply("Ana met Tom on Tuesday.", correction=True, **met)
    say_and_derive(hub, "It was Tuesday, not Monday.", tuesday)
    wrong, right = list_facts(hub, object="Tom")
    assert (wrong.status, right.supersedes_id) == ("retracted", wrong.id)
    assert list_current_texts(hub) == ["Ana met Tom on Tuesday."]


def test_an_ending_without_a_predicate_ends_what_its_words_say(hub: ScriptedHub) -> None:
    say_and_derive(
        hub,
        "I smoke cigars.",
        make_fact_reply("Ana smokes cigars.", verb="smokes", object="cigars"),
    )
    hub.pass_time(days=1)
    say_and_derive(
        hub, "I quit smoking.", make_fact_reply("Ana quit smoking.", polarity="ended", verb="quit")
    )
    smokes, quit_ = list_facts(hub)
    assert (smokes.status, smokes.valid_to) == ("superseded", quit_.valid_from)


def test_E2_E26_what_asserts_nothing_makes_no_facts(hub: ScriptedHub) -> None:
    hub.say("👍")
    hub.run_due_jobs()
    assert hub.model.list_calls("extract_facts") == []
    acts = [{"handle": "t1", "act": "question"}]
    say_and_derive(hub, "Did I move to Paris?", parts={"speech_acts": acts})
    assert list_facts(hub) == []
    with tenant_scope(hub.tenant.id):
        assert [turn.speech_act for turn in Turn.objects.all()] == ["chitchat", "question"]


def test_E14_more_facts_than_the_cap_are_dropped_and_counted(hub: ScriptedHub) -> None:
    say_and_derive(
        hub,
        "So many things.",
        *(make_fact_reply(f"Ana owns thing number {n}.") for n in range(200)),
    )
    assert len(list_facts(hub)) == 20
    with tenant_scope(hub.tenant.id):
        assert ModelCall.objects.get(purpose="extract_facts").rejected == 180


def test_E25_another_persons_words_are_about_that_person(hub: ScriptedHub) -> None:
    cat = make_fact_reply("Maria has a cat.", owner="I", predicate="has_pet", object="cat")
    say_and_derive(hub, "I have a cat.", cat, speaker="Maria")
    (known,) = list_facts(hub)
    assert (known.owner, known.speaker) == ("Maria", "Maria")


def test_E27_an_assistants_echo_is_one_fact_with_two_supports(hub: ScriptedHub) -> None:
    tip = {"kind": "recommendation"}
    say_and_derive(
        hub,
        "Try the Alfama bars.",
        make_fact_reply("Ana should try the Alfama bars.", **tip),
        role="assistant",
    )
    again = make_fact_reply("Ana should try the Alfama bars.", **tip)
    say_and_derive(hub, "Do try the Alfama bars!", again, role="assistant")
    (known,) = list_facts(hub)
    assert known.mention_count == 2


def test_X9_E5_a_chinese_conversation_stays_chinese(hub: ScriptedHub) -> None:
    say_and_derive(hub, "我住在上海。", make_home_reply("上海", text="Ana住在上海。"))
    assert list_current_texts(hub) == ["Ana住在上海。"]
    prompt = hub.model.requests[0].messages[0]["content"]
    assert "English" not in prompt.replace("snake_case name of the relation in English", "")


def test_X10_E4_a_huge_text_is_read_in_windows_and_keeps_its_source(hub: ScriptedHub) -> None:
    filler = "The weather was calm that day and nothing else happened there. " * 14_300
    text = f"{filler}I moved to Braga."
    assert 900_000 < len(text) < 2**20

    def read(data: dict[str, Any]) -> dict[str, Any]:
        found = [m for m in data["messages"] if "I moved to Braga" in m["text"]]
        return make_facts_reply(
            *(make_home_reply("Braga", m["handle"], quote="I moved to Braga") for m in found)
        )

    hub.model.allow(extract_facts=read)
    hub.say(text)
    hub.run_due_jobs()
    (braga,) = list_facts(hub)
    with tenant_scope(hub.tenant.id):
        source = Derivation.objects.get(child_id=braga.id)
        said = source.turn.text[source.span_start : source.span_end]
        assert Turn.objects.count() == 1
        chunks = IndexEntry.objects.filter(kind="turn", owner_id=source.turn_id)
        assert chunks.count() > 500
        assert not chunks.filter(embedding=None).exists()
    assert said == "I moved to Braga"
    asked = hub.model.list_calls("extract_facts")
    assert len(asked) > 20
    for call in asked:
        assert sum(hub.embedder.count_tokens([m["text"] for m in call["messages"]])) <= 6000
    # The end of the text is found by its own chunk.
    (item, *_) = search_memories(hub.space, "moved to Braga", kinds=("turn",), now=hub.now).items
    assert item.id == source.turn_id


def test_E10_what_changed_while_the_model_thought_is_decided_again(hub: ScriptedHub) -> None:
    say_and_derive(hub, "I like cricket.", make_fact_reply("Ana likes cricket.", **LIKES))

    def meanwhile(data: dict[str, Any]) -> dict[str, Any]:
        if len(hub.model.list_calls("resolve")) == 1:
            with tenant_scope(hub.tenant.id):
                Fact.objects.update(version=2)
        return decide_on_claim("Ana likes cricket.", "contradict")(data)

    hub.pass_time(days=1)
    hub.model.script("resolve", meanwhile, meanwhile)
    say_and_derive(hub, "I hate cricket.", make_fact_reply("Ana hates cricket.", **LIKES))
    assert list_current_texts(hub) == ["Ana hates cricket."]
    assert len(hub.model.list_calls("extract_facts")) == 2
    assert list_facts(hub)[0].version == 3


def test_X14_work_waits_for_a_provider_that_is_down_and_loses_nothing(hub: ScriptedHub) -> None:
    hub.model.script("extract_facts", *[EngineError("down", code="unreachable")] * 2)
    hub.say("I like cricket.")
    assert runner.drain_space(hub.tenant.id, hub.space.id, hub.now) == 1
    assert list_facts(hub) == []
    hub.run_due_jobs(seconds=40)
    hub.model.script(
        "extract_facts", make_facts_reply(make_fact_reply("Ana likes cricket.", **LIKES))
    )
    hub.run_due_jobs()
    assert list_current_texts(hub) == ["Ana likes cricket."]
