"""LongMemEval's published format: every question comes with a haystack of sessions of its own.

Its oracle and S files share it. Evidence is turn-level (`has_answer`); turns have no ids, so
they are called "D{session}:{turn}" by their place in time, as LoCoMo's are. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from memoryhub.dialogues.formats import Conversation, NamedSession
from memoryhub.dialogues.messages import Message
from memoryhub.lab.datasets.types import LONGMEMEVAL_CATEGORIES

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
    kept, evidence = list[NamedSession](), set[str]()
    for number, (name, start, turns) in enumerate(sessions, 1):
        spoken = {
            f"D{number}:{at}": (at, turn)
            for at, turn in enumerate(turns, 1)
            if str(turn["content"]).strip()
        }
        said = [_build_message(ref, start, at, turn) for ref, (at, turn) in spoken.items()]
        if said:
            kept.append(NamedSession(f"{number:03}-{name}", said))
        evidence |= {ref for ref, (_, turn) in spoken.items() if turn.get("has_answer")}
    return Conversation(str(row["question_id"]), "User", kept), frozenset(evidence)


def _build_message(ref: str, start: datetime | None, at: int, turn: Mapping[str, Any]) -> Message:
    return Message(
        role=str(turn["role"]),
        content=str(turn["content"]),
        speaker="User" if turn["role"] == "user" else "Assistant",
        timestamp=start + timedelta(seconds=at) if start else None,
        external_id=ref,
    )


def get_category_number(row: Mapping[str, Any]) -> int:
    """Our number of its type. Raises ValueError for a type that it does not have."""
    name = str(row["question_type"])
    if name not in _CATEGORY_NUMBERS:
        raise ValueError(f"there is no question_type {name!r}")
    return _CATEGORY_NUMBERS[name]


def parse_session_time(written: Any) -> datetime | None:
    """ "2023/05/20 (Sat) 02:21" as an aware time; None where nothing is written."""
    if not written:
        return None
    return datetime.strptime(str(written), "%Y/%m/%d (%a) %H:%M").replace(tzinfo=UTC)
