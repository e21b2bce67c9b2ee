"""What a sender lays down for the memories of a message."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from memoryhub.dialogues.messages import Message
from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.erasure import erase_targets
from memoryhub.pipeline.ingest.services import IngestRequest
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from notes.facts.validity import filter_current
from notes.models import Fact
from tests.support.factories import make_tenant
from tests.support.ingest import ingest_and_wait

AT = datetime(2026, 3, 4, 18, tzinfo=UTC)
UNTIL = AT + timedelta(days=300)


@pytest.fixture
def tenant(db: None) -> Tenant:
    tenant = make_tenant()
    said = Message("user", "I live in Porto.", "Ana", AT, metadata={"team": "red"})
    terms = {"app": "shop", "pinned": True, "until": UNTIL.isoformat()}
    ingest_and_wait(tenant.id, IngestRequest("ana", [said], terms=terms))
    return tenant


def test_a_fact_keeps_the_metadata_of_its_message(tenant: Tenant) -> None:
    with tenant_scope(tenant.id):
        assert Fact.objects.get().metadata == {"team": "red"}


def test_a_fact_holds_until_the_day_it_was_given(tenant: Tenant) -> None:
    with tenant_scope(tenant.id):
        last = UNTIL - timedelta(seconds=1)
        assert filter_current(Fact.objects.all(), last).count() == 1
        assert filter_current(Fact.objects.all(), UNTIL).count() == 0


def test_what_is_pinned_by_its_sender_is_not_ended_by_what_is_read_later(tenant: Tenant) -> None:
    later = Message("user", "I moved to Rome.", "Ana", AT + timedelta(days=9))
    ingest_and_wait(tenant.id, IngestRequest("ana", [later]))
    with tenant_scope(tenant.id):
        assert Fact.objects.get(text__contains="Porto").valid_to == UNTIL
        assert Fact.objects.get(text__contains="Porto").pinned


def test_an_erased_message_leaves_neither_metadata_nor_terms(tenant: Tenant) -> None:
    with tenant_scope(tenant.id):
        turn = Turn.objects.select_related("space").get()
    target = erase_targets.ErasureTarget("turns", (turn.id,))
    erase_targets.execute_erasure(turn.space, target, "test", timezone.now())
    with tenant_scope(tenant.id):
        turn.refresh_from_db()
        assert (turn.metadata, turn.terms) == ({}, {})
        assert not Fact.objects.exists()
