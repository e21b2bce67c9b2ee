"""What an editor puts right on a memory's page: asked for and shown before, then sent to it."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext

from memoryhub.console.frame.access import check_role
from memoryhub.console.frame.forms import attempt, read_ids
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.text import diff
from memoryhub.console.pages.corrections import actions
from memoryhub.console.pages.corrections.actions import CorrectionInput
from memoryhub.console.pages.corrections.consequences import (
    find_merge_candidates,
    preview_correction,
)
from memoryhub.console.pages.history.views import build_correction_undo_tags
from memoryhub.pipeline.corrections import find_facts_naming
from memoryhub.tenants.models import Membership, Space
from memoryhub.tenants.scope import tenant_scope
from notes.models import Fact, Note


def build_correction_form(
    request: ConsoleRequest, space: Any, kind: str, row: Fact | Note, now: datetime
) -> dict[str, Any]:
    """The form that the address asks for, or that was sent and refused, filled in as far as it is,
    and what sending it would do. Empty when none is asked for, or the reader may not. Call inside
    the tenant's scope.
    """
    sent = request.POST if request.method == "POST" else request.GET
    action = actions.find_action(sent.get("action", ""))
    offered = actions.list_offered_actions(kind, row) if request.seat.can_edit else []
    if action is None or action not in offered:
        return {}
    filled = {**actions.build_initial_values(kind, row, space), **sent.dict()}
    also = read_ids(sent.getlist("also"))
    given = CorrectionInput(kind, row.id, filled, space, also)
    q = given["find"][:200]
    difference, naming, gap = [], [], False
    if action.name == "correct" and isinstance(row, Fact):
        naming, gap = find_facts_naming(space, row), actions.leaves_gap(given, row, now)
        difference = diff.diff_texts(row.text, actions.compose_statement(given, row).strip())
    return {
        "action": action,
        "given": filled,
        "outlook": preview_correction(
            space, lambda: actions.run_action(action.name, given, request.actor, now, dry_run=True)
        ),
        "difference": difference,
        "leaves_gap": gap,
        "naming": naming,
        "also": also,
        "others": find_merge_candidates(space, row, q) if action.name == "merge" else [],
        "find": q,
    }


def correct_memory(
    request: ConsoleRequest, space_id: UUID, kind: str, row_id: UUID
) -> HttpResponse | None:
    """Do what the form says, and show the memory, or what now stands for it. None after a refusal:
    the page is then shown with the form as it was sent."""
    check_role(request, Membership.Role.EDITOR)
    with tenant_scope(request.tenant.id):
        space = Space.objects.get(id=space_id)
    name = request.POST.get("action", "")
    also = read_ids(request.POST.getlist("also"))
    given = CorrectionInput(kind, row_id, request.POST.dict(), space, also)
    made = attempt(
        request,
        lambda: actions.run_action(name, given, request.actor, timezone.now()),
        gettext("Nothing was changed: %(why)s."),
    )
    if made is None:
        return None
    action = actions.find_action(name)
    assert action is not None, "run_action has refused it"
    messages.success(request, str(action.done), extra_tags=build_correction_undo_tags(made))
    return redirect(f"space-{kind}", space_id, made.row.id)
