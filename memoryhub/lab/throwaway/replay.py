"""A dialogue lived through again, session by session, on its own clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from django.utils import timezone

from memoryhub.dialogues.formats import NamedSession
from memoryhub.dialogues.messages import Message
from memoryhub.lab.datasets.types import Dialogue
from memoryhub.pipeline.ingest.services import IngestRequest, ingest_messages
from memoryhub.pipeline.jobs.runner import drain_space
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.tasks import silence_doorbell
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import ensure_space

# Waited for after a session, on the replay's clock: retries, closed days, sweeps.
SETTLING_TIME = timedelta(days=1)
_POLL_SECONDS = 1.0


def replay_dialogue(
    tenant: Tenant,
    dialogue: Dialogue,
    *,
    done: int = 0,
    told: Callable[[int], None] = lambda sessions: None,
    write: Callable[[Space, datetime], None] = lambda space, now: None,
) -> Space:
    """Derive the sessions after the first `done`; `told` hears how many are, after each.

    `write` adds what a system writes of the newest session by itself, once it is derived.

    A session that was broken off is gone on with: what is stored is not stored again, and what is
    derived is not derived again.
    """
    with tenant_scope(tenant.id):
        space = ensure_space(tenant.id, dialogue.name, name=dialogue.conversation.name)
    for number, session in enumerate(dialogue.conversation.sessions, 1):
        if number > done:
            _replay_session(tenant, space, dialogue, session)
            write(space, compute_end_time(session.messages))
            told(number)
    with tenant_scope(tenant.id):
        space.refresh_from_db()
    return space


def _replay_session(
    tenant: Tenant, space: Space, dialogue: Dialogue, session: NamedSession
) -> None:
    now = compute_end_time(session.messages)
    request = IngestRequest(dialogue.name, session.messages, session.name)
    with silence_doorbell():
        ingest_messages(tenant.id, request, now)
        drain_space(tenant.id, space.id, now + SETTLING_TIME)
        while _has_running_jobs(space):
            time.sleep(_POLL_SECONDS)  # a process that was killed still has its lease
            drain_space(tenant.id, space.id, now + SETTLING_TIME)


def _has_running_jobs(space: Space) -> bool:
    with tenant_scope(space.tenant_id):
        return Job.objects.filter(space=space, state=Job.State.RUNNING).exists()


def compute_end_time(messages: Sequence[Message]) -> datetime:
    """The last message's time; the present where none is given."""
    times = [m.timestamp for m in messages if m.timestamp is not None]
    aware = [at if at.tzinfo else at.replace(tzinfo=UTC) for at in times]
    return max(aware, default=timezone.now())


def compute_asking_time(dialogue: Dialogue) -> datetime:
    """When questions are asked that don't say it: once the last session has settled."""
    said = [m for session in dialogue.conversation.sessions for m in session.messages]
    return compute_end_time(said) + SETTLING_TIME


def cut_dialogue(dialogue: Dialogue, most_turns: int | None) -> Dialogue:
    """Its first turns only, and the questions whose evidence is all among them."""
    if most_turns is None or most_turns >= dialogue.turn_count:
        return dialogue
    left, kept = most_turns, list[NamedSession]()
    for session in dialogue.conversation.sessions:
        if left > 0:
            kept.append(NamedSession(session.name, session.messages[:left]))
            left -= len(kept[-1].messages)
    there = {m.external_id for session in kept for m in session.messages}
    asked = [q for q in dialogue.questions if q.evidence and q.evidence <= there]
    return Dialogue(replace(dialogue.conversation, sessions=kept), asked)
