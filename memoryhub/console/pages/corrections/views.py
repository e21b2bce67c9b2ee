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

from memoryhub.console.frame.access import check_role
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.text import diff
from memoryhub.console.frame.text.wording import format_for_history
from memoryhub.console.pages.corrections import actions
from memoryhub.console.pages.corrections.actions import CorrectionAction, CorrectionInput
from memoryhub.console.pages.corrections.consequences import (
    Consequences,
    find_merge_candidates,
    preview_correction,
)
from memoryhub.console.pages.history.views import build_undo_tags
from memoryhub.errors import InvalidInput, MemoryHubError
from memoryhub.pipeline import corrections
from memoryhub.tenants.models import Membership, Space
from memoryhub.tenants.scope import tenant_scope
from notes.corrections.manual import run_manual_edit
from notes.models import EvolutionEvent, Fact, Note


def build_correction_form(
    request: ConsoleRequest, space: Any, kind: str, row: Fact | Note, now: datetime
) -> dict[str, Any]:
    """The form that the address asks for, filled in as far as it is, and what sending it would
    do. Empty when it asks for none, or the reader may not. Call inside the tenant's scope.
    """
    action = actions.find_action(request.GET.get("action", ""))
    if (
        action is None
        or not request.seat.can_edit
        or action not in actions.list_offered_actions(kind, row)
    ):
        return {}
    filled = {**actions.build_initial_values(kind, row), **request.GET.dict()}
    given = CorrectionInput(kind, row.id, filled, space)
    q = given["find"][:200]
    return {
        "action": action,
        "given": filled,
        "outlook": _preview_correction_input(space, action, given, request.user.username, now),
        "difference": _diff_new_text(action, row, filled),
        "others": find_merge_candidates(space, row, q) if action.name == "merge" else [],
        "find": q,
    }


def _preview_correction_input(
    space: Any, action: CorrectionAction, given: CorrectionInput, actor: str, now: datetime
) -> Consequences | None:
    """None while nothing has been filled in that it would follow from."""
    try:
        work = actions.build_correction_work(action.name, given)
    except InvalidInput as error:
        return Consequences(refused=error.message, missing=error.field or "")
    return preview_correction(space, work, actor, now)


def _diff_new_text(
    action: CorrectionAction, row: Fact | Note, filled: dict[str, str]
) -> list[diff.DiffPart]:
    if action.name != "edit" or isinstance(row, Note):
        return []
    return diff.diff_texts(row.text, filled["text"].strip())


def correct_memory(
    request: ConsoleRequest, space_id: UUID, kind: str, row_id: UUID
) -> HttpResponse:
    """Do what the form says, and show the memory, or what now stands for it."""
    check_role(request, Membership.Role.EDITOR)
    with tenant_scope(request.tenant.id):
        space = Space.objects.get(id=space_id)
    name = request.POST.get("action", "")
    given = CorrectionInput(kind, row_id, request.POST.dict(), space)
    try:
        work = actions.build_correction_work(name, given)
        action = actions.find_action(name)
        assert action is not None, "work_of has refused it"
        now, who = timezone.now(), request.user.username
        event = run_manual_edit(
            space, who, now, given.reason or format_for_history(action.why), work
        )
        corrections.refresh_after_change(
            space.id, space.tenant_id, f"{row_id}-{now.isoformat()}", now
        )
    except MemoryHubError as error:
        messages.error(request, gettext("Nothing was changed: %(why)s.") % {"why": error.message})
        return redirect(f"space-{kind}", space_id, row_id)
    undo = reverse("space-event", args=[space_id, event.id])
    messages.success(request, str(action.done), extra_tags=build_undo_tags(undo))
    return redirect(
        f"space-{kind}", space_id, _find_resulting_row(event, kind, row_id, given["other"])
    )


def _find_resulting_row(event: EvolutionEvent, kind: str, row_id: UUID, other: str) -> UUID:
    """The version that was made, the memory that it went into, or itself."""
    if other:
        return UUID(other)
    with tenant_scope(event.tenant_id):
        made = event.revisions.filter(row_type=kind, version_before=None).first()
    return row_id if made is None else made.row_id
