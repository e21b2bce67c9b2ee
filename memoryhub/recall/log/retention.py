"""How long the recall log is kept, and what an erasure takes of it."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Min, QuerySet

from memoryhub.policies.schema import Policy
from memoryhub.recall.models import RecallLog
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope


def delete_entries_since(space: Space, since: datetime) -> int:
    """Drop what was asked in the space from then on, for an erasure: it may tell of what goes.

    Nothing asked before can. Call inside the tenant's scope.
    """
    rows = RecallLog.objects.filter(space=space, asked_at__gte=since)
    count = rows.count()
    rows.delete()
    return count


def sweep_recall_log(space: Space, policy: Policy, now: datetime) -> datetime | None:
    """Drop what is older than the setting says. A task of the sweep: opens its own scope, and
    returns when the next entry of the space is."""
    with tenant_scope(space.tenant_id):
        find_expired_entries(now).delete()
        oldest = RecallLog.objects.filter(space=space).aggregate(at=Min("asked_at"))["at"]
    return oldest + timedelta(days=settings.RECALL_LOG_DAYS) if oldest else None


def find_expired_entries(now: datetime) -> QuerySet[RecallLog]:
    """Of all spaces of the tenant: one that nobody asks any more is swept with the others."""
    return RecallLog.objects.filter(asked_at__lt=now - timedelta(days=settings.RECALL_LOG_DAYS))
