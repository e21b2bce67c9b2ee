"""What an erasure left tainted, derived again from what remains (spec §11.9)."""

from __future__ import annotations

from datetime import datetime

from memoryhub.pipeline.models import Job


def run(job: Job, now: datetime) -> None:
    raise NotImplementedError
