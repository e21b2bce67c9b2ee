"""What is learned of what is told beside claims held."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from memoryhub.engines.reranking.packaged import PackagedReranker
from memoryhub.lab.training import changes, reader
from memoryhub.lab.training.changes import (
    choose_further_questions,
    choose_questions,
    load_lives,
    read_lives,
)
from memoryhub.lab.training.reader import ReadQuestion
from tests.lab.test_training_reader import needs_torch
from tests.support.embedders import BagOfWords


def tell(said: str, *claims: str, ends: tuple[int, ...] = (), asked: str = "") -> dict[str, object]:
    return {"asked": asked, "said": said, "claims": claims, "ends": ends}


LIFE = {
    "name": "Noor",
    "language": "en",
    "told": [
        tell("im at a kennel in Ghent", "Noor works at a kennel.", "Noor lives in Ghent."),
        tell("a whippet", "Noor has a whippet.", asked="What dog is it?"),
        tell("my sister moved to Bruges", "Noor's sister lives in Bruges."),
        tell("handed the leads back, its pots and pans now", "Noor works in a kitchen.", ends=(0,)),
        tell("the basket stands empty", ends=(2,)),
    ],
}


def write_lives(folder: Path, *authors: str) -> None:
    for author in authors:
        (folder / author).mkdir(parents=True)
        told = json.dumps(LIFE, ensure_ascii=False)
        (folder / author / "01.jsonl").write_text(f"{told}\n{told}\n", encoding="utf-8")


def test_a_message_stands_beside_all_that_holds_then(tmp_path: Path) -> None:
    write_lives(tmp_path, "en-1", "en-2")
    life, other = load_lives(tmp_path, without=["en-2"])
    read = {each.text: each for each in read_lives([life])}
    # Nothing was known before the first one, and who is called what is held as it was told.
    assert "im at a kennel in Ghent" not in read
    asked = 'Asked "What dog is it?", Noor said: a whippet'
    assert read[asked] == ReadQuestion(
        asked, [], ["Noor works at a kennel.", "Noor lives in Ghent."]
    )
    changed = read["handed the leads back, its pots and pans now"]
    assert changed.right == ["Noor works at a kennel."]
    assert changed.wrong[0] == "Noor lives in Ghent."
    assert read["Noor works in a kitchen."].right == changed.right
    last = read["the basket stands empty"]
    assert last.right == ["Noor has a whippet."]
    assert "Noor works at a kennel." not in last.wrong
    assert "Noor works in a kitchen." in last.wrong
    # Of every second life claims speak of the user.
    second = [each.text for each in read_lives([life, other])]
    assert "The user works in a kitchen." in second
    assert "The user has a whippet." in second


def test_of_what_ends_nothing_a_share_is_learned_from(tmp_path: Path) -> None:
    write_lives(tmp_path, *(f"en-{n}" for n in range(20)))
    lives = load_lives(tmp_path)
    every, chosen = list(read_lives(lives)), choose_questions(lives, [])
    assert [each for each in chosen if each.right] == [each for each in every if each.right]
    quiet = [sum(not each.right for each in part) for part in (chosen, every)]
    assert 0.4 < quiet[0] / quiet[1] < 0.8
    assert choose_questions(lives, []) == chosen


def test_what_is_new_is_learned_from_with_a_share_of_what_was_known(tmp_path: Path) -> None:
    write_lives(tmp_path, *(f"en-{n}" for n in range(20)))
    new = load_lives(tmp_path, only=["en-3", "en-4"])
    assert len(new) == 4
    known = load_lives(tmp_path, without=["en-3", "en-4"])
    told = [each for each in read_lives(new) if each.right]
    chosen = [each for each in choose_further_questions(new, known) if each.right]
    assert chosen[: len(told)] == told
    every = sum(bool(each.right) for each in read_lives(known))
    assert 0.1 < (len(chosen) - len(told)) / every < 0.5


@needs_torch
@pytest.mark.parametrize("way", [("--without", "en-2"), ("--further", "en-2")])
def test_the_command_learns_from_lives_and_writes_what_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: tuple[str, str]
) -> None:
    monkeypatch.setattr(reader, "QUESTIONS", 4)
    monkeypatch.setattr("memoryhub.lab.management.commands.lab.get_current_embedder", BagOfWords)
    write_lives(tmp_path / "lives", "en-1", "en-2")
    out, target = StringIO(), tmp_path / "made.onnx"
    call_command(
        *("lab", "train-changes", tmp_path / "lives", *way, "--out", target),
        stderr=out,
    )
    rounds = [line for line in out.getvalue().splitlines() if line.startswith("round")]
    assert len(rounds) == changes.ROUNDS
    assert (
        len(PackagedReranker(graph=target).score_texts("the basket stands empty", ["a", "b"])) == 2
    )
