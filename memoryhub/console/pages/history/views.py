"""One change-set with its undo, and the way back to an earlier moment."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext, ngettext

from memoryhub.console.frame.access import check_role, tenant_view
from memoryhub.console.frame.form_values import read_time
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.pages.history import outlook as queries
from memoryhub.console.pages.memories import queries as memories_queries
from memoryhub.console.pages.spaces.queries import get_space_or_404
from memoryhub.console.pages.spaces.views import render_tab
from memoryhub.errors import MemoryHubError
from memoryhub.pipeline.corrections import roll_back_space, undo_event
from memoryhub.tenants.models import Membership, Space
from memoryhub.tenants.scope import tenant_scope
from notes.history import timeline


def build_undo_tags(address: str, label: str = "") -> str:
    """Tags of a message that offers to take back what it tells."""
    return f"{label or gettext('Undo')}:{address}"


def find_undo_tags(space: Space, actor: str, at: datetime) -> str:
    """The same for what a person changed in the space at this moment; "" where nothing was, or
    nothing that the history keeps. Call inside the tenant's scope."""
    made = queries.find_manual_event(space, actor, at)
    return build_undo_tags(reverse("space-event", args=[space.id, made.id])) if made else ""


@tenant_view()
def event_page(request: ConsoleRequest, space_id: UUID, event_id: UUID) -> HttpResponse:
    """What it changed and what undoing it would do. Sent, it is undone."""
    now, actor = timezone.now(), request.user.username
    with tenant_scope(request.tenant.id):
        space = get_space_or_404(space_id, now)
        found = queries.get_event_or_404(space, event_id)
        if request.method != "POST":
            rows, count = queries.load_revisions(found)
            return render_tab(
                request,
                space,
                "event",
                event=found,
                changes=memories_queries.describe_changes(rows),
                count=count,
                outlook=queries.preview_undo(found, actor, now),
                calls=queries.load_event_calls(found),
            )
    check_role(request, Membership.Role.EDITOR)
    try:
        made = undo_event(found, actor, now, cascade=request.POST.get("cascade") == "yes")
    except MemoryHubError as error:
        messages.error(request, gettext("Not undone: %(why)s.") % {"why": error.message})
        return redirect("space-event", space_id=space_id, event_id=event_id)
    again = reverse("space-event", args=[space_id, made.id])
    done = gettext("Undone. This can be undone in turn.")
    messages.success(request, done, extra_tags=build_undo_tags(again, gettext("Redo")))
    back = request.POST.get("back", "")
    if url_has_allowed_host_and_scheme(back, allowed_hosts=None):
        return redirect(back)
    return redirect(again)


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
    check_role(request, Membership.Role.ADMIN)
    if to is None:
        messages.error(request, gettext("Choose a time first."))
        return redirect("space-roll-back", space_id=space_id)
    try:
        undone = roll_back_space(space, to, request.user.username, now)
    except MemoryHubError as error:
        messages.error(request, gettext("Not rolled back: %(why)s.") % {"why": error.message})
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
    outlook = queries.preview_roll_back(space, to, request.user.username, now) if to else None
    since = timeline.load_changes_since(space, to, now) if to else []
    return render_tab(
        request,
        space,
        "roll_back",
        given=given,
        to=to,
        wrong=bool(given) and to is None,
        outlook=outlook,
        since=queries.build_row_differences(space.id, since),
        since_words=len(since),
    )
