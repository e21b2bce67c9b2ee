"""What is kept for a time only: fingerprints, tombstones, receipts (spec §12.1)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memoryhub.pipeline.erasure import expire
from memoryhub.policies.schema import Policy
from memoryhub.tenants.scope import tenant_scope
from notes.models import Fingerprint, Receipt, Tombstone
from notes.quality.echoes import save_fingerprints
from tests.support.hub import ScriptedHub

pytestmark = pytest.mark.django_db
DAYS = timedelta(days=1)


def give_texts(hub: ScriptedHub, *texts: str) -> None:
    with tenant_scope(hub.tenant.id):
        save_fingerprints(hub.space, texts, hub.now)


def count_fingerprints(hub: ScriptedHub) -> int:
    with tenant_scope(hub.tenant.id):
        return Fingerprint.objects.count()


def test_a_fingerprint_lasts_thirty_days_from_when_it_was_given_out_last(hub: ScriptedHub) -> None:
    give_texts(hub, "Ana lives in Porto.", "Ana has two cats.")
    first = hub.now
    hub.pass_time(days=20)
    give_texts(hub, "Ana has two cats.")
    hub.now = first + 30 * DAYS
    assert expire.delete_expired(hub.space, Policy(), hub.now) == first + 30 * DAYS
    assert count_fingerprints(hub) == 2
    hub.pass_time(seconds=1)
    assert expire.delete_expired(hub.space, Policy(), hub.now) == first + 50 * DAYS
    assert count_fingerprints(hub) == 1
    with tenant_scope(hub.tenant.id):
        assert Fingerprint.objects.get().seen_at == first
    hub.pass_time(days=20)
    assert expire.delete_expired(hub.space, Policy(), hub.now) is None
    assert count_fingerprints(hub) == 0


def test_a_sweep_removes_so_many_and_asks_for_another(
    hub: ScriptedHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expire, "BATCH", 2)
    monkeypatch.setattr(expire, "BATCHES", 2)
    give_texts(hub, *(f"This is sentence number {n}." for n in range(5)))
    hub.pass_time(days=31)
    assert expire.delete_expired(hub.space, Policy(), hub.now) == hub.now
    assert count_fingerprints(hub) == 1
    assert expire.delete_expired(hub.space, Policy(), hub.now) is None
    assert count_fingerprints(hub) == 0


def test_tombstones_and_receipts_go_after_three_years(hub: ScriptedHub) -> None:
    with tenant_scope(hub.tenant.id):
        for digest, age in (
            ("old", expire.TOMBSTONE_AGE + DAYS),
            ("new", expire.TOMBSTONE_AGE - DAYS),
        ):
            at = hub.now - age
            Tombstone.objects.create(tenant=hub.tenant, digest=digest, created_at=at)
            Receipt.objects.create(
                tenant=hub.tenant, target="turns", target_digest=digest, created_at=at
            )
    expire.delete_expired(hub.space, Policy(), hub.now)
    with tenant_scope(hub.tenant.id):
        assert Tombstone.objects.get().digest == "new"
        assert Receipt.objects.get().target_digest == "new"


def test_a_policy_without_sweeps_sweeps_when_fingerprints_are_over(hub: ScriptedHub) -> None:
    hub.set_policy("rag")
    hub.model.allow(construct={"changes": []})
    give_texts(hub, "Ana lives in Porto.")
    hub.pass_time(days=31)
    hub.say("Hello again, it has been a while.")
    hub.run_due_jobs(minutes=1)
    hub.run_due_jobs(hours=2)
    assert count_fingerprints(hub) == 0
