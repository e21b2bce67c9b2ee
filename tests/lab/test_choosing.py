from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memoryhub.dialogues.formats import Conversation
from memoryhub.lab.datasets.sample import sample_questions
from memoryhub.lab.datasets.types import DatasetQuestion, Dialogue


def make_dialogue(name: str, *categories: int) -> Dialogue:
    questions = [
        DatasetQuestion(f"{name} {at}?", category) for at, category in enumerate(categories)
    ]
    return Dialogue(Conversation(name, name, []), questions)


TWO = [make_dialogue("a", 1, 1, 1, 4, 4, 4), make_dialogue("b", 1, 2, 4, 4)]


def test_categories_and_dialogues_take_turns() -> None:
    asked = sample_questions(TWO, 5)
    by_name = {d.name: d.questions for d in TWO}
    categories = [by_name[name][at].category for name, at in asked]
    assert sorted(categories) == [1, 1, 2, 4, 4]
    assert sorted(name for name, _ in asked).count("b") >= 2


def test_the_same_seed_asks_the_same_and_another_one_others() -> None:
    many = [make_dialogue("a", *[4] * 50)]
    assert sample_questions(many, 5, seed=1) == sample_questions(many, 5, seed=1)
    assert sample_questions(many, 5, seed=1) != sample_questions(many, 5, seed=2)


def test_only_the_categories_that_are_wanted() -> None:
    assert sample_questions(TWO, None, categories=[2]) == [("b", 1)]
    assert sample_questions(TWO, None, categories=[9]) == []


@given(st.integers(1, 12), st.integers(0, 5))
def test_more_questions_are_the_same_ones_and_others(most: int, seed: int) -> None:
    fewer, more = sample_questions(TWO, most, seed=seed), sample_questions(TWO, most + 1, seed=seed)
    assert set(fewer) <= set(more)
    assert len(fewer) == min(most, 10)
    assert fewer == sorted(fewer)
