"""The turns that a memory rests on."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from memoryhub.tenants.models import Space
from notes.models import Derivation

MAX_SOURCES = 100


def build_source_loader(kind: str) -> Any:
    """For `Resource.more`: `sources` of a row of this kind, in the order they were said."""

    def load_row_sources(space: Space, row_id: UUID, shown: dict[str, Any]) -> dict[str, Any]:
        return {"sources": load_sources(kind, row_id)}

    return load_row_sources


def load_sources(kind: str, row_id: UUID) -> list[dict[str, Any]]:
    """One query."""
    links = Derivation.objects.filter(child_type=kind, child_id=row_id).select_related("turn")
    return [_render_source(link) for link in links.order_by("turn__seq", "id")[:MAX_SOURCES]]


def _render_source(link: Derivation) -> dict[str, Any]:
    turn = link.turn
    spanned = link.span_start is not None and link.span_end is not None
    return {
        "turn_id": turn.id,
        "role": link.role,
        "span": [link.span_start, link.span_end] if spanned else None,
        "speaker": turn.speaker,
        "text": turn.text,
        "occurred_at": turn.occurred_at,
        "via": {"kind": link.via_type, "id": link.via_id} if link.via_id else None,
    }
