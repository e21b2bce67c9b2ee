"""The table of predicates: what names them, which are single-valued, what asks for them."""

from __future__ import annotations

import pytest

from memoryhub.engines.local.claims.predicates import (
    find_question_predicates,
    get_search_words,
    is_single_valued,
)
from tests.engines.local.dialogue import read_facts, read_only_fact


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("I live in Lisbon.", "lives_in"),
        ("I moved to Lisbon last week.", "lives_in"),
        ("I relocated to Oslo.", "lives_in"),
        ("I'm based in Oslo.", "lives_in"),
        ("We settled in Ghent.", "lives_in"),
        ("I work as a nurse.", "works_as"),
        ("I'm a teacher.", "works_as"),
        ("I became a firefighter.", "works_as"),
        ("I started as a nurse in 2019.", "works_as"),
        ("I got a job as a translator.", "works_as"),
        ("My job is a welder.", "works_as"),
        ("I lost my job.", "works_as"),
        ("I work at Siemens.", "works_at"),
        ("I work for a bank.", "works_at"),
        ("I got a job at Siemens.", "works_at"),
        ("I got married last June.", "marital_status"),
        ("I'm single again.", "marital_status"),
        ("I'm divorced.", "marital_status"),
        ("I'm 34 years old.", "age"),
        ("I turned 34 yesterday.", "age"),
        ("My favourite colour is green.", "favourite_colour"),
        ("My favorite color is green.", "favourite_colour"),
        ("My favorite food is ramen.", "favourite_food"),
        ("I have three kids.", "has_count_kid"),
        ("I have two children.", "has_count_kid"),
        ("I own two cats.", "has_count_cat"),
        ("My interview is on Tuesday.", "scheduled_interview"),
        ("My flight has been moved to Friday.", "scheduled_flight"),
        ("The dentist appointment is on 3 June.", "scheduled_dentist_appointment"),
    ],
)
def test_key(text: str, key: str) -> None:
    found = read_only_fact(text)
    assert (found.predicate_key, found.cardinality) == (key, "single")


@pytest.mark.parametrize(
    "text",
    [
        "I moved to a vegan diet.",
        "I work on a novel.",
        "I have a cat.",
        "I have two ideas about the garden.",
        "My new job is far from the station.",
        "I live in fear of spiders.",
        "I'm a fan of cricket.",
        "I started at dawn with the tractor.",
    ],
)
def test_everything_else_is_multi(text: str) -> None:
    for found in read_facts(text):
        assert (found.predicate_key, found.cardinality) == ("", "multi")


@pytest.mark.parametrize(
    ("key", "single"),
    [
        ("lives_in", True),
        ("age", True),
        ("favourite_film", True),
        ("has_count_dog", True),
        ("scheduled_exam", True),
        ("likes", False),
        ("", False),
    ],
)
def test_is_single(key: str, single: bool) -> None:
    assert is_single_valued(key) is single


@pytest.mark.parametrize(
    ("question", "keys"),
    [
        ("Where does she live?", ("lives_in",)),
        ("Which city does Ana live in now?", ("lives_in",)),
        ("What is Ana's job?", ("works_as", "works_at")),
        ("What does Ana do for a living?", ("works_as", "works_at")),
        ("Where does Ben work?", ("works_at",)),
        ("What did I do before?", ("works_as", "works_at")),
        ("what did she do for work before that", ("works_as", "works_at")),
        ("What did I do yesterday?", ()),
        ("Is Ana married?", ("marital_status",)),
        ("How old is Ben?", ("age",)),
        ("How many cats does Ana have?", ("has_count_cat",)),
        ("How many children does Ana have?", ("has_count_kid",)),
        ("What's her favorite color?", ("favourite_colour",)),
        ("When is my interview?", ("scheduled_interview",)),
        ("When is the dentist appointment?", ("scheduled_dentist_appointment",)),
        ("What is her address?", ("address",)),
        ("她住在哪里？", ("lives_in",)),
        ("他现在做什么工作？", ("works_as",)),
        ("她的地址是什么？", ("address",)),
        ("她最喜欢什么颜色？", ("favourite_colour",)),
        ("What did Ana bake?", ()),
        ("", ()),
    ],
)
def test_question_predicates(question: str, keys: tuple[str, ...]) -> None:
    assert find_question_predicates(question) == keys


def test_words_to_search_with() -> None:
    assert {"live", "home", "city"} <= set(get_search_words("lives_in").split())
    assert "colour" in get_search_words("favourite_colour").split()
    assert "interview" in get_search_words("scheduled_interview").split()
    assert {"住在", "搬到", "城市"} <= set(get_search_words("lives_in").split())
    assert {"最喜欢", "颜色"} <= set(get_search_words("favourite_colour").split())
    assert get_search_words("adopted_from") == "adopted from"
