"""Links and evolution without a model: likeness, shared words, and nothing that decides truth."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memoryhub.engines.local.engine import LocalEngine
from memoryhub.engines.local.notes.link import MAX_LINKS, extract_terms, score_closeness
from memoryhub.engines.types import Neighbourhood, NoteState, Passage

AT = datetime(2026, 5, 12, 9, tzinfo=UTC)
engine = LocalEngine()


def make_view(handle: str, content: str, *keywords: str, tags: tuple[str, ...] = ()) -> NoteState:
    return NoteState(handle, content, keywords, tags, "", AT)


def make_neighbourhood(note: NoteState, *known: tuple[NoteState, float]) -> Neighbourhood:
    return Neighbourhood(note, [n for n, _ in known], [s for _, s in known])


RACE = make_view("n1", "Nora: I ran the Ghent marathon on Sunday.", "ghent marathon", "marathon")
PLAN = make_view("m1", "Nora: I signed up for a marathon in spring.", "marathon", "spring")
BEES = make_view("m2", "Nora: The bees are quiet in winter.", "bees", "winter")


@pytest.mark.parametrize(
    ("similar", "shared", "close"),
    [
        (0.65, 0, 0.65),
        (0.53, 1, 0.65),
        (0.41, 2, 0.65),
        (0.29, 3, 0.65),
        (0.29, 9, 0.65),
        (0.95, 3, 1),
    ],
)
def test_each_shared_word_makes_up_for_some_likeness(
    similar: float, shared: int, close: float
) -> None:
    assert score_closeness(similar, shared) == close


def test_likeness_alone_links_what_says_much_the_same() -> None:
    found = engine.link_and_evolve(
        [make_neighbourhood(RACE, (BEES, 0.66), (make_view("m3", "Nora: Rain."), 0.64))]
    )
    assert [(link.a, link.b, link.kind) for link in found.links] == [("n1", "m2", "related")]
    assert found.links[0].reason == "They say much the same"


def test_a_shared_word_links_what_is_less_alike_and_is_the_reason() -> None:
    found = engine.link_and_evolve([make_neighbourhood(RACE, (PLAN, 0.55), (BEES, 0.55))])
    assert [(link.b, link.reason) for link in found.links] == [("m1", "Both speak of marathon")]


def test_a_word_of_most_neighbours_tells_none_apart() -> None:
    alike = [(make_view(f"m{n}", "Nora: A marathon.", "marathon"), 0.55) for n in range(4)]
    assert engine.link_and_evolve([make_neighbourhood(RACE, *alike)]).links == ()


@pytest.mark.parametrize(
    ("said", "keywords"),
    [
        ("Nora: Bye! Can't wait to hear about it!", ()),
        ("Nora: Thanks, that is great!", ("great thanks", "thank")),
        ("Norabelle: Ask Nora, I've no idea.", ("i've", "nora")),
    ],
)
def test_courtesies_join_nothing(said: str, keywords: tuple[str, ...]) -> None:
    hello = make_view("m1", said, *keywords)
    here = make_view("n1", said.replace("Nora:", "Ben:"), *keywords)
    assert engine.link_and_evolve([make_neighbourhood(here, (hello, 0.9))]).links == ()


def test_only_the_closest_are_linked() -> None:
    many = [(make_view(f"m{n}", "Nora: So it goes on.", "jog"), 0.66 + n / 100) for n in range(9)]
    found = engine.link_and_evolve([make_neighbourhood(RACE, *many)])
    assert [link.b for link in found.links] == [f"m{n}" for n in range(8, 8 - MAX_LINKS, -1)]


def test_names_inside_sentences_are_words_and_speakers_are_not() -> None:
    note = make_view("n1", "Nora Vos: Last Sunday I met Lucía's band with Nora.", "old band")
    assert extract_terms(note) == {"lucía", "band"}


def test_no_likeness_decides_that_notes_contradict_or_repeat() -> None:
    twin = make_view("m1", RACE.content, *RACE.keywords)
    assert [
        link.kind for link in engine.link_and_evolve([make_neighbourhood(RACE, (twin, 1.0))]).links
    ] == ["related"]


def test_E5_where_cosines_say_nothing_a_shared_word_decides() -> None:
    note = make_view("n1", "小雨: 我下个月要去大理拍洱海。", "大理", "洱海")
    lake = make_view("m1", "小雨: 最喜欢早上的洱海。", "洱海")
    cat = make_view("m2", "小雨: 猫今天不吃饭。", "猫")
    found = engine.link_and_evolve([Neighbourhood(note, [cat, lake])])
    assert [(link.b, link.reason) for link in found.links] == [("m1", "都提到洱海")]


def test_a_theme_reaches_the_note_that_lacks_it_when_close_neighbours_agree() -> None:
    run = make_view("n1", "Nora: Twenty kilometres today.", "kilometre", "knee", tags=("sport",))
    knee = make_view("m1", "Nora: My knee hurts after the kilometre.", "knee", "kilometre")
    other = make_view(
        "m2",
        "Nora: Ten kilometres in the rain, my knee held.",
        "kilometre",
        "knee",
        tags=("sport",),
    )
    found = engine.link_and_evolve([make_neighbourhood(run, (knee, 0.6), (other, 0.6))])
    assert [(e.handle, e.tags, e.keywords, e.context) for e in found.evolutions] == [
        ("m1", ("sport",), None, None)
    ]


def test_a_theme_that_only_one_note_has_does_not_spread() -> None:
    run = make_view("n1", "Nora: Twenty kilometres today.", "kilometre", "knee", tags=("sport",))
    knee = make_view("m1", "Nora: My knee hurts.", "knee", "kilometre")
    assert engine.link_and_evolve([make_neighbourhood(run, (knee, 0.9))]).evolutions == ()


def test_a_new_note_takes_the_theme_its_close_neighbours_share() -> None:
    tea = make_view("n1", "Nora: Green tea now, no espresso.", "green tea", "espresso")
    known = [
        (
            make_view(
                f"m{n}", "Nora: Espresso and tea.", "espresso", "tea", tags=("food", f"t{n}")
            ),
            0.6,
        )
        for n in range(2)
    ]
    (found,) = engine.link_and_evolve([make_neighbourhood(tea, *known)]).evolutions
    assert (found.handle, found.tags) == ("n1", ("food",))


def test_what_is_not_wanted_is_left_out() -> None:
    same = make_neighbourhood(RACE, (PLAN, 0.9))
    assert engine.link_and_evolve([same], links=False).links == ()
    assert engine.link_and_evolve([same], evolve=False).evolutions == ()


@pytest.mark.parametrize(
    ("text", "keyword"),
    [
        ("Nora: I keep two hives behind the old mill.", "old mill"),
        ("小雨: 我在洱海边租了一间房子。", "洱海"),
        ("Nora: Das alte Haus mit dem Garten liegt nicht am Hafen.", "hafen"),
    ],
)
def test_E5_texts_are_described_in_their_own_words(text: str, keyword: str) -> None:
    (draft,) = engine.describe_notes([Passage("n1", text, AT)])
    assert draft is not None
    assert keyword in draft.keywords
    assert not {"nora", "小雨"} & set(draft.keywords)


def test_what_names_nothing_is_described_by_nothing() -> None:
    (draft,) = engine.describe_notes([Passage("n1", "Nora: Not today, sorry!", AT)])
    assert draft is not None
    assert (draft.keywords, draft.tags, draft.context) == ((), (), "")


# Who is who


def evolve_one(note: NoteState, *others: NoteState) -> list[tuple[str, tuple[str, ...], str, str]]:
    found = engine.link_and_evolve([Neighbourhood(note, list(others))]).evolutions
    return [(e.handle, e.keywords or (), e.context or "", e.why) for e in found]


BALCONY = make_view("m1", "Nora: Pepper sleeps on the balcony all day.", "balcony")


def test_a_note_learns_who_it_names_from_a_note_that_says_so() -> None:
    cat = make_view("n1", "Nora: I brushed my old cat, Pepper, for an hour.", "hour")
    (found,) = evolve_one(cat, BALCONY)
    assert found == (
        "m1",
        ("balcony", "old cat"),
        "Pepper is Nora's old cat.",
        "A note near it says that Pepper is Nora's old cat",
    )
    assert [handle for handle, *_ in evolve_one(BALCONY, cat)] == ["m1"]


def test_E5_a_chinese_note_learns_who_it_names() -> None:
    pet = make_view("m1", "小雨: 我养了一只橘猫，叫汤圆。", "橘猫")
    (found,) = evolve_one(make_view("n1", "小雨: 汤圆又把沙发抓坏了。", "沙发"), pet)
    assert found[:3] == ("n1", ("沙发", "橘猫"), "汤圆是小雨的橘猫。")


@pytest.mark.parametrize(
    "text",
    [
        "Nora: My ex-husband Pepper called.",
        "Nora: Is Pepper my cat or yours?",
        "Nora: Pepper was my cat.",
        "Nora: My boss Pepper is strict.",
        "Nora: My cat is asleep beside Pepper.",
        "Nora: My cat, Pepper and I are at home.",
        "Nora: If I had a cat named Pepper I'd be glad.",
    ],
)
def test_who_somebody_is_not_or_not_for_long_is_not_taught(text: str) -> None:
    assert evolve_one(make_view("n1", text), BALCONY) == []


def test_two_of_one_name_are_told_apart_by_nobody() -> None:
    cat = make_view("n1", "Nora: My cat Pepper is asleep.")
    uncle = make_view("m2", "Nora: My uncle Pepper came.")
    assert evolve_one(BALCONY, cat, uncle) == []
    assert evolve_one(cat, make_view("m3", "Nora: Pepper Potts sings.")) == []
