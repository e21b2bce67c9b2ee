"""Values as callers send them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any, ClassVar
from uuid import UUID

from django.utils.dateparse import parse_datetime
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from memoryhub.dialogues.messages import (
    FIRST_YEAR,
    LAST_YEAR,
    check_time,
    clean_text,
    find_metadata_fault,
)
from memoryhub.errors import InvalidInput
from memoryhub.subject_names import HIDDEN_CHARACTERS, has_hidden_characters
from memoryhub.tenants.services import HIDDEN_REFUSED, MAX_SUBJECT_LENGTH

# Seconds until the year 9999: larger numbers are milliseconds, as JavaScript counts.
_LARGEST_SECOND = 253_402_300_799
# As text, a number is a time only from nine digits: 20260512 is a day, 2026 a year.
_NUMBER_PATTERN = re.compile(r"\s*-?\d+(\.\d*)?\s*")
_EPOCH_PATTERN = re.compile(r"\s*-?\d{9}")


_MONTH_AND_DAY = (
    "(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
)
_DAY = (
    f"(?:19(?:0[1-9]|[1-9][0-9])|2[01][0-9]{{2}})-(?:{_MONTH_AND_DAY}|02-(?:0[1-9]|1[0-9]|2[0-8]))"
)
_LEAP_DAY = "(?:19|20|21)(?:0[48]|[2468][048]|[13579][26])-02-29"
_CLOCK = "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:[.][0-9]{1,6})?"
_ZONE = "(?:Z|[+-](?:0[0-9]|1[0-4]):[0-5][0-9])?"
# ISO 8601 as clients write it; more of it is understood.
TIME_PATTERN = f"^(?:{_DAY}|{_LEAP_DAY})T{_CLOCK}{_ZONE}$"
DAY_OR_TIME_PATTERN = f"^(?:{_DAY}|{_LEAP_DAY})(?:T{_CLOCK}{_ZONE})?$"
_FIRST_SECOND = int(datetime(FIRST_YEAR, 1, 1, tzinfo=UTC).timestamp())
_LAST_SECOND = int(datetime(LAST_YEAR + 1, 1, 1, tzinfo=UTC).timestamp())
SECONDS_SCHEMA: dict[str, Any] = {
    "type": "number",
    "minimum": _FIRST_SECOND,
    "exclusiveMaximum": _LAST_SECOND,
}
TIME_SCHEMA: dict[str, Any] = {
    "anyOf": [
        {"type": "string", "pattern": TIME_PATTERN},
        SECONDS_SCHEMA,
        {
            "type": "number",
            "exclusiveMinimum": _LARGEST_SECOND,
            "exclusiveMaximum": _LAST_SECOND * 1000,
        },
    ],
    "examples": ["2026-05-12T18:30:00Z"],
}
# As text, numbers of seconds have nine digits at least.
TIME_TEXT_SCHEMA: dict[str, Any] = {
    "anyOf": [
        {"type": "string", "pattern": TIME_PATTERN},
        {"type": "integer", "minimum": 10**8, "exclusiveMaximum": _LAST_SECOND},
        {"type": "integer", "minimum": _FIRST_SECOND, "maximum": -(10**8)},
    ],
    "examples": ["2026-05-12T18:30:00Z"],
}
# Anything but NULs and white space, of which nothing is left to keep.
NOT_BLANK = "[^\\s\\u0000\\u001c-\\u001f\\u0085]"
NO_NULS = "^[^\\u0000]*$"
_SUBJECT = f"^[^\\u0000]*{NOT_BLANK}[^\\u0000]*$"
_SHOWN = f"[^{HIDDEN_CHARACTERS}]*"
_NEW_SUBJECT = f"^{_SHOWN}[^\\s{HIDDEN_CHARACTERS}]{_SHOWN}$"


@extend_schema_field(TIME_SCHEMA)
class TimestampField(serializers.Field[datetime, Any, str, Any]):
    """ISO 8601, or seconds (or milliseconds) since 1970. A missing zone stays missing (E9)."""

    default_error_messages = {
        "invalid": "Use ISO 8601 (2026-05-12T18:30:00Z) or seconds since 1970, "
        f"within the years {FIRST_YEAR} to {LAST_YEAR}."
    }

    def to_internal_value(self, data: Any) -> datetime:
        try:
            return check_time(self.parse_timestamp(data), field=self.field_name or "")
        except (ValueError, OverflowError, OSError, InvalidInput):
            self.fail("invalid")

    def to_representation(self, value: datetime) -> str:
        return value.isoformat()

    @staticmethod
    def parse_timestamp(data: Any) -> datetime:
        """Raises ValueError, OverflowError or OSError."""
        if isinstance(data, str) and not _NUMBER_PATTERN.fullmatch(data):
            return _parse_iso_time(data)
        if isinstance(data, str) and not _EPOCH_PATTERN.match(data):
            raise ValueError("too few digits")
        if isinstance(data, bool) or not isinstance(data, (int, float, str)):
            raise ValueError("neither text nor a number")
        number = float(data)
        return datetime.fromtimestamp(number / 1000 if number > _LARGEST_SECOND else number, UTC)


def _parse_iso_time(text: str) -> datetime:
    found = parse_datetime(text)
    if found is None:
        raise ValueError("not ISO 8601")
    return found


class TextField(serializers.CharField):
    """Text of any content: NULs and blanks are the dialogue's own business to judge (E1, E3).

    `shape`: the pattern that the OpenAPI description gives, where not every text will do.
    """

    def __init__(self, *, shape: str = "", **kwargs: Any) -> None:
        self.shape = shape
        super().__init__(allow_blank=True, trim_whitespace=False, **kwargs)
        self.validators = [
            validator
            for validator in self.validators
            if type(validator).__name__ != "ProhibitNullCharactersValidator"
        ]

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        if self.max_length is not None and len(data) > self.max_length:
            self.fail("max_length", max_length=self.max_length)
        return str(super().to_internal_value(data))


class NameField(TextField):
    """A short text that is stored: without NULs, composed (E3)."""

    def to_internal_value(self, data: Any) -> str:
        return clean_text(super().to_internal_value(data))


class SubjectField(TextField):
    """Whom memories are about, by name. With the shape NO_NULS nobody has to be named."""

    default_error_messages = {"nul": "NUL characters are not allowed"}

    def __init__(self, *, shape: str = _SUBJECT, **kwargs: Any) -> None:
        super().__init__(shape=shape, max_length=MAX_SUBJECT_LENGTH, **kwargs)

    def to_internal_value(self, data: Any) -> str:
        subject = super().to_internal_value(data)
        if "\0" in subject:
            self.fail("nul")
        return subject


class NewSubjectField(SubjectField):
    """A subject that gets a space where it has none."""

    default_error_messages = {"hidden": HIDDEN_REFUSED}

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(shape=_NEW_SUBJECT, **kwargs)

    def to_internal_value(self, data: Any) -> str:
        if isinstance(data, str) and has_hidden_characters(data):
            self.fail("hidden")
        return super().to_internal_value(data)


class PatternField(NameField):
    """A name of this shape, and nothing around it."""

    default_error_messages = {"shape": "must look like {shape}"}

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.allow_blank = re.fullmatch(self.shape, "") is not None

    def to_internal_value(self, data: Any) -> str:
        name = super().to_internal_value(data)
        if not re.fullmatch(self.shape.removeprefix("^").removesuffix("$"), name):
            self.fail("shape", shape=self.shape)
        return name


class VerbatimKeyField(TextField):
    """A name of an application's own, kept to the letter: not empty, and without NULs."""

    default_error_messages = {"nul": "NUL characters are not allowed"}

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(shape="^[^\\u0000]+$", **kwargs)
        self.allow_blank = False

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if "\0" in text:
            self.fail("nul")
        return text


class ListField(serializers.ListField):
    """A list of what one field takes."""

    def __init__(self, child: serializers.Field[Any, Any, Any, Any], **kwargs: Any) -> None:
        super().__init__(child=child, **kwargs)


class StrictBooleanField(serializers.BooleanField):
    """True or false as JSON has them: not "yes", not 1."""

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return data


class IntegerField(serializers.IntegerField):
    """A whole number as JSON has them (1.0 is one): not "1", not true."""

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, float) and data.is_integer():
            data = int(data)
        if isinstance(data, bool) or not isinstance(data, int):
            self.fail("invalid")
        return data


class StrictNumberField(serializers.FloatField):
    """A number as JSON has them: not "1.5", not true."""

    def to_internal_value(self, data: Any) -> float:
        if isinstance(data, bool) or not isinstance(data, (int, float)):
            self.fail("invalid")
        return super().to_internal_value(data)


class StrictIdField(serializers.UUIDField):
    """An id as it is written, not a number that could be read as one."""

    def to_internal_value(self, data: Any) -> UUID:
        if not isinstance(data, str):
            self.fail("invalid", value=data)
        found: UUID = super().to_internal_value(data)
        return found


# What may be null, and is where it is left out.
NULL: Any = {"allow_null": True, "default": None}
# What writes may carry beside what they change.
REASON_FIELD = "reason"
# As `api.schema.complete` has it: any JSON without NULs.
OBJECT_SCHEMA = {"$ref": "#/components/schemas/JsonObject"}


@extend_schema_field(OBJECT_SCHEMA)
class MetadataField(serializers.DictField):
    """An object of the caller's, kept as it is."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        found: dict[str, Any] = super().to_internal_value(data)
        if fault := find_metadata_fault(found):
            raise serializers.ValidationError(fault)
        return found


# Refuses members that it does not know: a misspelt one would do nothing. Those of `unread` may be
# there all the same. (A docstring here would be that of every body in the OpenAPI description.)
class StrictSerializer(serializers.Serializer[Any]):
    unread: ClassVar[tuple[str, ...]] = ()

    def run_validation(self, data: Any = serializers.empty) -> Any:
        if isinstance(data, Mapping):
            unknown = sorted(map(str, set(data) - set(self.fields) - set(self.unread)))
            if unknown:
                told = f"known: {', '.join(self.fields)}" if self.fields else "none is known"
                raise serializers.ValidationError({unknown[0][:60]: f"no such member; {told}"})
        return super().run_validation(data)


class ExactlyOneSerializer(StrictSerializer):
    """Exactly one of its fields, none of which is required by itself."""

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if len(attrs) != 1:
            *most, last = self.fields
            raise serializers.ValidationError(f"one of {', '.join(most)} and {last}")
        return attrs


class AtLeastOneSerializer(StrictSerializer):
    """Of a change: at least one of its fields. A reason alone changes nothing."""

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not attrs.keys() - {REASON_FIELD}:
            names = list_choice_fields(self)
            told = f"something to change: one or more of {', '.join(names)}"
            raise serializers.ValidationError({names[0]: told})
        return attrs


def list_names(spaced: str) -> tuple[str, ...]:
    """Names of fields, told in one text with spaces between them."""
    return tuple(spaced.split())


def list_choice_fields(several: serializers.Serializer[Any]) -> list[str]:
    """The names of which one or some must be given."""
    return [name for name in map(str, several.fields) if name != REASON_FIELD]


def validate_body(kind: type[serializers.Serializer[Any]], sent: Any) -> dict[str, Any]:
    """What was sent, as `kind` reads it. Raises ValidationError that names the fields.

    One serializer serves all requests, since making its fields takes longer than what they check.
    Only faults are told by one of their own: messages are put into words once, in one language.
    """
    try:
        return dict(_build_serializer(kind).run_validation(sent))
    except serializers.ValidationError:
        told = kind(data=sent)
        told.is_valid(raise_exception=True)
        return dict(told.validated_data)


@cache
def _build_serializer(kind: type[serializers.Serializer[Any]]) -> serializers.Serializer[Any]:
    return kind()
