"""LongMemEval's published format: every question comes with a haystack of sessions of its own.

Its oracle and S files share it. Evidence is turn-level (`has_answer`); turns have no ids, so
they are called "D{session}:{turn}" by their place in time, as LoCoMo's are. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from memoryhub.dialogues.formats import Conversation, NamedSession
from memoryhub.dialogues.messages import Message
from memoryhub.lab.datasets.categories import LONGMEMEVAL_CATEGORIES

_CATEGORY_NUMBERS = {category.content: category.number for category in LONGMEMEVAL_CATEGORIES}


def read_conversation(row: Mapping[str, Any]) -> tuple[Conversation, frozenset[str]]:
    """(the haystack in the order of its dates, the turns that hold the answer)."""
    sessions = list(
        zip(
            row["haystack_session_ids"],
            map(parse_session_time, row["haystack_dates"]),
            row["haystack_sessions"],
            strict=True,
        )
    )
    sessions.sort(key=lambda session: session[1] or datetime.min.replace(tzinfo=UTC))
    named, evidence = list[NamedSession](), set[str]()
    for number, (name, start, turns) in enumerate(sessions, 1):
        named.append(NamedSession(f"{number:03}-{name}", _build_messages(number, start, turns)))
        evidence |= {
            _format_turn_ref(number, at)
            for at, turn in _number_spoken_turns(turns)
            if turn.get("has_answer")
        }
    kept = [session for session in named if session.messages]
    return Conversation(str(row["question_id"]), "User", kept), frozenset(evidence)


def _build_messages(
    number: int, start: datetime | None, turns: Sequence[Mapping[str, Any]]
) -> list[Message]:
    return [
        Message(
            role=str(turn["role"]),
            content=str(turn["content"]),
            speaker="User" if turn["role"] == "user" else "Assistant",
            timestamp=start + timedelta(seconds=at) if start else None,
            external_id=_format_turn_ref(number, at),
        )
        for at, turn in _number_spoken_turns(turns)
    ]


def _number_spoken_turns(turns: Sequence[Mapping[str, Any]]) -> list[tuple[int, Mapping[str, Any]]]:
    """Those with words, with their places from 1."""
    return [(at, turn) for at, turn in enumerate(turns, 1) if str(turn["content"]).strip()]


def _format_turn_ref(session: int, turn: int) -> str:
    return f"D{session}:{turn}"


def get_category_number(row: Mapping[str, Any]) -> int:
    """Our number of its type. Raises ValueError for a type that it does not have."""
    name = str(row["question_type"])
    if name not in _CATEGORY_NUMBERS:
        raise ValueError(f"there is no question_type {name!r}")
    return _CATEGORY_NUMBERS[name]


def is_unanswerable(row: Mapping[str, Any]) -> bool:
    """Marked in the id: nothing of it was said."""
    return str(row["question_id"]).endswith("_abs")


def parse_session_time(written: Any) -> datetime | None:
    """ "2023/05/20 (Sat) 02:21" as an aware time; None where nothing is written."""
    if not written:
        return None
    return datetime.strptime(str(written), "%Y/%m/%d (%a) %H:%M").replace(tzinfo=UTC)
