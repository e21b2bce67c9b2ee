"""What waits, what runs, what failed."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from memoryhub.console.access import tenant_page
from memoryhub.console.listing import read_filters
from memoryhub.console.queries import work
from memoryhub.console.requests import ConsoleRequest
from memoryhub.errors import Conflict
from memoryhub.pipeline.services import retry_job
from memoryhub.tenants.models import Membership


@tenant_page()
def jobs(request: ConsoleRequest) -> HttpResponse:
    """The whole page, or for the polling browser only the part that changes."""
    filters = read_filters(request.GET, (work.STATE,))
    counts = work.job_counts()
    context = {
        "filters": filters,
        "page": work.jobs(filters),
        "states": [(name, label, counts[name]) for name, (label, _) in work.STATES.items()],
        "open": counts["open"],
        "progress": work.progress(),
        "now": timezone.now(),
    }
    return render(request, "parts/jobs_live.html" if request.htmx else "jobs.html", context)


@require_POST
@tenant_page(role=Membership.Role.EDITOR)
def retry(request: ConsoleRequest, job_id: UUID) -> HttpResponse:
    job = work.job_or_404(job_id)
    try:
        retry_job(job.id)
    except Conflict as error:
        messages.error(request, f"Not retried: {error.message}.")
    else:
        messages.success(
            request, f"Will be tried again now: turns {job.first_seq} to {job.last_seq}."
        )
    return redirect("jobs")
