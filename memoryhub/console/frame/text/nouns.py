"""What pages count: how many there are, and that a list of them has none, in the reader's
language."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext, ngettext

# Of these pages have lists, of the others they have not.
_LISTED_NOUNS = (
    "block", "call", "case", "change", "delivery", "entity", "episode", "fact", "import", "job",
    "link", "memory", "note", "person", "point", "predicate", "question", "replay", "request",
    "rule", "run", "space", "subject", "topic", "trait", "turn", "verdict", "webhook",
)  # fmt: skip
_OTHER_NOUNS = (
    "conversation", "exchange", "test question", "place", "profile entry", "relation", "visit",
)  # fmt: skip
_IRREGULAR_PLURALS = {
    "delivery": "deliveries",
    "entity": "entities",
    "memory": "memories",
    "person": "people",
    "profile entry": "profile entries",
}
_COUNT_PHRASES = {
    noun: (f"%(count)s {noun}", f"%(count)s {_IRREGULAR_PLURALS.get(noun, f'{noun}s')}")
    for noun in (*_LISTED_NOUNS, *_OTHER_NOUNS)
}
_EMPTY_PHRASES = {noun: f"No {noun} fits these filters." for noun in _LISTED_NOUNS}


def list_noun_phrases() -> Iterator[str | tuple[str, str]]:
    """What is to be translated; a pair for one and for several."""
    yield from _COUNT_PHRASES.values()
    yield from _EMPTY_PHRASES.values()


class GroupedCount(int):
    """Its number says which plural, its words group the thousands."""

    def __str__(self) -> str:
        return f"{int(self):,}"


def counted(noun: str, count: int) -> str:
    """ "3 spaces", "1,000 spaces". Raises KeyError for a noun that nothing counts."""
    return ngettext(*_COUNT_PHRASES[noun], count) % {"count": GroupedCount(count)}


def none_of(noun: str) -> str:
    """That filters leave none. Raises KeyError for a noun that no list is of."""
    return gettext(_EMPTY_PHRASES[noun])
