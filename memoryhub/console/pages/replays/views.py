"""Replays: a candidate beside what is in force, on golden questions."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from memoryhub.console.frame.access import ADMIN, EDITOR, action_at, page_at, tenant_page
from memoryhub.console.frame.forms import attempt, run_and_report
from memoryhub.console.frame.lists import read_filters
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.pages.replays.queries import (
    REPLAY_STATE_CHOICE,
    REPLAY_VERDICT_CHOICE,
    get_replay_or_404,
    list_changed_switches,
    load_failed_replay_jobs,
    load_replay_results,
    load_replays,
    sort_switches,
)
from memoryhub.golden import replay_runs
from memoryhub.golden.candidates import CandidateSetting, list_ineffective_switches
from memoryhub.inference.connections import is_connected
from memoryhub.tenants.models import Space, Tenant


@page_at("replays/", "replays")
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
    there = {Tenant.Engine.LOCAL} | ({Tenant.Engine.LLM} if is_connected(tenant) else set())
    choices = [(value, str(label)) for value, label in Tenant.Engine.choices]
    return [one for one in choices if one[0] in there and one[0] != tenant.engine]


@page_at("replays/<uuid:run_id>/", "replay")
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
        "switches": list_changed_switches(run),
        "both": results.both,
        "page": results.page,
        "unseen": sort_switches(list_ineffective_switches(run)),
        "failed": load_failed_replay_jobs(run),
        "now": timezone.now(),
    }
    template = "replays/_results.html" if request.htmx else "replays/replay.html"
    return render(request, template, context)


@action_at("replays/start", "replay-start")
@tenant_page(role=EDITOR)
def try_engine(request: ConsoleRequest) -> HttpResponse:
    """Try another engine, on the questions of the whole tenant."""
    candidate = CandidateSetting(engine=request.POST.get("engine", ""))
    return start_replay(request, candidate, None, back=reverse("replays"))


def start_replay(
    request: ConsoleRequest, candidate: CandidateSetting, space: Space | None, *, back: str
) -> HttpResponse:
    """Plan a replay and go to its page; what is wrong with it is said where it was asked for."""
    tag, now = request.POST.get("tag", "").strip()[:40], timezone.now()
    run = attempt(
        request,
        lambda: replay_runs.start_replay(
            request.tenant, candidate, request.actor, now, space=space, tag=tag
        ),
        _("Not tried: %(why)s."),
    )
    return redirect("replay", run_id=run.id) if run else redirect(back)


@action_at("replays/<uuid:run_id>/cancel", "replay-cancel")
@tenant_page(role=EDITOR)
def cancel_replay(request: ConsoleRequest, run_id: UUID) -> HttpResponse:
    run = get_replay_or_404(run_id)
    run_and_report(request, lambda: replay_runs.cancel_replay(run, timezone.now()), _("Cancelled."))
    return redirect("replay", run_id=run_id)


@action_at("replays/<uuid:run_id>/decide", "replay-decide")
@tenant_page(role=ADMIN)
def decide_replay(request: ConsoleRequest, run_id: UUID) -> HttpResponse:
    """`decision`: live or dropped."""
    run = get_replay_or_404(run_id)
    now = timezone.now()
    live = request.POST.get("decision") == "live"
    decide = replay_runs.put_candidate_live if live else replay_runs.drop_candidate
    said = _("It applies from the next job on.") if live else _("Discarded.")
    run_and_report(request, lambda: decide(run, request.actor, now), said)
    return redirect("replay", run_id=run_id)
