"""Reports as lines of text; of a run: systems side by side, then by category."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_OVERALL_FIGURES = (
    *("recall@5", "recall@10", "recall<=500", "recall", "context_tokens"),
    *("f1", "bleu1", "rouge_2", "rouge_l", "meteor", "sbert", "judge"),
)
_CATEGORY_FIGURES = ("recall", "f1", "judge", "refusal")
_CELL_WIDTH = 14


def format_run_report(report: Mapping[str, Any]) -> Iterator[str]:
    used = report["dataset"]["used"]
    asked = sum(used["questions"].values())
    yield (
        f"{report['dataset']['name']}: {len(used['conversations'])} conversations, "
        f"{used['turns']} turns, {asked} questions, {used['with_evidence']} with evidence"
    )
    yield ""
    spent = ("calls", "model tokens", "recall p50", "answer p50")
    yield _format_row("", (*_OVERALL_FIGURES, "refusal", *spent))
    for system in report["systems"]:
        calls = sum(row["calls"] for row in system["calls"].values())
        tokens = sum(
            row[part]
            for row in system["calls"].values()
            for part in ("prompt_tokens", "completion_tokens")
        )
        p50s = (system["latency_ms"][part]["p50"] for part in ("recall", "answer"))
        figures = (system["overall"][name] for name in _OVERALL_FIGURES)
        rest = (system["unanswerable"]["refusal"], calls, tokens, *p50s)
        yield _format_row(system["name"], (*figures, *rest))
    categories = {number for system in report["systems"] for number in system["by_category"]}
    for category in sorted(categories, key=int):
        yield ""
        yield from _format_category(report, category)
    yield ""
    yield from _format_writing(report)


def _format_category(report: Mapping[str, Any], number: str) -> Iterator[str]:
    asked = report["dataset"]["used"]["questions"].get(number, 0)
    yield f"category {number}{_format_category_name(report, number)}, {asked} questions"
    yield _format_row("", _CATEGORY_FIGURES)
    for system in report["systems"]:
        if figures := system["by_category"].get(number):
            yield _format_row(system["name"], [figures[name] for name in _CATEGORY_FIGURES])


def _format_category_name(report: Mapping[str, Any], number: str) -> str:
    """What it is, and what papers print over the figures of this number."""
    known = [c for c in report["dataset"]["categories"] if str(c["number"]) == number]
    if not known:
        return ""
    others = "; ".join(f"{paper}: {name}" for paper, name in known[0]["others"].items())
    return f", {known[0]['content']}" + (f" ({others})" if others else "")


def _format_writing(report: Mapping[str, Any]) -> Iterator[str]:
    yield _format_row("writing", ("turns/s", "seconds", "calls", "money", "shared with"))
    for system in report["systems"]:
        writing = system["writing"]
        calls = sum(row["calls"] for row in writing["calls"].values())
        shared = ", ".join(writing["shared_with"]) or "-"
        figures = (writing["turns_per_second"], writing["seconds"], calls)
        yield _format_row(system["name"], (*figures, system["money"]["writing"])) + f"  {shared}"


def _format_row(name: str, cells: tuple[Any, ...] | list[Any]) -> str:
    return f"{name[:16]:16}" + "".join(f"{_format_cell(cell):>{_CELL_WIDTH}}" for cell in cells)


def _format_cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.3f}" if value < 100 else f"{value:.0f}"
    return str(value)


def format_retrieval_report(report: Mapping[str, Any]) -> Iterator[str]:
    yield (
        f"{report['turns']} turns loaded at {report['turns_per_second']} turns/s; "
        f"{report['questions_without_evidence']} questions without evidence not judged"
    )
    for run in report["runs"]:
        yield ""
        yield from _format_retrieval_run(run)


def _format_retrieval_run(run: Mapping[str, Any]) -> Iterator[str]:
    times = run["search_ms"]
    yield (
        f"{run['name']}: {run['questions']} questions with evidence, "
        f"search p50 {times['p50']} ms, p95 {times['p95']} ms, {run['empty_answers']} empty answers"
        + (f", {run['degraded_answers']} without the reranker" if run["degraded_answers"] else "")
    )
    if not run["questions"]:
        return
    rows: dict[str, Mapping[str, float]] = {"overall": run["overall"]}
    rows |= {f"category {number}": row for number, row in run["by_category"].items() if int(number)}
    rows |= run["by_dialogue"]
    # The dialogues that weights were learned from, apart from the others.
    for name in ("tuned", "untuned") if run["tuned"]["questions"] else ():
        part = run[name]
        if part["questions"]:
            rows[name] = part["overall"]
            rows |= {f"{name} category {c}": row for c, row in part["by_category"].items()}
    yield " " * 18 + "".join(f"{name:>13}" for name in run["overall"])
    for name, row in rows.items():
        yield f"{name[:18]:18}" + "".join(f"{value:13.3f}" for value in row.values())


def format_derivation_report(report: Mapping[str, Any]) -> Iterator[str]:
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


def format_truth_report(report: Mapping[str, Any], *, with_failures: bool = False) -> Iterator[str]:
    """Right of asked, by check and author; then by language."""
    scores = report["scores"]
    names = list(dict.fromkeys(check for score in scores.values() for check in score["checks"]))
    yield f"{report['dialogues']} dialogues"
    yield _format_row("", names)
    for name in sorted(scores, key=lambda name: ("-" not in name, name)):
        checks = scores[name]["checks"]
        yield _format_row(name, ["{}/{}".format(*checks.get(c, (0, 0))) for c in names])
        if "-" not in name:
            shares = [checks[c][0] / checks[c][1] if c in checks else None for c in names]
            yield _format_row("", shares)
            yield f"{'':16}{scores[name]['causes']}"
    if with_failures:
        for name, score in scores.items():
            yield from score["failures"] if "-" in name else ()
