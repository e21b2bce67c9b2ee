from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memoryhub.dialogues.messages import Message
from memoryhub.pipeline.ingest.services import IngestRequest
from memoryhub.pipeline.models import Job
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant
from notes.models import Derivation, Fact, IndexEntry, Note, Segment
from tests.support.ingest import ingest_and_wait

pytestmark = pytest.mark.django_db

AT = datetime(2026, 3, 4, 18, tzinfo=UTC)


def test_dialogue_in_memories_out() -> None:
    tenant = create_tenant("One", "one")
    messages = [
        Message("user", "I moved to Lisbon last week.", "Ana", AT),
        Message("assistant", "How lovely!", "Hub", AT),
    ]
    done = ingest_and_wait(tenant.id, IngestRequest("ana", messages))
    assert done.job is not None
    assert done.job.state == Job.State.DONE, done.job.error
    print(done.job.result)
    with tenant_scope(tenant.id):
        print([(f.text, f.predicate_key, f.valid_from) for f in Fact.objects.all()])
        print(Note.objects.all(), Segment.objects.all())
        print(IndexEntry.objects.count(), Derivation.objects.count())
        assert Fact.objects.count() == 1
