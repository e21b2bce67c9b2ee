"""Erasure through the whole pipeline (spec §11.9): X6, X7, GR9, AA8."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memoryhub.dialogues.models import Session, Turn
from memoryhub.inference.models import ModelCall
from memoryhub.pipeline import corrections
from memoryhub.pipeline.corrections import undo_event
from memoryhub.pipeline.erasure import erase_targets
from memoryhub.pipeline.erasure.erase_targets import ErasureTarget
from memoryhub.pipeline.jobs import queue
from memoryhub.pipeline.models import Job
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.models import (
    Derivation,
    Entity,
    EvolutionEvent,
    Fact,
    IndexEntry,
    Note,
    Proposal,
    Receipt,
    Relation,
    Revision,
    Tombstone,
)
from tests.support.database_scan import find_tables_with_word
from tests.support.hub import ScriptedHub

EVERYTHING: tuple[Any, ...] = (
    *(Turn, Fact, Note, Entity, Relation, Revision, EvolutionEvent, Receipt),
    *(Tombstone, IndexEntry, Derivation, Space),
)
# What the scripted model finds where these words are said.
KNOWN: dict[str, dict[str, Any]] = {
    "Zanzibar": {"text": "Ana moved to Zanzibar.", "relation": "lives_in", "value": "Zanzibar"},
    "Lisbon": {"text": "Ana lives in Lisbon.", "relation": "lives_in", "value": "Lisbon"},
    "kayaking": {"text": "Ana likes kayaking.", "relation": "likes", "value": "kayaking"},
    "marmalade": {"text": "Ana sells marmalade.", "relation": "sells", "value": "marmalade"},
}


def reply_known_changes(data: dict[str, Any]) -> dict[str, Any]:
    changes: list[dict[str, Any]] = []
    relations: list[dict[str, Any]] = []
    for message in data["messages"]:
        for word, known in KNOWN.items():
            if word in message["text"]:
                relations.append(
                    {"source": "Ana", "label": known["relation"], "target": known["value"]}
                    | {"fact": len(changes)}
                )
                changes.append(known | {"source": message["handle"], "quote": word, "owner": "Ana"})
    said = " ".join(message["text"] for message in data["messages"])
    entities = [{"name": "Ana", "type": "person"}] * bool(changes)
    entities += [{"name": each["value"], "type": "place"} for each in changes]
    return {
        "changes": changes,
        "entities": entities,
        "relations": relations,
        "note": {"keywords": said.split()[:12], "tags": [], "context": said[:200]},
    }


@pytest.fixture
def reader(hub: ScriptedHub) -> ScriptedHub:
    hub.model.allow(construct=reply_known_changes)
    hub.model.allow("resolve", "link_evolve", "merge_check")
    hub.set_policy(
        "amem",
        llm__combine_calls=True,
        facts__enabled=True,
        graph__enabled=True,
        notes__links=False,
        notes__evolution=False,
    )
    return hub


def get_turn(hub: ScriptedHub, words: str) -> Turn:
    with tenant_scope(hub.tenant.id):
        return Turn.objects.get(text__contains=words)


def erase_turns(hub: ScriptedHub, *words: str) -> Receipt:
    ids = tuple(get_turn(hub, each).id for each in words)
    return erase_targets.execute_erasure(hub.space, ErasureTarget("turns", ids), "eva", hub.now)


def list_fact_texts(hub: ScriptedHub) -> set[str]:
    with tenant_scope(hub.tenant.id):
        return set(Fact.objects.filter(retired_at=None).values_list("text", flat=True))


def test_X6_E21_nothing_of_an_erased_turn_is_left_in_any_column(reader: ScriptedHub) -> None:
    hub = reader
    hub.say_exchange("I like kayaking on the river.", "Nice.")
    hub.run_due_jobs()
    hub.say_exchange("I moved to Zanzibar, and kayaking at Xylofort is fun.", "Great.")
    hub.say_exchange("And the weather is fine today.", "Good to hear.")
    hub.run_due_jobs()
    with tenant_scope(hub.tenant.id):
        kayaking = Fact.objects.get(object="kayaking")
        assert kayaking.mention_count == 2
        ModelCall.objects.create(
            tenant=hub.tenant,
            space=hub.space,
            purpose="construct",
            template="construct.v1",
            model="scripted",
            status="ok",
            input={"text": "Zanzibar"},
            output="Zanzibar",
            created_at=hub.now,
        )
        Proposal.objects.create(
            tenant=hub.tenant,
            space=hub.space,
            kind="conflict",
            payload={"text": "Zanzibar"},
            turn_ids=[get_turn(hub, "Zanzibar").id],
            dedupe_key="x",
            created_at=hub.now,
        )
        assert "public.notes_fact" in find_tables_with_word("Zanzibar")
        assert len(find_tables_with_word("Xylofort")) > 2

    target = ErasureTarget("turns", (get_turn(hub, "Zanzibar").id,))
    planned = erase_targets.plan_erasure(hub.space, target)
    assert planned.counts["turns"] == 1
    assert planned.counts["rederived"] >= 1
    assert list_fact_texts(hub) == {"Ana likes kayaking.", "Ana moved to Zanzibar."}

    receipt = erase_targets.execute_erasure(hub.space, target, "eva", hub.now)
    assert receipt.counts["facts"] == 2  # one rested on it alone, one is derived again
    assert planned.counts.items() <= receipt.counts.items()
    assert list_fact_texts(hub) == set()
    with tenant_scope(hub.tenant.id):
        for word in ("Zanzibar", "Xylofort", "fun", "Zanzib"):
            assert find_tables_with_word(word) == [], word
    hub.run_due_jobs()
    assert list_fact_texts(hub) == {"Ana likes kayaking."}
    with tenant_scope(hub.tenant.id):
        again = Fact.objects.get(retired_at=None)
        assert again.mention_count == 1
        support = Derivation.objects.filter(child_id=again.id, role="support")
        assert [link.turn.text for link in support] == ["I like kayaking on the river."]
        for word in ("Zanzibar", "Xylofort"):
            assert find_tables_with_word(word) == [], word
        assert not IndexEntry.objects.filter(embedding=None).exists()
        gone = Turn.objects.get(state=Turn.State.REDACTED)
        assert (gone.seq, gone.ordinal, gone.role) == (3, 3, "user")
        assert not IndexEntry.objects.filter(owner_id=gone.id).exists()


def get_state(hub: ScriptedHub) -> list[Any]:
    with tenant_scope(hub.tenant.id):
        return [list(model.objects.order_by("id").values()) for model in EVERYTHING]


def test_X6_E21_a_second_erasure_counts_zero_and_changes_nothing(reader: ScriptedHub) -> None:
    reader.say_exchange("I moved to Zanzibar.", "Great.")
    reader.run_due_jobs()
    target = ErasureTarget("turns", (get_turn(reader, "Zanzibar").id,))
    erase_targets.execute_erasure(reader.space, target, "eva", reader.now)
    reader.run_due_jobs()
    before = get_state(reader)
    assert erase_targets.execute_erasure(reader.space, target, "eva", reader.now).counts == {}
    assert erase_targets.plan_erasure(reader.space, target).is_empty
    assert str(get_state(reader)) == str(before)


def test_X7_GR9_what_an_erased_fact_had_closed_is_open_again(reader: ScriptedHub) -> None:
    reader.say_exchange("I live in Lisbon.", "Nice.")
    reader.run_due_jobs(days=30)
    reader.say_exchange("I moved to Zanzibar.", "Wow.")
    reader.run_due_jobs()
    with tenant_scope(reader.tenant.id):
        assert Fact.objects.get(object="Lisbon").valid_to is not None
        assert Entity.objects.filter(canonical_key="zanzibar").exists()
    target = ErasureTarget("turns", (get_turn(reader, "Zanzibar").id,))
    plan, rows, _staying = erase_targets.preview_erasure(reader.space, target)
    assert [row.text for row in rows if row.how == "true again"] == ["Ana lives in Lisbon."]
    assert plan.counts["reopened"] == 1
    receipt = erase_turns(reader, "Zanzibar")
    assert receipt.counts["reopened"] == 1
    with tenant_scope(reader.tenant.id):
        lisbon = Fact.objects.get()
        assert (lisbon.object, lisbon.status, lisbon.valid_to) == ("Lisbon", "active", None)
        assert Relation.objects.get().dst.name == "Lisbon"
        assert not Entity.objects.filter(canonical_key="zanzibar").exists()
        last = Revision.objects.filter(row_id=lisbon.id).order_by("-version_after")[0]
        assert last.version_after == lisbon.version
        assert last.event.kind == EvolutionEvent.Kind.ERASE


def test_what_a_job_was_doing_with_an_erased_turn_is_thrown_away(reader: ScriptedHub) -> None:
    reader.say_exchange("I moved to Zanzibar.", "Wow.")
    with tenant_scope(reader.tenant.id):
        job = queue.claim_job(reader.space.id, reader.now, reader.now + timedelta(hours=1))
        assert job is not None
    erase_turns(reader, "Zanzibar")
    with tenant_scope(reader.tenant.id), pytest.raises(queue.LeaseLost):
        queue.lock_job(job)
    reader.run_due_jobs()
    assert list_fact_texts(reader) == set()
    with tenant_scope(reader.tenant.id):
        due = Job.objects.exclude(state=Job.State.DONE).filter(run_after__lte=reader.now)
        assert not due.exists()


def test_I1_nothing_but_an_erasure_changes_the_words_of_a_turn(reader: ScriptedHub) -> None:
    hub = reader
    hub.say_exchange("I moved to Zanzibar.", "Lovely.")
    hub.say_exchange("I like kayaking.", "Nice.")
    with tenant_scope(hub.tenant.id):
        said = dict(Turn.objects.values_list("id", "text"))
    hub.run_due_jobs()
    with tenant_scope(hub.tenant.id):
        home = Fact.objects.get(text="Ana moved to Zanzibar.")
        corrections.correct_fact(hub.space, home.id, "Ana lives in Zanzibar.", "eva", hub.now)
        read = EvolutionEvent.objects.filter(kind=EvolutionEvent.Kind.RESOLVE).earliest("id")
        undo_event(read, "eva", hub.now, cascade=True)
    hub.run_due_jobs()
    with tenant_scope(hub.tenant.id):
        assert dict(Turn.objects.values_list("id", "text")) == said
    gone = get_turn(hub, "Zanzibar").id
    erase_turns(hub, "Zanzibar")
    with tenant_scope(hub.tenant.id):
        assert dict(Turn.objects.values_list("id", "text")) == said | {gone: ""}
        assert Turn.objects.get(id=gone).state == Turn.State.REDACTED


def test_lenient_erasure_only_lets_go_of_the_support(reader: ScriptedHub) -> None:
    reader.set_policy(
        "amem",
        llm__combine_calls=True,
        facts__enabled=True,
        notes__links=False,
        notes__evolution=False,
        erase__mode="lenient",
    )
    reader.say_exchange("I like kayaking.", "Nice.")
    reader.run_due_jobs()
    reader.say_exchange("I said that kayaking is fun.", "Nice.")
    reader.run_due_jobs()
    with tenant_scope(reader.tenant.id):
        before = Fact.objects.get().id
    erase_turns(reader, "that kayaking")
    with tenant_scope(reader.tenant.id):
        assert Fact.objects.get().id == before
        assert Derivation.objects.filter(child_id=before, role="support").count() == 1


def test_erasing_a_session_takes_its_name_too(reader: ScriptedHub) -> None:
    reader.say_exchange("I moved to Zanzibar.", "Wow.", session="therapy")
    reader.say_exchange("I like kayaking.", "Wow.", session="sport")
    reader.run_due_jobs()
    with tenant_scope(reader.tenant.id):
        session = Session.objects.get(external_id="therapy")
    receipt = erase_targets.execute_erasure(
        reader.space, ErasureTarget("session", (session.id,)), "eva", reader.now
    )
    assert receipt.counts["turns"] == 2
    reader.run_due_jobs()
    assert list_fact_texts(reader) == {"Ana likes kayaking."}
    with tenant_scope(reader.tenant.id):
        for word in ("Zanzibar", "therapy"):
            assert find_tables_with_word(word) == []


@pytest.mark.parametrize("sources", [False, True])
def test_erasing_a_fact_with_or_without_the_turns_that_say_it(
    reader: ScriptedHub, sources: bool
) -> None:
    reader.say_exchange("I sell marmalade.", "Nice.")
    reader.say_exchange("I like kayaking.", "Nice.")
    reader.run_due_jobs()
    with tenant_scope(reader.tenant.id):
        fact = Fact.objects.get(object="marmalade")
    erase_targets.execute_erasure(
        reader.space, ErasureTarget("facts", (fact.id,), sources), "eva", reader.now
    )
    reader.run_due_jobs()
    assert list_fact_texts(reader) == {"Ana likes kayaking."}
    with tenant_scope(reader.tenant.id):
        assert Turn.objects.filter(text__contains="marmalade").exists() is not sources
        assert (find_tables_with_word("marmalade") == []) is sources


def test_an_erased_fact_does_not_come_back_when_its_words_are_read_again(
    reader: ScriptedHub,
) -> None:
    reader.say_exchange("I sell marmalade and like kayaking.", "Nice.")
    reader.run_due_jobs()
    reader.say_exchange("It is about kayaking, I say.", "Nice.")
    reader.run_due_jobs()
    with tenant_scope(reader.tenant.id):
        fact = Fact.objects.get(object="marmalade")
    erase_targets.execute_erasure(
        reader.space, ErasureTarget("facts", (fact.id,)), "eva", reader.now
    )
    erase_turns(reader, "about kayaking")
    reader.run_due_jobs()
    assert list_fact_texts(reader) == {"Ana likes kayaking."}


def test_erasing_a_subject_drops_the_space_and_names_what_is_shared(
    reader: ScriptedHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    from personas.models import BlockAttachment, CoreBlock

    reader.say_exchange("I moved to Zanzibar.", "Wow.")
    reader.run_due_jobs()
    space = reader.space
    with tenant_scope(reader.tenant.id):
        block = CoreBlock.objects.create(
            tenant=reader.tenant, label="team", value="Be kind.", updated_at=reader.now
        )
        BlockAttachment.objects.create(tenant=reader.tenant, block=block, space=space)
    receipt = erase_targets.execute_erasure(space, ErasureTarget("subject"), "eva", reader.now)
    assert receipt.counts["turns"] == 2
    assert receipt.review == [{"block": str(block.id), "label": "team"}]
    with tenant_scope(reader.tenant.id):
        assert not Space.objects.filter(id=space.id).exists()
        assert find_tables_with_word("Zanzibar") == []
        assert Receipt.objects.get().id == receipt.id


def test_a_block_written_from_an_erased_turn_is_put_back(reader: ScriptedHub) -> None:
    from personas.models import BlockVersion, CoreBlock

    reader.say_exchange("I moved to Zanzibar.", "Wow.")
    said = get_turn(reader, "Zanzibar")
    with tenant_scope(reader.tenant.id):
        block = CoreBlock.objects.create(
            tenant=reader.tenant,
            space=reader.space,
            label="human",
            value="Likes tea. Lives in Zanzibar.",
            version=2,
            updated_at=reader.now,
        )
        for number, value, origin in ((1, "Likes tea.", None), (2, block.value, said.id)):
            BlockVersion.objects.create(
                tenant=reader.tenant,
                block=block,
                version=number,
                value=value,
                actor="agent",
                turn_id=origin,
                created_at=reader.now,
            )
    receipt = erase_turns(reader, "Zanzibar")
    assert receipt.counts["blocks"] == 1
    with tenant_scope(reader.tenant.id):
        block.refresh_from_db()
        assert (block.value, block.version) == ("Likes tea.", 3)
        assert find_tables_with_word("Zanzibar") == []
    reader.run_due_jobs()


def test_an_event_whose_values_were_erased_is_not_undoable(reader: ScriptedHub) -> None:
    reader.say_exchange("I moved to Zanzibar.", "Wow.")
    reader.run_due_jobs()
    erase_turns(reader, "Zanzibar")
    with tenant_scope(reader.tenant.id):
        made = EvolutionEvent.objects.filter(kind=EvolutionEvent.Kind.RESOLVE)
        assert made.count() == 1
        assert made.get().is_purged


@pytest.mark.parametrize(("limit", "left"), [(365.0, {"Zanzibar"}), (None, {"Lisbon", "Zanzibar"})])
def test_AA8_a_conflicting_fact_that_outlived_the_limit_is_erased(
    reader: ScriptedHub, limit: float | None, left: set[str]
) -> None:
    reader.set_policy(
        "amem",
        llm__combine_calls=True,
        facts__enabled=True,
        notes__links=False,
        notes__evolution=False,
        retention__max_age_days=limit,
    )
    reader.say_exchange("I live in Lisbon.", "Nice.")
    reader.run_due_jobs(days=400)
    reader.say_exchange("I moved to Zanzibar.", "Wow.")
    reader.run_due_jobs()
    with tenant_scope(reader.tenant.id):
        assert set(Fact.objects.values_list("object", flat=True)) == left
        assert Receipt.objects.exists() is (limit is not None)
        assert not Fact.objects.filter(object="Lisbon", valid_to=None).exists()
