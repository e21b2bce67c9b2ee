"""Erasure through the whole pipeline (spec §11.9): X6, X7, GR9, AA8."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memoryhub.dialogues.models import Session, Turn
from memoryhub.inference.models import ModelCall
from memoryhub.pipeline import erasing, queue
from memoryhub.pipeline.erasing import Target
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
from tests.support.hub import Hub
from tests.support.scan import places_of

EVERYTHING: tuple[Any, ...] = (
    *(Turn, Fact, Note, Entity, Relation, Revision, EvolutionEvent, Receipt),
    *(Tombstone, IndexEntry, Derivation, Space),
)
# What the scripted model finds where these words are said.
KNOWN: dict[str, dict[str, Any]] = {
    "Zanzibar": {"text": "Ana moved to Zanzibar.", "predicate": "lives_in", "object": "Zanzibar"},
    "Lisbon": {"text": "Ana lives in Lisbon.", "predicate": "lives_in", "object": "Lisbon"},
    "kayaking": {"text": "Ana likes kayaking.", "predicate": "likes", "object": "kayaking"},
    "marmalade": {"text": "Ana sells marmalade.", "predicate": "sells", "object": "marmalade"},
}


def read(data: dict[str, Any]) -> dict[str, Any]:
    facts: list[dict[str, Any]] = []
    relations: list[dict[str, Any]] = []
    for message in data["messages"]:
        for word, known in KNOWN.items():
            if word in message["text"]:
                relations.append(
                    {"source": "Ana", "label": known["predicate"], "target": known["object"]}
                    | {"fact": len(facts)}
                )
                facts.append(
                    known
                    | {"source": message["handle"], "quote": word, "owner": "Ana"}
                    | {"subject": "Ana", "kind": "state", "polarity": "holds"}
                )
    said = " ".join(message["text"] for message in data["messages"])
    entities = [{"name": "Ana", "type": "person"}] * bool(facts)
    entities += [{"name": fact["object"], "type": "place"} for fact in facts]
    return {
        "facts": facts,
        "entities": entities,
        "relations": relations,
        "note": {"keywords": said.split()[:12], "tags": [], "context": said[:200]},
        "acts": [{"handle": m["handle"], "act": "assertion"} for m in data["messages"]],
    }


@pytest.fixture
def reader(hub: Hub) -> Hub:
    hub.model.allow(construct=read)
    hub.model.allow("resolve", "link_evolve", "merge_check")
    hub.policy(
        "amem",
        facts__enabled=True,
        graph__enabled=True,
        notes__links=False,
        notes__evolution=False,
    )
    return hub


def turn(hub: Hub, words: str) -> Turn:
    with tenant_scope(hub.tenant.id):
        return Turn.objects.get(text__contains=words)


def erase(hub: Hub, *words: str) -> Receipt:
    ids = tuple(turn(hub, each).id for each in words)
    return erasing.execute(hub.space, Target("turns", ids), "eva", hub.now)


def texts(hub: Hub) -> set[str]:
    with tenant_scope(hub.tenant.id):
        return set(Fact.objects.filter(retired_at=None).values_list("text", flat=True))


def test_X6_E21_nothing_of_an_erased_turn_is_left_in_any_column(reader: Hub) -> None:
    hub = reader
    hub.exchange("I like kayaking on the river.", "Nice.")
    hub.drain()
    hub.exchange("I moved to Zanzibar, and kayaking at Xylofort is fun.", "Great.")
    hub.exchange("And the weather is fine today.", "Good to hear.")
    hub.drain()
    with tenant_scope(hub.tenant.id):
        kayaking = Fact.objects.get(o="kayaking")
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
            turn_ids=[turn(hub, "Zanzibar").id],
            dedupe_key="x",
            created_at=hub.now,
        )
        assert "public.notes_fact" in places_of("Zanzibar")
        assert len(places_of("Xylofort")) > 2

    target = Target("turns", (turn(hub, "Zanzibar").id,))
    planned = erasing.plan(hub.space, target)
    assert planned.counts["turns"] == 1
    assert planned.counts["rederived"] >= 1
    assert texts(hub) == {"Ana likes kayaking.", "Ana moved to Zanzibar."}

    receipt = erasing.execute(hub.space, target, "eva", hub.now)
    assert receipt.counts["facts"] == 2  # one rested on it alone, one is derived again
    assert texts(hub) == set()
    with tenant_scope(hub.tenant.id):
        for word in ("Zanzibar", "Xylofort", "fun", "Zanzib"):
            assert places_of(word) == [], word
    hub.drain()
    assert texts(hub) == {"Ana likes kayaking."}
    with tenant_scope(hub.tenant.id):
        again = Fact.objects.get(retired_at=None)
        assert again.mention_count == 1
        support = Derivation.objects.filter(child_id=again.id, role="support")
        assert [link.turn.text for link in support] == ["I like kayaking on the river."]
        for word in ("Zanzibar", "Xylofort"):
            assert places_of(word) == [], word
        assert not IndexEntry.objects.filter(embedding=None).exists()
        gone = Turn.objects.get(state=Turn.State.REDACTED)
        assert (gone.seq, gone.ordinal, gone.role) == (3, 3, "user")
        assert not IndexEntry.objects.filter(owner_id=gone.id).exists()


def state(hub: Hub) -> list[Any]:
    with tenant_scope(hub.tenant.id):
        return [list(model.objects.order_by("id").values()) for model in EVERYTHING]


def test_X6_E21_a_second_erasure_counts_zero_and_changes_nothing(reader: Hub) -> None:
    reader.exchange("I moved to Zanzibar.", "Great.")
    reader.drain()
    target = Target("turns", (turn(reader, "Zanzibar").id,))
    erasing.execute(reader.space, target, "eva", reader.now)
    reader.drain()
    before = state(reader)
    assert erasing.execute(reader.space, target, "eva", reader.now).counts == {}
    assert erasing.plan(reader.space, target).is_empty
    assert str(state(reader)) == str(before)


def test_X7_GR9_what_an_erased_fact_had_closed_is_open_again(reader: Hub) -> None:
    reader.exchange("I live in Lisbon.", "Nice.")
    reader.drain(days=30)
    reader.exchange("I moved to Zanzibar.", "Wow.")
    reader.drain()
    with tenant_scope(reader.tenant.id):
        assert Fact.objects.get(o="Lisbon").valid_to is not None
        assert Entity.objects.filter(canonical_key="zanzibar").exists()
    receipt = erase(reader, "Zanzibar")
    assert receipt.counts["reopened"] == 1
    with tenant_scope(reader.tenant.id):
        lisbon = Fact.objects.get()
        assert (lisbon.o, lisbon.status, lisbon.valid_to) == ("Lisbon", "active", None)
        assert Relation.objects.get().dst.name == "Lisbon"
        assert not Entity.objects.filter(canonical_key="zanzibar").exists()
        last = Revision.objects.filter(row_id=lisbon.id).order_by("-version_after")[0]
        assert last.version_after == lisbon.version
        assert last.event.kind == EvolutionEvent.Kind.ERASE


def test_what_a_job_was_doing_with_an_erased_turn_is_thrown_away(reader: Hub) -> None:
    reader.exchange("I moved to Zanzibar.", "Wow.")
    with tenant_scope(reader.tenant.id):
        job = queue.claim(reader.space.id, reader.now, reader.now + timedelta(hours=1))
        assert job is not None
    erase(reader, "Zanzibar")
    with tenant_scope(reader.tenant.id), pytest.raises(queue.LeaseLost):
        queue.hold(job)
    reader.drain()
    assert texts(reader) == set()
    with tenant_scope(reader.tenant.id):
        due = Job.objects.exclude(state=Job.State.DONE).filter(run_after__lte=reader.now)
        assert not due.exists()


def test_lenient_erasure_only_lets_go_of_the_support(reader: Hub) -> None:
    reader.policy(
        "amem",
        facts__enabled=True,
        notes__links=False,
        notes__evolution=False,
        erase__mode="lenient",
    )
    reader.exchange("I like kayaking.", "Nice.")
    reader.drain()
    reader.exchange("I said that kayaking is fun.", "Nice.")
    reader.drain()
    with tenant_scope(reader.tenant.id):
        before = Fact.objects.get().id
    erase(reader, "that kayaking")
    with tenant_scope(reader.tenant.id):
        assert Fact.objects.get().id == before
        assert Derivation.objects.filter(child_id=before, role="support").count() == 1


def test_erasing_a_session_takes_its_name_too(reader: Hub) -> None:
    reader.exchange("I moved to Zanzibar.", "Wow.", session="therapy")
    reader.exchange("I like kayaking.", "Wow.", session="sport")
    reader.drain()
    with tenant_scope(reader.tenant.id):
        session = Session.objects.get(external_id="therapy")
    receipt = erasing.execute(reader.space, Target("session", (session.id,)), "eva", reader.now)
    assert receipt.counts["turns"] == 2
    reader.drain()
    assert texts(reader) == {"Ana likes kayaking."}
    with tenant_scope(reader.tenant.id):
        for word in ("Zanzibar", "therapy"):
            assert places_of(word) == []


@pytest.mark.parametrize("sources", [False, True])
def test_erasing_a_fact_with_or_without_the_turns_that_say_it(reader: Hub, sources: bool) -> None:
    reader.exchange("I sell marmalade.", "Nice.")
    reader.exchange("I like kayaking.", "Nice.")
    reader.drain()
    with tenant_scope(reader.tenant.id):
        fact = Fact.objects.get(o="marmalade")
    erasing.execute(reader.space, Target("facts", (fact.id,), sources), "eva", reader.now)
    reader.drain()
    assert texts(reader) == {"Ana likes kayaking."}
    with tenant_scope(reader.tenant.id):
        assert Turn.objects.filter(text__contains="marmalade").exists() is not sources
        assert (places_of("marmalade") == []) is sources


def test_an_erased_fact_does_not_come_back_when_its_words_are_read_again(reader: Hub) -> None:
    reader.exchange("I sell marmalade and like kayaking.", "Nice.")
    reader.drain()
    reader.exchange("It is about kayaking, I say.", "Nice.")
    reader.drain()
    with tenant_scope(reader.tenant.id):
        fact = Fact.objects.get(o="marmalade")
    erasing.execute(reader.space, Target("facts", (fact.id,)), "eva", reader.now)
    erase(reader, "about kayaking")
    reader.drain()
    assert texts(reader) == {"Ana likes kayaking."}


def test_erasing_a_subject_drops_the_space_and_names_what_is_shared(
    reader: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    from personas.models import BlockAttachment, CoreBlock

    reader.exchange("I moved to Zanzibar.", "Wow.")
    reader.drain()
    space = reader.space
    with tenant_scope(reader.tenant.id):
        block = CoreBlock.objects.create(
            tenant=reader.tenant, label="team", value="Be kind.", updated_at=reader.now
        )
        BlockAttachment.objects.create(tenant=reader.tenant, block=block, space=space)
    receipt = erasing.execute(space, Target("subject"), "eva", reader.now)
    assert receipt.counts["turns"] == 2
    assert receipt.review == [{"block": str(block.id), "label": "team"}]
    with tenant_scope(reader.tenant.id):
        assert not Space.objects.filter(id=space.id).exists()
        assert places_of("Zanzibar") == []
        assert Receipt.objects.get().id == receipt.id


def test_a_block_written_from_an_erased_turn_is_put_back(reader: Hub) -> None:
    from personas.models import BlockVersion, CoreBlock

    reader.exchange("I moved to Zanzibar.", "Wow.")
    said = turn(reader, "Zanzibar")
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
    receipt = erase(reader, "Zanzibar")
    assert receipt.counts["blocks"] == 1
    with tenant_scope(reader.tenant.id):
        block.refresh_from_db()
        assert (block.value, block.version) == ("Likes tea.", 3)
        assert places_of("Zanzibar") == []
    reader.drain()


def test_an_event_whose_values_were_erased_is_not_undoable(reader: Hub) -> None:
    reader.exchange("I moved to Zanzibar.", "Wow.")
    reader.drain()
    erase(reader, "Zanzibar")
    with tenant_scope(reader.tenant.id):
        made = EvolutionEvent.objects.filter(kind=EvolutionEvent.Kind.RESOLVE)
        assert made.count() == 1
        assert made.get().is_purged


@pytest.mark.parametrize(("limit", "left"), [(365.0, {"Zanzibar"}), (None, {"Lisbon", "Zanzibar"})])
def test_AA8_a_conflicting_fact_that_outlived_the_limit_is_erased(
    reader: Hub, limit: float | None, left: set[str]
) -> None:
    reader.policy(
        "amem",
        facts__enabled=True,
        notes__links=False,
        notes__evolution=False,
        retention__max_age_days=limit,
    )
    reader.exchange("I live in Lisbon.", "Nice.")
    reader.drain(days=400)
    reader.exchange("I moved to Zanzibar.", "Wow.")
    reader.drain()
    with tenant_scope(reader.tenant.id):
        assert set(Fact.objects.values_list("o", flat=True)) == left
        assert Receipt.objects.exists() is (limit is not None)
        assert not Fact.objects.filter(o="Lisbon", valid_to=None).exists()
