"""What is kept for a time only: fingerprints, tombstones, receipts (spec §12.1). Sweep's task.

A fingerprint guards against an echo, which comes back within days. Tombstones and receipts are
the tenant's, and go with the sweep of any of its spaces.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Min

from memoryhub.policies.schema import Policy
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.models import Fingerprint, Receipt, Tombstone

FINGERPRINT_AGE = timedelta(days=30)  # since the sentence was given out last
TOMBSTONE_AGE = timedelta(days=3 * 365)  # tombstones and receipts
BATCH, BATCHES = 1_000, 20  # a sweep


def delete_expired(space: Space, policy: Policy, now: datetime) -> datetime | None:
    """Remove what is over, unless a legal hold is on; returns when to go on. Opens its own scopes,
    one a batch."""
    if policy.erase.hold:
        return None
    with tenant_scope(space.tenant_id):
        given = Fingerprint.objects.filter(space=space)
        buried = Tombstone.objects.filter(
            tenant=space.tenant_id, created_at__lt=now - TOMBSTONE_AGE
        )
        told = Receipt.objects.filter(tenant=space.tenant_id, created_at__lt=now - TOMBSTONE_AGE)
        kept = given.filter(given_at__gte=now - FINGERPRINT_AGE)
        over = [given.filter(given_at__lt=now - FINGERPRINT_AGE), buried, told]
        over = [rows for rows in over if rows.exists()]
        oldest: datetime | None = kept.aggregate(at=Min("given_at"))["at"]
    left = [rows for rows in over if not _delete_batches(space, rows)]
    if left:
        return now
    return oldest + FINGERPRINT_AGE if oldest else None


def has_expired_fingerprints(space: Space, now: datetime) -> bool:
    """Whether fingerprints of the space are over. Call inside the tenant's scope."""
    over = Fingerprint.objects.filter(space=space, given_at__lt=now - FINGERPRINT_AGE)
    return bool(over.exists())


def _delete_batches(space: Space, rows: Any) -> bool:
    """False when some are left for the next sweep."""
    for _ in range(BATCHES):
        with tenant_scope(space.tenant_id):
            ids = list(rows.values_list("id", flat=True)[:BATCH])
            rows.model._default_manager.filter(id__in=ids).delete()
        if len(ids) < BATCH:
            return True
    return False
