"""Replays: a candidate beside what is in force, on golden questions."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from memoryhub.console.access import tenant_page
from memoryhub.console.listing import read_filters
from memoryhub.console.outcomes import tried
from memoryhub.console.queries import golden as queries
from memoryhub.console.requests import ConsoleRequest
from memoryhub.errors import MemoryHubError
from memoryhub.golden import deciding, replaying
from memoryhub.golden.candidates import Candidate, unseen
from memoryhub.tenants.models import Membership, Space, Tenant

ADMIN = Membership.Role.ADMIN
EDITOR = Membership.Role.EDITOR


@tenant_page()
def replays(request: ConsoleRequest) -> HttpResponse:
    filters = read_filters(request.GET, (queries.STATE,))
    context = {
        "filters": filters,
        "page": queries.runs(filters),
        "engines": _others(request.tenant),
    }
    return render(request, "replays.html", context)


def _others(tenant: Tenant) -> list[tuple[str, str]]:
    """(name, label) of the engines that could be tried: a model that is not configured can't."""
    there = {Tenant.Engine.LOCAL} | ({Tenant.Engine.LLM} if settings.LLM_MODEL else set())
    choices = [(value, str(label)) for value, label in Tenant.Engine.choices]
    return [one for one in choices if one[0] in there and one[0] != tenant.engine]


@tenant_page()
def replay(request: ConsoleRequest, run_id: UUID) -> HttpResponse:
    """The whole page, or for the polling browser only the part that changes."""
    run = queries.run_or_404(run_id)
    filters = read_filters(request.GET, (queries.VERDICT,))
    answered, wanted = replaying.progress(run)
    results = queries.results(run, filters)
    context = {
        "run": run,
        "filters": filters,
        "answered": answered,
        "wanted": wanted,
        "results": results,
        "both": results.both,
        "page": results.page,
        "unseen": unseen(run),
        "failed": queries.failed_jobs(run),
        "now": timezone.now(),
    }
    return render(request, "parts/replay_live.html" if request.htmx else "replay.html", context)


@require_POST
@tenant_page(role=EDITOR)
def start(request: ConsoleRequest) -> HttpResponse:
    """Try another engine, on the questions of the whole tenant."""
    candidate = Candidate(engine=request.POST.get("engine", ""))
    return begin(request, candidate, None, back=reverse("replays"))


def begin(
    request: ConsoleRequest, candidate: Candidate, space: Space | None, *, back: str
) -> HttpResponse:
    """Plan a replay and go to its page; what is wrong with it is said where it was asked for."""
    try:
        run = replaying.start(
            request.tenant,
            candidate,
            request.user.get_username(),
            timezone.now(),
            space=space,
            tag=request.POST.get("tag", "").strip()[:40],
        )
    except MemoryHubError as error:
        messages.error(request, _("Not tried: %(why)s.") % {"why": error.message})
        return redirect(back)
    return redirect("replay", run_id=run.id)


@require_POST
@tenant_page(role=EDITOR)
def cancel(request: ConsoleRequest, run_id: UUID) -> HttpResponse:
    run = queries.run_or_404(run_id)
    tried(request, lambda: replaying.cancel(run, timezone.now()), _("Called off."))
    return redirect("replay", run_id=run_id)


@require_POST
@tenant_page(role=ADMIN)
def decide(request: ConsoleRequest, run_id: UUID) -> HttpResponse:
    """`decision`: live or dropped."""
    run, actor = queries.run_or_404(run_id), request.user.get_username()
    now = timezone.now()
    if request.POST.get("decision") == "live":
        said = _("It is in force from the next job on.")
        tried(request, lambda: deciding.make_live(run, actor, now), said)
    else:
        tried(request, lambda: deciding.drop(run, actor, now), _("Dropped."))
    return redirect("replay", run_id=run_id)
