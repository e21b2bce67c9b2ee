"""What is said waits for more, so that a model is asked about several exchanges at once."""

from __future__ import annotations

import pytest

from memoryhub.pipeline.ingest.services import wait_for_job
from memoryhub.pipeline.models import Job
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from tests.support.hub import ScriptedHub


@pytest.fixture
def chat(hub: ScriptedHub) -> ScriptedHub:
    """A hub whose tenant asks a model about three exchanges at once, or after a minute."""
    with tenant_scope(hub.tenant.id):
        Tenant.objects.update(engine=Tenant.Engine.LLM)
    hub.set_policy("mem0", graph__enabled=False, episodes__rolling=False, derive__batch_exchanges=3)
    hub.model.allow(extract_facts={"facts": []}, link_evolve={"links": []})
    return hub


def say_exchanges(hub: ScriptedHub, *numbers: int, gap: float = 0.0) -> None:
    for number in numbers:
        hub.say_exchange(f"I have {number} cats.", "How nice.")
        hub.pass_time(seconds=gap)
        hub.run_due_jobs(seconds=0)


def list_question_sizes(hub: ScriptedHub) -> list[int]:
    """Messages in each question."""
    return [len(asked.data["messages"]) for asked in hub.model.requests]


def test_several_exchanges_are_read_in_one_question(chat: ScriptedHub) -> None:
    chat.set_policy(
        "mem0",
        graph__enabled=False,
        episodes__rolling=False,
        derive__debounce_seconds=90,
        derive__batch_exchanges=3,
    )
    say_exchanges(chat, 1, 2)
    assert list_question_sizes(chat) == []
    chat.run_due_jobs(seconds=90)
    assert list_question_sizes(chat) == [4]


def test_every_word_begins_the_silence_anew(chat: ScriptedHub) -> None:
    chat.set_policy(
        "mem0",
        graph__enabled=False,
        episodes__rolling=False,
        derive__debounce_seconds=200,
        derive__batch_exchanges=4,
    )
    say_exchanges(chat, 1, 2, 3, gap=60)  # two minutes from one to the next
    assert list_question_sizes(chat) == []
    chat.run_due_jobs(seconds=200)
    assert list_question_sizes(chat) == [6]


def test_what_fills_a_question_waits_no_longer(chat: ScriptedHub) -> None:
    chat.set_policy(
        "mem0", graph__enabled=False, episodes__rolling=False,
        derive__debounce_seconds=3000, derive__batch_exchanges=3,
    )  # fmt: skip
    say_exchanges(chat, 1, 2, 3)
    assert list_question_sizes(chat) == []
    say_exchanges(chat, 4)  # now the third is whole
    assert list_question_sizes(chat) == [6]
    chat.run_due_jobs(seconds=3000)
    assert list_question_sizes(chat) == [6, 2]


def test_a_caller_who_waits_is_not_made_to_wait_for_more(chat: ScriptedHub) -> None:
    done = chat.say_exchange("I have two cats.", "How nice.")
    assert done.job is not None
    assert wait_for_job(chat.tenant.id, done.job, 5).state == Job.State.DONE


def test_rules_read_at_once(chat: ScriptedHub) -> None:
    with tenant_scope(chat.tenant.id):
        Tenant.objects.update(engine=Tenant.Engine.LOCAL)
    done = chat.say_exchange("I have two cats.", "How nice.")
    assert done.job is not None
    assert done.job.run_after == chat.now
