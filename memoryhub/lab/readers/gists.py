"""ReadAgent: a gist of every page is always read, and some pages are looked up (Lee et al., 2024).

Pages are the hub's topic episodes, which end at natural pauses; gists are their texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memoryhub.dialogues.models import Turn
from memoryhub.engines.types import Entry
from memoryhub.lab.readers.base import Handed, Place, handed, made_up
from memoryhub.lab.readers.chunks import vector_of
from memoryhub.recall.hydration import source_of
from memoryhub.recall.results import Item
from memoryhub.tenants.scope import tenant_scope
from notes.episodes import live
from notes.models import Episode


@dataclass(frozen=True, slots=True)
class Page:
    """`gist` is "" for what was said after the last pause."""

    gist: str
    turns: Sequence[Turn]

    def original(self, score: float) -> Item:
        text = "\n".join(f"{turn.speaker}: {turn.text}" for turn in self.turns)
        sources = [source_of(turn) for turn in self.turns]
        return made_up("page", text, score, self.turns[0].occurred_at, sources)

    def brief(self) -> Item:
        return made_up("episode", self.gist, 0.0, self.turns[0].occurred_at)


class GistReader:
    """Option: at most `look_up` pages are read in full."""

    def __init__(self, place: Place) -> None:
        self._engine, self._embedder = place.engine, place.embedder
        self._most = int(place.options["look_up"])
        with tenant_scope(place.space.tenant_id):
            self._pages, self._rest = _pages(place)
        self._vectors = vector_of([page.gist for page in self._pages], self._embedder)

    def recall(self, question: str, now: datetime) -> Handed:
        """The pages looked up, what has no gist yet, and the gists of all other pages in order."""
        near = self._vectors @ self._embedder.embed([question]).reshape(-1)
        order = sorted(range(len(self._pages)), key=lambda at: (-near[at], at))
        wanted = self._looked_up(question, order)
        originals = [self._pages[at].original(float(near[at])) for at in wanted]
        gists = [page.brief() for at, page in enumerate(self._pages) if at not in wanted]
        last = [self._rest.original(0.0)] if self._rest.turns else []
        return handed([*originals, *last, *gists])

    def _looked_up(self, question: str, order: Sequence[int]) -> list[int]:
        """Whoever answers is shown the gists and names the pages to look up."""
        shown = {f"p{at + 1}": at for at in order}
        entries = [Entry(handle, self._pages[at].gist) for handle, at in shown.items()]
        judged = self._engine.judge(question, entries) if entries else None
        return [shown[handle] for handle in judged.relevant][: self._most] if judged else []


def _pages(place: Place) -> tuple[list[Page], Page]:
    """(the pages in order, what no page covers)."""
    said = Turn.objects.filter(space=place.space).select_related("session").order_by("seq")
    turns = list(said)
    rows = Episode.objects.filter(live(), space=place.space, kind=Episode.Kind.TOPIC)
    pages, covered = list[Page](), set[int]()
    for row in rows.order_by("from_seq"):
        mine = [turn for turn in turns if row.from_seq <= turn.seq <= row.to_seq]
        mine = [turn for turn in mine if turn.seq not in covered]
        if mine:
            pages.append(Page(row.text, mine))
            covered |= {turn.seq for turn in mine}
    return pages, Page("", [turn for turn in turns if turn.seq not in covered])
