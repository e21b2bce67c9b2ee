"""The windows of sessions with the models and jobs they need (MemGPT, spec §12.1, step 14).

Whoever appends to a session or puts a window in front of an agent does it here: the API, the
proxy, hosts by MCP, and the chat. With `window.mode` on, every session that something is said in
has a window; on demand, those have one that somebody opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from uuid import UUID

from memoryhub.dialogues.models import Session
from memoryhub.engines.types import Engine
from memoryhub.errors import Conflict
from memoryhub.inference.selection import embed_or_none, get_configured_embedder
from memoryhub.pipeline.jobs import queue
from memoryhub.pipeline.jobs.step import JobResult, NothingToDo, Step
from memoryhub.pipeline.models import Job, Lane
from memoryhub.pipeline.steps.context import load_context
from memoryhub.policies.schema import Policy
from memoryhub.policies.services import EffectivePolicy, load_effective_policy
from memoryhub.tenants.scope import tenant_scope
from personas.models import AGENT_NAME, Window
from personas.window import (
    ComposedWindow,
    WindowHelpers,
    check_pressure,
    compose_agent_context,
    open_window,
    refold_window,
)

WINDOW_KEY = "window"


def compose_window(
    session: Session,
    effective: EffectivePolicy,
    engine: Engine,
    now: datetime,
    *,
    head: Sequence[str] = (),
    agent: str = "",
) -> ComposedWindow:
    """What to put in front of the agent of this session; a failed fold is left to a job (MG10)."""
    aid = _build_window_help(engine, effective, agent)
    return compose_agent_context(session, effective.policy, aid, now, head=head, agent=agent)


def find_kept_window(session: Session) -> tuple[Window, Policy] | None:
    """The window that what is said in this session goes into, with its policy; opened where the
    policy keeps all of them. Call inside the tenant's scope."""
    policy = load_effective_policy(session.space).policy
    if policy.window.mode == "off":
        return None
    if policy.window.mode == "on":
        return open_window(session, policy.window.context_limit), policy
    held = Window.objects.select_related("session__space").filter(session=session).first()
    return (held, policy) if held else None


def follow_append(window: Window, policy: Policy, now: datetime) -> None:
    """Something was said into the window: give the warning that is due, or plan the flush that is.
    Asks no model. Opens its own scopes.

    While the embedder is down, which counts tokens, the next message does it.
    """

    def is_full() -> bool:
        count = get_configured_embedder().count_tokens
        return check_pressure(window.session, policy, count, now)

    if embed_or_none(is_full):
        with tenant_scope(window.tenant_id):
            window.refresh_from_db(fields=["version"])
            _plan_fold_job(window, now, at=now)


def _build_window_help(
    engine: Engine, effective: EffectivePolicy, agent: str = ""
) -> WindowHelpers:
    words = effective.policy.episodes.rolling_words
    return WindowHelpers(
        count=get_configured_embedder().count_tokens,
        fold=partial(engine.fold_summary, max_words=words, agent=agent or AGENT_NAME),
        plan_retry=_plan_fold_job,
        engine=f"{engine.name}/{engine.version}"[:60],
        policy_version=effective.version,
    )


def _plan_fold_job(window: Window, now: datetime, at: datetime | None = None) -> None:
    due = at or now + queue.compute_backoff(1)
    key, payload = f"{WINDOW_KEY}:{window.id}:{window.version}", {WINDOW_KEY: str(window.id)}
    queue.plan_step(window.session.space, Job.Step.FOLD, key, due, payload=payload)


def renew_window_summary(
    session: Session, effective: EffectivePolicy, engine: Engine, now: datetime
) -> int:
    """Write the summary of the session's window anew after it went stale. Call unscoped."""
    with tenant_scope(session.tenant_id):
        window = Window.objects.filter(session=session).first()
    if window is None:
        return 0
    aid = _build_window_help(engine, effective, window.agent)
    return refold_window(session.tenant_id, window.id, aid, now)


@dataclass(frozen=True, slots=True)
class _DueFold:
    """A window as its job finds it."""

    window: Window
    policy: Policy
    aid: WindowHelpers


class FoldWindowStep(Step[_DueFold, int]):
    """Flush a window that is full, and fold what a flush could not. Both read and write by
    themselves, in their own transactions: the window is the session's, and an agent may be at it
    at the same time."""

    name = Job.Step.FOLD
    lane = Lane.PROMOTING

    def read(self) -> _DueFold | NothingToDo:
        at = load_context(self.job, self.now)
        rows = Window.objects.select_related("session__space")
        window = rows.filter(id=UUID(str(self.job.payload[WINDOW_KEY]))).first()
        if window is None:
            return NothingToDo({"messages": 0})
        aid = _build_window_help(at.engine, at.effective, window.agent)
        return _DueFold(window, at.policy, aid)

    def ask(self, due: _DueFold) -> int:
        composed = compose_agent_context(due.window.session, due.policy, due.aid, self.now)
        refold = partial(refold_window, self.job.tenant_id, due.window.id, due.aid, self.now)
        folded = 0 if composed.hidden else composed.evicted
        try:
            return folded + refold()
        except Conflict:
            return folded + refold()

    def write(self, due: _DueFold, messages: int) -> JobResult:
        return {"messages": messages}
