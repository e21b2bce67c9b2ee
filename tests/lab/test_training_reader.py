"""What is learned of reading a question and a text in one."""

from __future__ import annotations

import json
from importlib.util import find_spec
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from django.core.management import call_command

from memoryhub.engines.embedding.minilm_graph import LAYERS, PRODUCT_NAMES
from memoryhub.engines.reranking.packaged import PackagedReranker
from memoryhub.lab.training import reader
from memoryhub.lab.training.asked import AskedStatement
from memoryhub.lab.training.reader import ReadQuestion, read_asked, read_dialogue_questions
from memoryhub.lab.truth.dialogues import read_dialogue
from tests.support.embedders import BagOfWords

# Looked for, not imported: torch takes seconds, which every worker would spend.
needs_torch = pytest.mark.skipif(
    find_spec("transformers") is None, reason="the extra is not installed"
)


def make_dialogue(author: str) -> dict[str, object]:
    def ask(text: str, kind: str, right: str = "", outdated: str = "") -> dict[str, object]:
        words = {"right": right, "outdated": outdated}
        matches = {key: [[word]] if word else [] for key, word in words.items()}
        return {"ask": text, "kind": kind, **matches}

    said = (
        "I lived in Ghent. Kip is my dog.",
        "I moved to Bruges.",
        "Tea or coffee, all the same.",
    )
    turns = [
        {"ref": f"t{n}", "at": f"2026-01-0{n}T12:00:00Z", "speaker": "Noor", "role": "user"}
        | {"text": text}
        for n, text in enumerate(said, 1)
    ]
    reply = {"ref": "t9", "at": "2026-01-04T12:00:00Z", "speaker": "Assistant"}
    turns.append(reply | {"role": "assistant", "text": "Bruges it is."})
    return {
        "id": f"en-{author}-01",
        "author": author,
        "language": "en",
        "subject": {"id": "noor", "name": "Noor"},
        "sessions": [{"id": "s1", "turns": turns}],
        "reading": {},
        "truth": {"current": [], "past": [], "gone": [], "not_asserted": [], "as_of": []},
        "questions": [
            ask("where do i live", "current", "bruges", "ghent"),
            ask("whats my bank", "unknown"),
            ask("who is my boss", "current", "nobody said"),
        ],
    }


def test_of_a_message_its_other_sentences_are_wrong() -> None:
    message = "Long day. My sister Ola drives a tram, and Kip barks. Rain again."
    (read,) = read_asked([AskedStatement("who is ola", "My sister Ola drives a tram", message)])
    assert read.right == ["My sister Ola drives a tram, and Kip barks."]
    assert read.wrong == ["Long day.", "Rain again."]
    assert (read.others, read.whole) == ("en", message)


def test_of_a_dialogue_what_was_so_once_is_neither_right_nor_wrong() -> None:
    """And what an assistant says is not read; a question that nothing answers has no right text
    where that is known, and teaches nothing where it is not."""
    live, bank = read_dialogue_questions(read_dialogue(make_dialogue("x")))
    assert (live.text, live.right) == ("where do i live", ["I moved to Bruges."])
    assert live.wrong == ["Kip is my dog.", "Tea or coffee, all the same."]
    assert (bank.text, bank.right) == ("whats my bank", [])
    assert len(bank.wrong) == 5


def test_what_is_told_later_is_read_beside_what_it_takes_the_place_of() -> None:
    """Of two that would answer the later does, whether the earlier stands alone or in its message;
    after that one nothing does."""
    told = make_dialogue("x")
    moved, whole = reader.read_successions(read_dialogue(told))
    assert moved.text == "where do i live"
    assert moved.right == ["I moved to Bruges. (earlier: I lived in Ghent.)"]
    assert moved.wrong == ["Tea or coffee, all the same. (earlier: I lived in Ghent.)"]
    assert whole.right == ["I moved to Bruges. (earlier: I lived in Ghent. Kip is my dog.)"]

    told["questions"] = [{"ask": "my dog", "kind": "current", "right": [["kip"]], "outdated": []}]
    (dog,) = reader.read_successions(read_dialogue(told))
    assert dog.right == []
    assert dog.wrong[0] == "I moved to Bruges. (earlier: I lived in Ghent. Kip is my dog.)"

    # A short answer is read with what was asked, as a claim made of it has it.
    session = told["sessions"][0]  # type: ignore[index]  # built above
    asked = {"ref": "t0", "at": "2026-01-01T12:05:00Z", "speaker": "Assistant", "role": "assistant"}
    session["turns"].insert(1, asked | {"text": "Nice! And where do you live now?"})
    told["questions"] = make_dialogue("x")["questions"]
    moved, _ = reader.read_successions(read_dialogue(told))
    assert moved.right[1].startswith('Asked "Nice! And where do you live now?", the user said: I m')


@pytest.mark.django_db(transaction=True)
def test_of_what_a_search_finds_claims_are_read_too() -> None:
    """In the form that they are shown in, which nobody said."""
    told = read_dialogue(make_dialogue("x"))
    found = list(reader.find_dialogue_questions([told], print))
    live = next(each for each in found if each.text == "where do i live")
    said = {sentence for turn in told.turns for sentence in reader.split_sentences(turn.text)}
    assert {text for text in live.right if "Bruges" in text} - said
    assert not any("Ghent" in text for text in live.right)


@needs_torch
def test_doubt_is_least_where_the_right_one_scores_most() -> None:
    import torch

    def doubt(scores: list[float], shown: list[tuple[int, int]]) -> float:
        return float(reader.compute_doubt(torch.tensor(scores), shown))

    assert doubt([9.0, -9.0, -9.0], [(3, 1)]) < 0.01 < doubt([0.0, 0.0, 0.0], [(3, 1)])
    assert doubt([9.0, 9.0, -9.0], [(3, 2)]) < 0.01
    assert doubt([-9.0, -9.0], [(2, 0)]) < 0.01 < doubt([3.0, -9.0], [(2, 0)])
    both = doubt([1.0, 2.0, -1.0], [(2, 1), (1, 0)])
    assert both == pytest.approx((doubt([1.0, 2.0], [(2, 1)]) + doubt([-1.0], [(1, 0)])) / 2)


@needs_torch
def test_a_correction_is_the_nearest_of_its_rank() -> None:
    import torch

    chance = np.random.default_rng(2)
    shapes = {"intermediate.dense": (1536, 384), "output.dense": (384, 1536)}
    begun, made, change = {}, {}, {}
    for layer in range(LAYERS):
        for place in reader._PRODUCTS.values():
            name = f"encoder.layer.{layer}.{place}.weight"
            shape = shapes.get(place, (384, 384))
            sides = (chance.normal(0, 0.1, (side, 2)) for side in shape)
            change[name] = next(sides) @ next(sides).T
            begun[name] = torch.zeros(shape)
            made[name] = torch.tensor(change[name], dtype=torch.float32)
    made["encoder.layer.0.output.dense.bias"] = torch.ones(384)
    built = reader.build_reading(begun, made, np.zeros(384, np.float32), 0.5, rank=2)
    assert built.corrections.keys() == {(n, name) for n in range(LAYERS) for name in PRODUCT_NAMES}
    for (layer, name), (down, up) in built.corrections.items():
        wanted = change[f"encoder.layer.{layer}.{reader._PRODUCTS[name]}.weight"].T
        assert np.abs(down.astype(float) @ up.astype(float) - wanted).max() < 0.01
    assert list(built.given) == ["inner.encoder.layer.0.output.dense.bias"]


def test_what_was_learned_before_is_gone_on_with_with_some_of_it() -> None:
    new, known = (
        [ReadQuestion(f"{name} {n}", ["a"], ["b"]) for n in range(200)] for name in ("new", "known")
    )
    chosen = reader.choose_further_questions(new, known)
    assert chosen[:200] == new
    assert all(each in known for each in chosen[200:])
    assert 10 < len(chosen) - 200 < 50


@needs_torch
@pytest.mark.parametrize("goes_on", [False, True])
def test_the_command_learns_from_messages_and_dialogues_and_writes_what_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, goes_on: bool
) -> None:
    monkeypatch.setattr(reader, "ROUNDS", 2)
    monkeypatch.setattr(reader, "_OF_EARLIER", 1.0)
    monkeypatch.setattr(reader, "QUESTIONS", 4)
    monkeypatch.setattr("memoryhub.lab.management.commands.lab.get_current_embedder", BagOfWords)
    learned: list[ReadQuestion] = []
    train = reader.train_pair_reading

    def note(asked: list[ReadQuestion], *rest: object, rounds: int | None) -> object:
        learned.extend(asked)
        return train(asked, *rest, rounds=rounds)  # type: ignore[arg-type]

    monkeypatch.setattr(reader, "train_pair_reading", note)
    for author in ("en-1", "en-2"):
        (tmp_path / "asked" / author).mkdir(parents=True)
        lines = [
            json.dumps(
                {
                    "text": f"I keep {n} bees. It rains.",
                    "asked": [
                        {
                            "q": f"what do i keep {author}",
                            "clause": f"I keep {n} bees",
                            "value": "bees",
                        }
                    ],
                }
            )
            for n in range(6)
        ]
        (tmp_path / "asked" / author / "01.jsonl").write_text("\n".join(lines))
    for author in ("w", "u", "s"):
        told = tmp_path / "told" / f"en-{author}"
        told.mkdir(parents=True)
        (told / "01.json").write_text(json.dumps(make_dialogue(author)))
    out, target = StringIO(), tmp_path / "made.onnx"
    call_command(
        *("lab", "train-reader", tmp_path / "told", "--asked", tmp_path / "asked"),
        *("--without", "en-2,en-s", "--out", target),
        *(("--further", tmp_path / "told") if goes_on else ()),
        stderr=out,
    )
    # Nothing of the test half (u), nor of those who are kept apart (s), unless it is to go on with
    # them. Of a dialogue two questions have an answer or none; of one is known what took its place.
    assert len(learned) == 6 + (12 if goes_on else 4)
    assert sum("(earlier: I lived in Ghent" in each.right[0] for each in learned if each.right) == (
        6 if goes_on else 2
    )
    rounds = [line for line in out.getvalue().splitlines() if line.startswith("round")]
    assert len(rounds) == (1 if goes_on else 2)
    assert len(PackagedReranker(graph=target).score_texts("what do i keep", ["bees", "rain"])) == 2
