"""What an agent's backend puts right about facts: each an event that can be undone."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from api.core.fields import NOT_BLANK, StrictBooleanField, TextField, TimestampField
from api.rows.write_views import (
    ReasonSerializer,
    RowWriteView,
    SpaceWriteRequest,
)
from api.v1.facts.reads import FACTS
from memoryhub.dialogues.messages import to_utc
from memoryhub.pipeline import corrections
from memoryhub.pipeline.corrections import Correction


class CorrectFactSerializer(ReasonSerializer):
    text = TextField(shape=NOT_BLANK)


class EndFactSerializer(ReasonSerializer):
    at = TimestampField(required=False, allow_null=True, default=None)


class PinMemorySerializer(ReasonSerializer):
    pinned = StrictBooleanField(required=False, default=True)


class FactWriteView(RowWriteView):
    resource = FACTS


class CorrectFactView(FactWriteView):
    """The same claim in better words: a new version, which the pipeline does not overwrite."""

    serializer_class = CorrectFactSerializer
    example: ClassVar = {"text": "Ana lives in Lisbon", "reason": "she said so on the phone"}

    def change_row(self, deed: SpaceWriteRequest, row_id: UUID) -> Correction[Any]:
        text = deed.given["text"]
        return corrections.correct_fact(
            deed.space, row_id, text, deed.actor, deed.now, **deed.options
        )


class EndFactView(FactWriteView):
    """It is no longer so: it held until `at`, or until now."""

    serializer_class = EndFactSerializer
    example: ClassVar = {"at": "2026-05-01T00:00:00Z", "reason": "she moved"}

    def change_row(self, deed: SpaceWriteRequest, row_id: UUID) -> Correction[Any]:
        at = deed.given["at"]
        until = to_utc(at, deed.space.timezone, field="at") if at else None
        return corrections.end_fact(
            deed.space, row_id, deed.actor, deed.now, at=until, **deed.options
        )


class RetractFactView(FactWriteView):
    """It was never so: no time brings it back, and what it had closed holds again."""

    def change_row(self, deed: SpaceWriteRequest, row_id: UUID) -> Correction[Any]:
        return corrections.retract_fact(deed.space, row_id, deed.actor, deed.now, **deed.options)


class ForgetFactView(FactWriteView):
    """Hold it no longer; what it had ended stays ended. `restore` brings it back."""

    def change_row(self, deed: SpaceWriteRequest, row_id: UUID) -> Correction[Any]:
        return corrections.forget_facts(deed.space, [row_id], deed.actor, deed.now, **deed.options)


class RestoreFactView(FactWriteView):
    """It is so after all, and still."""

    def change_row(self, deed: SpaceWriteRequest, row_id: UUID) -> Correction[Any]:
        return corrections.restore_fact(deed.space, row_id, deed.actor, deed.now, **deed.options)


class PinFactView(FactWriteView):
    """What is pinned does not fade, and the pipeline does not change it."""

    serializer_class = PinMemorySerializer
    example: ClassVar = {"pinned": True}

    def change_row(self, deed: SpaceWriteRequest, row_id: UUID) -> Correction[Any]:
        pinned = deed.given["pinned"]
        return corrections.set_pinned(
            deed.space, "fact", row_id, pinned, deed.actor, deed.now, **deed.options
        )
