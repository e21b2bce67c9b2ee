"""Jobs with what they made, and how far reading has come."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import Count, Func, IntegerField, Q, QuerySet, Sum, Value
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext_lazy as _

from memoryhub.console.frame import day_ranges
from memoryhub.console.frame.lists import FilterChoice, Filters, build_text_condition
from memoryhub.console.frame.text import wording
from memoryhub.dialogues.models import Turn
from memoryhub.inference.models import ModelCall
from memoryhub.pipeline.models import Job
from memoryhub.tenants.models import Space
from notes.models import EvolutionEvent

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

JOB_STATES: dict[str, tuple[StrOrPromise, tuple[str, ...]]] = {
    "all": (_("All"), tuple(Job.State.values)),
    "open": (_("Unfinished"), Job.UNFINISHED_STATES),
    "running": (_("Running"), (Job.State.RUNNING,)),
    "retry": (_("Failed, will be tried again"), (Job.State.RETRY,)),
    "dead": (_("Given up"), (Job.State.DEAD,)),
    "done": (_("Done"), (Job.State.DONE,)),
    "cancelled": (_("Cancelled"), (Job.State.CANCELLED,)),
}
JOB_STATE_CHOICE = FilterChoice(
    "state", _("State"), tuple((name, label) for name, (label, _) in JOB_STATES.items())
)
JOB_STEP_CHOICE = FilterChoice("step", _("Step"), (("all", _("any")), *Job.Step.choices))
JOB_DECISION_CHOICE = FilterChoice(
    "decided", _("Decided"), (("all", _("anything")), *wording.DECISION_WORDS.items())
)
# Beside the state, which has tabs.
JOB_CHOICES = (day_ranges.KEPT_DAYS_CHOICE, JOB_STEP_CHOICE, JOB_DECISION_CHOICE)
# Of a job, the calls and the changes that its page shows.
MAX_JOB_RESULTS = 50


@dataclass(frozen=True, slots=True)
class ReadingProgress:
    """How many turns of a space have been read."""

    space: Space
    total: int
    pending: int

    @property
    def read(self) -> int:
        return self.total - self.pending

    @property
    def percent(self) -> int:
        return 100 * self.read // self.total if self.total else 100


def list_jobs(filters: Filters, now: datetime) -> QuerySet[Job]:
    """The latest first."""
    rows = _filter_jobs(filters, now).filter(state__in=JOB_STATES[filters["state"]][1])
    return rows.select_related("space").order_by("-created_at", "-first_seq", "-id")


def count_jobs_by_state(filters: Filters, now: datetime) -> dict[str, int]:
    """Per entry of STATES. One statement."""
    counts = {
        name: Count("pk", filter=Q(state__in=states)) for name, (_, states) in JOB_STATES.items()
    }
    found: dict[str, int] = _filter_jobs(filters, now).order_by().aggregate(**counts)
    return found


def count_decisions_of_kind(jobs: QuerySet[Job], op: str) -> int:
    """How many decisions of this kind, one of DECIDED, were made in them. One statement."""
    kind = Func(Value(f'$.decisions[*] ? (@.op == "{op}")'), template="%(expressions)s::jsonpath")
    made = Func("result", kind, function="jsonb_path_query_array")
    count = Func(made, function="jsonb_array_length", output_field=IntegerField())
    total: int = jobs.order_by().aggregate(n=Sum(count, default=0))["n"]
    return total


def _filter_jobs(filters: Filters, now: datetime) -> QuerySet[Job]:
    rows: QuerySet[Job] = Job.objects.filter(
        day_ranges.build_range_condition(filters["days"], "created_at", now),
        build_text_condition(filters.q, "space__subject", "space__name", "error"),
    )
    if filters["step"] != "all":
        rows = rows.filter(step=filters["step"])
    if filters["decided"] != "all":
        rows = rows.filter(result__decisions__contains=[{"op": filters["decided"]}])
    return rows


def load_job_results(job: Job) -> dict[str, Any]:
    """Its latest calls and changes. Two statements."""
    calls = ModelCall.objects.filter(space=job.space, job_id=job.id).defer("input", "output")
    events = EvolutionEvent.objects.filter(space=job.space, job_id=job.id)
    return {"calls": list(calls[:MAX_JOB_RESULTS]), "events": list(events[:MAX_JOB_RESULTS])}


def load_reading_progress(most: int = 10) -> list[ReadingProgress]:
    """Spaces with turns still to be read, most of them first. Two statements."""
    pending = Turn.objects.filter(state=Turn.State.PENDING).order_by().values("space")
    counted = pending.annotate(n=Count("pk")).order_by("-n", "space")[:most]
    waiting = {row["space"]: row["n"] for row in counted}
    spaces = Space.objects.in_bulk(list(waiting))
    return [ReadingProgress(spaces[i], spaces[i].next_seq - 1, n) for i, n in waiting.items()]


def get_job_or_404(job_id: UUID) -> Job:
    return get_object_or_404(Job.objects.filter(id=job_id).select_related("space"))
