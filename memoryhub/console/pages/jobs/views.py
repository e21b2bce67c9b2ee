"""Work done and to be done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from django.db.models import Count, Func, IntegerField, Q, QuerySet, Sum, Value
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from memoryhub.console.frame import day_ranges, exports
from memoryhub.console.frame.access import EDITOR, action_at, page_at, tenant_page
from memoryhub.console.frame.forms import run_and_report
from memoryhub.console.frame.lists import (
    FilterChoice,
    Filters,
    build_text_condition,
    load_page,
    read_filters,
)
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.text import wording
from memoryhub.dialogues.models import Turn
from memoryhub.inference.models import ModelCall
from memoryhub.pipeline.ingest.services import cancel_job, retry_job
from memoryhub.pipeline.jobs.queue import CANCELLABLE_STEPS
from memoryhub.pipeline.models import Job
from memoryhub.tenants.models import Space
from notes.models import EvolutionEvent

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


JOB_STATES: dict[str, tuple[StrOrPromise, tuple[str, ...]]] = {
    "all": (_("All"), tuple(Job.State.values)),
    "open": (_("Unfinished"), Job.UNFINISHED_STATES),
    "running": (_("Running"), (Job.State.RUNNING,)),
    "retry": (_("Failed, will be retried"), (Job.State.RETRY,)),
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


def count_jobs_by_state(jobs: QuerySet[Job]) -> dict[str, int]:
    """Per entry of STATES. One statement."""
    counts = {
        name: Count("pk", filter=Q(state__in=states)) for name, (_, states) in JOB_STATES.items()
    }
    found: dict[str, int] = jobs.order_by().aggregate(**counts)
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
        **filters.chosen_values("step"),
    )
    if filters["decided"] != "all":
        rows = rows.filter(result__decisions__contains=[{"op": filters["decided"]}])
    return rows


def load_reading_progress(most: int = 10) -> list[ReadingProgress]:
    """Spaces with turns still to be read, most of them first. Two statements."""
    pending = Turn.objects.filter(state=Turn.State.PENDING).order_by().values("space")
    counted = pending.annotate(n=Count("pk")).order_by("-n", "space")[:most]
    waiting = {row["space"]: row["n"] for row in counted}
    spaces = Space.objects.in_bulk(list(waiting))
    return [ReadingProgress(spaces[i], spaces[i].next_seq - 1, n) for i, n in waiting.items()]


def get_job_or_404(job_id: UUID) -> Job:
    return get_object_or_404(Job.objects.filter(id=job_id).select_related("space"))


_JOB_COLUMNS = exports.build_columns(
    "created_at space.subject step lane state attempts first_seq last_seq run_after "
    "started_at finished_at error id"
)


@page_at("jobs/", "jobs")
@tenant_page()
def job_list_page(request: ConsoleRequest) -> HttpResponse:
    """For a polling browser only the part that changes."""
    now = timezone.now()
    filters = read_filters(request.GET, (JOB_STATE_CHOICE, *JOB_CHOICES))
    every = _filter_jobs(filters, now)
    rows = every.filter(state__in=JOB_STATES[filters["state"]][1]).select_related("space")
    rows = rows.order_by("-created_at", "-first_seq", "-id")
    if form := exports.read_export_format(request):
        return exports.export_rows(form, "jobs", _JOB_COLUMNS, rows)
    counts = count_jobs_by_state(every)
    context = {
        "filters": filters,
        "asked": read_filters(request.GET, JOB_CHOICES),  # the state has tabs
        "page": load_page(rows, filters.page),
        "states": [(name, label, counts[name]) for name, (label, _) in JOB_STATES.items()],
        "open": counts["open"],
        "progress": load_reading_progress(),
        "retryable": Job.RETRYABLE_STATES,
        "now": now,
    }
    if (op := filters["decided"]) != "all":
        context["decided"] = count_decisions_of_kind(rows, op)
    return render(request, "jobs/_list.html" if request.htmx else "jobs/list.html", context)


@page_at("jobs/<uuid:job_id>/", "job")
@tenant_page()
def job_page(request: ConsoleRequest, job_id: UUID) -> HttpResponse:
    found = get_job_or_404(job_id)
    open_states = (*Job.UNFINISHED_STATES, Job.State.DEAD)
    calls = ModelCall.objects.filter(space=found.space, job_id=job_id).defer("input", "output")
    events = EvolutionEvent.objects.filter(space=found.space, job_id=job_id)
    context = {
        "job": found,
        "stoppable": found.step in CANCELLABLE_STEPS and found.state in open_states,
        "retryable": Job.RETRYABLE_STATES,
        "now": timezone.now(),
        "calls": list(calls[:MAX_JOB_RESULTS]),
        "events": list(events[:MAX_JOB_RESULTS]),
    }
    return render(request, "jobs/job.html", context)


@action_at("jobs/<uuid:job_id>/retry", "job-retry")
@tenant_page(role=EDITOR)
def request_job_retry(request: ConsoleRequest, job_id: UUID) -> HttpResponse:
    return _change_job(
        request, job_id, retry_job, gettext("Queued for another attempt"), gettext("Not retried")
    )


@action_at("jobs/<uuid:job_id>/cancel", "job-cancel")
@tenant_page(role=EDITOR)
def request_job_cancel(request: ConsoleRequest, job_id: UUID) -> HttpResponse:
    return _change_job(
        request,
        job_id,
        lambda at: cancel_job(at, request.actor),
        gettext("Cancelled"),
        gettext("Not cancelled"),
    )


def _change_job(
    request: ConsoleRequest,
    job_id: UUID,
    work_on: Callable[[UUID], object],
    said: str,
    refused: str,
) -> HttpResponse:
    job = get_job_or_404(job_id)
    what = str(job.get_step_display())
    if job.first_seq:
        turns = {"first": job.first_seq, "last": job.last_seq}
        what = gettext("turns %(first)s to %(last)s") % turns
    told = gettext("%(said)s: %(what)s.") % {"said": said, "what": what}
    run_and_report(request, lambda: work_on(job.id), told, refused=refused)
    return redirect("job", job_id) if request.POST.get("from") == "job" else redirect("jobs")
