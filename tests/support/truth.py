"""Dialogues with a reading (docs/reference/truth.md), made here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Turns = Mapping[str, tuple[str, str]]


def build_truth_dialogue(
    name: str,
    person: str,
    sessions: Sequence[Turns],
    reading: Mapping[str, Sequence[Mapping[str, Any]]],
    *,
    questions: Sequence[Mapping[str, Any]] = (),
    **truth: Sequence[Any],
) -> dict[str, Any]:
    """A file's JSON: `name` begins with the language and the author ("en-a-1"), and `person` says
    all turns, each told as when and what ("2025-01-06T10:00:00Z", "I live in Bergen.") by its ref.
    """
    language, author, _ = name.split("-", 2)
    empty: dict[str, Sequence[Any]] = {
        part: [] for part in ("current", "past", "gone", "not_asserted", "as_of")
    }
    return {
        "id": name,
        "author": author,
        "language": language,
        "subject": {"id": f"user-{name}", "name": person},
        "sessions": [
            {
                "id": f"s{number}",
                "turns": [
                    {"ref": ref, "at": at, "speaker": person, "role": "user", "text": text}
                    for ref, (at, text) in turns.items()
                ],
            }
            for number, turns in enumerate(sessions, 1)
        ],
        "reading": dict(reading),
        "truth": empty | truth,
        "questions": list(questions),
    }
