"""Chinese is found by what it means: vectors of words, without a model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from memoryhub.engines.embedding.chinese import (
    get_chinese_words,
    list_known_words,
    read_words,
    write_words,
)
from memoryhub.engines.embedding.onnx import get_onnx_minilm
from memoryhub.engines.embedding.packaged import PackagedEmbedder, get_packaged_embedder
from memoryhub.engines.types import QuestionEmbedder, embed_questions
from memoryhub.errors import InvalidInput
from memoryhub.lab.training.asked import AskedStatement
from memoryhub.lab.training.chinese import words
from tests.support.embedders import BagOfWords

LIFE = (
    "昨晚又在急诊守了一夜，交班才吃上饭",
    "房东把租金涨到三千二了",
    "旺财最近老是掉毛，兽医说换个粮",
    "海鲜一吃嘴就肿，别点了",
    "每天骑小电驴过江去单位",
)


@pytest.fixture(scope="module")
def embedder() -> PackagedEmbedder:
    return get_packaged_embedder()


@pytest.mark.parametrize(
    ("question", "answer"),
    [("我是做什么工作的", 0), ("我家狗叫啥", 2), ("我对什么过敏", 3), ("我怎么去上班", 4)],
)
def test_a_question_finds_what_answers_it_in_other_words(
    embedder: PackagedEmbedder, question: str, answer: int
) -> None:
    likeness = embedder.embed(LIFE) @ embed_questions(embedder, [question])[0]
    assert int(likeness.argmax()) == answer


def test_english_is_read_by_minilm_beside_it(embedder: PackagedEmbedder) -> None:
    mixed = ["Ana lives in Porto.", "我在医院上班", "Where does she live?"]
    made, plain = embedder.embed(mixed), get_onnx_minilm().embed([mixed[0], mixed[2]])
    assert np.array_equal(made[[0, 2]], plain)
    assert np.array_equal(
        embedder.embed_questions(mixed)[1], embedder.embed_questions(mixed[1:2])[0]
    )
    assert not made[1, get_chinese_words().dimension :].any()
    assert np.linalg.norm(made, axis=1) == pytest.approx(1.0, abs=1e-5)


def test_a_vector_does_not_depend_on_its_neighbours(embedder: PackagedEmbedder) -> None:
    together = embedder.embed(LIFE)
    assert np.array_equal(together, np.concatenate([embedder.embed([each]) for each in LIFE]))


def test_chinese_of_no_known_word_is_like_nothing(embedder: PackagedEmbedder) -> None:
    assert not embedder.embed(["㐂㐃㐄"]).any()
    assert embedder.embed([]).shape == (0, 384)


def test_a_question_is_another_than_a_statement(embedder: PackagedEmbedder) -> None:
    assert isinstance(embedder, QuestionEmbedder)
    own, asked = embedder.embed(["我住哪"])[0], embedder.embed_questions(["我住哪"])[0]
    assert not np.allclose(own, asked)
    plain = BagOfWords()
    assert np.array_equal(embed_questions(plain, ["who"]), plain.embed(["who"]))


def test_numbers_and_latin_words_stand_for_their_kind() -> None:
    places = get_chinese_words().places
    assert list_known_words("3200", places) == list_known_words("45", places)
    assert list_known_words("Java", places) == list_known_words("Python", places)
    assert len(list_known_words("猫" * 1000, places)) == 256


def test_what_is_learned_is_written_and_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    monkeypatch.setattr(words, "ROUNDS", 40)
    known = [chr(0x4E00 + at) for at in range(600)]
    start = np.random.default_rng(1).standard_normal((600, 16)).astype(np.float32)
    # Nothing in the words tells that 一 is answered by a 丂 of its own: it is learned.
    told = [AskedStatement(known[at], known[at + 300], f"message {at}") for at in range(300)]
    first, again = (words.train_words(told, known, start, lambda _: None) for _ in range(2))
    assert np.array_equal(first.vectors, again.vectors)
    write_words(tmp_path / "words.npz", first)
    read = read_words(tmp_path / "words.npz")
    assert read.places == first.places
    near = np.testing.assert_allclose
    near(read.embed_questions(known[:9]), first.embed_questions(known[:9]), atol=2e-3)
    measured = words.measure_words(read, told)
    assert measured["among 3"] > 2 * 3 / 41


def test_too_few_questions_teach_nothing() -> None:
    with pytest.raises(InvalidInput):
        words.train_words([], ["猫"], np.eye(1, dtype=np.float32), lambda _: None)
