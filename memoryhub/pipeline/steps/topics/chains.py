"""Chains of pages, as a part of the PLACE step: which go on from which, and what they sum up to
(MemoryOS, spec §8.2, O12, O19).

A chain is a row of its own, so it outlives the process, and all its pages show the one summary that
it has now.

Where reading an exchange has told already whether it goes on (one call for everything), no model
is asked: its claims are summed up by rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import Q

from memoryhub.engines.local.topics.segments import summarise_chains
from memoryhub.engines.types import ChainJudgement, Engine, Passage
from memoryhub.pipeline.steps.passages import load_passages
from memoryhub.tenants.models import Space
from notes.history.change_set import TurnEvidence
from notes.history.unit_of_work import UnitOfWork
from notes.models import Chain, Page, Proposal
from notes.review.proposals import propose_change
from notes.topics.pages import PageTurns, load_page_turns

# Exchanges a model judges in one call.
PAGES_PER_CALL = 10
_MAX_OPENING_CHARACTERS = 200
KnownContinuations = Mapping[str, bool]


@dataclass
class PageThread:
    """Consecutive pages of a session without a chain, and the one before them, if any."""

    pages: list[Page]
    passages: list[Passage]
    previous: Page | None = None
    before: Passage | None = None
    known: tuple[bool | None, ...] = ()
    judgement: ChainJudgement = field(default_factory=lambda: ChainJudgement((), ()))

    @property
    def chain(self) -> Chain | None:
        return self.previous.chain if self.previous else None

    @property
    def summary(self) -> str:
        return self.chain.summary if self.chain else ""


@dataclass
class ChainRewrite:
    """A chain that lost its words with an erased page, and the pages that remain of it."""

    chain: Chain
    pages: list[Page]
    passages: list[Passage]
    summary: str = ""


@dataclass(frozen=True, slots=True)
class ChainRun:
    """Places of consecutive pages of one chain, and what sums the chain up ("": nothing new).

    `extends`: the first page goes on from the page before all of them.
    """

    places: tuple[int, ...]
    summary: str
    extends: bool


def split_into_runs(judged: ChainJudgement, has_previous: bool) -> list[ChainRun]:
    """The chains that a judgement makes of consecutive pages. What was not judged begins one."""
    found: list[ChainRun] = []
    for place, (continues, summary) in enumerate(
        zip(judged.continues, judged.summaries, strict=True)
    ):
        if place == 0:
            found.append(ChainRun((0,), summary, bool(continues) and has_previous))
        elif continues:
            last = found[-1]
            found[-1] = ChainRun((*last.places, place), summary or last.summary, last.extends)
        else:
            found.append(ChainRun((place,), summary, False))
    return found


def join_judgements(parts: Sequence[ChainJudgement]) -> ChainJudgement:
    """Judgements of parts of one sequence, in order, as one."""
    return ChainJudgement(
        tuple(flag for part in parts for flag in part.continues),
        tuple(summary for part in parts for summary in part.summaries),
    )


def load_threads(pages: Sequence[Page], known: KnownContinuations) -> list[PageThread]:
    """The pages by session, each with the chained page before. Call inside the tenant's scope."""
    last = _load_last_chained(pages)
    both = [*pages, *last.values()]
    passages = _build_passages_by_page(both, load_page_turns(both))
    threads: dict[UUID, PageThread] = {}
    for page in (page for page in pages if page.id in passages):
        thread = threads.setdefault(page.session_id, PageThread([], []))
        thread.pages.append(page)
        thread.passages.append(passages[page.id])
    for session_id, thread in threads.items():
        previous = last.get(session_id)
        if previous and previous.first_seq < thread.pages[0].first_seq:
            thread.previous, thread.before = previous, passages.get(previous.id)
        thread.known = tuple(known.get(str(page.id)) for page in thread.pages)
    return list(threads.values())


def _load_last_chained(pages: Iterable[Page]) -> dict[UUID, Page]:
    rows = Page.objects.filter(
        session_id__in={page.session_id for page in pages}, chain__retired_at=None
    ).exclude(chain=None)
    newest = rows.order_by("session_id", "-first_seq").distinct("session_id")
    return {page.session_id: page for page in newest.select_related("chain")}


def _build_passages_by_page(pages: Sequence[Page], turns: PageTurns) -> dict[UUID, Passage]:
    kept = [page for page in pages if turns.get(page.id)]
    return {page.id: p for page, p in zip(kept, load_passages(kept, turns), strict=True)}


def load_rewrites(space: Space, chain_ids: Sequence[str] = ()) -> list[ChainRewrite]:
    """Those named, and all without a summary: erasing empties it, nothing else leaves it so.

    Call inside the tenant's scope.
    """
    wanted = Q(summary="") | Q(id__in=chain_ids)
    chains = list(Chain.objects.filter(wanted, space=space, retired_at=None))
    pages = Page.objects.filter(chain__in=chains, retired_at=None).order_by("chain_pos")
    by_chain: dict[UUID | None, list[Page]] = {}
    for page in pages:
        by_chain.setdefault(page.chain_id, []).append(page)
    passages = _build_passages_by_page(list(pages), load_page_turns(list(pages)))
    found = []
    for chain in chains:
        left = [page for page in by_chain.get(chain.id, []) if page.id in passages]
        found.append(ChainRewrite(chain, left, [passages[page.id] for page in left]))
    return found


def judge_threads(engine: Engine, threads: Iterable[PageThread], *, combine: bool) -> None:
    """Ask which pages go on, a call for every ten pages of a session. Nothing is open."""
    for thread in threads:
        # The first page of a session goes on from nothing, whatever was said of it.
        first = 0 if thread.previous else 1
        if combine and None not in thread.known[first:]:
            flags = tuple(bool(flag) for flag in thread.known)
            said = summarise_chains(thread.passages, flags, thread.summary)
            thread.judgement = ChainJudgement(flags, said)
        else:
            thread.judgement = _ask_judgement(engine, thread)


def _ask_judgement(engine: Engine, thread: PageThread) -> ChainJudgement:
    before, summary = thread.before, thread.summary
    parts = []
    for at in range(0, len(thread.passages), PAGES_PER_CALL):
        some = thread.passages[at : at + PAGES_PER_CALL]
        parts.append(engine.chain_pages(some, before, summary))
        before, summary = (
            some[-1],
            split_into_runs(parts[-1], has_previous=True)[-1].summary or summary,
        )
    return join_judgements(parts)


def summarise_rewrites(engine: Engine, rewrites: Iterable[ChainRewrite], *, combine: bool) -> None:
    """Summaries of what remains, from nothing. Nothing is open."""
    for rewrite in (each for each in rewrites if each.passages):
        passages = rewrite.passages[-PAGES_PER_CALL:]
        flags = (False, *(True for _ in passages[1:]))
        said = (
            summarise_chains(passages, flags) if combine else engine.chain_pages(passages).summaries
        )
        rewrite.summary = next(
            (text for text in reversed(said) if text), _cut_opening(passages[-1])
        )


def _cut_opening(page: Passage) -> str:
    """Of what says nothing that could be summed up: how it begins."""
    return page.text[:_MAX_OPENING_CHARACTERS]


def link_pages(unit: UnitOfWork, threads: Iterable[PageThread], stamp: str) -> int:
    """Put the pages into their chains. Returns how many chains are new."""
    made = 0
    for thread in threads:
        open_chain = thread.chain
        for run in split_into_runs(thread.judgement, thread.previous is not None):
            extends = run.extends and open_chain is not None
            if open_chain is not None and open_chain.open and not extends:
                unit.track_row(open_chain)
                open_chain.open = False
            if not extends:
                space = unit.changes.space
                open_chain = Chain(tenant_id=space.tenant_id, space=space, engine=stamp)
                made += 1
            assert open_chain is not None
            summary = (
                run.summary or open_chain.summary or _cut_opening(thread.passages[run.places[-1]])
            )
            _extend_chain(unit, open_chain, [thread.pages[place] for place in run.places], summary)
    return made


def _extend_chain(unit: UnitOfWork, chain: Chain, pages: Sequence[Page], summary: str) -> None:
    unit.track_row(chain)
    for page in pages:
        unit.track_row(page)
        page.chain, page.chain_pos = chain, chain.page_count
        chain.page_count += 1
    _update_summary(unit, chain, summary)


def _update_summary(unit: UnitOfWork, chain: Chain, summary: str) -> None:
    """Keep the summary where nothing new was said, or a person's where it was corrected."""
    if not summary or summary == chain.summary:
        return
    if chain.is_protected:
        propose_change(
            unit.changes.space,
            Proposal.Kind.OVERWRITE,
            f"chain:{chain.id}:{chain.version}",
            "the chain went on, and its summary was corrected by hand",
            unit.changes.at,
            payload={"summary": summary},
            row=chain,
        )
        return
    chain.summary = summary


def write_rewrites(unit: UnitOfWork, rewrites: Iterable[ChainRewrite]) -> None:
    """Put what remains in place of what was erased; a chain without pages is retired."""
    for each in rewrites:
        unit.track_row(each.chain)
        if not each.pages:
            each.chain.retired_at = unit.changes.at
        each.chain.page_count = len(each.pages)
        each.chain.summary = each.summary


def record_support(unit: UnitOfWork, threads: Iterable[PageThread], turns: PageTurns) -> None:
    """Pages and chains rest on the turns they hold (I2)."""
    for thread in threads:
        for page in thread.pages:
            sources = [TurnEvidence(turn.id) for turn in turns[page.id]]
            unit.add_support(page, sources)
            unit.add_support(page.chain, sources)
