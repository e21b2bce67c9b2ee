"""What people and callers said of memories, of all spaces."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from memoryhub.console import ranges
from memoryhub.console.listing import Choice, Filters, Page, containing, page_of
from memoryhub.console.queries.recalls import words_of
from notes.models import Feedback

UNFIT = ~Q(verdict=Feedback.Verdict.POSITIVE)
VERDICT = Choice(
    "verdict",
    _("Called"),
    (("all", _("anything")), ("unfit", _("unfit: all but helpful")), *Feedback.Verdict.choices),
)
CHOICES = (ranges.KEPT, VERDICT)
# Kinds whose rows have a page of their own.
_WITH_PAGE = ("fact", "note", "turn", "episode")


@dataclass(frozen=True, slots=True)
class Judged:
    """A word on a memory; `text` is what the memory says, "" when it is gone."""

    word: Feedback
    text: str

    @property
    def address(self) -> str:
        """The memory's page; "" where it has none."""
        if not self.text or self.word.row_type not in _WITH_PAGE:
            return ""
        return reverse(f"space-{self.word.row_type}", args=[self.word.space_id, self.word.row_id])


def words(filters: Filters, now: datetime) -> QuerySet[Feedback]:
    """Newest first."""
    rows: QuerySet[Feedback] = Feedback.objects.filter(
        ranges.within(filters["days"], "created_at", now),
        containing(filters.q, "reason", "actor", "space__subject", "space__name"),
    )
    if filters["verdict"] == "unfit":
        rows = rows.filter(UNFIT)
    elif filters["verdict"] != "all":
        rows = rows.filter(verdict=filters["verdict"])
    return rows.select_related("space")


def page_of_words(rows: QuerySet[Feedback], number: int) -> Page[Any]:
    """Each with the memory's text: a query a kind."""
    page = page_of(rows, number)
    said = words_of([(word.row_type, word.row_id) for word in page])
    return page.map(
        lambda word: Judged(word, said[word.row_id].text if word.row_id in said else "")
    )
