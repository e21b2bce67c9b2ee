"""What is kept for a time only: fingerprints, tombstones, receipts (spec §12.1)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memoryhub.pipeline import expiring
from memoryhub.policies.schema import Policy
from memoryhub.tenants.scope import tenant_scope
from notes.echoes import remember
from notes.models import Fingerprint, Receipt, Tombstone
from tests.support.hub import Hub

pytestmark = pytest.mark.django_db
DAYS = timedelta(days=1)


def given(hub: Hub, *texts: str) -> None:
    with tenant_scope(hub.tenant.id):
        remember(hub.space, texts, hub.now)


def left(hub: Hub) -> int:
    with tenant_scope(hub.tenant.id):
        return Fingerprint.objects.count()


def test_a_fingerprint_lasts_thirty_days_from_when_it_was_given_out_last(hub: Hub) -> None:
    given(hub, "Ana lives in Porto.", "Ana has two cats.")
    first = hub.now
    hub.pass_time(days=20)
    given(hub, "Ana has two cats.")
    hub.now = first + 30 * DAYS
    assert expiring.sweep(hub.space, Policy(), hub.now) == first + 30 * DAYS
    assert left(hub) == 2
    hub.pass_time(seconds=1)
    assert expiring.sweep(hub.space, Policy(), hub.now) == first + 50 * DAYS
    assert left(hub) == 1
    with tenant_scope(hub.tenant.id):
        assert Fingerprint.objects.get().seen_at == first
    hub.pass_time(days=20)
    assert expiring.sweep(hub.space, Policy(), hub.now) is None
    assert left(hub) == 0


def test_a_sweep_removes_so_many_and_asks_for_another(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expiring, "BATCH", 2)
    monkeypatch.setattr(expiring, "BATCHES", 2)
    given(hub, *(f"This is sentence number {n}." for n in range(5)))
    hub.pass_time(days=31)
    assert expiring.sweep(hub.space, Policy(), hub.now) == hub.now
    assert left(hub) == 1
    assert expiring.sweep(hub.space, Policy(), hub.now) is None
    assert left(hub) == 0


def test_tombstones_and_receipts_go_after_three_years(hub: Hub) -> None:
    with tenant_scope(hub.tenant.id):
        for digest, age in (("old", expiring.BURIED + DAYS), ("new", expiring.BURIED - DAYS)):
            at = hub.now - age
            Tombstone.objects.create(tenant=hub.tenant, digest=digest, created_at=at)
            Receipt.objects.create(
                tenant=hub.tenant, target="turns", target_digest=digest, created_at=at
            )
    expiring.sweep(hub.space, Policy(), hub.now)
    with tenant_scope(hub.tenant.id):
        assert Tombstone.objects.get().digest == "new"
        assert Receipt.objects.get().target_digest == "new"


def test_a_policy_without_sweeps_sweeps_when_fingerprints_are_over(hub: Hub) -> None:
    hub.policy("rag")
    hub.model.allow(construct={"facts": [], "speech_acts": []})
    given(hub, "Ana lives in Porto.")
    hub.pass_time(days=31)
    hub.say("Hello again, it has been a while.")
    hub.drain(minutes=1)
    hub.drain(hours=2)
    assert left(hub) == 0
