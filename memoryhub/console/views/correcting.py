"""What an editor puts right on a memory's page: asked for and shown before, then sent to it."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext

from memoryhub.console import corrections, differing
from memoryhub.console.access import need
from memoryhub.console.corrections import Action, Given
from memoryhub.console.queries.consequences import Consequences, alike, consequences
from memoryhub.console.requests import ConsoleRequest
from memoryhub.console.views.history import undoable
from memoryhub.console.wording import kept
from memoryhub.errors import InvalidInput, MemoryHubError
from memoryhub.pipeline import restoring
from memoryhub.tenants.models import Membership, Space
from memoryhub.tenants.scope import tenant_scope
from notes.correcting import by_hand
from notes.models import EvolutionEvent, Fact, Note


def asked(
    request: ConsoleRequest, space: Any, kind: str, row: Fact | Note, now: datetime
) -> dict[str, Any]:
    """The form that the address asks for, filled in as far as it is, and what sending it would
    do. Empty when it asks for none, or the reader may not. Call inside the tenant's scope.
    """
    action = corrections.named(request.GET.get("action", ""))
    if action is None or not request.seat.can_edit or action not in corrections.offered(kind, row):
        return {}
    filled = {**corrections.first_values(kind, row), **request.GET.dict()}
    given = Given(kind, row.id, filled, space)
    q = given["find"][:200]
    return {
        "action": action,
        "given": filled,
        "outlook": _outlook(space, action, given, request.user.username, now),
        "difference": _words(action, row, filled),
        "others": alike(space, row, q) if action.name == "merge" else [],
        "find": q,
    }


def _outlook(
    space: Any, action: Action, given: Given, actor: str, now: datetime
) -> Consequences | None:
    """None while nothing has been filled in that it would follow from."""
    try:
        work = corrections.work_of(action.name, given)
    except InvalidInput as error:
        return Consequences(refused=error.message, missing=error.field or "")
    return consequences(space, work, actor, now)


def _words(action: Action, row: Fact | Note, filled: dict[str, str]) -> list[differing.Part]:
    if action.name != "edit" or isinstance(row, Note):
        return []
    return differing.difference(row.text, filled["text"].strip())


def act(request: ConsoleRequest, space_id: UUID, kind: str, row_id: UUID) -> HttpResponse:
    """Do what the form says, and show the memory, or what now stands for it."""
    need(request, Membership.Role.EDITOR)
    with tenant_scope(request.tenant.id):
        space = Space.objects.get(id=space_id)
    name = request.POST.get("action", "")
    given = Given(kind, row_id, request.POST.dict(), space)
    try:
        work = corrections.work_of(name, given)
        action = corrections.named(name)
        assert action is not None, "work_of has refused it"
        now, who = timezone.now(), request.user.username
        event = by_hand(space, who, now, given.reason or kept(action.why), work)
        restoring.settle(space.id, space.tenant_id, f"{row_id}-{now.isoformat()}", now)
    except MemoryHubError as error:
        messages.error(request, gettext("Nothing was changed: %(why)s.") % {"why": error.message})
        return redirect(f"space-{kind}", space_id, row_id)
    undo = reverse("space-event", args=[space_id, event.id])
    messages.success(request, str(action.done), extra_tags=undoable(undo))
    return redirect(f"space-{kind}", space_id, _shown(event, kind, row_id, given["other"]))


def _shown(event: EvolutionEvent, kind: str, row_id: UUID, other: str) -> UUID:
    """The version that was made, the memory that it went into, or itself."""
    if other:
        return UUID(other)
    with tenant_scope(event.tenant_id):
        made = event.revisions.filter(row_type=kind, version_before=None).first()
    return row_id if made is None else made.row_id
