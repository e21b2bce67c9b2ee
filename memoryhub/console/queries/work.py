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

from memoryhub.console import ranges, wording
from memoryhub.console.listing import Choice, Filters, Page, containing, page_of
from memoryhub.dialogues.models import Session, Turn
from memoryhub.inference import usage
from memoryhub.inference.models import ModelCall
from memoryhub.pipeline.counting import OPEN
from memoryhub.pipeline.models import Job
from memoryhub.tenants.models import ApiKey, Space
from notes.models import EvolutionEvent, Fact
from personas.models import BlockVersion

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

STATES: dict[str, tuple[StrOrPromise, tuple[str, ...]]] = {
    "all": (_("All"), tuple(Job.State.values)),
    "open": (_("Unfinished"), OPEN),
    "running": (_("Running"), (Job.State.RUNNING,)),
    "retry": (_("Failed, will be tried again"), (Job.State.RETRY,)),
    "dead": (_("Given up"), (Job.State.DEAD,)),
    "done": (_("Done"), (Job.State.DONE,)),
    "cancelled": (_("Cancelled"), (Job.State.CANCELLED,)),
}
STATE = Choice("state", _("State"), tuple((name, label) for name, (label, _) in STATES.items()))
STEP = Choice("step", _("Step"), (("all", _("any")), *Job.Step.choices))
DECIDED = Choice("decided", _("Decided"), (("all", _("anything")), *wording.DECISIONS.items()))
# Beside the state, which has tabs.
CHOICES = (ranges.KEPT, STEP, DECIDED)
CONVERSATION = 100
# Of a conversation, those whose reading is shown.
EXCHANGES = 5
# Of a job, the calls and the changes that its page shows.
MOST_MADE = 50


@dataclass(frozen=True, slots=True)
class Progress:
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


def jobs(filters: Filters, now: datetime) -> QuerySet[Job]:
    """The latest first."""
    rows = _of_any_state(filters, now).filter(state__in=STATES[filters["state"]][1])
    return rows.select_related("space").order_by("-created_at", "-first_seq", "-id")


def job_counts(filters: Filters, now: datetime) -> dict[str, int]:
    """Per entry of STATES. One statement."""
    counts = {name: Count("pk", filter=Q(state__in=states)) for name, (_, states) in STATES.items()}
    found: dict[str, int] = _of_any_state(filters, now).order_by().aggregate(**counts)
    return found


def decided(jobs: QuerySet[Job], op: str) -> int:
    """How many decisions of this kind, one of DECIDED, were made in them. One statement."""
    kind = Func(Value(f'$.decisions[*] ? (@.op == "{op}")'), template="%(expressions)s::jsonpath")
    made = Func("result", kind, function="jsonb_path_query_array")
    count = Func(made, function="jsonb_array_length", output_field=IntegerField())
    total: int = jobs.order_by().aggregate(n=Sum(count, default=0))["n"]
    return total


def _of_any_state(filters: Filters, now: datetime) -> QuerySet[Job]:
    rows: QuerySet[Job] = Job.objects.filter(
        ranges.within(filters["days"], "created_at", now),
        containing(filters.q, "space__subject", "space__name", "error"),
    )
    if filters["step"] != "all":
        rows = rows.filter(step=filters["step"])
    if filters["decided"] != "all":
        rows = rows.filter(result__decisions__contains=[{"op": filters["decided"]}])
    return rows


def made_by(job: Job) -> dict[str, Any]:
    """Its latest calls and changes. Two statements."""
    calls = ModelCall.objects.filter(space=job.space, job_id=job.id).defer("input", "output")
    events = EvolutionEvent.objects.filter(space=job.space, job_id=job.id)
    return {"calls": list(calls[:MOST_MADE]), "events": list(events[:MOST_MADE])}


def progress(most: int = 10) -> list[Progress]:
    """Spaces with turns still to be read, most of them first. Two statements."""
    pending = Turn.objects.filter(state=Turn.State.PENDING).order_by().values("space")
    counted = pending.annotate(n=Count("pk")).order_by("-n", "space")[:most]
    waiting = {row["space"]: row["n"] for row in counted}
    spaces = Space.objects.in_bulk(list(waiting))
    return [Progress(spaces[i], spaces[i].next_seq - 1, n) for i, n in waiting.items()]


def job_or_404(job_id: UUID) -> Job:
    job: Job | None = Job.objects.filter(id=job_id).select_related("space").first()
    if job is None:
        raise Http404
    return job


def conversation(space: Space, name: str) -> list[Turn]:
    """The last turns of the named session, oldest first."""
    session = Session.objects.filter(space=space, external_id=name).first()
    if session is None:
        return []
    rows = Turn.objects.filter(session=session).order_by("-seq")[:CONVERSATION]
    return list(reversed(rows))


def said_or_404(space: Space, turn_id: UUID) -> Turn:
    """A turn that a person said in a chat, with its session."""
    rows = Turn.objects.filter(space=space, id=turn_id, role=Turn.Role.USER)
    found: Turn | None = rows.exclude(state=Turn.State.REDACTED).select_related("session").first()
    if found is None:
        raise Http404
    return found


def fact_or_404(space: Space, fact_id: UUID) -> Fact:
    found: Fact | None = Fact.objects.filter(space=space, id=fact_id).first()
    if found is None:
        raise Http404
    return found


def pending(space: Space) -> int:
    """How many turns wait to be read."""
    count: int = Turn.objects.filter(space=space, state=Turn.State.PENDING).count()
    return count


def read_of(space: Space, turns: Sequence[Turn]) -> list[tuple[Turn, Job | None]]:
    """The latest of these turns that a person said, newest first, each with the job that reads
    it. One statement."""
    said = [turn for turn in reversed(turns) if turn.role == Turn.Role.USER][:EXCHANGES]
    if not said:
        return []
    jobs = list(Job.objects.filter(space=space, step=Job.Step.DERIVE, last_seq__gte=said[-1].seq))
    return [(turn, _reading(turn, jobs)) for turn in said]


def _reading(turn: Turn, jobs: Sequence[Job]) -> Job | None:
    return next((job for job in jobs if job.first_seq <= turn.seq <= job.last_seq), None)


def effects_of(job: Job) -> dict[str, Any]:
    """What reading took, and the blocks written while it was done. Two statements."""
    if job.started_at is None or job.finished_at is None:
        return {}
    written = BlockVersion.objects.filter(
        space=job.space, created_at__gte=job.started_at, created_at__lte=job.finished_at
    )
    took = job.finished_at - job.started_at
    return {
        "blocks": list(written.select_related("block")[:EXCHANGES]),
        "took": took.total_seconds() * 1000,
        "asked": usage.total(ModelCall.objects.filter(job_id=job.id)),
    }


def space_named(subject: str) -> Space | None:
    found: Space | None = Space.objects.filter(subject=subject).first()
    return found


def keys() -> list[ApiKey]:
    return list(ApiKey.objects.select_related("space"))


def key_or_404(key_id: UUID) -> ApiKey:
    key: ApiKey | None = ApiKey.objects.filter(id=key_id).first()
    if key is None:
        raise Http404
    return key


def found_facts(text: str, most: int = 20) -> Page[Fact]:
    """Facts of all spaces that contain the words."""
    rows = Fact.objects.filter(containing(text, "text", "owner"), retired_at=None)
    return page_of(rows.select_related("space"), 1, most)
