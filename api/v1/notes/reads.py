"""How memories hang together: notes and their links, entities and what relates them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import Q
from typing_extensions import TypedDict

from api.rows.columns import Column, Resource, build_columns, build_unretired_condition
from api.rows.sources import Source, load_sources
from memoryhub.tenants.models import Space
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


def _load_note_details(space: Space, row_id: UUID, shown: dict[str, Any]) -> NoteDetails:
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
    {
        **build_columns(Relation),
        "src_name": Column("text", "src__name"),
        "dst_name": Column("text", "dst__name"),
    },
    order=("-id",),
    current_condition=build_unretired_condition,
    version="version",
)
