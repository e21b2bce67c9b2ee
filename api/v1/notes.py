"""How memories hang together: notes and their links, entities and what relates them."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from django.db.models import Q
from typing_extensions import TypedDict

from api.core.fields import AtLeastOneSerializer, ListField, NameField
from api.rows.columns import Resource, build_columns, build_unretired_condition, pick_columns
from api.rows.sources import Source, load_sources
from api.rows.write_views import ReasonSerializer, RowWriteView, SpaceWriteRequest
from api.schema.openapi import WRITE_PARAMETERS
from api.v1.facts import MergeFactView, PinFactView
from memoryhub.pipeline import corrections
from memoryhub.pipeline.corrections import Correction
from notes.models import Entity, Link, Note, Relation


class NoteLink(TypedDict):
    """A link as one of its notes shows it; `note_id` is the other one."""

    id: UUID
    note_id: UUID
    kind: str
    reason: str


class NoteDetails(TypedDict):
    sources: list[Source]
    links: list[NoteLink]


def _load_note_details(row_id: UUID) -> NoteDetails:
    """Sources, and the notes it is linked to. Two queries."""
    links = Link.objects.filter(Q(a=row_id) | Q(b=row_id), active=True, retired_at=None)
    rows = links.order_by("-weight", "id").values("id", "a_id", "b_id", "kind", "reason")[:100]
    told: list[NoteLink] = [
        {
            "id": row["id"],
            "note_id": row["b_id"] if row["a_id"] == row_id else row["a_id"],
            "kind": row["kind"],
            "reason": row["reason"],
        }
        for row in rows
    ]
    return {"sources": load_sources("note", row_id), "links": told}


NOTES = Resource(
    "note",
    "A memory with descriptors that may evolve. Its content does not.",
    Note,
    build_columns(Note),
    order=("-occurred_at", "-id"),
    current_condition=build_unretired_condition,
    version="version",
    load_details=_load_note_details,
)
LINKS = Resource(
    "link",
    "Two notes that belong together.",
    Link,
    build_columns(Link),
    order=("-created_at", "-id"),
    current_condition=lambda now: build_unretired_condition(now) & Q(active=True),
    version="version",
)
ENTITIES = Resource(
    "entity",
    "Somebody or something that facts speak of.",
    Entity,
    build_columns(Entity),
    order=("-mention_count", "name", "id"),
    current_condition=lambda now: build_unretired_condition(now) & Q(merged_into=None),
    version="version",
)
RELATIONS = Resource(
    "relation",
    "What relates two entities: a fact as an arrow from one to the other.",
    Relation,
    build_columns(Relation) | pick_columns(Relation, "src_name=src__name dst_name=dst__name"),
    order=("-id",),
    current_condition=build_unretired_condition,
    version="version",
)


class DescribeNoteSerializer(AtLeastOneSerializer, ReasonSerializer):
    """What is left out stays as it is."""

    context = NameField(required=False, max_length=500)  # type: ignore[assignment]  # a field here
    keywords = ListField(NameField(max_length=120), required=False, max_length=50)
    tags = ListField(NameField(max_length=120), required=False, max_length=50)
    category = NameField(required=False, max_length=80)


class NoteWriteView(RowWriteView):
    resource = NOTES


class DescribeNoteView(NoteWriteView):
    """Other descriptors for a note; the pipeline does not change them any more."""

    serializer_class = DescribeNoteSerializer
    example: ClassVar = {"tags": ["travel"], "category": "plans"}

    def change_row(self, deed: SpaceWriteRequest, row_id: UUID) -> Correction[Any]:
        return deed.correct(corrections.describe_note, row_id, **deed.change_values)


class PinNoteView(PinFactView):
    """What is pinned does not fade, and the pipeline does not change it."""

    resource = NOTES


class ForgetNoteView(NoteWriteView):
    """Take a note out, with its links. It can be undone."""

    def change_row(self, deed: SpaceWriteRequest, row_id: UUID) -> Correction[Any]:
        return deed.correct(corrections.forget_note, row_id)


class RestoreNoteView(NoteWriteView):
    """Hold a note again that was forgotten. Undo brings its links back as well."""

    def change_row(self, deed: SpaceWriteRequest, row_id: UUID) -> Correction[Any]:
        return deed.correct(corrections.restore_note, row_id)


class MergeNoteView(MergeFactView):
    """Two notes say the same: `other` is taken out, and what it rests on supports this one."""

    resource = NOTES


class MergeEntityView(MergeFactView):
    """Two names mean one: `other` is one more name of this entity from now on."""

    resource = ENTITIES


class SplitEntityView(RowWriteView):
    """Take back the merge that made another entity stand for this one."""

    resource = ENTITIES
    parameters: ClassVar = WRITE_PARAMETERS

    def change_row(self, deed: SpaceWriteRequest, row_id: UUID) -> Correction[Any]:
        return corrections.split_entity(
            deed.space, row_id, deed.actor, deed.now, reason=deed.reason
        )


class DeleteNoteView(ForgetNoteView):
    """Deprecated: an older name of `forget`, which does the same."""

    deprecated = True
