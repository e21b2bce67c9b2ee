"""The rolling summary S of a space (Mem0, spec §5.2)."""

from __future__ import annotations

from datetime import datetime

from memoryhub.pipeline.following import Derived
from memoryhub.pipeline.models import Job


def run(job: Job, now: datetime) -> None:
    raise NotImplementedError


def schedule(due: Derived) -> None:
    """Plan the step, if what was derived makes it due."""
