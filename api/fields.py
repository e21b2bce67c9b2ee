"""Values as callers send them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.utils.dateparse import parse_datetime
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

# Seconds until the year 9999: larger numbers are milliseconds, as JavaScript counts.
_SECONDS_END = 253_402_300_799


@extend_schema_field({"oneOf": [{"type": "string", "format": "date-time"}, {"type": "number"}]})
class TimestampField(serializers.Field[datetime, Any, str, Any]):
    """ISO 8601, or seconds (or milliseconds) since 1970. A missing zone stays missing (E9)."""

    default_error_messages = {
        "invalid": "Use ISO 8601 (2026-05-12T18:30:00Z) or seconds since 1970."
    }

    def to_internal_value(self, data: Any) -> datetime:
        found = self._epoch(data) if self._is_number(data) else self._iso(data)
        if found is None:
            self.fail("invalid")
        return found

    def to_representation(self, value: datetime) -> str:
        return value.isoformat()

    @staticmethod
    def _is_number(data: Any) -> bool:
        if isinstance(data, bool):
            return False
        return isinstance(data, (int, float)) or (
            isinstance(data, str) and data.strip().lstrip("-").replace(".", "", 1).isdecimal()
        )

    @staticmethod
    def _epoch(data: Any) -> datetime | None:
        try:
            number = float(data)
            return datetime.fromtimestamp(number / 1000 if number > _SECONDS_END else number, UTC)
        except (ValueError, OverflowError, OSError):
            return None

    @staticmethod
    def _iso(data: Any) -> datetime | None:
        try:
            found = parse_datetime(data) if isinstance(data, str) else None
        except ValueError:
            return None
        return found if found is None or found.year > 1 else None


class TextField(serializers.CharField):
    """Text of any content: NULs and blanks are the dialogue's own business to judge (E1, E3)."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(allow_blank=True, trim_whitespace=False, **kwargs)
        self.validators = [
            validator
            for validator in self.validators
            if type(validator).__name__ != "ProhibitNullCharactersValidator"
        ]

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return str(super().to_internal_value(data))
