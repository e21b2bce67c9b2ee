"""What the pages of facts and of notes share."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone

from memoryhub.console.frame import charts
from memoryhub.console.frame.forgetting_curves import build_curve
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.pages.corrections import actions, views
from memoryhub.console.pages.memories import neighbourhood
from memoryhub.console.pages.recalls.views import load_recalls_showing
from memoryhub.policies.services import load_effective_policy
from notes.models import Fact, Note
from notes.retention.decay import compute_retention_state


def wants_form_only(request: ConsoleRequest) -> bool:
    """A browser that fetches a page again from its own history wants all of it."""
    return bool(request.htmx) and not request.htmx.history_restore_request


def render_correction_form(
    request: ConsoleRequest, space: Any, kind: str, row: Fact | Note
) -> HttpResponse:
    found = views.build_correction_form(request, space, kind, row, timezone.now())
    return render(
        request, "corrections/_form.html", {"space": space, "memory": row, "kind": kind} | found
    )


def build_memory_context(
    request: ConsoleRequest, space: Any, kind: str, row: Fact | Note
) -> dict[str, Any]:
    """What the pages of facts and of notes both tell."""
    now, forget = timezone.now(), load_effective_policy(space).policy.forget
    said = row.asserted_at if isinstance(row, Fact) else row.occurred_at
    today = now.astimezone(ZoneInfo("UTC")).date()
    return {
        "memory": row,
        "kind": kind,
        "actions": actions.list_offered_actions(kind, row),
        "standing": compute_retention_state(row, said, forget, now),
        "curve": build_curve(row, said, forget, now),
        "recalled": load_recalls_showing(space, row.id),
        "recall_days": charts.build_daily_bars(
            neighbourhood.count_recalls_by_day(space, row.id, today)
        ),
        **views.build_correction_form(request, space, kind, row, now),
    }
