"""Replays: a candidate beside what is in force, on golden questions."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from memoryhub.console.frame.access import tenant_page
from memoryhub.console.frame.lists import read_filters
from memoryhub.console.frame.outcomes import run_and_report
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.pages.replays.queries import (
    REPLAY_STATE_CHOICE,
    REPLAY_VERDICT_CHOICE,
    get_replay_or_404,
    load_failed_replay_jobs,
    load_replay_results,
    load_replays,
)
from memoryhub.errors import MemoryHubError
from memoryhub.golden import replay_runs
from memoryhub.golden.candidates import CandidateSetting, list_ineffective_switches
from memoryhub.tenants.models import Membership, Space, Tenant

ADMIN = Membership.Role.ADMIN
EDITOR = Membership.Role.EDITOR


@tenant_page()
def replay_list_page(request: ConsoleRequest) -> HttpResponse:
    filters = read_filters(request.GET, (REPLAY_STATE_CHOICE,))
    context = {
        "filters": filters,
        "page": load_replays(filters),
        "engines": _list_other_engines(request.tenant),
    }
    return render(request, "replays/list.html", context)


def _list_other_engines(tenant: Tenant) -> list[tuple[str, str]]:
    """(name, label) of the engines that could be tried: a model that is not configured can't."""
    there = {Tenant.Engine.LOCAL} | ({Tenant.Engine.LLM} if settings.LLM_MODEL else set())
    choices = [(value, str(label)) for value, label in Tenant.Engine.choices]
    return [one for one in choices if one[0] in there and one[0] != tenant.engine]


@tenant_page()
def replay_page(request: ConsoleRequest, run_id: UUID) -> HttpResponse:
    """The whole page, or for the polling browser only the part that changes."""
    run = get_replay_or_404(run_id)
    filters = read_filters(request.GET, (REPLAY_VERDICT_CHOICE,))
    answered, wanted = replay_runs.count_answers(run)
    results = load_replay_results(run, filters)
    context = {
        "run": run,
        "filters": filters,
        "answered": answered,
        "wanted": wanted,
        "results": results,
        "both": results.both,
        "page": results.page,
        "unseen": list_ineffective_switches(run),
        "failed": load_failed_replay_jobs(run),
        "now": timezone.now(),
    }
    return render(
        request, "replays/_results.html" if request.htmx else "replays/replay.html", context
    )


@require_POST
@tenant_page(role=EDITOR)
def try_engine(request: ConsoleRequest) -> HttpResponse:
    """Try another engine, on the questions of the whole tenant."""
    candidate = CandidateSetting(engine=request.POST.get("engine", ""))
    return start_replay(request, candidate, None, back=reverse("replays"))


def start_replay(
    request: ConsoleRequest, candidate: CandidateSetting, space: Space | None, *, back: str
) -> HttpResponse:
    """Plan a replay and go to its page; what is wrong with it is said where it was asked for."""
    try:
        run = replay_runs.start_replay(
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
def cancel_replay(request: ConsoleRequest, run_id: UUID) -> HttpResponse:
    run = get_replay_or_404(run_id)
    run_and_report(
        request, lambda: replay_runs.cancel_replay(run, timezone.now()), _("Called off.")
    )
    return redirect("replay", run_id=run_id)


@require_POST
@tenant_page(role=ADMIN)
def decide_replay(request: ConsoleRequest, run_id: UUID) -> HttpResponse:
    """`decision`: live or dropped."""
    run, actor = get_replay_or_404(run_id), request.user.get_username()
    now = timezone.now()
    if request.POST.get("decision") == "live":
        said = _("It is in force from the next job on.")
        run_and_report(request, lambda: replay_runs.put_candidate_live(run, actor, now), said)
    else:
        run_and_report(request, lambda: replay_runs.drop_candidate(run, actor, now), _("Dropped."))
    return redirect("replay", run_id=run_id)


urlpatterns = [
    path("replays/", replay_list_page, name="replays"),
    path("replays/start", try_engine, name="replay-start"),
    path("replays/<uuid:run_id>/", replay_page, name="replay"),
    path("replays/<uuid:run_id>/cancel", cancel_replay, name="replay-cancel"),
    path("replays/<uuid:run_id>/decide", decide_replay, name="replay-decide"),
]
