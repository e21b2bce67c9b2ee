"""Measuring the quality of a space: counts and samples of each signal, as of a moment.

Done in the sweep after something was read, once a day at most, and when a person asks. A page
shows what was measured, so that looking at it costs nothing. Samples are ids: no words.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from uuid import UUID

from memoryhub.inference.selection import select_embedder
from memoryhub.pipeline.models import QualityReading
from memoryhub.policies.schema import Policy
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.models import EvolutionEvent
from notes.quality import findings
from notes.quality.findings import QualityFinding

MEASURE_INTERVAL = timedelta(days=1)


def measure_if_changed(space: Space, policy: Policy, now: datetime) -> datetime | None:
    """A task of the sweep. What changed since a measurement of this day is measured tomorrow."""
    with tenant_scope(space.tenant_id):
        rows = QualityReading.objects.filter(space=space, computed_at__gt=now - MEASURE_INTERVAL)
        last: datetime | None = rows.values_list("computed_at", flat=True).first()
        if last is not None:
            since = EvolutionEvent.objects.filter(space=space, created_at__gt=last)
            return last + MEASURE_INTERVAL if since.exists() else None
    measure_quality(space, now)
    return None


def measure_quality(space: Space, now: datetime) -> None:
    """Read, compare with nothing open, write. Asks no model. Opens its own scopes."""
    with tenant_scope(space.tenant_id):
        found = findings.find_row_signals(space, now)
        model = space.embedding_model or select_embedder(space).name
        vectors = findings.load_fact_vectors(space, model, now)
    found += findings.find_vector_signals(vectors)
    with tenant_scope(space.tenant_id):
        QualityReading.objects.bulk_create(
            [_build_reading(space, each, now) for each in found],
            update_conflicts=True,
            unique_fields=["space", "signal"],
            update_fields=["found", "of", "samples", "computed_at"],
        )


def _build_reading(space: Space, finding: QualityFinding, now: datetime) -> QualityReading:
    return QualityReading(
        tenant_id=space.tenant_id,
        space=space,
        signal=finding.signal,
        found=finding.found,
        of=finding.of,
        samples=[
            {"fact": str(s.fact), "other": str(s.other) if s.other else None, "cosine": s.cosine}
            for s in finding.samples
        ],
        computed_at=now,
    )


def remove_erased_samples(space: Space, gone: Iterable[UUID]) -> None:
    """Of an erasure: not even the ids of what is gone stay. Call inside its transaction."""
    erased = {str(each) for each in gone}
    for row in QualityReading.objects.select_for_update().filter(space=space):
        kept = [s for s in row.samples if not {s["fact"], s["other"]} & erased]
        if kept != row.samples:
            row.samples = kept
            row.save(update_fields=["samples"])
