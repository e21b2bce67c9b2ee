"""Summaries of spans: segments by topic, episodes and digests by time."""

from __future__ import annotations

from uuid import UUID

from typing_extensions import TypedDict

from api.rows.columns import Resource, build_columns, build_unretired_condition
from api.rows.sources import build_source_loader
from notes.models import Episode, Segment, SegmentPage


class SegmentPageRow(TypedDict):
    """An exchange of a segment; `score`: how well it fits."""

    page_id: UUID
    session_id: UUID
    first_seq: int
    last_seq: int
    theme: str
    score: float | None


class SegmentDetails(TypedDict):
    pages: list[SegmentPageRow]


def _load_segment_pages(row_id: UUID) -> SegmentDetails:
    """The exchanges of a segment, in order. One query."""
    rows = SegmentPage.objects.filter(segment=row_id).order_by("page__first_seq")[:200]
    return {
        "pages": [
            {
                "page_id": row.page_id,
                "session_id": row.page.session_id,
                "first_seq": row.page.first_seq,
                "last_seq": row.page.last_seq,
                "theme": row.theme,
                "score": row.score,
            }
            for row in rows.select_related("page")
        ]
    }


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
