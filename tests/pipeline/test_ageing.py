"""Rows that end by their age, and what was said: by the days of the tenant and of the hub."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from api.models import IdempotentRequest, LoggedRequest
from memoryhub.dialogues.models import Turn
from memoryhub.errors import InvalidInput
from memoryhub.importers.models import ImportRun
from memoryhub.inference.models import ModelCall
from memoryhub.pipeline import ageing
from memoryhub.pipeline.models import Job
from memoryhub.policies.services import set_policy
from memoryhub.recall.models import RecallLog
from memoryhub.tenants.models import AuditEntry, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.webhooks.models import WebhookEvent
from notes.models import Receipt
from tests.support.database_scan import find_tables_with_word
from tests.support.factories import (
    make_call,
    make_delivery,
    make_import,
    make_job,
    make_recall,
    make_receipt,
    make_request,
    make_space,
    make_tenant,
    make_webhook,
)
from tests.support.hub import ScriptedHub

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 6, 20, 15, 0, tzinfo=UTC)
DAY = timedelta(days=1)
ALL_AT_TEN = {
    f"retention.{name}": 10
    for name in (
        "recall_days",
        "request_days",
        "delivery_days",
        "call_days",
        "job_days",
        "answer_days",
        "import_days",
        "receipt_days",
    )
}
MODELS = (
    RecallLog,
    LoggedRequest,
    WebhookEvent,
    ModelCall,
    Job,
    IdempotentRequest,
    ImportRun,
    Receipt,
)


@pytest.fixture
def tenant(db: None, settings: Any) -> Tenant:
    settings.REQUEST_LOG_DAYS = 30
    return make_tenant()


def make_rows(tenant: Tenant, subject: str, at: datetime, *, sent: bool = True) -> None:
    """One of each kind that ends by its age. Call inside the scope."""
    space = make_space(tenant, subject)
    make_recall(space, "Where does she live?", space, asked_at=at)
    make_request(tenant, at=at)
    event = make_delivery(make_webhook(tenant), space, state="dead" if sent else "retry").event
    WebhookEvent.objects.filter(id=event.id).update(created_at=at)
    make_call(space, created_at=at)
    make_job(space, "done", created_at=at)
    answer = IdempotentRequest.objects.create(
        tenant_id=tenant.id, key=f"{at}{subject}", route="x", request_hash="", status=200, body={}
    )
    IdempotentRequest.objects.filter(id=answer.id).update(created_at=at)
    make_import(tenant, created_at=at)
    make_receipt(tenant, created_at=at)


def count_rows(tenant: Tenant) -> dict[str, int]:
    with tenant_scope(tenant.id):
        return {model.__name__: model._default_manager.count() for model in MODELS}


def list_told(tenant: Tenant) -> list[str]:
    with tenant_scope(tenant.id):
        told = AuditEntry.objects.filter(action=AuditEntry.Action.AGED_OUT).order_by("id")
        return [entry.detail for entry in told]


def end_all(tenant: Tenant, now: datetime = NOW) -> int:
    """How many portions it took."""
    portions = 1
    while not ageing.end_old_rows(tenant.id, now):
        portions += 1
    return portions


def test_rows_end_by_the_days_of_the_tenant_and_it_is_told(tenant: Tenant) -> None:
    set_policy(tenant.id, actor="ida", overrides=ALL_AT_TEN)
    with tenant_scope(tenant.id):
        make_rows(tenant, "ana", NOW - 12 * DAY)
        make_rows(tenant, "ana", NOW - 9 * DAY)
    end_all(tenant)
    assert set(count_rows(tenant).values()) == {1}
    (told,) = list_told(tenant)
    assert "recall.recalllog 1" in told
    assert "notes.receipt 1" in told
    end_all(tenant)
    assert set(count_rows(tenant).values()) == {1}
    assert len(list_told(tenant)) == 1


def test_they_end_at_the_beginning_of_a_day(tenant: Tenant) -> None:
    set_policy(tenant.id, actor="ida", overrides=ALL_AT_TEN)
    with tenant_scope(tenant.id):
        make_rows(tenant, "ana", NOW - 10 * DAY)
    end_all(tenant)
    assert set(count_rows(tenant).values()) == {1}
    end_all(tenant, NOW + 10 * timedelta(hours=1))
    assert set(count_rows(tenant).values()) == {0}


def test_without_days_only_what_the_hub_ends_goes(tenant: Tenant) -> None:
    with tenant_scope(tenant.id):
        make_rows(tenant, "ana", NOW - 400 * DAY)
    end_all(tenant)
    gone = {name for name, count in count_rows(tenant).items() if not count}
    assert gone == {"RecallLog", "LoggedRequest", "WebhookEvent", "IdempotentRequest"}


def test_a_tenant_makes_the_days_of_the_hub_fewer_and_never_more(
    tenant: Tenant, settings: Any
) -> None:
    settings.RECALL_LOG_DAYS = 30
    set_policy(tenant.id, actor="ida", overrides={"retention.recall_days": 300})
    with tenant_scope(tenant.id):
        make_rows(tenant, "ana", NOW - 40 * DAY)
        make_rows(tenant, "ana", NOW - 20 * DAY)
    end_all(tenant)
    assert count_rows(tenant)["RecallLog"] == 1
    set_policy(tenant.id, actor="ida", overrides={"retention.recall_days": 10})
    end_all(tenant)
    assert count_rows(tenant)["RecallLog"] == 0


def test_what_is_at_work_stays(tenant: Tenant) -> None:
    set_policy(tenant.id, actor="ida", overrides=ALL_AT_TEN)
    old = NOW - 100 * DAY
    with tenant_scope(tenant.id):
        make_rows(tenant, "ana", old, sent=False)
        Job.objects.update(state="dead")
        ImportRun.objects.update(state="running")
        IdempotentRequest.objects.update(status=102)
    end_all(tenant)
    left = {name for name, count in count_rows(tenant).items() if count}
    assert left == {"Job", "ImportRun", "IdempotentRequest", "WebhookEvent"}


def test_under_a_legal_hold_nothing_ends(tenant: Tenant) -> None:
    set_policy(tenant.id, actor="ida", overrides={**ALL_AT_TEN, "erase.hold": True})
    with tenant_scope(tenant.id):
        make_rows(tenant, "ana", NOW - 100 * DAY)
    end_all(tenant)
    assert set(count_rows(tenant).values()) == {1}
    assert list_told(tenant) == []


def test_rows_of_a_space_under_a_hold_stay(tenant: Tenant) -> None:
    set_policy(tenant.id, actor="ida", overrides=ALL_AT_TEN)
    with tenant_scope(tenant.id):
        held = make_space(tenant, "ana")
        for subject in ("ana", "ben"):
            make_rows(tenant, subject, NOW - 100 * DAY)
    set_policy(tenant.id, actor="ida", overrides={"erase.hold": True}, space=held)
    end_all(tenant)
    with tenant_scope(tenant.id):
        for model in (RecallLog, ModelCall, Job, WebhookEvent):
            assert list(model._default_manager.values_list("space_id")) == [(held.id,)]


def test_other_tenants_keep_theirs(tenant: Tenant) -> None:
    other = make_tenant()
    set_policy(tenant.id, actor="ida", overrides=ALL_AT_TEN)
    for each in (tenant, other):
        with tenant_scope(each.id):
            make_rows(each, "ana", NOW - 12 * DAY)
    end_all(tenant)
    assert set(count_rows(tenant).values()) == {0}
    assert count_rows(other)["Job"] == count_rows(other)["RecallLog"] == 1


def test_a_portion_at_a_time_tenants_in_turns(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_tenant()
    monkeypatch.setattr(ageing, "PORTION", 3)
    for each, count in ((tenant, 8), (other, 2)):
        set_policy(each.id, actor="ida", overrides=ALL_AT_TEN)
        with tenant_scope(each.id):
            space = make_space(each, "ana")
            for _ in range(count):
                make_call(space, created_at=NOW - 12 * DAY)
    monkeypatch.setattr(ageing, "_list_tenants", lambda: [tenant.id, other.id])
    looked = []
    end = ageing.end_old_rows

    def look(tenant_id: Any, now: datetime) -> bool:
        looked.append(tenant_id)
        return end(tenant_id, now)

    monkeypatch.setattr(ageing, "end_old_rows", look)
    ageing.TenantRound().go_on(NOW, seconds=600)
    assert looked == [tenant.id, other.id, tenant.id, tenant.id]
    with tenant_scope(tenant.id):
        assert not ModelCall.objects.exists()
        assert AuditEntry.objects.filter(action="data.aged_out").count() == 3


def test_a_round_interrupted_goes_on_where_it_was(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows and the line that tells of them go together."""
    set_policy(tenant.id, actor="ida", overrides=ALL_AT_TEN)
    with tenant_scope(tenant.id):
        make_rows(tenant, "ana", NOW - 12 * DAY)

    def fail(*told: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ageing, "_tell_what_ended", fail)
        with pytest.raises(KeyboardInterrupt):
            end_all(tenant)
    assert set(count_rows(tenant).values()) == {1}
    end_all(tenant)
    assert set(count_rows(tenant).values()) == {0}
    assert len(list_told(tenant)) == 1


def test_every_tenant_but_a_measurement_s_own_is_looked_at(tenant: Tenant) -> None:
    own = make_tenant()
    with tenant_scope(own.id):
        Tenant.objects.filter(id=own.id).update(own_clock=True)
    found = ageing._list_tenants()
    assert tenant.id in found
    assert own.id not in found
    with tenant_scope(own.id):
        assert ageing._list_tenants() == []


def test_the_oldest_rows_are_found_by_an_index(tenant: Tenant) -> None:
    """Each table that ends by its age has one that leads with the tenant, or the space, and it."""
    for table in ageing.list_growing_tables():
        if table.growth.days and table.growth.kind != "said":
            wanted = ["tenant", table.growth.at]
            found = [[name.lstrip("-") for name in i.fields] for i in table.model._meta.indexes]
            assert wanted in [fields[:2] for fields in found], table.label


def test_logs_are_the_tenant_s_and_no_space_s(tenant: Tenant) -> None:
    with tenant_scope(tenant.id):
        space = make_space(tenant, "ana")
    with pytest.raises(InvalidInput, match="logs of all its spaces"):
        set_policy(tenant.id, actor="ida", overrides={"retention.call_days": 5}, space=space)


def list_words(hub: ScriptedHub) -> list[str]:
    with tenant_scope(hub.tenant.id):
        kept = Turn.objects.exclude(state=Turn.State.REDACTED).order_by("seq")
        return [turn.text for turn in kept]


def test_what_was_said_is_erased_by_its_age_with_what_rests_on_it(hub: ScriptedHub) -> None:
    hub.set_policy("rag", retention__turn_days=30)
    hub.say("I planted a fig tree.")
    hub.run_due_jobs()
    hub.run_due_jobs(days=20)
    hub.say("It rained.", session="s2")
    hub.run_due_jobs()
    assert list_words(hub) == ["I planted a fig tree.", "It rained."]
    hub.run_due_jobs(days=15)  # the sweep planned itself
    assert list_words(hub) == ["It rained."]
    with tenant_scope(hub.tenant.id):
        (receipt,) = Receipt.objects.all()
        assert receipt.actor == "policy: retention.turn_days"
        assert receipt.counts["turns"] == 1
        assert find_tables_with_word("planted") == []
    hub.run_due_jobs(days=30)
    assert list_words(hub) == []


def test_a_hold_keeps_what_was_said(hub: ScriptedHub) -> None:
    hub.set_policy("rag", retention__turn_days=30, erase__hold=True)
    hub.say("I planted a fig tree.")
    hub.run_due_jobs()
    hub.run_due_jobs(days=60)
    ageing.plan_turn_sweeps(hub.tenant.id, hub.now)
    hub.run_due_jobs(hours=2)
    assert list_words(hub) == ["I planted a fig tree."]


def test_a_space_in_which_nobody_speaks_any_more_is_swept(hub: ScriptedHub) -> None:
    hub.set_policy("rag")
    hub.say("I planted a fig tree.")
    hub.run_due_jobs()
    hub.run_due_jobs(days=60)
    hub.set_policy("rag", retention__turn_days=30)
    for _ in range(2):  # planned once
        ageing.plan_turn_sweeps(hub.tenant.id, hub.now)
    with tenant_scope(hub.tenant.id):
        planned = Job.objects.filter(step=Job.Step.SWEEP, state=Job.State.QUEUED)
        assert planned.count() == 1
    hub.run_due_jobs(hours=2)
    assert list_words(hub) == []
    ageing.plan_turn_sweeps(hub.tenant.id, hub.now)
    with tenant_scope(hub.tenant.id):
        assert not planned.exists()


def test_a_space_may_keep_what_is_said_longer_or_shorter(hub: ScriptedHub) -> None:
    hub.set_policy("rag", retention__turn_days=30)
    set_policy(hub.tenant.id, actor="ida", overrides={"retention.turn_days": 90}, space=hub.space)
    hub.say("I planted a fig tree.")
    hub.run_due_jobs()
    hub.run_due_jobs(days=60)
    assert list_words(hub) == ["I planted a fig tree."]
    hub.run_due_jobs(days=31)
    assert list_words(hub) == []
