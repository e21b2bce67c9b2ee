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

from memoryhub.console.access import need, tenant_view
from memoryhub.console.queries import history as queries
from memoryhub.console.queries import memories
from memoryhub.console.queries.spaces import space_or_404
from memoryhub.console.reading import read_time
from memoryhub.console.requests import ConsoleRequest
from memoryhub.console.views.spaces import tab
from memoryhub.errors import MemoryHubError
from memoryhub.pipeline.restoring import roll_back, undo
from memoryhub.tenants.models import Membership, Space
from memoryhub.tenants.scope import tenant_scope
from notes import timeline


def undoable(address: str, label: str = "") -> str:
    """Tags of a message that offers to take back what it tells."""
    return f"{label or gettext('Undo')}:{address}"


def undoing(space: Space, actor: str, at: datetime) -> str:
    """The same for what a person changed in the space at this moment; "" where nothing was, or
    nothing that the history keeps. Call inside the tenant's scope."""
    made = queries.by_hand_at(space, actor, at)
    return undoable(reverse("space-event", args=[space.id, made.id])) if made else ""


@tenant_view()
def event(request: ConsoleRequest, space_id: UUID, event_id: UUID) -> HttpResponse:
    """What it changed and what undoing it would do. Sent, it is undone."""
    now, actor = timezone.now(), request.user.username
    with tenant_scope(request.tenant.id):
        space = space_or_404(space_id, now)
        found = queries.event_or_404(space, event_id)
        if request.method != "POST":
            rows, count = queries.revisions(found)
            return tab(
                request,
                space,
                "event",
                event=found,
                changes=memories.changes_in(rows),
                count=count,
                outlook=queries.outlook(found, actor, now),
                calls=queries.calls_of(found),
            )
    need(request, Membership.Role.EDITOR)
    try:
        made = undo(found, actor, now, cascade=request.POST.get("cascade") == "yes")
    except MemoryHubError as error:
        messages.error(request, gettext("Not undone: %(why)s.") % {"why": error.message})
        return redirect("space-event", space_id=space_id, event_id=event_id)
    again = reverse("space-event", args=[space_id, made.id])
    done = gettext("Undone. This can be undone in turn.")
    messages.success(request, done, extra_tags=undoable(again, gettext("Redo")))
    back = request.POST.get("back", "")
    if url_has_allowed_host_and_scheme(back, allowed_hosts=None):
        return redirect(back)
    return redirect(again)


@tenant_view()
def rolling_back(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    """Choose a time, see what has changed since, go back to it."""
    now = timezone.now()
    with tenant_scope(request.tenant.id):
        space = space_or_404(space_id, now)
        given = request.POST.get("to") or request.GET.get("to", "")
        to = read_time(given, space)
        if request.method != "POST":
            return _choosing(request, space, given, to, now)
    need(request, Membership.Role.ADMIN)
    if to is None:
        messages.error(request, gettext("Choose a time first."))
        return redirect("space-roll-back", space_id=space_id)
    try:
        undone = roll_back(space, to, request.user.username, now)
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


def _choosing(
    request: ConsoleRequest, space: Any, given: str, to: datetime | None, now: datetime
) -> HttpResponse:
    outlook = queries.roll_back_outlook(space, to, request.user.username, now) if to else None
    since = timeline.since(space, to, now) if to else []
    return tab(
        request,
        space,
        "roll_back",
        given=given,
        to=to,
        wrong=bool(given) and to is None,
        outlook=outlook,
        since=queries.told(space.id, since),
        since_words=len(since),
    )
