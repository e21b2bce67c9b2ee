"""What changed memory, when and why; what was held before; undo, and the way back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar, Literal
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from api.core.fields import StrictBooleanField, TimestampField
from api.core.views import HubView
from api.rows.answers import build_bare_page_type
from api.rows.columns import Resource, pick_columns
from api.rows.lists import read_limit
from api.rows.read_views import get_space_at_path
from api.rows.write_views import ReasonSerializer, SpaceWriteRequest, SpaceWriteView
from api.schema.openapi import PAGE_PARAMETERS, build_time_parameter
from api.v1.facts import read_time_parameter
from memoryhub.dialogues.messages import to_utc
from memoryhub.errors import InvalidInput, NotFound
from memoryhub.pipeline import corrections
from memoryhub.pipeline.corrections import Correction
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.history import row_kinds, timeline
from notes.models import EvolutionEvent, Revision


class EventChange(TypedDict):
    """What an event did to one row. `before` is null where it made the row."""

    row_type: str
    row_id: UUID
    version_before: int | None
    version_after: int | None
    before: dict[str, Any] | None
    after: dict[str, Any] | None


class EventDetails(TypedDict):
    changes: list[EventChange]
    undone_by: UUID | None


def _load_event_changes(row_id: UUID) -> EventDetails:
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
    pick_columns(
        EvolutionEvent,
        "id kind actor trigger reason engine policy_version job_id undo_of=undo_of_id is_purged "
        "created_at",
    ),
    order=("-created_at", "-id"),
    load_details=_load_event_changes,
)
ROW_CHANGES = Resource(
    "change",
    "One row's change within an event. `before` is null when the event made the row.",
    Revision,
    pick_columns(
        Revision,
        "id event_id event_kind=event__kind actor=event__actor reason=event__reason "
        "created_at=event__created_at row_type row_id version_before version_after before after",
    ),
    order=("-created_at", "-id"),
)
_KINDS = sorted(kind.name for kind in row_kinds.list_row_kinds())
_TIMELINE_PARAMETERS = [
    OpenApiParameter("kind", str, enum=_KINDS, description="Only rows of this kind."),
    *PAGE_PARAMETERS[:2],
]


class HeldRow(TypedDict):
    """A row as it was held at some moment."""

    kind: str
    id: UUID
    values: dict[str, Any]


class ChangedValue(TypedDict):
    before: Any
    after: Any


class Difference(TypedDict):
    """What is different from some moment."""

    kind: str
    id: UUID
    how: Literal["added", "changed", "removed"]
    values: dict[str, Any]
    fields: dict[str, ChangedValue]


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
    answer: ClassVar = build_bare_page_type(HeldRow)
    parameters: ClassVar = [
        build_time_parameter("at", "The moment.", required=True),
        *_TIMELINE_PARAMETERS,
    ]

    def load_entries(self, space: Space, at: Any) -> list[dict[str, Any]]:
        held = timeline.load_state_at(space, at)
        return [{"kind": k, "id": row, "values": values} for (k, row), values in held.items()]


class ChangesView(_TimelineView):
    """What is different now from what was held at a moment of the past."""

    time = "since"
    answer: ClassVar = build_bare_page_type(Difference)
    parameters: ClassVar = [
        build_time_parameter("since", "The moment.", required=True),
        *_TIMELINE_PARAMETERS,
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
    if given is not None and given not in _KINDS:
        raise InvalidInput(f"one of {', '.join(_KINDS)}", field="kind")
    return given


def _build_page(request: Request, found: Sequence[dict[str, Any]], limit: int) -> dict[str, Any]:
    after = _read_cursor(request)
    left = [one for one in sorted(found, key=_format_row_place) if _format_row_place(one) > after]
    following = _format_row_place(left[limit - 1]) if len(left) > limit else None
    return {"items": left[:limit], "total": len(found), "next": following}


def _read_cursor(request: Request) -> str:
    """The place that the cursor names. Raises InvalidInput."""
    given = request.query_params.get("cursor")
    if given is not None and not re.fullmatch("[a-z]+:[0-9a-f-]{36}", given):
        raise InvalidInput("take `next` of the page before", field="cursor")
    return given or ""


def _format_row_place(one: dict[str, Any]) -> str:
    return f"{one['kind']}:{one['id']}"


MAX_CHANGES_SHOWN = 200


class UndoSerializer(ReasonSerializer):
    """`cascade`: later events that built on it are undone first."""

    cascade = StrictBooleanField(default=False)
    dry_run = StrictBooleanField(default=False)


class RollBackSerializer(ReasonSerializer):
    to = TimestampField()
    dry_run = StrictBooleanField(default=False)


class UndoResult(TypedDict):
    """What was taken back, or would be: events, what became different, and the events made."""

    dry_run: bool
    undone: list[UUID]
    changes: list[Difference]
    event_ids: list[UUID]


class UndoEventView(SpaceWriteView):
    """Take back what an event did; of an undo, that is redo. `dry_run` shows it only."""

    serializer_class = UndoSerializer
    answer: ClassVar = UndoResult
    example: ClassVar = {"cascade": True, "reason": "read wrongly"}

    def run_write(self, deed: SpaceWriteRequest, **ids: Any) -> dict[str, Any]:
        with tenant_scope(deed.tenant_id):
            event = EvolutionEvent.objects.filter(space=deed.space, id=ids["row_id"]).first()
        if event is None:
            raise NotFound("There is no such event.")
        undone = corrections.undo_event(
            event, deed.actor, deed.now, **deed.change_values, reason=deed.reason
        )
        return _render_undo(undone, dry_run=deed.given["dry_run"])


class RollBackView(SpaceWriteView):
    """Undo every event after `to`, all or none. `dry_run` shows it only."""

    scopes: ClassVar = {"POST": "admin"}
    serializer_class = RollBackSerializer
    answer: ClassVar = UndoResult
    example: ClassVar = {"to": "2026-05-12T09:00:00Z", "dry_run": True}

    def run_write(self, deed: SpaceWriteRequest, **ids: Any) -> dict[str, Any]:
        to = to_utc(deed.given["to"], deed.space.timezone, field="to")
        dry_run = deed.given["dry_run"]
        undone = corrections.roll_back_space(
            deed.space, to, deed.actor, deed.now, reason=deed.reason, dry_run=dry_run
        )
        return _render_undo(undone, dry_run=dry_run)


def _render_undo(undone: Correction[Any], *, dry_run: bool) -> dict[str, Any]:
    return {
        "undone": [event.id for event in undone.undone_events],
        "changes": [render_row_change(one) for one in undone.changes[:MAX_CHANGES_SHOWN]],
        "dry_run": dry_run,
        "event_ids": [] if dry_run else [event.id for event in undone.events],
    }
