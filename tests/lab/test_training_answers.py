"""What is learned of answering: which piece is right, and when none is."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from django.core.management import call_command

from memoryhub.engines.local.answers.decide import read_decider
from memoryhub.errors import InvalidInput
from memoryhub.lab.training.answers import REFUSED_AIM, AskedPieces, fit_decider

CHANCE = np.random.default_rng(3)


def make_question(number: int, *, known: bool, language: str) -> AskedPieces:
    """Of six pieces the first is right where the thing is known, and nearest; what is unknown comes
    as near now and then."""
    values = CHANCE.uniform(0.0, 0.6, (6, 2))
    if known:
        values[0, 0] = CHANCE.uniform(0.55, 1.0)
    right = np.array([known, *[False] * 5])
    return AskedPieces(f"d{number % 20}", language, known, ["near", "noise"], values, right)


@pytest.fixture
def asked() -> list[AskedPieces]:
    return [
        make_question(number, known=number % 3 > 0, language="zh" if number % 2 else "en")
        for number in range(360)
    ]


def test_what_speaks_for_a_piece_is_learned_and_the_unknown_is_refused(
    asked: list[AskedPieces], tmp_path: Path
) -> None:
    made = fit_decider(asked, on="2026-11-28")
    near, far = made.estimate_chances([{"near": 0.95, "noise": 0.1}, {"near": 0.1, "noise": 0.9}])
    assert near > made.get_bar("en") > far
    assert set(made.bars) == {"en", "zh"}
    for measured in made.trained.left_out.values():
        assert measured["right"] > 0.8
        assert measured["refused"] >= REFUSED_AIM - 0.05
    (tmp_path / "decider.json").write_text(made.model_dump_json(), encoding="utf-8")
    assert read_decider(tmp_path / "decider.json") == made
    assert fit_decider(asked, on="2026-11-28") == made


def test_a_file_of_another_form_is_refused(tmp_path: Path) -> None:
    (tmp_path / "decider.json").write_text('{"format": "memoryhub.decider/1"}', encoding="utf-8")
    with pytest.raises(ValueError, match="decider"):
        read_decider(tmp_path / "decider.json")


def test_questions_of_which_none_is_answered_teach_nothing() -> None:
    with pytest.raises(InvalidInput):
        fit_decider([make_question(1, known=False, language="en")])


def test_the_command_learns_from_those_who_are_named(
    asked: list[AskedPieces], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A letter may stand for one author in English, and for another one in Chinese."""
    train = Mock(return_value=fit_decider(asked))
    monkeypatch.setattr("memoryhub.lab.training.answers.train_decider", train)
    folder = Path(__file__).parents[2] / "benchmarks" / "short"
    out = tmp_path / "decider.json"
    call_command("lab", "train-answers", folder, "--only", "en-zo,zh-zp", "--out", out)
    learned = {(each.language, each.author) for each in train.call_args.args[0]}
    assert learned == {("en", "zo"), ("zh", "zp")}
    assert read_decider(out).features
