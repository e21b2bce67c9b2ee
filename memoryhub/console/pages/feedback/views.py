"""What was said of memories: a list of the activity."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from memoryhub.console.frame import day_ranges, exports
from memoryhub.console.frame.access import page_at, tenant_page
from memoryhub.console.frame.lists import (
    FilterChoice,
    Filters,
    ListPage,
    build_text_condition,
    load_page,
    read_filters,
)
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.pages.recalls.views import load_memory_items
from notes.models import Feedback

UNFIT_CONDITION = ~Q(verdict=Feedback.Verdict.POSITIVE)
FEEDBACK_VERDICT_CHOICE = FilterChoice(
    "verdict",
    _("Rating"),
    (("all", _("anything")), ("unfit", _("negative: all but helpful")), *Feedback.Verdict.choices),
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
    unfit = filters["verdict"] == "unfit"
    chosen = UNFIT_CONDITION if unfit else Q(**filters.chosen_values("verdict"))
    return rows.filter(chosen).select_related("space")


def load_feedback_page(rows: QuerySet[Feedback], number: int) -> ListPage[Any]:
    """Each with the memory's text: a query a kind."""
    page = load_page(rows, number)
    said = load_memory_items([(word.row_type, word.row_id) for word in page])
    return page.map(
        lambda word: FeedbackRow(word, said[word.row_id].text if word.row_id in said else "")
    )


_FEEDBACK_COLUMNS = exports.build_columns(
    "created_at space.subject row_type row_id verdict reason actor recall_id id"
)


@page_at("feedback/", "feedback")
@tenant_page()
def feedback_list_page(request: ConsoleRequest) -> HttpResponse:
    filters = read_filters(request.GET, FEEDBACK_CHOICES)
    rows = list_feedback(filters, timezone.now())
    if form := exports.read_export_format(request):
        return exports.export_rows(form, "feedback", _FEEDBACK_COLUMNS, rows)
    context = {"filters": filters, "page": load_feedback_page(rows, filters.page)}
    return render(request, "feedback/list.html", context)
