"""What is typed without signs or capitals is cut where a new sentence begins, and nowhere else."""

from __future__ import annotations

from itertools import pairwise

import pytest

from memoryhub.engines.local.grammar.sentence_starts import find_sentence_starts
from tests.engines.local.test_local_statements import tell


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("on nights at the depot its grim", ["on nights at the depot", "its grim"]),
        (
            "whats a good breakfast im lactose intolerant",
            ["whats a good breakfast", "im lactose intolerant"],
        ),
        ("lost my card how do i freeze it", ["lost my card", "how do i freeze it"]),
        ("hospital rang its the 20th now", ["hospital rang", "its the 20th now"]),
        ("me n kit are done dont ask", ["me n kit are done", "dont ask"]),
        (
            "did my ankle sunday got physio tomorrow",
            ["did my ankle sunday", "got physio tomorrow"],
        ),
        ("new maths teacher hes so strict", ["new maths teacher", "hes so strict"]),
        # What holds the words behind it.
        ("late cos im stuck", ["late cos im stuck"]),
        ("hope its ok", ["hope its ok"]),
        ("the bloke im seeing lives in hull", ["the bloke im seeing lives in hull"]),
        ("told kit im done", ["told kit im done"]),
        ("if she rings again im off to hull", ["if she rings again im off to hull"]),
        ("so from now its kenji on sundays", ["so from now its kenji on sundays"]),
        ("dunno how formal should i be", ["dunno how formal should i be"]),
        ("the dog hurt its paw", ["the dog hurt its paw"]),
        ("tell me how to save money", ["tell me how to save money"]),
        # Who uses capitals uses signs.
        ("The depot is grim its cold", ["The depot is grim its cold"]),
    ],
)
def test_a_sentence_begins_where_somebody_is_told_of_anew(text: str, parts: list[str]) -> None:
    starts = [0, *sorted(find_sentence_starts(text)), len(text)]
    assert [text[a:b].strip() for a, b in pairwise(starts)] == parts


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("whats a good breakfast im lactose intolerant", "user-31 is lactose intolerant."),
        ("lost my monzo card how do i freeze it", "user-31 lost their monzo card."),
        ("binned puregym its boxing at burmantofts now", "user-31 binned puregym."),
        ("ollies off to leeds", "Ollie is off to leeds."),
        ("chloes pregnant again", "Chloe is pregnant again."),
        ("haziq is leader", "Haziq is leader."),
    ],
)
def test_what_is_told_in_one_breath_is_read_apart(said: str, told: str) -> None:
    assert told in [fact.text for fact in tell(said)]


@pytest.mark.parametrize("said", ["james got a job", "buses off again today"])
def test_a_word_in_s_is_not_cut(said: str) -> None:
    assert not any("Jame " in fact.text or "Buse " in fact.text for fact in tell(said))
