"""From what a caller sends to a turn that can be stored: cleaned text, known time (spec §10)."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.utils.translation import gettext as _

from memoryhub.dialogues.models import Turn
from memoryhub.errors import InvalidInput, TooLarge

FUTURE_TOLERANCE = timedelta(hours=24)
METADATA_BYTES, METADATA_LEVELS = 64 * 1024, 32
# Far outside, PostgreSQL stores what Python can't read, and no dialogue was held there.
FIRST_YEAR, LAST_YEAR = 1900, 2200


@dataclass(frozen=True, slots=True)
class Message:
    """One message to store. `timestamp` None: now; naive: in the space's zone (E9)."""

    role: str
    content: str
    speaker: str = ""
    timestamp: datetime | None = None
    external_id: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)


def clean_text(text: str) -> str:
    """NULs out, NFC for storage (E3)."""
    return unicodedata.normalize("NFC", text.replace("\0", ""))


def normalise_text(text: str) -> str:
    """The form under which two texts count as the same words: NFKC, casefold, one space."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def hash_text(text: str) -> str:
    return hashlib.sha256(normalise_text(text).encode()).hexdigest()


def check_text(text: str, *, field: str) -> str:
    """Raise TooLarge over 1 MiB (E4) and InvalidInput when nothing is left (E1)."""
    if len(encode_text(text, field)) > settings.MAX_TEXT_BYTES:
        raise TooLarge(
            _("at most %(limit)s bytes of text") % {"limit": settings.MAX_TEXT_BYTES}, field=field
        )
    cleaned = clean_text(text)
    if not cleaned.strip():
        raise InvalidInput(_("the text is empty"), field=field)
    return cleaned


def encode_text(text: str, field: str) -> bytes:
    """Raises InvalidInput for what is no text in UTF-8."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise InvalidInput(_("half a surrogate pair is no character"), field=field) from None


def find_metadata_fault(metadata: dict[str, Any]) -> str:
    """Why this can't be kept as jsonb, or ""."""
    if _is_deeper(metadata, METADATA_LEVELS):
        return _("at most %(limit)s levels of nesting") % {"limit": METADATA_LEVELS}
    if any("\0" in text for text in _list_texts(metadata)):
        return _("NUL characters can't be kept")
    try:
        size = len(json.dumps(metadata, ensure_ascii=False, allow_nan=False).encode())
    except UnicodeEncodeError:
        return _("half a surrogate pair is no character")
    except ValueError:
        return _("a number is too large")
    if size > METADATA_BYTES:
        return _("at most %(limit)s bytes as JSON") % {"limit": METADATA_BYTES}
    return ""


def _is_deeper(value: object, levels: int) -> bool:
    """Whether objects and lists are nested in each other more than `levels` times."""
    if not isinstance(value, (dict, list)):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_is_deeper(each, levels - 1) for each in inner)


def _list_texts(value: object) -> Iterator[str]:
    """Every key and value that is text, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for each in [*value, *value.values()] if isinstance(value, dict) else value:
            yield from _list_texts(each)


def check_messages(messages: Sequence[Message]) -> list[Message]:
    """Validate all before anything is stored: a batch is taken whole or not at all."""
    if not messages:
        raise InvalidInput(_("send at least one message"), field="messages")
    if len(messages) > settings.MAX_MESSAGES:
        raise TooLarge(
            _("at most %(limit)s messages a call") % {"limit": settings.MAX_MESSAGES},
            field="messages",
        )
    found = [_check_message(message, f"messages[{at}]") for at, message in enumerate(messages)]
    _check_unique_ids(found)
    return found


def _check_unique_ids(messages: Sequence[Message]) -> None:
    """The later text of an id would be lost in silence (E6)."""
    first: dict[str, str] = {}
    for at, message in enumerate(messages):
        text = first.setdefault(message.external_id, message.content)
        if message.external_id and normalise_text(text) != normalise_text(message.content):
            where = f"messages[{at}].external_id"
            raise InvalidInput(_("an earlier message of this call has this id"), field=where)


def _check_message(message: Message, where: str) -> Message:
    if message.role not in Turn.Role.values:
        raise InvalidInput(
            _("must be one of %(known)s") % {"known": ", ".join(Turn.Role.values)},
            field=f"{where}.role",
        )
    if fault := find_metadata_fault(message.metadata):
        raise InvalidInput(fault, field=f"{where}.metadata")
    return Message(
        role=message.role,
        content=check_text(message.content, field=f"{where}.content"),
        speaker=_check_short_text(message.speaker, 120, f"{where}.speaker"),
        timestamp=message.timestamp and check_time(message.timestamp, field=f"{where}.timestamp"),
        external_id=_check_short_text(message.external_id, 200, f"{where}.external_id"),
        metadata=message.metadata,
    )


def _check_short_text(text: str, limit: int, where: str) -> str:
    encode_text(text, where)
    text = clean_text(text).strip()
    if len(text) > limit:
        raise InvalidInput(_("at most %(limit)s characters") % {"limit": limit}, field=where)
    return text


def check_time(given: datetime, *, field: str) -> datetime:
    """In UTC if it has a zone. Raise InvalidInput outside the years 1900 to 2200."""
    try:
        found = given.astimezone(UTC) if given.tzinfo else given
    except OverflowError:
        found = None
    if found is None or not FIRST_YEAR <= found.year <= LAST_YEAR:
        raise InvalidInput(
            _("a time from %(first)s to %(last)s") % {"first": FIRST_YEAR, "last": LAST_YEAR},
            field=field,
        )
    return found


def to_utc(given: datetime, zone: str, *, field: str) -> datetime:
    """In UTC; without a zone it is read in `zone`. Raise InvalidInput as `check_time`."""
    aware = given if given.tzinfo else given.replace(tzinfo=ZoneInfo(zone))
    return check_time(aware, field=field)


def resolve_time(
    given: datetime | None, zone: str, received: datetime
) -> tuple[datetime, Turn.TimeFlag]:
    """When a message was said, in UTC, and what had to be assumed to know it (E9)."""
    if given is None:
        return received, Turn.TimeFlag.MISSING
    found = to_utc(given, zone, field="messages.timestamp")
    if given.tzinfo is None:
        return found, Turn.TimeFlag.NAIVE
    if found > received + FUTURE_TOLERANCE:
        return found, Turn.TimeFlag.FUTURE
    return found, Turn.TimeFlag.NONE
