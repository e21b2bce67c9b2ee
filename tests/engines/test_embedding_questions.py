"""MiniLM reads a question as what would answer it, by biases and norms of its own."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from memoryhub.engines.embedding import minilm_graph
from memoryhub.engines.embedding.onnx import (
    GRAPH_FILE,
    QUESTIONS_GRAPH_FILE,
    get_onnx_minilm,
)
from memoryhub.lab.training import questions
from memoryhub.lab.training.asked import AskedStatement

TOLD = (
    "On the tills till ten again, the shop never ends.",
    "Priya and I finally split the bills for the flat.",
    "One bite with sesame and my throat closes up.",
    "Our old Micra failed its MOT so it's the bus for now.",
    "Nan turned ninety and danced till two.",
    "I've been on the waiting list for the allotment since spring.",
    "Tuesdays I'm at the climbing wall with Sol.",
    "Mum's knee is being done in March.",
)
ASKED = {
    "whats my job": 0,
    "who do i live with": 1,
    "any food i can't have": 2,
    "how do i get around": 3,
    "how old is my gran": 4,
    "what sport do i do": 6,
}


def count_found(graph: str) -> int:
    told = get_onnx_minilm().embed(TOLD)
    reader = get_onnx_minilm(1, QUESTIONS_GRAPH_FILE if graph == "questions" else GRAPH_FILE)
    best = (reader.embed(list(ASKED)) @ told.T).argmax(axis=1)
    return int((best == list(ASKED.values())).sum())


def test_a_question_finds_what_answers_it_sooner_than_as_a_statement() -> None:
    assert count_found("questions") > count_found("statements")


def test_the_graph_is_minilm_with_other_biases_and_norms() -> None:
    weights = onnx.load_from_string(QUESTIONS_GRAPH_FILE.read_bytes()).graph.initializer
    own = {
        each.name: numpy_helper.to_array(each)
        for each in weights
        if each.name.startswith("inner.") and not each.external_data
    }
    assert all(name.endswith("bias") or "LayerNorm" in name for name in own)
    assert sum(values.size for values in own.values()) == 30_720
    drawn = minilm_graph.build_graph(own).SerializeToString(deterministic=True)
    assert QUESTIONS_GRAPH_FILE.read_bytes() == drawn


# Looked for, not imported: torch takes seconds, which every worker would spend.
@pytest.mark.skipif(find_spec("transformers") is None, reason="the extra is not installed")
def test_what_is_learned_draws_questions_to_what_answers_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(questions, "BATCH", 6)
    monkeypatch.setattr(questions, "ROUNDS", 12)
    pairs = [AskedStatement(asked, TOLD[at], TOLD[at]) for asked, at in ASKED.items()]
    rounds: list[str] = []
    made = questions.train_question_biases(pairs, rounds.append)
    assert float(rounds[-1].split()[-1]) < float(rounds[0].split()[-1])
    shipped = onnx.load_from_string(QUESTIONS_GRAPH_FILE.read_bytes()).graph.initializer
    shapes = {each.name: tuple(each.dims) for each in shipped}
    assert {name: np.shape(values) for name, values in made.items()} == {
        name: shapes[name] for name in made
    }
