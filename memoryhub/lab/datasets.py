"""Public dialogue sets as one plain shape: LoCoMo's and MemoryBank's formats, either language."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from memoryhub.errors import InvalidInput

_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")


@dataclass(frozen=True, slots=True)
class Line:
    """One turn. `ref` is "D{session}:{turn}", as evidence names it."""

    ref: str
    role: str
    speaker: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Question:
    """`category` is LoCoMo's number (0 where a set has none); `evidence` may be empty."""

    text: str
    category: int = 0
    evidence: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Dialogue:
    """One subject's sessions by name, in order, and what is asked about them."""

    name: str
    sessions: Mapping[str, list[Line]]
    questions: list[Question] = field(default_factory=list)

    @property
    def turn_count(self) -> int:
        return sum(len(lines) for lines in self.sessions.values())


def load(path: Path) -> list[Dialogue]:
    """Read `path`, telling the format by its shape. Raises InvalidInput for any other."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{path} can't be read as JSON: {error}", field="path") from error
    if isinstance(data, list) and _all_have("conversation", data):
        return [_locomo(row, at) for at, row in enumerate(data, 1)]
    if isinstance(data, dict) and _all_have("history", data.values()):
        questions = _probing_questions(path)
        return [_memorybank(name, row, questions.get(name, [])) for name, row in data.items()]
    raise InvalidInput(f"{path} is neither LoCoMo's nor MemoryBank's format", field="path")


def _all_have(key: str, rows: Collection[Any]) -> bool:
    return bool(rows) and all(isinstance(row, dict) and key in row for row in rows)


def evidence_refs(written: Any) -> frozenset[str]:
    """Turn refs in an evidence field, however written: "D8:6; D9:17", "D:11:26", "D30:05"."""
    texts = [written] if isinstance(written, str) else (written or [])
    found = (_EVIDENCE.findall(str(text)) for text in texts)
    return frozenset(f"D{int(s)}:{int(t)}" for pairs in found for s, t in pairs)


def _locomo(row: Mapping[str, Any], number: int) -> Dialogue:
    talk = row["conversation"]
    keys = sorted((k for k in talk if re.fullmatch(r"session_\d+", k)), key=_number)
    sessions = {key: list(_locomo_lines(talk, key)) for key in keys if talk[key]}
    questions = [
        Question(str(qa["question"]), int(qa["category"]), evidence_refs(qa.get("evidence")))
        for qa in row.get("qa", [])
    ]
    return Dialogue(str(row.get("sample_id", f"conversation-{number}")), sessions, questions)


def _number(key: str) -> int:
    return int(key.rsplit("_", 1)[1])


def _locomo_lines(talk: Mapping[str, Any], key: str) -> Iterator[Line]:
    """Turns have no times of their own: a second apart, from the session's."""
    start = _locomo_time(talk[f"{key}_date_time"])
    for at, turn in enumerate(talk[key]):
        refs = evidence_refs(turn["dia_id"])
        yield Line(
            ref=next(iter(refs), turn["dia_id"]),
            role="user",
            speaker=turn["speaker"],
            text=_with_picture(turn),
            at=start + timedelta(seconds=at),
        )


def _with_picture(turn: Mapping[str, Any]) -> str:
    caption = turn.get("blip_caption")
    return f"{turn['text']} [shares {caption}]" if caption else str(turn["text"])


def _locomo_time(written: str) -> datetime:
    """ "1:56 pm on 8 May, 2023", taken for UTC."""
    return datetime.strptime(written, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)


def _memorybank(name: str, row: Mapping[str, Any], questions: list[str]) -> Dialogue:
    days = _literal(row["history"])
    sessions = {
        day: list(_memorybank_lines(name, day, number, exchanges))
        for number, (day, exchanges) in enumerate(sorted(days.items()), 1)
    }
    return Dialogue(name, sessions, [Question(text) for text in questions])


def _memorybank_lines(
    name: str, day: str, number: int, exchanges: list[Mapping[str, str]]
) -> Iterator[Line]:
    start = datetime.strptime(day, "%Y-%m-%d").replace(tzinfo=UTC, hour=12)
    said = [(role, x.get(side, "")) for x in exchanges for role, side in _SIDES]
    for at, (role, text) in enumerate((role, text) for role, text in said if text.strip()):
        speaker = name if role == "user" else ""
        yield Line(f"D{number}:{at + 1}", role, speaker, text, start + timedelta(seconds=at))


_SIDES = (("user", "query"), ("assistant", "response"))


def _literal(history: Any) -> Mapping[str, Any]:
    """Some copies keep the history as the text of a Python dict."""
    read = ast.literal_eval(history) if isinstance(history, str) else history
    return dict(read)


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
