"""Timers that wake an agent: a beat every so often, and an alarm that it set (MemGPT, spec §3.2).

A timer is a job that is due at its time, so that the schedule that rings for all due work, Celery's
and each worker's own, wakes agents too. The window's row is the truth: a job that comes when its
window is due later, or never, does nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from pydantic import ValidationError

from memoryhub.agents.lease import is_window_busy
from memoryhub.agents.sessions import AgentSession, load_agent_session
from memoryhub.dialogues.messages import Message
from memoryhub.dialogues.models import IS_INNER, Turn
from memoryhub.dialogues.services import append_inner_turns
from memoryhub.dialogues.tool_calls import list_tool_calls
from memoryhub.errors import NotFound
from memoryhub.pipeline.jobs import queue
from memoryhub.pipeline.jobs.step import JobResult, NothingToDo, Step
from memoryhub.pipeline.models import Job, Lane
from memoryhub.policies.schema import Policy
from memoryhub.tenants.ids import new_id
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from personas.agent.tools import WakeLater
from personas.models import Window

_BEAT_TEXT = (
    "Heartbeat: it is {now}, and nobody has written. Do what is due, or call pause_heartbeats."
)
_ALARM_TEXT = "Timer: it is {now}{asked}."
_ASKED_TEXT = ", when you asked to be woken"
_ABOUT_TEXT = ", when you asked to be woken because of: {about}"
# A window at which another turn is being taken is looked at again after this.
_BUSY_WAIT = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class WindowTimer:
    """`personas.agent.executor.AgentTimer` of a window."""

    window: Window
    now: datetime

    def pause_beats(self, minutes: int) -> None:
        """No beat before then; one that nobody has set stays unset."""
        until = self.now + timedelta(minutes=minutes)
        with tenant_scope(self.window.tenant_id):
            Window.objects.filter(id=self.window.id, beats_at__lt=until).update(beats_at=until)
            plan_wake_up(self.window)

    def set_alarm(self, minutes: int) -> None:
        """In the place of an earlier one."""
        due = self.now + timedelta(minutes=minutes)
        with tenant_scope(self.window.tenant_id):
            Window.objects.filter(id=self.window.id).update(alarm_at=due)
            plan_wake_up(self.window)


def set_timers(
    window: Window, now: datetime, *, every_minutes: int | None = None, **alarm: datetime | None
) -> None:
    """Have the agent woken every so many minutes, 0: no more; and once, at `alarm_at`. What is left
    out stays as it is. Call inside the tenant's scope."""
    values: dict[str, object] = dict(alarm)
    if every_minutes is not None:
        due = now + timedelta(minutes=every_minutes) if every_minutes else None
        values |= {"beat_minutes": every_minutes, "beats_at": due}
    Window.objects.filter(id=window.id).update(**values)
    plan_wake_up(window)


def plan_wake_up(window: Window, not_before: datetime | None = None) -> None:
    """Have a job wait for the window's next timer, one at a time. Call inside the tenant's
    scope."""
    window.refresh_from_db(fields=["beat_minutes", "beats_at", "alarm_at"])
    due, space, payload = _find_due(window), window.session.space, {"window": str(window.id)}
    if due is None:
        return
    due = max(due, not_before or due)
    # One that runs, or was given up, does not stand in the way of the next.
    waiting = Job.objects.filter(space=space, step=Job.Step.WAKE, payload=payload)
    if not waiting.filter(state__in=Job.WAITING_STATES).update(run_after=due):
        key = f"{window.id}:{new_id().hex}"
        queue.plan_step(space, Job.Step.WAKE, key, due, payload=payload)


def plan_timers(space: Space, policy: Policy, now: datetime) -> datetime | None:
    """Plan what no job is there for: timers of a space that came from elsewhere. A task of the
    sweep; it asks for no other."""
    with tenant_scope(space.tenant_id):
        timed = Window.objects.select_related("session__space").filter(space=space)
        for window in [*timed.exclude(beats_at=None), *timed.exclude(alarm_at=None)]:
            plan_wake_up(window)
    return None


def _find_due(window: Window) -> datetime | None:
    return min((at for at in (window.beats_at, window.alarm_at) if at), default=None)


class WakeStep(Step[AgentSession, int]):
    """Tell the agent of the timer, and let it take a turn. It writes as it goes: what it said and
    did before a failure stays, and it is told of its timer once.

    While another turn is taken at the window, it waits for that to end. While the memory is paused,
    or nobody can act, nobody is woken, and an alarm is let go.
    """

    name = Job.Step.WAKE
    lane = Lane.TIDYING

    def read(self) -> AgentSession | NothingToDo:
        space = Space.objects.get(id=self.job.space_id)
        try:
            seat = load_agent_session(space, UUID(str(self.job.payload["window"])))
        except NotFound:
            return NothingToDo({"steps": 0})
        due = _find_due(seat.window)
        if due is None or due > self.now:
            return NothingToDo({"steps": 0})
        if space.paused_at is not None or not (seat.acts and seat.is_named):
            self._reset_timers(seat.window)
            return NothingToDo({"steps": 0})
        if is_window_busy(seat.window):
            plan_wake_up(seat.window, not_before=self.now + _BUSY_WAIT)
            return NothingToDo({"steps": 0})
        once = f"timer-{seat.window.id}-{due.isoformat()}"
        told = Message("system", self._describe_timer(seat.window), external_id=once)
        append_inner_turns(seat.window.session, [told], received=self.now)
        return seat

    def _describe_timer(self, window: Window) -> str:
        now = f"{self.now:%Y-%m-%d %H:%M} UTC"
        if window.alarm_at is None or window.alarm_at > self.now:
            return _BEAT_TEXT.format(now=now)
        asked = self._find_wish(window)
        said = (
            (_ABOUT_TEXT if asked.about else _ASKED_TEXT).format(about=asked.about) if asked else ""
        )
        return _ALARM_TEXT.format(now=now, asked=said)

    def _find_wish(self, window: Window) -> WakeLater | None:
        """What the agent said when it set the alarm; None where somebody else did."""
        rows = Turn.objects.filter(IS_INNER, session=window.session, role=Turn.Role.ASSISTANT)
        asked = rows.filter(metadata__tool_calls__0__name="wake_later").order_by("-seq").first()
        if asked is None:
            return None
        try:
            given = WakeLater.model_validate_json(list_tool_calls(asked)[0].arguments)
        except ValidationError:
            return None
        is_this = asked.occurred_at + timedelta(minutes=given.minutes) == window.alarm_at
        return given if is_this else None

    def ask(self, seat: AgentSession) -> int:
        from memoryhub.agents.turn import take_agent_turn  # loads the embedder

        turned = take_agent_turn(seat, self.now).turned
        if turned.error:
            raise turned.error  # as it was: a budget that is spent is waited for
        return len(turned.steps)

    def write(self, seat: AgentSession, steps: int) -> JobResult:
        self._reset_timers(seat.window)
        return {"steps": steps}

    def _reset_timers(self, window: Window) -> None:
        """Timers that are over, unless the agent has set them anew meanwhile."""
        held = Window.objects.filter(id=window.id)
        every = timedelta(minutes=window.beat_minutes)
        held.filter(beats_at__lte=self.now).update(
            beats_at=self.now + every if window.beat_minutes else None
        )
        held.filter(alarm_at__lte=self.now).update(alarm_at=None)
        plan_wake_up(window)
