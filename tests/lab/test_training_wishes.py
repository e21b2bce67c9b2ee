"""`lab train-wishes`: what is learned from of scenes, and what comes of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memoryhub.engines.local import LocalEngine
from memoryhub.inference.selection import get_configured_embedder
from memoryhub.lab.training.meant_claims import (
    read_claims,
    read_wishes,
    train_forget_decider,
)
from memoryhub.lab.training.wishes import (
    MeantClause,
    load_messages,
    load_said,
    load_scenes,
    train_wish_decider,
)

TOLD = [
    "I work at a dairy in Thurso",
    "my cousin Iona is expecting, she only told me and our gran",
    "we rent a flat over a chandler's and the damp is awful",
]
WISHES = [
    {
        "say": "please forget that Iona is expecting",
        "means": [{"at": 1, "clause": "my cousin Iona is expecting"}],
    },
    {"say": "delete what I said about my van", "means": []},
]
OTHERS = ["delete the second line", "I forgot my keys", "drop the kids at school", "lose the tie"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(6):
        author = tmp_path / "wishes" / f"en-{number % 3}"
        author.mkdir(parents=True, exist_ok=True)
        scene = json.dumps({"told": TOLD, "wishes": WISHES})
        others = [json.dumps({"say": text, "wish": False}) for text in OTHERS]
        (author / f"{number}.jsonl").write_text("\n".join([scene, *others]) + "\n")
    return tmp_path / "wishes"


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    folder = tmp_path / "asked" / "en-1"
    folder.mkdir(parents=True)
    told = {"q": "how do I get to work", "clause": "I walk to work", "value": "walk"}
    line = json.dumps({"text": "I walk to work", "asked": [told]})
    (folder / "1.jsonl").write_text(f"{line}\n")
    return tmp_path / "asked"


def test_a_scene_tells_where_what_is_meant_stands(folder: Path) -> None:
    scene, *others = load_scenes(folder, without=["en-1"])
    assert len(others) == 3
    assert (scene.author, scene.language, len(scene.told)) == ("en-0", "en", 3)
    assert scene.wishes[0].means == [MeantClause(1, (0, len("my cousin Iona is expecting")))]
    assert scene.wishes[1].means == []
    assert {each.author for each in load_messages(folder, ["en-1"])} == {"en-0", "en-2"}


def test_claims_and_sentences_that_rest_on_what_is_meant_are_right(folder: Path) -> None:
    scenes = load_scenes(folder)[:1]
    claims = read_claims(scenes, LocalEngine())
    meant, never_told = list(read_wishes(scenes, claims, []))
    assert TOLD[1] in meant.right
    assert any("Iona" in text and text != TOLD[1] for text in meant.right)
    assert not any("Iona" in text for text in meant.wrong)
    assert TOLD[0] in meant.wrong
    assert never_told.right == []
    assert {*TOLD} <= {*never_told.wrong}


def test_every_other_message_that_is_no_wish_means_nothing(folder: Path) -> None:
    scenes = load_scenes(folder)[:1]
    claims = read_claims(scenes, LocalEngine())
    read = list(read_wishes(scenes, claims, load_messages(folder)))[len(WISHES) :]
    assert [each.text for each in read[:2]] == [OTHERS[0], OTHERS[2]]
    assert not any(each.right for each in read)


def test_a_wish_is_told_from_what_only_sounds_like_one(folder: Path, asked: Path) -> None:
    said = load_said(folder, asked, "en")
    assert any(each.author == "" for each in said)
    made = train_wish_decider(said, "en")
    assert made["auc"] > 0.9
    assert made["words"]["forget"] > 0 > made["words"].get("drop", -1)
    assert len(made["vector"]) == 384


def test_what_is_meant_is_learned_of_scenes(folder: Path) -> None:
    scenes = load_scenes(folder)
    claims = read_claims(scenes, LocalEngine())
    made = train_forget_decider(scenes, claims, get_configured_embedder())
    assert made["wishes"] == 12
    assert 0 < made["ask"] < made["bar"] <= 1
    assert made["rightly"] >= 0.8
    assert made["granted"] == 1.0
