"""Summaries of spans: segments by topic, episodes and digests by time."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from api.rows.columns import (
    DAY,
    DERIVED_COLUMNS,
    FLAG,
    ID,
    LIST,
    NUMBER,
    OBJECT,
    RETAINED_COLUMNS,
    TEXT,
    TIME,
    Resource,
    build_unretired_condition,
)
from api.rows.sources import build_source_loader
from memoryhub.tenants.models import Space
from notes.models import Episode, Segment, SegmentPage


def _load_segment_pages(space: Space, row_id: UUID, shown: dict[str, Any]) -> dict[str, Any]:
    """The exchanges of a segment, in order. One query."""
    rows = SegmentPage.objects.filter(segment=row_id).order_by("page__first_seq")[:200]
    names = ("page_id", "page__session_id", "page__first_seq", "page__last_seq", "theme", "score")
    shorter = [name.removeprefix("page__") for name in names]
    found = rows.values_list(*names)
    return {"pages": [dict(zip(shorter, row, strict=True)) for row in found]}


SEGMENTS = Resource(
    "segment",
    "Exchanges about one topic, with what their heat is made of.",
    Segment,
    {
        "id": ID,
        "summary": TEXT,
        "keywords": LIST,
        "started_at": TIME,
        "ended_at": TIME,
        "visits_total": NUMBER,
        "pages_total": NUMBER,
        "last_visited_at": TIME,
        "tier": TEXT,
        "stale": FLAG,
        **DERIVED_COLUMNS,
    },
    order=("-ended_at", "-id"),
    current_condition=build_unretired_condition,
    version="version",
    load_details=_load_segment_pages,
)
EPISODES = Resource(
    "episode",
    "A closed span, summed up: of a topic, a session, a day, all days.",
    Episode,
    {
        "id": ID,
        "kind": TEXT,
        "title": TEXT,
        "text": TEXT,
        "details": OBJECT,
        "session_id": ID,
        "day": DAY,
        "from_seq": NUMBER,
        "to_seq": NUMBER,
        "from_at": TIME,
        "to_at": TIME,
        "parent_id": ID,
        "stale": FLAG,
        **RETAINED_COLUMNS,
        **DERIVED_COLUMNS,
    },
    order=("-to_at", "-id"),
    current_condition=build_unretired_condition,
    version="version",
    load_details=build_source_loader("episode"),
)
