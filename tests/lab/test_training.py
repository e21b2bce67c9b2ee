from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from memoryhub.lab.datasets.read import read_dataset
from memoryhub.lab.training.train import (
    EVERYDAY_FIXED,
    EVERYDAY_START,
    START_WEIGHTS,
    train_weights,
)
from memoryhub.recall.ranking import weights
from memoryhub.recall.ranking.weights import Weights
from tests.lab.test_datasets import LOCOMO, write_data_file

pytestmark = pytest.mark.django_db

SECOND = {**LOCOMO[0], "sample_id": "second"}


def write_data(tmp_path: Path) -> Path:
    return write_data_file(tmp_path, "l.json", [*LOCOMO, SECOND])


def test_training_twice_gives_the_same_weights(tmp_path: Path) -> None:
    dataset = read_dataset(write_data(tmp_path))
    first, second = (train_weights(dataset, ["boats"], progress=lambda _: None) for _ in range(2))
    assert first == second
    assert first.weights.dense == 1.0
    assert first.trained.conversations == ("boats",)
    assert first.trained.questions == 2
    assert first.trained.data_sha256 == dataset.sha256
    assert first.trained.recall["recall@10"] == 1.0


def test_the_command_writes_a_file_that_a_search_could_use(tmp_path: Path) -> None:
    out, target = StringIO(), tmp_path / "weights.json"
    call_command(
        "lab",
        "train",
        "--data",
        str(write_data(tmp_path)),
        "--conversations",
        "boats,second",
        "--on",
        "2026-06-01",
        "--out",
        str(target),
        stdout=out,
        stderr=StringIO(),
    )
    made = weights.read_weights(target)
    assert made.trained.conversations == ("boats", "second")
    assert made.trained.on == "2026-06-01"
    assert json.loads(target.read_text(encoding="utf-8"))["trained"]["start"] == dict(START_WEIGHTS)
    assert "dense        1.000" in out.getvalue()


@pytest.mark.parametrize("names", ["nobody", "boats,nobody"])
def test_unknown_conversations_are_named_with_those_there_are(tmp_path: Path, names: str) -> None:
    with pytest.raises(CommandError, match="boats, second"):
        call_command(
            "lab",
            "train",
            f"--data={write_data(tmp_path)}",
            f"--conversations={names}",
            f"--out={tmp_path / 'w.json'}",
            stdout=StringIO(),
            stderr=StringIO(),
        )
    assert not (tmp_path / "w.json").exists()


def test_learning_starts_from_every_signal_but_the_kinds() -> None:
    assert {*START_WEIGHTS, *EVERYDAY_START, *EVERYDAY_FIXED, "fact", "note"} == set(
        Weights.model_fields
    )
