"""Chains, and the way from short-term memory into segments (MemoryOS, spec §8.2, §11.5).

The oldest pages over the queue's length leave it in one transaction, with everything that
follows from it: memberships, summaries, index entries, and what goes cold for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import Q
from numpy.typing import NDArray

from memoryhub.dialogues.models import Turn
from memoryhub.engines.types import Embedder, Engine
from memoryhub.models_in_use import embedder_for, engine_for
from memoryhub.pipeline import chaining, promoting, queue, theming
from memoryhub.pipeline.following import Derived
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.passages import passages_of
from memoryhub.policies.schema import Policy
from memoryhub.policies.services import Effective, policy_of
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from notes import indexing, membership, tiers
from notes.models import EvolutionEvent, IndexEntry, Page, Segment
from notes.paging import Turns, turns_of
from notes.placing import Waiting, leaving
from notes.recording import ChangeSet, Source
from notes.unit import RowsChanged, Unit

# Pages read in one job; what is left over is done by the next.
MOST_AT_ONCE = 20
MOST_READS = 3
# A model is asked for several pages together: when so many wait, or when the talk has paused.
PAUSE = timedelta(minutes=10)
LOCAL = "local"


@dataclass
class Work:
    """What a job has to do, as read in one short transaction."""

    job: Job
    space: Space
    engine: Engine
    embedder: Embedder
    effective: Effective
    turns: Turns
    threads: list[chaining.Thread]
    rewrites: list[chaining.Rewrite]
    leavers: list[theming.Leaver]
    held: list[theming.Held]
    renewals: list[theming.Renewal]
    bare: list[Page]  # placed, and not indexed: an erasure took their entries
    more: bool
    joinings: list[theming.Joining] = field(default_factory=list)
    entries: list[indexing.Entry] = field(default_factory=list)
    vectors: NDArray[Any] | None = None

    @property
    def policy(self) -> Policy:
        return self.effective.policy

    @property
    def stamp(self) -> str:
        return f"{self.engine.name}/{self.engine.version}"[:60]


def run(job: Job, now: datetime) -> None:
    """Chain and place what is due. Raises EngineError, LeaseLost, RowsChanged."""
    for attempt in range(1, MOST_READS + 1):
        with tenant_scope(job.tenant_id):
            work = read(job)
        think(work)
        try:
            with tenant_scope(job.tenant_id):
                queue.hold(job)
                write(work, now)
        except RowsChanged:
            if attempt == MOST_READS:
                raise
        else:
            return


def schedule(due: Derived) -> None:
    """Plan the step. Rules are asked at once; a model when enough waits, or after a pause."""
    if not is_wanted(due.policy):
        return
    known = {str(page): built.continues for page, built in due.built.items()}
    known = {page: goes_on for page, goes_on in known.items() if goes_on is not None}
    when = due.now if _at_once(due) else max(t.received_at for t in due.turns) + PAUSE
    planned = Job.objects.filter(
        space=due.space, step=Job.Step.PLACE, state__in=(Job.State.QUEUED, Job.State.RETRY)
    ).first()
    if planned is None:
        queue.enqueue_step(
            due.space,
            Job.Step.PLACE,
            "B",
            str(due.job.id),
            when,
            payload={"continues": known},
            first_seq=due.turns[0].seq,
            last_seq=due.last_seq,
        )
        return
    planned.payload["continues"] = planned.payload.get("continues", {}) | known
    planned.last_seq = due.last_seq
    if planned.state == Job.State.QUEUED:
        planned.run_after = min(when, planned.run_after) if _at_once(due) else when
    planned.save(update_fields=["payload", "last_seq", "run_after"])


def is_wanted(policy: Policy) -> bool:
    return policy.chain.enabled or _moves(policy)


def _moves(policy: Policy) -> bool:
    """Without segments, the short-term queue keeps its length where it is a channel."""
    return policy.segments.enabled or "stm" in policy.recall.channels


def _at_once(due: Derived) -> bool:
    if engine_for(Tenant.objects.get(id=due.space.tenant_id), due.policy).name == LOCAL:
        return True
    queued = Page.objects.filter(space=due.space, tier=Page.Tier.SHORT, retired_at=None).count()
    return queued - due.policy.stm.pages >= due.policy.derive.batch_exchanges


def read(job: Job) -> Work:
    """Call inside the tenant's scope."""
    space = Space.objects.get(id=job.space_id)
    effective, model = policy_of(space), embedder_for(space)
    policy = effective.policy
    waiting = _waiting(space)
    unchained = _unchained(space, waiting) if policy.chain.enabled else []
    gone = _leaving(space, waiting, policy) if _moves(policy) else []
    some = unchained[:MOST_AT_ONCE]
    in_hand = {page.id: page for page in some}  # one object a row, whichever list it is in
    leavers = [in_hand.get(page.id, page) for page in gone[:MOST_AT_ONCE]]
    stale = _stale(space, job) if policy.segments.enabled else []
    rewrites = chaining.rewrites_of(space, job.payload.get("chains", []))
    left = [page for renewal in stale for page in renewal.pages]
    left += [page for rewrite in rewrites for page in rewrite.pages]
    bare = _bare(left, model.name)
    turns = turns_of([*some, *leavers, *bare])
    return Work(
        job=job,
        space=space,
        engine=engine_for(Tenant.objects.get(id=job.tenant_id), policy),
        embedder=model,
        effective=effective,
        turns=turns,
        threads=chaining.threads_of(some, job.payload.get("continues", {})),
        rewrites=rewrites,
        leavers=_leavers(leavers, turns),
        held=theming.held_segments(space, model.name) if leavers else [],
        renewals=stale,
        bare=bare,
        more=len(unchained) > len(some) or len(gone) > len(leavers),
    )


def _waiting(space: Space) -> list[tuple[UUID, int, str]]:
    """(session, seq, state) of turns that are not read: few, whatever the space holds."""
    states = (Turn.State.PENDING, Turn.State.FAILED)
    rows = Turn.objects.filter(space=space, state__in=states)
    return list(rows.values_list("session_id", "seq", "state"))


def _state(page: Page, waiting: Sequence[tuple[UUID, int, str]]) -> Waiting:
    states = {
        state
        for session, seq, state in waiting
        if session == page.session_id and page.first_seq <= seq <= page.last_seq
    }
    if Turn.State.PENDING in states:
        return Waiting.PENDING
    return Waiting.FAILED if states else Waiting.READ


def _unchained(space: Space, waiting: Sequence[tuple[UUID, int, str]]) -> list[Page]:
    """Pages that were read and have no chain, in the order of time."""
    rows = Page.objects.filter(space=space, chain=None, retired_at=None).order_by("first_seq")
    return [page for page in rows if _state(page, waiting) is Waiting.READ]


def _leaving(space: Space, waiting: Sequence[tuple[UUID, int, str]], policy: Policy) -> list[Page]:
    rows = Page.objects.filter(space=space, tier=Page.Tier.SHORT, retired_at=None)
    short = list(rows.order_by("first_seq"))
    places = leaving([_state(page, waiting) for page in short], policy.stm.pages)
    return [short[place] for place in places]


def _leavers(pages: Sequence[Page], turns: Turns) -> list[theming.Leaver]:
    told = [page for page in pages if turns.get(page.id)]
    return [
        theming.Leaver(page, passage)
        for page, passage in zip(told, passages_of(told, turns), strict=True)
    ]


def _stale(space: Space, job: Job) -> list[theming.Renewal]:
    """Segments that lost pages, with those that are left (spec §11.9)."""
    asked = Q(stale=True) | Q(id__in=job.payload.get("refresh", []))
    segments = list(Segment.objects.filter(asked, space=space, retired_at=None))
    pages = membership.pages_of(segments)
    turns = turns_of([page for left in pages.values() for page in left])
    found = []
    for segment in segments:
        left = [page for page in pages.get(segment.id, []) if turns.get(page.id)]
        found.append(theming.Renewal(segment, left, passages_of(left, turns)))
    return found


def _bare(pages: Sequence[Page], model: str) -> list[Page]:
    """Those in segments that are not indexed."""
    placed = {page.id: page for page in pages if page.tier == Page.Tier.MID}
    entries = IndexEntry.objects.filter(
        kind=IndexEntry.Kind.PAGE, model=model, owner_id__in=list(placed)
    )
    known = set(entries.values_list("owner_id", flat=True))
    return [page for page_id, page in placed.items() if page_id not in known]


def think(work: Work) -> None:
    """Ask the models. Nothing is open. Raises EngineError."""
    policy = work.policy
    combine = policy.llm.combine_calls
    chaining.judge(work.engine, work.threads, combine=combine)
    chaining.sum_up(work.engine, work.rewrites, combine=combine)
    if policy.segments.enabled:
        # Rules cost nothing a call, and one page has one theme: that sorts best.
        a_call = 1 if work.engine.name == LOCAL else policy.derive.batch_exchanges
        themed = theming.themes_of(work.engine, work.leavers, a_call)
        work.joinings = theming.join(
            work.space, themed, work.held, work.embedder, policy.segments.theta
        )
        theming.reword(work.engine, work.joinings, work.renewals, policy)
    work.entries = _entries(work)
    if work.entries:
        work.vectors = indexing.embed_entries(work.entries, work.embedder)


def _entries(work: Work) -> list[indexing.Entry]:
    reworded = (each for each in work.joinings if not each.segment.is_protected)
    texts = [(each.segment.id, each.text) for each in reworded]
    texts += [(each.segment.id, each.text) for each in work.renewals if each.text]
    placed = [*(each.page for each in work.leavers), *work.bare]
    pages = [(page, work.turns[page.id]) for page in placed]
    return [
        *(indexing.segment_entry(owner, text.text, text.keywords) for owner, text in texts),
        *indexing.page_entries(pages, work.space.speakers, zone=ZoneInfo(work.space.timezone)),
    ]


def write(work: Work, now: datetime) -> None:
    """One event for what moved, one for what went cold, and the job's end."""
    changes = _changes(work, EvolutionEvent.Kind.PLACE, now, "the conversation went on")
    _check_pages(work)
    unit = Unit(changes)
    chained = chaining.link(unit, work.threads, work.stamp)
    chaining.support(unit, work.threads, work.turns)
    chaining.rewrite(unit, work.rewrites)
    for leaver in work.leavers:
        unit.touch(leaver.page)
        leaver.page.tier = Page.Tier.MID
        unit.support(leaver.page, [Source(turn.id) for turn in work.turns[leaver.page.id]])
    made = membership.write(unit, _joins(work), work.turns, work.stamp)
    membership.renew(unit, [(r.segment, r.pages, r.text) for r in work.renewals])
    unit.save()
    membership.warm(j.segment for j in work.joinings)
    indexing.write_entries(work.space, work.embedder.name, work.entries, work.vectors)
    archive = _changes(work, EvolutionEvent.Kind.ARCHIVE, now, "too many segments in reach")
    cold = tiers.evict(archive, work.policy, now, keep=[segment.id for segment in made])
    done: dict[str, object] = {
        "chains": chained,
        "placed": len(work.leavers),
        "segments": len(made),
        "cold": cold,
    }
    queue.finish(work.job, done, now)
    if work.more:
        _go_on(work, now)
    else:
        promoting.plan_if_warm(work.space, work.policy, f"after:{work.job.id}", now)


def _joins(work: Work) -> list[membership.Join]:
    return [
        membership.Join(
            each.segment,
            each.is_new,
            each.text.text,
            each.text.keywords,
            [membership.Member(*member) for member in each.members.values()],
        )
        for each in work.joinings
    ]


def _check_pages(work: Work) -> None:
    """A page that grew since it was read has words nobody has placed (I10)."""
    read = {page.id: page for thread in work.threads for page in thread.pages}
    read |= {leaver.page.id: leaver.page for leaver in work.leavers}
    rows = Page.objects.select_for_update().filter(id__in=list(read)).order_by("id")
    for page_id, last_seq in rows.values_list("id", "last_seq"):
        if read[page_id].last_seq != last_seq:
            raise RowsChanged("an exchange went on meanwhile")


def _changes(work: Work, kind: str, now: datetime, reason: str) -> ChangeSet:
    return ChangeSet(
        space=work.space,
        kind=kind,
        actor="pipeline",
        at=now,
        reason=reason,
        engine=work.stamp,
        job_id=work.job.id,
        trigger=Job.Step.PLACE,
        policy_version=work.effective.version,
    )


def _go_on(work: Work, now: datetime) -> None:
    queue.enqueue_step(
        work.space,
        Job.Step.PLACE,
        "B",
        f"after:{work.job.id}",
        now,
        payload={"continues": work.job.payload.get("continues", {})},
        first_seq=work.job.first_seq,
        last_seq=work.job.last_seq,
    )


def warm_up(space: Space, policy: Policy, now: datetime) -> datetime | None:
    """A task of the sweep: bring back cold segments that were visited. Opens its own scope.

    Returns when to look again: in a day, as long as there are any.
    """
    with tenant_scope(space.tenant_id):
        tiers.warm_back(space, policy, now)
        cold = Segment.objects.filter(space=space, tier=Segment.Tier.COLD, retired_at=None)
        return now + timedelta(days=1) if cold.exists() else None
