"""Figures of a lab report as plotly traces. Pure; colours and sizes are the browser's part.

`tone` in a trace's `meta` names its colour: the page's script knows the theme.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

SystemReport = Mapping[str, Any]
PlotFigure = dict[str, Any]
ROW_HEIGHT = 26  # pixels of a system in the plots that list them


def plot_recall_against_tokens(systems: Sequence[SystemReport]) -> PlotFigure:
    """A line a system, and a mark where its whole context ends."""
    lines, ends = [], []
    for at, system in enumerate(systems):
        if points := [point for point in system["curve"] if point["recall"] is not None]:
            lines.append(_build_line(at, system, points))
        if system["overall"].get("recall") is not None:
            ends.append(_build_end_mark(at, system))
    return {
        "data": [*lines, *ends],
        "layout": {
            "height": 420,
            "xaxis": {"type": "log", "title": {"text": _("tokens read")}, **_TOKEN_AXIS},
            "yaxis": {"title": {"text": _("evidence found")}, **_SHARE_AXIS},
            "hovermode": "closest",
            "showlegend": True,
        },
    }


_TICK_SIZES = (50, 100, 250, 500, 1000, 2000, 4000, 8000, 16000, 32000)
_TOKEN_AXIS = {
    "tickvals": _TICK_SIZES,
    "ticktext": [f"{n // 1000}k" if n >= 1000 else str(n) for n in _TICK_SIZES],
}
_SHARE_AXIS = {"tickformat": ".0%", "range": [0, 1.03]}


def _build_line(at: int, system: SystemReport, points: Sequence[Mapping[str, Any]]) -> PlotFigure:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": system["name"],
        "legendgroup": system["name"],
        "x": [point["tokens"] for point in points],
        "y": [point["recall"] for point in points],
        # Ten colours, then the same ones in dashes.
        "line": {"dash": ("solid", "dash", "dot", "dashdot")[at // 10 % 4], "width": 2},
        "hovertemplate": _("%(share)s within %(tokens)s tokens")
        % {"share": "%{y:.1%}", "tokens": "%{x:,}"},
        "meta": {"tone": at},
    }


def _build_end_mark(at: int, system: SystemReport) -> PlotFigure:
    overall = system["overall"]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": system["name"],
        "legendgroup": system["name"],
        "showlegend": False,
        "x": [overall.get("context_tokens")],
        "y": [overall["recall"]],
        "marker": {"size": 9},
        "hovertemplate": _("%(share)s in everything it returns, %(tokens)s tokens")
        % {"share": "%{y:.1%}", "tokens": "%{x:,.0f}"},
        "meta": {"tone": at},
    }


def plot_latency(systems: Sequence[SystemReport]) -> PlotFigure:
    """Half of the questions take no longer: finding and answering, end to end."""
    names = [system["name"] for system in systems][::-1]
    bars = [
        _build_latency_bar(names, [s["latency_ms"][stage] for s in systems][::-1], label, tone)
        for stage, label, tone in (("recall", _("finding"), 0), ("answer", _("answering"), 1))
    ]
    return {
        "data": bars,
        "layout": {
            "height": 96 + ROW_HEIGHT * len(names),
            "barmode": "stack",
            "xaxis": {"title": {"text": _("milliseconds, median")}, "rangemode": "tozero"},
            "yaxis": {"type": "category", "ticks": ""},
            "hovermode": "closest",
            "showlegend": True,
            "legend": {"traceorder": "normal"},
        },
    }


def _build_latency_bar(
    names: list[str], times: list[Mapping[str, float]], label: str, tone: int
) -> PlotFigure:
    return {
        "type": "bar",
        "orientation": "h",
        "name": label,
        "y": names,
        "x": [each["p50"] for each in times],
        "customdata": [each["p95"] for each in times],
        "hovertemplate": _("%(system)s: median %(half)s ms, 95th percentile %(most)s")
        % {"system": "%{y}", "half": "%{x:,.1f}", "most": "%{customdata:,.1f}"},
        "meta": {"tone": tone},
    }


def plot_by_category(
    systems: Sequence[SystemReport], measure: str, called: Mapping[str, str], share: bool = True
) -> PlotFigure:
    """A square a system and category. `called`: names of the numbers, for people."""
    numbers = sorted({n for s in systems for n in s["by_category"]}, key=int)
    rows = systems[::-1]

    def read(system: SystemReport, number: str) -> Any:
        return system["by_category"].get(number, {}).get(measure)

    shown = [n for n in numbers if any(read(system, n) is not None for system in systems)]
    return {
        "data": [
            {
                "type": "heatmap",
                "x": [called.get(number, number) for number in shown],
                "y": [system["name"] for system in rows],
                "z": [[read(system, number) for number in shown] for system in rows],
                "texttemplate": "%{z:.0%}" if share else "%{z:,.0f}",
                "hovertemplate": "%{y}, %{x}: %{z:.1%}" if share else "%{y}, %{x}: %{z:,.0f}",
                "xgap": 2,
                "ygap": 2,
                "showscale": False,
                **({"zmin": 0, "zmax": 1} if share else {}),
                "meta": {"tone": "scale"},
            }
        ],
        "layout": {
            "height": 96 + ROW_HEIGHT * len(rows),
            "xaxis": {"side": "top", "type": "category", "ticks": ""},
            "yaxis": {"type": "category", "ticks": ""},
        },
    }
