"""What an erasure takes of the recall log. How long it is kept: pipeline/ageing.py."""

from __future__ import annotations

from datetime import datetime

from memoryhub.recall.models import RecallLog
from memoryhub.tenants.models import Space


def delete_entries_since(space: Space, since: datetime) -> int:
    """Drop what was asked in the space from then on, for an erasure: it may tell of what goes.

    Nothing asked before can. Call inside the tenant's scope.
    """
    rows = RecallLog.objects.filter(space=space, asked_at__gte=since)
    count = rows.count()
    rows.delete()
    return count
