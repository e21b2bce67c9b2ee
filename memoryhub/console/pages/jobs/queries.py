"""Jobs, what they made, and how far reading has come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import Count, Func, IntegerField, Q, QuerySet, Sum, Value
from django.http import Http404
from django.utils.translation import gettext_lazy as _

from memoryhub.console.frame import day_ranges
from memoryhub.console.frame.lists import (
    FilterChoice,
    Filters,
    ListPage,
    build_text_condition,
    load_page,
)
from memoryhub.console.frame.text import wording
from memoryhub.dialogues.models import Session, Turn
from memoryhub.inference import usage
from memoryhub.inference.models import ModelCall
from memoryhub.pipeline.counts import OPEN_STATES
from memoryhub.pipeline.models import Job
from memoryhub.tenants.models import ApiKey, Space
from notes.models import EvolutionEvent, Fact
from personas.models import BlockVersion

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

JOB_STATES: dict[str, tuple[StrOrPromise, tuple[str, ...]]] = {
    "all": (_("All"), tuple(Job.State.values)),
    "open": (_("Unfinished"), OPEN_STATES),
    "running": (_("Running"), (Job.State.RUNNING,)),
    "retry": (_("Failed, will be tried again"), (Job.State.RETRY,)),
    "dead": (_("Given up"), (Job.State.DEAD,)),
    "done": (_("Done"), (Job.State.DONE,)),
    "cancelled": (_("Cancelled"), (Job.State.CANCELLED,)),
}
JOB_STATE_CHOICE = FilterChoice(
    "state", _("State"), tuple((name, label) for name, (label, _) in JOB_STATES.items())
)
JOB_STEP_CHOICE = FilterChoice("step", _("Step"), (("all", _("any")), *Job.Step.choices))
JOB_DECISION_CHOICE = FilterChoice(
    "decided", _("Decided"), (("all", _("anything")), *wording.DECISION_WORDS.items())
)
# Beside the state, which has tabs.
JOB_CHOICES = (day_ranges.KEPT_DAYS_CHOICE, JOB_STEP_CHOICE, JOB_DECISION_CHOICE)
MAX_CONVERSATION_TURNS = 100
# Of a conversation, those whose reading is shown.
MAX_EXCHANGES = 5
# Of a job, the calls and the changes that its page shows.
MAX_JOB_RESULTS = 50


@dataclass(frozen=True, slots=True)
class ReadingProgress:
    """How many turns of a space have been read."""

    space: Space
    total: int
    pending: int

    @property
    def read(self) -> int:
        return self.total - self.pending

    @property
    def percent(self) -> int:
        return 100 * self.read // self.total if self.total else 100


def list_jobs(filters: Filters, now: datetime) -> QuerySet[Job]:
    """The latest first."""
    rows = _filter_jobs(filters, now).filter(state__in=JOB_STATES[filters["state"]][1])
    return rows.select_related("space").order_by("-created_at", "-first_seq", "-id")


def count_jobs_by_state(filters: Filters, now: datetime) -> dict[str, int]:
    """Per entry of STATES. One statement."""
    counts = {
        name: Count("pk", filter=Q(state__in=states)) for name, (_, states) in JOB_STATES.items()
    }
    found: dict[str, int] = _filter_jobs(filters, now).order_by().aggregate(**counts)
    return found


def count_decisions_of_kind(jobs: QuerySet[Job], op: str) -> int:
    """How many decisions of this kind, one of DECIDED, were made in them. One statement."""
    kind = Func(Value(f'$.decisions[*] ? (@.op == "{op}")'), template="%(expressions)s::jsonpath")
    made = Func("result", kind, function="jsonb_path_query_array")
    count = Func(made, function="jsonb_array_length", output_field=IntegerField())
    total: int = jobs.order_by().aggregate(n=Sum(count, default=0))["n"]
    return total


def _filter_jobs(filters: Filters, now: datetime) -> QuerySet[Job]:
    rows: QuerySet[Job] = Job.objects.filter(
        day_ranges.build_range_condition(filters["days"], "created_at", now),
        build_text_condition(filters.q, "space__subject", "space__name", "error"),
    )
    if filters["step"] != "all":
        rows = rows.filter(step=filters["step"])
    if filters["decided"] != "all":
        rows = rows.filter(result__decisions__contains=[{"op": filters["decided"]}])
    return rows


def load_job_results(job: Job) -> dict[str, Any]:
    """Its latest calls and changes. Two statements."""
    calls = ModelCall.objects.filter(space=job.space, job_id=job.id).defer("input", "output")
    events = EvolutionEvent.objects.filter(space=job.space, job_id=job.id)
    return {"calls": list(calls[:MAX_JOB_RESULTS]), "events": list(events[:MAX_JOB_RESULTS])}


def load_reading_progress(most: int = 10) -> list[ReadingProgress]:
    """Spaces with turns still to be read, most of them first. Two statements."""
    pending = Turn.objects.filter(state=Turn.State.PENDING).order_by().values("space")
    counted = pending.annotate(n=Count("pk")).order_by("-n", "space")[:most]
    waiting = {row["space"]: row["n"] for row in counted}
    spaces = Space.objects.in_bulk(list(waiting))
    return [ReadingProgress(spaces[i], spaces[i].next_seq - 1, n) for i, n in waiting.items()]


def get_job_or_404(job_id: UUID) -> Job:
    job: Job | None = Job.objects.filter(id=job_id).select_related("space").first()
    if job is None:
        raise Http404
    return job


def load_conversation(space: Space, name: str) -> list[Turn]:
    """The last turns of the named session, oldest first."""
    session = Session.objects.filter(space=space, external_id=name).first()
    if session is None:
        return []
    rows = Turn.objects.filter(session=session).order_by("-seq")[:MAX_CONVERSATION_TURNS]
    return list(reversed(rows))


def get_said_turn_or_404(space: Space, turn_id: UUID) -> Turn:
    """A turn that a person said in a chat, with its session."""
    rows = Turn.objects.filter(space=space, id=turn_id, role=Turn.Role.USER)
    found: Turn | None = rows.exclude(state=Turn.State.REDACTED).select_related("session").first()
    if found is None:
        raise Http404
    return found


def get_chat_fact_or_404(space: Space, fact_id: UUID) -> Fact:
    found: Fact | None = Fact.objects.filter(space=space, id=fact_id).first()
    if found is None:
        raise Http404
    return found


def count_pending_turns(space: Space) -> int:
    """How many turns wait to be read."""
    count: int = Turn.objects.filter(space=space, state=Turn.State.PENDING).count()
    return count


def load_reading_jobs(space: Space, turns: Sequence[Turn]) -> list[tuple[Turn, Job | None]]:
    """The latest of these turns that a person said, newest first, each with the job that reads
    it. One statement."""
    said = [turn for turn in reversed(turns) if turn.role == Turn.Role.USER][:MAX_EXCHANGES]
    if not said:
        return []
    jobs = list(Job.objects.filter(space=space, step=Job.Step.DERIVE, last_seq__gte=said[-1].seq))
    return [(turn, _find_reading_job(turn, jobs)) for turn in said]


def _find_reading_job(turn: Turn, jobs: Sequence[Job]) -> Job | None:
    return next((job for job in jobs if job.first_seq <= turn.seq <= job.last_seq), None)


def load_job_effects(job: Job) -> dict[str, Any]:
    """What reading took, and the blocks written while it was done. Two statements."""
    if job.started_at is None or job.finished_at is None:
        return {}
    written = BlockVersion.objects.filter(
        space=job.space, created_at__gte=job.started_at, created_at__lte=job.finished_at
    )
    took = job.finished_at - job.started_at
    return {
        "blocks": list(written.select_related("block")[:MAX_EXCHANGES]),
        "took": took.total_seconds() * 1000,
        "asked": usage.sum_usage(ModelCall.objects.filter(job_id=job.id)),
    }


def find_space_of_subject(subject: str) -> Space | None:
    found: Space | None = Space.objects.filter(subject=subject).first()
    return found


def load_keys() -> list[ApiKey]:
    return list(ApiKey.objects.select_related("space"))


def get_key_or_404(key_id: UUID) -> ApiKey:
    key: ApiKey | None = ApiKey.objects.filter(id=key_id).first()
    if key is None:
        raise Http404
    return key


def find_facts(text: str, most: int = 20) -> ListPage[Fact]:
    """Facts of all spaces that contain the words."""
    rows = Fact.objects.filter(build_text_condition(text, "text", "owner"), retired_at=None)
    return load_page(rows.select_related("space"), 1, most)
