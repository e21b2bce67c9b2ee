"""Runs of the lab, their reports, and what each system made of each question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Avg, CharField, Count, F, FloatField, Func, IntegerField, Min, Q
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from memoryhub.console.frame.lists import (
    FilterChoice,
    Filters,
    ListPage,
    build_text_condition,
    load_page,
)
from memoryhub.lab.metrics.aggregate import compute_recall, sum_money
from memoryhub.lab.models import LabOutcome, LabRun
from memoryhub.lab.reports.build import load_report

LAB_STATE_CHOICE = FilterChoice("state", _("State"), (("all", _("Any")), *LabRun.State.choices))
LAB_ORIGIN_CHOICE = FilterChoice(
    "whence",
    _("From"),
    (
        ("all", _("Anywhere")),
        ("here", _("The console")),
        ("command", _("The command line")),
        ("imported", _("A report file")),
    ),
)
_ORIGIN_CONDITIONS = {
    "here": Q(imported=False) & ~Q(file=""),
    "command": Q(imported=False, file=""),
    "imported": Q(imported=True),
}


def load_lab_runs(filters: Filters) -> ListPage[LabRun]:
    """Newest first. Two statements."""
    columns = ("dataset__name", "settings__presets", "settings__engine", "actor")
    rows = LabRun.objects.filter(
        build_text_condition(filters.q, *columns),
        _ORIGIN_CONDITIONS.get(filters["whence"], Q()),
        **filters.chosen_values("state"),
    )
    rows = rows.defer("report", "environment").order_by("-created_at", "-id")
    return load_page(rows, filters.page)


def get_lab_run_or_404(run_id: UUID) -> LabRun:
    return get_object_or_404(LabRun.objects.filter(id=run_id))


def load_lab_report(run: LabRun) -> dict[str, Any]:
    """The run's; of one that is not done, as far as it has come."""
    return run.report or load_report(run)


def list_category_names(report: Mapping[str, Any]) -> dict[str, str]:
    """What the category numbers ask for."""
    known = {str(c["number"]): c["content"] for c in report["dataset"]["categories"]}
    words = {number: gettext(content) for number, content in known.items()}
    asked = report["dataset"]["used"]["questions"]
    return {number: f"{number} {words.get(number, '')}".strip() for number in asked}


def build_category_choice(report: Mapping[str, Any]) -> FilterChoice:
    return FilterChoice(
        "category", _("Category"), (("", _("All")), *list_category_names(report).items())
    )


LAB_FOUND_CHOICE = FilterChoice(
    "found",
    _("Evidence"),
    (
        ("all", _("Any")),
        ("none", _("Found by no system")),
        ("some", _("Found by some")),
        ("every", _("Found by all")),
    ),
)
_QUESTION_COLUMNS = ("dialogue", "number", "category", "question", "expected", "unanswerable")
_EVIDENCE_COUNT = Func(F("evidence"), function="cardinality", output_field=IntegerField())
_PLACE_COUNT = Func(
    F("places"),
    template="(SELECT count(*) FROM jsonb_object_keys(%(expressions)s))",
    output_field=IntegerField(),
)
_F1_SCORE = Cast(KeyTextTransform("f1", "scores"), FloatField())
_FOUND_CONDITIONS = {
    "none": Q(found=0),
    "some": Q(found__gt=0, found__lt=F("systems")),
    "every": Q(found=F("systems")),
}


def load_lab_questions(run: LabRun, filters: Filters) -> ListPage[Any]:
    """Each question once, in the order of the data, with how many `systems` were asked, how many
    of them showed all its evidence (`found`), their mean `f1`, and the `id` of an outcome.

    Two statements.
    """
    rows = LabOutcome.objects.filter(run=run).filter(
        build_text_condition(filters.q, "question", "expected", "dialogue")
    )
    if filters["category"]:
        rows = rows.filter(category=int(filters["category"]))
    whole = rows.annotate(turns=_EVIDENCE_COUNT, seen=_PLACE_COUNT).order_by()
    grouped = whole.values(*_QUESTION_COLUMNS, "turns").annotate(
        one=Min(Cast("id", CharField())),
        systems=Count("id"),
        found=Count("id", filter=Q(seen=F("turns"))),
        f1=Avg(_F1_SCORE),
    )
    if fits := _FOUND_CONDITIONS.get(filters["found"]):
        grouped = grouped.filter(fits, turns__gt=0, unanswerable=False)
    return load_page(grouped.order_by("dialogue", "number"), filters.page)


@dataclass(frozen=True, slots=True)
class SystemOutcome:
    """What one system made of a question. `recall` is None where there is no evidence."""

    outcome: LabOutcome
    title: str
    recall: float | None
    calls: int
    money: float

    @property
    def missed_evidence(self) -> list[str]:
        return [ref for ref in self.outcome.evidence if ref not in self.outcome.places]


def get_outcome_or_404(run: LabRun, outcome_id: UUID) -> LabOutcome:
    return get_object_or_404(LabOutcome.objects.filter(run=run, id=outcome_id))


def load_system_outcomes(run: LabRun, asked: LabOutcome) -> list[SystemOutcome]:
    """What every system made of the same question, in the order of the run."""
    rows = LabOutcome.objects.filter(run=run, dialogue=asked.dialogue, number=asked.number)
    titles = {system["name"]: system["title"] for system in run.systems}
    order = list(titles)
    found = sorted(rows, key=lambda row: order.index(row.system))
    outcomes = []
    for row in found:
        recall = compute_recall(row) if row.evidence and not row.unanswerable else None
        calls = sum(int(each["calls"]) for each in row.calls.values())
        money = sum_money(row.calls)
        outcomes.append(SystemOutcome(row, titles[row.system], recall, calls, money))
    return outcomes


def find_adjacent_outcomes(run: LabRun, asked: LabOutcome) -> tuple[UUID | None, UUID | None]:
    """Outcomes of the question before and the one after it, by the same system."""
    rows = LabOutcome.objects.filter(run=run, system=asked.system)
    before = Q(dialogue__lt=asked.dialogue) | Q(dialogue=asked.dialogue, number__lt=asked.number)
    after = Q(dialogue__gt=asked.dialogue) | Q(dialogue=asked.dialogue, number__gt=asked.number)
    ids = rows.values_list("id", flat=True)
    return (
        ids.filter(before).order_by("-dialogue", "-number").first(),
        ids.filter(after).order_by("dialogue", "number").first(),
    )
