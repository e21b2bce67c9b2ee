"""Scores against values computed by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryhub.lab.metrics.answers import (
    compute_bleu1,
    compute_f1,
    compute_meteor,
    compute_rouge_2,
    compute_rouge_l,
    is_refusal,
    score_answer,
    score_refusal,
    split_words,
)
from memoryhub.lab.metrics.porter_stemmer import stem_word
from memoryhub.lab.runs.ask import compute_similarity
from tests.support.hub import TableEmbedder


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        # Porter's own examples, rule by rule.
        ("caresses", "caress"), ("ponies", "poni"), ("ties", "ti"), ("caress", "caress"),
        ("cats", "cat"), ("feed", "feed"), ("agreed", "agre"), ("plastered", "plaster"),
        ("bled", "bled"), ("motoring", "motor"), ("sing", "sing"), ("conflated", "conflat"),
        ("troubled", "troubl"), ("sized", "size"), ("hopping", "hop"), ("tanned", "tan"),
        ("falling", "fall"), ("hissing", "hiss"), ("fizzed", "fizz"), ("failing", "fail"),
        ("filing", "file"), ("happy", "happi"), ("sky", "sky"), ("relational", "relat"),
        ("conditional", "condit"), ("rational", "ration"), ("digitizer", "digit"),
        ("radically", "radic"), ("vietnamization", "vietnam"), ("operator", "oper"),
        ("hopefulness", "hope"), ("triplicate", "triplic"), ("formative", "form"),
        ("electrical", "electr"), ("goodness", "good"), ("revival", "reviv"),
        ("allowance", "allow"), ("inference", "infer"), ("replacement", "replac"),
        ("adoption", "adopt"), ("activate", "activ"), ("probate", "probat"), ("rate", "rate"),
        ("cease", "ceas"), ("controll", "control"), ("roll", "roll"),
        ("is", "is"), ("", ""), ("喝茶", "喝茶"),
    ],
)  # fmt: skip
def test_the_stemmer_is_porter_s(word: str, expected: str) -> None:
    assert stem_word(word) == expected


def test_words_are_stems_without_case_marks_and_articles() -> None:
    assert split_words("The Cats, and a dog's toys!") == ["cat", "dog", "toi"]
    assert split_words("我喜欢喝茶。") == list("我喜欢喝茶")
    assert split_words("?!") == []


def test_f1_by_hand() -> None:
    # shared: 7, may, 2023; precision 3/5, recall 3/3
    wanted, given_ = split_words("7 May 2023"), split_words("It was 7 May 2023")
    assert compute_f1(wanted, given_) == pytest.approx(2 * 3 / (3 + 5))
    assert compute_f1(["a", "a"], ["a"]) == pytest.approx(2 / 3)
    assert compute_f1([], []) == 0.0


def test_bleu_1_by_hand() -> None:
    assert compute_bleu1(["tea"], ["green", "tea"]) == 0.5
    assert compute_bleu1(["tea"], ["tea", "tea"]) == 0.5  # an expected word counts once
    assert compute_bleu1(["green", "tea"], ["tea"]) == pytest.approx(math.exp(-1))
    assert compute_bleu1(["tea"], []) == 0.0


def test_rouge_l_by_hand() -> None:
    # the longest common subsequence of "b c d" and "b d c d" is b, c, d
    assert compute_rouge_l(["b", "c", "d"], ["b", "d", "c", "d"]) == pytest.approx(6 / 7)
    assert compute_rouge_l(["a", "b"], ["b", "a"]) == 0.5
    assert compute_rouge_l(["a"], ["b"]) == 0.0


def test_rouge_2_by_hand() -> None:
    # pairs: ab bc cd, and ab bx xc cd; two of them shared
    assert compute_rouge_2(list("abcd"), list("abxcd")) == pytest.approx(2 * 2 / (3 + 4))
    assert compute_rouge_2(list("ab"), list("ba")) == 0.0
    assert compute_rouge_2(["a"], ["a"]) == 0.0  # one word is no pair


def test_meteor_by_hand() -> None:
    # all three words in one run: precision and recall are 1, the penalty is 0.5 (1/3)^3
    assert compute_meteor(list("abc"), list("abc")) == pytest.approx(1 - 0.5 / 27)
    # a and c of "a x c": P 2/3, R 2/4, mean (10/3) / (1/2 + 6); two runs of two words: half of it
    mean = 10 * (2 / 3) * (2 / 4) / (2 / 4 + 9 * 2 / 3)
    assert compute_meteor(list("abcd"), list("axc")) == pytest.approx(mean * 0.5)
    # the second "a" goes on with the run: b a, not the first "a"
    assert compute_meteor(list("aba"), list("ba")) == pytest.approx(
        10 * (2 / 3) / (2 / 3 + 9) * (1 - 0.5 / 8)
    )
    assert compute_meteor(["a"], ["b"]) == compute_meteor([], []) == 0.0


def test_likeness_by_sentences_is_the_cosine_of_their_vectors() -> None:
    embedder = TableEmbedder(table={"boat": (1, 0), "ship": (0.6, 0.8), "cake": (0, 1)})
    assert compute_similarity("a boat", "a ship", embedder) == pytest.approx(0.6)
    assert compute_similarity("a boat", "a cake", embedder) == 0.0
    # read in parts of two words: boat and cake, the mean of which lies between them
    short = TableEmbedder(table=embedder.table, max_tokens=2)
    assert compute_similarity("a boat", "boat boat cake cake", short) == pytest.approx(0.7071)


def test_several_expected_things_count_each_by_itself() -> None:
    # "pottery" is said; of "camping" nothing is; and each part is looked for in all parts
    assert score_answer("pottery, camping", "swimming, pottery", category=1)["f1"] == 0.5
    assert score_answer("pottery, camping", "pottery", category=4)["f1"] == pytest.approx(
        2 / 3, abs=1e-4
    )


def test_of_alternatives_the_first_is_expected() -> None:
    assert score_answer("likely no; since she moved", "Likely no", category=3)["f1"] == 1.0


def test_a_refusal_is_told_by_the_engine_or_by_its_words() -> None:
    assert score_refusal("Pottery.", abstained=False) == {"refusal": 0.0}
    assert score_refusal("Pottery.", abstained=True) == {"refusal": 1.0}
    quoted = "Ana: I don't know."
    assert score_refusal(quoted, abstained=False, quoted=True) == {"refusal": 0.0}
    said = ("I found nothing about that.", "Not mentioned in the conversation", "", "没有找到")
    assert all(is_refusal(text) for text in said)
    assert not is_refusal("She went there in May.")


@given(st.text(max_size=60), st.text(max_size=60))
def test_every_score_lies_between_nothing_and_all(expected: str, answer: str) -> None:
    for category in (1, 2, 3, 4):
        found = score_answer(expected, answer, category=category).values()
        assert all(0 <= value <= 1 for value in found)


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=8))
def test_the_same_words_score_one(same: list[str]) -> None:
    assert compute_f1(same, same) == compute_bleu1(same, same) == compute_rouge_l(same, same) == 1.0
