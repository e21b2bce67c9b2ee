"""What forms send, as values."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID
from zoneinfo import ZoneInfo

from django.utils.dateparse import parse_datetime

from memoryhub.tenants.models import Space


def read_time(given: str, space: Space) -> datetime | None:
    """As the browser's time picker gives it, in the space's zone."""
    try:
        found = parse_datetime(given)
    except ValueError:
        return None
    if found is None or not 1900 < found.year < 2200:
        return None
    return found if found.tzinfo else found.replace(tzinfo=ZoneInfo(space.timezone))


def read_id(given: str) -> UUID | None:
    try:
        return UUID(given)
    except ValueError:
        return None
