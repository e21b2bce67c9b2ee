"""Waiting for more of a dialogue, so that one question to a model reads several exchanges.

What was said waits until nothing has been said for a while, or until it fills a question. Rules
have nothing to gather for: the local engine reads at once. Meanwhile the short-term memory serves
what is not read yet (I10).
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import Min

from memoryhub.pipeline.jobs import queue
from memoryhub.pipeline.models import Job
from memoryhub.policies.schema import DerivePolicy
from memoryhub.policies.services import load_effective_policy
from memoryhub.tenants.models import Space, Tenant
from notes.models import Page


def find_debounce(space: Space) -> DerivePolicy | None:
    """How the space's dialogue is gathered; None when it is read at once."""
    engines = Tenant.objects.filter(id=space.tenant_id).values_list("engine", flat=True)
    if engines.get() != Tenant.Engine.LLM:
        return None
    derive = load_effective_policy(space).policy.derive
    return derive if derive.debounce_seconds else None


def debounce_jobs(job: Job, how: DerivePolicy, now: datetime) -> None:
    """What waits before this job is read now if it fills a question, else waits for silence again.

    Call once the job's turns have their pages: an exchange is whole when another has begun.
    """
    waiting = queue.query_gathering_jobs(job, now)
    first = waiting.aggregate(first=Min("first_seq"))["first"]
    if first is None:
        return
    exchanges = Page.objects.filter(space_id=job.space_id, last_seq__gte=first).count()
    is_full = exchanges > how.batch_exchanges
    silence = timedelta(seconds=how.debounce_seconds)
    waiting.update(run_after=now if is_full else now + silence)
