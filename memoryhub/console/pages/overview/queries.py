"""One page that says everything about a tenant."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from django.db import connection
from django.db.models import (
    Case,
    Count,
    DateTimeField,
    Expression,
    F,
    Func,
    Min,
    Q,
    QuerySet,
    Value,
    When,
)
from django.db.models.functions import Greatest, Least, TruncDate, TruncHour
from django.utils.translation import gettext_lazy as _

from api.models import LoggedRequest
from memoryhub.console.frame.day_ranges import HOURS_A_DAY, compute_range_start
from memoryhub.console.frame.lists import FilterChoice, ListPage, build_text_condition, load_page
from memoryhub.console.pages.feedback.views import UNFIT_CONDITION
from memoryhub.dialogues.models import Turn
from memoryhub.inference.models import ModelCall
from memoryhub.pipeline.counts import (
    annotate_counts,
    build_planned_filter,
)
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.review.answer_proposals import count_open_cases
from memoryhub.recall.models import RecallLog
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import get_current_tenant
from notes.models import Fact, Feedback

# Jobs whose decisions are counted, the latest: the page asks again every few seconds.
MAX_COUNTED_JOBS = 2000
_DECISIONS_SQL = """
WITH latest AS (
  SELECT result FROM pipeline_job
  WHERE tenant_id = %s AND created_at >= %s AND state = 'done' AND step = 'derive'
  ORDER BY created_at DESC LIMIT %s)
SELECT decision->>'op', count(*) FROM latest, jsonb_array_elements(
  CASE WHEN jsonb_typeof(result->'decisions') = 'array' THEN result->'decisions' ELSE '[]' END
) AS decision
GROUP BY 1 ORDER BY 2 DESC, 1
"""
_LOOK_BACK = timedelta(days=1)


def count_decisions(since: datetime) -> list[tuple[str, int]]:
    """(kind of decision, how many), of the latest MOST_JOBS readings. One statement."""
    with connection.cursor() as cursor:
        cursor.execute(_DECISIONS_SQL, [get_current_tenant(), since, MAX_COUNTED_JOBS])
        return [(op, count) for op, count in cursor.fetchall() if op]


def count_answer_signals(since: datetime) -> dict[str, int]:
    """`questions` that were asked, of which `insufficient` found too little and `degraded` were
    answered without a part; `unfit`: memories called harmful, unhelpful or untrue; `waiting`: cases
    for a person. Three statements."""
    asked: dict[str, int] = (
        RecallLog.objects.filter(asked_at__gte=since)
        .order_by()
        .aggregate(
            questions=Count("pk"),
            insufficient=Count("pk", filter=Q(insufficient=True)),
            degraded=Count("pk", filter=~Q(degraded=[])),
        )
    )
    unfit = Feedback.objects.filter(UNFIT_CONDITION, created_at__gte=since)
    return asked | {"unfit": unfit.count(), "waiting": count_open_cases()}


def count_requests(now: datetime) -> dict[str, int]:
    """Of the last day, how many there were and of these those `refused` or `failed`. One
    statement."""
    rows = LoggedRequest.objects.filter(at__gte=now - _LOOK_BACK).order_by()
    found: dict[str, int] = rows.aggregate(
        count=Count("pk"),
        refused=Count("pk", filter=Q(status__gte=400, status__lt=500)),
        failed=Count("pk", filter=Q(status__gte=500)),
    )
    return found


def find_latest_model_error(now: datetime) -> str:
    """What the latest call to a model in a day said, if it failed; "" if it did not."""
    rows = ModelCall.objects.filter(created_at__gte=now - _LOOK_BACK)
    latest = rows.values_list("status", "error").first()
    return latest[1] if latest and latest[0] == ModelCall.Status.FAILED else ""


OVERVIEW_DAYS_CHOICE = FilterChoice(
    "days", _("Days"), (("30", _("Last 30 days")), ("7", _("Last 7 days")), ("1", _("Last day")))
)
# A due job nobody claimed for this long means that no worker listens.
UNHEARD_AFTER = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class QueueState:
    """`oldest` is since when the first unfinished job waits, `unheard` how many nobody claims,
    `planned` those due later, which nobody waits for; `over_budget` and `left_alone` those of
    the retrying that wait until a model may be asked."""

    waiting: int
    running: int
    retrying: int
    dead: int
    unheard: int
    oldest: datetime | None
    planned: int = 0
    over_budget: int = 0
    left_alone: int = 0

    @property
    def open(self) -> int:
        return self.waiting + self.running + self.retrying


@dataclass(frozen=True, slots=True)
class ActivitySlot:
    """A day, or an hour where a single day is looked at."""

    day: date
    turns: int
    facts: int


class _MadeAt(Func):
    """When a row was made, by its time-ordered id: `created_at` of what is planned after an old
    conversation is as old as that."""

    template = (
        "to_timestamp(('x' || left(replace((%(expressions)s)::text, '-', ''), 12))"
        "::bit(48)::bigint / 1000.0)"
    )
    output_field = DateTimeField()


def _build_waiting_since(now: datetime) -> Expression:
    """Since a job was made, and is due; one that is to be tried again was due before."""
    made = _MadeAt(F("id"))
    due = Greatest(made, Least(F("run_after"), Value(now)))
    return Case(When(state=Job.State.RETRY, then=made), default=due)


def load_queue_state(now: datetime) -> QueueState:
    def jobs(*states: str, **more: Any) -> Count:
        return Count("pk", filter=Q(state__in=states, **more))

    late, later = now - UNHEARD_AFTER, build_planned_filter(now)
    found = Job.objects.aggregate(
        waiting=Count("pk", filter=Q(state=Job.State.QUEUED) & ~later),
        planned=Count("pk", filter=later),
        running=jobs(Job.State.RUNNING),
        retrying=jobs(Job.State.RETRY),
        dead=jobs(Job.State.DEAD),
        over_budget=jobs(Job.State.RETRY, error__startswith="budget_spent:"),
        left_alone=jobs(Job.State.RETRY, error__startswith="breaker_open:"),
        unheard=jobs(*Job.WAITING_STATES, run_after__lt=late),
        oldest=Min(_build_waiting_since(now), filter=Q(state__in=Job.UNFINISHED_STATES) & ~later),
    )
    # While one job of a space runs, those behind it wait in order: somebody is listening.
    return QueueState(**{**found, "unheard": 0 if found["running"] else found["unheard"]})


def count_activity(days: int, now: datetime) -> list[ActivitySlot]:
    """Day by day, today last; of a single day hour by hour. Two statements."""
    first, by_hour = compute_range_start(days, now), days == 1
    step = timedelta(hours=1) if by_hour else timedelta(days=1)
    times = [first + step * place for place in range(HOURS_A_DAY if by_hour else days)]
    slots: list[Any] = times if by_hour else [at.date() for at in times]
    trunc = TruncHour if by_hour else TruncDate
    turns = _count_by_slot(Turn.objects.all(), "received_at", first, trunc)
    facts = _count_by_slot(Fact.objects.all(), "recorded_at", first, trunc)
    return [ActivitySlot(slot, turns.get(slot, 0), facts.get(slot, 0)) for slot in slots]


def _count_by_slot(rows: QuerySet[Any], field: str, first: datetime, trunc: Any) -> dict[Any, int]:
    recent = rows.filter(**{f"{field}__gte": first}).order_by()
    counted = recent.annotate(on=trunc(field)).values("on").annotate(n=Count("pk"))
    return {row["on"]: row["n"] for row in counted}


def load_latest_failures(count: int = 3) -> list[Job]:
    failed = Job.objects.filter(state__in=(Job.State.DEAD, Job.State.RETRY)).exclude(error="")
    return list(failed.select_related("space")[:count])


def load_liveliest_spaces(now: datetime, count: int = 5) -> list[Any]:
    rows = Space.objects.exclude(last_activity_at=None).order_by("-last_activity_at", "id")
    return list(annotate_counts(rows, now)[:count])


def find_facts(text: str, most: int = 20) -> ListPage[Fact]:
    """Facts of all spaces that contain the words."""
    rows = Fact.objects.filter(build_text_condition(text, "text", "owner"), retired_at=None)
    return load_page(rows.select_related("space"), 1, most)
