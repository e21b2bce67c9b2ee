"""What an editor puts right on a memory's page: one form an action, all sent to that page."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from memoryhub.console.requests import ConsoleRequest
from memoryhub.console.views.history import need, read_time
from memoryhub.errors import InvalidInput, MemoryHubError
from memoryhub.pipeline import restoring
from memoryhub.tenants.models import Membership, Space
from memoryhub.tenants.scope import tenant_scope
from notes import correcting

Act = Callable[[ConsoleRequest, Space, UUID, datetime], object]


def act(request: ConsoleRequest, space_id: UUID, kind: str, row_id: UUID) -> HttpResponse:
    """Do what the form says, and show the memory, or its newest version, again."""
    need(request, Membership.Role.EDITOR)
    with tenant_scope(request.tenant.id):
        space = Space.objects.get(id=space_id)
    name = request.POST.get("action", "")
    done = (FACT if kind == "fact" else NOTE).get(name)
    shown = row_id
    try:
        if done is None:
            raise InvalidInput("there is no such action", field="action")
        now = timezone.now()
        made = done(request, space, row_id, now)
        restoring.settle(space.id, space.tenant_id, f"{row_id}-{now.isoformat()}", now)
        shown = getattr(made, "id", row_id) if name == "edit" else row_id
        messages.success(request, "Done. It can be undone in the history.")
    except MemoryHubError as error:
        messages.error(request, f"Nothing was changed: {error.message}.")
    return redirect(f"space-{kind}", space_id, shown)


def _edit(request: ConsoleRequest, space: Space, row: UUID, now: datetime) -> object:
    text = request.POST.get("text", "")
    return correcting.edit_text(space, row, text, request.user.username, now, reason=_why(request))


def _never(request: ConsoleRequest, space: Space, row: UUID, now: datetime) -> object:
    return correcting.never_true(space, row, request.user.username, now, reason=_why(request))


def _end(request: ConsoleRequest, space: Space, row: UUID, now: datetime) -> object:
    at = read_time(request.POST.get("at", ""), space)
    who = request.user.username
    return correcting.ended(space, row, who, now, at=at, reason=_why(request))


def _restore(request: ConsoleRequest, space: Space, row: UUID, now: datetime) -> object:
    return correcting.restore(space, row, request.user.username, now, reason=_why(request))


def _delete(request: ConsoleRequest, space: Space, row: UUID, now: datetime) -> object:
    return correcting.delete_note(space, row, request.user.username, now, reason=_why(request))


def _pin(kind: str, pinned: bool) -> Act:
    def work(request: ConsoleRequest, space: Space, row: UUID, now: datetime) -> object:
        return correcting.pin(space, kind, row, pinned, request.user.username, now)

    return work


def _why(request: ConsoleRequest) -> str:
    return request.POST.get("reason", "").replace("\0", "").strip()[:500]


FACT: dict[str, Act] = {
    "edit": _edit,
    "never": _never,
    "end": _end,
    "restore": _restore,
    "pin": _pin("fact", True),
    "unpin": _pin("fact", False),
}
NOTE: dict[str, Act] = {
    "delete": _delete,
    "pin": _pin("note", True),
    "unpin": _pin("note", False),
}
