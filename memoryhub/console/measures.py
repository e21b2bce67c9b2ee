"""The columns in which a lab report's systems are laid side by side. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

System = Mapping[str, Any]
Shape = str  # how a figure is written: share, score, count, ms or money


@dataclass(frozen=True, slots=True)
class Measure:
    """`best`: max or min, whichever is better. `key`: of a category's figures as well, or None."""

    name: str
    label: StrOrPromise
    title: StrOrPromise
    shape: Shape
    best: Callable[..., Any] = max
    key: str | None = None
    of: Callable[[System], float | None] = lambda system: None

    def value(self, system: System, category: str) -> float | None:
        if not category:
            return self.of(system)
        return None if self.key is None else system["by_category"].get(category, {}).get(self.key)


def _overall(key: str) -> Callable[[System], float | None]:
    return lambda system: system["overall"].get(key)


def _asked(what: str) -> Callable[[System], float | None]:
    """Of model calls while questions are asked, a question."""

    def value(system: System) -> float | None:
        questions = system["overall"].get("questions") or 0
        questions += system["unanswerable"].get("questions") or 0
        rows = system["calls"].values()
        names = ("prompt_tokens", "completion_tokens") if what == "tokens" else (what,)
        spent = sum(row.get(name, 0) for row in rows for name in names)
        return spent / questions if questions else None

    return value


def _time(stage: str) -> Callable[[System], float | None]:
    return lambda system: system["latency_ms"][stage].get("p50")


def _money(system: System) -> float:
    return float(system["money"]["asking"]) + float(system["money"]["writing"])


def _figure(
    key: str, label: StrOrPromise, title: StrOrPromise, shape: Shape = "share", **of: Any
) -> Measure:
    return Measure(key, label, title, shape, key=key, of=_overall(key), **of)


MEASURES: tuple[Measure, ...] = (
    _figure("recall@10", _("Recall at 10"), _("share of the evidence among the first ten items")),
    _figure("recall<=500", _("Within 500"), _("share of the evidence within the first 500 tokens")),
    _figure("recall", _("In all"), _("share of the evidence in everything that is handed over")),
    _figure("context_tokens", _("Tokens"), _("tokens of a context, mean"), "count", best=min),
    _figure("f1", "F1", _("of words, mean"), "score"),
    _figure("bleu1", "BLEU-1", _("of words, mean"), "score"),
    _figure("rouge_l", "ROUGE-L", _("longest common subsequence, mean"), "score"),
    _figure("judge", _("Judge"), _("share of answers the judge's model takes for right")),
    Measure(
        "refusal",
        _("Refusal"),
        _("share of questions without an answer that are answered by saying so"),
        "share",
        key="refusal",
        of=lambda system: system["unanswerable"].get("refusal"),
    ),
    Measure("calls", _("Calls"), _("model calls a question"), "score", min, of=_asked("calls")),
    Measure(
        "spent", _("Model tokens"), _("of models, a question"), "count", min, of=_asked("tokens")
    ),
    Measure("recall_ms", _("Find ms"), _("finding, half below"), "ms", min, of=_time("recall")),
    Measure("answer_ms", _("Answer ms"), _("answering, half below"), "ms", min, of=_time("answer")),
    Measure(
        "money", _("Money"), _("for writing and asking, all questions"), "money", min, of=_money
    ),
)
BY_NAME = {measure.name: measure for measure in MEASURES}


@dataclass(frozen=True, slots=True)
class Cell:
    """A figure as text; `best` where no other system's is better and some system's is worse."""

    measure: Measure
    text: str
    best: bool


@dataclass(frozen=True, slots=True)
class Row:
    system: System
    cells: list[Cell]


@dataclass(frozen=True, slots=True)
class Table:
    """`sort` is the column's name, with "-" before it when the largest comes first."""

    columns: list[Measure]
    rows: list[Row]
    sort: str

    @property
    def heads(self) -> list[tuple[Measure, str, str]]:
        """(column, what a click on it sorts by, aria-sort)."""
        return [(m, _turned(m, self.sort), _said(m, self.sort)) for m in self.columns]


def table(systems: Sequence[System], category: str = "", sort: str = "") -> Table:
    """Columns that no system has a figure for are left out; unknown ones to sort by as well."""
    columns = [m for m in MEASURES if _told(m, systems, category)]
    by = next((m for m in columns if m.name == sort.lstrip("-")), None)
    rows = ordered(systems, by, category, down=sort.startswith("-")) if by else list(systems)
    best = {m.name: _best(m, systems, category) for m in columns}
    made = [Row(s, [_cell(m, m.value(s, category), best[m.name]) for m in columns]) for s in rows]
    return Table(columns, made, sort if by else "")


def _told(measure: Measure, systems: Sequence[System], category: str) -> bool:
    values = [measure.value(system, category) for system in systems]
    if measure.name == "spent":
        return any(values)  # where no model is asked, its tokens need no column
    return any(value is not None for value in values)


def ordered(systems: Sequence[System], by: Measure, category: str, *, down: bool) -> list[System]:
    """What has no figure comes last either way."""
    known = [s for s in systems if by.value(s, category) is not None]
    rest = [s for s in systems if by.value(s, category) is None]
    return sorted(known, key=lambda s: by.value(s, category) or 0.0, reverse=down) + rest


def _best(measure: Measure, systems: Sequence[System], category: str) -> float | None:
    values = [v for s in systems if (v := measure.value(s, category)) is not None]
    return measure.best(values) if len(set(values)) > 1 else None


def _cell(measure: Measure, value: float | None, best: float | None) -> Cell:
    return Cell(measure, written(value, measure.shape), value is not None and value == best)


def written(value: float | None, shape: Shape) -> str:
    if value is None:
        return "–"
    if shape == "share":
        return f"{100 * value:.1f} %"
    if shape == "score":
        return f"{value:.3f}"
    if shape == "money":
        return f"{value:,.2f}" if value == 0 or value >= 0.01 else f"{value:.6f}"
    return f"{value:,.1f}" if shape == "ms" and value < 100 else f"{value:,.0f}"


def _turned(measure: Measure, sort: str) -> str:
    """The better end first, then the other way round."""
    first, second = f"-{measure.name}", measure.name
    if measure.best is min:
        first, second = second, first
    return second if sort == first else first


def _said(measure: Measure, sort: str) -> str:
    if sort.lstrip("-") != measure.name:
        return "none"
    return "descending" if sort.startswith("-") else "ascending"
