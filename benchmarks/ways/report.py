"""What was measured, as a table."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(slots=True)
class Took:
    """Milliseconds a call: waited, and of processor time the client's and the web server's."""

    waited: list[float] = field(default_factory=list)
    client: list[float] = field(default_factory=list)
    served: list[float] = field(default_factory=list)


def table(title: str, took: Mapping[str, Took]) -> str:
    """Markdown; the median of what was waited, its 95th percentile, and means of processor time."""
    rows = [
        f"| {name} | {statistics.median(one.waited):.1f} | {late(one.waited):.1f} "
        f"| {statistics.mean(one.client):.1f} | {statistics.mean(one.served):.1f} |"
        for name, one in took.items()
    ]
    heads = f"| {title} | p50 ms | p95 ms | client's processor ms | web server's |"
    return "\n".join(["", heads, "|---|---|---|---|---|", *rows])


def late(values: list[float]) -> float:
    """The 95th percentile: of 40 values the third largest."""
    return sorted(values)[int(len(values) * 0.95)]
