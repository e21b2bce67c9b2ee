"""Turn by turn, dialogue is gathered: one call reads what came in together (spec §12.1)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memoryhub.dialogues.messages import Message
from memoryhub.errors import EngineError
from memoryhub.pipeline.ingest.services import IngestRequest, ingest_messages, wait_for_job
from memoryhub.pipeline.jobs import runner
from memoryhub.pipeline.models import Job
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from notes.models import Receipt
from tests.support.claims import (
    decide_on_claim,
    list_facts,
    make_fact_reply,
    make_facts_reply,
    make_home_reply,
    say_and_derive,
)
from tests.support.hub import ScriptedHub

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def read_by_a_model(hub: ScriptedHub) -> None:
    hub.set_policy(
        "mem0",
        episodes__rolling=False,
        derive__debounce_seconds=2,
        derive__batch_exchanges=5,
    )
    hub.model.allow("resolve")
    set_engine(hub, Tenant.Engine.LLM)


def set_engine(hub: ScriptedHub, name: str) -> None:
    with tenant_scope(hub.tenant.id):
        assert Tenant.objects.filter(id=hub.tenant.id).update(engine=name) == 1


def reply_fact_of_each(data: dict[str, Any]) -> dict[str, Any]:
    """A fact of every message read."""
    said = [make_fact_reply(f"Ana says: {m['text']}", m["handle"]) for m in data["messages"]]
    return make_facts_reply(*said)


def list_jobs(hub: ScriptedHub) -> list[Job]:
    with tenant_scope(hub.tenant.id):
        return list(Job.objects.filter(step="derive").order_by("first_seq"))


def test_a_model_reads_after_the_debounce_and_not_before(hub: ScriptedHub) -> None:
    hub.model.script("extract_facts", reply_fact_of_each)
    done = hub.say("I planted a fig tree.")
    assert done.job is not None
    assert done.job.run_after - done.job.created_at == timedelta(seconds=2)
    assert runner.drain_space(hub.tenant.id, hub.space.id, done.job.created_at) == 0
    assert hub.run_due_jobs(seconds=2) >= 1
    assert len(list_facts(hub)) == 1


def test_who_waits_does_not_wait_for_more(hub: ScriptedHub) -> None:
    hub.model.script("extract_facts", reply_fact_of_each)
    first = hub.say("I planted a fig tree.").job
    second = hub.say("I planted a palm.").job
    assert first is not None
    assert second is not None
    ended = wait_for_job(hub.tenant.id, second, 5)
    assert (ended.state, len(hub.model.list_calls("extract_facts"))) == (Job.State.DONE, 1)


def test_one_call_reads_the_jobs_that_wait_together_and_each_tells_its_own(
    hub: ScriptedHub,
) -> None:
    hub.model.script("extract_facts", reply_fact_of_each)
    texts = [f"I planted tree number {n}." for n in range(4)]
    for text in texts:
        hub.say(text)
    hub.run_due_jobs()
    (asked,) = hub.model.list_calls("extract_facts")
    assert [m["exchange"] for m in asked["messages"]] == ["e1", "e2", "e3", "e4"]
    done = list_jobs(hub)
    assert [job.state for job in done] == [Job.State.DONE] * 4
    assert [job.result["decisions"][0]["text"] for job in done] == [f"Ana says: {t}" for t in texts]
    assert [job.result.get("done_by") for job in done] == [None, *[str(done[0].id)] * 3]


def test_a_wish_read_along_with_another_message_tells_its_own_receipt(hub: ScriptedHub) -> None:
    wanted = {"erase__on_request": "auto", "derive__batch_exchanges": 5}
    hub.set_policy("mem0", episodes__rolling=False, **wanted)
    say_and_derive(hub, "I live in Porto.", make_home_reply("Porto"))
    hub.model.script("resolve", decide_on_claim("Ana lives in Porto.", "forget"))
    acts = [{"handle": "t1", "act": "assertion"}, {"handle": "t2", "act": "forget"}]
    hub.model.script("extract_facts", make_facts_reply(speech_acts=acts))
    first, second = (hub.say(text).job for text in ("Good soup.", "Forget that I live in Porto."))
    assert first is not None
    assert second is not None
    hub.run_due_jobs()
    with tenant_scope(hub.tenant.id):
        (receipt,) = Receipt.objects.all()
        told = Job.objects.in_bulk([first.id, second.id])
        assert told[second.id].result["receipts"] == [str(receipt.id)]
        assert "receipts" not in told[first.id].result


def test_no_more_exchanges_than_the_policy_says(hub: ScriptedHub) -> None:
    hub.set_policy("mem0", episodes__rolling=False, derive__batch_exchanges=3)
    hub.model.allow(extract_facts=reply_fact_of_each)
    for n in range(7):
        hub.say(f"I planted tree number {n}.")
    hub.run_due_jobs()
    assert [len(asked["messages"]) for asked in hub.model.list_calls("extract_facts")] == [3, 3, 1]
    assert len(list_facts(hub)) == 7


def test_another_sessions_turns_are_read_by_themselves(hub: ScriptedHub) -> None:
    hub.model.allow(extract_facts=reply_fact_of_each)
    for n, session in enumerate(("a", "a", "b", "a")):
        hub.say(f"I planted tree number {n}.", session=session)
    hub.run_due_jobs()
    assert [len(asked["messages"]) for asked in hub.model.list_calls("extract_facts")] == [2, 1, 1]


def test_what_failed_together_is_tried_alone(hub: ScriptedHub) -> None:
    hub.model.script(
        "extract_facts",
        EngineError("cut", code="unreachable"),
        reply_fact_of_each,
        reply_fact_of_each,
    )
    for n in range(2):
        hub.say(f"I planted tree number {n}.")
    hub.run_due_jobs()
    hub.run_due_jobs()
    assert [len(asked["messages"]) for asked in hub.model.list_calls("extract_facts")] == [2, 1, 1]
    assert {job.state for job in list_jobs(hub)} == {Job.State.DONE}


def test_too_long_a_reply_halves_the_exchanges(hub: ScriptedHub) -> None:
    hub.model.script(
        "extract_facts",
        EngineError("cut", code="reply_cut"),
        reply_fact_of_each,
        reply_fact_of_each,
    )
    for n in range(2):
        hub.say(f"I planted tree number {n}.")
    hub.run_due_jobs()
    assert [len(asked["messages"]) for asked in hub.model.list_calls("extract_facts")] == [2, 1, 1]
    assert len(list_facts(hub)) == 2


def test_rules_do_not_wait(hub: ScriptedHub) -> None:
    set_engine(hub, Tenant.Engine.LOCAL)
    message = Message("user", "I planted a fig tree.", "Ana")
    done = ingest_messages(hub.tenant.id, IngestRequest("Ana", [message]), hub.now)
    assert done.job is not None
    assert done.job.run_after == done.job.created_at
