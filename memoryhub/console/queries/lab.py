"""Runs of the lab, their reports, and what each system made of each question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import (
    Avg,
    CharField,
    Count,
    F,
    FloatField,
    Func,
    IntegerField,
    Min,
    Q,
)
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from django.http import Http404
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from memoryhub.console.listing import Choice, Filters, Page, containing, page_of
from memoryhub.lab.measuring import money, recall
from memoryhub.lab.models import LabOutcome, LabRun
from memoryhub.lab.reports import report_of

STATE = Choice("state", _("State"), (("all", _("Any")), *LabRun.State.choices))
WHENCE = Choice(
    "whence",
    _("From"),
    (
        ("all", _("Anywhere")),
        ("here", _("The console")),
        ("command", _("The command line")),
        ("imported", _("A report file")),
    ),
)
ACTIVE = (LabRun.State.QUEUED, LabRun.State.RUNNING)
_HEAVY = ("report", "environment")
_WHENCE = {
    "here": Q(imported=False) & ~Q(file=""),
    "command": Q(imported=False, file=""),
    "imported": Q(imported=True),
}


def runs(filters: Filters) -> Page[LabRun]:
    """Newest first. Two statements."""
    rows = LabRun.objects.filter(
        containing(filters.q, "dataset__name", "settings__presets", "settings__engine", "actor")
    )
    if filters["state"] != "all":
        rows = rows.filter(state=filters["state"])
    if filters["whence"] != "all":
        rows = rows.filter(_WHENCE[filters["whence"]])
    return page_of(rows.defer(*_HEAVY).order_by("-created_at", "-id"), filters.page)


def run_or_404(run_id: UUID) -> LabRun:
    found: LabRun | None = LabRun.objects.filter(id=run_id).first()
    if found is None:
        raise Http404
    return found


def report(run: LabRun) -> dict[str, Any]:
    """The run's; of one that is not done, as far as it has come."""
    return run.report or report_of(run)


def called(report: Mapping[str, Any]) -> dict[str, str]:
    """What the category numbers ask for."""
    known = {str(c["number"]): c["content"] for c in report["dataset"]["categories"]}
    words = {number: gettext(content) for number, content in known.items()}
    asked = report["dataset"]["used"]["questions"]
    return {number: f"{number} {words.get(number, '')}".strip() for number in asked}


def category_choice(report: Mapping[str, Any]) -> Choice:
    return Choice("category", _("Category"), (("", _("All")), *called(report).items()))


FOUND = Choice(
    "found",
    _("Evidence"),
    (
        ("all", _("Any")),
        ("none", _("Found by no system")),
        ("some", _("Found by some")),
        ("every", _("Found by all")),
    ),
)
_GROUP = ("dialogue", "number", "category", "question", "expected", "unanswerable")
_TURNS = Func(F("evidence"), function="cardinality", output_field=IntegerField())
_SHOWN = Func(
    F("places"),
    template="(SELECT count(*) FROM jsonb_object_keys(%(expressions)s))",
    output_field=IntegerField(),
)
_F1 = Cast(KeyTextTransform("f1", "scores"), FloatField())
_MET = {
    "none": Q(found=0),
    "some": Q(found__gt=0, found__lt=F("systems")),
    "every": Q(found=F("systems")),
}


def questions(run: LabRun, filters: Filters) -> Page[Any]:
    """Each question once, in the order of the data, with how many `systems` were asked, how many
    of them showed all its evidence (`found`), their mean `f1`, and the `id` of an outcome.

    Two statements.
    """
    rows = LabOutcome.objects.filter(run=run).filter(
        containing(filters.q, "question", "expected", "dialogue")
    )
    if filters["category"]:
        rows = rows.filter(category=int(filters["category"]))
    whole = rows.annotate(turns=_TURNS, seen=_SHOWN)
    grouped = (
        whole.order_by()
        .values(*_GROUP, "turns")
        .annotate(
            one=Min(Cast("id", CharField())),
            systems=Count("id"),
            found=Count("id", filter=Q(seen=F("turns"))),
            f1=Avg(_F1),
        )
    )
    if filters["found"] != "all":
        grouped = grouped.filter(_MET[filters["found"]], turns__gt=0, unanswerable=False)
    return page_of(grouped.order_by("dialogue", "number"), filters.page)


@dataclass(frozen=True, slots=True)
class Given:
    """What one system made of a question. `recall` is None where there is no evidence."""

    outcome: LabOutcome
    title: str
    recall: float | None
    calls: int
    money: float

    @property
    def missed(self) -> list[str]:
        return [ref for ref in self.outcome.evidence if ref not in self.outcome.places]


def outcome_or_404(run: LabRun, outcome_id: UUID) -> LabOutcome:
    found: LabOutcome | None = LabOutcome.objects.filter(run=run, id=outcome_id).first()
    if found is None:
        raise Http404
    return found


def given(run: LabRun, asked: LabOutcome) -> list[Given]:
    """What every system made of the same question, in the order of the run."""
    rows = LabOutcome.objects.filter(run=run, dialogue=asked.dialogue, number=asked.number)
    titles = {system["name"]: system["title"] for system in run.systems}
    order = list(titles)
    found = sorted(rows, key=lambda row: order.index(row.system))
    return [_given(row, titles[row.system]) for row in found]


def _given(row: LabOutcome, title: str) -> Given:
    evident = bool(row.evidence) and not row.unanswerable
    calls = sum(int(each["calls"]) for each in row.calls.values())
    return Given(row, title, recall(row) if evident else None, calls, money(row.calls))


def neighbours(run: LabRun, asked: LabOutcome) -> tuple[UUID | None, UUID | None]:
    """Outcomes of the question before and the one after it, by the same system."""
    rows = LabOutcome.objects.filter(run=run, system=asked.system)
    before = Q(dialogue__lt=asked.dialogue) | Q(dialogue=asked.dialogue, number__lt=asked.number)
    after = Q(dialogue__gt=asked.dialogue) | Q(dialogue=asked.dialogue, number__gt=asked.number)
    ids = rows.values_list("id", flat=True)
    return (
        ids.filter(before).order_by("-dialogue", "-number").first(),
        ids.filter(after).order_by("dialogue", "number").first(),
    )
