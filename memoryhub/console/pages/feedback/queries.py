"""What people and callers said of memories, of all spaces."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from memoryhub.console.frame import day_ranges
from memoryhub.console.frame.lists import (
    FilterChoice,
    Filters,
    ListPage,
    build_text_condition,
    load_page,
)
from memoryhub.console.pages.recalls.queries import load_memory_items
from notes.models import Feedback

UNFIT_CONDITION = ~Q(verdict=Feedback.Verdict.POSITIVE)
FEEDBACK_VERDICT_CHOICE = FilterChoice(
    "verdict",
    _("Called"),
    (("all", _("anything")), ("unfit", _("unfit: all but helpful")), *Feedback.Verdict.choices),
)
FEEDBACK_CHOICES = (day_ranges.KEPT_DAYS_CHOICE, FEEDBACK_VERDICT_CHOICE)
# Kinds whose rows have a page of their own.
_FEEDBACK_KINDS_WITH_PAGE = ("fact", "note", "turn", "episode")


@dataclass(frozen=True, slots=True)
class FeedbackRow:
    """A word on a memory; `text` is what the memory says, "" when it is gone."""

    word: Feedback
    text: str

    @property
    def address(self) -> str:
        """The memory's page; "" where it has none."""
        if not self.text or self.word.row_type not in _FEEDBACK_KINDS_WITH_PAGE:
            return ""
        return reverse(f"space-{self.word.row_type}", args=[self.word.space_id, self.word.row_id])


def list_feedback(filters: Filters, now: datetime) -> QuerySet[Feedback]:
    """Newest first."""
    rows: QuerySet[Feedback] = Feedback.objects.filter(
        day_ranges.build_range_condition(filters["days"], "created_at", now),
        build_text_condition(filters.q, "reason", "actor", "space__subject", "space__name"),
    )
    if filters["verdict"] == "unfit":
        rows = rows.filter(UNFIT_CONDITION)
    elif filters["verdict"] != "all":
        rows = rows.filter(verdict=filters["verdict"])
    return rows.select_related("space")


def load_feedback_page(rows: QuerySet[Feedback], number: int) -> ListPage[Any]:
    """Each with the memory's text: a query a kind."""
    page = load_page(rows, number)
    said = load_memory_items([(word.row_type, word.row_id) for word in page])
    return page.map(
        lambda word: FeedbackRow(word, said[word.row_id].text if word.row_id in said else "")
    )
