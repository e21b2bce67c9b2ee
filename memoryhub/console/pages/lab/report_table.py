"""The columns in which a lab report's systems are laid side by side. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

SystemReport = Mapping[str, Any]
FigureShape = str  # how a figure is written: share, score, count, ms or money


def _count_questions(system: SystemReport) -> int:
    """How many it was asked so far."""
    of_both = (system[name].get("questions") or 0 for name in ("overall", "unanswerable"))
    return sum(of_both)


def _build_spent_reader(*names: str) -> Callable[[SystemReport], float | None]:
    """Of model calls while questions are asked, a question."""

    def read(system: SystemReport) -> float | None:
        questions = _count_questions(system)
        spent = sum(row.get(name, 0) for row in system["calls"].values() for name in names)
        return spent / questions if questions else None

    return read


def _build_time_reader(stage: str) -> Callable[[SystemReport], float | None]:
    return lambda system: system["latency_ms"][stage].get("p50")


def _compute_money(system: SystemReport) -> float:
    return float(system["money"]["asking"]) + float(system["money"]["writing"])


@dataclass(frozen=True, slots=True)
class Measure:
    """`best`: max or min, whichever is better. `read`: what it is over all questions, where that
    is no figure of its name; `whole`: it is known of all of them alone, not of a category."""

    name: str
    label: StrOrPromise
    title: StrOrPromise
    shape: FigureShape
    best: Callable[..., Any] = max
    read: Callable[[SystemReport], float | None] | None = None
    whole: bool = False

    def value(self, system: SystemReport, category: str) -> float | None:
        if category:
            figures = system["by_category"].get(category, {})
            return None if self.whole else figures.get(self.name)
        if self.whole and not _count_questions(system):
            return None  # its turn has not come yet: nothing took no time
        return self.read(system) if self.read else system["overall"].get(self.name)


MEASURES = (
    Measure(
        "recall@10",
        _("Recall at 10"), _("share of the evidence among the first ten items"), "share",
    ),
    Measure(
        "recall<=500",
        _("Within 500"), _("share of the evidence within the first 500 tokens"), "share",
    ),
    Measure(
        "recall",
        _("In all"), _("share of the evidence in everything returned"), "share",
    ),
    Measure("context_tokens", _("Tokens"), _("tokens of a context, mean"), "count", min),
    Measure("f1", "F1", _("of words, mean"), "score"),
    Measure("bleu1", "BLEU-1", _("of words, mean"), "score"),
    Measure("rouge_2", "ROUGE-2", _("pairs of words, mean"), "score"),
    Measure("rouge_l", "ROUGE-L", _("longest common subsequence, mean"), "score"),
    Measure("meteor", "METEOR", _("of words and their order, mean"), "score"),
    Measure("sbert", "SBERT", _("likeness of the sentences' vectors, mean"), "score"),
    Measure(
        "judge", _("Judge"), _("share of answers the judge considers right"), "share"
    ),
    Measure(
        "refusal",
        _("Refusal"), _("share of unanswerable questions where it says so"),
        "share", read=lambda system: system["unanswerable"].get("refusal"),
    ),
    Measure(
        "calls", _("Calls"), _("model calls per question"), "score", min,
        _build_spent_reader("calls"), whole=True,
    ),
    Measure(
        "spent", _("Model tokens"), _("model tokens per question"), "count", min,
        _build_spent_reader("prompt_tokens", "completion_tokens"), whole=True,
    ),
    Measure(
        "recall_ms", _("Find ms"), _("finding, median"), "ms", min,
        _build_time_reader("recall"), whole=True,
    ),
    Measure(
        "answer_ms", _("Answer ms"), _("answering, median"), "ms", min,
        _build_time_reader("answer"), whole=True,
    ),
    Measure(
        "money", _("Money"), _("for writing and asking, all questions"), "money", min,
        _compute_money, whole=True,
    ),
)  # fmt: skip
MEASURES_BY_NAME = {measure.name: measure for measure in MEASURES}


@dataclass(frozen=True, slots=True)
class MeasureCell:
    """A figure as text; `best` where no other system's is better and some system's is worse."""

    measure: Measure
    text: str
    best: bool


@dataclass(frozen=True, slots=True)
class SystemRow:
    system: SystemReport
    cells: list[MeasureCell]


@dataclass(frozen=True, slots=True)
class MeasureTable:
    """`sort` is the column's name, with "-" before it when the largest comes first."""

    columns: list[Measure]
    rows: list[SystemRow]
    sort: str

    @property
    def heads(self) -> list[tuple[Measure, str, str]]:
        """(column, what a click on it sorts by, aria-sort)."""
        return [
            (m, _reverse_sort(m, self.sort), _format_aria_sort(m, self.sort)) for m in self.columns
        ]


def build_table(
    systems: Sequence[SystemReport], category: str = "", sort: str = ""
) -> MeasureTable:
    """Columns that no system has a figure for are left out; unknown ones to sort by as well."""
    columns = [m for m in MEASURES if _has_figures(m, systems, category)]
    by = next((m for m in columns if m.name == sort.lstrip("-")), None)
    rows = sort_systems(systems, by, category, down=sort.startswith("-")) if by else list(systems)
    best = {m.name: _find_best(m, systems, category) for m in columns}
    made = []
    for system in rows:
        values = [(m, m.value(system, category)) for m in columns]
        cells = [
            MeasureCell(m, format_figure(v, m.shape), v is not None and v == best[m.name])
            for m, v in values
        ]
        made.append(SystemRow(system, cells))
    return MeasureTable(columns, made, sort if by else "")


def _has_figures(measure: Measure, systems: Sequence[SystemReport], category: str) -> bool:
    values = [measure.value(system, category) for system in systems]
    if measure.name == "spent":
        return any(values)  # where no model is asked, its tokens need no column
    return any(value is not None for value in values)


def sort_systems(
    systems: Sequence[SystemReport], by: Measure, category: str, *, down: bool
) -> list[SystemReport]:
    """What has no figure comes last either way."""
    known = [s for s in systems if by.value(s, category) is not None]
    rest = [s for s in systems if by.value(s, category) is None]
    return sorted(known, key=lambda s: by.value(s, category) or 0.0, reverse=down) + rest


def _find_best(measure: Measure, systems: Sequence[SystemReport], category: str) -> float | None:
    values = [v for s in systems if (v := measure.value(s, category)) is not None]
    return measure.best(values) if len(set(values)) > 1 else None


def format_figure(value: float | None, shape: FigureShape) -> str:
    if value is None:
        return "–"
    if shape == "share":
        return f"{100 * value:.1f} %"
    if shape == "score":
        return f"{value:.3f}"
    if shape == "money":
        return f"{value:,.2f}" if value == 0 or value >= 0.01 else f"{value:.6f}"
    return f"{value:,.1f}" if shape == "ms" and value < 100 else f"{value:,.0f}"


def _reverse_sort(measure: Measure, sort: str) -> str:
    """The better end first, then the other way round."""
    first, second = f"-{measure.name}", measure.name
    if measure.best is min:
        first, second = second, first
    return second if sort == first else first


def _format_aria_sort(measure: Measure, sort: str) -> str:
    if sort.lstrip("-") != measure.name:
        return "none"
    return "descending" if sort.startswith("-") else "ascending"
