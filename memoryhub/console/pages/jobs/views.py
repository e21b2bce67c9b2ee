"""Work done and to be done."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from memoryhub.console.frame import exports
from memoryhub.console.frame.access import EDITOR, action_at, page_at, tenant_page
from memoryhub.console.frame.lists import load_page, read_filters
from memoryhub.console.frame.outcomes import run_and_report
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.pages.jobs import queries
from memoryhub.pipeline.ingest.services import cancel_job, retry_job
from memoryhub.pipeline.jobs.queue import CANCELLABLE_STEPS
from memoryhub.pipeline.models import Job

_JOB_COLUMNS = exports.build_columns(
    "created_at",
    "space.subject",
    "step",
    "lane",
    "state",
    "attempts",
    "first_seq",
    "last_seq",
    "run_after",
    "started_at",
    "finished_at",
    "error",
    "id",
)


@page_at("jobs/", "jobs")
@tenant_page()
def job_list_page(request: ConsoleRequest) -> HttpResponse:
    """For a polling browser only the part that changes."""
    now = timezone.now()
    filters = read_filters(request.GET, (queries.JOB_STATE_CHOICE, *queries.JOB_CHOICES))
    rows = queries.list_jobs(filters, now)
    if form := exports.read_export_format(request):
        return exports.export_rows(form, "jobs", _JOB_COLUMNS, rows)
    counts = queries.count_jobs_by_state(filters, now)
    context = {
        "filters": filters,
        "asked": read_filters(request.GET, queries.JOB_CHOICES),  # the state has tabs
        "page": load_page(rows, filters.page),
        "states": [(name, label, counts[name]) for name, (label, _) in queries.JOB_STATES.items()],
        "open": counts["open"],
        "progress": queries.load_reading_progress(),
        "retryable": Job.RETRYABLE_STATES,
        "now": now,
    }
    if (op := filters["decided"]) != "all":
        context["decided"] = queries.count_decisions_of_kind(rows, op)
    return render(request, "jobs/_list.html" if request.htmx else "jobs/list.html", context)


@page_at("jobs/<uuid:job_id>/", "job")
@tenant_page()
def job_page(request: ConsoleRequest, job_id: UUID) -> HttpResponse:
    found = queries.get_job_or_404(job_id)
    stoppable = found.step in CANCELLABLE_STEPS and found.state in (
        *Job.UNFINISHED_STATES,
        Job.State.DEAD,
    )
    context = {"job": found, "stoppable": stoppable, "retryable": Job.RETRYABLE_STATES}
    context |= {"now": timezone.now(), **queries.load_job_results(found)}
    return render(request, "jobs/job.html", context)


@action_at("jobs/<uuid:job_id>/retry", "job-retry")
@tenant_page(role=EDITOR)
def request_job_retry(request: ConsoleRequest, job_id: UUID) -> HttpResponse:
    return _change_job(request, job_id, retry_job, _("Will be tried again now"), _("Not retried"))


@action_at("jobs/<uuid:job_id>/cancel", "job-cancel")
@tenant_page(role=EDITOR)
def request_job_cancel(request: ConsoleRequest, job_id: UUID) -> HttpResponse:
    actor = request.user.get_username()
    return _change_job(
        request, job_id, lambda at: cancel_job(at, actor), _("Cancelled"), _("Not cancelled")
    )


def _change_job(
    request: ConsoleRequest,
    job_id: UUID,
    work_on: Callable[[UUID], object],
    said: str,
    refused: str,
) -> HttpResponse:
    job = queries.get_job_or_404(job_id)
    what = str(job.get_step_display())
    if job.first_seq:
        turns = {"first": job.first_seq, "last": job.last_seq}
        what = _("turns %(first)s to %(last)s") % turns
    told = _("%(said)s: %(what)s.") % {"said": said, "what": what}
    run_and_report(request, lambda: work_on(job.id), told, refused=refused)
    return redirect("job", job_id) if request.POST.get("from") == "job" else redirect("jobs")
