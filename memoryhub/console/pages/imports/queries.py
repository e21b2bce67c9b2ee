"""Imports from other systems, and what came of them."""

from __future__ import annotations

from uuid import UUID

from django.shortcuts import get_object_or_404
from django.utils.translation import gettext_lazy as _

from memoryhub.console.frame.lists import (
    FilterChoice,
    Filters,
    ListPage,
    build_text_condition,
    load_page,
)
from memoryhub.importers.models import ImportRun
from memoryhub.importers.runs import find_kept_file
from memoryhub.importers.sources import SOURCES

IMPORT_SOURCE_CHOICE = FilterChoice(
    "source", _("From"), (("all", _("Anywhere")), *((s.name, _(s.title)) for s in SOURCES.values()))
)
IMPORT_STATE_CHOICE = FilterChoice(
    "state", _("State"), (("all", _("Any")), *ImportRun.State.choices)
)
IMPORT_MODE_CHOICE = FilterChoice(
    "how", _("How"), (("all", _("Any")), ("tried", _("Dry runs")), ("done", _("Taken in")))
)


def load_imports(filters: Filters) -> ListPage[ImportRun]:
    """Newest first. Two statements."""
    rows = ImportRun.objects.filter(
        build_text_condition(filters.q, "file_name", "subject", "actor")
    )
    if filters["source"] != "all":
        rows = rows.filter(source=filters["source"])
    if filters["state"] != "all":
        rows = rows.filter(state=filters["state"])
    if filters["how"] != "all":
        rows = rows.filter(dry_run=filters["how"] == "tried")
    return load_page(rows.order_by("-created_at", "-id"), filters.page)


def get_import_or_404(import_id: UUID) -> ImportRun:
    return get_object_or_404(ImportRun.objects.filter(id=import_id))


def can_accept_import(run: ImportRun) -> bool:
    """It was tried, and its file is still there."""
    tried = run.dry_run and run.state == ImportRun.State.DONE
    return tried and find_kept_file(run) is not None
