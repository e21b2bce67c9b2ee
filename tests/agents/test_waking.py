"""Timers wake an agent; resting puts its heartbeats off, and not the alarm that it set."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from memoryhub.agents.lease import WindowLease
from memoryhub.agents.wake import plan_timers
from memoryhub.celery import app
from memoryhub.dialogues.models import Turn
from memoryhub.errors import EngineError, ModelsPaused
from memoryhub.pipeline import tasks
from memoryhub.pipeline.models import Job
from memoryhub.policies.services import load_effective_policy
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from personas.models import Window
from tests.agents.conftest import RestAgent

Call = Callable[..., dict[str, Any]]


def get_window(rest: RestAgent) -> Window:
    with tenant_scope(rest.hub.tenant.id):
        return Window.objects.get(id=rest.window_id)


def get_session_end(rest: RestAgent) -> datetime:
    with tenant_scope(rest.hub.tenant.id):
        return Window.objects.get(id=rest.window_id).session.ended_at


def list_events(rest: RestAgent) -> list[str]:
    with tenant_scope(rest.hub.tenant.id):
        rows = Turn.objects.filter(role="system").order_by("seq")
        return list(rows.values_list("text", flat=True))


def is_about(at: datetime | None, minutes: float) -> bool:
    """Whether it is so many minutes from now, give or take one."""
    assert at is not None
    return abs(at - timezone.now() - timedelta(minutes=minutes)) < timedelta(minutes=1)


def test_a_heartbeat_wakes_the_agent_again_and_again(rest: RestAgent, call: Call) -> None:
    rest.open()
    scheduled = rest.post(f"{rest.window_id}/schedule", every_minutes=30)["window"]
    assert scheduled["beat_minutes"] == 30
    rest.hub.model.script(
        "agent_step",
        call("send_message", text="Good morning."),
        call("pause_heartbeats", minutes=1),
    )
    rest.run_due_jobs(minutes=29)
    assert list_events(rest) == []
    rest.run_due_jobs(minutes=31)
    (event,) = list_events(rest)
    assert event.startswith("Heartbeat: it is ")
    assert event in [m["content"] for m in rest.hub.model.list_calls("agent_step")[0]["messages"]]
    assert rest.read()["messages"][-1]["content"] == "Good morning."
    assert is_about(get_window(rest).beats_at, 61)
    rest.run_due_jobs(minutes=62)
    assert len(list_events(rest)) == 2


def test_an_agent_that_rests_is_not_woken_by_heartbeats(rest: RestAgent, call: Call) -> None:
    rest.open()
    rest.post(f"{rest.window_id}/schedule", every_minutes=10)
    rest.hub.model.script(
        "agent_step",
        call("send_message", text="I rest now.", heartbeat=True),
        call("pause_heartbeats", minutes=120),
    )
    made = rest.step("Leave me in peace for two hours.")
    assert (made["ending"], made["paused_minutes"]) == ("paused", 120)
    assert is_about(get_window(rest).beats_at, 120)
    rest.run_due_jobs(minutes=119)
    assert list_events(rest) == []
    rest.hub.model.script("agent_step", call("send_message", text="Here I am again."))
    rest.run_due_jobs(minutes=121)
    assert len(list_events(rest)) == 1


def test_an_agent_asks_to_be_woken_once_and_is_told_why(rest: RestAgent, call: Call) -> None:
    rest.open()
    rest.hub.model.script(
        "agent_step",
        call("wake_later", minutes=45, about="the tea", heartbeat=True),
        call("send_message", text="I will remind you."),
        call("send_message", text="Your tea is ready."),
    )
    rest.step("Remind me of the tea in 45 minutes.")
    assert is_about(get_window(rest).alarm_at, 45)
    rest.run_due_jobs(minutes=46)
    (event,) = list_events(rest)
    assert event.startswith("Timer: it is ")
    assert "the tea" in event
    assert rest.read()["messages"][-1]["content"] == "Your tea is ready."
    assert get_window(rest).alarm_at is None
    rest.run_due_jobs(hours=48)
    assert len(list_events(rest)) == 1


def test_an_alarm_rings_while_heartbeats_rest(rest: RestAgent, call: Call) -> None:
    rest.open()
    rest.post(f"{rest.window_id}/schedule", every_minutes=10)
    alarm = (timezone.now() + timedelta(minutes=30)).isoformat()
    rest.post(f"{rest.window_id}/schedule", alarm_at=alarm)
    rest.hub.model.script("agent_step", call("pause_heartbeats", minutes=60))
    rest.hub.model.script("agent_step", call("send_message", text="Hello."))
    rest.run_due_jobs(minutes=11)
    assert is_about(get_window(rest).beats_at, 71)
    rest.run_due_jobs(minutes=31)
    assert [event.split(":")[0] for event in list_events(rest)] == ["Heartbeat", "Timer"]


def test_a_model_that_fails_is_asked_again_and_the_agent_told_once(
    rest: RestAgent, call: Call
) -> None:
    rest.open()
    rest.post(f"{rest.window_id}/schedule", every_minutes=10)
    rest.hub.model.script(
        "agent_step", EngineError("away"), call("send_message", text="Now I can.")
    )
    rest.run_due_jobs(minutes=11)
    with tenant_scope(rest.hub.tenant.id):
        assert Job.objects.get(step=Job.Step.WAKE).state == Job.State.RETRY
    rest.run_due_jobs(minutes=12)
    assert len(list_events(rest)) == 1
    assert rest.read()["messages"][-1]["content"] == "Now I can."


def test_celerys_schedule_rings_for_a_timer_that_is_due(
    rest: RestAgent, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    rung: list[Any] = []

    def ring(*ids: Any) -> bool:
        rung.append(ids)
        return True

    monkeypatch.setattr(tasks, "ring_worker", ring)
    rest.open()
    rest.run_due_jobs(hours=1)
    rest.post(f"{rest.window_id}/schedule", every_minutes=30)
    entry = app.conf.beat_schedule["sweep"]
    app.tasks[entry["task"]]()
    assert rung == []
    with tenant_scope(rest.hub.tenant.id):
        Job.objects.filter(step=Job.Step.WAKE).update(run_after=timezone.now())
    app.tasks[entry["task"]]()
    assert rung == [(rest.hub.tenant.id, rest.hub.space.id)]


def test_times_that_are_over_are_refused(rest: RestAgent) -> None:
    rest.open()
    refused = rest.post(f"{rest.window_id}/schedule", 422, alarm_at="2026-01-01T00:00:00Z")
    assert refused["errors"][0]["field"] == "alarm_at"
    rest.post(f"{rest.window_id}/schedule", 422)


def test_a_nearer_heartbeat_does_not_silence_the_alarm_behind_it(
    rest: RestAgent, call: Call
) -> None:
    rest.open()
    alarm = (timezone.now() + timedelta(minutes=90)).isoformat()
    rest.post(f"{rest.window_id}/schedule", alarm_at=alarm)
    rest.post(f"{rest.window_id}/schedule", every_minutes=60)
    rest.hub.model.script("agent_step", *(call("send_message", text="Here.") for _ in range(3)))
    rest.run_due_jobs(minutes=61)
    rest.run_due_jobs(minutes=91)
    rest.run_due_jobs(minutes=122)
    assert [event.split(":")[0] for event in list_events(rest)] == [
        "Heartbeat",
        "Timer",
        "Heartbeat",
    ]
    assert is_about(get_window(rest).beats_at, 182)


def test_a_timer_whose_job_was_given_up_is_planned_again(rest: RestAgent, call: Call) -> None:
    rest.open()
    rest.post(f"{rest.window_id}/schedule", every_minutes=10)
    with tenant_scope(rest.hub.tenant.id):
        Job.objects.filter(step=Job.Step.WAKE).update(state=Job.State.DEAD)
        policy = load_effective_policy(rest.hub.space).policy
    rest.hub.model.script("agent_step", call("send_message", text="Here."))
    rest.run_due_jobs(minutes=11)
    assert list_events(rest) == []
    plan_timers(rest.hub.space, policy, timezone.now())
    rest.run_due_jobs(minutes=11)
    assert len(list_events(rest)) == 1


def test_a_timer_waits_for_a_budget_that_is_spent(rest: RestAgent, call: Call) -> None:
    rest.open()
    rest.post(f"{rest.window_id}/schedule", every_minutes=10)
    tomorrow = timezone.now() + timedelta(days=1)
    paused = ModelsPaused("the budget is spent", tomorrow, code="budget_spent")
    rest.hub.model.script("agent_step", paused)
    rest.run_due_jobs(minutes=11)
    with tenant_scope(rest.hub.tenant.id):
        job = Job.objects.get(step=Job.Step.WAKE)
    assert (job.state, job.tries, job.run_after) == (Job.State.RETRY, 0, tomorrow)
    rest.hub.model.script("agent_step", call("send_message", text="Here."))
    rest.run_due_jobs(days=1, minutes=1)
    assert len(list_events(rest)) == 1
    assert rest.read()["messages"][-1]["content"] == "Here."


def test_an_alarm_that_somebody_else_set_has_no_reason_of_the_agents(
    rest: RestAgent, call: Call
) -> None:
    rest.open()
    rest.hub.model.script(
        "agent_step",
        call("wake_later", minutes=45, about="the tea", heartbeat=True),
        call("send_message", text="I will remind you."),
        call("send_message", text="Hello."),
    )
    rest.step("Remind me of the tea in 45 minutes.")
    alarm = (timezone.now() + timedelta(minutes=20)).isoformat()
    rest.post(f"{rest.window_id}/schedule", alarm_at=alarm)
    rest.run_due_jobs(minutes=21)
    (event,) = list_events(rest)
    assert event.startswith("Timer: it is ")
    assert event.endswith(" UTC.")


def test_a_timer_waits_while_another_turn_is_taken(rest: RestAgent, call: Call) -> None:
    rest.open()
    rest.post(f"{rest.window_id}/schedule", every_minutes=10)
    with WindowLease(get_window(rest)):
        rest.run_due_jobs(minutes=11)
        assert list_events(rest) == []
    rest.hub.model.script("agent_step", call("send_message", text="Here."))
    rest.run_due_jobs(minutes=13)
    assert len(list_events(rest)) == 1
    assert is_about(get_window(rest).beats_at, 23)


def test_nobody_is_woken_where_nobody_acts(rest: RestAgent) -> None:
    rest.open()
    rest.post(f"{rest.window_id}/schedule", every_minutes=10)
    rest.hub.tenant.engine = Tenant.Engine.LOCAL
    with tenant_scope(rest.hub.tenant.id):
        rest.hub.tenant.save()
    assert rest.run_due_jobs(minutes=11) == 1
    assert list_events(rest) == []
    refused = rest.post(f"{rest.window_id}/schedule", 409, every_minutes=10)
    assert refused["code"] == "no_agent"
    stopped = rest.post(f"{rest.window_id}/schedule", every_minutes=0, alarm_at=None)
    assert stopped["window"]["beats_at"] is None


def test_what_an_agent_is_told_carries_no_conversation_on(rest: RestAgent, call: Call) -> None:
    rest.open()
    rest.append({"content": "Good night."}, {"role": "assistant", "content": "Good night."})
    rest.run_due_jobs(hours=1)
    before, ended = rest.hub.space.last_activity_at, get_session_end(rest)
    rest.post(f"{rest.window_id}/schedule", every_minutes=600)
    rest.hub.model.script("agent_step", call("pause_heartbeats", minutes=1))
    rest.run_due_jobs(minutes=601)
    assert len(list_events(rest)) == 1
    assert (rest.hub.space.last_activity_at, get_session_end(rest)) == (before, ended)
