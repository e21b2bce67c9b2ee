"""How memories hang together: notes and their links, entities and what relates them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import Q

from api.rows.columns import (
    DERIVED_COLUMNS,
    FLAG,
    ID,
    LIST,
    NUMBER,
    RETAINED_COLUMNS,
    TEXT,
    TIME,
    Column,
    Resource,
    build_unretired_condition,
)
from api.rows.sources import load_sources
from memoryhub.tenants.models import Space
from notes.models import Entity, Link, Note, Relation


def _load_note_details(space: Space, row_id: UUID, shown: dict[str, Any]) -> dict[str, Any]:
    """Sources, and the notes it is linked to. Two queries."""
    links = Link.objects.filter(Q(a=row_id) | Q(b=row_id), active=True, retired_at=None)
    rows = links.order_by("-weight", "id").values("id", "a_id", "b_id", "kind", "reason")[:100]
    told = [
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
    {
        "id": ID,
        "content": TEXT,
        "context": TEXT,
        "keywords": LIST,
        "tags": LIST,
        "category": TEXT,
        "author": TEXT,
        "page_id": ID,
        "fact_id": ID,
        "enrichment": TEXT,
        "occurred_at": TIME,
        "created_at": TIME,
        **RETAINED_COLUMNS,
        **DERIVED_COLUMNS,
    },
    order=("-occurred_at", "-id"),
    current_condition=build_unretired_condition,
    version="version",
    load_details=_load_note_details,
)
LINKS = Resource(
    "link",
    "Two notes that belong together.",
    Link,
    {
        "id": ID,
        "a": Column("id", "a_id"),
        "b": Column("id", "b_id"),
        "kind": TEXT,
        "reason": TEXT,
        "weight": NUMBER,
        "active": FLAG,
        "created_at": TIME,
        **DERIVED_COLUMNS,
    },
    order=("-created_at", "-id"),
    current_condition=lambda now: build_unretired_condition(now) & Q(active=True),
    version="version",
)
ENTITIES = Resource(
    "entity",
    "Somebody or something that facts speak of.",
    Entity,
    {
        "id": ID,
        "name": TEXT,
        "type": TEXT,
        "aliases": LIST,
        "summary": TEXT,
        "mention_count": NUMBER,
        "merged_into": Column("id", "merged_into_id"),
        **DERIVED_COLUMNS,
    },
    order=("-mention_count", "name", "id"),
    current_condition=lambda now: build_unretired_condition(now) & Q(merged_into=None),
    version="version",
)
RELATIONS = Resource(
    "relation",
    "What relates two entities: a fact as an arrow from one to the other.",
    Relation,
    {
        "id": ID,
        "src": Column("id", "src_id"),
        "src_name": Column("text", "src__name"),
        "label": TEXT,
        "dst": Column("id", "dst_id"),
        "dst_name": Column("text", "dst__name"),
        "fact_id": ID,
        **DERIVED_COLUMNS,
    },
    order=("-id",),
    current_condition=build_unretired_condition,
    version="version",
)
