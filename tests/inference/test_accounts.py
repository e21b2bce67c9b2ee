"""Every call is accounted for, and stopped when it should be, while everything else goes on."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from memoryhub.dialogues.models import Turn
from memoryhub.engines.ledger import CallRecord, get_current_ledger
from memoryhub.errors import EngineError, ModelsPaused
from memoryhub.inference.ledger import MAX_KEPT_CHARACTERS, TenantLedger, open_ledger
from memoryhub.inference.models import ModelCall
from memoryhub.inference.prices import parse_prices
from memoryhub.pipeline.models import Job
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant
from tests.support.hub import ScriptedHub

NOTHING: dict[str, Any] = {"facts": [], "speech_acts": []}


def list_calls(hub: ScriptedHub) -> list[ModelCall]:
    with tenant_scope(hub.tenant.id):
        return list(ModelCall.objects.order_by("created_at", "id"))


def list_jobs(hub: ScriptedHub, **where: Any) -> list[Job]:
    with tenant_scope(hub.tenant.id):
        return list(Job.objects.filter(step=Job.Step.DERIVE, **where).order_by("first_seq"))


def get_job(hub: ScriptedHub) -> Job:
    (found,) = list_jobs(hub)
    return found


def count_pending(hub: ScriptedHub) -> int:
    with tenant_scope(hub.tenant.id):
        return Turn.objects.filter(state=Turn.State.PENDING).count()


@pytest.fixture
def bare(hub: ScriptedHub) -> ScriptedHub:
    """A hub whose dialogue costs one call a derivation."""
    hub.set_policy("mem0", graph__enabled=False, episodes__rolling=False)
    return hub


def test_a_call_is_kept_with_its_job_its_words_and_its_cost(
    bare: ScriptedHub, settings: Any
) -> None:
    settings.MODEL_PRICES = parse_prices('{"scripted": {"prompt": 1000, "completion": 2000}}')
    bare.model.script("extract_facts", NOTHING)
    bare.say("I live in Porto.")
    bare.run_due_jobs()
    (call,) = list_calls(bare)
    assert (call.purpose, call.model) == ("extract_facts", "scripted")
    assert call.template.startswith("extract_facts.v")
    assert (call.status, call.attempts) == (ModelCall.Status.OK, 1)
    assert call.job_id == get_job(bare).id
    assert call.space_id == bare.space.id
    assert call.created_at == bare.now
    assert call.prompt_tokens > 100
    money = Decimal(call.prompt_tokens) / 1000 + Decimal(call.completion_tokens) / 500
    assert call.cost == money
    assert call.input is not None
    assert "I live in Porto." in call.input[1]["content"]
    assert '"facts"' in call.output


def test_E13_items_of_a_reply_that_were_dropped_are_counted(bare: ScriptedHub) -> None:
    bare.model.script(
        "extract_facts", NOTHING | {"speech_acts": [{"handle": "t9", "act": "question"}]}
    )
    bare.say("I live in Porto.")
    bare.run_due_jobs()
    assert [call.rejected for call in list_calls(bare)] == [1]


def test_E12_a_failed_job_leaves_its_calls_behind(bare: ScriptedHub) -> None:
    bare.model.script("extract_facts", "Sure! Here are the facts:", "I'm sorry, I can't.")
    bare.say("I live in Porto.")
    bare.run_due_jobs(seconds=1)
    (call,) = list_calls(bare)
    assert (call.status, call.attempts) == (ModelCall.Status.FAILED, 2)
    assert call.error.startswith("unreadable_reply: ")
    assert get_job(bare).state == Job.State.RETRY
    bare.model.script("extract_facts", "no", NOTHING)
    bare.run_due_jobs()
    assert [c.status for c in list_calls(bare)] == ["failed", "repaired"]
    assert get_job(bare).state == Job.State.DONE


def test_E14_what_is_kept_of_a_call_is_capped(hub: ScriptedHub) -> None:
    ledger = TenantLedger(hub.tenant.id, at=hub.now)
    messages = [
        {"role": "system", "content": "a\0b"},
        {"role": "user", "content": "x" * MAX_KEPT_CHARACTERS * 2},
    ]
    ledger.record_call(
        CallRecord(
            "extract_facts",
            "extract_facts.v2",
            "m",
            messages,
            output="\ud800" + "y" * MAX_KEPT_CHARACTERS,
        )
    )
    ledger.save()
    (call,) = list_calls(hub)
    assert call.input is not None
    assert call.input[0] == {"role": "system", "content": "ab"}
    assert len("".join(message["content"] for message in call.input)) == MAX_KEPT_CHARACTERS
    assert len(call.output) == MAX_KEPT_CHARACTERS


def test_the_words_of_calls_are_not_kept_where_that_is_not_wished(
    bare: ScriptedHub, settings: Any
) -> None:
    settings.MODEL_CALLS_KEEP_TEXT = False
    bare.model.script("extract_facts", NOTHING)
    bare.say("I live in Porto.")
    bare.run_due_jobs()
    (call,) = list_calls(bare)
    assert (call.input, call.output) == (None, "")
    assert call.prompt_tokens > 0


def test_E16_a_spent_budget_stops_models_until_the_next_day_and_nothing_else(
    bare: ScriptedHub,
) -> None:
    bare.set_policy(llm__budget_tokens_per_day=100)
    bare.model.script("extract_facts", NOTHING)
    bare.say("I live in Porto.")
    bare.run_due_jobs()
    bare.say("I have two cats.")
    bare.say("I sail.")
    bare.run_due_jobs()
    assert len(list_calls(bare)) == 1
    waiting = list_jobs(bare, state=Job.State.RETRY)[0]
    assert waiting.error.startswith("budget_spent: ")
    assert waiting.run_after == datetime(2026, 5, 13, tzinfo=UTC)
    assert waiting.tries == 0
    assert count_pending(bare) == 2
    bare.model.script("extract_facts", NOTHING)
    bare.run_due_jobs(days=1)
    assert len(list_calls(bare)) == 2
    assert count_pending(bare) == 1  # the first job of the new day spent its budget


def test_a_budget_in_money(bare: ScriptedHub, settings: Any) -> None:
    settings.MODEL_PRICES = parse_prices('{"scripted": {"prompt": 1000, "completion": 1000}}')
    bare.set_policy(llm__budget_money_per_day=0.1)
    bare.model.script("extract_facts", NOTHING)
    bare.say("I live in Porto.")
    bare.run_due_jobs()
    bare.say("I have two cats.")
    bare.run_due_jobs()
    assert len(list_calls(bare)) == 1


def test_a_budget_is_the_tenants_own(bare: ScriptedHub) -> None:
    bare.set_policy(llm__budget_tokens_per_day=1)
    bare.model.script("extract_facts", NOTHING)
    bare.say("I live in Porto.")
    bare.run_due_jobs()
    other = create_tenant("Other", "other")
    TenantLedger(other.id, at=bare.now).check_allowed("extract_facts", "scripted")
    with pytest.raises(ModelsPaused):
        TenantLedger(bare.tenant.id, at=bare.now).check_allowed("extract_facts", "scripted")


def test_a_budget_is_checked_within_a_job_too(bare: ScriptedHub) -> None:
    bare.set_policy(llm__budget_tokens_per_day=100)
    ledger = TenantLedger(bare.tenant.id, at=bare.now)
    ledger.check_allowed("extract_facts", "m")
    ledger.record_call(CallRecord("extract_facts", "extract_facts.v2", "m", [], prompt_tokens=99))
    ledger.check_allowed("resolve", "m")
    ledger.record_call(CallRecord("resolve", "resolve.v1", "m", [], completion_tokens=1))
    with pytest.raises(ModelsPaused, match="100 of 100 tokens"):
        ledger.check_allowed("resolve", "m")


def test_X14_E16_an_hour_without_the_provider_costs_no_job_and_loses_nothing(
    bare: ScriptedHub,
) -> None:
    down = EngineError("The model endpoint cannot be reached", code="unreachable")
    bare.model.allow(extract_facts=lambda data: down)
    bare.say("I live in Porto.")
    for minute in range(60):
        if minute == 30:
            bare.say("I have two cats.")
        bare.run_due_jobs(minutes=1)
    first = list_jobs(bare)[0]
    assert first.state == Job.State.RETRY
    assert first.tries < 5
    assert count_pending(bare) == 2
    assert len(list_calls(bare)) < 15  # it was left alone most of the time
    bare.model.allow(extract_facts=NOTHING)
    bare.run_due_jobs(minutes=16)
    assert count_pending(bare) == 0
    assert {each.state for each in list_jobs(bare)} == {Job.State.DONE}


def test_while_the_breaker_is_open_nothing_is_asked(bare: ScriptedHub, settings: Any) -> None:
    settings.MODEL_BREAKER_FAILURES = 2
    ledger = TenantLedger(bare.tenant.id, at=bare.now)
    for _ in range(2):
        ledger.record_call(
            CallRecord(
                "extract_facts", "extract_facts.v2", "m", [], status="failed", error="timeout: x"
            )
        )
    ledger.save()
    later = TenantLedger(bare.tenant.id, at=bare.now + timedelta(seconds=29))
    with pytest.raises(ModelsPaused, match="keeps failing") as raised:
        later.check_allowed("extract_facts", "m")
    assert (raised.value.code, raised.value.until) == (
        "breaker_open",
        bare.now + timedelta(seconds=30),
    )
    later.check_allowed("resolve", "m")
    TenantLedger(bare.tenant.id, at=bare.now + timedelta(seconds=30)).check_allowed(
        "extract_facts", "m"
    )


def test_E12_replies_that_are_never_usable_end_in_a_dead_job(bare: ScriptedHub) -> None:
    bare.model.allow(extract_facts=lambda data: "prose")
    bare.say("I live in Porto.")
    for _ in range(20):
        bare.run_due_jobs(hours=2)
    assert get_job(bare).state == Job.State.DEAD
    assert "no usable reply" in get_job(bare).error


def test_an_account_inside_another_of_the_tenant_is_that_one(hub: ScriptedHub) -> None:
    with open_ledger(hub.tenant.id) as outer, open_ledger(hub.tenant.id, at=hub.now) as inner:
        assert inner is outer is get_current_ledger()
    other = create_tenant("Other", "other")
    with open_ledger(hub.tenant.id) as outer, open_ledger(other.id) as inner:
        assert inner is not outer


def test_nothing_asked_is_nothing_written_and_nothing_read(
    hub: ScriptedHub, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(0), open_ledger(hub.tenant.id):
        pass
