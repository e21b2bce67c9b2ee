"""How often a model is asked while a conversation is read, every lane included, by purpose.

The model is a stand-in (stand_in.py): what is counted are questions and tokens, not their quality.
A conversation is delivered on its own clock, session by session or turn by turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from unittest.mock import patch

from benchmarks.stand_in import StandInModel
from memoryhub.dialogues.formats import Conversation
from memoryhub.dialogues.messages import Message
from memoryhub.engines import registry
from memoryhub.engines.llm.engine import LLMEngine
from memoryhub.lab.throwaway.tenants import open_throwaway_tenant
from memoryhub.pipeline.ingest.services import IngestRequest, ingest_messages
from memoryhub.pipeline.jobs import runner
from memoryhub.pipeline.models import Job
from memoryhub.policies.services import set_policy
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import ensure_space
from notes.models import Page


@dataclass(frozen=True, slots=True)
class CallTally:
    """Calls and tokens by purpose, while so many exchanges were read. `dead`: errors of jobs."""

    exchanges: int
    turns: int
    calls: dict[str, int]
    tokens: dict[str, int]
    dead: list[str] = field(default_factory=list)

    @property
    def per_exchange(self) -> float:
        return sum(self.calls.values()) / self.exchanges


def measure_model_calls(
    talk: Conversation,
    *,
    preset: str = "balanced",
    overrides: dict[str, Any] | None = None,
    by_turn: bool,
    pace: float = 20.0,
) -> CallTally:
    """Deliver the conversation to a tenant of its own, and let everything be read that is due."""
    with open_throwaway_tenant() as tenant, use_stand_in_model(tenant) as model:
        set_policy(tenant.id, actor="benchmark", preset=preset, overrides=overrides)
        end = None
        for session in talk.sessions:
            messages = _pace_messages(session.messages, pace)
            parts = [[m] for m in messages] if by_turn else [messages]
            end = _deliver_session(tenant, talk.subject, session.name, parts, before=end)
        if end is not None:
            _run_due_jobs(tenant, talk.subject, end + timedelta(days=2))
        return _build_tally(tenant, model)


@contextmanager
def use_stand_in_model(tenant: Tenant) -> Iterator[StandInModel]:
    model = StandInModel()
    with tenant_scope(tenant.id):
        Tenant.objects.filter(id=tenant.id).update(engine=Tenant.Engine.LLM)
    quiet = patch("memoryhub.pipeline.ingest.services.ring_worker", lambda *ids: None)
    with patch.object(registry, "get_engine", lambda name, given: LLMEngine(model)), quiet:
        yield model


def _deliver_session(
    tenant: Tenant,
    subject: str,
    name: str,
    parts: Sequence[list[Message]],
    *,
    before: datetime | None,
) -> datetime:
    """Returns when the session ended. What fell due since the one before is read first."""
    start = parts[0][0].timestamp
    assert start is not None  # _pace_messages gives every message its time
    if before is not None and before < start:
        _run_due_jobs(tenant, subject, start)
    end = start
    for said in parts:
        end = said[-1].timestamp or end
        _run_due_jobs(tenant, subject, end)
        ingest_messages(tenant.id, IngestRequest(subject, said, name), end)
    _run_due_jobs(tenant, subject, end + timedelta(hours=1))
    return end


def _pace_messages(messages: Sequence[Message], pace: float) -> list[Message]:
    start = messages[0].timestamp
    assert start is not None  # the format gives every session its time
    return [
        replace(message, timestamp=start + timedelta(seconds=pace * at))
        for at, message in enumerate(messages)
    ]


def _run_due_jobs(tenant: Tenant, subject: str, at: datetime) -> None:
    """Run everything that falls due up to then, each job at its time, as workers would have."""
    with tenant_scope(tenant.id):
        space = ensure_space(tenant.id, subject)
    while (due := _find_next_due_time(tenant, at)) is not None:
        if not runner.drain_space(tenant.id, space.id, due):
            break
    runner.drain_space(tenant.id, space.id, at)


def _find_next_due_time(tenant: Tenant, at: datetime) -> datetime | None:
    waiting = (Job.State.QUEUED, Job.State.RETRY)
    with tenant_scope(tenant.id):
        rows = Job.objects.filter(state__in=waiting, run_after__lte=at).order_by("run_after")
        return rows.values_list("run_after", flat=True).first()


def _build_tally(tenant: Tenant, model: StandInModel) -> CallTally:
    with tenant_scope(tenant.id):
        pages = Page.objects.filter(retired_at=None).count()
        dead = Job.objects.filter(state__in=(Job.State.DEAD, Job.State.RETRY))
        errors = [f"{job.step}: {job.error[:200]}" for job in dead]
        turns = sum(page.last_seq - page.first_seq + 1 for page in Page.objects.all())
    return CallTally(pages, turns, dict(model.requests), dict(model.tokens), errors)


def format_tally(name: str, tally: CallTally) -> Iterator[str]:
    yield f"{name}: {tally.turns} turns in {tally.exchanges} exchanges"
    yield f"  {'purpose':<16} {'calls':>6} {'a exchange':>10} {'tokens':>9} {'a call':>7}"
    for purpose, calls in sorted(tally.calls.items(), key=lambda item: -item[1]):
        share, tokens = calls / tally.exchanges, tally.tokens[purpose]
        yield f"  {purpose:<16} {calls:>6} {share:>10.2f} {tokens:>9} {tokens // calls:>7}"
    calls, tokens = sum(tally.calls.values()), sum(tally.tokens.values())
    yield f"  {'all':<16} {calls:>6} {tally.per_exchange:>10.2f} {tokens:>9}"
    yield from (f"  not done: {error}" for error in tally.dead[:10])
