"""Until when a key works, as people say it: a last day, or a moment."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.utils.dateparse import parse_date, parse_datetime
from django.utils.translation import gettext

from memoryhub.errors import InvalidInput
from memoryhub.tenants.models import Space


def read_expiry(text: str, space: Space | None) -> datetime:
    """A day, to its end, or a moment as ISO 8601; in the space's zone, else in UTC.

    Raises InvalidInput.
    """
    zone = ZoneInfo(space.timezone if space else "UTC")
    try:
        day = parse_date(text)
        moment = None if day else parse_datetime(text)
    except ValueError:
        day = moment = None
    if day is not None:
        return compute_day_end(day, space)
    if moment is None:
        message = gettext("a day, as 2030-01-31, or a time")
        raise InvalidInput(message, field="expires_at")
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)


def compute_day_end(day: date, space: Space | None) -> datetime:
    """The moment at which the day is over, in the space's zone, else in UTC. Raises InvalidInput
    for the last day there is."""
    if day == date.max:
        raise InvalidInput(gettext("a day that can come"), field="expires_at")
    zone = ZoneInfo(space.timezone if space else "UTC")
    return datetime.combine(day + timedelta(days=1), time(), zone)


def check_to_come(until: datetime, now: datetime) -> None:
    """Raises InvalidInput for a key that would be over when it is made."""
    if until <= now:
        raise InvalidInput(gettext("a time that is to come"), field="expires_at")
