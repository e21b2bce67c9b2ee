"""What becomes of what importers find: tried, taken in, and taken in again."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from rest_framework.test import APIClient

from memoryhub.dialogues.models import Session, Turn
from memoryhub.errors import InvalidInput
from memoryhub.importers.execute import ImportRequest, import_file, parse_kinds
from memoryhub.importers.report import ImportReport
from memoryhub.importers.sources import SOURCES
from memoryhub.pipeline.corrections import undo_event
from memoryhub.pipeline.jobs.runner import run_space
from memoryhub.pipeline.models import Job
from memoryhub.recall.services import search_memories
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_key, ensure_space
from notes.models import Derivation, Entity, EvolutionEvent, Fact, IndexEntry, Note, Relation
from personas import blocks
from personas.blocks import BlockWriter
from personas.models import CoreBlock
from tests.importers.file_contents import dump_lines, make_open_file
from tests.importers.samples import JSONL, MEM0, MEM0_HISTORY, MEM0_ID, SAMPLES, make_chatgpt_node
from tests.support.factories import make_space, make_tenant

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


@pytest.fixture
def tenant(db: None) -> Tenant:
    return make_tenant()


def import_content(tenant: Tenant, source: str, content: object, **options: Any) -> ImportReport:
    wanted = ImportRequest(
        SOURCES[source], make_open_file(content), f"{source}.json", "eva", **options
    )
    return import_file(tenant.id, wanted, NOW)


def count_rows(tenant: Tenant) -> dict[str, int]:
    """How much there is of everything an import may write."""
    kinds = (Space, Session, Turn, Fact, Note, Entity, Relation, CoreBlock, EvolutionEvent)
    with tenant_scope(tenant.id):
        return {kind.__name__: kind._default_manager.count() for kind in (*kinds, Job, IndexEntry)}


@pytest.mark.parametrize("other", SOURCES)
@pytest.mark.parametrize("source", SOURCES)
def test_a_file_of_another_system_is_refused_with_its_name(
    tenant: Tenant, source: str, other: str
) -> None:
    content = SAMPLES[other]
    twice = content if isinstance(content, str) else json.dumps(json.dumps(content))
    for written in (content, twice):
        if source == other:
            assert import_content(tenant, source, written, subject="ana", dry_run=True).total
            continue
        with pytest.raises(InvalidInput) as refused:
            import_content(tenant, source, written, subject="ana")
        assert SOURCES[other].title in refused.value.message
        assert refused.value.field == "file"
    with tenant_scope(tenant.id):
        assert not Space.objects.exists()


def test_a_file_of_a_system_that_is_not_read_is_refused_with_its_name(tenant: Tenant) -> None:
    claude = [{"uuid": "c-1", "name": "Moving", "chat_messages": []}]
    with pytest.raises(InvalidInput, match="a file of Claude, not of mem0"):
        import_content(tenant, "mem0", claude, subject="ana")


@pytest.mark.parametrize("source", ["mem0", "letta", "langmem", "chatgpt"])
def test_facts_of_a_session_of_zep_are_refused_by_others_with_its_name(
    tenant: Tenant, source: str
) -> None:
    facts = {"facts": [{"uuid": "f1", "fact": "Ana keeps bees.", "rating": 0.9}]}
    with pytest.raises(InvalidInput, match="a file of Zep"):
        import_content(tenant, source, facts, subject="ana")


def test_what_chatgpt_keeps_of_the_user_is_taken_in_once(tenant: Tenant) -> None:
    said = {"content_type": "text", "parts": ["Lives in Lisbon."]}
    told = {"content_type": "user_editable_context", "user_instructions": "Be brief."}
    nodes = {
        "m": make_chatgpt_node("m", None, "assistant", content=said, recipient="bio", at=1.7e9),
        "i": make_chatgpt_node("i", "m", "user", content=told, at=1.7e9),
    }
    export = [{"id": "c-1", "mapping": nodes, "current_node": "i"}]
    report = import_content(tenant, "chatgpt", export, subject="ana")
    assert (report.taken["fact"], report.taken["block"], report.reasons.total()) == (1, 1, 0)
    again = import_content(tenant, "chatgpt", export, subject="ana")
    assert (again.already["fact"], again.already["block"]) == (1, 1)


@pytest.mark.parametrize("source", SOURCES)
def test_a_dry_run_tells_what_would_be_taken_and_changes_nothing(
    tenant: Tenant, source: str
) -> None:
    before = count_rows(tenant)
    tried = import_content(tenant, source, SAMPLES[source], subject="ana", dry_run=True)
    assert count_rows(tenant) == before
    done = import_content(tenant, source, SAMPLES[source], subject="ana")
    assert tried.taken == done.taken
    assert tried.found == done.found == done.taken
    assert tried.reasons == done.reasons
    assert tried.total > 0


@pytest.mark.parametrize("source", SOURCES)
def test_the_same_file_again_adds_nothing(tenant: Tenant, source: str) -> None:
    first = import_content(tenant, source, SAMPLES[source], subject="ana")
    before = count_rows(tenant)
    again = import_content(tenant, source, SAMPLES[source], subject="ana")
    assert count_rows(tenant) == before
    assert sum(again.taken.values()) == 0
    assert again.already == first.taken
    tried = import_content(tenant, source, SAMPLES[source], subject="ana", dry_run=True)
    assert sum(tried.taken.values()) == 0


def test_memories_of_mem0_keep_id_validity_and_where_they_come_from(tenant: Tenant) -> None:
    import_content(tenant, "mem0", MEM0)
    with tenant_scope(tenant.id):
        space = Space.objects.get()
        lisbon = Fact.objects.get(text="Lives in Lisbon")
        gym = Fact.objects.get(text__contains="gym")
        events = list(EvolutionEvent.objects.all())
    assert (space.subject, lisbon.lineage) == ("ana", UUID(MEM0_ID))
    assert lisbon.valid_from == lisbon.asserted_at == datetime(2026, 2, 1, 18, tzinfo=UTC)
    origin: dict[str, Any] = {
        "source": "mem0",
        "id": MEM0_ID,
        "agent_id": "helper",
        "run_id": "r-1",
    }
    origin |= {"categories": ["personal_details"]}
    assert lisbon.metadata == {"trip": "no", "imported_from": origin}
    assert (gym.pinned, gym.valid_to) == (True, datetime(2026, 4, 1, tzinfo=UTC))
    assert {event.reason for event in events} == {"imported from mem0 (mem0.json)"}
    assert {(event.actor, event.trigger) for event in events} == {("eva", "import")}


def test_what_was_imported_is_found_and_taken_back_as_anything_else(tenant: Tenant) -> None:
    import_content(tenant, "mem0", MEM0)
    with tenant_scope(tenant.id):
        space, event = Space.objects.get(), EvolutionEvent.objects.get()
    (item, *_) = search_memories(space, "where does ana live", kinds=["fact"]).items
    assert "lisbon" in item.text.lower()
    undo_event(event, "eva", NOW)
    with tenant_scope(tenant.id):
        assert not Fact.objects.filter(retired_at=None).exists()
    # What somebody took back does not come again with the same file.
    assert not import_content(tenant, "mem0", MEM0).taken["fact"]


def test_clients_of_mem0_find_their_memories_by_the_ids_they_know(tenant: Tenant) -> None:
    import_content(tenant, "mem0", MEM0)
    _, key = create_key(tenant, "mem0", ["read", "write"])
    client = APIClient(headers={"Authorization": f"Token {key}"})
    memory = client.get(f"/v1/memories/{MEM0_ID}/").json()
    assert (memory["memory"], memory["user_id"]) == ("Lives in Lisbon", "ana")
    assert (memory["agent_id"], memory["run_id"]) == ("helper", "r-1")
    filters = {"AND": [{"user_id": "ana"}, {"agent_id": "helper"}]}
    found = client.post("/v2/memories/", {"filters": filters}, format="json").json()
    assert [each["id"] for each in found["results"]] == [MEM0_ID]


def test_versions_of_a_memory_are_one_lineage_in_time(tenant: Tenant) -> None:
    import_content(tenant, "mem0", MEM0_HISTORY, subject="ana")
    with tenant_scope(tenant.id):
        old, new = Fact.objects.filter(lineage=MEM0_ID).order_by("lineage_version")
    assert [old.text, new.text] == ["Lives in Porto", "Lives in Lisbon"]
    assert (old.valid_to, old.status) == (new.valid_from, "superseded")
    assert (new.valid_to, new.status, new.supersedes_id) == (None, "active", old.id)


def test_an_id_that_another_space_uses_is_not_taken_twice(tenant: Tenant) -> None:
    import_content(tenant, "mem0", MEM0)
    import_content(tenant, "mem0", MEM0, subject="rui")
    again = import_content(tenant, "mem0", MEM0, subject="rui")
    assert not again.taken["fact"]
    with tenant_scope(tenant.id):
        spaces = Fact.objects.filter(lineage=MEM0_ID).values_list("space__subject", flat=True)
        assert list(spaces) == ["ana"]
        assert Fact.objects.filter(space__subject="rui").count() == 3


def test_words_that_are_held_already_are_no_second_fact(tenant: Tenant) -> None:
    import_content(tenant, "jsonl", dump_lines({"subject": "ana", "fact": "Ana likes tea"}))
    other = {"id": "1", "memory": "ana likes  TEA", "user_id": "ana"}
    report = import_content(tenant, "mem0", [other])
    assert (report.taken["fact"], report.already["fact"]) == (0, 1)


def test_edges_of_zep_are_facts_with_relations_that_rest_on_what_was_said(tenant: Tenant) -> None:
    import_content(tenant, "zep", SAMPLES["zep"])
    with tenant_scope(tenant.id):
        porto = Fact.objects.get(text="Ana lives in Porto")
        lisbon = Fact.objects.get(text="Ana lives in Lisbon")
        relations = {
            (r.src.name, r.label, r.dst.name): r.fact_id
            for r in Relation.objects.select_related("src", "dst")
        }
        rests_on = set(
            Derivation.objects.filter(child_id=lisbon.id).values_list("turn__text", flat=True)
        )
        ana = Entity.objects.get(name="Ana")
    assert (porto.status, porto.valid_to) == ("superseded", datetime(2026, 5, 12, 9, tzinfo=UTC))
    assert (lisbon.status, lisbon.valid_to) == ("active", None)
    assert relations == {
        ("Ana", "lives_in", "Porto"): porto.id,
        ("Ana", "lives_in", "Lisbon"): lisbon.id,
    }
    assert rests_on == {"I moved to Lisbon.", "How nice!"}
    assert (ana.type, ana.mention_count) == ("person", 2)


def test_an_entity_that_is_known_is_spoken_of_again(tenant: Tenant) -> None:
    import_content(tenant, "mem0", MEM0)
    more = {"relations": [{"source": "ana", "relationship": "likes", "target": "tea"}]}
    import_content(tenant, "mem0", more, subject="ana")
    with tenant_scope(tenant.id):
        assert Entity.objects.get(canonical_key="ana").mention_count == 2
        assert Entity.objects.count() == 3


def test_what_was_said_goes_through_the_pipeline(tenant: Tenant) -> None:
    import_content(tenant, "chatgpt", SAMPLES["chatgpt"], subject="ana")
    with tenant_scope(tenant.id):
        space = Space.objects.get()
        assert Job.objects.filter(step="derive").count() == 2
        assert set(Session.objects.values_list("external_id", "channel")) == {
            ("c-0", "import:chatgpt"),
            ("c-1", "import:chatgpt"),
        }
        first = Turn.objects.order_by("seq").first()
        assert first is not None
        assert first.text == "I live in Porto."
    run_space(tenant.id, space.id)
    with tenant_scope(tenant.id):
        assert not Turn.objects.filter(state=Turn.State.PENDING).exists()
        assert Fact.objects.filter(text__icontains="Lisbon").exists()


def test_blocks_of_letta_stand_in_front_of_agents(tenant: Tenant) -> None:
    import_content(tenant, "letta", SAMPLES["letta"], subject="ana")
    with tenant_scope(tenant.id):
        space = Space.objects.get()
        made = {block.label: block for block in blocks.load_visible_blocks(space)}
    assert (made["human"].value, made["human"].char_limit) == ("Name: Ana.", 5000)
    assert made["persona"].read_only
    with tenant_scope(tenant.id):
        note = Note.objects.get()
    assert (note.content, note.tags) == ("Ana keeps her spare key at the bakery.", ["home"])


def test_a_block_that_says_something_else_is_left_as_it_is(tenant: Tenant) -> None:
    with tenant_scope(tenant.id):
        space = make_space(tenant, "ana")
        writer = BlockWriter("eva", "person", NOW, space)
        blocks.create_block(writer, "human", "Mine.", tenant_id=tenant.id, space=space)
        blocks.create_block(writer, "persona", "", tenant_id=tenant.id, space=space)
    report = import_content(
        tenant, "letta", SAMPLES["letta"], subject="ana", only=parse_kinds(["block"])
    )
    assert report.taken["block"] == 1
    assert report.reasons["a block of this label is there, with other words"] == 1
    with tenant_scope(tenant.id):
        assert dict(CoreBlock.objects.values_list("label", "value")) == {
            "human": "Mine.",
            "persona": "Kind.",
        }


def test_only_the_kinds_that_are_wanted_are_taken(tenant: Tenant) -> None:
    report = import_content(tenant, "jsonl", dump_lines(*JSONL), only=parse_kinds(["note"]))
    assert dict(report.taken) == {"note": 1}
    assert count_rows(tenant)["Turn"] == count_rows(tenant)["Fact"] == 0


def test_whose_memories_they_are_has_to_be_known(tenant: Tenant) -> None:
    with pytest.raises(InvalidInput) as refused:
        import_content(tenant, "chatgpt", SAMPLES["chatgpt"])
    assert refused.value.field == "subject"
    some = dump_lines({"subject": "ana", "note": "Mine."}, {"note": "Whose?"})
    report = import_content(tenant, "jsonl", some)
    assert (report.taken["note"], report.skipped[0]["where"]) == (1, "line 2")


@pytest.mark.parametrize(
    ("source", "content", "place"),
    [
        ("mem0", json.dumps(MEM0)[:-30], "relations[0]"),
        ("mem0", {"results": []}, "nothing of mem0"),
        ("letta", "PK\x03\x04", "neither"),
        ("jsonl", dump_lines(JSONL[0]) + '{"subject": ', "line 2"),
        ("chatgpt", b"\xff\xfe[", "the file"),
    ],
)
def test_a_broken_file_is_refused_before_anything_is_written(
    tenant: Tenant, source: str, content: Any, place: str
) -> None:
    before = count_rows(tenant)
    with pytest.raises(InvalidInput) as refused:
        import_content(tenant, source, content, subject="ana")
    assert place in refused.value.message
    assert count_rows(tenant) == before


def test_an_id_that_comes_twice_is_told(tenant: Tenant) -> None:
    twice = [{"id": "7", "memory": text, "user_id": "ana"} for text in ("Tea", "Go")]
    report = import_content(tenant, "mem0", twice)
    assert report.taken["fact"] == 1
    assert report.skipped == [
        {
            "where": "[1]",
            "kind": "fact",
            "id": "7",
            "reason": "an earlier item of the file has this id",
        }
    ]


def test_more_than_one_batch_is_taken_whole(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    monkeypatch.setattr("memoryhub.importers.execute.BATCH_SIZE", 3)
    settings.MAX_MESSAGES = 2
    facts = [{"subject": "ana", "fact": f"Fact number {n}"} for n in range(8)]
    said = [{"subject": "ana", "session": "s", "content": f"Word {n}."} for n in range(5)]
    seen: list[tuple[int, int]] = []
    wanted = ImportRequest(SOURCES["jsonl"], make_open_file(dump_lines(*facts, *said)), "f", "eva")
    report = import_file(tenant.id, wanted, NOW, lambda done, total: seen.append((done, total)))
    assert dict(report.taken) == {"fact": 8, "turn": 5}
    assert seen[-1] == (13, 13)
    with tenant_scope(tenant.id):
        ensure_space(tenant.id, "ana")
        assert (Fact.objects.count(), Turn.objects.count()) == (8, 5)
        assert EvolutionEvent.objects.filter(trigger="import").count() == 3
