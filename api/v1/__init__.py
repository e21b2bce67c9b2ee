"""Rows in the words of the API: one module a family, with its columns, its reads and its writes."""

from __future__ import annotations

from api.v1.memories.render import (
    render_ingest,
    render_job,
    render_recall,
    render_space,
    render_turn,
)

__all__ = [
    "render_ingest",
    "render_job",
    "render_recall",
    "render_space",
    "render_turn",
]
