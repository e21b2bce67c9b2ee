"""The deciders of Chinese are learned alike from the same dialogues."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

from django.core.management import call_command

from memoryhub.lab.training.chinese.statements import train_chinese_judgements
from memoryhub.lab.truth.dialogues import read_dialogue
from tests.support.truth import build_truth_dialogue


def write_dialogue(author: str, told: str, aside: str) -> dict[str, Any]:
    """A turn that tells something worth keeping, and one that does not."""
    turns = {"t1": ("2025-03-01T09:00:00Z", told), "t2": ("2025-03-01T09:01:00Z", aside)}
    kept = {"do": "add", "id": "c1", "text": told, "match": [[told[-3:]]]}
    return build_truth_dialogue(f"zh-{author}-1", "何苗", [turns], {"t1": [kept]}, current=["c1"])


DIALOGUES = (
    write_dialogue("c", "我在泉州开茶馆", "我今天困死了"),
    write_dialogue("f", "我女儿在厦门读书", "我笑得肚子疼"),
)


def test_learning_twice_gives_the_same_weights() -> None:
    dialogues = [read_dialogue(each) for each in DIALOGUES]
    first, second = train_chinese_judgements(dialogues), train_chinese_judgements(dialogues)
    assert first == second
    assert first.keys() == {"ended", "worth"}
    assert first["worth"]["scores"]["true"] >= 2
    assert {"recall", "precision"} <= first["ended"]["scores"].keys()


def test_the_command_writes_what_the_engine_reads(tmp_path: Path) -> None:
    for each in DIALOGUES:
        text = json.dumps(each, ensure_ascii=False)
        (tmp_path / f"{each['id']}.json").write_text(text, encoding="utf-8")
    out, target = StringIO(), tmp_path / "judgements.out"
    call_command(
        "lab", "train-reading", str(tmp_path), "--language", "zh", "--out", str(target), stdout=out
    )
    made = json.loads(target.read_text(encoding="utf-8"))
    assert set(made["ended"]) == {"bias", "bar", "scores", "weights"}
    assert "worth" in out.getvalue()
