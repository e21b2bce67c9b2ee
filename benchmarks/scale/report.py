"""The figures as a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_HEAD = ("memories", "p50", "p95", "p99", "4 at once: p50", "p95", "vectors alone", "candidates")


def table(figures: Mapping[str, Any]) -> str:
    """Search over HTTP beside the bare statement, and what the kinds of question took."""
    spaces = figures["spaces"]
    lines = [f"Search in one space, {figures['memories']:,} memories in all, milliseconds"]
    lines += _aligned([_HEAD, *(_row(subject, found) for subject, found in spaces.items())])
    lines += ["", "p50 by stage, and p50 / p95 by kind of question"]
    first = next(iter(spaces.values()))
    head = ("memories", *first["stages"], *first["kinds"])
    return "\n".join(
        lines + _aligned([head, *(_parts(subject, found) for subject, found in spaces.items())])
    )


def _row(subject: str, found: Mapping[str, Any]) -> tuple[str, ...]:
    alone, parallel = found["alone"], found["parallel"]
    times = (alone["p50"], alone["p95"], alone["p99"], parallel["p50"], parallel["p95"])
    inner = (found["bare"]["p50"], found["stages"]["candidates"]["p50"])
    return (subject, *(f"{time:.1f}" for time in (*times, *inner)))


def _parts(subject: str, found: Mapping[str, Any]) -> tuple[str, ...]:
    stages = (f"{each['p50']:.1f}" for each in found["stages"].values())
    kinds = (f"{each['p50']:.0f} / {each['p95']:.0f}" for each in found["kinds"].values())
    return (subject, *stages, *kinds)


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return [
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]
