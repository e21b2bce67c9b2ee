"""The deciders of Chinese are learned alike from the same dialogues."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from memoryhub.engines.types import FactCandidate, SourceSpan
from memoryhub.errors import InvalidInput
from memoryhub.lab.training.chinese.statements import train_chinese_judgements
from memoryhub.lab.training.judgements import is_kept, leave_authors_out
from memoryhub.lab.truth.dialogues import read_dialogue
from tests.support.truth import build_truth_dialogue


def write_dialogue(name: str, told: str, aside: str) -> dict[str, Any]:
    """A turn that tells something worth keeping, and one that does not."""
    turns = {"t1": ("2025-03-01T09:00:00Z", told), "t2": ("2025-03-01T09:01:00Z", aside)}
    kept = {"do": "add", "id": "c1", "text": told, "match": [[told[-3:]]]}
    return build_truth_dialogue(name, "何苗", [turns], {"t1": [kept]}, current=["c1"])


DIALOGUES = (
    write_dialogue("zh-c-1", "我在泉州开茶馆", "我今天困死了"),
    write_dialogue("zh-f-1", "我女儿在厦门读书", "我笑得肚子疼"),
)


def test_learning_twice_gives_the_same_weights() -> None:
    dialogues = [read_dialogue(each) for each in DIALOGUES]
    first, second = (train_chinese_judgements(dialogues, "2026-06-01") for _ in range(2))
    assert first == second
    assert first.keys() == {"learned", "ended", "worth"}
    assert first["worth"]["scores"]["true"] >= 2
    assert {"recall", "precision"} <= first["ended"]["scores"].keys()


def test_the_command_writes_what_the_engine_reads(tmp_path: Path) -> None:
    for each in DIALOGUES:
        text = json.dumps(each, ensure_ascii=False)
        (tmp_path / f"{each['id']}.json").write_text(text, encoding="utf-8")
    out, target = StringIO(), tmp_path / "judgements.out"
    call_command(
        "lab",
        "train-reading",
        str(tmp_path),
        "--language",
        "zh",
        "--on",
        "2026-06-01",
        "--out",
        str(target),
        stdout=out,
    )
    text = target.read_text(encoding="utf-8")
    assert text.count("\n") == 5  # one line a decider, and the day
    assert "\\u" not in text
    made = json.loads(text)
    assert made["learned"] == "2026-06-01"
    assert set(made["ended"]) == {"bias", "bar", "scores", "weights"}
    assert "worth" in out.getvalue()


def test_an_ending_that_is_marked_and_no_longer_told_is_an_error() -> None:
    changed = write_dialogue("zh-c-01-laozhang", "我在泉州开茶馆", "我今天困死了")
    with pytest.raises(InvalidInput, match="zh-c-01-laozhang"):
        train_chinese_judgements([read_dialogue(changed)], "2026-06-01")


def test_what_was_said_and_not_claimed_is_not_worth_keeping() -> None:
    claimed = DIALOGUES[0]
    joked = {"ref": "t1", "kind": "joke", "match": [["茶馆"]]}
    unclaimed = claimed | {"truth": claimed["truth"] | {"not_asserted": [joked]}}
    told, joke = read_dialogue(claimed), read_dialogue(unclaimed)
    fact = FactCandidate(
        text="何苗在泉州开茶馆。",
        owner="何苗",
        speaker="何苗",
        pattern="SVO",
        subject="何苗",
        verb="开",
        sources=(SourceSpan("t1", 0, 7),),
    )
    assert is_kept(told, fact)
    assert not is_kept(joke, fact)


def test_of_each_author_in_turn_the_others_are_learned_from() -> None:
    parts = [(list(known), list(left)) for known, left in leave_authors_out(["a", "", "b", "a"])]
    assert parts == [([1, 2], [0, 3]), ([0, 1, 3], [2])]
