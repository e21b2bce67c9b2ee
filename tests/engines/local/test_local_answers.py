"""Summaries and answers: always somebody's words, never more than was recalled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memoryhub.engines.local.answers import decide, extractive
from memoryhub.engines.local.answers.asked import AskedIdentity, find_asked_identity
from memoryhub.engines.local.answers.decide import describe_pieces
from memoryhub.engines.local.answers.evidence import parse_question, rank_sentences
from memoryhub.engines.local.answers.relatives import find_asked_relative
from memoryhub.engines.local.chinese.dates import find_times as find_chinese_times
from memoryhub.engines.local.dates.english import find_times
from memoryhub.engines.local.dates.times import format_span
from memoryhub.engines.types import AnswerSupport, Quote
from tests.engines.local.dialogue import AT, ENGINE


def state(text: str, owner: str = "Lea", days: int = 0, **told: Any) -> Quote:
    """A fact of somebody as answers are made from it, told so many days after the others."""
    return Quote(text, AT + timedelta(days=days), owner=owner, **told)


def make_quote(text: str, speaker: str = "") -> Quote:
    times = find_times(text, AT)
    return Quote(text, AT, times[0] if times else None, speaker)


MOVED = make_quote("Ana moved to Lisbon last week.")
CAT = make_quote("Ana has a cat called Pixel.")
JOB = make_quote("Ana works as a nurse.")


def test_when_is_answered_with_the_date() -> None:
    answer = ENGINE.answer_question("When did Ana move to Lisbon?", [CAT, MOVED, JOB])
    assert answer.text == "the week of 6 May 2024"
    assert (answer.quoted, answer.used) == (True, (1,))
    assert answer.supports == (AnswerSupport(1, (0, 22), (0, len(MOVED.text))),)


def test_other_questions_are_answered_by_quoting() -> None:
    answer = ENGINE.answer_question("How is Ana's cat?", [JOB, CAT])
    assert answer.text == "“Ana has a cat called Pixel.”"
    assert answer.used == (1,)


def test_a_question_in_other_words_finds_its_predicate() -> None:
    answer = ENGINE.answer_question("Where does she live?", [CAT, MOVED, JOB])
    assert answer.used[0] == 1


def test_when_without_any_date_falls_back_to_quoting() -> None:
    assert "Pixel" in ENGINE.answer_question("When did the cat arrive?", [CAT]).text


def test_the_speaker_is_named() -> None:
    assert (
        "“Ben: I sail.”"
        in ENGINE.answer_question("Who sails?", [make_quote("I sail.", "Ben")]).text
    )


@pytest.mark.parametrize("question", ["Where does she live?", "When?", ""])
def test_it_abstains_without_quotes(question: str) -> None:
    answer = ENGINE.answer_question(question, [])
    assert answer.used == ()
    assert answer.text == "I found nothing about that."


def test_it_abstains_in_chinese() -> None:
    assert ENGINE.answer_question("她住在哪里？", []).text == "没有找到相关的记忆。"


def test_every_quote_used_is_in_the_answer() -> None:
    quotes = [MOVED, CAT, JOB]
    answer = ENGINE.answer_question("Tell me about Ana", quotes)
    assert answer.used
    assert all(quotes[i].text in answer.text for i in answer.used)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("yesterday", "14 May 2024"),
        ("last week", "the week of 6 May 2024"),
        ("last month", "April 2024"),
        ("last year", "2023"),
        ("last weekend", "11 May 2024 to 12 May 2024"),
        ("tomorrow at 9:30 am", "16 May 2024, 09:30"),
        ("last summer", "1 June 2023 to 31 August 2023"),
    ],
)
def test_spans_in_words(text: str, words: str) -> None:
    assert format_span(find_times(text, datetime(2024, 5, 15, 14, 30, tzinfo=UTC))[0]) == words


FACTS = [
    "Ana sails on the lake with the sailing club.",
    "Ana bought bread.",
    "The sailing club races on the lake.",
    "Ana sails on the lake with the sailing club!",
    "Ana repaired the club's boat by the lake.",
]


def test_a_summary_takes_the_centre_and_no_repeats() -> None:
    summary = ENGINE.summarise_texts(FACTS, max_sentences=2)
    assert "lake" in summary
    assert "bread" not in summary
    assert summary.count("with the sailing club") == 1


def test_a_summary_keeps_the_words_and_the_order() -> None:
    summary = ENGINE.summarise_texts(FACTS, max_sentences=3)
    chosen = [fact for fact in FACTS if fact in summary]
    assert summary == " ".join(chosen)


def test_a_summary_of_chinese() -> None:
    lines = ["小王住在上海。", "小王在上海工作。", "今天下雨。"]
    assert ENGINE.summarise_texts(lines, max_sentences=1) in lines


@pytest.mark.parametrize("texts", [[], [""], ["  "]])
def test_a_summary_of_nothing(texts: list[str]) -> None:
    assert ENGINE.summarise_texts(texts) == ""


def test_a_summary_of_one() -> None:
    assert ENGINE.summarise_texts(["Ana sails."]) == "Ana sails."


def make_chinese_quote(text: str, said_at: datetime = AT) -> Quote:
    times = find_chinese_times(text, said_at)
    return Quote(text, said_at, times[0] if times else None)


HOME = make_chinese_quote("何苗上周六搬到厦门了。")
TEA = make_chinese_quote("何苗喜欢喝普洱茶。")
CHEF = make_chinese_quote("何苗现在是厨师。")


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("何苗住在哪里？", 1),
        ("何苗做什么工作？", 2),
        ("何苗喜欢喝什么？", 0),
    ],
)
def test_chinese_questions_find_their_quote(question: str, best: int) -> None:
    quotes = [TEA, HOME, CHEF]
    answer = ENGINE.answer_question(question, quotes)
    assert answer.used == (best,)
    assert answer.text == f"“{quotes[best].text}”"


@pytest.mark.parametrize("question", ["何苗什么时候搬到厦门的？", "何苗是哪一天搬家的？"])
def test_when_in_chinese_is_answered_with_the_date(question: str) -> None:
    answer = ENGINE.answer_question(question, [TEA, HOME, CHEF])
    assert (answer.text, answer.used) == ("2024年5月11日", (1,))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("上个月", "2024年4月"),
        ("去年", "2023年"),
        ("上周", "2024年5月6日至2024年5月12日"),
        ("昨天", "2024年5月14日"),
    ],
)
def test_spans_in_chinese_words(text: str, words: str) -> None:
    assert format_span(find_chinese_times(text, AT)[0], "zh") == words


def test_an_english_question_about_a_chinese_memory() -> None:
    answer = ENGINE.answer_question("Where does she live?", [TEA, HOME])
    assert answer.used[0] == 1


def make_turn_quote(text: str, speaker: str = "Ana", bearing: float = 1.0) -> Quote:
    return Quote(text, AT, speaker=speaker, relevance=bearing)


@pytest.mark.parametrize(
    ("question", "text", "phrase"),
    [
        ("Where did Ana hide the key?", "I hid the key under the red flowerpot.", "red flowerpot"),
        ("Which book did Ana read?", 'I just read a book called "Night Harbour".', "Night Harbour"),
        ("What instrument does Ana play?", "I play the old cello in an orchestra.", "old cello"),
        ("How many rabbits does Ana keep?", "At home I keep three rabbits.", "three"),
        ("How long has Ana been sailing?", "I have been sailing for ten years.", "for ten years"),
        ("Who did Ana visit?", "I visited my grandmother on Sunday.", "grandmother"),
        (
            "Why did Ana leave early?",
            "I left early because the roof was leaking.",
            "the roof was leaking",
        ),
    ],
)
def test_a_phrase_is_given_where_one_is_asked_for(question: str, text: str, phrase: str) -> None:
    answer = ENGINE.answer_question(question, [make_turn_quote(text)])
    assert answer.text == phrase
    (support,) = answer.supports
    assert support.span is not None
    assert text[slice(*support.span)] == phrase


def test_several_are_listed_each_with_its_source() -> None:
    quotes = [
        make_turn_quote("I play the cello in an orchestra."),
        make_turn_quote("I also play the clarinet at home."),
    ]
    answer = ENGINE.answer_question("What instruments does Ana play?", quotes)
    assert set(answer.used) == {0, 1}
    said = [answer.text[slice(*support.part)] for support in answer.supports]
    assert sorted(said) == ["cello", "clarinet"]


def test_a_number_of_something_else_is_no_count() -> None:
    sheds = make_turn_quote("I keep rabbits in two sheds by the road.")
    answer = ENGINE.answer_question("How many rabbits does Ana keep?", [sheds])
    assert answer.text == f"“{sheds.text}”"


@pytest.mark.parametrize(
    ("text", "sure"),
    [
        ("I keep bees in Ghent.", True),
        ("I don't keep bees in Ghent.", False),
        ("I might keep bees in Ghent.", False),
        ("I keep bees.", False),
    ],
)
def test_yes_is_said_only_of_what_was_said_in_full(text: str, sure: bool) -> None:
    answer = ENGINE.answer_question("Does Ana keep bees in Ghent?", [make_turn_quote(text)])
    assert answer.text.startswith("Yes:") == sure
    assert text in answer.text


def test_what_another_person_did_is_no_answer() -> None:
    quotes = [
        make_turn_quote("I adopted a puppy from the shelter.", "Ben", 3.0),
        make_turn_quote("I like tea.", "Ana", 0),
    ]
    assert ENGINE.answer_question("What did Ana adopt from the shelter?", quotes).abstained
    assert ENGINE.answer_question("What did Ben adopt from the shelter?", quotes).used == (0,)


def test_what_is_known_of_both_is_answered() -> None:
    quotes = [
        make_turn_quote("I adopted a puppy too.", "Ben", 1.2),
        make_turn_quote("I adopted a puppy.", "Ana", 1.0),
    ]
    assert ENGINE.answer_question("What did Ana adopt?", quotes).used == (1,)


def test_the_question_itself_is_no_answer() -> None:
    quotes = [
        make_turn_quote("Where do I live?"),
        make_turn_quote("I live in Porto near the river."),
    ]
    assert ENGINE.answer_question("Where does Ana live?", quotes).used == (1,)


def test_what_follows_a_question_is_read_as_its_answer() -> None:
    note = Quote("Ben: What is your cat called?\nAna: She is Pixel.", AT)
    answer = ENGINE.answer_question("How is Ana's cat called?", [note])
    assert answer.text == "“She is Pixel.”"


def test_when_it_was_said_is_no_date_of_it_unless_it_says_most_of_what_is_asked() -> None:
    sold = make_turn_quote("I sold the boat.")
    assert (
        ENGINE.answer_question("When did Ana sell the boat?", [sold]).text == "said on 15 May 2024"
    )
    assert (
        "15 May" not in ENGINE.answer_question("When did Ana paint the boat in Oslo?", [sold]).text
    )


@pytest.mark.parametrize("text", ["", "?!", "\n\n", "x" * 50_000, "Ana: " * 5_000, "[[[((("])
@pytest.mark.parametrize("question", ["Where?", "何时？", "What " * 20_000, '"“', "How many?"])
def test_odd_texts_do_no_harm(question: str, text: str) -> None:
    assert ENGINE.answer_question(question, [Quote(text, None), make_turn_quote(text)]).text


def make_owned_quote(owner: str, text: str, bearing: float) -> Quote:
    return Quote(text, AT, owner=owner, predicate="lives_in", relevance=bearing)


@pytest.mark.parametrize("question", ["Where do I live?", "Where does Ana live?"])
def test_what_holds_of_another_is_no_answer_though_it_bears_more(question: str) -> None:
    rita = make_owned_quote("Rita", "Rita lives in Braga.", 9.7)
    own = make_owned_quote("Ana", "Ana moved to Madrid last Saturday.", 7.7)
    made = ENGINE.answer_question(question, [rita, own], subject="Ana")
    assert "Madrid" in made.text
    assert made.used == (1,)
    assert ENGINE.answer_question(question, [rita], subject="Ana").used == ()


def test_what_a_fact_states_goes_before_what_was_said_of_it_or_of_others() -> None:
    said = make_turn_quote("My sister Rita cooked it. She lives in Braga.")
    own = make_owned_quote("Ana", "Ana moved to Madrid last Saturday.", 7.7)
    made = ENGINE.answer_question("Where do I live?", [said, own], subject="Ana")
    assert (made.text, made.used) == ("Madrid", (1,))


def test_what_one_asks_of_one_s_own_people_is_about_them() -> None:
    rita = make_owned_quote("Rita", "My sister Rita lives in Braga.", 9.7)
    own = make_owned_quote("Ana", "Ana moved to Madrid last Saturday.", 7.7)
    assert (
        "Braga"
        in ENGINE.answer_question("Where does my sister live?", [rita, own], subject="Ana").text
    )


def make_fact_quote(predicate: str, value: str, text: str, owner: str = "Ana") -> Quote:
    return Quote(text, AT, owner=owner, predicate=predicate, object=value, relevance=8.0)


AGE = make_fact_quote("age", "35", "Ana turned thirty-five on Saturday.")
GLAZE = make_fact_quote("favourite_glaze", "celadon", "Ana's favourite glaze is celadon now.")
OFFER = Quote("An art school in Madrid offered Ana a job.", AT, owner="Ana", relevance=9.0)
WORK = make_fact_quote("works_as", "teacher", "Ana teaches ceramics at Escuela Las Moreras.")
NURSE = make_fact_quote("works_as", "nurse", "Rita is a nurse.", "Rita")


@pytest.mark.parametrize("whose", ["my", "Ana's"])
def test_one_who_asks_of_what_is_theirs_is_answered_as_if_named(whose: str) -> None:
    def asked(question: str, *quotes: Quote) -> str:
        return str(ENGINE.answer_question(question.format(whose), quotes, subject="Ana").text)

    assert asked("What is {} favourite glaze?", AGE, GLAZE) == "celadon"
    assert asked("What is {} job?", OFFER, NURSE, WORK) == f"“{WORK.text}”"
    assert asked("What is {} profession now?", NURSE, WORK) == f"“{WORK.text}”"


def test_a_fact_whose_value_is_not_in_its_words_is_quoted_and_not_taken_apart() -> None:
    made = ENGINE.answer_question("How old am I?", [AGE], subject="Ana")
    assert (made.text, made.used) == (f"“{AGE.text}”", (0,))


def test_a_value_points_at_its_own_words() -> None:
    made = ENGINE.answer_question("What is my favourite glaze?", [AGE, GLAZE], subject="Ana")
    (support,) = made.supports
    assert support.span is not None
    assert GLAZE.text[slice(*support.span)] == made.text == "celadon"


@pytest.mark.parametrize("question", ["What is my name?", "When?", "How many?"])
def test_a_question_that_says_nothing_to_look_for_finds_nothing(question: str) -> None:
    boy = make_turn_quote("A boy called Nico asked me about it.")
    assert ENGINE.answer_question(question, [boy], subject="Ana").used == ()


@pytest.mark.parametrize(
    ("text", "number"),
    [("I planted thirty-five trees.", "thirty-five"), ("I planted sixteen trees.", "sixteen")],
)
def test_a_number_in_words_is_given_whole(text: str, number: str) -> None:
    assert (
        ENGINE.answer_question("How many trees did Ana plant?", [make_turn_quote(text)]).text
        == number
    )


PEOPLE = [
    Quote("Ana and others found a dog pool.", AT, owner="Ana"),
    Quote("Edda is a nurse.", AT, owner="Edda"),
    Quote("Edda is Ana's sister.", AT, owner="Edda"),
    Quote("Wuff is Ana's dog, a brown rescue.", AT, owner="Wuff"),
    Quote("Tarek is Ben's brother.", AT, owner="Tarek"),
    Quote("Ana's landlord is called Osric.", AT, owner="Ana's landlord"),
    Quote("Vera is Ana's boss.", AT, owner="Vera", until=AT),
    Quote("Noor is Ana's boss.", AT, owner="Noor"),
    Quote("Ana's midwife is Berit now.", AT, owner="Ana's midwife"),
    Quote("苗苗是何苗的同学。", AT, owner="苗苗"),
]


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("who is Edda?", "“Edda is Ana's sister.”"),
        ("whats my sister called", "Edda"),
        ("what's my dgo's name", "Wuff"),
        ("who is my boss", "Noor"),
        ("whos anas boss", "Noor"),
        ("name of my landlord?", "Osric"),
        ("who's my midwife now", "Berit"),
        ("苗苗是谁？", "“苗苗是何苗的同学。”"),
    ],
)
def test_who_somebody_is_and_what_they_are_called(question: str, told: str) -> None:
    answer = ENGINE.answer_question(question, PEOPLE, subject="Ana")
    assert answer.text == told
    (support,) = answer.supports
    quote = PEOPLE[support.quote].text
    start, end = support.span or (0, len(quote))
    assert quote[start:end] == told.strip("“”")


def test_anothers_brother_is_not_ones_own() -> None:
    assert ENGINE.answer_question("who is my brother", PEOPLE, subject="Ana").text != "Tarek"


SAID = [
    Quote("Our boy would be called Emil, my wife would hate it.", AT, speaker="Ana", relevance=1.0),
    Quote("My two kids are grown. Bingo on Fridays.", AT, speaker="Ana", relevance=0.9),
    Quote("Petra, that is my aunt Rosa's neighbour, has a husband.", AT, speaker="Ana"),
]


@pytest.mark.parametrize(
    "question",
    [
        "what are my kids called",
        "what's Petra's sister called",
        "which football club do I support",
    ],
)
def test_what_is_told_nowhere_is_not_known(question: str) -> None:
    assert ENGINE.answer_question(question, SAID, subject="Ana").abstained


SISTER = make_owned_quote("Rita", "Ana's sister Rita lives in Braga.", 5.0)
OWN_MOVE = make_owned_quote("Ana", "Ana moved to Madrid last Saturday.", 9.0)


def test_of_a_relative_the_asker_s_own_move_says_nothing() -> None:
    made = ENGINE.answer_question("where does my sister live", [OWN_MOVE, SISTER], subject="Ana")
    assert ("Braga" in made.text, "Madrid" in made.text) == (True, False)
    assert ENGINE.answer_question("where does my sister live", [OWN_MOVE], subject="Ana").used == ()


def test_so_it_is_in_chinese() -> None:
    moved = make_owned_quote("小安", "小安上周六搬到了苏州。", 9.0)
    sister = make_owned_quote("小安的妹妹", "小安的妹妹住在南京。", 5.0)
    made = ENGINE.answer_question("我妹妹住哪里", [moved, sister], subject="小安")
    assert ("南京" in made.text, "苏州" in made.text) == (True, False)
    assert ENGINE.answer_question("我妹妹住哪里", [moved], subject="小安").used == ()


@pytest.mark.parametrize(
    ("question", "told", "text", "spoken"),
    [
        ("where does her sister live", "Ana's sister is called Rita.", "Rita is in Braga.", True),
        ("where does her sister live", "", "Ana moved to Madrid.", False),
        ("what does my dog eat", "Rex is my dog.", "Rex only eats rice.", True),
        ("what does my mum do", "", "My mother is a vet.", True),
        ("how is my brother", "", "He is off to Kent.", True),
        ("我妈在哪", "", "母亲去了杭州。", True),
        ("我妈在哪", "", "我搬到杭州了。", False),
        ("我儿子几岁", "小安的儿子叫豆豆。", "豆豆六岁了。", True),
        ("我有对象吗", "杜鹏是小安的对象。", "杜鹏在烟厂上班。", True),
    ],
)
def test_who_is_asked_about_may_be_told_of_by_another_word(
    question: str, told: str, text: str, spoken: bool
) -> None:
    relative = find_asked_relative(question, [told])
    assert relative is not None
    assert relative.may_be_spoken_of(text) == spoken


@pytest.mark.parametrize(
    "question", ["where do I live", "what is my job", "who lives there", "我住哪里"]
)
def test_nobody_else_is_asked_about(question: str) -> None:
    assert find_asked_relative(question, []) is None


def test_who_may_have_no_child_asks_about_none() -> None:
    assert find_asked_relative("我有孩子吗", ["小安养了条狗。"]) is None


def test_a_daughter_in_law_is_no_wife() -> None:
    relative = find_asked_relative("老伴叫什么名字", [])
    assert relative is not None
    assert relative.is_another("小安的儿媳是法国人，叫Claire。")
    assert not relative.is_another("小安的老伴爱下棋。")


def test_what_is_held_of_others_is_no_answer_about_oneself() -> None:
    iker = make_owned_quote("Iker", "Iker moved to Bilbao for a hospital job.", 5.0)
    own = make_owned_quote("Leire", "Leire rents a room in Getxo.", 4.0)
    for question in ("where do I live", "Where does Leire live?"):
        made = ENGINE.answer_question(question, [iker, own], subject="Leire")
        assert "Bilbao" not in made.text
    assert "Bilbao" in ENGINE.answer_question("Where is Iker?", [iker, own], subject="Leire").text
    shared = make_owned_quote("Nora", "Nora shares a flat with Leire.", 5.0)
    asked = parse_question("Who shares a flat with me?", [iker, shared], "Leire")
    assert [each.quote for each in rank_sentences(asked, [iker, shared])] == [1]


def test_a_job_is_what_one_does_before_it_is_where() -> None:
    quotes = [
        state("Lea works at the LKH.", predicate="works_at", object="the LKH"),
        state("Lea is a nurse at the LKH.", predicate="works_as", object="nurse"),
        Quote("lea: I'm a nurse at the LKH.\nassistant: Noted.", AT),
    ]
    answer = ENGINE.answer_question("what's my job", quotes, subject="Lea")
    assert answer.text == "nurse"


def test_what_a_wife_does_is_her_job() -> None:
    quotes = [
        state("The user's wife is Elena.", "the user"),
        state("Elena is a planner.", "Elena", predicate="works_as", object="planner"),
    ]
    answer = ENGINE.answer_question("what does my wife do", quotes, subject="the user")
    assert answer.text == "planner"


def test_what_one_dislikes_is_told_by_any_word_for_it() -> None:
    quotes = [
        state("Lea can not stand coriander."),
        state("Lea likes tea."),
        state("Lea does not like fish.", until=AT + timedelta(days=1)),
    ]
    quotes.append(state("Rita does not like rice.", "Rita"))
    answer = ENGINE.answer_question("what food do I hate", quotes, subject="Lea")
    assert answer.used == (0,)
    # One thing is asked for by its name, and others are no answer.
    named = ENGINE.answer_question("do I hate mushrooms", quotes, subject="Lea")
    assert 0 not in named.used


def test_who_lives_with_somebody_is_told_with_who_came_and_went_the_latest_first() -> None:
    quotes = [
        state("Lea lives in Graz with their brother Jonas."),
        state("Lea works in Graz with Priya."),
        state("Rita lives with her parents.", "Rita", days=4),
        state("Jonas moved out.", "Jonas", days=2),
        state("Lea's friend Amira moved in.", "Amira", days=3),
    ]
    answer = ENGINE.answer_question("who do I live with", quotes, subject="Lea")
    assert answer.used == (4, 3, 0)


def test_who_was_the_boss_before_is_who_no_longer_is() -> None:
    quotes = [
        state("Tobias is Lea's manager.", "Tobias", days=3),
        state("Priya is Lea's manager.", "Priya", until=AT + timedelta(days=2)),
    ]
    asked = "who was my boss before"
    assert ENGINE.answer_question(asked, quotes, subject="Lea").text == "Priya"
    assert ENGINE.answer_question("who is my boss", quotes[:1], subject="Lea").text == "Tobias"


def test_whether_somebody_is_still_there_is_told_by_what_was_told_last() -> None:
    quotes = [
        state("Lea lives with two cats, Miso and Pixel.", relevance=0.1),
        state("Miso had to be put down last week.", days=60, relevance=1.6),
        state("Lea sold the Polo.", days=90, relevance=0.3),
    ]
    answer = ENGINE.answer_question("do I still have Miso", quotes, subject="Lea")
    assert answer.used[0] == 1


def test_a_cat_that_died_is_not_had() -> None:
    quotes = [
        state("Lea has a cat named Biscuit.", relevance=1.0),
        state("Biscuit had to be put down yesterday.", days=30, relevance=0.5),
    ]
    answer = ENGINE.answer_question("do I have a cat", quotes, subject="Lea")
    assert (answer.text, answer.used) == ("“Biscuit had to be put down yesterday.”", (1,))
    assert ENGINE.answer_question("do I have a cat", quotes[:1], subject="Lea").used == (0,)


def test_who_has_the_flat_to_themself_says_so_in_their_own_words() -> None:
    quotes = [
        state("Lea shares a flat with Declan.", relevance=0.7),
        Quote(
            "Declan moved in with his girlfriend so I've got the flat to myself.",
            AT + timedelta(days=9),
            speaker="Lea",
            relevance=2.4,
        ),
    ]
    answer = ENGINE.answer_question("who do I live with", quotes, subject="Lea")
    assert answer.used == (1, 0)


@pytest.mark.parametrize(
    ("question", "told", "known"),
    [
        ("do i have a cat", "Lea has a parrot called Kiwi.", False),
        ("do i have a parrot?", "Lea has a parrot called Kiwi.", True),
        ("Do I have a dog?", "Lea's corgi is called Biscuit.", True),
        ("我有没有猫？", "Lea养了一只鹦鹉，叫小绿。", False),
        ("我养了猫吗", "Lea的布偶叫团子。", True),
    ],
)
def test_of_an_animal_nobody_has_another_one_is_no_answer(
    question: str, told: str, known: bool
) -> None:
    held = state(told, predicate="has_pet", relevance=2.0)
    answer = ENGINE.answer_question(question, [held], subject="Lea")
    assert bool(answer.used) == known


def make_talk_quote(text: str, at: int = 0) -> Quote:
    """Of somebody's talk with an assistant, as the search ranked it."""
    return Quote(text, AT, speaker="Noor", relevance=1 - at / 10, assisted=True)


@pytest.mark.parametrize(
    ("question", "told", "text"),
    [
        (
            "when is my stress test",
            "I've a cardiologist thing on the 2nd of July, a stress test.",
            "2 July 2024: “I've a cardiologist thing on the 2nd of July, a stress test.”",
        ),
        # What comes round has no date, and of two dates the words tell which is which.
        (
            "which day do i swim",
            "I do winter swimming on Saturday mornings.",
            "“I do winter swimming on Saturday mornings.” (May 2024)",
        ),
        (
            "when do i get the wisdom tooth out",
            "The wisdom tooth comes out on Sept 12 and the going away dinner is on Sept 20.",
            "“The wisdom tooth comes out on Sept 12 and the going away dinner is on Sept 20.” "
            "(May 2024)",
        ),
        (
            "我什么时候做白内障手术",
            "我十二月三号要去市中心医院做白内障手术。",
            "2024年12月3日：“我十二月三号要去市中心医院做白内障手术。”",
        ),
    ],
)
def test_a_date_comes_with_the_words_that_tell_it(question: str, told: str, text: str) -> None:
    quotes = [make_talk_quote(told), make_talk_quote("The bus was late.", 1)]
    assert ENGINE.answer_question(question, quotes, subject="Noor").text == text


def test_a_quotation_says_whom_it_is_about() -> None:
    """A message too long to be quoted as a whole."""
    said = "My sister Ines drives a tram. She has Mondays off."
    around = "Rain again and the bus took its time, so I had the whole paper read twice over. " * 4
    quotes = [make_talk_quote(f"{around}{said} {around}"), make_talk_quote("The bus was late.", 1)]
    answer = ENGINE.answer_question("what does my sister do for a living", quotes, subject="Noor")
    assert answer.text == f"“{said}” (May 2024)"
    (support,) = answer.supports
    assert support.span is not None
    assert quotes[0].text[slice(*support.span)] == said


def test_of_a_sentence_what_is_over_is_left_out() -> None:
    told = replace(
        make_quote("I'm vegetarian, so any flat with a smoker is out.", "Ana"), assisted=True
    )
    quote = replace(told, outdated=((0, 14),))
    asked = parse_question("Is Ana vegetarian?", [quote], "Ana")
    assert [each.text for each in rank_sentences(asked, [told])] == [told.text]
    (left,) = rank_sentences(asked, [quote])
    assert left.text == "any flat with a smoker is out."
    assert quote.text[left.start : left.end] == left.text


def test_who_asks_what_was_so_is_told_the_whole_sentence() -> None:
    quote = replace(make_quote("I'm vegetarian, so no ham.", "Ana"), outdated=((0, 14),))
    asked = parse_question("What did Ana eat before?", [quote], "Ana")
    assert [each.text for each in rank_sentences(asked, [quote])] == [quote.text]


def test_whoever_was_spoken_of_is_no_slip_of_the_hand() -> None:
    told = state("Edie is 7 years old.", "Edie", predicate="age", object="7", assisted=True)
    assert ENGINE.answer_question("how old is edie", [told], subject="Rosa").text == "7"


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Do I keep bees?", "Yes: “Noor keeps bees in Ghent.”"),
        ("Where do I keep my bees?", "“Noor keeps bees in Ghent.” (May 2024)"),
        ("What is my sister called?", "I found nothing about that."),
        ("How many brothers do I have?", "I found nothing about that."),
    ],
)
def test_a_memory_that_stands_alone_answers_what_it_tells(question: str, found: str) -> None:
    told = state("Noor keeps bees in Ghent.", "Noor", relevance=1.5, assisted=True)
    assert ENGINE.answer_question(question, [told], subject="Noor").text == found


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("when is my dad's birthday", "The user's mum's birthday is June 3rd."),
        ("我爸生日是哪天", "用户的妈妈生日是六月三号。"),
    ],
)
def test_mums_birthday_is_not_dads(question: str, text: str) -> None:
    owner = "用户" if "用户" in text else "the user"
    told = state(text, owner, relevance=3.0, assisted=True)
    answer = ENGINE.answer_question(question, [told], subject=owner)
    assert not answer.used


def test_a_note_in_which_the_subject_spoke_under_an_id_is_their_own_words() -> None:
    note = make_quote("u_7: I'm called Noor. I love chess.\nassistant: Nice!")
    note = replace(note, subject_names=("Noor", "u_7"), relevance=1.5, assisted=True)
    (first, *_) = rank_sentences(parse_question("what do I love", [note], "Noor"), [note])
    assert (first.text, first.person) == ("I love chess.", "Noor")
    assert ENGINE.answer_question("what do I love", [note], subject="Noor").text == (
        "“I love chess.” (May 2024)"
    )


def test_a_plan_whose_day_has_come_is_told_beside_what_was_held_before() -> None:
    asks: dict[str, Any] = {"predicate": "lives_in", "relevance": 2.0, "assisted": True}
    home = state("Noor lives in Ghent.", "Noor", object="Ghent", **asks)
    plan = state("Noor is moving to Lille next week.", "Noor", 30, object="Lille", due=True, **asks)
    answer = ENGINE.answer_question("Where do I live?", [home, plan], subject="Noor")
    assert answer.text == (
        "“Noor is moving to Lille next week.” (June 2024) “Noor lives in Ghent.” (May 2024)"
    )
    settled = state("Noor lives in Lille.", "Noor", 60, object="Lille", **asks)
    answer = ENGINE.answer_question("Where do I live?", [settled, plan], subject="Noor")
    assert answer.text == "Lille"


def test_a_job_that_somebody_will_have_is_not_the_one_they_have() -> None:
    told: dict[str, Any] = {"predicate": "works_as", "relevance": 2.0, "assisted": True}
    job = state("Noor is a bus driver.", "Noor", object="bus driver", **told)
    (day,) = find_times("on 4 June 2024", AT)
    coming = state(
        "Noor will be a trainer from 4 June.", "Noor", 5, object="trainer", event=day, **told
    )
    assert answer_noor("What is my job?", [coming, job]) == "bus driver"
    assert answer_noor("What is my job?", [coming]).startswith("“Noor will be a trainer")


def test_that_a_couple_split_is_no_yes_to_whether_they_are_one() -> None:
    split = state("Kay and Noor split.", "Noor", tells_end=True, relevance=3.0, assisted=True)
    split = replace(split, replaced="Kay is Noor's girlfriend.")
    assert not answer_noor("Is Noor dating Kay?", [split]).startswith("Yes")
    assert answer_noor("Did Noor and Kay split?", [split]).startswith("Yes")


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What happened to Tofu?", "Tofu died last night."),
        ("Is Tofu alive?", "Tofu died last night."),
        ("卡罗拉还在吗？", "用户的卡罗拉卖了。"),
    ],
)
def test_what_became_of_something_is_told(question: str, text: str) -> None:
    told = state(text, "Tofu" if text.isascii() else "用户", relevance=0.0, assisted=True)
    other = state("用户养了两只猫。" if not text.isascii() else "Noor has two cats.", "Noor", 1)
    answer = ENGINE.answer_question(
        question, [replace(other, relevance=0.0, assisted=True), told], subject="Noor"
    )
    assert text in answer.text


def test_who_somebody_was_is_told_where_they_are_it_no_more() -> None:
    was = state("Lena is Noor's girlfriend.", "Lena", until=AT, relevance=1.0, assisted=True)
    answer = ENGINE.answer_question("Who is Lena?", [was], subject="Noor")
    assert answer.text == "Used to be: “Lena is Noor's girlfriend.”"
    now = state("Lena is Noor's boss.", "Lena", 1, relevance=1.0, assisted=True)
    answer = ENGINE.answer_question("Who is Lena?", [was, now], subject="Noor")
    assert answer.text == "“Lena is Noor's boss.”"


def test_what_was_before_is_what_something_took_the_place_of() -> None:
    old = "陈静在北京协和医院当护士。"
    was = state(old, "陈静", until=AT, relevance=1.0, assisted=True)
    now = state(
        "陈静现在在朝阳医院当护士长。", "陈静", 9, predicate="works_at", replaced=old,
        relevance=3.4, assisted=True,
    )  # fmt: skip
    answer = ENGINE.answer_question("我以前在哪儿工作？", [now, was], subject="陈静")
    assert answer.text == f"“{old}”"


@pytest.mark.parametrize("question", ["我喜欢什么？", "我的爱好是什么？"])
def test_hobbies_are_what_somebody_likes(question: str) -> None:
    told = state("小李喜欢打篮球和玩游戏。", "小李", relevance=0.6, assisted=True)
    assert told.text in ENGINE.answer_question(question, [told], subject="小李").text


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is my husband allergic to?", "I'm allergic to shellfish and penicillin."),
        ("what does declan do for work", "Kim works as a nurse."),
    ],
)
def test_what_is_told_of_somebody_else_is_no_answer(question: str, text: str) -> None:
    said = replace(make_quote(text, "" if "Kim" in text else "Noor"), relevance=2.0, assisted=True)
    kim = state("Kim lives in Oslo.", "Kim", relevance=0.0, assisted=True)
    brother = state("Declan lives in Cork.", "Declan", relevance=0.0, assisted=True)
    told = replace(said, owner="Kim") if "Kim" in text else said
    answer = ENGINE.answer_question(question, [told, kim, brother], subject="Noor")
    assert text not in answer.text


def test_whether_something_is_still_so_is_told_by_its_end() -> None:
    did = state("Noor works at a bike shop.", "Noor", relevance=2.0, assisted=True)
    quit_ = state("Noor quit the bike shop today.", "Noor", 9, relevance=1.0, assisted=True)
    answer = ENGINE.answer_question(
        "do i still work at the bike shop", [did, quit_], subject="Noor"
    )
    assert "quit the bike shop" in answer.text
    assert "works at" not in answer.text


def test_why_is_told_by_the_message() -> None:
    said = "陈姐回老家带孙子去了，现在换了个刘姐。"
    message = replace(make_chinese_quote(said), speaker="Noor", relevance=2.0, assisted=True)
    fact = state("陈姐现在换了个刘姐。", "陈姐", relevance=2.5, assisted=True)
    answer = ENGINE.answer_question("陈姐为什么不干了", [fact, message], subject="Noor")
    assert "带孙子" in answer.text


def test_of_two_dogs_one_is_gone() -> None:
    had = state(
        "Noor has two dogs, Biscuit and Rolo.", "Noor", predicate="has_count_dog", object="two"
    )
    gone = state("Rolo is gone.", "Rolo", 30)
    answer = ENGINE.answer_question("how many dogs do i have", [had, gone], subject="Noor")
    assert "two dogs" in answer.text
    assert "Rolo is gone." in answer.text


def test_the_code_before_is_the_one_that_is_over() -> None:
    old = state("The alarm code is 4471.", "Noor", until=AT, relevance=1.0, assisted=True)
    new = make_quote("They changed the alarm code, it's 9025 now", "Noor")
    new = replace(new, relevance=2.0, assisted=True)
    answer = ENGINE.answer_question("what was the old alarm code", [new, old], subject="Noor")
    assert answer.text == "Used to be: “The alarm code is 4471.” (May 2024)"


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("who's my landlord", "Noor's landlord is Mr. Petrov."),
        ("我现在多重", "Noor的体重82.5公斤。"),
    ],
)
def test_a_quotation_is_not_cut_at_a_title_or_a_number(question: str, told: str) -> None:
    fact = state(told, "Noor", relevance=3.0, assisted=True)
    (piece,) = rank_sentences(parse_question(question, [fact], "Noor"), [fact])
    assert piece.text == told


@pytest.mark.parametrize("said", ["really dont like olives", "I hate olives"])
def test_what_is_not_liked_is_no_yes(said: str) -> None:
    quote = replace(make_quote(said, "Noor"), relevance=3.0, assisted=True)
    answer = ENGINE.answer_question("do i like olives", [quote], subject="Noor")
    assert not answer.text.startswith("Yes")


def test_who_somebody_marries_is_not_who_they_are() -> None:
    assert find_asked_identity("who is Abby marrying") is None
    assert find_asked_identity("我老板是谁") == AskedIdentity(role="老板")


def test_a_user_who_asks_is_i() -> None:
    told = state("用户的产检建档在妇幼。", "用户", relevance=2.0, assisted=True)
    asked = parse_question("我在哪建档", [told], "用户")
    pieces = rank_sentences(asked, [told])
    ((_, mine),) = describe_pieces(asked, [told], pieces)
    named = replace(told, text="我的产检建档在妇幼。")
    ((_, spoken),) = describe_pieces(asked, [named], rank_sentences(asked, [named]))
    assert (mine["near"], mine["read"]) == (spoken["near"], spoken["read"])


def test_of_two_that_may_answer_the_one_of_the_time_asked_for_is_told_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The later where what holds is asked for, and the earlier where what held before is, however
    likely the other one is."""
    told = [
        replace(make_quote("my van is a Caddy with a cage", "Noor"), said_at=AT + timedelta(days=d))
        for d in (0, 90)
    ]
    told[1] = replace(told[1], text="the Caddy is done so I got a Transit")
    quotes = [replace(each, relevance=3.0, assisted=True) for each in told]

    def weigh(asked: Any, quotes: Any, sentences: Any, decider: Any) -> Any:
        chances = [0.9, 0.6]
        return sorted(((chances[s.quote], s) for s in sentences), key=lambda each: -each[0])

    monkeypatch.setattr(extractive, "weigh_sentences", weigh)

    def answer(question: str, *quotes: Quote) -> str:
        return ENGINE.answer_question(question, quotes, subject="Noor").text

    now = answer("whats my van", *quotes)
    assert now.index("Transit") < now.index("cage")
    former = answer("what was my van before", *quotes)
    assert "Transit" not in former or former.index("cage") < former.index("Transit")
    over = replace(quotes[1], until=AT + timedelta(days=100))
    assert "cage" in answer("whats my van", quotes[0], over).split("”")[0]
    plain = replace(quotes[1], text="heated seats in the Transit, bliss")
    former = answer("which van had I at first", plain, quotes[0])
    assert former.index("cage") < former.index("Transit")


def test_what_was_told_later_is_read_beside_what_it_may_take_the_place_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By the best of what was told earlier; what was so before has no successor."""
    told = ("surgery is booked for 9 feb", "23 march now", "the cat is fine")
    quotes = [
        replace(make_quote(text, "Noor"), said_at=AT + timedelta(days=at), assisted=True)
        for at, text in enumerate(told)
    ]
    told_after = decide.tell_as_successor(told[1], told[0])
    scores = {told[0]: 2.0, told[1]: -4.0, told_after: 3.0}

    class Reader:
        def score_texts(self, question: str, texts: Sequence[str]) -> list[float]:
            return [scores.get(text, -6.0) for text in texts]

    monkeypatch.setattr(decide, "get_packaged_reranker", lambda threads: Reader())

    def describe(question: str) -> dict[str, tuple[float, float]]:
        asked = parse_question(question, quotes, "Noor")
        return {
            piece.text: (features["succeeds"], features["succeeded"])
            for piece, features in describe_pieces(asked, quotes, rank_sentences(asked, quotes))
        }

    now = describe("when do i go under the knife")
    assert told_after == "23 march now (earlier: surgery is booked for 9 feb)"
    assert now == {told[0]: (-8.0, 3.0), told[1]: (3.0, -8.0), told[2]: (-6.0, -8.0)}
    assert set(describe("when was my surgery before").values()) == {(-8.0, -8.0)}


def test_who_does_something_is_told_by_who_says_so() -> None:
    """Though "I keep bees" names nobody, so that what reads it is not sure."""
    said = replace(make_quote("I keep bees in Ghent.", "Noor"), relevance=3.0, assisted=True)
    assert "bees" in ENGINE.answer_question("Who keeps bees?", [said], subject="Noor").text
    nobody = ENGINE.answer_question("Who keeps goats?", [said], subject="Noor")
    assert nobody.used == ()


def test_a_plan_does_not_say_when_it_was_done() -> None:
    plan = state(
        "Noor's driving test is on the 20th of June.",
        "Noor",
        predicate="scheduled_driving_test",
        relevance=2.0,
        assisted=True,
    )
    passed = state("Noor passed on the 9th of July.", "Noor", 60, relevance=1.0, assisted=True)
    planned = answer_noor("when is my driving test", [plan])
    assert planned == "20 June 2024"
    done = answer_noor("when did I pass my driving test", [plan, passed])
    assert "“" in done  # the words tell which it is


def answer_noor(question: str, quotes: Sequence[Quote]) -> str:
    return ENGINE.answer_question(question, quotes, subject="Noor").text
