"""One change-set with its undo, and the way back to an earlier moment."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, ngettext, pgettext
from django.utils.translation import gettext_noop as _

from memoryhub.console.frame.access import (
    ADMIN,
    EDITOR,
    check_role,
    page_at,
    tenant_page,
    tenant_view,
)
from memoryhub.console.frame.forms import attempt, read_back_address, read_time
from memoryhub.console.frame.lists import read_filters
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.space.tabs import get_space_at_moment, get_space_or_404, render_tab
from memoryhub.console.frame.text.wording import format_kind_count, join_list, join_phrases
from memoryhub.console.pages.history import queries
from memoryhub.console.pages.history.queries import (
    get_event_or_404,
    load_event_calls,
    load_revisions,
)
from memoryhub.console.pages.history.row_changes import (
    RowDifference,
    build_row_differences,
    describe_changes,
)
from memoryhub.errors import MemoryHubError
from memoryhub.pipeline import corrections, sealed_erasures
from memoryhub.pipeline.corrections import Correction
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.history import timeline
from notes.history.timeline import RowChange
from notes.models import EvolutionEvent


@dataclass(frozen=True, slots=True)
class UndoOutlook:
    """What an action would do, or why it can't be done. `later` would be undone with it;
    `shared` stay, as other spaces see what they changed."""

    rows: list[RowDifference] = field(default_factory=list)
    summary: str = ""
    later: list[EvolutionEvent] = field(default_factory=list)
    refused: str = ""
    shared: list[EvolutionEvent] = field(default_factory=list)


def preview_undo(event: EvolutionEvent, actor: str, now: datetime) -> UndoOutlook:
    """Of undoing it together with whatever was built on it."""
    try:
        undone = corrections.undo_event(event, actor, now, cascade=True, dry_run=True)
    except MemoryHubError as error:
        return UndoOutlook(refused=error.message)
    later = [each for each in undone.undone_events if each.id != event.id]
    rows = build_row_differences(event.space_id, undone.changes)
    return UndoOutlook(rows, describe_row_changes(undone.changes), later)


def preview_roll_back(space: Space, to: datetime, actor: str, now: datetime) -> UndoOutlook:
    try:
        undone = corrections.roll_back_space(space, to, actor, now, dry_run=True)
    except MemoryHubError as error:
        return UndoOutlook(refused=error.message)
    shared = timeline.list_shared_events(space, to)
    rows = build_row_differences(space.id, undone.changes)
    said = describe_row_changes(undone.changes)
    return UndoOutlook(rows, said, undone.undone_events, shared=shared)


def describe_row_changes(changes: list[RowChange]) -> str:
    """ "changes 2 facts, takes out 1 note"."""
    counts = Counter((change.how, change.kind) for change in changes)
    parts = []
    for how, message in _CHANGE_SENTENCES.items():
        kinds = [format_kind_count(kind, n) for (h, kind), n in sorted(counts.items()) if h == how]
        if kinds:
            parts.append(gettext(message) % {"what": join_list(kinds)})
    return join_phrases(parts)


_CHANGE_SENTENCES = {
    "added": _("restores %(what)s"),
    "changed": _("changes %(what)s"),
    "removed": _("removes %(what)s"),
}


def build_undo_tags(address: str, label: str = "") -> str:
    """Tags of a message that offers to take back what it tells."""
    return f"{label or gettext('Undo')}:{address}"


def build_correction_undo_tags(made: Correction[Any]) -> str:
    """The same for what an operation did; "" where it changed nothing."""
    return build_event_undo_tags(made.event) if made.is_stored else ""


def build_event_undo_tags(event: EvolutionEvent, label: str = "") -> str:
    return build_undo_tags(reverse("space-event", args=[event.space_id, event.id]), label)


@page_at("spaces/<uuid:space_id>/history/<uuid:event_id>/", "space-event")
@tenant_view()
def event_page(request: ConsoleRequest, space_id: UUID, event_id: UUID) -> HttpResponse:
    """What it changed and what undoing it would do. Sent, it is undone."""
    now = timezone.now()
    with tenant_scope(request.tenant.id):
        space = get_space_or_404(space_id, now)
        found = get_event_or_404(space, event_id)
        if request.method != "POST":
            rows, count = load_revisions(found)
            sealed = sealed_erasures.find_undoable(found, now)
            return render_tab(
                request,
                space,
                "event",
                "history/event.html",
                event=found,
                changes=describe_changes(rows),
                count=count,
                outlook=None if sealed else preview_undo(found, request.actor, now),
                sealed=sealed,
                hold=sealed is not None
                and sealed_erasures.is_kept_by_hold(sealed.space, [sealed.receipt]),
                calls=load_event_calls(found),
            )
    check_role(request, EDITOR)
    cascade = request.POST.get("cascade") == "yes"
    undone = attempt(
        request,
        lambda: corrections.undo_event(found, request.actor, now, cascade=cascade).event,
        gettext("Not undone: %(why)s."),
    )
    if undone is None:
        return redirect("space-event", space_id=space_id, event_id=event_id)
    if found.kind == EvolutionEvent.Kind.ERASE:
        messages.success(request, gettext("Restored: everything is as it was before."))
    else:
        done = gettext("Undone. You can redo it from the history.")
        messages.success(request, done, extra_tags=build_event_undo_tags(undone, gettext("Redo")))
    if back := read_back_address(request):
        return redirect(back)
    return redirect("space-event", space_id=space_id, event_id=undone.id)


@page_at("spaces/<uuid:space_id>/history/roll-back/", "space-roll-back")
@tenant_view()
def roll_back_page(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    """Choose a time, see what has changed since, go back to it."""
    now = timezone.now()
    with tenant_scope(request.tenant.id):
        space = get_space_or_404(space_id, now)
        given = request.POST.get("to") or request.GET.get("to", "")
        to = read_time(given, space)
        if request.method != "POST":
            return _render_roll_back(request, space, given, to, now)
    check_role(request, ADMIN)
    if to is None:
        messages.error(request, gettext("Choose a time first."))
        return redirect("space-roll-back", space_id=space_id)
    undone = attempt(
        request,
        lambda: corrections.roll_back_space(space, to, request.actor, now).events,
        gettext("Not rolled back: %(why)s."),
    )
    if undone is None:
        return redirect("space-roll-back", space_id=space_id)
    done = ngettext(
        "Rolled back: %(count)s change undone. It can be redone.",
        "Rolled back: %(count)s changes undone. Each can be redone.",
        len(undone),
    )
    messages.success(request, done % {"count": len(undone)})
    return redirect("space-history", space_id=space_id)


def _render_roll_back(
    request: ConsoleRequest, space: Any, given: str, to: datetime | None, now: datetime
) -> HttpResponse:
    outlook = preview_roll_back(space, to, request.actor, now) if to else None
    since = timeline.load_changes_since(space, to, now) if to else []
    return render_tab(
        request,
        space,
        "roll_back",
        "history/roll_back.html",
        given=given,
        to=to,
        wrong=bool(given) and to is None,
        outlook=outlook,
        since=build_row_differences(space.id, since),
        since_words=len(since),
    )


@page_at("spaces/<uuid:space_id>/history/", "space-history")
@tenant_page()
def history_page(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space, moment = get_space_at_moment(request, space_id)
    filters = read_filters(
        request.GET, queries.load_event_choices(space), dated=pgettext("on days", "Changed")
    )
    page = queries.load_stream(space, filters, moment)
    return render_tab(
        request, space, "history", "history/list.html", filters=filters, page=page, moment=moment
    )
