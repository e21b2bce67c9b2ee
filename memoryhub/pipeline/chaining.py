"""Chains of pages, as a part of the PLACE step: which go on from which, and what they sum up to.

Where reading an exchange has told already whether it goes on (one call for everything), no model
is asked: its claims are summed up by rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import Q

from memoryhub.engines.local.segments import summaries_so_far
from memoryhub.engines.types import ChainJudgement, Engine, Passage
from memoryhub.pipeline.passages import passages_of
from memoryhub.tenants.models import Space
from notes.chains import joined, runs
from notes.models import Chain, Page, Proposal
from notes.paging import Turns, turns_of
from notes.proposals import propose
from notes.recording import Source
from notes.unit import Unit

# Exchanges a model judges in one call.
A_CALL = 10
_OPENING = 200
Known = Mapping[str, bool]


@dataclass
class Thread:
    """Consecutive pages of a session without a chain, and the one before them, if any."""

    pages: list[Page]
    passages: list[Passage]
    previous: Page | None = None
    before: Passage | None = None
    known: tuple[bool | None, ...] = ()
    judged: ChainJudgement = field(default_factory=lambda: ChainJudgement((), ()))

    @property
    def chain(self) -> Chain | None:
        return self.previous.chain if self.previous else None

    @property
    def summary(self) -> str:
        return self.chain.summary if self.chain else ""


@dataclass
class Rewrite:
    """A chain that lost its words with an erased page, and the pages that remain of it."""

    chain: Chain
    pages: list[Page]
    passages: list[Passage]
    summary: str = ""


def threads_of(pages: Sequence[Page], known: Known) -> list[Thread]:
    """The pages by session, each with the chained page before. Call inside the tenant's scope."""
    last = _last_chained(pages)
    both = [*pages, *last.values()]
    passages = _by_page(both, turns_of(both))
    threads: dict[UUID, Thread] = {}
    for page in (page for page in pages if page.id in passages):
        thread = threads.setdefault(page.session_id, Thread([], []))
        thread.pages.append(page)
        thread.passages.append(passages[page.id])
    for session_id, thread in threads.items():
        previous = last.get(session_id)
        if previous and previous.first_seq < thread.pages[0].first_seq:
            thread.previous, thread.before = previous, passages.get(previous.id)
        thread.known = tuple(known.get(str(page.id)) for page in thread.pages)
    return list(threads.values())


def _last_chained(pages: Iterable[Page]) -> dict[UUID, Page]:
    rows = Page.objects.filter(
        session_id__in={page.session_id for page in pages}, chain__retired_at=None
    ).exclude(chain=None)
    newest = rows.order_by("session_id", "-first_seq").distinct("session_id")
    return {page.session_id: page for page in newest.select_related("chain")}


def _by_page(pages: Sequence[Page], turns: Turns) -> dict[UUID, Passage]:
    kept = [page for page in pages if turns.get(page.id)]
    return {page.id: p for page, p in zip(kept, passages_of(kept, turns), strict=True)}


def rewrites_of(space: Space, chain_ids: Sequence[str] = ()) -> list[Rewrite]:
    """Those named, and all without a summary: erasing empties it, nothing else leaves it so.

    Call inside the tenant's scope.
    """
    wanted = Q(summary="") | Q(id__in=chain_ids)
    chains = list(Chain.objects.filter(wanted, space=space, retired_at=None))
    pages = Page.objects.filter(chain__in=chains, retired_at=None).order_by("chain_pos")
    by_chain: dict[UUID | None, list[Page]] = {}
    for page in pages:
        by_chain.setdefault(page.chain_id, []).append(page)
    passages = _by_page(list(pages), turns_of(list(pages)))
    found = []
    for chain in chains:
        left = [page for page in by_chain.get(chain.id, []) if page.id in passages]
        found.append(Rewrite(chain, left, [passages[page.id] for page in left]))
    return found


def judge(engine: Engine, threads: Iterable[Thread], *, combine: bool) -> None:
    """Ask which pages go on, a call for every ten pages of a session. Nothing is open."""
    for thread in threads:
        thread.judged = (
            _as_known(thread) if combine and _is_known(thread) else _asked(engine, thread)
        )


def _is_known(thread: Thread) -> bool:
    """The first page of a session goes on from nothing, whatever was said of it."""
    first = 0 if thread.previous else 1
    return None not in thread.known[first:]


def _as_known(thread: Thread) -> ChainJudgement:
    flags = tuple(bool(flag) for flag in thread.known)
    return ChainJudgement(flags, summaries_so_far(thread.passages, flags, thread.summary))


def _asked(engine: Engine, thread: Thread) -> ChainJudgement:
    before, summary = thread.before, thread.summary
    parts = []
    for at in range(0, len(thread.passages), A_CALL):
        some = thread.passages[at : at + A_CALL]
        parts.append(engine.chain(some, before, summary))
        before, summary = some[-1], runs(parts[-1], has_previous=True)[-1].summary or summary
    return joined(parts)


def sum_up(engine: Engine, rewrites: Iterable[Rewrite], *, combine: bool) -> None:
    """Summaries of what remains, from nothing. Nothing is open."""
    for rewrite in (each for each in rewrites if each.passages):
        passages = rewrite.passages[-A_CALL:]
        flags = (False, *(True for _ in passages[1:]))
        said = summaries_so_far(passages, flags) if combine else engine.chain(passages).summaries
        rewrite.summary = next((text for text in reversed(said) if text), _opening(passages[-1]))


def _opening(page: Passage) -> str:
    """Of what says nothing that could be summed up: how it begins."""
    return page.text[:_OPENING]


def link(unit: Unit, threads: Iterable[Thread], stamp: str) -> int:
    """Put the pages into their chains. Returns how many chains are new."""
    made = 0
    for thread in threads:
        open_chain = thread.chain
        for run in runs(thread.judged, thread.previous is not None):
            extends = run.extends and open_chain is not None
            if open_chain is not None and not extends:
                _close(unit, open_chain)
            if not extends:
                open_chain = _begin(unit, stamp)
                made += 1
            assert open_chain is not None
            summary = run.summary or open_chain.summary or _opening(thread.passages[run.places[-1]])
            _extend(unit, open_chain, [thread.pages[place] for place in run.places], summary)
    return made


def _begin(unit: Unit, stamp: str) -> Chain:
    space = unit.changes.space
    chain = Chain(tenant_id=space.tenant_id, space=space, engine=stamp)
    unit.add(chain)
    return chain


def _close(unit: Unit, chain: Chain) -> None:
    if chain.open:
        unit.touch(chain)
        chain.open = False


def _extend(unit: Unit, chain: Chain, pages: Sequence[Page], summary: str) -> None:
    unit.touch(chain)
    for page in pages:
        unit.touch(page)
        page.chain, page.chain_pos = chain, chain.page_count
        chain.page_count += 1
    _reword(unit, chain, summary)


def _reword(unit: Unit, chain: Chain, summary: str) -> None:
    """Keep the summary where nothing new was said, or a person's where it was corrected."""
    if not summary or summary == chain.summary:
        return
    if chain.is_protected:
        propose(
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


def rewrite(unit: Unit, rewrites: Iterable[Rewrite]) -> None:
    """Put what remains in place of what was erased; a chain without pages is retired."""
    for each in rewrites:
        unit.touch(each.chain)
        if not each.pages:
            each.chain.retired_at = unit.changes.at
        each.chain.page_count = len(each.pages)
        each.chain.summary = each.summary


def support(unit: Unit, threads: Iterable[Thread], turns: Turns) -> None:
    """Pages and chains rest on the turns they hold (I2)."""
    for thread in threads:
        for page in thread.pages:
            sources = [Source(turn.id) for turn in turns[page.id]]
            unit.support(page, sources)
            unit.support(page.chain, sources)
