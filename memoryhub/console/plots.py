"""Figures of a lab report as plotly traces. Pure; colours and sizes are the browser's part.

`tone` in a trace's `meta` names its colour: the page's script knows the theme.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

System = Mapping[str, Any]
Figure = dict[str, Any]
ROW = 26  # pixels of a system in the plots that list them


def recall_against_tokens(systems: Sequence[System]) -> Figure:
    """A line a system, and a mark where its whole context ends."""
    lines = [_line(at, s) for at, s in enumerate(systems) if _points(s)]
    ends = [_end(at, s) for at, s in enumerate(systems) if s["overall"].get("recall") is not None]
    return {
        "data": [*lines, *ends],
        "layout": {
            "height": 420,
            "xaxis": {"type": "log", "title": {"text": _("tokens read")}, **_TOKENS},
            "yaxis": {"title": {"text": _("evidence found")}, **_SHARE},
            "hovermode": "closest",
            "showlegend": True,
        },
    }


def _short(tokens: int) -> str:
    return f"{tokens // 1000}k" if tokens >= 1000 else str(tokens)


_SIZES = (50, 100, 250, 500, 1000, 2000, 4000, 8000, 16000, 32000)
_TOKENS = {"tickvals": _SIZES, "ticktext": [_short(size) for size in _SIZES]}
_SHARE = {"tickformat": ".0%", "range": [0, 1.03]}


def _points(system: System) -> list[Mapping[str, Any]]:
    return [point for point in system["curve"] if point["recall"] is not None]


def _line(at: int, system: System) -> Figure:
    points = _points(system)
    return {
        "type": "scatter",
        "mode": "lines",
        "name": system["name"],
        "legendgroup": system["name"],
        "x": [point["tokens"] for point in points],
        "y": [point["recall"] for point in points],
        "line": {"dash": _dash(at), "width": 2},
        "hovertemplate": _("%(share)s within %(tokens)s tokens")
        % {"share": "%{y:.1%}", "tokens": "%{x:,}"},
        "meta": {"tone": at},
    }


def _end(at: int, system: System) -> Figure:
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
        "hovertemplate": _("%(share)s in all it hands over, %(tokens)s tokens")
        % {"share": "%{y:.1%}", "tokens": "%{x:,.0f}"},
        "meta": {"tone": at},
    }


def _dash(at: int) -> str:
    """Ten colours, then the same ones in dashes."""
    return ("solid", "dash", "dot", "dashdot")[at // 10 % 4]


def latency(systems: Sequence[System]) -> Figure:
    """Half of the questions take no longer: finding and answering, end to end."""
    names = [system["name"] for system in systems][::-1]
    bars = [
        _bar(names, [s["latency_ms"][stage] for s in systems][::-1], label, tone)
        for stage, label, tone in (("recall", _("finding"), 0), ("answer", _("answering"), 1))
    ]
    return {
        "data": bars,
        "layout": {
            "height": 96 + ROW * len(names),
            "barmode": "stack",
            "xaxis": {"title": {"text": _("milliseconds, half below")}, "rangemode": "tozero"},
            "yaxis": {"type": "category", "ticks": ""},
            "hovermode": "closest",
            "showlegend": True,
            "legend": {"traceorder": "normal"},
        },
    }


def _bar(names: list[str], times: list[Mapping[str, float]], label: str, tone: int) -> Figure:
    return {
        "type": "bar",
        "orientation": "h",
        "name": label,
        "y": names,
        "x": [each["p50"] for each in times],
        "customdata": [each["p95"] for each in times],
        "hovertemplate": _("%(system)s: %(half)s ms, 95 in 100 below %(most)s")
        % {"system": "%{y}", "half": "%{x:,.1f}", "most": "%{customdata:,.1f}"},
        "meta": {"tone": tone},
    }


def by_category(
    systems: Sequence[System], measure: str, called: Mapping[str, str], share: bool = True
) -> Figure:
    """A square a system and category. `called`: names of the numbers, for people."""
    numbers = sorted({n for s in systems for n in s["by_category"]}, key=int)
    shown = [n for n in numbers if any(_of(s, n, measure) is not None for s in systems)]
    rows = systems[::-1]
    return {
        "data": [
            {
                "type": "heatmap",
                "x": [called.get(number, number) for number in shown],
                "y": [system["name"] for system in rows],
                "z": [[_of(system, number, measure) for number in shown] for system in rows],
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
            "height": 96 + ROW * len(rows),
            "xaxis": {"side": "top", "type": "category", "ticks": ""},
            "yaxis": {"type": "category", "ticks": ""},
        },
    }


def _of(system: System, number: str, measure: str) -> Any:
    return system["by_category"].get(number, {}).get(measure)
