"""Statements told about the subject, and texts that are made: how they are known and put."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memoryhub.engines.local.attribution.made_texts import find_made_spans
from memoryhub.engines.local.attribution.told import restate_text
from memoryhub.engines.types import Exchange, SourceSpan, Utterance
from memoryhub.subject_names import reads_like_name, replace_names

AT = datetime(2026, 5, 4, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ("User prefers tea over coffee", "I prefer tea over coffee"),
        ("The user's dog is named Rex.", "my dog is named Rex."),
        ("User's learning Portuguese", "I'm learning Portuguese"),
        ("User doesn't eat pork", "I do not eat pork"),
        ("User and his wife live in Bonn", "I and my wife live in Bonn"),
        ("Likes jazz and hates loud places", "I like jazz and hate loud places"),
        ("Lives in Rome with her dog", "I live in Rome with my dog"),
        ("Works with Nadia and her team", "I work with Nadia and her team"),
        ("Please remember that I am vegan", "I am vegan"),
        ("u-17 likes aisle seats", "I like aisle seats"),
        ("用户喜欢喝茶，不喜欢咖啡。", "我喜欢喝茶，不喜欢咖啡。"),
        ("- Is vegan\n- Has two cats", "- I am vegan\n- I have two cats"),
        ("Married to Tomas, based in Oslo", "I'm married to Tomas, based in Oslo"),
        ("Born in 1990 in Bonn.", "I was born in 1990 in Bonn."),
        ("Mother of three", "I'm a mother of three"),
        ("Vegetarian since May", "I'm vegetarian since May"),
        ("Does not eat pork", "I do not eat pork"),
        ("Banks with Contoso", "I bank with Contoso"),
        ("Usually wakes at five", "I usually wake at five"),
        ("Role: nurse\nFavourite colour: teal", "my role is nurse\nmy favourite colour is teal"),
    ],
)
def test_what_is_told_is_put_into_the_first_person(sent: str, read: str) -> None:
    assert restate_text(sent, ["u-17"]).text == read


@pytest.mark.parametrize(
    "text",
    [
        "Works fine now, thanks!",
        "The user clicks the button and I see an error.",
        "User stories are due on Friday.",
        "Studies show that tea is good.",
        "Remember the time we went to Oslo?",
        "I remember that he left.",
        "Do you know what the user wants?",
        "用户体验很重要。",
        "Does not run on Windows.",
        "Owner of the house is Bea",
        "Reports are due on Monday.",
        "Banks closed early.",
        "Title: The Hobbit",
        "Role: nurse, night shift",
    ],
)
def test_what_is_not_told_stays_as_it_is(text: str) -> None:
    assert restate_text(text).text == text


def test_places_lead_back_to_what_was_sent() -> None:
    sent = "Please remember that the user has two cats. User likes jazz and hates noise."
    made = restate_text(sent)
    assert made.text == "I have two cats. I like jazz and hate noise."
    start = made.text.index("hate noise")
    span = made.find_sent_span(SourceSpan("t", start, start + len("hate noise")))
    assert sent[span.start : span.end] == "hates noise"
    whole = made.find_sent_span(SourceSpan("t", 0, len("I have two cats")))
    assert sent[whole.start : whole.end] == "the user has two cats"


def make_exchange(*turns: tuple[str, str]) -> Exchange:
    return Exchange(
        [Utterance(f"t{at}", role, role, text, AT) for at, (role, text) in enumerate(turns)]  # type: ignore[arg-type]  # a role
    )


@pytest.mark.parametrize(
    ("asked", "made"),
    [
        ("Tell me about yourself", "I speak twelve languages."),
        ("Tell me your story", "I was trained last year."),
        ("I live in Leeds and I wrote home today.", "I can help with that."),
        ("Check my calendar: I have a dentist on Friday", "I will."),
    ],
)
def test_what_is_said_is_not_made(asked: str, made: str) -> None:
    spans = find_made_spans(make_exchange(("user", asked), ("assistant", made)))
    assert "t1" not in spans


PLAY = "Let's role play. You are a waiter."
COOK = "Act as a cook. I weigh 80 kg."


def test_a_part_that_somebody_plays_says_nothing_of_them() -> None:
    lines = [
        ("user", f"I live in Oslo. {PLAY}"),
        ("assistant", "Good evening!"),
        ("user", "I own this island."),
        ("user", "Stop the role play. I like tea."),
    ]
    spans = find_made_spans(make_exchange(*lines))
    assert spans["t0"] == [(len("I live in Oslo."), len(lines[0][1]))]
    assert spans["t2"] == [(0, len(lines[2][1]))]
    assert spans["t3"] == [(0, len("Stop the role play."))]
    alone = find_made_spans(make_exchange(("user", COOK), ("user", "I am allergic to nuts.")))
    assert alone == {"t0": [(0, len("Act as a cook."))]}


@pytest.mark.parametrize(
    ("asked", "nobody_says"),
    [
        ("写一首关于雨的诗", "写一首关于雨的诗"),
        ("请用第一人称写个小故事。我住在苏州。", "请用第一人称写个小故事。"),
        ("我写诗。翻译是我的工作。", ""),
    ],
)
def test_a_text_asked_for_in_chinese_is_not_what_somebody_does(
    asked: str, nobody_says: str
) -> None:
    spans = find_made_spans(make_exchange(("user", asked))).get("t0", [])
    assert "".join(asked[start:end] for start, end in spans) == nobody_says


@pytest.mark.parametrize(
    ("subject", "name"),
    [
        ("ana", True),
        ("Ana Ferreira", True),
        ("O'Neill", True),
        ("小李", True),
        ("46c8c0c1-1f2e-4b0a-9c55-0e2b1d7a9f01", False),
        ("user_42", False),
        ("a@b.c", False),
        ("auth0|abc", False),
        ("cusNffrFeUfNvHib", False),
        ("user", False),
    ],
)
def test_an_id_is_told_from_a_name(subject: str, name: bool) -> None:
    assert reads_like_name(subject) is name


def test_names_are_replaced_as_words() -> None:
    old = {"the user", "用户", "u-1"}
    assert replace_names("The user's cat", old, "Priya") == "Priya's cat"
    assert replace_names("The users like u-1 and u-12", old, "Priya") == (
        "The users like Priya and u-12"
    )
    assert replace_names("Priya lives here", {"Priya"}, "the user") == "The user lives here"
    assert replace_names("Walker has a cat that walker fed", {"walker"}, "Tess") == (
        "Tess has a cat that Tess fed"
    )
