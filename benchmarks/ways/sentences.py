"""What is told and asked: made up, the same every time."""

from __future__ import annotations

from itertools import product
from random import Random

_PEOPLE = ("My sister", "Our neighbour", "My colleague Rui", "My dentist", "Aunt Vera", "The coach")
_ACTIVITIES = (
    ("plays", "the oboe", "chess", "handball", "the church organ"),
    ("moved to", "Ghent", "Porto", "a houseboat", "the old mill"),
    ("is afraid of", "spiders", "thunder", "lifts", "the dark"),
    ("collects", "stamps", "sea glass", "tin toys", "old maps"),
    ("works at", "the bakery", "a hospital", "the harbour", "the town hall"),
    ("is learning", "Welsh", "to weld", "the tango", "to sail"),
)
_ENDINGS = ("since spring", "as I heard on Monday", "and likes it", "for a year now")
QUESTIONS = tuple(
    f"{asked} {who}?"
    for asked, who in product(
        ("what does", "who is", "where is", "what is new with"),
        ("my sister", "our neighbour", "Rui", "the dentist", "Aunt Vera", "the coach"),
    )
)


def build_sentences(count: int, seed: int = 7) -> list[str]:
    """As many different sentences of a person about the people around, in no order."""
    whole = [
        f"{who} {verb} {what} {since}."
        for who, (verb, *whats) in product(_PEOPLE, _ACTIVITIES)
        for what, since in product(whats, _ENDINGS)
    ]
    chance = Random(seed)
    chance.shuffle(whole)
    return [whole[n % len(whole)] for n in range(count)]
