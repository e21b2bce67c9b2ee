"""Undo and redo of an event, and the way back to an earlier moment: shown first, then done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from api.core.fields import StrictBooleanField, TimestampField
from api.rows.write_views import ReasonSerializer, SpaceWriteRequest, SpaceWriteView
from api.v1.history.reads import render_row_change
from memoryhub.dialogues.messages import to_utc
from memoryhub.errors import NotFound
from memoryhub.pipeline.corrections import roll_back_space, undo_event
from memoryhub.tenants.scope import tenant_scope
from notes.history import timeline, undo
from notes.history.unit_of_work import ChangePlan
from notes.models import EvolutionEvent

MAX_CHANGES_SHOWN = 200


class UndoSerializer(ReasonSerializer):
    """`cascade`: later events that built on it are undone first."""

    cascade = StrictBooleanField(required=False, default=False)
    dry_run = StrictBooleanField(required=False, default=False)


class RollBackSerializer(ReasonSerializer):
    to = TimestampField()
    dry_run = StrictBooleanField(required=False, default=False)


_UNDO_SCHEMA = {
    "type": "object",
    "properties": {
        "dry_run": {"type": "boolean"},
        "event_ids": {"type": "array", "items": {"type": "string", "format": "uuid"}},
        "undone": {"type": "array", "items": {"type": "string", "format": "uuid"}},
        "changes": {"type": "array", "items": {"type": "object"}},
    },
}


class UndoEventView(SpaceWriteView):
    """Take back what an event did; of an undo, that is redo. `dry_run` shows it only."""

    serializer_class = UndoSerializer
    example: ClassVar = {"cascade": True, "reason": "read wrongly"}

    def run_write(self, deed: SpaceWriteRequest, **ids: Any) -> dict[str, Any]:
        with tenant_scope(deed.space.tenant_id):
            rows = EvolutionEvent.objects.filter(space=deed.space, id=ids["row_id"])
            event = rows.first()
            if event is None:
                raise NotFound("There is no such event.")
            cascade = deed.given["cascade"]
            bench = undo.plan_undo(event, deed.actor, deed.now, cascade=cascade)
        shown = _render_undo_plan(bench)
        if deed.given["dry_run"]:
            return shown | {"dry_run": True, "event_ids": []}
        made = undo_event(event, deed.actor, deed.now, cascade=cascade, reason=deed.reason)
        return shown | {"dry_run": False, "event_ids": [made.id]}

    def build_response_schema(self) -> dict[str, Any]:
        return _UNDO_SCHEMA


class RollBackView(SpaceWriteView):
    """Undo every event after `to`, all or none. `dry_run` shows it only."""

    scopes: ClassVar = {"POST": "admin"}
    serializer_class = RollBackSerializer
    example: ClassVar = {"to": "2026-05-12T09:00:00Z", "dry_run": True}

    def run_write(self, deed: SpaceWriteRequest, **ids: Any) -> dict[str, Any]:
        to = to_utc(deed.given["to"], deed.space.timezone, field="to")
        with tenant_scope(deed.space.tenant_id):
            bench = timeline.plan_roll_back(deed.space, to, deed.actor, deed.now)
        shown = _render_undo_plan(bench)
        if deed.given["dry_run"]:
            return shown | {"dry_run": True, "event_ids": []}
        made = roll_back_space(deed.space, to, deed.actor, deed.now, reason=deed.reason)
        return shown | {"dry_run": False, "event_ids": [each.id for each in made]}

    def build_response_schema(self) -> dict[str, Any]:
        return _UNDO_SCHEMA


def _render_undo_plan(bench: ChangePlan) -> dict[str, Any]:
    changes: Sequence[timeline.RowChange] = timeline.preview_changes(bench)
    return {
        "undone": [event.id for event in bench.undone_events],
        "changes": [render_row_change(one) for one in changes[:MAX_CHANGES_SHOWN]],
    }
