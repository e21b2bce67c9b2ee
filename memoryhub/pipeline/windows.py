"""The window of a session with the models and jobs it needs (MemGPT, spec §12.1, step 14)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from uuid import UUID

from memoryhub.dialogues.models import Session
from memoryhub.engines.types import Engine
from memoryhub.errors import Conflict
from memoryhub.models_in_use import embedder, engine_for
from memoryhub.pipeline import queue
from memoryhub.pipeline.models import Job
from memoryhub.policies.schema import Policy
from memoryhub.policies.services import Effective, policy_of
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from personas.models import Window
from personas.windowing import Composed, Help, compose, refold

WINDOW = "window"


def composed(
    session: Session,
    effective: Effective,
    engine: Engine,
    now: datetime,
    *,
    head: Sequence[str] = (),
    agent: str = "",
) -> Composed:
    """What to put in front of the agent of this session; a failed fold is left to a job (MG10)."""
    aid = _help(engine, effective.policy, effective.version)
    return compose(session, effective.policy, aid, now, head=head, agent=agent)


def _help(engine: Engine, policy: Policy, version: str) -> Help:
    words = policy.episodes.rolling_words
    return Help(
        count=embedder().count_tokens,
        fold=partial(engine.fold_summary, max_words=words),
        later=_later,
        engine=f"{engine.name}/{engine.version}"[:60],
        policy_version=version,
    )


def _later(window: Window, now: datetime) -> None:
    key = f"{WINDOW}:{window.id}:{window.version}"
    queue.enqueue_step(
        window.session.space,
        Job.Step.FOLD,
        "C",
        key,
        now + queue.backoff(1),
        payload={WINDOW: str(window.id)},
    )


def is_for(job: Job) -> bool:
    """Whether the job is about a window's summary, and not the space's."""
    return WINDOW in job.payload


def renew(session: Session, effective: Effective, engine: Engine, now: datetime) -> int:
    """Write the summary of the session's window anew after it went stale. Call unscoped."""
    with tenant_scope(session.tenant_id):
        window = Window.objects.filter(session=session).first()
    if window is None:
        return 0
    return refold(
        session.tenant_id, window.id, _help(engine, effective.policy, effective.version), now
    )


def run(job: Job, now: datetime) -> None:
    """Fold what a flush could not. Raises EngineError: tried again with backoff."""
    with tenant_scope(job.tenant_id):
        effective = policy_of(Space.objects.get(id=job.space_id))
        engine = engine_for(Tenant.objects.get(id=job.tenant_id), effective.policy)
    aid = _help(engine, effective.policy, effective.version)
    try:
        told = refold(job.tenant_id, UUID(str(job.payload[WINDOW])), aid, now)
    except Conflict:
        told = refold(job.tenant_id, UUID(str(job.payload[WINDOW])), aid, now)
    with tenant_scope(job.tenant_id):
        queue.hold(job)
        queue.finish(job, {"messages": told}, now)
