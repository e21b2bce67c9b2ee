"""Chains, themes and segments by rules."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from memoryhub.engines.local.engine import LocalEngine
from memoryhub.engines.types import Passage

AT = datetime(2026, 3, 4, 18, tzinfo=UTC)
ENGINE = LocalEngine()


def make_passage(
    text: str,
    *keywords: str,
    handle: str = "p1",
    minutes: float = 0,
    claims: tuple[str, ...] = (),
) -> Passage:
    return Passage(handle, text, AT + timedelta(minutes=minutes), keywords, claims)


OAK = make_passage("Ana: I planted an old oak.", "old oak")


def is_continued(following: Passage, previous: Passage | None = OAK) -> bool | None:
    return ENGINE.chain_pages([following], previous).continues[0]


def test_talk_goes_on_within_half_an_hour() -> None:
    assert is_continued(make_passage("Ana: And I went home.", minutes=20))
    assert not is_continued(make_passage("Ana: I bought a car.", "car", minutes=40))


def test_after_a_silence_the_same_words_take_it_up() -> None:
    assert is_continued(make_passage("Ana: The oak has leaves.", "oak", minutes=300))
    assert not is_continued(make_passage("Ana: The oak has leaves.", "oak", minutes=60 * 24 * 3))


def test_a_greeting_or_a_turn_of_words_begins_something_else() -> None:
    assert not is_continued(make_passage("Ana: Hi Hub!", minutes=1))
    assert not is_continued(make_passage("Ana: By the way, I bought a car.", minutes=1))


def test_the_first_page_of_all_goes_on_from_nothing() -> None:
    assert not is_continued(make_passage("Ana: And so?"), None)


def test_a_chain_is_summed_up_in_its_own_claims_and_keeps_what_was_said_of_it() -> None:
    pages = [
        make_passage("Ana: I moved.", claims=("Ana moved to Porto.",)),
        make_passage("Ana: I bake.", minutes=5, claims=("Ana bakes bread.",)),
    ]
    judged = ENGINE.chain_pages(pages, OAK, "Ana planted an oak.")
    assert judged.continues == (True, True)
    assert judged.summaries[0] == "Ana planted an oak. Ana moved to Porto."
    assert len(judged.summaries[1].split(". ")) == 2


def test_a_new_chain_has_nothing_of_the_one_before() -> None:
    judged = ENGINE.chain_pages(
        [make_passage("Ana: Hello!", claims=("Ana bakes.",))], OAK, "An oak."
    )
    assert judged.summaries == ("Ana bakes.",)


def test_a_theme_for_each_thing_with_the_pages_that_share_its_words() -> None:
    pages = [
        make_passage("Ana: My dog Bolota swims.", "dog", "pool", handle="p1"),
        make_passage("Ana: I sat the Spanish exam.", "spanish exam", handle="p2"),
        make_passage("Ana: The dog likes the pool.", "dog", "pool", handle="p3"),
        make_passage("Ana: The exam went well.", "exam", handle="p4"),
        make_passage("Ana: My sister bakes bread.", "bread", handle="p5"),
    ]
    found = ENGINE.extract_themes(pages)
    assert sorted(sorted(theme.pages) for theme in found) == [["p1", "p3"], ["p2", "p4"], ["p5"]]
    dogs = next(theme for theme in found if "p1" in theme.pages)
    assert dogs.keywords[:2] == ("dog", "pool")
    assert dogs.text


def test_pages_about_one_thing_are_one_theme() -> None:
    pages = [
        make_passage("Ana: The dog swims.", "dog", handle="p1"),
        make_passage("Ana: The dog barks.", "dog", handle="p2"),
    ]
    assert [theme.pages for theme in ENGINE.extract_themes(pages)] == [("p1", "p2")]
    assert ENGINE.extract_themes([]) == []


def test_a_page_that_says_hardly_anything_has_a_theme_too() -> None:
    (theme,) = ENGINE.extract_themes([make_passage("Ana: Ok.")])
    assert theme.text == "Ok."
    assert theme.pages == ("p1",)


def test_chinese_themes_are_in_chinese() -> None:
    pages = [make_passage("林晓雨: 我搬到成都了。", "成都", claims=("林晓雨搬到成都了。",))]
    (theme,) = ENGINE.extract_themes(pages)
    assert theme.text == "林晓雨搬到成都了。"
    assert theme.keywords == ("成都",)


def test_a_segment_is_renewed_out_of_what_it_said_and_what_is_new() -> None:
    joined = [make_passage("…", "bread", claims=("Ana bakes rye bread.",))]
    text = ENGINE.refresh_segment("Ana bakes bread on Sundays.", ["bread", "sunday"], joined)
    assert "rye" in text.text
    assert text.keywords[0] == "bread"
    assert "sunday" in text.keywords
