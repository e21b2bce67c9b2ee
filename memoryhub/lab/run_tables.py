"""A report of a run as lines of text: systems side by side, then by category."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_OVERALL = (
    "recall@5",
    "recall@10",
    "recall<=500",
    "recall",
    "context_tokens",
    "f1",
    "bleu1",
    "rouge_l",
    "judge",
)
_BY_CATEGORY = ("recall", "f1", "judge", "refusal")
_WIDTH = 14


def run_lines(report: Mapping[str, Any]) -> Iterator[str]:
    used = report["dataset"]["used"]
    asked = sum(used["questions"].values())
    yield (
        f"{report['dataset']['name']}: {len(used['conversations'])} conversations, "
        f"{used['turns']} turns, {asked} questions, {used['with_evidence']} with evidence"
    )
    yield ""
    yield _row("", (*_OVERALL, "refusal", "calls", "recall p50", "answer p50"))
    yield from (_overall(system) for system in report["systems"])
    for category in _categories(report):
        yield ""
        yield from _of_category(report, category)
    yield ""
    yield from _writing(report)


def _overall(system: Mapping[str, Any]) -> str:
    calls = sum(row["calls"] for row in system["calls"].values())
    times = system["latency_ms"]
    figures = [system["overall"][name] for name in _OVERALL]
    rest = (
        system["unanswerable"]["refusal"],
        calls,
        times["recall"]["p50"],
        times["answer"]["p50"],
    )
    return _row(system["name"], (*figures, *rest))


def _categories(report: Mapping[str, Any]) -> list[str]:
    found = {number for system in report["systems"] for number in system["by_category"]}
    return sorted(found, key=int)


def _of_category(report: Mapping[str, Any], number: str) -> Iterator[str]:
    asked = report["dataset"]["used"]["questions"].get(number, 0)
    yield f"category {number}{_called(report, number)}, {asked} questions"
    yield _row("", _BY_CATEGORY)
    for system in report["systems"]:
        if figures := system["by_category"].get(number):
            yield _row(system["name"], [figures[name] for name in _BY_CATEGORY])


def _called(report: Mapping[str, Any], number: str) -> str:
    """What it is, and what papers print over the figures of this number."""
    known = [c for c in report["dataset"]["categories"] if str(c["number"]) == number]
    if not known:
        return ""
    others = "; ".join(f"{paper}: {name}" for paper, name in known[0]["others"].items())
    return f", {known[0]['content']}" + (f" ({others})" if others else "")


def _writing(report: Mapping[str, Any]) -> Iterator[str]:
    yield _row("writing", ("turns/s", "seconds", "calls", "money", "shared with"))
    for system in report["systems"]:
        writing = system["writing"]
        calls = sum(row["calls"] for row in writing["calls"].values())
        shared = ", ".join(writing["shared_with"]) or "-"
        figures = (writing["turns_per_second"], writing["seconds"], calls)
        yield _row(system["name"], (*figures, system["money"]["writing"])) + f"  {shared}"


def _row(name: str, cells: tuple[Any, ...] | list[Any]) -> str:
    return f"{name[:16]:16}" + "".join(f"{_cell(cell):>{_WIDTH}}" for cell in cells)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.3f}" if value < 100 else f"{value:.0f}"
    return str(value)
