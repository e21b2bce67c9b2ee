"""Messages taken in and worked on to their end, as a request with `wait` does."""

from __future__ import annotations

from uuid import UUID

from memoryhub.pipeline.ingest.services import (
    WAIT_SECONDS,
    IngestRequest,
    IngestResult,
    ingest_messages,
    wait_for_job,
)


def ingest_and_wait(
    tenant_id: UUID, request: IngestRequest, seconds: float = WAIT_SECONDS
) -> IngestResult:
    """Ingest, and work on the space until this job has ended or the time is up."""
    done = ingest_messages(tenant_id, request)
    if done.job is not None:
        wait_for_job(tenant_id, done.job, seconds)
    return done
