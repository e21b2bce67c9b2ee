"""Public dialogue sets with the questions asked about them: LoCoMo, LongMemEval, MemoryBank."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from memoryhub.dialogues.formats import read_dialogues
from memoryhub.errors import InvalidInput
from memoryhub.lab.datasets import longmemeval
from memoryhub.lab.datasets.labels import find_evidence_labels
from memoryhub.lab.datasets.types import ADVERSARIAL_CATEGORY, Dataset, DatasetQuestion, Dialogue

_EVIDENCE_REF = re.compile(r"D:?(\d+):(\d+)")


def read_dataset_dialogues(path: Path) -> list[Dialogue]:
    """The dialogues of a file. Raises as `read` does."""
    return list(read_dataset(path).dialogues)


def read_dataset(path: Path) -> Dataset:
    """Read `path`, telling the format by its shape. Raises InvalidInput for any other."""
    try:
        raw = path.read_bytes()
        data = json.loads(raw)
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidInput(f"{path.name} can't be read as JSON: {error}", field="path") from error
    form = _detect_format(data)
    if not form:
        message = f"{path.name} is neither LoCoMo's nor LongMemEval's nor MemoryBank's format"
        raise InvalidInput(message, field="path")
    try:
        dialogues = _FORMAT_READERS[form](path, data)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        message = f"{path.name} is not in the format {form} ({type(error).__name__}: {error})"
        raise InvalidInput(message, field="path") from error
    return Dataset(path.name, form, hashlib.sha256(raw).hexdigest(), dialogues)


def count_by_category(questions: Iterable[DatasetQuestion]) -> dict[int, int]:
    """Questions by category number, in order."""
    return dict(sorted(Counter(question.category for question in questions).items()))


def _detect_format(data: Any) -> str:
    if isinstance(data, list) and _all_have_key("conversation", data):
        return "locomo"
    if isinstance(data, list) and _all_have_key("haystack_sessions", data):
        return "longmemeval"
    if isinstance(data, dict) and _all_have_key("history", data.values()):
        return "memorybank"
    return ""


def _all_have_key(key: str, rows: Collection[Any]) -> bool:
    return bool(rows) and all(isinstance(row, dict) and key in row for row in rows)


def parse_evidence_refs(written: Any) -> frozenset[str]:
    """Turn refs in an evidence field, however written: "D8:6; D9:17", "D:11:26", "D30:05"."""
    texts = [written] if isinstance(written, str) else (written or [])
    found = (_EVIDENCE_REF.findall(str(text)) for text in texts)
    return frozenset(f"D{int(s)}:{int(t)}" for pairs in found for s, t in pairs)


def _read_locomo(path: Path, data: Sequence[Mapping[str, Any]]) -> list[Dialogue]:
    asked = [[_build_locomo_question(qa) for qa in row.get("qa", [])] for row in data]
    return [Dialogue(c, q) for c, q in zip(read_dialogues(path, "locomo"), asked, strict=True)]


def _build_locomo_question(qa: Mapping[str, Any]) -> DatasetQuestion:
    category = int(qa["category"])
    trap = category == ADVERSARIAL_CATEGORY
    return DatasetQuestion(
        text=str(qa["question"]),
        category=category,
        evidence=parse_evidence_refs(qa.get("evidence")),
        # Some adversarial questions come with the answer they are to lure into.
        expected="" if trap else str(qa.get("answer", "")),
        unanswerable=trap,
    )


def _read_longmemeval(path: Path, data: Sequence[Mapping[str, Any]]) -> list[Dialogue]:
    found = []
    for row in data:
        conversation, evidence = longmemeval.read_conversation(row)
        question = DatasetQuestion(
            text=str(row["question"]),
            category=longmemeval.get_category_number(row),
            evidence=evidence,
            expected=str(row.get("answer", "")),
            unanswerable=str(row["question_id"]).endswith("_abs"),
            asked_at=longmemeval.parse_session_time(row.get("question_date")),
        )
        found.append(Dialogue(conversation, [question]))
    return found


def _read_memorybank(path: Path, data: Mapping[str, Any]) -> list[Dialogue]:
    """The questions are in the file beside it that is named for the same language, if there."""
    language = path.stem.rsplit("_", 1)[-1]
    beside = path.with_name(f"probing_questions_{language}.jsonl")
    probing, labels = _read_probing_questions(beside), find_evidence_labels(path, beside)
    found = []
    for at, (talk, name) in enumerate(zip(read_dialogues(path, "memorybank"), data, strict=True)):
        asked = probing.get(name, [])
        evidence = labels[at] if labels else [frozenset[str]()] * len(asked)
        questions = [DatasetQuestion(text, evidence=evidence[n]) for n, text in enumerate(asked)]
        found.append(Dialogue(talk, questions))
    return found


def _read_probing_questions(path: Path) -> dict[str, list[str]]:
    questions: dict[str, list[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        if line.strip():
            questions |= json.loads(line)
    return questions


_FORMAT_READERS: Mapping[str, Callable[[Path, Any], list[Dialogue]]] = {
    "locomo": _read_locomo,
    "longmemeval": _read_longmemeval,
    "memorybank": _read_memorybank,
}
