"""A report as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Summary = Mapping[str, float]


def lines_of(report: Mapping[str, Any]) -> Iterator[str]:
    yield (
        f"{report['turns']} turns loaded at {report['turns_per_second']} turns/s; "
        f"{report['questions_without_evidence']} questions without evidence not judged"
    )
    for run in report["runs"]:
        yield ""
        yield from _run_lines(run)


def _run_lines(run: Mapping[str, Any]) -> Iterator[str]:
    times = run["search_ms"]
    yield (
        f"{run['name']}: {run['questions']} questions with evidence, "
        f"search p50 {times['p50']} ms, p95 {times['p95']} ms, {run['empty_answers']} empty answers"
    )
    if not run["questions"]:
        return
    rows: dict[str, Summary] = {"overall": run["overall"]}
    rows |= {f"category {number}": row for number, row in run["by_category"].items() if int(number)}
    rows |= run["by_dialogue"]
    for name in ("tuned", "untuned") if run["tuned"]["questions"] else ():
        rows |= _part_rows(name, run[name])
    yield " " * 18 + "".join(f"{name:>13}" for name in run["overall"])
    for name, row in rows.items():
        yield f"{name[:18]:18}" + "".join(f"{value:13.3f}" for value in row.values())


def _part_rows(name: str, part: Mapping[str, Any]) -> dict[str, Summary]:
    """The dialogues that weights were learned from, apart from the others."""
    if not part["questions"]:
        return {}
    rows = {name: part["overall"]}
    return rows | {f"{name} category {c}": row for c, row in part["by_category"].items()}


def derived_lines_of(report: Mapping[str, Any]) -> Iterator[str]:
    yield (
        f"{report['turns']} turns in {report['seconds']} s: {report['turns_per_second']} turns/s"
    )
    yield from (f"{name:28}{number:8}" for name, number in report["counts"].items() if number)
    if not report["calls"]:
        return
    names = list(next(iter(report["calls"].values())))
    yield ""
    yield f"{'purpose':18}" + "".join(f"{name.replace('_', ' '):>19}" for name in names)
    for purpose, row in report["calls"].items():
        yield f"{purpose:18}" + "".join(f"{row[name]:19.0f}" for name in names)
