"""The rolling summary S of a space (Mem0, spec §5.2): renewed in place, every so many exchanges."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import datetime

from django.db.models import Func, IntegerField, QuerySet, Sum

from memoryhub.dialogues.models import Turn
from memoryhub.pipeline import queue, spanning, windows
from memoryhub.pipeline.following import Derived
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.planning import gather
from memoryhub.pipeline.spanning import Setting
from memoryhub.policies.schema import Policy
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.episodes import Coverage, Drafted, Wording, coverage_of, drafted, rolling
from notes.models import Episode, Page

# UTF-8 bytes of a token, about right for alphabets and for Chinese alike.
_BYTES = 4


def schedule(due: Derived) -> None:
    """Plan a fold when enough was said since the last one."""
    if due.policy.episodes.rolling and is_due(due.space, due.policy, due.last_seq):
        gather(due.space, Job.Step.FOLD, "C", "space", due.now, last_seq=due.last_seq)


def is_due(space: Space, policy: Policy, last_seq: int) -> bool:
    covered = _covered_to(rolling(space))
    pages = Page.objects.filter(space=space, last_seq__gt=covered, first_seq__lte=last_seq)
    if pages.count() >= policy.episodes.rolling_exchanges:
        return True
    size = Func("text", function="octet_length", output_field=IntegerField())
    said = _said_since(space, covered).aggregate(bytes=Sum(size))["bytes"] or 0
    return said >= policy.episodes.rolling_tokens * _BYTES


def _covered_to(row: Episode | None) -> int:
    """A stale summary covers nothing: it is written anew from what remains."""
    return 0 if row is None or row.stale else row.to_seq


def _said_since(space: Space, seq: int) -> QuerySet[Turn]:
    turns: QuerySet[Turn] = Turn.objects.filter(
        space=space, seq__gt=seq, state=Turn.State.PROCESSED
    )
    return turns.order_by("seq")


def run(job: Job, now: datetime) -> None:
    """Fold what was said since into the summary. Raises EngineError: the old one stays."""
    if windows.is_for(job):
        windows.run(job, now)
        return
    spanning.reread(lambda: _once(spanning.setting(job, now)))


def _once(at: Setting) -> None:
    drafts = renewed(at)
    with tenant_scope(at.job.tenant_id):
        spanning.write(at, drafts, spanning.Indexed((), None), "enough was said since")
        queue.finish(at.job, {"episodes": [str(draft.row.id) for draft in drafts]}, at.now)


def renewed(at: Setting) -> list[Drafted]:
    """The summary as it is to be; none when nothing was said. Asks the engine: call unscoped."""
    with tenant_scope(at.job.tenant_id):
        row = rolling(at.space)
        said = list(_said_since(at.space, _covered_to(row)))
    heard = [turn for turn in said if spanning.is_heard(turn)]
    if not heard:
        return []
    old = row if row is not None and not row.stale else None
    text = at.engine.fold_summary(
        old.text if old else "",
        spanning.utterances(heard, at.zone),
        max_words=at.effective.policy.episodes.rolling_words,
    )
    if not text:
        return []
    covered = coverage_of(heard, bounds=said)
    covered = _continued(old, covered) if old else covered
    return [drafted(at.space, Episode.Kind.ROLLING, Wording(text), covered, at.stamp, row=row)]


def _continued(old: Episode, new: Coverage) -> Coverage:
    """What the summary covers now: what it covered, and what was added."""
    digest = hashlib.sha256(f"{old.coverage_hash}{new.digest}".encode()).hexdigest()
    return replace(
        new,
        from_seq=min(old.from_seq, new.from_seq),
        from_at=min(old.from_at, new.from_at),
        to_at=max(old.to_at, new.to_at),
        digest=digest,
    )
