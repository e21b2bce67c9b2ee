"""What is written to be told: with the change, or not at all."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import transaction

from memoryhub.background.news import NEWS_KINDS, News, notify_listeners
from memoryhub.dialogues.messages import Message
from memoryhub.errors import EngineError, ModelsPaused
from memoryhub.inference.ledger import TenantLedger
from memoryhub.pipeline.corrections import correct_trait, forget_facts, restore_fact
from memoryhub.pipeline.erasure import erase_targets
from memoryhub.pipeline.erasure.erase_targets import ErasureTarget
from memoryhub.pipeline.ingest.services import (
    IngestRequest,
    IngestResult,
    ingest_messages,
    run_space,
)
from memoryhub.pipeline.jobs import queue
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.review import answer_proposals
from memoryhub.policies.services import set_policy
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant, ensure_space
from memoryhub.webhooks.models import Delivery, WebhookEvent
from memoryhub.webhooks.payloads import load_event_words
from notes.models import Fact
from notes.review.proposals import propose_change
from tests.support.receiver import WebhookReceiver
from tests.webhooks.conftest import NOW, Make

pytestmark = pytest.mark.django_db
ALL = tuple(NEWS_KINDS)


@pytest.fixture(autouse=True)
def _no_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memoryhub.pipeline.ingest.services.ring_worker", lambda *ids: None)


def ingest_text(
    tenant: Tenant, text: str, subject: str = "ana", at: datetime = NOW
) -> IngestResult:
    return ingest_messages(tenant.id, IngestRequest(subject, [Message("user", text, "Ana")]), at)


def list_delivery_names(tenant: Tenant) -> list[str]:
    with tenant_scope(tenant.id):
        return list(Delivery.objects.order_by("created_at", "id").values_list("name", flat=True))


def list_events(tenant: Tenant, kind: str) -> list[WebhookEvent]:
    with tenant_scope(tenant.id):
        return list(WebhookEvent.objects.filter(kind=kind).order_by("id"))


def test_what_is_said_and_read_is_told(tenant: Tenant, hook_to: Make) -> None:
    hook_to(*ALL)
    done = ingest_text(tenant, "I live in Porto.")
    assert list_delivery_names(tenant) == ["turns.added"]
    (said,) = list_events(tenant, "turns.added")
    assert said.data["turn_ids"] == [str(done.turns[0].id)]
    assert (said.data["first_seq"], said.data["last_seq"]) == (1, 1)
    run_space(tenant.id, done.space.id)
    names = list_delivery_names(tenant)
    assert {"fact.added", "job.done"} <= set(names)
    (added,) = list_events(tenant, "fact.added")
    with tenant_scope(tenant.id):
        assert added.data["id"] == str(Fact.objects.get().id)
    derive = [e for e in list_events(tenant, "job.done") if e.data["step"] == "derive"]
    assert [e.data["job_id"] for e in derive] == [added.data["job_id"]]


def test_a_successor_is_told_as_one(tenant: Tenant, hook_to: Make) -> None:
    hook_to("fact.added", "fact.superseded", "fact.ended")
    for days, text in enumerate(("I live in Porto.", "I moved to Faro.")):
        done = ingest_text(tenant, text, at=NOW + timedelta(days=days))
        run_space(tenant.id, done.space.id)
    names = list_delivery_names(tenant)
    assert names.count("fact.superseded") == 1
    assert "fact.ended" not in names


def test_no_words_are_written_to_be_told(tenant: Tenant, hook_to: Make) -> None:
    hook_to(*ALL, content="text")
    run_space(tenant.id, ingest_text(tenant, "I live in Porto.").space.id)
    with tenant_scope(tenant.id):
        data = list(WebhookEvent.objects.values_list("data", flat=True))
    assert data
    assert "Porto" not in str(data)


def test_only_what_is_asked_for_is_written(tenant: Tenant, hook_to: Make) -> None:
    hook_to("note.added")
    ingest_text(tenant, "I live in Porto.")
    assert list_delivery_names(tenant) == []
    assert list_events(tenant, "turns.added") == []


def test_without_webhooks_nothing_is_made_to_be_told(tenant: Tenant) -> None:
    def make() -> list[News]:
        raise AssertionError("nobody asked")

    with tenant_scope(tenant.id):
        notify_listeners(tenant.id, make)


def test_a_webhook_of_one_space_hears_of_that_one(tenant: Tenant, hook_to: Make) -> None:
    with tenant_scope(tenant.id):
        space = ensure_space(tenant.id, "ana")
    hook_to("turns.added", "budget.reached", space=space)
    ingest_text(tenant, "Hello there.", "rui")
    assert list_delivery_names(tenant) == []
    ingest_text(tenant, "Hello there.", "ana")
    assert list_delivery_names(tenant) == ["turns.added"]


def test_a_webhook_hears_of_its_own_tenant_alone(tenant: Tenant, hook_to: Make) -> None:
    hook_to("turns.added")
    ingest_text(create_tenant("Two", "two"), "Hello there.")
    assert list_delivery_names(tenant) == []


def test_what_is_rolled_back_is_never_told(
    tenant: Tenant, hook_to: Make, rung: list[Any], django_capture_on_commit_callbacks: Any
) -> None:
    hook_to("turns.added")

    class Broken(Exception):
        pass

    def broken() -> None:
        with transaction.atomic():
            ingest_text(tenant, "I live in Porto.")
            assert list_delivery_names(tenant) == ["turns.added"]
            raise Broken

    with django_capture_on_commit_callbacks(execute=True), pytest.raises(Broken):
        broken()
    assert list_delivery_names(tenant) == []
    assert list_events(tenant, "turns.added") == []
    assert rung == []


def test_what_is_committed_rings_for_its_webhook(
    tenant: Tenant, hook_to: Make, rung: list[Any], django_capture_on_commit_callbacks: Any
) -> None:
    hook = hook_to("turns.added")
    with django_capture_on_commit_callbacks(execute=True):
        ingest_text(tenant, "I live in Porto.")
    assert rung == [(tenant.id, hook.id)]


def test_a_step_that_loses_its_lease_tells_nothing(tenant: Tenant, hook_to: Make) -> None:
    hook_to("job.done", "fact.added")
    done = ingest_text(tenant, "I live in Porto.")
    with tenant_scope(tenant.id):
        job = queue.claim_job(done.space.id, NOW)
        assert job is not None
        Job.objects.filter(id=job.id).update(attempts=9)
    with pytest.raises(queue.LeaseLost), tenant_scope(tenant.id):
        queue.finish_job(job, {}, NOW)
    assert list_delivery_names(tenant) == []


def test_a_job_that_is_given_up_is_told(tenant: Tenant, hook_to: Make) -> None:
    hook_to("job.failed", content="text")
    done = ingest_text(tenant, "I live in Porto.")
    with tenant_scope(tenant.id):
        job = queue.claim_job(done.space.id, NOW)
        assert job is not None
        queue.fail_job(job, EngineError("closed"), NOW)
        assert list_delivery_names(tenant) == []  # it is tried again
        job = queue.claim_job(done.space.id, NOW + timedelta(hours=1))
        assert job is not None
        queue.fail_job(job, EngineError("closed for good", permanent=True), NOW)
    (event,) = list_events(tenant, "job.failed")
    assert event.data["job_id"] == str(job.id)


def test_a_change_by_hand_is_told_as_what_it_is(tenant: Tenant, hook_to: Make) -> None:
    done = ingest_text(tenant, "I live in Porto.")
    run_space(tenant.id, done.space.id)
    hook_to("fact.deleted", "fact.restored")
    with tenant_scope(tenant.id):
        fact = Fact.objects.get()
    forget_facts(done.space, [fact.id], "eva", NOW)
    assert list_delivery_names(tenant) == ["fact.deleted"]
    restore_fact(done.space, fact.id, "eva", NOW)
    assert list_delivery_names(tenant) == ["fact.deleted", "fact.restored"]


def test_a_trait_is_told_in_the_words_of_its_pole(tenant: Tenant, hook_to: Make) -> None:
    done = ingest_text(tenant, "Just tell me.")
    hook_to("trait.added", content="text")
    correct_trait(done.space, "honesty", "low", "eva", NOW)
    (event,) = list_events(tenant, "trait.added")
    with tenant_scope(tenant.id):
        assert load_event_words(event) == {"text": "wants it said kindly"}


def test_a_conflict_opens_and_is_resolved(tenant: Tenant, hook_to: Make) -> None:
    hook_to("conflict.opened", "conflict.resolved")
    with tenant_scope(tenant.id):
        space = ensure_space(tenant.id, "ana")
        for _ in range(2):  # proposed twice, told once
            made = propose_change(space, "conflict", "k", "Porto or Faro", NOW)
        propose_change(space, "merge", "m", "the same?", NOW, declined_by="eva")
    assert list_delivery_names(tenant) == ["conflict.opened"]
    answer_proposals.answer_proposal(made, "keep", "eva", NOW)
    assert list_delivery_names(tenant)[1:] == ["conflict.resolved"]
    (resolved,) = list_events(tenant, "conflict.resolved")
    assert resolved.data["id"] == str(made.id)
    assert "Porto" not in str(resolved.data)


def test_an_erasure_is_told_and_outlives_its_space(tenant: Tenant, hook_to: Make) -> None:
    hook_to("turns.added", "erasure.done")
    done = ingest_text(tenant, "I live in Porto.")
    receipt = erase_targets.execute_erasure(done.space, ErasureTarget("subject"), "eva", NOW)
    assert list_delivery_names(tenant) == ["erasure.done"]
    (event,) = list_events(tenant, "erasure.done")
    assert event.data["receipt_id"] == str(receipt.id)
    assert event.data["space_id"] == str(done.space.id)


def test_a_spent_budget_is_told_once_a_day(tenant: Tenant, hook_to: Make) -> None:
    hook_to("budget.reached")
    set_policy(tenant.id, actor="eva", overrides={"llm.budget_tokens_per_day": 0})
    for at in (NOW, NOW + timedelta(hours=1), NOW + timedelta(days=1)):
        with pytest.raises(ModelsPaused):
            TenantLedger(tenant.id, at=at).check_allowed("construct", "m")
    assert list_delivery_names(tenant) == ["budget.reached"] * 2
    days = [event.occurred_at for event in list_events(tenant, "budget.reached")]
    assert days == [NOW, NOW + timedelta(days=1)]


def test_replies_go_with_an_erasure(
    tenant: Tenant, hook_to: Make, receiver: WebhookReceiver
) -> None:
    hook_to("turns.added")
    done = ingest_text(tenant, "I live in Porto.")
    with tenant_scope(tenant.id):
        Delivery.objects.update(reply="you said Porto")
    erase_targets.execute_erasure(
        done.space, ErasureTarget("turns", (done.turns[0].id,)), "eva", NOW
    )
    with tenant_scope(tenant.id):
        assert set(Delivery.objects.values_list("reply", flat=True)) == {""}
