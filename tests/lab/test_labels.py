from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

from memoryhub.lab.datasets import labels
from memoryhub.lab.datasets.read import read_dataset_dialogues
from tests.lab.test_datasets import MEMORYBANK, write_data_file

FILES = sorted(Path(labels.__file__).parent.glob("*.json"))


def write_memorybank_files(tmp_path: Path) -> tuple[Path, Path]:
    questions = tmp_path / "probing_questions_cn.jsonl"
    questions.write_text('{"Mei": ["我喜欢喝什么？"]}', encoding="utf-8")
    return write_data_file(tmp_path, "memory_bank_cn.json", MEMORYBANK), questions


def hash_file(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_files_that_were_labelled_have_evidence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, questions = write_memorybank_files(tmp_path)
    held = {
        "data_sha256": hash_file(data),
        "questions_sha256": hash_file(questions),
        "evidence": [[["2026-05-02:1"]]],
    }
    monkeypatch.setattr(labels, "_read_label_files", lambda: iter([held]))
    ((question,),) = [dialogue.questions for dialogue in read_dataset_dialogues(data)]
    assert question.evidence == {"2026-05-02:1"}
    spoken = [
        m.external_id
        for s in read_dataset_dialogues(data)[0].conversation.sessions
        for m in s.messages
    ]
    assert question.evidence <= set(spoken)


def test_of_any_other_file_nothing_is_known(tmp_path: Path) -> None:
    data, questions = write_memorybank_files(tmp_path)
    assert read_dataset_dialogues(data)[0].questions[0].evidence == frozenset()
    questions.unlink()
    assert labels.find_evidence_labels(data, questions) == ()


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_a_label_names_days_and_turns_and_says_whose(path: Path) -> None:
    held = json.loads(path.read_text(encoding="utf-8"))
    assert set(held) == {"data_sha256", "questions_sha256", "evidence"}
    asked = [refs for dialogue in held["evidence"] for refs in dialogue]
    assert len(asked) == 100
    assert all(refs for refs in asked)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d:\d+", ref) for refs in asked for ref in refs)
