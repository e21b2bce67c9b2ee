"""Golden questions with what they name, and replays with how far they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Count, Q
from django.http import Http404
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from memoryhub.console.frame.lists import (
    FilterChoice,
    Filters,
    ListPage,
    build_text_condition,
    load_page,
)
from memoryhub.dialogues.models import Turn
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
from memoryhub.tenants.models import Space
from notes.models import Fact, Note

EXPECTED_KINDS = ("fact", "note", "turn")
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
_EXPECTED_ROW_PAGES = {"fact": "space-fact", "note": "space-note", "turn": "space-turn"}


@dataclass(frozen=True, slots=True)
class ExpectedMemory:
    """A memory that is expected. `value`: as forms name it. `source`: its row is gone or retired,
    and these are the words it rested on."""

    value: str
    kind: str
    text: str
    address: str
    source: bool = False


@dataclass(frozen=True, slots=True)
class GoldenQuestionRow:
    question: GoldenQuestion
    expected: list[ExpectedMemory]


def load_golden_tag_choice(space: Space | None = None) -> FilterChoice:
    rows = _list_standing_questions(space).values_list("tags", flat=True)
    tags = sorted({tag for row in rows for tag in row})
    return FilterChoice("tag", _("Tag"), (("", _("Any")), *((tag, tag) for tag in tags[:100])))


def _list_standing_questions(space: Space | None) -> Any:
    rows = GoldenQuestion.objects.filter(retired_at=None)
    return rows.filter(space=space) if space else rows


def list_question_ids(space: Space) -> list[UUID]:
    return list(_list_standing_questions(space).values_list("id", flat=True))


def load_golden_questions(
    filters: Filters, space: Space | None = None
) -> ListPage[GoldenQuestionRow]:
    rows = _list_standing_questions(space).filter(
        build_text_condition(filters.q, "text", "space__subject")
    )
    if filters["tag"]:
        rows = rows.filter(tags__contains=[filters["tag"]])
    found = load_page(rows.select_related("space").order_by("-changed_at", "-id"), filters.page)
    return found.with_rows(load_question_rows(found.rows))


def load_question_rows(rows: Sequence[GoldenQuestion]) -> list[GoldenQuestionRow]:
    """Each with the memories it names. Four statements at most."""
    stored = [each for row in rows for each in row.expected]
    held = _load_expected_rows(stored)
    told = [
        GoldenQuestionRow(
            row, [_build_expected_memory(row.space_id, e, held) for e in row.expected]
        )
        for row in rows
    ]
    return told


def _load_expected_rows(stored: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The rows by id: those named, and the turns they rested on."""
    wanted: dict[str, set[str]] = {kind: set() for kind in EXPECTED_KINDS}
    for each in stored:
        wanted[each["kind"]].add(each["id"])
        wanted["turn"] |= set(each["turns"])
    found: dict[str, Any] = {}
    for kind, model in (("fact", Fact), ("note", Note), ("turn", Turn)):
        rows: Any = model._default_manager
        found |= {str(key): row for key, row in rows.in_bulk(list(wanted[kind])).items()}
    return found


def _build_expected_memory(
    space_id: UUID, stored: dict[str, Any], held: dict[str, Any]
) -> ExpectedMemory:
    kind, row_id = stored["kind"], stored["id"]
    row = held.get(row_id)
    value = f"{kind}:{row_id}"
    if row is not None and not getattr(row, "retired_at", None):
        return ExpectedMemory(
            value,
            kind,
            format_expected_row(row),
            reverse(_EXPECTED_ROW_PAGES[kind], args=[space_id, row_id]),
        )
    turns = [held[turn] for turn in stored["turns"] if turn in held]
    said = " … ".join(turn.text for turn in turns)
    address = reverse("space-turn", args=[space_id, turns[0].id]) if turns else ""
    return ExpectedMemory(value, kind, said or gettext("no longer held"), address, source=True)


def format_expected_row(row: Any) -> str:
    if isinstance(row, Note):
        return row.context or row.content
    return str(row.text)


def load_expected_memories(space: Space, values: Iterable[str]) -> list[ExpectedMemory]:
    """What a form names, in its order; what the space does not hold is left out."""
    pairs = [(kind, row_id) for kind, row_id in map(parse_expected, values) if row_id is not None]
    stored = [
        {"kind": k, "id": str(i), "turns": []}
        for k, i in dict.fromkeys(pairs)
        if k in EXPECTED_KINDS
    ]
    held = {i: row for i, row in _load_expected_rows(stored).items() if row.space_id == space.id}
    return [_build_expected_memory(space.id, each, held) for each in stored if each["id"] in held]


def parse_expected(value: str) -> tuple[str, UUID | None]:
    """ "fact:<id>" as a form sends it."""
    kind, _, given = value.partition(":")
    try:
        return kind, UUID(given)
    except ValueError:
        return kind, None


def get_question_or_404(space: Space, question_id: UUID) -> GoldenQuestion:
    found: GoldenQuestion | None = _list_standing_questions(space).filter(id=question_id).first()
    if found is None:
        raise Http404
    return found


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
        return list(
            zip(
                _list_figure_labels(),
                _format_summary_figures(self.current),
                _format_summary_figures(self.candidate),
                strict=True,
            )
        )


def _list_figure_labels() -> list[str]:
    expected = gettext("Expected memories among the first %(count)s")
    return [
        *(expected % {"count": k} for k in RECALL_CUTOFFS),
        gettext("Nearness (mean of 1/place)"),
        gettext("Said that it is not enough"),
        gettext("Answered without a part that failed"),
        gettext("Milliseconds, half below"),
        gettext("Milliseconds, 95 in 100 below"),
        gettext("Tokens handed over, mean"),
        gettext("Calls of models"),
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
    chosen = [
        q for q, said in verdicts.items() if _fits_verdict(filters["verdict"], said, outcomes[q])
    ]
    rows = GoldenQuestion.objects.filter(build_text_condition(filters.q, "text"), id__in=chosen)
    found = load_page(rows.select_related("space").order_by("created_at", "id"), filters.page)
    first = _load_first_found(run, found.rows)
    compared = [
        QuestionComparison(
            each,
            outcomes[each.question.id]["current"],
            outcomes[each.question.id]["candidate"],
            verdicts[each.question.id],
            first[each.question.id],
        )
        for each in load_question_rows(found.rows)
    ]
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
    held = _load_expected_rows(stored)
    told: dict[UUID, Any] = {row.id: [] for row in rows}
    for answer in answers:
        told[answer.question_id].append((answer, _list_first_memories(answer, held)))
    return {question: _mark_common_memories(sides) for question, sides in told.items()}


def _list_first_memories(answer: ReplayAnswer, held: dict[str, Any]) -> list[ExpectedMemory]:
    return [
        _build_expected_memory(answer.space_id, {"kind": kind, "id": row_id, "turns": []}, held)
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
    rows = rows.filter(build_text_condition(filters.q, "actor", "space__subject", "preset", "tag"))
    if filters["state"] != "all":
        rows = rows.filter(state=filters["state"])
    counted = rows.select_related("space").annotate(answered=Count("answers"))
    return load_page(counted.order_by("-created_at", "-id"), filters.page)


def get_replay_or_404(run_id: UUID) -> ReplayRun:
    rows = ReplayRun.objects.filter(id=run_id).select_related("space")
    found: ReplayRun | None = rows.first()
    if found is None:
        raise Http404
    return found


def load_failed_replay_jobs(run: ReplayRun) -> list[Job]:
    """What keeps a replay from its end: jobs that were given up, or wait for another try."""
    rows = replay_runs.find_jobs_of_run(run).filter(state__in=(Job.State.DEAD, Job.State.RETRY))
    return list(rows.select_related("space")[:5])


def load_latest_ranks(question: GoldenQuestion, most: int = 5) -> list[ReplayAnswer]:
    """How the question fared in the last replays."""
    rows = ReplayAnswer.objects.filter(question=question).exclude(Q(ranks=[]))
    return list(rows.select_related("run").order_by("-run__created_at", "side")[: 2 * most])
