"""Undo and redo of an event, and the way back to an earlier moment: shown first, then done."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from typing_extensions import TypedDict

from api.core.fields import StrictBooleanField, TimestampField
from api.rows.write_views import ReasonSerializer, SpaceWriteRequest, SpaceWriteView
from api.v1.history.reads import Difference, render_row_change
from memoryhub.dialogues.messages import to_utc
from memoryhub.errors import NotFound
from memoryhub.pipeline import corrections
from memoryhub.pipeline.corrections import Correction
from memoryhub.tenants.scope import tenant_scope
from notes.models import EvolutionEvent

MAX_CHANGES_SHOWN = 200


class UndoSerializer(ReasonSerializer):
    """`cascade`: later events that built on it are undone first."""

    cascade = StrictBooleanField(required=False, default=False)
    dry_run = StrictBooleanField(required=False, default=False)


class RollBackSerializer(ReasonSerializer):
    to = TimestampField()
    dry_run = StrictBooleanField(required=False, default=False)


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
        with tenant_scope(deed.space.tenant_id):
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
