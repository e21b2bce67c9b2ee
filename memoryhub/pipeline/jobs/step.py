"""The one shape of a step (spec §12.1).

A step says what it is called, in which lane it comes, and what it reads, asks, writes and plans
next. The runner does the rest: it claims the job, opens what each phase runs in, reads anew when
what was read has changed meanwhile, and ends the job with what was written.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar, Generic, TypeVar

from memoryhub.declarations import load_declarations
from memoryhub.errors import Conflict
from memoryhub.pipeline.models import Job, Lane
from notes.history.unit_of_work import RowsChanged

Work = TypeVar("Work")
Answer = TypeVar("Answer")
T = TypeVar("T")
JobResult = dict[str, object]
MAX_READS = 3  # of what changes while a model is asked about it (E10)


class StaleRead(Conflict):
    """What was decided rests on rows that have changed since: read and decide again."""

    code = "stale_read"


@dataclass(frozen=True, slots=True)
class NothingToDo:
    """Read instead of work: the job ends at once, with this result."""

    result: JobResult


class Step(ABC, Generic[Work, Answer]):
    """One job being done. `read` returns Work, `ask` makes an Answer of it.

    An object serves all attempts at reading: what must not be asked twice may be kept on it.
    `variants`: jobs under the same name that do something else, by a key that their payload has.
    """

    name: ClassVar[Job.Step]
    lane: ClassVar[Lane]
    variants: ClassVar[Mapping[str, type[Step[Any, Any]]]] = {}

    def __init__(self, job: Job, now: datetime) -> None:
        self.job = job
        self.now = now

    @classmethod
    def build_for(cls, job: Job, now: datetime) -> Step[Any, Any]:
        """The step for this job, of the variant that its payload asks for."""
        chosen = next((one for key, one in cls.variants.items() if key in job.payload), cls)
        return chosen(job, now)

    @abstractmethod
    def read(self) -> Work | NothingToDo:
        """What the job is about, in one short transaction in the tenant's scope."""

    @abstractmethod
    def ask(self, work: Work) -> Answer:
        """Ask the models, with no transaction open. Raises EngineError."""

    @abstractmethod
    def write(self, work: Work, answer: Answer) -> JobResult:
        """Write what changes and return the job's result, in the transaction that ends the job,
        with the job locked. Raises StaleRead or RowsChanged to have it all read anew."""

    def plan(self, work: Work, answer: Answer) -> None:  # most plan nothing
        """Plan what follows, in the same transaction, after the job's end was written."""

    def follow_up(self, work: Work) -> None:  # most leave nothing
        """What is left once everything is written, with no transaction open."""


@cache
def load_steps() -> Mapping[Job.Step, type[Step[Any, Any]]]:
    """The steps that the apps declare, by name."""
    declared = load_declarations().values()
    return MappingProxyType({step.name: step for app in declared for step in app.steps})


def retry_stale_reads(once: Callable[[], T]) -> T:
    """Do it, anew when what it read has changed meanwhile. Raises StaleRead or RowsChanged in the
    end."""
    for _ in range(MAX_READS - 1):
        try:
            return once()
        except (StaleRead, RowsChanged):
            continue
    return once()
