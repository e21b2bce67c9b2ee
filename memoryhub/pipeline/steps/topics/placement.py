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
from memoryhub.inference.selection import select_embedder, select_engine
from memoryhub.pipeline.jobs import queue
from memoryhub.pipeline.jobs.step import JobResult, StaleRead, Step
from memoryhub.pipeline.models import Job, Lane
from memoryhub.pipeline.steps import promotion
from memoryhub.pipeline.steps.context import DerivedDialogue
from memoryhub.pipeline.steps.passages import load_passages
from memoryhub.pipeline.steps.topics import chains, themes
from memoryhub.policies.schema import Policy
from memoryhub.policies.services import EffectivePolicy, load_effective_policy
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from notes.history.change_set import ChangeSet, TurnEvidence
from notes.history.unit_of_work import UnitOfWork
from notes.index import indexer
from notes.models import EvolutionEvent, IndexEntry, Page, Segment
from notes.topics import membership, tiers
from notes.topics.pages import PageTurns, load_page_turns
from notes.topics.segments import PageReadState, select_leaving_pages

# Pages read in one job; what is left over is done by the next.
MAX_PAGES_PER_JOB = 20
# A model is asked for several pages together: when so many wait, or when the talk has paused.
TALK_PAUSE = timedelta(minutes=10)
LOCAL_ENGINE = "local"


@dataclass
class PlacementWork:
    """What a job has to do, as read in one short transaction."""

    job: Job
    space: Space
    engine: Engine
    embedder: Embedder
    effective: EffectivePolicy
    turns: PageTurns
    threads: list[chains.PageThread]
    rewrites: list[chains.ChainRewrite]
    leavers: list[themes.LeavingPage]
    held: list[themes.ReachableSegment]
    renewals: list[themes.SegmentRenewal]
    unindexed_pages: list[Page]  # placed, and not indexed: an erasure took their entries
    more: bool
    joinings: list[themes.SegmentDraft] = field(default_factory=list)
    entries: list[indexer.EntryDraft] = field(default_factory=list)
    vectors: NDArray[Any] | None = None

    @property
    def policy(self) -> Policy:
        return self.effective.policy

    @property
    def stamp(self) -> str:
        return f"{self.engine.name}/{self.engine.version}"[:60]


class PlaceStep(Step[PlacementWork, PlacementWork]):
    """Chain and place what is due."""

    name = Job.Step.PLACE
    lane = Lane.PLACING

    def read(self) -> PlacementWork:
        return load_work(self.job)

    def ask(self, work: PlacementWork) -> PlacementWork:
        """The work itself, with what the models say of it."""
        ask_models(work)
        return work

    def write(self, work: PlacementWork, answer: PlacementWork) -> JobResult:
        return write_placement(work, self.now)

    def plan(self, work: PlacementWork, answer: PlacementWork) -> None:
        if work.more:
            _plan_next_job(work, self.now)
            return
        key = f"after:{self.job.id}"
        promotion.plan_promotion_if_warm(work.space, work.policy, key, self.now)


def schedule(due: DerivedDialogue) -> None:
    """Plan the step. Rules are asked at once; a model when enough waits, or after a pause."""
    if not is_placing_wanted(due.policy):
        return
    known = {str(page): built.continues for page, built in due.constructions.items()}
    known = {page: goes_on for page, goes_on in known.items() if goes_on is not None}
    when = due.now if _can_run_at_once(due) else max(t.received_at for t in due.turns) + TALK_PAUSE
    planned = Job.objects.filter(
        space=due.space, step=Job.Step.PLACE, state__in=Job.WAITING_STATES
    ).first()
    if planned is None:
        queue.plan_step(
            due.space,
            Job.Step.PLACE,
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
        planned.run_after = min(when, planned.run_after) if _can_run_at_once(due) else when
    planned.save(update_fields=["payload", "last_seq", "run_after"])


def is_placing_wanted(policy: Policy) -> bool:
    return policy.chain.enabled or _moves_pages(policy)


def _moves_pages(policy: Policy) -> bool:
    """Without segments, the short-term queue keeps its length where it is a channel."""
    return policy.segments.enabled or "stm" in policy.recall.channels


def _can_run_at_once(due: DerivedDialogue) -> bool:
    if select_engine(Tenant.objects.get(id=due.space.tenant_id), due.policy).name == LOCAL_ENGINE:
        return True
    queued = Page.objects.filter(space=due.space, tier=Page.Tier.SHORT, retired_at=None).count()
    return queued - due.policy.stm.pages >= due.policy.derive.batch_exchanges


def load_work(job: Job) -> PlacementWork:
    """Call inside the tenant's scope."""
    space = Space.objects.get(id=job.space_id)
    effective, model = load_effective_policy(space), select_embedder(space)
    policy = effective.policy
    waiting = _list_unread_turns(space)
    unchained = _load_unchained_pages(space, waiting) if policy.chain.enabled else []
    gone = _select_leaving_pages(space, waiting, policy) if _moves_pages(policy) else []
    some = unchained[:MAX_PAGES_PER_JOB]
    in_hand = {page.id: page for page in some}  # one object a row, whichever list it is in
    leavers = [in_hand.get(page.id, page) for page in gone[:MAX_PAGES_PER_JOB]]
    stale = _load_stale_segments(space, job) if policy.segments.enabled else []
    rewrites = chains.load_rewrites(space, job.payload.get("chains", []))
    left = [page for renewal in stale for page in renewal.pages]
    left += [page for rewrite in rewrites for page in rewrite.pages]
    bare = _select_unindexed_pages(left, model.name)
    turns = load_page_turns([*some, *leavers, *bare])
    return PlacementWork(
        job=job,
        space=space,
        engine=select_engine(Tenant.objects.get(id=job.tenant_id), policy),
        embedder=model,
        effective=effective,
        turns=turns,
        threads=chains.load_threads(some, job.payload.get("continues", {})),
        rewrites=rewrites,
        leavers=_build_leaving_pages(leavers, turns),
        held=themes.load_reachable_segments(space, model.name) if leavers else [],
        renewals=stale,
        unindexed_pages=bare,
        more=len(unchained) > len(some) or len(gone) > len(leavers),
    )


def _list_unread_turns(space: Space) -> list[tuple[UUID, int, str]]:
    """(session, seq, state) of turns that are not read: few, whatever the space holds."""
    states = (Turn.State.PENDING, Turn.State.FAILED)
    rows = Turn.objects.filter(space=space, state__in=states)
    return list(rows.values_list("session_id", "seq", "state"))


def _find_page_state(page: Page, waiting: Sequence[tuple[UUID, int, str]]) -> PageReadState:
    states = {
        state
        for session, seq, state in waiting
        if session == page.session_id and page.first_seq <= seq <= page.last_seq
    }
    if Turn.State.PENDING in states:
        return PageReadState.PENDING
    return PageReadState.FAILED if states else PageReadState.READ


def _load_unchained_pages(space: Space, waiting: Sequence[tuple[UUID, int, str]]) -> list[Page]:
    """Pages that were read and have no chain, in the order of time."""
    rows = Page.objects.filter(space=space, chain=None, retired_at=None).order_by("first_seq")
    return [page for page in rows if _find_page_state(page, waiting) is PageReadState.READ]


def _select_leaving_pages(
    space: Space, waiting: Sequence[tuple[UUID, int, str]], policy: Policy
) -> list[Page]:
    rows = Page.objects.filter(space=space, tier=Page.Tier.SHORT, retired_at=None)
    short = list(rows.order_by("first_seq"))
    places = select_leaving_pages(
        [_find_page_state(page, waiting) for page in short], policy.stm.pages
    )
    return [short[place] for place in places]


def _build_leaving_pages(pages: Sequence[Page], turns: PageTurns) -> list[themes.LeavingPage]:
    told = [page for page in pages if turns.get(page.id)]
    return [
        themes.LeavingPage(page, passage)
        for page, passage in zip(told, load_passages(told, turns), strict=True)
    ]


def _load_stale_segments(space: Space, job: Job) -> list[themes.SegmentRenewal]:
    """Segments that lost pages, with those that are left (spec §11.9)."""
    asked = Q(stale=True) | Q(id__in=job.payload.get("refresh", []))
    segments = list(Segment.objects.filter(asked, space=space, retired_at=None))
    pages = membership.load_segment_pages(segments)
    turns = load_page_turns([page for left in pages.values() for page in left])
    found = []
    for segment in segments:
        left = [page for page in pages.get(segment.id, []) if turns.get(page.id)]
        found.append(themes.SegmentRenewal(segment, left, load_passages(left, turns)))
    return found


def _select_unindexed_pages(pages: Sequence[Page], model: str) -> list[Page]:
    """Those in segments that are not indexed."""
    placed = {page.id: page for page in pages if page.tier == Page.Tier.MID}
    entries = IndexEntry.objects.filter(
        kind=IndexEntry.Kind.PAGE, model=model, owner_id__in=list(placed)
    )
    known = set(entries.values_list("owner_id", flat=True))
    return [page for page_id, page in placed.items() if page_id not in known]


def ask_models(work: PlacementWork) -> None:
    """Ask the models. Nothing is open. Raises EngineError."""
    policy = work.policy
    combine = policy.llm.combine_calls
    chains.judge_threads(work.engine, work.threads, combine=combine)
    chains.summarise_rewrites(work.engine, work.rewrites, combine=combine)
    if policy.segments.enabled:
        # Rules cost nothing a call, and one page has one theme: that sorts best.
        a_call = 1 if work.engine.name == LOCAL_ENGINE else policy.derive.batch_exchanges
        themed = themes.find_themes(work.engine, work.leavers, a_call)
        work.joinings = themes.join_segments(
            work.space, themed, work.held, work.embedder, policy.segments.theta
        )
        themes.rewrite_segment_texts(work.engine, work.joinings, work.renewals, policy)
    work.entries = _build_entries(work)
    if work.entries:
        work.vectors = indexer.embed_entries(work.entries, work.embedder)


def _build_entries(work: PlacementWork) -> list[indexer.EntryDraft]:
    reworded = (each for each in work.joinings if not each.segment.is_protected)
    texts = [(each.segment.id, each.text) for each in reworded]
    texts += [(each.segment.id, each.text) for each in work.renewals if each.text]
    placed = [*(each.page for each in work.leavers), *work.unindexed_pages]
    pages = [(page, work.turns[page.id]) for page in placed]
    return [
        *(indexer.build_segment_entry(owner, text.text, text.keywords) for owner, text in texts),
        *indexer.build_page_entries(pages, work.space.speakers, zone=ZoneInfo(work.space.timezone)),
    ]


def write_placement(work: PlacementWork, now: datetime) -> JobResult:
    """One event for what moved, one for what went cold. Returns how many of each."""
    changes = _build_change_set(work, EvolutionEvent.Kind.PLACE, now, "the conversation went on")
    _check_pages_unchanged(work)
    unit = UnitOfWork.from_change_set(changes)
    chained = chains.link_pages(unit, work.threads, work.stamp)
    chains.record_support(unit, work.threads, work.turns)
    chains.write_rewrites(unit, work.rewrites)
    for leaver in work.leavers:
        unit.track_row(leaver.page)
        leaver.page.tier = Page.Tier.MID
        unit.add_support(
            leaver.page, [TurnEvidence(turn.id) for turn in work.turns[leaver.page.id]]
        )
    made = membership.write_memberships(unit, _build_joins(work), work.turns, work.stamp)
    membership.renew_segments(unit, [(r.segment, r.pages, r.text) for r in work.renewals])
    unit.save()
    membership.refresh_last_visits(j.segment for j in work.joinings)
    indexer.write_entries(work.space, work.embedder.name, work.entries, work.vectors)
    archive = _build_change_set(
        work, EvolutionEvent.Kind.ARCHIVE, now, "too many segments in reach"
    )
    cold = tiers.evict_segments(archive, work.policy, now, keep=[segment.id for segment in made])
    return {
        "chains": chained,
        "placed": len(work.leavers),
        "segments": len(made),
        "cold": cold,
    }


def _build_joins(work: PlacementWork) -> list[membership.SegmentJoin]:
    return [
        membership.SegmentJoin(
            each.segment,
            each.is_new,
            each.text.text,
            each.text.keywords,
            [membership.SegmentMember(*member) for member in each.members.values()],
        )
        for each in work.joinings
    ]


def _check_pages_unchanged(work: PlacementWork) -> None:
    """A page that grew since it was read has words nobody has placed (I10)."""
    read = {page.id: page for thread in work.threads for page in thread.pages}
    read |= {leaver.page.id: leaver.page for leaver in work.leavers}
    rows = Page.objects.select_for_update().filter(id__in=list(read)).order_by("id")
    for page_id, last_seq in rows.values_list("id", "last_seq"):
        if read[page_id].last_seq != last_seq:
            raise StaleRead("an exchange went on meanwhile")


def _build_change_set(work: PlacementWork, kind: str, now: datetime, reason: str) -> ChangeSet:
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


def _plan_next_job(work: PlacementWork, now: datetime) -> None:
    queue.plan_step(
        work.space,
        Job.Step.PLACE,
        f"after:{work.job.id}",
        now,
        payload={"continues": work.job.payload.get("continues", {})},
        first_seq=work.job.first_seq,
        last_seq=work.job.last_seq,
    )


def revive_visited_segments(space: Space, policy: Policy, now: datetime) -> datetime | None:
    """A task of the sweep: bring back cold segments that were visited. Opens its own scope.

    Returns when to look again: in a day, as long as there are any.
    """
    with tenant_scope(space.tenant_id):
        tiers.bring_back_segments(space, policy, now)
        cold = Segment.objects.filter(space=space, tier=Segment.Tier.COLD, retired_at=None)
        return now + timedelta(days=1) if cold.exists() else None
