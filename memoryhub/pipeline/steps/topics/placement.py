"""Chains, and the way from short-term memory into segments (MemoryOS, spec §8.2, §11.5).

The oldest pages over the queue's length leave it in one transaction, with everything that
follows from it: memberships, summaries, index entries, and what goes cold for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Q

from memoryhub.dialogues.models import Turn
from memoryhub.inference.selection import select_engine
from memoryhub.pipeline.jobs import queue
from memoryhub.pipeline.jobs.step import JobResult, StaleRead, Step
from memoryhub.pipeline.models import Job, Lane
from memoryhub.pipeline.steps import promotion
from memoryhub.pipeline.steps.context import DerivedDialogue, StepContext, load_context
from memoryhub.pipeline.steps.passages import load_passages
from memoryhub.pipeline.steps.topics import chains, themes
from memoryhub.policies.schema import Policy
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.history.change_set import TurnEvidence
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


@dataclass
class PlacementWork:
    """What a job has to do, as read in one short transaction."""

    at: StepContext
    turns: PageTurns
    threads: list[chains.PageThread]
    rewrites: list[chains.ChainRewrite]
    leavers: list[themes.LeavingPage]
    held: list[themes.ReachableSegment]
    renewals: list[themes.SegmentRenewal]
    unindexed_pages: list[Page]  # placed, and not indexed: an erasure took their entries
    more: bool


@dataclass(frozen=True, slots=True)
class Placement:
    """Segments as they are to be; what models say of threads and the like stands on those."""

    joins: list[themes.SegmentDraft]
    index: indexer.EmbeddedEntries


class PlaceStep(Step[PlacementWork, Placement]):
    """Chain and place what is due."""

    name = Job.Step.PLACE
    lane = Lane.PLACING

    def read(self) -> PlacementWork:
        at = load_context(self.job, self.now)
        space, policy, model = at.space, at.policy, at.embedder.name
        waiting = _list_unread_turns(space)
        unchained = _load_unchained_pages(space, waiting) if policy.chain.enabled else []
        gone = _select_leaving_pages(space, waiting, policy) if _moves_pages(policy) else []
        some = unchained[:MAX_PAGES_PER_JOB]
        in_hand = {page.id: page for page in some}  # one object a row, whichever list it is in
        leavers = [in_hand.get(page.id, page) for page in gone[:MAX_PAGES_PER_JOB]]
        stale = _load_stale_segments(space, self.job) if policy.segments.enabled else []
        rewrites = chains.load_rewrites(space, self.job.payload.get("chains", []))
        left = [page for renewal in stale for page in renewal.pages]
        left += [page for rewrite in rewrites for page in rewrite.pages]
        bare = _select_unindexed_pages(left, model)
        turns = load_page_turns([*some, *leavers, *bare])
        told = [page for page in leavers if turns.get(page.id)]
        return PlacementWork(
            at,
            turns,
            threads=chains.load_threads(some, self.job.payload.get("continues", {})),
            rewrites=rewrites,
            leavers=[
                themes.LeavingPage(*each)
                for each in zip(told, load_passages(told, turns), strict=True)
            ],
            held=themes.load_reachable_segments(space, model) if leavers else [],
            renewals=stale,
            unindexed_pages=bare,
            more=len(unchained) > len(some) or len(gone) > len(leavers),
        )

    def ask(self, work: PlacementWork) -> Placement:
        at, policy, engine = work.at, work.at.policy, work.at.engine
        combine = policy.llm.combine_calls
        chains.judge_threads(engine, work.threads, combine=combine)
        chains.summarise_rewrites(engine, work.rewrites, combine=combine)
        joins: list[themes.SegmentDraft] = []
        if policy.segments.enabled:
            # Rules cost nothing a call, and one page has one theme: that sorts best.
            a_call = 1 if engine.reads_by_rules else policy.derive.batch_exchanges
            themed = themes.find_themes(engine, work.leavers, a_call)
            joins = themes.join_segments(at.space, themed, work.held, at.embedder, policy.segments)
            themes.rewrite_segment_texts(engine, joins, work.renewals, policy)
        entries = _build_entries(work, joins)
        vectors = indexer.embed_entries(entries, at.embedder) if entries else None
        return Placement(joins, indexer.EmbeddedEntries(entries, vectors))

    def write(self, work: PlacementWork, answer: Placement) -> JobResult:
        """One event for what moved, one for what went cold."""
        at, index = work.at, answer.index
        changes = at.build_change_set(EvolutionEvent.Kind.PLACE, "the conversation went on")
        _check_pages_unchanged(work)
        unit = UnitOfWork.from_change_set(changes)
        chained = chains.link_pages(unit, work.threads, at.stamp)
        chains.record_support(unit, work.threads, work.turns)
        chains.write_rewrites(unit, work.rewrites)
        for leaver in work.leavers:
            unit.track_row(leaver.page)
            leaver.page.tier = Page.Tier.MID
            unit.add_support(leaver.page, [TurnEvidence(t.id) for t in work.turns[leaver.page.id]])
        made = membership.write_memberships(unit, answer.joins, work.turns, at.stamp)
        membership.renew_segments(unit, [(r.segment, r.pages, r.text) for r in work.renewals])
        unit.save()
        membership.refresh_last_visits(join.segment for join in answer.joins)
        indexer.write_entries(at.space, at.embedder.name, index.entries, index.vectors)
        archive = at.build_change_set(EvolutionEvent.Kind.ARCHIVE, "too many segments in reach")
        kept = [segment.id for segment in made]
        cold = tiers.evict_segments(archive, at.policy, self.now, keep=kept)
        return {"chains": chained, "placed": len(work.leavers), "segments": len(made), "cold": cold}

    def plan(self, work: PlacementWork, answer: Placement) -> None:
        space, key = work.at.space, f"after:{self.job.id}"
        if work.more:
            left = {"continues": self.job.payload.get("continues", {})}
            queue.plan_step(space, self.name, key, self.now, payload=left, seqs=self.job.seqs)
        else:
            promotion.plan_promotion_if_warm(space, work.at.policy, key, self.now)


def schedule(due: DerivedDialogue) -> None:
    """Plan the step. Rules are asked at once; a model when enough waits, or after a pause."""
    if not (due.policy.chain.enabled or _moves_pages(due.policy)):
        return
    known = {str(page): built.continues for page, built in due.constructions.items()}
    known = {page: goes_on for page, goes_on in known.items() if goes_on is not None}
    when = due.now if _can_run_at_once(due) else max(t.received_at for t in due.turns) + TALK_PAUSE
    planned = Job.objects.filter(
        space=due.space, step=Job.Step.PLACE, state__in=Job.WAITING_STATES
    ).first()
    if planned is None:
        key, payload = str(due.job.id), {"continues": known}
        queue.plan_step(due.space, Job.Step.PLACE, key, when, payload=payload, seqs=due.seqs)
        return
    planned.payload["continues"] = planned.payload.get("continues", {}) | known
    planned.last_seq = due.last_seq
    if planned.state == Job.State.QUEUED:
        planned.run_after = min(when, planned.run_after) if _can_run_at_once(due) else when
    planned.save(update_fields=["payload", "last_seq", "run_after"])


def _moves_pages(policy: Policy) -> bool:
    """Without segments, the short-term queue keeps its length where it is a channel."""
    return policy.segments.enabled or "stm" in policy.recall.channels


def _can_run_at_once(due: DerivedDialogue) -> bool:
    if select_engine(due.space.tenant, due.policy).reads_by_rules:
        return True
    queued = Page.objects.filter(space=due.space, tier=Page.Tier.SHORT, retired_at=None).count()
    return queued - due.policy.stm.pages >= due.policy.derive.batch_exchanges


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


def _build_entries(
    work: PlacementWork, joins: Sequence[themes.SegmentDraft]
) -> list[indexer.EntryDraft]:
    reworded = (each for each in joins if not each.segment.is_protected)
    texts = [(each.segment.id, each.text) for each in reworded]
    texts += [(each.segment.id, each.text) for each in work.renewals if each.text]
    placed = [*(each.page for each in work.leavers), *work.unindexed_pages]
    pages = [(page, work.turns[page.id]) for page in placed]
    return [
        *(indexer.build_segment_entry(owner, text.text, text.keywords) for owner, text in texts),
        *indexer.build_page_entries(pages, work.at.space.speakers, zone=work.at.zone),
    ]


def _check_pages_unchanged(work: PlacementWork) -> None:
    """A page that grew since it was read has words nobody has placed (I10)."""
    read = {page.id: page for thread in work.threads for page in thread.pages}
    read |= {leaver.page.id: leaver.page for leaver in work.leavers}
    rows = Page.objects.select_for_update().filter(id__in=list(read)).order_by("id")
    for page_id, last_seq in rows.values_list("id", "last_seq"):
        if read[page_id].last_seq != last_seq:
            raise StaleRead("an exchange went on meanwhile")


def revive_visited_segments(space: Space, policy: Policy, now: datetime) -> datetime | None:
    """A task of the sweep: bring back cold segments that were visited. Opens its own scope.

    Returns when to look again: in a day, as long as there are any.
    """
    with tenant_scope(space.tenant_id):
        tiers.bring_back_segments(space, policy, now)
        cold = Segment.objects.filter(space=space, tier=Segment.Tier.COLD, retired_at=None)
        return now + timedelta(days=1) if cold.exists() else None
