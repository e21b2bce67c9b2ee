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
from memoryhub.engines.types import DigestKind, DigestText, Passage
from memoryhub.pipeline import folding, queue, spanning, windows
from memoryhub.pipeline.following import Derived
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.planning import gather
from memoryhub.pipeline.spanning import Setting
from memoryhub.policies.schema import Policy
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes import episodes
from notes.episodes import Coverage, Drafted, Wording
from notes.models import Derivation, Episode, EvolutionEvent
from notes.recording import ChangeSet

Kind = Episode.Kind
# What each kind asks of an engine; the others are written by the steps they belong to.
DIGESTS: dict[str, DigestKind] = {
    Kind.DAY: "day",
    Kind.SESSION: "session",
    Kind.GLOBAL: "global",
    Kind.PERSONA: "persona",
    Kind.GLOBAL_PERSONA: "global_persona",
}
# A digest of digests, and of which.
ABOVE = {Kind.GLOBAL: Kind.DAY, Kind.GLOBAL_PERSONA: Kind.PERSONA}


# Planning


def schedule(due: Derived) -> None:
    """Plan the digests of the days and the session spoken in, and mark those written too early."""
    zone = ZoneInfo(due.space.timezone)
    days = sorted({turn.occurred_at.astimezone(zone).date() for turn in due.turns})
    session = due.turns[0].session_id
    _mark_stale(due, days, session)
    if due.policy.episodes.day or due.policy.episodes.global_ or due.policy.portrait.enabled:
        for day in days:
            _plan(due.space, f"day:{day}", midnight_after(day, zone), due, day=str(day))
    if due.policy.episodes.session:
        over = due.turns[-1].received_at + SESSION_GAP
        _plan(due.space, f"session:{session}", over, due, put_off=True, session=str(session))


def _plan(
    space: Space, topic: str, at: datetime, due: Derived, *, put_off: bool = False, **of: object
) -> None:
    gather(
        space,
        Job.Step.DIGEST,
        "D",
        topic,
        at,
        last_seq=due.last_seq,
        payload=dict(of),
        put_off=put_off,
    )


def midnight_after(day: date, zone: ZoneInfo) -> datetime:
    return datetime.combine(day + timedelta(days=1), time.min, tzinfo=zone)


def _mark_stale(due: Derived, days: list[date], session: UUID) -> None:
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
            episodes.change(changes, row, stale=True)
    changes.save()


def plan_stale(space: Space, now: datetime) -> None:
    """Plan that every stale episode is written anew. Call inside the tenant's scope."""
    gather(space, Job.Step.DIGEST, "D", "stale", now, last_seq=int(now.timestamp()))


def renew_stale(space: Space, policy: Policy, now: datetime) -> datetime | None:
    """A sweep's task: nothing stays withheld because nobody planned its renewal."""
    with tenant_scope(space.tenant_id):
        if Episode.objects.filter(space=space, retired_at=None, stale=True).exists():
            plan_stale(space, now)
    return None


# Running


@dataclass(frozen=True, slots=True)
class Target:
    """An episode to write: a stored one, or one of a kind that is not there yet."""

    kind: str
    row: Episode | None = None
    session: Session | None = None
    day: date | None = None


def run(job: Job, now: datetime) -> None:
    """Write what the job names and whatever is stale. Raises EngineError, LeaseLost, StaleRead.

    One episode after the other, each in a transaction of its own: what was written stays
    written when the next one fails, and isn't asked for again.
    """
    at = spanning.setting(job, now)
    written: list[str] = []
    for target in _targets(at):
        written += spanning.reread(partial(_write, at, target))
    with tenant_scope(job.tenant_id):
        queue.hold(job)
        _follow_up(at, written)
        queue.finish(job, {"episodes": written}, now)


def _targets(at: Setting) -> Iterator[Target]:
    with tenant_scope(at.job.tenant_id):
        named = list(_named(at))
        stale = list(
            Episode.objects.filter(space=at.space, retired_at=None, stale=True)
            .select_related("session")
            .order_by("from_seq")
        )
    yield from named
    done = {target.row.id for target in named if target.row}
    # Digests of digests last: by then what they are made from is as it should be.
    for row in sorted(stale, key=lambda row: row.kind in ABOVE):
        if row.id not in done:
            yield Target(row.kind, row, row.session, row.day)


def _named(at: Setting) -> Iterator[Target]:
    """What the job was planned for. Call inside the tenant's scope."""
    policy, payload = at.effective.policy, at.job.payload
    if "day" in payload:
        day = date.fromisoformat(payload["day"])
        if policy.episodes.day or policy.episodes.global_:
            yield Target(Kind.DAY, _held(at, Kind.DAY, day=day), day=day)
        if policy.portrait.enabled:
            yield Target(Kind.PERSONA, _held(at, Kind.PERSONA, day=day), day=day)
    if "session" in payload:
        session = Session.objects.get(id=payload["session"])
        yield Target(Kind.SESSION, _held(at, Kind.SESSION, session=session), session)
    if payload.get("above"):
        for kind in ABOVE:
            if _is_wanted(policy, kind):
                yield Target(kind, _held(at, kind))


def _is_wanted(policy: Policy, kind: str) -> bool:
    return policy.episodes.global_ if kind == Kind.GLOBAL else policy.portrait.enabled


def _held(at: Setting, kind: str, **of: object) -> Episode | None:
    rows = Episode.objects.filter(space=at.space, kind=kind, retired_at=None, **of)
    found: Episode | None = rows.order_by("-to_seq").first()
    return found


def _follow_up(at: Setting, written: list[str]) -> None:
    """Days that were digested make the digest of all days due, once for all of them."""
    policy = at.effective.policy
    wanted = policy.episodes.global_ or policy.portrait.enabled
    kinds = Episode.objects.filter(id__in=written, kind__in=ABOVE.values())
    if wanted and kinds.exists():
        seq = int(at.now.timestamp())
        gather(
            at.space, Job.Step.DIGEST, "D", "above", at.now, last_seq=seq, payload={"above": True}
        )


# Writing one


@dataclass(frozen=True, slots=True)
class Material:
    """What an episode is written from: passages in order, and what they cover."""

    passages: list[Passage]
    coverage: Coverage


def _write(at: Setting, target: Target) -> list[str]:
    """The id of the episode, if it was written."""
    if target.kind == Kind.ROLLING and target.session:
        windows.renew(target.session, at.effective, at.engine, at.now)
        return []
    if target.kind == Kind.ROLLING:
        return _store(at, folding.renewed(at), target)
    with tenant_scope(at.job.tenant_id):
        if target.row is not None:
            target = replace(target, row=Episode.objects.get(id=target.row.id))
        found = _above(at, target) if target.kind in ABOVE else _of_turns(at, target)
    if found is None:
        return _gone(at, target)
    row = target.row
    if row is not None and not row.stale and row.coverage_hash == found.coverage.digest:
        return []
    wording = _worded(at, target, found.passages)
    if not wording.text:
        return _gone(at, target)
    made = episodes.drafted(
        at.space,
        target.kind,
        wording,
        found.coverage,
        at.stamp,
        row=row,
        session=target.session,
        day=target.day,
    )
    return _store(at, [made], target)


def _worded(at: Setting, target: Target, passages: list[Passage]) -> Wording:
    if target.kind == Kind.TOPIC:
        topic = at.engine.episode_write(passages)
        return Wording(topic.text, topic.title)
    digest = at.engine.digest(DIGESTS[target.kind], passages)
    return Wording(digest.text, digest.title, _details(digest))


def _details(digest: DigestText) -> dict[str, object]:
    said: dict[str, object] = {
        "points": list(digest.points),
        "traits": list(digest.traits),
        "mood": digest.mood,
        "reply_strategy": digest.reply_strategy,
    }
    return {name: value for name, value in said.items() if value}


def _store(at: Setting, drafts: list[Drafted], target: Target) -> list[str]:
    if not drafts:
        return _gone(at, target)
    index = spanning.indexed(at, drafts)
    with tenant_scope(at.job.tenant_id):
        reason = "a late turn or an erasure" if target.row and target.row.stale else "a span ended"
        spanning.write(at, drafts, index, reason)
    return [str(draft.row.id) for draft in drafts]


def _gone(at: Setting, target: Target) -> list[str]:
    """Nothing of what it covered remains: the episode is held no longer."""
    if target.row is None:
        return []
    with tenant_scope(at.job.tenant_id):
        queue.hold(at.job)
        changes = at.changes(EvolutionEvent.Kind.REFRESH, "nothing is left of what it covered")
        row = Episode.objects.select_for_update().get(id=target.row.id)
        if not row.is_protected:
            episodes.change(changes, row, retired_at=at.now)
        changes.save()
    return []


# Reading what one is made from: call inside the tenant's scope


def _of_turns(at: Setting, target: Target) -> Material | None:
    turns = _turns(at, target)
    heard = [turn for turn in turns if spanning.is_heard(turn)]
    if target.kind == Kind.PERSONA:
        heard = [turn for turn in heard if turn.role == Turn.Role.USER]
    if not heard:
        return None
    said = list(spanning.passages(heard, at.zone).values())
    return Material(said, episodes.coverage_of(heard, bounds=turns)) if said else None


def _turns(at: Setting, target: Target) -> list[Turn]:
    turns = Turn.objects.filter(space=at.space, state=Turn.State.PROCESSED)
    if target.day is not None:
        start = datetime.combine(target.day, time.min, tzinfo=at.zone)
        end = midnight_after(target.day, at.zone)
        turns = turns.filter(occurred_at__gte=start, occurred_at__lt=end)
        return list(turns.order_by("occurred_at", "seq"))
    turns = turns.filter(session=target.session)
    if target.kind == Kind.TOPIC and target.row is not None:
        turns = turns.filter(seq__range=(target.row.from_seq, target.row.to_seq))
    return list(turns.order_by("seq"))


def _above(at: Setting, target: Target) -> Material | None:
    """The days' digests, oldest first (MB9)."""
    rows = Episode.objects.filter(episodes.live(), space=at.space, kind=ABOVE[Kind(target.kind)])
    days = list(rows.order_by("day"))
    if not days:
        return None
    passages = [
        Passage(f"d{n}", row.text, datetime.combine(row.day or row.from_at, time.min, at.zone))
        for n, row in enumerate(days, start=1)
    ]
    links = Derivation.objects.filter(
        child_type="episode",
        child_id__in=[row.id for row in days],
        role=Derivation.Role.SUPPORT,
    )
    pairs = links.values_list("child_id", "turn_id")
    return Material(passages, episodes.coverage_of_episodes(days, pairs))
