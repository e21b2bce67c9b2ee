"""What an agent's backend puts right about facts: each an event that can be undone."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from api.fields import SAID, FlagField, TextField, TimestampField
from api.resources.facts import FACTS
from api.resources.writing import Deed, ReasonSerializer, RowWriteView, said
from memoryhub.dialogues.messages import in_zone
from notes import amending, correcting


class CorrectSerializer(ReasonSerializer):
    text = TextField(shape=SAID)


class EndSerializer(ReasonSerializer):
    at = TimestampField(required=False, allow_null=True, default=None)


class PinSerializer(ReasonSerializer):
    pinned = FlagField(required=False, default=True)


class FactWriteView(RowWriteView):
    resource = FACTS


class CorrectFactView(FactWriteView):
    """The same claim in better words: a new version, which the pipeline does not overwrite."""

    serializer_class = CorrectSerializer
    example: ClassVar = {"text": "Ana lives in Lisbon", "reason": "she said so on the phone"}

    def change(self, deed: Deed, row_id: UUID) -> UUID:
        made = correcting.edit_text(
            deed.space,
            row_id,
            deed.given["text"],
            deed.actor,
            deed.now,
            reason=deed.reason,
            version=deed.version,
        )
        return made.id


class EndFactView(FactWriteView):
    """It is no longer so: it held until `at`, or until now."""

    serializer_class = EndSerializer
    example: ClassVar = {"at": "2026-05-01T00:00:00Z", "reason": "she moved"}

    def change(self, deed: Deed, row_id: UUID) -> None:
        at = deed.given["at"]
        until = in_zone(at, deed.space.timezone, field="at") if at else None
        correcting.ended(deed.space, row_id, deed.actor, deed.now, at=until, **said(deed))


class RetractFactView(FactWriteView):
    """It was never so: no time brings it back, and what it had closed holds again."""

    def change(self, deed: Deed, row_id: UUID) -> None:
        correcting.never_true(deed.space, row_id, deed.actor, deed.now, **said(deed))


class ForgetFactView(FactWriteView):
    """Hold it no longer; what it had ended stays ended. `restore` brings it back."""

    def change(self, deed: Deed, row_id: UUID) -> None:
        read = ("fact", row_id, deed.version)
        amending.remove(deed.space, [row_id], deed.actor, deed.now, reason=deed.reason, read=read)


class RestoreFactView(FactWriteView):
    """It is so after all, and still."""

    def change(self, deed: Deed, row_id: UUID) -> None:
        correcting.restore(deed.space, row_id, deed.actor, deed.now, **said(deed))


class PinFactView(FactWriteView):
    """What is pinned does not fade, and the pipeline does not change it."""

    serializer_class = PinSerializer
    example: ClassVar = {"pinned": True}

    def change(self, deed: Deed, row_id: UUID) -> None:
        pinned = deed.given["pinned"]
        correcting.pin(deed.space, "fact", row_id, pinned, deed.actor, deed.now, **said(deed))
