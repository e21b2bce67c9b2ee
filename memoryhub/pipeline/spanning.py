"""What episodes are made from, and how they are written: shared by the steps that write them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar
from uuid import UUID
from zoneinfo import ZoneInfo

import structlog

from memoryhub.dialogues.models import Turn
from memoryhub.engines.types import Embedder, Engine, Passage, Utterance
from memoryhub.errors import EngineError
from memoryhub.models_in_use import embedder_for, engine_for
from memoryhub.pipeline import queue
from memoryhub.pipeline.claiming import StaleRead
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.passages import MOST_CHARS, passages_of
from memoryhub.pipeline.reading import is_echo
from memoryhub.policies.services import Effective, policy_of
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from notes import episodes, indexing, proposals, retention
from notes.models import Episode, EvolutionEvent, Page, Proposal
from notes.recording import ChangeSet

log = structlog.get_logger()
T = TypeVar("T")
MOST_READS = 3  # of what changes while it is being written about (E10)
# Documents and tool output are nobody's word; they stay searchable themselves (spec E24).
_READ = (Turn.Role.USER, Turn.Role.ASSISTANT)


@dataclass(frozen=True, slots=True)
class Setting:
    """Where a step works: its space, the policy in force, and the models that serve it."""

    job: Job
    space: Space
    effective: Effective
    engine: Engine
    embedder: Embedder
    now: datetime

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.space.timezone)

    @property
    def stamp(self) -> str:
        return f"{self.engine.name}/{self.engine.version}"

    def changes(self, kind: str, reason: str) -> ChangeSet:
        return ChangeSet(
            self.space,
            kind,
            "pipeline",
            self.now,
            reason=reason,
            engine=self.stamp[:60],
            job_id=self.job.id,
            trigger=self.job.step,
            policy_version=self.effective.version,
        )


def setting(job: Job, now: datetime) -> Setting:
    with tenant_scope(job.tenant_id):
        space = Space.objects.get(id=job.space_id)
        effective = policy_of(space)
        engine = engine_for(Tenant.objects.get(id=job.tenant_id), effective.policy)
    return Setting(job, space, effective, engine, embedder_for(space), now)


def reread(once: Callable[[], T]) -> T:
    """Do it, anew when what it read has changed meanwhile. Raises StaleRead in the end."""
    for _ in range(MOST_READS - 1):
        try:
            return once()
        except StaleRead:
            continue
    return once()


# What is read


def is_heard(turn: Turn) -> bool:
    """Said by a person or an agent, in words of their own, and read."""
    return turn.state == Turn.State.PROCESSED and turn.role in _READ and not is_echo(turn)


def passages(turns: Sequence[Turn], zone: ZoneInfo) -> dict[UUID, Passage]:
    """By page, in the order of the turns, at the space's own time.

    Call inside the tenant's scope.
    """
    if not turns:
        return {}
    pages = _pages(turns)
    said = {page.id: [turn for turn in turns if page.covers(turn)] for page in pages}
    place = {turn.id: at for at, turn in enumerate(turns)}
    pages = sorted((p for p in pages if said[p.id]), key=lambda p: place[said[p.id][0].id])
    made = passages_of(pages, said)
    return {
        page.id: replace(passage, at=passage.at.astimezone(zone))
        for page, passage in zip(pages, made, strict=True)
    }


def _pages(turns: Sequence[Turn]) -> list[Page]:
    seqs = [turn.seq for turn in turns]
    pages = Page.objects.filter(
        session_id__in={turn.session_id for turn in turns},
        first_seq__lte=max(seqs),
        last_seq__gte=min(seqs),
    )
    return list(pages)


def utterances(turns: Sequence[Turn], zone: ZoneInfo) -> list[Utterance]:
    return [
        Utterance(
            f"t{number}",
            turn.speaker,
            "user" if turn.role == Turn.Role.USER else "assistant",
            turn.text[:MOST_CHARS],
            turn.occurred_at.astimezone(zone),
        )
        for number, turn in enumerate(turns, start=1)
    ]


# What is written


@dataclass(frozen=True, slots=True)
class Indexed:
    entries: Sequence[indexing.Entry]
    vectors: indexing.Vectors | None


def indexed(at: Setting, drafts: Sequence[episodes.Drafted]) -> Indexed:
    """Index entries of the drafts, embedded if the embedder answers (E18). Call with no scope."""
    entries = episodes.entries((draft.row for draft in drafts), zone=at.zone)
    try:
        vectors = indexing.embed_entries(entries, at.embedder) if entries else None
    except EngineError as error:
        log.warning("embedder.failed", error=str(error))
        vectors = None
    return Indexed(entries, vectors)


def write(at: Setting, drafts: Sequence[episodes.Drafted], index: Indexed, reason: str) -> None:
    """Store new and renewed episodes, an event of each sort. Raises StaleRead, LeaseLost.

    Call inside the tenant's scope. What a person corrected is left, and the new text proposed.
    """
    queue.hold(at.job)
    _check_versions(drafts)
    kept = [draft for draft in drafts if not _proposed(at, draft)]
    made = at.changes(EvolutionEvent.Kind.DIGEST, reason)
    renewed = at.changes(EvolutionEvent.Kind.REFRESH, reason)
    for draft in kept:
        episodes.store(made if draft.before is None else renewed, draft)
    made.save()
    renewed.save()
    retention.set_dates(at.space, at.effective.policy.forget)
    _index(at, index, {draft.row.id for draft in kept})


def _check_versions(drafts: Sequence[episodes.Drafted]) -> None:
    read = {draft.row.id: draft.before["version"] for draft in drafts if draft.before}
    rows = Episode.objects.select_for_update().filter(id__in=read).order_by("id")
    if dict(rows.values_list("id", "version")) != read:
        raise StaleRead("the episode was changed meanwhile")


def _proposed(at: Setting, draft: episodes.Drafted) -> bool:
    """Whether it is a person's text: what would be written instead is put before them."""
    if draft.before is None or not draft.row.is_protected:
        return False
    row = draft.row
    proposals.propose(
        at.space,
        Proposal.Kind.OVERWRITE,
        f"episode:{row.id}:{row.coverage_hash[:16]}",
        "more was said that belongs to what a person corrected or pinned",
        at.now,
        payload={"title": row.title, "text": row.text, "details": row.details},
        row=row,
        turn_ids=[source.turn_id for source in draft.coverage.sources],
    )
    return True


def _index(at: Setting, index: Indexed, kept: set[UUID]) -> None:
    places = [n for n, entry in enumerate(index.entries) if entry.owner_id in kept]
    if not places:
        return
    vectors = None if index.vectors is None else index.vectors[places]
    entries = [index.entries[n] for n in places]
    indexing.write_entries(at.space, at.embedder.name, entries, vectors)
    if vectors is None:
        key = str(at.job.id)
        due = at.now + queue.backoff(1)
        queue.plan_step(at.space, Job.Step.EMBED, "D", key, due)
