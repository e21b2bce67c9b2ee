"""Digests of days, sessions and everything (MemoryBank, spec §2.2).

A day is digested once it is over in the space's own time zone, a session once it has fallen
silent. What comes late makes the digest stale: withheld, and written anew by the next job. So
does an erasure, for every kind of episode.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import partial
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import Q

from memoryhub.dialogues.models import Session, Turn
from memoryhub.dialogues.services import SESSION_GAP
from memoryhub.engines.types import DigestKind, Passage
from memoryhub.pipeline.jobs import queue
from memoryhub.pipeline.jobs.queue import plan_topic_step
from memoryhub.pipeline.jobs.step import JobResult, Step, retry_stale_reads
from memoryhub.pipeline.models import Job, Lane
from memoryhub.pipeline.steps.context import DerivedDialogue, StepContext, load_context
from memoryhub.pipeline.steps.episodes import episode_io, rolling, windows
from memoryhub.policies.schema import Policy
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.episodes import store
from notes.episodes.store import Coverage, EpisodeContent, EpisodeDraft
from notes.history.change_set import ChangeSet, filter_supports
from notes.models import Episode, EvolutionEvent
from personas import portrait

Kind = Episode.Kind
# What each kind asks of an engine; the others are written by the steps they belong to.
DIGEST_KINDS: dict[str, DigestKind] = {
    Kind.DAY: "day",
    Kind.SESSION: "session",
    Kind.GLOBAL: "global",
    Kind.PERSONA: "persona",
    Kind.GLOBAL_PERSONA: "global_persona",
}
# A digest of digests, and of which.
SUMMARISED_KIND = {Kind.GLOBAL: Kind.DAY, Kind.GLOBAL_PERSONA: Kind.PERSONA}


# Planning


def schedule(due: DerivedDialogue) -> None:
    """Plan the digests of the days and the session spoken in, and mark those written too early."""
    zone = ZoneInfo(due.space.timezone)
    days = sorted({turn.occurred_at.astimezone(zone).date() for turn in due.turns})
    session = due.turns[0].session_id
    _mark_stale(due, days, session)
    if due.policy.episodes.day or due.policy.episodes.global_ or due.policy.portrait.enabled:
        for day in days:
            _plan_digest(due, f"day:{day}", compute_next_midnight(day, zone), day=str(day))
    if due.policy.episodes.session:
        over = due.turns[-1].received_at + SESSION_GAP
        _plan_digest(due, f"session:{session}", over, put_off=True, session=str(session))


def _plan_digest(
    due: DerivedDialogue, topic: str, at: datetime, *, put_off: bool = False, **of: object
) -> None:
    seq, step = due.last_seq, Job.Step.DIGEST
    plan_topic_step(due.space, step, topic, at, last_seq=seq, payload=of, put_off=put_off)


def compute_next_midnight(day: date, zone: ZoneInfo) -> datetime:
    return datetime.combine(day + timedelta(days=1), time.min, tzinfo=zone)


def _mark_stale(due: DerivedDialogue, days: list[date], session: UUID) -> None:
    """Digests that the new turns belong to. A person's own text stays in use: see `write`."""
    rows = Episode.objects.filter(space=due.space, retired_at=None, stale=False)
    early = rows.filter(Q(day__in=days) | Q(kind=Kind.SESSION, session=session))
    changes = ChangeSet(
        due.space,
        EvolutionEvent.Kind.REFRESH,
        "pipeline",
        due.now,
        reason="something was said later that belongs to it",
        job_id=due.job.id,
        trigger="derive",
    )
    for row in early:
        if not row.is_protected:
            changes.update_row(row, stale=True)
    changes.save()


def plan_stale_renewal(space: Space, now: datetime) -> None:
    """Plan that every stale episode is written anew. Call inside the tenant's scope."""
    plan_topic_step(space, Job.Step.DIGEST, "stale", now, last_seq=int(now.timestamp()))


def plan_renewal_if_stale(space: Space, policy: Policy, now: datetime) -> datetime | None:
    """A sweep's task: nothing stays withheld because nobody planned its renewal."""
    with tenant_scope(space.tenant_id):
        if Episode.objects.filter(space=space, retired_at=None, stale=True).exists():
            plan_stale_renewal(space, now)
    return None


# Running


@dataclass(frozen=True, slots=True)
class DigestTarget:
    """An episode to write: a stored one, or one of a kind that is not there yet."""

    kind: str
    row: Episode | None = None
    session: Session | None = None
    day: date | None = None


class DigestStep(Step[StepContext, list[str]]):
    """Write what the job names and whatever is stale.

    One episode after the other, each read, asked for and written in a transaction of its own
    while the step asks: what was written stays written when the next one fails, and isn't asked
    for again.
    """

    name = Job.Step.DIGEST
    lane = Lane.TIDYING

    def read(self) -> StepContext:
        return load_context(self.job, self.now)

    def ask(self, at: StepContext) -> list[str]:
        written: list[str] = []
        for target in _list_targets(at):
            written += retry_stale_reads(partial(_write_digest, at, target))
        return written

    def write(self, at: StepContext, written: list[str]) -> JobResult:
        """The portrait follows from what is said of the person as a whole (MemoryBank)."""
        whole = Episode.objects.filter(id__in=written, kind=Kind.GLOBAL_PERSONA)
        if at.policy.portrait.enabled and whole.exists():
            portrait.renew_portrait(at.space, at.policy, at.effective.version, self.now)
        return {"episodes": written}

    def plan(self, at: StepContext, written: list[str]) -> None:
        """Days that were digested make the digest of all days due, once for all of them."""
        wanted = at.policy.episodes.global_ or at.policy.portrait.enabled
        kinds = Episode.objects.filter(id__in=written, kind__in=SUMMARISED_KIND.values())
        if wanted and kinds.exists():
            seq, step, above = int(at.now.timestamp()), self.name, {"above": True}
            plan_topic_step(at.space, step, "above", at.now, last_seq=seq, payload=above)


def _list_targets(at: StepContext) -> Iterator[DigestTarget]:
    with tenant_scope(at.job.tenant_id):
        named = list(_list_named_targets(at))
        stale = list(
            Episode.objects.filter(space=at.space, retired_at=None, stale=True)
            .select_related("session")
            .order_by("from_seq")
        )
    yield from named
    done = {target.row.id for target in named if target.row}
    # Digests of digests last: by then what they are made from is as it should be.
    for row in sorted(stale, key=lambda row: row.kind in SUMMARISED_KIND):
        if row.id not in done:
            yield DigestTarget(row.kind, row, row.session, row.day)


def _list_named_targets(at: StepContext) -> Iterator[DigestTarget]:
    """What the job was planned for. Call inside the tenant's scope."""
    policy, payload = at.policy, at.job.payload
    if "day" in payload:
        day = date.fromisoformat(payload["day"])
        if policy.episodes.day or policy.episodes.global_:
            yield DigestTarget(Kind.DAY, store.find_newest(at.space, Kind.DAY, day=day), day=day)
        if policy.portrait.enabled:
            held = store.find_newest(at.space, Kind.PERSONA, day=day)
            yield DigestTarget(Kind.PERSONA, held, day=day)
    if "session" in payload:
        session = Session.objects.get(id=payload["session"])
        held = store.find_newest(at.space, Kind.SESSION, session=session)
        yield DigestTarget(Kind.SESSION, held, session)
    if payload.get("above"):
        for kind in SUMMARISED_KIND:
            if _is_wanted(policy, kind):
                yield DigestTarget(kind, store.find_newest(at.space, kind))


def _is_wanted(policy: Policy, kind: str) -> bool:
    return policy.episodes.global_ if kind == Kind.GLOBAL else policy.portrait.enabled


# Writing one


# What an episode is written from: passages in order, and what they cover.
DigestMaterial = tuple[list[Passage], Coverage]


def _write_digest(at: StepContext, target: DigestTarget) -> list[str]:
    """The id of the episode, if it was written."""
    if target.kind == Kind.ROLLING and target.session:
        windows.renew_window_summary(target.session, at.effective, at.engine, at.now)
        return []
    if target.kind == Kind.ROLLING:
        return _store_drafts(at, rolling.draft_renewed_summary(at), target)
    with tenant_scope(at.job.tenant_id):
        if target.row is not None:
            target = replace(target, row=Episode.objects.get(id=target.row.id))
        found = (
            _load_digest_material(at, target)
            if target.kind in SUMMARISED_KIND
            else _load_turn_material(at, target)
        )
    if found is None:
        return _retire_episode(at, target)
    row, (passages, coverage) = target.row, found
    if row is not None and not row.stale and row.coverage_hash == coverage.digest:
        return []
    wording = _ask_wording(at, target, passages)
    if not wording.text:
        return _retire_episode(at, target)
    made = store.draft_episode(
        at.space,
        target.kind,
        wording,
        coverage,
        at.stamp,
        row=row,
        session=target.session,
        day=target.day,
    )
    return _store_drafts(at, [made], target)


def _ask_wording(at: StepContext, target: DigestTarget, passages: list[Passage]) -> EpisodeContent:
    if target.kind == Kind.TOPIC:
        topic = at.engine.summarise_episode(passages)
        return EpisodeContent(topic.text, topic.title)
    digest = at.engine.build_digest(DIGEST_KINDS[target.kind], passages)
    said = {
        "points": list(digest.points),
        "traits": list(digest.traits),
        "mood": digest.mood,
        "reply_strategy": digest.reply_strategy,
    }
    details = {name: value for name, value in said.items() if value}
    return EpisodeContent(digest.text, digest.title, details)


def _store_drafts(at: StepContext, drafts: list[EpisodeDraft], target: DigestTarget) -> list[str]:
    if not drafts:
        return _retire_episode(at, target)
    index = episode_io.embed_drafts(at, drafts)
    with tenant_scope(at.job.tenant_id):
        queue.lock_job(at.job)
        reason = (
            "a late turn or an erasure" if target.row and target.row.stale else "its time is over"
        )
        episode_io.write_episodes(at, drafts, index, reason)
    return [str(draft.row.id) for draft in drafts]


def _retire_episode(at: StepContext, target: DigestTarget) -> list[str]:
    """Nothing of what it covered remains: the episode is held no longer."""
    if target.row is None:
        return []
    with tenant_scope(at.job.tenant_id):
        queue.lock_job(at.job)
        changes = at.build_change_set(
            EvolutionEvent.Kind.REFRESH, "nothing is left of what it covered"
        )
        row = Episode.objects.select_for_update().get(id=target.row.id)
        if not row.is_protected:
            changes.update_row(row, retired_at=at.now)
        changes.save()
    return []


# Reading what one is made from: call inside the tenant's scope


def _load_turn_material(at: StepContext, target: DigestTarget) -> DigestMaterial | None:
    turns = _load_turns(at, target)
    heard = [turn for turn in turns if episode_io.is_heard(turn)]
    if target.kind == Kind.PERSONA:
        heard = [turn for turn in heard if turn.role == Turn.Role.USER]
    if not heard:
        return None
    said = list(episode_io.build_passages(heard, at.zone).values())
    return (said, store.compute_coverage(heard, bounds=turns)) if said else None


def _load_turns(at: StepContext, target: DigestTarget) -> list[Turn]:
    turns = Turn.objects.filter(space=at.space, state=Turn.State.PROCESSED)
    if target.day is not None:
        start = datetime.combine(target.day, time.min, tzinfo=at.zone)
        end = compute_next_midnight(target.day, at.zone)
        turns = turns.filter(occurred_at__gte=start, occurred_at__lt=end)
        return list(turns.order_by("occurred_at", "seq"))
    turns = turns.filter(session=target.session)
    if target.kind == Kind.TOPIC and target.row is not None:
        turns = turns.filter(seq__range=(target.row.from_seq, target.row.to_seq))
    return list(turns.order_by("seq"))


def _load_digest_material(at: StepContext, target: DigestTarget) -> DigestMaterial | None:
    """The days' digests, oldest first (MB9)."""
    rows = Episode.objects.filter(
        store.build_live_q(), space=at.space, kind=SUMMARISED_KIND[Kind(target.kind)]
    )
    days = list(rows.order_by("day"))
    if not days:
        return None
    passages = [
        Passage(f"d{n}", row.text, datetime.combine(row.day or row.from_at, time.min, at.zone))
        for n, row in enumerate(days, start=1)
    ]
    links = filter_supports("episode", child_id__in=[row.id for row in days])
    pairs = links.values_list("child_id", "turn_id")
    return passages, store.compute_coverage_of_episodes(days, pairs)
