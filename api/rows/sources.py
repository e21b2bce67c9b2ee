"""The turns that a memory rests on."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from typing_extensions import TypedDict

from notes.models import Derivation

MAX_SOURCES = 100


class SourceOrigin(TypedDict):
    """The memory by way of which a turn was come by."""

    kind: str
    id: UUID


class Source(TypedDict):
    """A turn that a memory rests on; `span`: the characters of it."""

    turn_id: UUID
    role: str
    span: tuple[int, int] | None
    speaker: str
    text: str
    occurred_at: datetime
    via: SourceOrigin | None


class SourceDetails(TypedDict):
    sources: list[Source]


def build_source_loader(kind: str) -> Any:
    """For `Resource.load_details`: `sources` of a row of this kind, in the order they were said."""

    def load_row_sources(row_id: UUID) -> SourceDetails:
        return {"sources": load_sources(kind, row_id)}

    return load_row_sources


def load_sources(kind: str, row_id: UUID) -> list[Source]:
    """One query."""
    links = Derivation.objects.filter(child_type=kind, child_id=row_id).select_related("turn")
    return [_render_source(link) for link in links.order_by("turn__seq", "id")[:MAX_SOURCES]]


def _render_source(link: Derivation) -> Source:
    turn, start, end = link.turn, link.span_start, link.span_end
    return {
        "turn_id": turn.id,
        "role": link.role,
        "span": (start, end) if start is not None and end is not None else None,
        "speaker": turn.speaker,
        "text": turn.text,
        "occurred_at": turn.occurred_at,
        "via": {"kind": link.via_type, "id": link.via_id} if link.via_id else None,
    }
