"""Work done and to be done."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from memoryhub.console import exports
from memoryhub.console.access import tenant_page
from memoryhub.console.listing import page_of, read_filters
from memoryhub.console.outcomes import tried
from memoryhub.console.queries import work
from memoryhub.console.requests import ConsoleRequest
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.queue import CANCELLABLE, RETRYABLE, UNFINISHED
from memoryhub.pipeline.services import cancel_job, retry_job
from memoryhub.tenants.models import Membership

_COLUMNS = exports.fields(
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


@tenant_page()
def jobs(request: ConsoleRequest) -> HttpResponse:
    """For a polling browser only the part that changes."""
    now = timezone.now()
    filters = read_filters(request.GET, (work.STATE, *work.CHOICES))
    rows = work.jobs(filters, now)
    if form := exports.wanted(request):
        return exports.download(form, "jobs", _COLUMNS, rows)
    counts = work.job_counts(filters, now)
    context = {
        "filters": filters,
        "asked": read_filters(request.GET, work.CHOICES),  # the state has tabs
        "page": page_of(rows, filters.page),
        "states": [(name, label, counts[name]) for name, (label, _) in work.STATES.items()],
        "open": counts["open"],
        "progress": work.progress(),
        "retryable": RETRYABLE,
        "now": now,
    }
    if (op := filters["decided"]) != "all":
        context["decided"] = work.decided(rows, op)
    return render(request, "parts/jobs_live.html" if request.htmx else "jobs.html", context)


@tenant_page()
def job(request: ConsoleRequest, job_id: UUID) -> HttpResponse:
    found = work.job_or_404(job_id)
    stoppable = found.step in CANCELLABLE and found.state in (*UNFINISHED, Job.State.DEAD)
    context = {"job": found, "stoppable": stoppable, "retryable": RETRYABLE}
    context |= {"now": timezone.now(), **work.made_by(found)}
    return render(request, "job.html", context)


@require_POST
@tenant_page(role=Membership.Role.EDITOR)
def retry(request: ConsoleRequest, job_id: UUID) -> HttpResponse:
    return _done(request, job_id, retry_job, _("Will be tried again now"), _("Not retried"))


@require_POST
@tenant_page(role=Membership.Role.EDITOR)
def cancel(request: ConsoleRequest, job_id: UUID) -> HttpResponse:
    actor = request.user.get_username()
    return _done(
        request, job_id, lambda at: cancel_job(at, actor), _("Cancelled"), _("Not cancelled")
    )


def _done(
    request: ConsoleRequest,
    job_id: UUID,
    work_on: Callable[[UUID], object],
    said: str,
    refused: str,
) -> HttpResponse:
    job = work.job_or_404(job_id)
    what = str(job.get_step_display())
    if job.first_seq:
        turns = {"first": job.first_seq, "last": job.last_seq}
        what = _("turns %(first)s to %(last)s") % turns
    told = _("%(said)s: %(what)s.") % {"said": said, "what": what}
    tried(request, lambda: work_on(job.id), told, refused=refused)
    return redirect("job", job_id) if request.POST.get("from") == "job" else redirect("jobs")
