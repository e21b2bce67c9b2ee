"""The window of a session with the models and jobs it needs (MemGPT, spec §12.1, step 14)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from uuid import UUID

from memoryhub.dialogues.models import Session
from memoryhub.engines.types import Engine
from memoryhub.errors import Conflict
from memoryhub.inference.selection import get_current_embedder
from memoryhub.pipeline.jobs import queue
from memoryhub.pipeline.jobs.step import JobResult, Step
from memoryhub.pipeline.models import Job, Lane
from memoryhub.pipeline.steps.context import load_context
from memoryhub.policies.services import EffectivePolicy
from memoryhub.tenants.scope import tenant_scope
from personas.models import Window
from personas.window import ComposedWindow, WindowHelpers, compose_agent_context, refold_window

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
    aid = _build_window_help(engine, effective)
    return compose_agent_context(session, effective.policy, aid, now, head=head, agent=agent)


def _build_window_help(engine: Engine, effective: EffectivePolicy) -> WindowHelpers:
    words = effective.policy.episodes.rolling_words
    return WindowHelpers(
        count=get_current_embedder().count_tokens,
        fold=partial(engine.fold_summary, max_words=words),
        plan_retry=_plan_fold_job,
        engine=f"{engine.name}/{engine.version}"[:60],
        policy_version=effective.version,
    )


def _plan_fold_job(window: Window, now: datetime) -> None:
    key = f"{WINDOW_KEY}:{window.id}:{window.version}"
    due, payload = now + queue.compute_backoff(1), {WINDOW_KEY: str(window.id)}
    queue.plan_step(window.session.space, Job.Step.FOLD, key, due, payload=payload)


def renew_window_summary(
    session: Session, effective: EffectivePolicy, engine: Engine, now: datetime
) -> int:
    """Write the summary of the session's window anew after it went stale. Call unscoped."""
    with tenant_scope(session.tenant_id):
        window = Window.objects.filter(session=session).first()
    if window is None:
        return 0
    return refold_window(session.tenant_id, window.id, _build_window_help(engine, effective), now)


class FoldWindowStep(Step[WindowHelpers, int]):
    """Fold what a flush could not. Refolding reads and writes by itself, in its own transactions:
    the window is the session's, and an agent may be at it at the same time."""

    name = Job.Step.FOLD
    lane = Lane.PROMOTING

    def read(self) -> WindowHelpers:
        at = load_context(self.job, self.now)
        return _build_window_help(at.engine, at.effective)

    def ask(self, aid: WindowHelpers) -> int:
        window_id = UUID(str(self.job.payload[WINDOW_KEY]))
        refold = partial(refold_window, self.job.tenant_id, window_id, aid, self.now)
        try:
            return refold()
        except Conflict:
            return refold()

    def write(self, aid: WindowHelpers, messages: int) -> JobResult:
        return {"messages": messages}
