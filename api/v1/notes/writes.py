"""What an agent's backend changes about notes: descriptors, never what they say."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from rest_framework import serializers

from api.core.fields import AtLeastOneSerializer, NameField
from api.rows.write_views import ReasonSerializer, RowWriteView, SpaceWriteRequest
from api.v1.facts.writes import PinMemorySerializer
from api.v1.notes.reads import NOTES
from memoryhub.pipeline import corrections
from memoryhub.pipeline.corrections import Correction


class _WordsField(serializers.ListField):
    child = NameField(max_length=120)

    def __init__(self) -> None:
        super().__init__(required=False, max_length=50)


class DescribeNoteSerializer(AtLeastOneSerializer, ReasonSerializer):
    """What is left out stays as it is."""

    context = NameField(required=False, max_length=500)  # type: ignore[assignment]  # a field here
    keywords = _WordsField()
    tags = _WordsField()
    category = NameField(required=False, max_length=80)


class NoteWriteView(RowWriteView):
    resource = NOTES


class DescribeNoteView(NoteWriteView):
    """Other descriptors for a note; the pipeline does not change them any more."""

    serializer_class = DescribeNoteSerializer
    example: ClassVar = {"tags": ["travel"], "category": "plans"}

    def change_row(self, deed: SpaceWriteRequest, row_id: UUID) -> Correction[Any]:
        return corrections.describe_note(
            deed.space, row_id, deed.actor, deed.now, **deed.change_values, **deed.options
        )


class PinNoteView(NoteWriteView):
    """What is pinned does not fade, and the pipeline does not change it."""

    serializer_class = PinMemorySerializer
    example: ClassVar = {"pinned": True}

    def change_row(self, deed: SpaceWriteRequest, row_id: UUID) -> Correction[Any]:
        pinned = deed.given["pinned"]
        return corrections.set_pinned(
            deed.space, "note", row_id, pinned, deed.actor, deed.now, **deed.options
        )


class ForgetNoteView(NoteWriteView):
    """Take a note out, with its links. It can be undone."""

    def change_row(self, deed: SpaceWriteRequest, row_id: UUID) -> Correction[Any]:
        return corrections.forget_note(deed.space, row_id, deed.actor, deed.now, **deed.options)


class DeleteNoteView(ForgetNoteView):
    """Deprecated: an older name of `forget`, which does the same."""

    deprecated = True
