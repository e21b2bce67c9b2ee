"""What forms send, as values."""

from __future__ import annotations

from collections.abc import Iterable
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


def read_ids(given: Iterable[str]) -> list[UUID]:
    """Each once, in their order; what is no id is left out."""
    return list(dict.fromkeys(found for text in given if (found := read_id(text)) is not None))


def read_id(given: str) -> UUID | None:
    try:
        return UUID(given)
    except ValueError:
        return None
