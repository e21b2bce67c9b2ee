"""Replays with how far they are, and what they found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Count
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from memoryhub.console.frame.lists import (
    FilterChoice,
    Filters,
    ListPage,
    build_text_condition,
    load_page,
)
from memoryhub.console.pages.golden.queries import (
    EXPECTED_KINDS,
    ExpectedMemory,
    GoldenQuestionRow,
    build_expected_memory,
    load_expected_rows,
    load_question_rows,
)
from memoryhub.golden import replay_runs
from memoryhub.golden.expectations import (
    RECALL_CUTOFFS,
    OutcomeSummary,
    QuestionOutcome,
    Verdict,
    compare_outcomes,
    summarise_outcomes,
)
from memoryhub.golden.models import GoldenQuestion, ReplayAnswer, ReplayRun
from memoryhub.pipeline.models import Job
from memoryhub.policies.switches import SWITCHES
from memoryhub.tenants.models import Space

REPLAY_VERDICT_CHOICE = FilterChoice(
    "verdict",
    _("Show"),
    (
        ("all", _("All")),
        ("worse", _("Got worse")),
        ("better", _("Got better")),
        ("same", _("Same")),
        ("missed", _("Missed by the candidate")),
    ),
)
REPLAY_STATE_CHOICE = FilterChoice(
    "state", _("State"), (("all", _("Any")), *ReplayRun.State.choices)
)

_SWITCH_ORDER = {name: place for place, name in enumerate(SWITCHES)}


def sort_switches(names: Iterable[str]) -> list[str]:
    """In the order of the policy page: what is stored has lost it."""
    return sorted(names, key=lambda name: (_SWITCH_ORDER.get(name, len(SWITCHES)), name))


def list_changed_switches(run: ReplayRun) -> list[tuple[str, Any, Any]]:
    """(name, value in force, the candidate's) of each."""
    now, then = run.current["switches"], run.candidate["switches"]
    return [(name, now.get(name), then[name]) for name in sort_switches(then)]


@dataclass(frozen=True, slots=True)
class QuestionComparison:
    """One question on both sides; `places` pairs the ranks of each expected memory. `found`: what
    each side found first, with whether the other side found it too."""

    question_row: GoldenQuestionRow
    current: QuestionOutcome
    candidate: QuestionOutcome
    verdict: Verdict
    found: list[tuple[str, list[tuple[ExpectedMemory, bool]]]]

    @property
    def places(self) -> list[tuple[ExpectedMemory, int | None, int | None]]:
        return list(
            zip(self.question_row.expected, self.current.ranks, self.candidate.ranks, strict=False)
        )


@dataclass(frozen=True, slots=True)
class ReplayResults:
    """A replay as far as it has come. `counts` by verdict."""

    current: OutcomeSummary
    candidate: OutcomeSummary
    counts: dict[str, int]
    page: ListPage[QuestionComparison]

    @property
    def both(self) -> list[tuple[str, str, str]]:
        """(what, now, candidate) of the table, in words."""
        now, candidate = map(_format_summary_figures, (self.current, self.candidate))
        return list(zip(_list_figure_labels(), now, candidate, strict=True))


def _list_figure_labels() -> list[str]:
    expected = gettext("Expected memories in the top %(count)s")
    return [
        *(expected % {"count": k} for k in RECALL_CUTOFFS),
        gettext("Nearness (mean of 1/place)"),
        gettext("Reported as not enough"),
        gettext("Answered with a failed part missing"),
        gettext("Milliseconds, median"),
        gettext("Milliseconds, 95th percentile"),
        gettext("Tokens returned, mean"),
        gettext("Model calls"),
        gettext("Tokens of models"),
    ]


def _format_summary_figures(figures: OutcomeSummary) -> list[str]:
    shares = [f"{100 * figures.recall[k]:.1f} %" for k in RECALL_CUTOFFS]
    numbers = (figures.insufficient, figures.degraded)
    times = (f"{figures.p50:.0f}", f"{figures.p95:.0f}", f"{figures.handed:.0f}")
    spent = (f"{figures.calls:,}", f"{figures.tokens:,}")
    return [*shares, f"{figures.nearness:.3f}", *(f"{n:,}" for n in numbers), *times, *spent]


def load_replay_results(run: ReplayRun, filters: Filters) -> ReplayResults:
    outcomes = replay_runs.load_outcomes(run)
    verdicts = {q: compare_outcomes(s["current"], s["candidate"]) for q, s in outcomes.items()}
    wanted = filters["verdict"]
    chosen = [q for q, said in verdicts.items() if _fits_verdict(wanted, said, outcomes[q])]
    rows = GoldenQuestion.objects.filter(build_text_condition(filters.q, "text"), id__in=chosen)
    found = load_page(rows.select_related("space").order_by("created_at", "id"), filters.page)
    first = _load_first_found(run, found.rows)
    compared = []
    for row in load_question_rows(found.rows):
        q = row.question.id
        current, candidate = (outcomes[q][side] for side in ("current", "candidate"))
        compared.append(QuestionComparison(row, current, candidate, verdicts[q], first[q]))
    told = list(verdicts.values())
    return ReplayResults(
        summarise_outcomes([s["current"] for s in outcomes.values()]),
        summarise_outcomes([s["candidate"] for s in outcomes.values()]),
        {name: told.count(name) for name in ("better", "worse", "same")},
        found.with_rows(compared),
    )


MAX_FIRST_FOUND = 5


def _load_first_found(run: ReplayRun, rows: Sequence[GoldenQuestion]) -> dict[UUID, Any]:
    """By question: (side, its first results). Four statements."""
    answers = list(ReplayAnswer.objects.filter(run=run, question__in=rows).order_by("-side"))
    stored = [
        {"kind": kind, "id": row_id, "turns": []}
        for answer in answers
        for kind, row_id in answer.shown[:MAX_FIRST_FOUND]
        if kind in EXPECTED_KINDS
    ]
    held = load_expected_rows(stored)
    told: dict[UUID, Any] = {row.id: [] for row in rows}
    for answer in answers:
        told[answer.question_id].append((answer, _list_first_memories(answer, held)))
    return {question: _mark_common_memories(sides) for question, sides in told.items()}


def _list_first_memories(answer: ReplayAnswer, held: dict[str, Any]) -> list[ExpectedMemory]:
    return [
        build_expected_memory(answer.space_id, {"kind": kind, "id": row_id, "turns": []}, held)
        if kind in EXPECTED_KINDS
        else ExpectedMemory(f"{kind}:{row_id}", kind, f"{kind} {row_id[:8]}", "")
        for kind, row_id in answer.shown[:MAX_FIRST_FOUND]
    ]


def _mark_common_memories(
    sides: list[tuple[ReplayAnswer, list[ExpectedMemory]]],
) -> list[tuple[str, Any]]:
    """Each memory with whether both sides found it among the first ten."""
    both = [{f"{kind}:{row_id}" for kind, row_id in answer.shown} for answer, _ in sides]
    common = set.intersection(*both) if both else set()
    return [
        (str(answer.get_side_display()), [(each, each.value in common) for each in named])
        for answer, named in sides
    ]


def _fits_verdict(wanted: str, said: Verdict, sides: dict[str, QuestionOutcome]) -> bool:
    if wanted == "missed":
        return sides["candidate"].compute_recall(10) < 1
    return wanted in ("all", said)


def load_replays(filters: Filters, space: Space | None = None) -> ListPage[Any]:
    """Newest first, each with how many answers there are."""
    rows = ReplayRun.objects.filter(space=space) if space else ReplayRun.objects.all()
    told = build_text_condition(filters.q, "actor", "space__subject", "preset", "tag")
    rows = rows.filter(told, **filters.chosen_values("state"))
    counted = rows.select_related("space").annotate(answered=Count("answers"))
    return load_page(counted.order_by("-created_at", "-id"), filters.page)


def get_replay_or_404(run_id: UUID) -> ReplayRun:
    return get_object_or_404(ReplayRun.objects.filter(id=run_id).select_related("space"))


def load_failed_replay_jobs(run: ReplayRun) -> list[Job]:
    """What keeps a replay from its end: jobs that were given up, or wait for another try."""
    rows = replay_runs.find_jobs_of_run(run).filter(state__in=(Job.State.DEAD, Job.State.RETRY))
    return list(rows.select_related("space")[:5])
