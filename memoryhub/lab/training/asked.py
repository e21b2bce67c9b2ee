"""Questions that people ask of what they once said, with the clause that answers each: JSON lines
by author (`benchmarks/asked`, docs/reference/lab.md)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple


class AskedStatement(NamedTuple):
    """A question and the clause that answers it, of one message."""

    question: str
    clause: str
    message: str


def load_asked(folder: Path, language: str, without: Sequence[str] = ()) -> list[AskedStatement]:
    """Of all authors in this language below `folder` but those named: folders such as `zh-1`."""
    return [
        AskedStatement(asked["q"], asked["clause"], told["text"])
        for file in sorted(folder.rglob("*.jsonl"))
        if file.parent.name.startswith(f"{language}-") and file.parent.name not in without
        for told in map(json.loads, file.read_text(encoding="utf-8").splitlines())
        for asked in told["asked"]
    ]


def number_messages(asked: Sequence[AskedStatement]) -> list[int]:
    """A number for each one's message: another clause of the same message is no wrong answer."""
    numbers: dict[str, int] = {}
    return [numbers.setdefault(each.message, len(numbers)) for each in asked]
