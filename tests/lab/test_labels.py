from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

from memoryhub.lab import labels
from memoryhub.lab.datasets import load
from tests.lab.test_datasets import MEMORYBANK, written

FILES = sorted(Path(labels.__file__).parent.glob("*.json"))


def memorybank(tmp_path: Path) -> tuple[Path, Path]:
    questions = tmp_path / "probing_questions_cn.jsonl"
    questions.write_text('{"Mei": ["我喜欢喝什么？"]}', encoding="utf-8")
    return written(tmp_path, "memory_bank_cn.json", MEMORYBANK), questions


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_files_that_were_labelled_have_evidence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, questions = memorybank(tmp_path)
    held = {
        "data_sha256": sha256(data),
        "questions_sha256": sha256(questions),
        "evidence": [[["2026-05-02:1"]]],
    }
    monkeypatch.setattr(labels, "_files", lambda: iter([held]))
    ((question,),) = [dialogue.questions for dialogue in load(data)]
    assert question.evidence == {"2026-05-02:1"}
    spoken = [m.external_id for s in load(data)[0].conversation.sessions for m in s.messages]
    assert question.evidence <= set(spoken)


def test_of_any_other_file_nothing_is_known(tmp_path: Path) -> None:
    data, questions = memorybank(tmp_path)
    assert load(data)[0].questions[0].evidence == frozenset()
    questions.unlink()
    assert labels.evidence_labels(data, questions) == ()


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_a_label_names_days_and_turns_and_says_whose(path: Path) -> None:
    held = json.loads(path.read_text(encoding="utf-8"))
    assert set(held) == {"data_sha256", "questions_sha256", "evidence"}
    asked = [refs for dialogue in held["evidence"] for refs in dialogue]
    assert len(asked) == 100
    assert all(refs for refs in asked)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d:\d+", ref) for refs in asked for ref in refs)
