"""The commands that learn how Chinese and questions are read, from messages of one's own."""

from __future__ import annotations

import json
from importlib.util import find_spec
from io import StringIO
from pathlib import Path

import onnx
import pytest
from django.core.management import call_command

from memoryhub.engines.embedding.chinese import read_words
from memoryhub.lab.training import questions
from memoryhub.lab.training.asked import load_asked, number_messages
from memoryhub.lab.training.chinese import words
from tests.support.embedders import BagOfWords

# Looked for, not imported: torch takes seconds, which every worker would spend.
needs_torch = pytest.mark.skipif(
    find_spec("transformers") is None, reason="the extra is not installed"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Forty messages with two clauses by each of two Chinese authors and one English one."""
    for author, first, second in (
        ("zh-1", "我住在{}", "我养了{}只猫"),
        ("zh-2", "我在{}上班", "我喜欢吃{}"),
        ("en-1", "I live in {}", "my boss is {}"),
    ):
        (tmp_path / author).mkdir()
        lines = []
        for number in range(40):
            clauses = [each.format(chr(0x4E00 + 7 * number)) for each in (first, second)]
            asked = [{"q": f"{each}?", "clause": each, "value": each} for each in clauses]
            lines.append(json.dumps({"text": ", ".join(clauses), "asked": asked}))
        (tmp_path / author / "01.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path


def test_questions_are_read_by_language_and_author(folder: Path) -> None:
    assert len(load_asked(folder, "zh")) == 160
    assert len(load_asked(folder, "zh", without=["zh-2"])) == 80
    (first, second, third) = load_asked(folder / "en-1", "en")[:3]
    assert (first.question, first.message) == ("I live in 一?", second.message)
    assert number_messages([first, second, third]) == [0, 0, 1]


@needs_torch
def test_words_are_learned_and_measured_by_authors_left_out(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(words, "BATCH", 64)
    monkeypatch.setattr("memoryhub.lab.management.commands.lab.get_current_embedder", BagOfWords)
    known, out = tmp_path / "words.txt", StringIO()
    known.write_text("我 住 住在 养 猫 上班 喜欢 吃", encoding="utf-8")
    target = tmp_path / "made.npz"
    options = ["--words", str(known), "--without", "zh-2", "--out", str(target)]
    call_command("lab", "train-words", str(folder), *options, stdout=out, stderr=StringIO())
    assert list(read_words(target).places)[:2] == ["我", "住"]
    assert "zh-2    first" in out.getvalue()


@needs_torch
def test_a_graph_is_drawn_with_what_was_learned_of_questions(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(questions, "BATCH", 40)
    monkeypatch.setattr(questions, "ROUNDS", 1)
    target = tmp_path / "questions.onnx"
    call_command("lab", "train-questions", str(folder), "--out", str(target), stderr=StringIO())
    drawn = onnx.load_from_string(target.read_bytes()).graph.initializer
    own = [each for each in drawn if each.name.startswith("inner.") and not each.external_data]
    assert len(own) == 62
