"""Bringing memories over from other systems: tried first, then taken in."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from memoryhub.console.access import tenant_page, tenant_view
from memoryhub.console.listing import read_filters
from memoryhub.console.queries import imports as queries
from memoryhub.console.requests import ConsoleRequest
from memoryhub.errors import MemoryHubError
from memoryhub.importers import runs
from memoryhub.importers.models import ImportRun
from memoryhub.importers.records import KINDS
from memoryhub.importers.runs import Sent
from memoryhub.importers.sources import SOURCES
from memoryhub.tenants.models import Membership
from memoryhub.tenants.scope import tenant_scope

EDITOR = Membership.Role.EDITOR
# The words for what a file holds.
CALLED = {
    "turn": gettext_lazy("messages"),
    "fact": gettext_lazy("facts"),
    "note": gettext_lazy("notes"),
    "block": gettext_lazy("core blocks"),
}


@tenant_page()
def imports(request: ConsoleRequest) -> HttpResponse:
    """The whole page, or for the polling browser only the list."""
    filters = read_filters(request.GET, (queries.SOURCE, queries.STATE, queries.HOW))
    page = queries.imports(filters)
    going = any(run.state in queries.ACTIVE for run in page)
    shown = page.map(lambda run: (run, SOURCES[run.source].title))
    context = {"filters": filters, "page": shown, "going": going, "sources": SOURCES.values()}
    context["kinds"] = CALLED.items()
    return render(request, "parts/import_runs.html" if request.htmx else "imports.html", context)


@require_POST
@tenant_view(role=EDITOR)
def new(request: ConsoleRequest) -> HttpResponse:
    """Try a file: nothing of it is taken in yet."""
    sent = request.FILES.get("file")
    if sent is None:
        messages.error(request, _("Nothing was sent: choose a file."))
        return redirect("imports")
    wanted = Sent(
        source=request.POST.get("source", ""),
        name=sent.name or "",
        chunks=sent.chunks(),
        actor=request.user.get_username(),
        subject=request.POST.get("subject", ""),
        only=request.POST.getlist("only"),
        dry_run=True,
    )
    try:
        run = runs.begin(request.tenant.id, wanted, timezone.now())
    except MemoryHubError as error:
        messages.error(request, _("Not read: %(why)s.") % {"why": error.message})
        return redirect("imports")
    return redirect("import", import_id=run.id)


@tenant_page()
def one(request: ConsoleRequest, import_id: UUID) -> HttpResponse:
    """The whole page, or for the polling browser only how far it is."""
    run = queries.import_or_404(import_id)
    going = run.state in queries.ACTIVE
    context = {
        "run": run,
        "going": going,
        "title": _(SOURCES[run.source].title),
        "rows": _rows(run),
        "can_take": queries.can_be_taken(run),
    }
    if not request.htmx:
        return render(request, "import.html", context)
    answer = render(request, "parts/import_progress.html", context)
    if not going:
        answer["HX-Refresh"] = "true"
    return answer


def _rows(run: ImportRun) -> list[dict[str, Any]]:
    """What was found of each kind, and what became of it."""
    report = run.report
    if not report:
        return []
    return [
        {
            "called": CALLED[kind],
            "found": report["found"][kind],
            "taken": report["taken"][kind],
            "already": report["already"][kind],
        }
        for kind in KINDS
        if report["found"][kind]
    ]


@require_POST
@tenant_view(role=EDITOR)
def take(request: ConsoleRequest, import_id: UUID) -> HttpResponse:
    """Take in what was tried."""
    with tenant_scope(request.tenant.id):
        tried = queries.import_or_404(import_id)
    try:
        run = runs.take(tried, request.user.get_username(), timezone.now())
    except MemoryHubError as error:
        messages.error(request, _("Not taken in: %(why)s.") % {"why": error.message})
        return redirect("import", import_id=import_id)
    return redirect("import", import_id=run.id)
