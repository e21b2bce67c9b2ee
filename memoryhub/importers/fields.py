"""What all readers of files have in common: items and their fields, as values or with a refusal
that says which field and why."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext_noop

from memoryhub.dialogues.messages import (
    Message,
    check_messages,
    check_text,
    check_time,
    clean_text,
    find_metadata_fault,
)
from memoryhub.errors import InvalidInput, TooLarge
from memoryhub.importers.json_stream import JsonItem
from memoryhub.importers.records import Record, SkippedRecord, UnknownFields

# Seconds until the year 9999: larger numbers are milliseconds, as JavaScript counts.
_SECONDS_END = 253_402_300_799
LONGEST_ID = 200


class ItemRefused(Exception):
    """An item that can't be taken, and why; the others are."""


Fields = Mapping[str, Any]


def read_object(value: object) -> Fields:
    """Raises Refused."""
    if not isinstance(value, dict):
        raise ItemRefused(gettext_noop("no JSON object"))
    return value


def read_text(item: Fields, *names: str) -> str:
    """The first of these fields that has words, cleaned. Raises Refused."""
    for name in names:
        value = item.get(name)
        if value is None or value == "":
            continue
        if not isinstance(value, str):
            raise ItemRefused(f"{name}: no text")
        return clean_field_text(value, name)
    raise ItemRefused(f"no {' or '.join(names)}")


def clean_field_text(value: str, name: str) -> str:
    """Raises Refused for what is empty, too long, or no characters."""
    try:
        return check_text(value, field=name).strip()
    except (InvalidInput, TooLarge) as error:
        raise ItemRefused(f"{name}: {error.message}") from error


def read_block_text(value: object) -> str:
    """What a block says, which may be nothing. Raises Refused."""
    if not isinstance(value, str):
        raise ItemRefused(gettext_noop("value: no text"))
    return clean_field_text(value, "value") if value.strip() else ""


def read_short_text(item: Fields, *names: str, most: int = LONGEST_ID) -> str:
    """The first of these fields that has a short text or a whole number; "" if none has."""
    for name in names:
        value = item.get(name)
        if value is None or value == "":
            continue
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            raise ItemRefused(f"{name}: no text")
        found = clean_text(str(value)).strip()
        try:
            found.encode()
        except UnicodeEncodeError:
            raise ItemRefused(f"{name}: half a surrogate pair is no character") from None
        if len(found) > most:
            raise ItemRefused(f"{name}: at most {most} characters")
        return found
    return ""


def parse_uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def read_time(item: Fields, *names: str) -> datetime | None:
    """The first of these fields that has a time; without a zone it is taken as UTC."""
    for name in names:
        value = item.get(name)
        if value is not None and value != "":
            return _parse_time_field(value, name)
    return None


def _parse_time_field(value: object, name: str) -> datetime:
    """ISO 8601, or seconds or milliseconds since 1970."""
    try:
        if isinstance(value, str):
            text = value.strip()
            found = parse_datetime(text) or datetime.fromisoformat(text)
        elif isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ValueError("neither text nor a number")
        else:
            found = datetime.fromtimestamp(value / 1000 if value > _SECONDS_END else value, UTC)
        return check_time(found if found.tzinfo else found.replace(tzinfo=UTC), field=name)
    except (ValueError, OverflowError, OSError):
        raise ItemRefused(f"{name}: no time") from None
    except InvalidInput as error:
        raise ItemRefused(f"{name}: {error.message}") from error


def read_metadata(item: Fields, name: str) -> dict[str, Any]:
    """An object; empty if there is none. Raises Refused for what can't be kept."""
    value = item.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ItemRefused(f"{name}: no JSON object")
    if fault := find_metadata_fault(value):
        raise ItemRefused(f"{name}: {fault}")
    return value


def read_text_list(item: Fields, name: str) -> list[str]:
    """A list of texts; empty if there is none. Raises Refused."""
    value = item.get(name)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise ItemRefused(f"{name}: no list of texts")
    return [clean_text(each).strip() for each in value if each.strip()]


def report_unknown_fields(
    item: Fields, known: Collection[str], within: str = ""
) -> Iterator[UnknownFields]:
    """The names of fields that have something in them and that the reader knows nothing of."""
    left = [name for name, value in item.items() if name not in known and has_content(value)]
    if left:
        yield UnknownFields([f"{within}{name}"[:120] for name in left])


def has_content(value: object) -> bool:
    return value not in (None, "", [], {})


def build_message(
    role: str,
    content: str,
    *,
    speaker: str = "",
    at: datetime | None = None,
    external_id: str = "",
    metadata: Mapping[str, Any] | None = None,
) -> Message:
    """A message that can be stored. Raises Refused."""
    made = Message(role, content, speaker, at, external_id, dict(metadata or {}))
    try:
        return check_messages([made])[0]
    except (InvalidInput, TooLarge) as error:
        name = (error.field or "").removeprefix("messages[0].")
        raise ItemRefused(f"{name}: {error.message}") from error


# The items of the file from its start, as often as they are asked for.
OpenItems = Callable[[], Iterator[JsonItem]]


@dataclass(frozen=True, slots=True)
class ImportSource:
    """A system whose files can be read. `sections`: what `json_stream.stream_items` is told.
    `recognises`: whether only this system writes such an item."""

    name: str
    title: str
    about: str
    read: Callable[[OpenItems], Iterator[Record]]
    sections: tuple[str, ...] = ()
    recognises: Callable[[JsonItem], bool] = lambda item: False


def read_or_skip(
    item: JsonItem, take: Callable[[JsonItem], Iterator[Record]], kind: str = ""
) -> Iterator[Record]:
    """What is found in an item; an item that is refused is skipped, with the reason."""
    try:
        yield from take(item)
    except ItemRefused as error:
        yield SkippedRecord(item.where, str(error), kind, find_item_id(item.value))


def get_keys(value: object) -> Collection[str]:
    """The names of an object's members; none of anything else."""
    return value.keys() if isinstance(value, dict) else ()


def find_item_id(value: object) -> str:
    """What an item is called, as far as that can be told."""
    if not isinstance(value, dict):
        return ""
    for name in ("id", "uuid", "key", "external_id"):
        if isinstance(value.get(name), (str, int)) and value.get(name):
            return str(value[name])[:200]
    return ""
