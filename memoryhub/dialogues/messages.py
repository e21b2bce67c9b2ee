"""From what a caller sends to a turn that can be stored: cleaned text, known time (spec §10)."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings

from memoryhub.dialogues.models import Turn
from memoryhub.errors import InvalidInput, TooLarge

FUTURE = timedelta(hours=24)


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


def match_text(text: str) -> str:
    """The form under which two texts count as the same words: NFKC, casefold, one space."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def text_hash(text: str) -> str:
    return hashlib.sha256(match_text(text).encode()).hexdigest()


def checked_text(text: str, *, field: str) -> str:
    """Raise TooLarge over 1 MiB (E4) and InvalidInput when nothing is left (E1)."""
    if len(text.encode()) > settings.MAX_TEXT_BYTES:
        raise TooLarge(f"at most {settings.MAX_TEXT_BYTES} bytes of text a message", field=field)
    cleaned = clean_text(text)
    if not cleaned.strip():
        raise InvalidInput("the text is empty", field=field)
    return cleaned


def checked(messages: Sequence[Message]) -> list[Message]:
    """Validate all before anything is stored: a batch is taken whole or not at all."""
    if not messages:
        raise InvalidInput("send at least one message", field="messages")
    if len(messages) > settings.MAX_MESSAGES:
        raise TooLarge(f"at most {settings.MAX_MESSAGES} messages a call", field="messages")
    return [_checked(message, f"messages[{at}]") for at, message in enumerate(messages)]


def _checked(message: Message, where: str) -> Message:
    if message.role not in Turn.Role.values:
        raise InvalidInput(f"must be one of {', '.join(Turn.Role.values)}", field=f"{where}.role")
    return Message(
        role=message.role,
        content=checked_text(message.content, field=f"{where}.content"),
        speaker=_short(message.speaker, 120, f"{where}.speaker"),
        timestamp=message.timestamp,
        external_id=_short(message.external_id, 200, f"{where}.external_id"),
        metadata=message.metadata,
    )


def _short(text: str, limit: int, where: str) -> str:
    text = clean_text(text).strip()
    if len(text) > limit:
        raise InvalidInput(f"at most {limit} characters", field=where)
    return text


def resolve_time(
    given: datetime | None, zone: str, received: datetime
) -> tuple[datetime, Turn.TimeFlag]:
    """When a message was said, and what had to be assumed to know it (E9)."""
    if given is None:
        return received, Turn.TimeFlag.MISSING
    if given.tzinfo is None:
        return given.replace(tzinfo=ZoneInfo(zone)), Turn.TimeFlag.NAIVE
    if given > received + FUTURE:
        return given, Turn.TimeFlag.FUTURE
    return given, Turn.TimeFlag.NONE
