"""Dialogue files: LoCoMo's and MemoryBank's JSON, and our own JSON lines."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from dateutil import parser as dates
from django.utils.translation import gettext as _

from memoryhub.dialogues.messages import Message
from memoryhub.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class NamedSession:
    name: str
    messages: list[Message] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Conversation:
    """All sessions with one subject, in order. `name`: what the subject is called."""

    subject: str
    name: str
    sessions: list[NamedSession]


def read_dialogues(path: Path, form: str) -> list[Conversation]:
    """Read a file. Raises InvalidInput naming the file, and the line or key at fault."""
    if form not in PARSERS:
        raise InvalidInput(
            _("use one of %(known)s") % {"known": ", ".join(PARSERS)}, field="format"
        )
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            _("%(path)s can't be read: %(error)s") % {"path": path, "error": error}, field="path"
        ) from error
    try:
        return list(PARSERS[form](text))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        told = {"path": path, "form": form, "reason": f"{type(error).__name__}: {error}"}
        message = _("%(path)s is not in the format %(form)s (%(reason)s)")
        raise InvalidInput(message % told, field="path") from error


def _parse_locomo(text: str) -> Iterator[Conversation]:
    """One conversation a sample; both people are speakers, the space is the first one's."""
    for sample in json.loads(text):
        talk = sample["conversation"]
        subject = sample.get("sample_id") or talk["speaker_a"]
        sessions = [_parse_locomo_session(talk, key) for key in _list_session_keys(talk)]
        yield Conversation(subject, talk["speaker_a"], [s for s in sessions if s.messages])


def _list_session_keys(talk: dict[str, Any]) -> list[str]:
    keys = [key for key in talk if re.fullmatch(r"session_\d+", key)]
    return sorted(keys, key=lambda key: int(key.rpartition("_")[2]))


def _parse_locomo_session(talk: dict[str, Any], key: str) -> NamedSession:
    start = parse_locomo_time(talk[f"{key}_date_time"])
    return NamedSession(
        key,
        [
            Message(
                role="user",
                content=_add_caption(turn),
                speaker=turn["speaker"],
                timestamp=start + timedelta(seconds=at),
                external_id=turn["dia_id"],
            )
            for at, turn in enumerate(talk[key])
            if _add_caption(turn).strip()
        ],
    )


def _add_caption(turn: dict[str, Any]) -> str:
    """The words, and what a shared picture shows."""
    caption = turn.get("blip_caption")
    return f"{turn['text']} [shares {caption}]".strip() if caption else turn["text"]


def parse_locomo_time(text: str) -> datetime:
    """ "1:56 pm on 8 May, 2023" as an aware time."""
    return dates.parse(text.replace(" on ", " "), default=datetime(2000, 1, 1, tzinfo=UTC))


def _parse_memorybank(text: str) -> Iterator[Conversation]:
    """A conversation a user, a session a day, an exchange a query and its response."""
    for name, user in json.loads(text).items():
        history = user["history"]
        # Some copies keep it as the text of a Python dict.
        days = ast.literal_eval(history) if isinstance(history, str) else history
        sessions = [_parse_memorybank_day(name, day, talk) for day, talk in sorted(days.items())]
        yield Conversation(name, name, sessions)


def _parse_memorybank_day(name: str, day: str, talk: list[dict[str, str]]) -> NamedSession:
    start = datetime.fromisoformat(day).replace(hour=12, tzinfo=UTC)
    messages = []
    for at, exchange in enumerate(talk):
        for side, (role, speaker) in enumerate((("user", name), ("assistant", "AI"))):
            content = exchange["query" if role == "user" else "response"]
            if content.strip():
                place = 2 * at + side
                when = start + timedelta(seconds=place)
                messages.append(Message(role, content, speaker, when, f"{day}:{place + 1}"))
    return NamedSession(day, messages)


def _parse_jsonl(text: str) -> Iterator[Conversation]:
    """A message a line: subject, content; role, speaker, session, timestamp, external_id."""
    lines = enumerate(text.splitlines(), 1)
    rows = [_parse_line(number, line) for number, line in lines if line.strip()]
    for subject, mine in _group_rows(rows, "subject"):
        sessions = [
            NamedSession(name, [_build_message(row) for row in said])
            for name, said in _group_rows(mine, "session")
        ]
        people = [
            row["speaker"] for row in mine if row.get("role", "user") == "user" and "speaker" in row
        ]
        yield Conversation(subject, people[0] if people else "", sessions)


def _parse_line(number: int, line: str) -> dict[str, Any]:
    row = json.loads(line)
    if not isinstance(row, dict) or not row.get("subject") or "content" not in row:
        raise ValueError(f"line {number} needs a subject and a content")
    return row


def _group_rows(
    rows: Iterable[dict[str, Any]], key: str
) -> Iterable[tuple[str, list[dict[str, Any]]]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(str(row.get(key, "")), []).append(row)
    return groups.items()


def _build_message(row: dict[str, Any]) -> Message:
    when = row.get("timestamp")
    if isinstance(when, (int, float)):
        timestamp: datetime | None = datetime.fromtimestamp(when, UTC)
    else:
        timestamp = dates.isoparse(when) if when else None
    return Message(
        role=row.get("role", "user"),
        content=row["content"],
        speaker=row.get("speaker", ""),
        timestamp=timestamp,
        external_id=row.get("external_id", ""),
        metadata=row.get("metadata", {}),
    )


PARSERS: dict[str, Callable[[str], Iterator[Conversation]]] = {
    "locomo": _parse_locomo,
    "memorybank": _parse_memorybank,
    "jsonl": _parse_jsonl,
}
