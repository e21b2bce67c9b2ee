"""Values as callers send them."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from django.utils.dateparse import parse_datetime
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from memoryhub.dialogues.messages import (
    FIRST_YEAR,
    LAST_YEAR,
    checked_time,
    clean_text,
    metadata_fault,
)
from memoryhub.errors import InvalidInput

# Seconds until the year 9999: larger numbers are milliseconds, as JavaScript counts.
_SECONDS_END = 253_402_300_799
# As text, a number is a time only from nine digits: 20260512 is a day, 2026 a year.
_NUMBER = re.compile(r"\s*-?\d+(\.\d*)?\s*")
_EPOCH = re.compile(r"\s*-?\d{9}")


@extend_schema_field({"oneOf": [{"type": "string", "format": "date-time"}, {"type": "number"}]})
class TimestampField(serializers.Field[datetime, Any, str, Any]):
    """ISO 8601, or seconds (or milliseconds) since 1970. A missing zone stays missing (E9)."""

    default_error_messages = {
        "invalid": "Use ISO 8601 (2026-05-12T18:30:00Z) or seconds since 1970, "
        f"within the years {FIRST_YEAR} to {LAST_YEAR}."
    }

    def to_internal_value(self, data: Any) -> datetime:
        try:
            return checked_time(self.read(data), field=self.field_name or "")
        except (ValueError, OverflowError, OSError, InvalidInput):
            self.fail("invalid")

    def to_representation(self, value: datetime) -> str:
        return value.isoformat()

    @staticmethod
    def read(data: Any) -> datetime:
        """Raises ValueError, OverflowError or OSError."""
        if isinstance(data, str) and not _NUMBER.fullmatch(data):
            return _iso(data)
        if isinstance(data, str) and not _EPOCH.match(data):
            raise ValueError("too few digits")
        if isinstance(data, bool) or not isinstance(data, (int, float, str)):
            raise ValueError("neither text nor a number")
        number = float(data)
        return datetime.fromtimestamp(number / 1000 if number > _SECONDS_END else number, UTC)


def _iso(text: str) -> datetime:
    found = parse_datetime(text)
    if found is None:
        raise ValueError("not ISO 8601")
    return found


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


class NameField(TextField):
    """A short text that is stored: without NULs, composed (E3)."""

    def to_internal_value(self, data: Any) -> str:
        return clean_text(super().to_internal_value(data))


class MetadataField(serializers.DictField):
    """An object of the caller's, kept as it is."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        found: dict[str, Any] = super().to_internal_value(data)
        if fault := metadata_fault(found):
            raise serializers.ValidationError(fault)
        return found
