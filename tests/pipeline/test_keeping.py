"""Messages kept word by word."""

from __future__ import annotations

from memoryhub.dialogues.messages import Message
from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.corrections import undo_event
from memoryhub.pipeline.ingest.services import IngestRequest
from memoryhub.pipeline.ingest.verbatim import keep_verbatim
from memoryhub.pipeline.jobs.runner import run_space
from memoryhub.pipeline.models import Job
from memoryhub.recall.services import search_memories
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.models import Derivation, EvolutionEvent, Fact, IndexEntry
from tests.pipeline.test_terms import AT
from tests.support.factories import make_tenant

SAID = [
    Message("user", "The blue key opens the shed.", "Ana", AT, metadata={"k": 1}),
    Message("assistant", "Noted!", "Hub", AT),
]


def test_each_message_is_a_fact_as_it_stands_and_nothing_is_read_from_it(db: None) -> None:
    tenant = make_tenant()
    facts = keep_verbatim(tenant.id, IngestRequest("ana", SAID), "key:1", AT)
    assert [(f.text, f.metadata) for f in facts] == [
        ("The blue key opens the shed.", {"k": 1}),
        ("Noted!", {}),
    ]
    with tenant_scope(tenant.id):
        space = Space.objects.get()
        assert {turn.state for turn in Turn.objects.all()} == {Turn.State.PROCESSED}
        assert set(Job.objects.values_list("step", flat=True)) <= {Job.Step.EMBED}
        assert Derivation.objects.filter(child_type="fact").count() == 2
        assert EvolutionEvent.objects.get().actor == "key:1"
    (item,) = search_memories(space, "what opens the shed", kinds=["fact"]).items
    assert item.id == facts[0].id
    run_space(tenant.id, space.id)
    with tenant_scope(tenant.id):
        assert not IndexEntry.objects.filter(embedding=None).exists()
        assert Fact.objects.count() == 2


def test_the_same_message_again_is_the_same_memory(db: None) -> None:
    tenant = make_tenant()
    first = keep_verbatim(tenant.id, IngestRequest("ana", SAID), "key:1", AT)
    again = keep_verbatim(tenant.id, IngestRequest("ana", SAID), "key:1", AT)
    assert [fact.id for fact in again] == [fact.id for fact in first]


def test_keeping_is_undone_as_any_event(db: None) -> None:
    tenant = make_tenant()
    keep_verbatim(tenant.id, IngestRequest("ana", SAID), "key:1", AT)
    with tenant_scope(tenant.id):
        event = EvolutionEvent.objects.get()
    undo_event(event, "eva", AT)
    with tenant_scope(tenant.id):
        assert not Fact.objects.filter(retired_at=None).exists()
