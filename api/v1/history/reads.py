"""What changed memory, when and why; what was held before; what has changed since."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from api.core.views import HubView
from api.rows.columns import FLAG, ID, NUMBER, OBJECT, TEXT, TIME, Column, Resource
from api.rows.lists import read_limit
from api.rows.read_views import get_space_at_path
from api.schema.openapi import PAGE_PARAMETERS, build_time_parameter
from api.v1.facts.reads import read_time_parameter
from memoryhub.errors import InvalidInput
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.history import row_kinds, timeline
from notes.models import EvolutionEvent, Revision


def _load_event_changes(space: Space, row_id: UUID, shown: dict[str, Any]) -> dict[str, Any]:
    """What it changed, and whether that was undone. Two queries."""
    rows = Revision.objects.filter(event=row_id).order_by("row_type", "id")
    names = ("row_type", "row_id", "version_before", "version_after", "before", "after")
    undone = EvolutionEvent.objects.filter(undo_of=row_id).order_by("-created_at")
    return {
        "changes": list(rows.values(*names)[:200]),
        "undone_by": undone.values_list("id", flat=True).first(),
    }


EVENTS = Resource(
    "event",
    "One change-set: who or what changed memory, and why.",
    EvolutionEvent,
    {
        "id": ID,
        "kind": TEXT,
        "actor": TEXT,
        "trigger": TEXT,
        "reason": TEXT,
        "engine": TEXT,
        "policy_version": TEXT,
        "job_id": ID,
        "undo_of": Column("id", "undo_of_id"),
        "is_purged": FLAG,
        "created_at": TIME,
    },
    order=("-created_at", "-id"),
    load_details=_load_event_changes,
)
ROW_CHANGES = Resource(
    "change",
    "One row's change within an event. `before` is null when the event made the row.",
    Revision,
    {
        "id": ID,
        "event_id": ID,
        "event_kind": Column("text", "event__kind"),
        "actor": Column("text", "event__actor"),
        "reason": Column("text", "event__reason"),
        "created_at": Column("time", "event__created_at"),
        "row_type": TEXT,
        "row_id": ID,
        "version_before": NUMBER,
        "version_after": NUMBER,
        "before": OBJECT,
        "after": OBJECT,
    },
    order=("-created_at", "-id"),
)
_KIND_PARAMETER = OpenApiParameter(
    "kind",
    str,
    enum=sorted(kind.name for kind in row_kinds.list_row_kinds()),
    description="Only rows of this kind.",
)


class _TimelineView(HubView):
    """A list made in memory: by kind and id, the cursor being the last one's."""

    scopes: ClassVar = {"GET": "read"}
    time = ""

    def get(self, request: Request, subject: str) -> Response:
        space = get_space_at_path(request, subject)
        at = read_time_parameter(request, self.time, space)
        if at is None:
            raise InvalidInput("a time", field=self.time)
        kind, limit = _read_kind(request), read_limit(request)
        with tenant_scope(space.tenant_id):
            found = [one for one in self.load_entries(space, at) if kind in (None, one["kind"])]
        return Response(_build_page(request, found, limit))

    def load_entries(self, space: Space, at: Any) -> list[dict[str, Any]]:
        raise NotImplementedError


class AsOfView(_TimelineView):
    """The rows held at a moment of the past, with the values they had."""

    time = "at"
    parameters: ClassVar = [
        build_time_parameter("at", "The moment.", required=True),
        _KIND_PARAMETER,
        *PAGE_PARAMETERS[:2],
    ]

    def load_entries(self, space: Space, at: Any) -> list[dict[str, Any]]:
        held = timeline.load_state_at(space, at)
        return [{"kind": k, "id": row, "values": values} for (k, row), values in held.items()]


class ChangesView(_TimelineView):
    """What is different now from what was held at a moment of the past."""

    time = "since"
    parameters: ClassVar = [
        build_time_parameter("since", "The moment.", required=True),
        _KIND_PARAMETER,
        *PAGE_PARAMETERS[:2],
    ]

    def load_entries(self, space: Space, at: Any) -> list[dict[str, Any]]:
        return [
            render_row_change(one) for one in timeline.load_changes_since(space, at, timezone.now())
        ]


def render_row_change(one: timeline.RowChange) -> dict[str, Any]:
    """A row that is not what it was, in the words of the API."""
    changed = {name: {"before": old, "after": new} for name, old, new in one.fields}
    values = one.after or one.before
    return {"kind": one.kind, "id": one.row_id, "how": one.how, "values": values, "fields": changed}


def _read_kind(request: Request) -> str | None:
    given = request.query_params.get("kind")
    known = sorted(kind.name for kind in row_kinds.list_row_kinds())
    if given is not None and given not in known:
        raise InvalidInput(f"one of {', '.join(known)}", field="kind")
    return given


def _build_page(request: Request, found: Sequence[dict[str, Any]], limit: int) -> dict[str, Any]:
    ordered = sorted(found, key=_format_row_place)
    after = _read_cursor(request)
    left = [one for one in ordered if _format_row_place(one) > after]
    more = len(left) > limit
    return {
        "items": left[:limit],
        "total": len(ordered),
        "next": _format_row_place(left[limit - 1]) if more else None,
    }


def _read_cursor(request: Request) -> str:
    """The place that the cursor names. Raises InvalidInput."""
    given = request.query_params.get("cursor")
    if given is not None and not re.fullmatch("[a-z]+:[0-9a-f-]{36}", given):
        raise InvalidInput("take `next` of the page before", field="cursor")
    return given or ""


def _format_row_place(one: dict[str, Any]) -> str:
    return f"{one['kind']}:{one['id']}"
