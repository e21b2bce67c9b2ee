"""ReadAgent: a gist of every page is always read, and some pages are looked up (Lee et al., 2024).

Pages and gists are those that `memoryhub.lab.writers.pages` wrote.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memoryhub.dialogues.models import Turn
from memoryhub.engines.types import JudgeEntry
from memoryhub.lab.readers.base import ReaderInputs, ReaderResult, build_item, build_result
from memoryhub.lab.readers.chunks import embed_texts
from memoryhub.recall.render.hydrate import build_turn_source
from memoryhub.recall.render.results import MemoryItem
from memoryhub.tenants.scope import tenant_scope
from notes.episodes.store import build_live_q
from notes.models import Episode


@dataclass(frozen=True, slots=True)
class GistPage:
    """`gist` is "" for what was said after the last pause."""

    gist: str
    turns: Sequence[Turn]

    @property
    def original(self) -> str:
        return "\n".join(f"{turn.speaker}: {turn.text}" for turn in self.turns)

    def build_original_item(self, score: float) -> MemoryItem:
        sources = [build_turn_source(turn) for turn in self.turns]
        return build_item("page", self.original, score, self.turns[0].occurred_at, sources)


class GistReader:
    """Options: at most `look_up` pages are read in full, all named at once or, with `in_turn`, one
    after the other, each chosen in view of those before."""

    def __init__(self, place: ReaderInputs) -> None:
        self._engine, self._embedder = place.engine, place.embedder
        self._most = int(place.options["look_up"])
        self._in_turn = bool(place.options.get("in_turn"))
        with tenant_scope(place.space.tenant_id):
            self._pages, self._rest = _load_pages(place)
        self._vectors = embed_texts([page.gist for page in self._pages], self._embedder)

    def recall(self, question: str, now: datetime) -> ReaderResult:
        """The pages looked up, what has no gist yet, and the gists of all other pages in order."""
        near = self._vectors @ self._embedder.embed([question]).reshape(-1)
        order = sorted(range(len(self._pages)), key=lambda at: (-near[at], at))
        choose = self._choose_in_turn if self._in_turn else self._choose_pages
        wanted = choose(question, order)
        originals = [self._pages[at].build_original_item(float(near[at])) for at in wanted]
        gists = [
            build_item("episode", page.gist, 0.0, page.turns[0].occurred_at)
            for at, page in enumerate(self._pages)
            if at not in wanted
        ]
        last = [self._rest.build_original_item(0.0)] if self._rest.turns else []
        return build_result([*originals, *last, *gists])

    def _choose_pages(self, question: str, order: Sequence[int]) -> list[int]:
        """Whoever answers is shown the gists and names the pages to look up."""
        shown = {f"p{at + 1}": at for at in order}
        entries = [JudgeEntry(handle, self._pages[at].gist) for handle, at in shown.items()]
        judged = self._engine.judge_entries(question, entries) if entries else None
        return [shown[handle] for handle in judged.relevant][: self._most] if judged else []

    def _choose_in_turn(self, question: str, order: Sequence[int]) -> list[int]:
        """Until nothing more is named, or what was looked up is enough."""
        shown = {f"p{at + 1}": at for at in order}
        opened: list[int] = []
        while shown and len(opened) < self._most:
            pages = [(handle, self._pages[at], at in opened) for handle, at in shown.items()]
            judged = self._engine.judge_entries(
                question,
                [
                    JudgeEntry(handle, p.original if is_open else p.gist)
                    for handle, p, is_open in pages
                ],
            )
            wanted = [shown[each] for each in judged.relevant if shown[each] not in opened]
            if not wanted or (opened and judged.enough):
                break
            opened.append(wanted[0])
        return opened


def _load_pages(place: ReaderInputs) -> tuple[list[GistPage], GistPage]:
    """(the pages in order, what no page covers)."""
    said = Turn.objects.filter(space=place.space).select_related("session").order_by("seq")
    turns = list(said)
    rows = Episode.objects.filter(build_live_q(), space=place.space, kind=Episode.Kind.TOPIC)
    pages, covered = list[GistPage](), set[int]()
    for row in rows.order_by("from_seq"):
        mine = [turn for turn in turns if row.from_seq <= turn.seq <= row.to_seq]
        mine = [turn for turn in mine if turn.seq not in covered]
        if mine:
            pages.append(GistPage(row.text, mine))
            covered |= {turn.seq for turn in mine}
    return pages, GistPage("", [turn for turn in turns if turn.seq not in covered])
