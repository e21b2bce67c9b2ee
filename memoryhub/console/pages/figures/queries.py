"""What the figures over time are made of. Call inside the tenant's scope."""

from __future__ import annotations

from collections import Counter
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Any

from django.db.models import Aggregate, Count, FloatField, Q, QuerySet
from django.db.models.functions import TruncDate, TruncWeek
from django.utils.translation import gettext as _

from memoryhub.console.frame.day_ranges import compute_range_start
from memoryhub.console.frame.text.predicate_words import format_predicate
from memoryhub.console.pages.figures.plots import (
    DayOfQuestions,
    Lifeline,
    ReplayQuality,
    WeekOfFacts,
)
from memoryhub.golden.models import ReplayAnswer, ReplayRun
from memoryhub.recall.models import RecallLog
from memoryhub.tenants.models import Space
from notes.models import Fact, Proposal, Risk

WEEKS = 26
MAX_REPLAYS = 30
MAX_LIFELINES = 60
MAX_VALUES = 12  # of a claim, the latest
FOUND_WITHIN = 10  # places that count as found
_WEEK = timedelta(days=7)
_CASE_AGES = (1, 7, 30)  # days


class Percentile(Aggregate):
    """`PERCENTILE_CONT` of a column."""

    function = "PERCENTILE_CONT"
    template = "%(function)s(%(share)s) WITHIN GROUP (ORDER BY %(expressions)s)"
    output_field = FloatField()


def count_facts_by_week(space: Space | None, now: datetime) -> list[WeekOfFacts]:
    """The last weeks, this one last. Three statements."""
    this = now.date() - timedelta(days=now.weekday())
    weeks = [this - _WEEK * back for back in reversed(range(WEEKS))]
    rows = Fact.objects.filter(retired_at=None)
    if space:
        rows = rows.filter(space=space)
    made = _count_by_week(rows, "asserted_at", weeks[0])
    replaced = _count_by_week(rows.exclude(supersedes=None), "asserted_at", weeks[0])
    over = rows.filter(valid_to__lte=now, superseded_by=None)
    ended = _count_by_week(over, "valid_to", weeks[0])
    return [WeekOfFacts(week, made[week], replaced[week], ended[week]) for week in weeks]


def _count_by_week(rows: QuerySet[Fact], column: str, first: date) -> Counter[date]:
    recent: Any = rows.filter(**{f"{column}__date__gte": first}).order_by()
    weeks = recent.annotate(week=TruncWeek(column)).values("week").annotate(n=Count("pk"))
    return Counter({row["week"].date(): row["n"] for row in weeks})


def load_latency_by_day(days: int, now: datetime) -> list[DayOfQuestions]:
    """The days on which anything was asked, the first one first. One statement."""
    rows: Any = RecallLog.objects.filter(asked_at__gte=compute_range_start(days, now)).order_by()
    found = (
        rows.annotate(day=TruncDate("asked_at"))
        .values("day")
        .annotate(
            count=Count("pk"),
            half=Percentile("milliseconds", share=0.5),
            most=Percentile("milliseconds", share=0.95),
            nearly_all=Percentile("milliseconds", share=0.99),
        )
    )
    return [DayOfQuestions(**row) for row in found.order_by("day")]


def count_cases_by_age(now: datetime) -> list[tuple[str, int, int]]:
    """(how old, how many open cases of low or medium risk, and of high). One statement."""
    bounds = [None, *_CASE_AGES, None]
    labels = (_("under a day"), _("under a week"), _("under 30 days"), _("older"))
    wanted: dict[str, Any] = {}
    for at, (after, before) in enumerate(pairwise(bounds)):
        fits = Q()
        if after is not None:
            fits &= Q(created_at__lte=now - timedelta(days=after))
        if before is not None:
            fits &= Q(created_at__gt=now - timedelta(days=before))
        high = Q(risk=Risk.HIGH)
        wanted |= {f"usual{at}": Count("pk", filter=fits & ~high)}
        wanted |= {f"high{at}": Count("pk", filter=fits & high)}
    rows = Proposal.objects.filter(state=Proposal.State.OPEN).order_by()
    found = rows.aggregate(**wanted)
    return [(label, found[f"usual{n}"], found[f"high{n}"]) for n, label in enumerate(labels)]


def load_replay_qualities() -> list[ReplayQuality]:
    """Of the latest replays, what the setting in force found; the first one first. Two
    statements."""
    done = ReplayRun.objects.filter(state=ReplayRun.State.DONE)
    runs = list(done.order_by("-created_at", "-id").values_list("id", "created_at")[:MAX_REPLAYS])
    found: Counter[Any] = Counter()
    expected: Counter[Any] = Counter()
    answers = ReplayAnswer.objects.filter(
        run__in=[run for run, _at in runs], side=ReplayAnswer.Side.CURRENT
    )
    for run, ranks in answers.order_by().values_list("run_id", "ranks"):
        found[run] += sum(rank is not None and rank <= FOUND_WITHIN for rank in ranks)
        expected[run] += len(ranks)
    return [
        ReplayQuality(at, found[run], expected[run]) for run, at in reversed(runs) if expected[run]
    ]


def load_lifelines(space: Space, now: datetime) -> list[Lifeline]:
    """Of the person's claims with one value at a time, those with most values first, and of each
    its latest values. One statement."""
    rows = Fact.objects.filter(
        ~Q(status=Fact.Status.RETRACTED),
        space=space,
        retired_at=None,
        cardinality="single",
        owner__in=space.called_names,
        valid_from__lte=now,
    ).exclude(predicate_key="")
    found: dict[str, list[Lifeline]] = {}
    for fact in rows.order_by("-valid_from", "-id")[: 10 * MAX_LIFELINES]:
        claim, end = format_predicate(fact.predicate_key), fact.valid_to
        line = Lifeline(claim, fact.object or fact.text, fact.valid_from, end)
        found.setdefault(claim, []).append(line)
    ordered = sorted(found.values(), key=len, reverse=True)
    return [line for lines in ordered for line in lines[:MAX_VALUES][::-1]][:MAX_LIFELINES]
