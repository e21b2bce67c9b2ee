"""The step of the pipeline that asks golden questions: of a replay, or of two embedders."""

from __future__ import annotations

from datetime import datetime

from memoryhub.golden import replaying, vectors
from memoryhub.pipeline.models import Job


def run(job: Job, now: datetime) -> None:
    """Raises LeaseLost, EngineError."""
    if "compare" in job.payload:
        vectors.run(job, now)
    else:
        replaying.run_job(job, now)
