"""Undo and redo of an event, and the way back to an earlier moment: shown first, then done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from api.fields import FlagField, TimestampField
from api.resources.history import change_shown
from api.resources.writing import Deed, ReasonSerializer, WriteView
from memoryhub.dialogues.messages import in_zone
from memoryhub.errors import NotFound
from memoryhub.pipeline.restoring import roll_back, undo
from memoryhub.tenants.scope import tenant_scope
from notes import timeline, undoing
from notes.models import EvolutionEvent
from notes.workbench import Workbench

MOST_SHOWN = 200


class UndoSerializer(ReasonSerializer):
    """`cascade`: later events that built on it are undone first."""

    cascade = FlagField(required=False, default=False)
    dry_run = FlagField(required=False, default=False)


class RollBackSerializer(ReasonSerializer):
    to = TimestampField()
    dry_run = FlagField(required=False, default=False)


_OUTLOOK = {
    "type": "object",
    "properties": {
        "dry_run": {"type": "boolean"},
        "event_ids": {"type": "array", "items": {"type": "string", "format": "uuid"}},
        "undone": {"type": "array", "items": {"type": "string", "format": "uuid"}},
        "changes": {"type": "array", "items": {"type": "object"}},
    },
}


class UndoView(WriteView):
    """Take back what an event did; of an undo, that is redo. `dry_run` shows it only."""

    serializer_class = UndoSerializer
    example: ClassVar = {"cascade": True, "reason": "read wrongly"}

    def work(self, deed: Deed, **ids: Any) -> dict[str, Any]:
        with tenant_scope(deed.space.tenant_id):
            rows = EvolutionEvent.objects.filter(space=deed.space, id=ids["row_id"])
            event = rows.first()
            if event is None:
                raise NotFound("There is no such event.")
            cascade = deed.given["cascade"]
            bench = undoing.plan(event, deed.actor, deed.now, cascade=cascade)
        shown = _outlook(bench)
        if deed.given["dry_run"]:
            return shown | {"dry_run": True, "event_ids": []}
        made = undo(event, deed.actor, deed.now, cascade=cascade, reason=deed.reason)
        return shown | {"dry_run": False, "event_ids": [made.id]}

    def answers(self) -> dict[str, Any]:
        return _OUTLOOK


class RollBackView(WriteView):
    """Undo every event after `to`, all or none. `dry_run` shows it only."""

    scopes: ClassVar = {"POST": "admin"}
    serializer_class = RollBackSerializer
    example: ClassVar = {"to": "2026-05-12T09:00:00Z", "dry_run": True}

    def work(self, deed: Deed, **ids: Any) -> dict[str, Any]:
        to = in_zone(deed.given["to"], deed.space.timezone, field="to")
        with tenant_scope(deed.space.tenant_id):
            bench = timeline.plan_roll_back(deed.space, to, deed.actor, deed.now)
        shown = _outlook(bench)
        if deed.given["dry_run"]:
            return shown | {"dry_run": True, "event_ids": []}
        made = roll_back(deed.space, to, deed.actor, deed.now, reason=deed.reason)
        return shown | {"dry_run": False, "event_ids": [each.id for each in made]}

    def answers(self) -> dict[str, Any]:
        return _OUTLOOK


def _outlook(bench: Workbench) -> dict[str, Any]:
    changes: Sequence[timeline.RowChange] = timeline.preview(bench)
    return {
        "undone": [event.id for event in bench.undone],
        "changes": [change_shown(one) for one in changes[:MOST_SHOWN]],
    }
