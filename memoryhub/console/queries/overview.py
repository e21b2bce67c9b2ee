"""One page that says everything about a tenant."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from django.db.models import Count, Min, Q, QuerySet
from django.db.models.functions import TruncDate

from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.counting import OPEN, count_of, planned, totals, with_counts
from memoryhub.pipeline.models import Job
from memoryhub.tenants.models import Space, Tenant
from notes.models import EvolutionEvent, Fact, Revision

DAYS = 30
# A due job nobody claimed for this long means that no worker listens.
UNHEARD = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Queue:
    """`oldest` is when the first unfinished job was made, `unheard` how many nobody claims,
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

    def lag(self, now: datetime) -> timedelta:
        return now - self.oldest if self.oldest else timedelta()


@dataclass(frozen=True, slots=True)
class Day:
    day: date
    turns: int
    facts: int


def tenant_totals(tenant: Tenant, now: datetime) -> dict[str, int]:
    return totals(Tenant.objects.filter(id=tenant.id), now)


def queue(now: datetime) -> Queue:
    def jobs(*states: str, **more: Any) -> Count:
        return Count("pk", filter=Q(state__in=states, **more))

    late, later = now - UNHEARD, planned(now)
    found = Job.objects.aggregate(
        waiting=Count("pk", filter=Q(state=Job.State.QUEUED) & ~later),
        planned=Count("pk", filter=later),
        running=jobs(Job.State.RUNNING),
        retrying=jobs(Job.State.RETRY),
        dead=jobs(Job.State.DEAD),
        over_budget=jobs(Job.State.RETRY, error__startswith="budget_spent:"),
        left_alone=jobs(Job.State.RETRY, error__startswith="breaker_open:"),
        unheard=jobs(Job.State.QUEUED, Job.State.RETRY, run_after__lt=late),
        oldest=Min("created_at", filter=Q(state__in=OPEN) & ~later),
    )
    # While one job of a space runs, those behind it wait in order: somebody is listening.
    return Queue(**{**found, "unheard": 0 if found["running"] else found["unheard"]})


def activity(now: datetime) -> list[Day]:
    """The last DAYS days, today last. Two statements."""
    days = [now.date() - timedelta(days=back) for back in range(DAYS - 1, -1, -1)]
    turns = _by_day(Turn.objects.all(), "received_at", days[0])
    facts = _by_day(Fact.objects.all(), "recorded_at", days[0])
    return [Day(day, turns.get(day, 0), facts.get(day, 0)) for day in days]


def _by_day(rows: QuerySet[Any], field: str, first: date) -> dict[date, int]:
    recent = rows.filter(**{f"{field}__date__gte": first}).order_by()
    counted = recent.annotate(on=TruncDate(field)).values("on").annotate(n=Count("pk"))
    return {row["on"]: row["n"] for row in counted}


def failures(count: int = 3) -> list[Job]:
    failed = Job.objects.filter(state__in=(Job.State.DEAD, Job.State.RETRY)).exclude(error="")
    return list(failed.select_related("space")[:count])


def latest_events(count: int = 6) -> list[EvolutionEvent]:
    changes = count_of(Revision.objects.all(), "event")
    rows = EvolutionEvent.objects.select_related("space").annotate(changes=changes)
    return list(rows[:count])


def liveliest_spaces(now: datetime, count: int = 5) -> list[Any]:
    rows = Space.objects.exclude(last_activity_at=None).order_by("-last_activity_at", "id")
    return list(with_counts(rows, now)[:count])
