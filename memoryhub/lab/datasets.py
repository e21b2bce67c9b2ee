"""Public dialogue sets with the questions asked about them: LoCoMo's and MemoryBank's formats."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memoryhub.dialogues.formats import Conversation, read_dialogues
from memoryhub.errors import InvalidInput

_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")


@dataclass(frozen=True, slots=True)
class Question:
    """`category` is LoCoMo's number (0 where a set has none); `evidence` may be empty."""

    text: str
    category: int = 0
    evidence: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A conversation, and what is asked about it."""

    conversation: Conversation
    questions: list[Question] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.conversation.subject

    @property
    def turn_count(self) -> int:
        return sum(len(session.messages) for session in self.conversation.sessions)


def load(path: Path) -> list[Dialogue]:
    """Read `path`, telling the format by its shape. Raises InvalidInput for any other."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{path} can't be read as JSON: {error}", field="path") from error
    if isinstance(data, list) and _all_have("conversation", data):
        asked = [_locomo_questions(row) for row in data]
        form = "locomo"
    elif isinstance(data, dict) and _all_have("history", data.values()):
        probing = _probing_questions(path)
        asked = [[Question(text) for text in probing.get(name, [])] for name in data]
        form = "memorybank"
    else:
        raise InvalidInput(f"{path} is neither LoCoMo's nor MemoryBank's format", field="path")
    return [Dialogue(c, q) for c, q in zip(read_dialogues(path, form), asked, strict=True)]


def _all_have(key: str, rows: Collection[Any]) -> bool:
    return bool(rows) and all(isinstance(row, dict) and key in row for row in rows)


def evidence_refs(written: Any) -> frozenset[str]:
    """Turn refs in an evidence field, however written: "D8:6; D9:17", "D:11:26", "D30:05"."""
    texts = [written] if isinstance(written, str) else (written or [])
    found = (_EVIDENCE.findall(str(text)) for text in texts)
    return frozenset(f"D{int(s)}:{int(t)}" for pairs in found for s, t in pairs)


def _locomo_questions(row: Mapping[str, Any]) -> list[Question]:
    return [
        Question(str(qa["question"]), int(qa["category"]), evidence_refs(qa.get("evidence")))
        for qa in row.get("qa", [])
    ]


def _probing_questions(path: Path) -> dict[str, list[str]]:
    """From the file beside it that is named for the same language; none is no error."""
    language = path.stem.rsplit("_", 1)[-1]
    beside = path.with_name(f"probing_questions_{language}.jsonl")
    if not beside.exists():
        return {}
    questions: dict[str, list[str]] = {}
    for line in beside.read_text(encoding="utf-8").splitlines():
        if line.strip():
            questions |= json.loads(line)
    return questions
