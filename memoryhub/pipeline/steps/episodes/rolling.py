"""The rolling summary S of a space (Mem0, spec §5.2): renewed in place, every so many exchanges."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from types import MappingProxyType

from django.db.models import Func, IntegerField, QuerySet, Sum

from memoryhub.dialogues.models import IS_INNER, Turn
from memoryhub.pipeline.jobs.queue import plan_topic_step
from memoryhub.pipeline.jobs.step import JobResult, Step
from memoryhub.pipeline.models import Job, Lane
from memoryhub.pipeline.steps.context import DerivedDialogue, StepContext, load_context
from memoryhub.pipeline.steps.episodes import episode_io, windows
from memoryhub.policies.schema import Policy
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.episodes import store
from notes.index.indexer import EmbeddedEntries
from notes.models import Episode, Page

# UTF-8 bytes of a token, about right for alphabets and for Chinese alike.
_BYTES_PER_TOKEN = 4


def schedule(due: DerivedDialogue) -> None:
    """Plan a fold when enough was said since the last one."""
    if due.policy.episodes.rolling and is_fold_due(due.space, due.policy, due.last_seq):
        plan_topic_step(due.space, Job.Step.FOLD, "space", due.now, last_seq=due.last_seq)


def is_fold_due(space: Space, policy: Policy, last_seq: int) -> bool:
    covered = _find_covered_seq(store.find_rolling_summary(space))
    pages = Page.objects.filter(space=space, last_seq__gt=covered, first_seq__lte=last_seq)
    if pages.count() >= policy.episodes.rolling_exchanges:
        return True
    size = Func("text", function="octet_length", output_field=IntegerField())
    said = _query_turns_since(space, covered).aggregate(bytes=Sum(size))["bytes"] or 0
    return said >= policy.episodes.rolling_tokens * _BYTES_PER_TOKEN


def _find_covered_seq(row: Episode | None) -> int:
    """A stale summary covers nothing: it is written anew from what remains."""
    return 0 if row is None or row.stale else row.to_seq


def _query_turns_since(space: Space, seq: int) -> QuerySet[Turn]:
    turns: QuerySet[Turn] = Turn.objects.filter(
        space=space, seq__gt=seq, state=Turn.State.PROCESSED
    )
    return turns.exclude(IS_INNER).order_by("seq")


class FoldStep(Step[StepContext, list[store.EpisodeDraft]]):
    """Fold what was said since into the summary. While the engine fails, the old one stays."""

    name = Job.Step.FOLD
    lane = Lane.PROMOTING
    variants = MappingProxyType({windows.WINDOW_KEY: windows.FoldWindowStep})

    def read(self) -> StepContext:
        return load_context(self.job, self.now)

    def ask(self, at: StepContext) -> list[store.EpisodeDraft]:
        return draft_renewed_summary(at)

    def write(self, at: StepContext, drafts: list[store.EpisodeDraft]) -> JobResult:
        nothing_searched = EmbeddedEntries()
        episode_io.write_episodes(at, drafts, nothing_searched, "enough was said since")
        return {"episodes": [str(draft.row.id) for draft in drafts]}


def draft_renewed_summary(at: StepContext) -> list[store.EpisodeDraft]:
    """The summary as it is to be; none when nothing was said. Asks the engine: call unscoped."""
    with tenant_scope(at.job.tenant_id):
        row = store.find_rolling_summary(at.space)
        said = list(_query_turns_since(at.space, _find_covered_seq(row)))
    heard = [turn for turn in said if episode_io.is_heard(turn)]
    if not heard:
        return []
    old = row if row is not None and not row.stale else None
    text = at.engine.fold_summary(
        old.text if old else "",
        episode_io.build_utterances(heard, at.zone),
        max_words=at.policy.episodes.rolling_words,
    )
    if not text:
        return []
    covered = store.compute_coverage(heard, bounds=said)
    covered = _extend_coverage(old, covered) if old else covered
    return [
        store.draft_episode(
            at.space, Episode.Kind.ROLLING, store.EpisodeContent(text), covered, at.stamp, row=row
        )
    ]


def _extend_coverage(old: Episode, new: store.Coverage) -> store.Coverage:
    """What the summary covers now: what it covered, and what was added."""
    digest = hashlib.sha256(f"{old.coverage_hash}{new.digest}".encode()).hexdigest()
    return replace(
        new,
        from_seq=min(old.from_seq, new.from_seq),
        from_at=min(old.from_at, new.from_at),
        to_at=max(old.to_at, new.to_at),
        digest=digest,
    )
