"""Rows in the words of the API: one module a family, with its columns, its reads and its writes."""

from __future__ import annotations

from api.resources.rows import (
    answer_resource,
    ingested_resource,
    job_resource,
    space_resource,
    turn_resource,
)

__all__ = [
    "answer_resource",
    "ingested_resource",
    "job_resource",
    "space_resource",
    "turn_resource",
]
