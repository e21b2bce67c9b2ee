"""The figures as a table."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import starmap
from typing import Any

_SEARCH_COLUMNS = (
    *("memories", "p50", "p95", "p99", "4 at once: p50", "p95"),
    *("vectors alone", "candidates", "processor"),
)


def format_report(figures: Mapping[str, Any]) -> str:
    """Search over HTTP beside the bare statement, and what the kinds of question took."""
    spaces = figures["spaces"]
    lines = [f"Search in one space, {figures['memories']:,} memories in all, milliseconds"]
    lines += _align_rows([_SEARCH_COLUMNS, *starmap(_format_search_row, spaces.items())])
    first = next(iter(spaces.values()))
    head = ("memories", *first["stages"], *first["kinds"], "answered")
    lines += ["", "p50 by stage, and p50 / p95 by kind of question"]
    lines += _align_rows([head, *starmap(_format_parts_row, spaces.items())])
    if "approximate" in figures:
        lines += ["", *_format_approximate(figures["approximate"])]
    return "\n".join(lines)


def _format_approximate(found: Mapping[str, Any]) -> list[str]:
    recall = ", ".join(f"{kind} {share:.3f}" for kind, share in found["recall"].items())
    exact, near = (found["statements"][name]["p50"] for name in ("exact", "approximate"))
    alone = found["searched"]["alone"]
    return [
        f"Approximate index of the largest space: {found['vectors']:,} vectors, "
        f"{found['build_seconds']:.0f} s, {found['megabytes']} MB",
        f"recall of the vectors' candidates against exact: {recall}",
        f"their statements: {exact:.1f} ms exact, {near:.1f} ms approximate; "
        f"search over HTTP p50 {alone['p50']:.1f}, p95 {alone['p95']:.1f} ms",
    ]


def _format_search_row(subject: str, found: Mapping[str, Any]) -> tuple[str, ...]:
    alone, parallel = found["alone"], found["parallel"]
    times = (alone["p50"], alone["p95"], alone["p99"], parallel["p50"], parallel["p95"])
    inner = (found["bare"]["p50"], found["stages"]["candidates"]["p50"])
    used = found["processor"]
    shown = "" if used is None else f"{used:.1f}"
    return (subject, *(f"{time:.1f}" for time in (*times, *inner)), shown)


def _format_parts_row(subject: str, found: Mapping[str, Any]) -> tuple[str, ...]:
    stages = (f"{each['p50']:.1f}" for each in found["stages"].values())
    kinds = (f"{each['p50']:.0f} / {each['p95']:.0f}" for each in found["kinds"].values())
    return (subject, *stages, *kinds, f"{found['answered']} of {found['alone']['of']}")


def _align_rows(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return [
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    ]
