"""Figures over time as plotly makes them, each with the table that tells the same.

Pure; colours and sizes are the browser's part: `tone` in a trace's `meta` names its colour.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from math import sqrt
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from memoryhub.policies.schema import HeatPolicy
from notes.retention.spans import RetentionLife
from notes.topics.heat import compute_heat

FEW_QUESTIONS = 20  # of fewer a day no one knows what 95 in 100 take
_HEIGHT = 260
_LINE_HEIGHT = 34  # of a lifeline, in pixels
_Z = 1.96  # 95 in 100
_DAYS_AXIS = {"type": "date", "tickformat": "%-d %b"}  # a Chinese page has its own, see plots.js


@dataclass(frozen=True, slots=True)
class Plot:
    """`figure`: None where there is nothing to draw. `rows` of the table under `heads`."""

    name: str
    title: str
    about: str
    figure: dict[str, Any] | None
    heads: Sequence[str] = ()
    rows: Sequence[Sequence[Any]] = field(default_factory=list)
    empty: str = ""


def _build_figure(traces: Sequence[Any], **layout: Any) -> dict[str, Any]:
    """Plotly is large, and loaded with the first figure."""
    import plotly.graph_objects as go

    figure = go.Figure(list(traces))
    figure.update_layout(template=None, height=_HEIGHT, hovermode="x unified", showlegend=True)
    figure.update_layout(**layout)
    made: dict[str, Any] = figure.to_plotly_json()
    return made


def _scale_from_zero(values: Sequence[float | None], unit: str) -> dict[str, Any]:
    """An axis with room above what is highest."""
    top = max((each for each in values if each is not None), default=1.0) or 1.0
    return {"range": [0, 1.12 * top], "title": {"text": unit}}


def _span_times(start: datetime, now: datetime) -> dict[str, Any]:
    """An axis from `start` to `now`, with room at both ends: no mark lies on the edge."""
    room = (now - start) * 0.04
    return {"type": "date", "range": [(start - room).isoformat(), (now + room).isoformat()]}


@dataclass(frozen=True, slots=True)
class WeekOfFacts:
    """`week`: its Monday."""

    week: date
    made: int = 0
    replaced: int = 0
    ended: int = 0


def plot_facts_by_week(weeks: Sequence[WeekOfFacts]) -> Plot:
    import plotly.graph_objects as go

    about = _("The last %(n)s weeks; by the week in which facts were said or ended.") % {
        "n": len(weeks)
    }
    title, empty = _("Facts per week"), _("No facts in this period.")
    heads = (
        _("Week of"),
        pgettext("so many in a week", "created"),
        _("of these, replacing another"),
        _("ended"),
    )
    if not any(each.made or each.ended for each in weeks):
        return Plot("facts", title, about, None, empty=empty)
    days = [each.week.isoformat() for each in weeks]
    columns = [
        (heads[1], [each.made for each in weeks], 0),
        (heads[2], [each.replaced for each in weeks], 3),
        (heads[3], [each.ended for each in weeks], 1),
    ]
    bars = [
        go.Bar(x=days, y=values, name=name, meta={"tone": tone}) for name, values, tone in columns
    ]
    figure = _build_figure(
        bars,
        barmode="group",
        xaxis=_DAYS_AXIS,
        yaxis=_scale_from_zero([n for _, values, _ in columns for n in values], _("facts")),
    )
    rows = [(each.week, each.made, each.replaced, each.ended) for each in reversed(weeks)]
    return Plot("facts", title, about, figure, heads, rows)


@dataclass(frozen=True, slots=True)
class DayOfQuestions:
    """Milliseconds below which half, 95 and 99 in 100 of so many questions took."""

    day: date
    count: int
    half: float
    most: float
    nearly_all: float

    @property
    def is_telling(self) -> bool:
        return self.count >= FEW_QUESTIONS


def plot_latency_by_day(days: Sequence[DayOfQuestions]) -> Plot:
    """Where few were asked, only the median is drawn."""
    import plotly.graph_objects as go

    about = _(
        "Response time in milliseconds. On days with fewer than %(few)s questions only "
        "the median is shown, because percentiles would not be meaningful."
    )
    about %= {"few": FEW_QUESTIONS}
    title = _("Response times")
    if not days:
        return Plot("latency", title, about, None, empty=_("No questions in this period."))
    heads = (_("Day"), _("questions"), _("median"), _("95th percentile"), _("99th percentile"))
    at = [each.day.isoformat() for each in days]
    columns: list[tuple[str, list[float | None], int]] = [
        (heads[2], [each.half for each in days], 0),
        (heads[3], [each.most if each.is_telling else None for each in days], 1),
        (heads[4], [each.nearly_all if each.is_telling else None for each in days], 3),
    ]
    lines = [
        go.Scatter(
            x=at,
            y=values,
            name=name,
            mode="lines+markers",
            hovertemplate="%{y:,.0f} ms",
            connectgaps=False,
            meta={"tone": tone},
        )
        for name, values, tone in columns
    ]
    shown = [value for _name, values, _tone in columns for value in values]
    figure = _build_figure(
        lines,
        xaxis=_DAYS_AXIS,
        yaxis=_scale_from_zero(shown, _("milliseconds")),
    )
    rows = [
        (each.day, each.count, *(None if value is None else round(value) for value in values))
        for each, *values in zip(days, *(values for _name, values, _tone in columns), strict=True)
    ][::-1]
    return Plot("latency", title, about, figure, heads, rows)


def plot_usage_by_day(days: Sequence[tuple[date, int, Decimal]]) -> Plot:
    """(day, tokens, money), the first day first."""
    import plotly.graph_objects as go

    title = _("Tokens and cost per day")
    about = _("Language model usage. Days are in UTC.")
    if not any(tokens or money for _day, tokens, money in days):
        return Plot("usage", title, about, None, empty=_("No model calls in this period."))
    at = [day.isoformat() for day, _tokens, _money in days]
    tokens, money = [each[1] for each in days], [float(each[2]) for each in days]
    heads = (_("Day"), _("tokens"), _("cost"))
    traces = [
        go.Bar(x=at, y=tokens, name=heads[1], meta={"tone": 0}),
        go.Scatter(x=at, y=money, name=heads[2], mode="lines", yaxis="y2", meta={"tone": 1}),
    ]
    figure = _build_figure(
        traces,
        xaxis=_DAYS_AXIS,
        yaxis=_scale_from_zero(tokens, _("tokens")),
        yaxis2={**_scale_from_zero(money, _("cost")), "overlaying": "y", "side": "right"},
    )
    return Plot("usage", title, about, figure, heads, [*reversed(days)])


def plot_case_ages(ages: Sequence[tuple[str, int, int]]) -> Plot:
    """(how old, open cases of low or medium risk, those of high risk)."""
    import plotly.graph_objects as go

    title = _("Age of open inbox cases")
    about = _("Open inbox cases by age.")
    heads = (_("Age"), _("low and medium risk"), _("high risk"))
    if not any(usual or high for _age, usual, high in ages):
        return Plot("inbox", title, about, None, empty=_("No open cases."))
    names = [age for age, _usual, _high in ages]
    bars = [
        go.Bar(x=names, y=[each[1] for each in ages], name=heads[1], meta={"tone": 0}),
        go.Bar(x=names, y=[each[2] for each in ages], name=heads[2], meta={"tone": 3}),
    ]
    top = _scale_from_zero([usual + high for _age, usual, high in ages], _("cases"))
    figure = _build_figure(bars, barmode="stack", xaxis={"type": "category"}, yaxis=top)
    return Plot("inbox", title, about, figure, heads, ages)


@dataclass(frozen=True, slots=True)
class ReplayQuality:
    """Of `expected` memories of golden questions, how many were among the first ten."""

    at: datetime
    found: int
    expected: int

    @property
    def share(self) -> float:
        return self.found / self.expected

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's, of 95 in 100: where the share lies as far as so few can tell."""
        n, share = self.expected, self.share
        middle = (share + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
        half = _Z * sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2)) / (1 + _Z**2 / n)
        return max(0.0, middle - half), min(1.0, middle + half)


def plot_recall_quality(replays: Sequence[ReplayQuality]) -> Plot:
    """By replay, the first one first: what the setting in force found."""
    import plotly.graph_objects as go

    title = _("Test question results")
    about = _(
        "Share of expected memories in the top ten, by replay of the settings in "
        "force. Bars show the 95 percent confidence interval: the fewer questions, the wider."
    )
    if not replays:
        empty = _("No finished replay yet. Each replay measures it.")
        return Plot("golden", title, about, None, empty=empty)
    heads = (_("Replay of"), _("found"), _("expected"), _("share"), _("between"))
    ends = [each.interval for each in replays]
    line = go.Scatter(
        x=[each.at.isoformat() for each in replays],
        y=[each.share for each in replays],
        error_y={
            "type": "data",
            "symmetric": False,
            "array": [high - each.share for each, (_low, high) in zip(replays, ends, strict=True)],
            "arrayminus": [each.share - low for each, (low, _h) in zip(replays, ends, strict=True)],
        },
        name=heads[3],
        mode="lines+markers",
        hovertemplate="%{y:.0%}",
        meta={"tone": 0},
    )
    figure = _build_figure(
        [line],
        showlegend=False,
        xaxis=_DAYS_AXIS,
        yaxis={
            "range": [-0.04, 1.06],
            "tickformat": ".0%",
            "title": {"text": _("expected memories found")},
        },
    )
    rows = [
        (each.at, each.found, each.expected, f"{each.share:.0%}", f"{low:.0%} – {high:.0%}")
        for each, (low, high) in reversed(list(zip(replays, ends, strict=True)))
    ]
    return Plot("golden", title, about, figure, heads, rows)


@dataclass(frozen=True, slots=True)
class Lifeline:
    """A time in which a claim of which one holds at a time had this value. `end`: None where it
    holds still."""

    claim: str
    value: str
    start: datetime
    end: datetime | None


def plot_lifelines(lines: Sequence[Lifeline], now: datetime) -> Plot:
    """A row a claim, and in it its values one after the other."""
    import plotly.graph_objects as go

    title = _("What was true when")
    about = _("Facts with one value at a time, such as “lives in” or “works at”.")
    empty = _("No facts with one value at a time yet.")
    if not lines:
        return Plot("lifelines", title, about, None, empty=empty)
    claims = list(dict.fromkeys(each.claim for each in lines))
    bars: list[Any] = []
    named: set[str] = set()
    for each in lines:
        end = each.end or now
        told = {"value": each.value, "start": f"{each.start:%Y-%m-%d}"}
        name, tone = (_("holds now"), 0) if end >= now else (_("held before"), 7)
        bars.append(
            go.Bar(
                orientation="h",
                y=[each.claim],
                base=[each.start.isoformat()],
                x=[max(1.0, (end - each.start).total_seconds()) * 1000],
                name=name,
                showlegend=name not in named,
                marker={"line": {"width": 2}},
                text=[each.value],
                textposition="inside",
                insidetextanchor="start",
                hovertemplate=_("%(value)s, since %(start)s") % told + "<extra></extra>",
                meta={"tone": tone},
            )
        )
        named.add(name)
    figure = _build_figure(
        bars,
        barmode="overlay",
        hovermode="closest",
        uniformtext={"mode": "hide", "minsize": 10},
        height=130 + _LINE_HEIGHT * len(claims),
        xaxis=_span_times(min(each.start for each in lines), now),
        yaxis={"type": "category", "categoryarray": claims[::-1], "ticks": ""},
    )
    heads = (_("Statement"), _("Value"), _("from"), _("until"))
    rows = [(each.claim, each.value, each.start, each.end) for each in lines]
    return Plot("lifelines", title, about, figure, heads, rows)


_POINTS_A_SPAN = 24


def plot_heat_over_time(
    life: RetentionLife, weights: HeatPolicy, mentions: int, now: datetime
) -> Plot:
    """Of one memory: every recall lifts it for good, and its freshness for a while. How often it
    was said is known for today alone, and counted all along."""
    import plotly.graph_objects as go

    title = _("Heat over time")
    about = _(
        "Recalls × %(alpha)s + mentions × %(beta)s + recency × %(gamma)s. Its size in "
        "the graph follows this value."
    ) % {"alpha": weights.alpha, "beta": weights.beta, "gamma": weights.gamma}
    times, heats, rows = [], [], []
    for span in life.spans:
        end = span.end or max(now, span.start)
        for n in range(_POINTS_A_SPAN + 1):
            # Most of them early: that is where it cools fastest.
            at = span.start + (end - span.start) * (n / _POINTS_A_SPAN) ** 3
            idle = (at - span.start).total_seconds()
            heat = compute_heat(span.recalls, mentions, idle, weights)
            times.append(at.isoformat())
            heats.append(heat)
            if n == 0:
                rows.append((span.start, span.recalls, f"{heat:.2f}"))
    rows.append((now, life.last.recalls, f"{heats[-1]:.2f}"))
    line = go.Scatter(
        x=times, y=heats, mode="lines", hovertemplate="%{y:.2f}", name=_("heat"), meta={"tone": 0}
    )
    figure = _build_figure(
        [line],
        showlegend=False,
        xaxis=_span_times(life.start, now),
        yaxis=_scale_from_zero(heats, _("heat")),
    )
    return Plot("heat", title, about, figure, (_("Since"), _("recalls"), _("heat")), rows[::-1])
