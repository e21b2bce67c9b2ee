"""Summaries of spans: segments by topic, episodes and digests by time."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from api.rows.columns import Resource, build_columns, build_unretired_condition
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
    build_columns(Segment),
    order=("-ended_at", "-id"),
    current_condition=build_unretired_condition,
    version="version",
    load_details=_load_segment_pages,
)
EPISODES = Resource(
    "episode",
    "A closed span, summed up: of a topic, a session, a day, all days.",
    Episode,
    build_columns(Episode),
    order=("-to_at", "-id"),
    current_condition=build_unretired_condition,
    version="version",
    load_details=build_source_loader("episode"),
)
