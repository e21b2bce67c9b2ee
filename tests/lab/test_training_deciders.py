"""Learning what new claims do to those held, on a few dialogues made here."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from memoryhub.engines.local.comparison.deciders import read_deciders
from memoryhub.engines.local.engine import LocalEngine
from memoryhub.lab.training.claim_pairs import build_pair_groups
from memoryhub.lab.truth.dialogues import read_dialogue
from tests.support.truth import build_truth_dialogue

# The command asks which embedder the operator chose.
pytestmark = pytest.mark.django_db


def write_dialogue(number: int, author: str) -> dict[str, Any]:
    """Tom moves, and keeps his dog."""
    first, second = f"Town{number}", f"Port{number}"
    home = {"do": "add", "id": "c1", "text": f"Tom lives in {first}.", "match": [[first]]}
    dog = {"do": "add", "id": "c2", "text": f"Tom's dog is Rex{number}.", "match": [["rex"]]}
    moved = {"do": "replace", "targets": ["c1"], "id": "c3", "match": [[second]]}
    return build_truth_dialogue(
        f"en-{author}-{number}",
        "Tom",
        [
            {"t0": ("2025-01-05T10:00:00Z", f"I live in {first}. My dog is called Rex{number}.")},
            {"t1": ("2025-03-05T10:00:00Z", f"I live in {second} now.")},
        ],
        {"t0": [home, dog], "t1": [moved | {"text": f"Tom lives in {second}."}]},
        current=["c2", "c3"],
        past=["c1"],
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(8):
        made = write_dialogue(number, "ae"[number % 2])
        (tmp_path / f"{made['id']}.json").write_text(json.dumps(made))
    return tmp_path


def test_pairs_are_what_the_reading_says_of_them() -> None:
    groups = build_pair_groups([read_dialogue(write_dialogue(1, "a"))], LocalEngine())
    pairs = {
        (group.new.text, old.text, label)
        for group in groups
        for old, label in zip(group.held, group.labels, strict=True)
    }
    assert ("Tom lives in Port1.", "Tom lives in Town1.", "closes") in pairs
    assert ("Tom lives in Port1.", "Tom's dog is Rex1.", "apart") in pairs


def test_the_command_writes_deciders_with_their_scores(folder: Path, tmp_path: Path) -> None:
    out, target = StringIO(), tmp_path / "out" / "deciders.json"
    target.parent.mkdir()
    call_command("lab", "train-deciders", str(folder), "--out", str(target), stdout=out)
    made = read_deciders(target)
    assert made.dialogues == 8
    assert made.deciders["en"].scores["told_closed"] == 1.0
    assert "en: acts from" in out.getvalue()


def test_one_author_is_too_few(folder: Path, tmp_path: Path) -> None:
    target = str(tmp_path / "none.json")
    with pytest.raises(CommandError, match="two authors"):
        call_command("lab", "train-deciders", str(folder), "--authors", "a", "--out", target)
