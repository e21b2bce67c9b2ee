"""Chains, and the way from short-term memory into segments (MemoryOS, spec §8.2, §11.5)."""

from __future__ import annotations

from datetime import datetime

from memoryhub.pipeline.following import Derived
from memoryhub.pipeline.models import Job


def run(job: Job, now: datetime) -> None:
    raise NotImplementedError


def schedule(due: Derived) -> None:
    """Plan the step, if what was derived makes it due."""
