"""Bringing memories over from other systems: tried first, then taken in."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from memoryhub.console.frame.access import EDITOR, action_at, page_at, tenant_page, tenant_view
from memoryhub.console.frame.forms import attempt
from memoryhub.console.frame.lists import (
    FilterChoice,
    Filters,
    ListPage,
    build_text_condition,
    load_page,
    read_filters,
)
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.importers import runs
from memoryhub.importers.models import ImportRun
from memoryhub.importers.records import RECORD_KINDS
from memoryhub.importers.runs import ImportUpload
from memoryhub.importers.sources import SOURCES
from memoryhub.tenants.scope import tenant_scope

IMPORT_SOURCE_CHOICE = FilterChoice(
    "source", _("From"), (("all", _("Anywhere")), *((s.name, _(s.title)) for s in SOURCES.values()))
)
IMPORT_STATE_CHOICE = FilterChoice(
    "state", _("State"), (("all", _("Any")), *ImportRun.State.choices)
)
IMPORT_MODE_CHOICE = FilterChoice(
    "how", _("How"), (("all", _("Any")), ("tried", _("Dry runs")), ("done", _("Imported")))
)


def load_imports(filters: Filters) -> ListPage[ImportRun]:
    """Newest first. Two statements."""
    rows = ImportRun.objects.filter(
        build_text_condition(filters.q, "file_name", "subject", "actor"),
        **filters.chosen_values("source", "state"),
    )
    if filters["how"] != "all":
        rows = rows.filter(dry_run=filters["how"] == "tried")
    return load_page(rows.order_by("-created_at", "-id"), filters.page)


def get_import_or_404(import_id: UUID) -> ImportRun:
    return get_object_or_404(ImportRun.objects.filter(id=import_id))


# The words for what a file holds.
IMPORT_KIND_LABELS = {
    "turn": _("messages"),
    "fact": _("facts"),
    "note": _("notes"),
    "block": _("core blocks"),
}


@page_at("imports/", "imports")
@tenant_page()
def import_list_page(request: ConsoleRequest) -> HttpResponse:
    """The whole page, or for the polling browser only the list."""
    filters = read_filters(
        request.GET, (IMPORT_SOURCE_CHOICE, IMPORT_STATE_CHOICE, IMPORT_MODE_CHOICE)
    )
    page = load_imports(filters)
    going = any(run.state in ImportRun.ACTIVE_STATES for run in page)
    shown = page.map(lambda run: (run, SOURCES[run.source].title, _describe_error(run)))
    context = {"filters": filters, "page": shown, "going": going, "sources": SOURCES.values()}
    context["kinds"] = IMPORT_KIND_LABELS.items()
    return render(request, "imports/_list.html" if request.htmx else "imports/list.html", context)


@action_at("imports/new", "import-new")
@tenant_view(role=EDITOR)
def start_import(request: ConsoleRequest) -> HttpResponse:
    """Try a file: nothing of it is taken in yet."""
    sent = request.FILES.get("file")
    if sent is None:
        messages.error(request, gettext("No file selected."))
        return redirect("imports")
    wanted = ImportUpload(
        source=request.POST.get("source", ""),
        name=sent.name or "",
        chunks=sent.chunks(),
        actor=request.actor,
        subject=request.POST.get("subject", ""),
        only=request.POST.getlist("only"),
        dry_run=True,
    )
    run = attempt(
        request,
        lambda: runs.start_import(request.tenant.id, wanted, timezone.now()),
        gettext("Not read: %(why)s."),
    )
    return redirect("import", import_id=run.id) if run else redirect("imports")


@page_at("imports/<uuid:import_id>/", "import")
@tenant_page()
def import_page(request: ConsoleRequest, import_id: UUID) -> HttpResponse:
    """The whole page, or for the polling browser only how far it is."""
    run = get_import_or_404(import_id)
    going = run.state in ImportRun.ACTIVE_STATES
    kept = run.dry_run and not going and runs.find_kept_file(run) is not None
    context = {
        "run": run,
        "going": going,
        "title": gettext(SOURCES[run.source].title),
        "trouble": _describe_error(run),
        "rows": _list_import_counts(run),
        "can_take": kept and run.state == ImportRun.State.DONE,
        "can_try_again": kept,
        "sources": SOURCES.values(),
        "kinds": IMPORT_KIND_LABELS.items(),
    }
    if not request.htmx:
        return render(request, "imports/import.html", context)
    answer = render(request, "imports/_progress.html", context)
    if not going:
        answer["HX-Refresh"] = "true"
    return answer


def _describe_error(run: ImportRun) -> str:
    """What went wrong, without the name of the field at fault: the API's forms have those."""
    field, _colon, message = run.error.partition(": ")
    return gettext(message if field in ("file", "subject") else run.error) if run.error else ""


def _list_import_counts(run: ImportRun) -> list[dict[str, Any]]:
    """What was found of each kind, and what became of it."""
    report, columns = run.report, ("found", "taken", "already")
    return [
        {"called": IMPORT_KIND_LABELS[kind], **{name: report[name][kind] for name in columns}}
        for kind in RECORD_KINDS
        if report and report["found"][kind]
    ]


@action_at("imports/<uuid:import_id>/again", "import-again")
@tenant_view(role=EDITOR)
def try_import_again(request: ConsoleRequest, import_id: UUID) -> HttpResponse:
    """Try a kept file as another system's, for another subject, or for other contents."""
    with tenant_scope(request.tenant.id):
        tried = get_import_or_404(import_id)
    run = attempt(
        request,
        lambda: runs.try_file_again(
            tried,
            request.actor,
            timezone.now(),
            source=request.POST.get("source", ""),
            only=request.POST.getlist("only"),
            subject=request.POST.get("subject", ""),
        ),
        gettext("Not read: %(why)s."),
    )
    return redirect("import", import_id=run.id if run else import_id)


@action_at("imports/<uuid:import_id>/take", "import-take")
@tenant_view(role=EDITOR)
def accept_import(request: ConsoleRequest, import_id: UUID) -> HttpResponse:
    """Take in what was tried."""
    with tenant_scope(request.tenant.id):
        tried = get_import_or_404(import_id)
    run = attempt(
        request,
        lambda: runs.import_tried_file(tried, request.actor, timezone.now()),
        gettext("Not imported: %(why)s."),
    )
    return redirect("import", import_id=run.id if run else import_id)
