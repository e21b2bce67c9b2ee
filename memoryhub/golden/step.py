"""The step of the pipeline that asks golden questions: of a replay, or of two embedders."""

from __future__ import annotations

from datetime import datetime

from memoryhub.golden import embedder_comparison, replay_runs
from memoryhub.pipeline.models import Job


def run_golden_job(job: Job, now: datetime) -> None:
    """Raises LeaseLost, EngineError."""
    if "compare" in job.payload:
        embedder_comparison.run_comparison(job, now)
    else:
        replay_runs.run_replay_job(job, now)
