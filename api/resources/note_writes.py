"""What an agent's backend changes about notes: descriptors, never what they say."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from rest_framework import serializers

from api.fields import NameField, SomeOfSerializer
from api.resources.associations import NOTES
from api.resources.fact_writes import PinSerializer
from api.resources.writing import Deed, ReasonSerializer, RowWriteView
from notes import correcting


class _Words(serializers.ListField):
    child = NameField(max_length=120)

    def __init__(self) -> None:
        super().__init__(required=False, max_length=50)


class DescribeSerializer(SomeOfSerializer, ReasonSerializer):
    """What is left out stays as it is."""

    context = NameField(required=False, max_length=500)  # type: ignore[assignment]  # a field here
    keywords = _Words()
    tags = _Words()
    category = NameField(required=False, max_length=80)


class NoteWriteView(RowWriteView):
    resource = NOTES


class DescribeNoteView(NoteWriteView):
    """Other descriptors for a note; the pipeline does not change them any more."""

    serializer_class = DescribeSerializer
    example: ClassVar = {"tags": ["travel"], "category": "plans"}

    def change(self, deed: Deed, row_id: UUID) -> None:
        correcting.describe_note(
            deed.space,
            row_id,
            deed.actor,
            deed.now,
            reason=deed.reason,
            version=deed.version,
            **deed.values,
        )


class PinNoteView(NoteWriteView):
    """What is pinned does not fade, and the pipeline does not change it."""

    serializer_class = PinSerializer
    example: ClassVar = {"pinned": True}

    def change(self, deed: Deed, row_id: UUID) -> None:
        correcting.pin(
            deed.space,
            "note",
            row_id,
            deed.given["pinned"],
            deed.actor,
            deed.now,
            reason=deed.reason,
            version=deed.version,
        )


class DeleteNoteView(NoteWriteView):
    """Take a note out, with its links. It can be undone."""

    def change(self, deed: Deed, row_id: UUID) -> None:
        correcting.delete_note(
            deed.space, row_id, deed.actor, deed.now, reason=deed.reason, version=deed.version
        )
