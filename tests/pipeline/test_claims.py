"""Mem0's checks (spec §15.5) and those of AMA and §10 that are about claims."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memoryhub.dialogues.models import Turn
from memoryhub.errors import Conflict, EngineError
from memoryhub.inference.models import ModelCall
from memoryhub.pipeline import restoring, runner
from memoryhub.pipeline.models import Job
from memoryhub.recall.services import search
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
    current,
    fact,
    facts,
    lives,
    on,
    reading,
    told,
    verdicts,
)
from tests.support.hub import START, Hub
from tests.support.snapshot import picture

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("only_claims")]

LIKES = {"kind": "preference", "verb": "likes"}


def found(hub: Hub, query: str, **options: Any) -> list[str]:
    """Facts that a search answers with."""
    result = search(hub.space, query, kinds=("fact",), now=hub.now, reinforce=False, **options)
    return [item.text for item in result.items]


def test_M1_the_model_sees_S_ten_messages_the_pair_and_the_date(hub: Hub) -> None:
    hub.model.allow(construct=reading())
    for number in range(14):
        hub.say(f"Earlier message {number} about the garden")
    hub.drain()
    with tenant_scope(hub.tenant.id):
        space = hub.space
        Episode.objects.create(
            tenant_id=hub.tenant.id,
            space=space,
            kind="rolling",
            text="Ana plants a garden.",
            from_seq=1,
            to_seq=9,
            from_at=START,
            to_at=START,
        )
    hub.exchange("I bought a fig tree.", "How nice!")
    hub.drain()
    asked = hub.model.calls("construct")[-1]
    assert asked["summary"] == "Ana plants a garden."
    earlier = [f"Earlier message {number} about the garden" for number in range(4, 14)]
    assert [message["text"] for message in asked["history"]] == earlier
    assert [m["text"] for m in asked["messages"]] == ["I bought a fig tree.", "How nice!"]
    assert asked["observed"] == hub.now.date().isoformat()


def test_M2_without_neighbours_a_candidate_is_added_unasked(hub: Hub) -> None:
    told(hub, "I like cricket.", fact("Ana likes cricket.", **LIKES))
    assert hub.model.calls("resolve") == []
    assert current(hub) == ["Ana likes cricket."]
    with tenant_scope(hub.tenant.id):
        assert Revision.objects.get(row_type="fact").before is None
        assert EvolutionEvent.objects.filter(kind="resolve").count() == 1


def test_M3_an_augment_is_a_new_version_of_the_same_memory(hub: Hub) -> None:
    hub.embedder.table["cricket"] = [1.0]
    told(hub, "I like cricket.", fact("Ana likes cricket.", **LIKES))
    merged = "Ana loves cricket with friends."
    hub.model.script("resolve", on("Ana likes cricket.", "augment", merged))
    told(hub, "I love cricket with friends.", fact(merged, **LIKES))
    old, new = sorted(facts(hub), key=lambda known: known.lineage_version)
    assert current(hub) == [merged]
    assert (new.lineage, new.lineage_version, new.valid_from) == (old.lineage, 2, old.valid_from)
    assert old.retired_at is not None
    assert (old.valid_to, old.status) == (None, "active")
    with tenant_scope(hub.tenant.id):
        supports = Derivation.objects.filter(child_id=new.id, role="support")
        assert supports.values("turn").distinct().count() == 2
        assert Revision.objects.get(row_id=old.id, version_after=2).before is not None


def test_M4_a_contradiction_closes_the_old_and_keeps_it_for_the_past(hub: Hub) -> None:
    told(hub, "I love cheese pizza.", fact("Ana loves cheese pizza.", **LIKES))
    yesterday = hub.now
    hub.pass_time(days=1)
    hub.model.script("resolve", on("Ana loves cheese pizza.", "contradict"))
    told(hub, "I dislike cheese pizza.", fact("Ana dislikes cheese pizza.", **LIKES))
    old, new = facts(hub)
    assert current(hub) == ["Ana dislikes cheese pizza."]
    assert (old.status, old.valid_to, new.supersedes_id) == ("superseded", new.valid_from, old.id)
    assert old.valid_from <= yesterday < new.valid_from
    assert found(hub, "pizza") == ["Ana dislikes cheese pizza."]
    assert found(hub, "pizza", as_of=yesterday) == ["Ana loves cheese pizza."]


def test_M5_E7_the_same_words_later_corroborate_and_delete_nothing(hub: Hub) -> None:
    for _ in range(2):
        told(hub, "I like cricket.", fact("Ana likes cricket.", **LIKES))
        hub.pass_time(days=1)
    (known,) = facts(hub)
    assert (known.mention_count, known.status, known.valid_to) == (2, "active", None)
    assert hub.model.calls("resolve") == []
    with tenant_scope(hub.tenant.id):
        assert Derivation.objects.filter(child_id=known.id, role="support").count() == 2


def test_M6_E13_a_target_that_was_not_offered_makes_a_new_fact(hub: Hub) -> None:
    told(hub, "I like cricket.", fact("Ana likes cricket.", **LIKES))
    hub.model.script("resolve", verdicts(("c1", "augment", "m42")))
    told(hub, "I like cricket on TV.", fact("Ana likes cricket on TV.", **LIKES))
    assert current(hub) == ["Ana likes cricket.", "Ana likes cricket on TV."]
    with tenant_scope(hub.tenant.id):
        assert ModelCall.objects.get(purpose="resolve").rejected == 1


def test_M7_E12_E15_prose_is_retried_and_never_no_facts(hub: Hub) -> None:
    hub.model.script("construct", "Sure! Here is", "I'm sorry, I can't help with that.")
    hub.say("I like cricket.")
    hub.drain()
    with tenant_scope(hub.tenant.id):
        job = Job.objects.get(step="derive")
        assert (job.state, Fact.objects.count()) == (Job.State.RETRY, 0)
        assert Turn.objects.get().state == Turn.State.PENDING
        assert job.run_after > hub.now
    hub.model.script("construct", reading(fact("Ana likes cricket.", **LIKES)))
    hub.drain()
    assert current(hub) == ["Ana likes cricket."]


def test_M8_at_most_s_neighbours_are_offered(hub: Hub) -> None:
    many = [fact(f"Ana likes tea of kind {n}.", **LIKES) for n in range(12)]
    told(hub, "I like many teas.", *many)
    hub.model.script("resolve", verdicts())
    told(hub, "I like tea of another kind.", fact("Ana likes tea of another kind.", **LIKES))
    (asked,) = hub.model.calls("resolve")
    assert len(asked["new"][0]["compare"]) == len(asked["kept"]) == 10


def test_M8_our_own_instructions_are_nobodys_facts(hub: Hub) -> None:
    told(
        hub,
        "Good morning to you.",
        fact("Leave out questions, wishes, hypotheses, jokes, role play."),
        fact("Ana says good morning."),
    )
    assert current(hub) == ["Ana says good morning."]


def test_M9_a_second_closure_of_the_same_claim_is_decided_anew(hub: Hub) -> None:
    told(hub, "I drink tea daily.", fact("Ana drinks tea daily.", verb="drinks"))
    both = ("Ana drinks tea weekly.", "Ana drinks tea monthly.")
    hub.model.script(
        "resolve",
        lambda data: verdicts(*((new["handle"], "contradict", "m1") for new in data["new"])),
        on(both[0], "contradict"),
    )
    hub.pass_time(days=1)
    hub.model.script(
        "construct",
        reading(fact(both[0], verb="drinks"), fact(both[1], "t2", verb="drinks")),
    )
    hub.say("Now I drink tea weekly.", "No, monthly I drink tea.")
    hub.drain()
    first, second = hub.model.calls("resolve")
    assert len(first["new"]) == 2
    assert [new["text"] for new in second["new"]] == [both[1]]
    assert both[0] in [kept["text"] for kept in second["kept"]]
    daily, weekly, monthly = facts(hub)
    assert (daily.valid_to, weekly.valid_to) == (weekly.valid_from, monthly.valid_from)
    assert (weekly.supersedes_id, monthly.supersedes_id) == (daily.id, weekly.id)


def test_M10_mem0_to_the_letter_forgets_and_keeps_nothing(hub: Hub) -> None:
    hub.policy(
        "mem0",
        episodes__rolling=False,
        facts__store_after_contradiction=False,
        facts__contradiction="retract",
    )
    hub.model.script("construct", reading(fact("Ana loves cheese pizza.", **LIKES)))
    hub.say("I love cheese pizza.")
    hub.drain()
    hub.model.script("resolve", on("Ana loves cheese pizza.", "contradict"))
    hub.model.script("construct", reading(fact("Ana dislikes cheese pizza.", **LIKES)))
    hub.say("I dislike cheese pizza.")
    hub.drain()
    (old,) = facts(hub)
    assert (old.status, current(hub)) == ("retracted", [])


def test_keep_both_closes_nothing(hub: Hub) -> None:
    hub.policy(
        "mem0", episodes__rolling=False, graph__enabled=True, facts__contradiction="keep_both"
    )
    told(hub, "I live in Porto.", lives("Porto"))
    hub.pass_time(days=1)
    told(hub, "I live in Faro.", lives("Faro"))
    assert current(hub) == ["Ana lives in Porto.", "Ana lives in Faro."]


def test_append_only_never_asks(hub: Hub) -> None:
    hub.policy(
        "mem0", episodes__rolling=False, graph__enabled=True, facts__resolution="append_only"
    )
    for city in ("Porto", "Faro", "Faro"):
        told(hub, f"I live in {city}.", lives(city))
    assert current(hub) == ["Ana lives in Porto.", "Ana lives in Faro."]


def test_M11_relative_dates_are_of_the_conversation(hub: Hub) -> None:
    said = datetime(2023, 5, 24, 10, tzinfo=UTC)
    ran = fact("Ana ran 10 km.", kind="event", when="yesterday", **{"from": "2023-05-23"})
    told(hub, "Yesterday I ran 10 km.", ran, at=said)
    (known,) = facts(hub)
    assert known.event_from == datetime(2023, 5, 23, tzinfo=UTC)
    (asked,) = hub.model.asked
    assert asked.data["observed"] == "2023-05-24"
    # Nothing of the wall clock, nor of the hub's own, in what the model is told.
    for day in (datetime.now(UTC), hub.now):
        assert day.date().isoformat() not in str(asked.messages)


def test_X4_E8_late_news_is_a_closed_interval_of_the_past(hub: Hub) -> None:
    told(hub, "I live in Porto.", lives("Porto"))
    early = START - timedelta(days=300)
    told(hub, "I live in Faro.", lives("Faro"), at=early)
    faro, porto = facts(hub)
    assert (porto.status, porto.valid_to) == ("active", None)
    assert (faro.valid_from, faro.valid_to) == (early, porto.valid_from)


def events_of(hub: Hub, city: str) -> EvolutionEvent:
    with tenant_scope(hub.tenant.id):
        made = Revision.objects.select_related("event").get(
            row_id__in=Fact.objects.filter(o=city).values("id"), version_after=1
        )
        return made.event


def test_X8_an_event_that_a_later_one_rests_on_is_undone_with_it_or_not_at_all(hub: Hub) -> None:
    told(hub, "I live in Rome.", lives("Rome"))
    hub.pass_time(days=30)
    told(hub, "I moved to Berlin.", lives("Berlin"))
    first, second = events_of(hub, "Rome"), events_of(hub, "Berlin")
    before = picture(hub.tenant)
    with pytest.raises(Conflict) as refused:
        restoring.undo(first, "eva", hub.now)
    assert refused.value.extra["later"] == [str(second.id)]
    assert picture(hub.tenant) == before
    undone = restoring.undo(first, "eva", hub.now, cascade=True)
    assert current(hub) == []
    assert found(hub, "Where does Ana live?", include_past=True) == []
    with tenant_scope(hub.tenant.id):
        undos = EvolutionEvent.objects.filter(kind="undo").order_by("created_at", "id")
        assert [event.undo_of_id for event in undos] == [second.id, first.id]
    # And redo, of the older one and then of what rested on it.
    again = restoring.undo(undone, "eva", hub.now)
    assert (again.undo_of_id, current(hub)) == (undone.id, ["Ana lives in Rome."])


def test_AA5_moving_closes_one_home_and_keeps_both(hub: Hub) -> None:
    told(hub, "I live in Rome.", lives("Rome"))
    hub.pass_time(days=30)
    told(hub, "I moved to Berlin.", lives("Berlin", kind="event"))
    rome, berlin = facts(hub)
    assert (rome.status, rome.valid_to, berlin.status) == (
        "superseded",
        berlin.valid_from,
        "active",
    )
    assert (berlin.lineage, berlin.supersedes_id) == (rome.lineage, rome.id)
    assert found(hub, "Where does Ana live?") == ["Ana lives in Berlin."]
    both = found(hub, "Where does Ana live?", include_past=True)
    assert set(both) == {"Ana lives in Rome.", "Ana lives in Berlin."}
    with tenant_scope(hub.tenant.id):
        closing = Revision.objects.get(row_id=rome.id, version_after=2)
        opening = Revision.objects.get(row_id=berlin.id)
        assert closing.event_id == opening.event_id


def test_AA10_J6_related_turns_that_do_not_come_before_are_dropped(hub: Hub) -> None:
    hub.model.allow(construct=reading())
    hub.subject = "Ben"
    (foreign,) = hub.say("I have another garden.").turns
    hub.subject = "Ana"
    hub.say("Shall we talk of the garden?")
    hub.drain()
    strange = ["h99", "t2", "t1", str(foreign.id), f"h{foreign.seq + 1}", f"D1:{foreign.seq}"]
    parts = {"exchanges": [{"exchange": "e1", "related": ["h1", *strange]}]}
    told(hub, "I bought a fig tree.", fact("Ana bought a fig tree."), parts=parts)
    with tenant_scope(hub.tenant.id):
        (context,) = Derivation.objects.filter(child_type="fact", role="context")
        assert context.turn.text == "Shall we talk of the garden?"


def test_E19_taken_back_was_never_so(hub: Hub) -> None:
    told(hub, "I live in Porto.", lives("Porto"))
    denial = lives("Porto", text="Ana does not live in Porto.", polarity="denied", correction=True)
    told(hub, "I never said I live in Porto.", denial)
    (porto,) = facts(hub)
    assert (porto.status, porto.retired_at is None, porto.valid_to) == ("retracted", False, None)
    assert found(hub, "Where does Ana live?", as_of=porto.valid_from) == []


def test_E19_a_corrected_day_takes_the_place_of_the_wrong_one(hub: Hub) -> None:
    met = {"verb": "met", "object": "Tom", "kind": "event"}
    told(hub, "I met Tom on Monday.", fact("Ana met Tom on Monday.", **met))
    tuesday = fact("Ana met Tom on Tuesday.", correction=True, **met)
    told(hub, "It was Tuesday, not Monday.", tuesday)
    wrong, right = facts(hub, o="Tom")
    assert (wrong.status, right.supersedes_id) == ("retracted", wrong.id)
    assert current(hub) == ["Ana met Tom on Tuesday."]


def test_an_ending_without_a_predicate_ends_what_its_words_say(hub: Hub) -> None:
    told(hub, "I smoke cigars.", fact("Ana smokes cigars.", verb="smokes", object="cigars"))
    hub.pass_time(days=1)
    told(hub, "I quit smoking.", fact("Ana quit smoking.", polarity="ended", verb="quit"))
    smokes, quit_ = facts(hub)
    assert (smokes.status, smokes.valid_to) == ("superseded", quit_.valid_from)


def test_E2_E26_what_asserts_nothing_makes_no_facts(hub: Hub) -> None:
    hub.say("👍")
    hub.drain()
    assert hub.model.calls("construct") == []
    acts = [{"handle": "t1", "act": "question"}]
    told(hub, "Did I move to Paris?", parts={"speech_acts": acts})
    assert facts(hub) == []
    with tenant_scope(hub.tenant.id):
        assert [turn.speech_act for turn in Turn.objects.all()] == ["chitchat", "question"]


def test_E14_more_facts_than_the_cap_are_dropped_and_counted(hub: Hub) -> None:
    told(hub, "So many things.", *(fact(f"Ana owns thing number {n}.") for n in range(200)))
    assert len(facts(hub)) == 20
    with tenant_scope(hub.tenant.id):
        assert ModelCall.objects.get(purpose="construct").rejected == 180


def test_E25_another_persons_words_are_about_that_person(hub: Hub) -> None:
    cat = fact("Maria has a cat.", owner="I", predicate="has_pet", object="cat")
    told(hub, "I have a cat.", cat, speaker="Maria")
    (known,) = facts(hub)
    assert (known.owner, known.speaker) == ("Maria", "Maria")


def test_E27_an_assistants_echo_is_one_fact_with_two_supports(hub: Hub) -> None:
    tip = {"kind": "recommendation"}
    told(
        hub,
        "Try the Alfama bars.",
        fact("Ana should try the Alfama bars.", **tip),
        role="assistant",
    )
    again = fact("Ana should try the Alfama bars.", **tip)
    told(hub, "Do try the Alfama bars!", again, role="assistant")
    (known,) = facts(hub)
    assert known.mention_count == 2


def test_X9_E5_a_chinese_conversation_stays_chinese(hub: Hub) -> None:
    told(hub, "我住在上海。", lives("上海", text="Ana住在上海。"))
    assert current(hub) == ["Ana住在上海。"]
    prompt = hub.model.asked[0].messages[0]["content"]
    assert "English" not in prompt.replace("snake_case name of the relation in English", "")


def test_X10_E4_a_huge_text_is_read_in_windows_and_keeps_its_source(hub: Hub) -> None:
    filler = "The weather was calm that day and nothing else happened there. " * 14_300
    text = f"{filler}I moved to Braga."
    assert 900_000 < len(text) < 2**20

    def read(data: dict[str, Any]) -> dict[str, Any]:
        found = [m for m in data["messages"] if "I moved to Braga" in m["text"]]
        return reading(*(lives("Braga", m["handle"], quote="I moved to Braga") for m in found))

    hub.model.allow(construct=read)
    hub.say(text)
    hub.drain()
    (braga,) = facts(hub)
    with tenant_scope(hub.tenant.id):
        source = Derivation.objects.get(child_id=braga.id)
        said = source.turn.text[source.span_start : source.span_end]
        assert Turn.objects.count() == 1
        chunks = IndexEntry.objects.filter(kind="turn", owner_id=source.turn_id)
        assert chunks.count() > 500
        assert not chunks.filter(embedding=None).exists()
    assert said == "I moved to Braga"
    asked = hub.model.calls("construct")
    assert len(asked) > 20
    for call in asked:
        assert sum(hub.embedder.count_tokens([m["text"] for m in call["messages"]])) <= 6000
    # The end of the text is found by its own chunk.
    (item, *_) = search(hub.space, "moved to Braga", kinds=("turn",), now=hub.now).items
    assert item.id == source.turn_id


def test_E10_what_changed_while_the_model_thought_is_decided_again(hub: Hub) -> None:
    told(hub, "I like cricket.", fact("Ana likes cricket.", **LIKES))

    def meanwhile(data: dict[str, Any]) -> dict[str, Any]:
        if len(hub.model.calls("resolve")) == 1:
            with tenant_scope(hub.tenant.id):
                Fact.objects.update(version=2)
        return on("Ana likes cricket.", "contradict")(data)

    hub.pass_time(days=1)
    hub.model.script("resolve", meanwhile, meanwhile)
    told(hub, "I hate cricket.", fact("Ana hates cricket.", **LIKES))
    assert current(hub) == ["Ana hates cricket."]
    assert len(hub.model.calls("construct")) == 2
    assert facts(hub)[0].version == 3


def test_X14_work_waits_for_a_provider_that_is_down_and_loses_nothing(hub: Hub) -> None:
    hub.model.script("construct", *[EngineError("down", code="unreachable")] * 2)
    hub.say("I like cricket.")
    assert runner.drain(hub.tenant.id, hub.space.id, hub.now) == 1
    assert facts(hub) == []
    hub.drain(seconds=40)
    hub.model.script("construct", reading(fact("Ana likes cricket.", **LIKES)))
    hub.drain()
    assert current(hub) == ["Ana likes cricket."]
