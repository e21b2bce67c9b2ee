"""Predicates of facts as a person reads them: the known ones in the reader's language."""

from __future__ import annotations

from django.utils.translation import pgettext

PREDICATE_CONTEXT = "a predicate"
# What engines name by themselves, and what models are likely to. A model may name others.
KNOWN_PREDICATES = frozenset((
    "address", "age", "allergic_to", "birth_year", "birthday", "born_on", "comes_from", "dislikes",
    "drinks", "eats", "full_name", "gender", "has_child", "has_friend", "has_hobby", "has_pet",
    "has_sibling", "has_skill", "hobby", "interested_in", "knows", "likes", "lives_in",
    "marital_status", "name", "nationality", "native_language", "nickname", "owns", "plays", "read",
    "rides", "smokes", "speaks", "studies_at", "visited", "watched", "works_as", "works_at",
))  # fmt: skip
# Before a thing in words of its own: "favourite_tea".
PREDICATE_BEGINNINGS = ("favourite", "has_count", "scheduled")


def list_predicate_words() -> list[str]:
    """Those that are translated."""
    return [_split_words(name) for name in (*sorted(KNOWN_PREDICATES), *PREDICATE_BEGINNINGS)]


def format_predicate(key: str) -> str:
    """("lives_in") → "lives in"; one that is not known by its own name."""
    if key in KNOWN_PREDICATES:
        return pgettext(PREDICATE_CONTEXT, _split_words(key))
    for beginning in PREDICATE_BEGINNINGS:
        if key.startswith(f"{beginning}_"):
            thing = _split_words(key.removeprefix(f"{beginning}_"))
            return f"{pgettext(PREDICATE_CONTEXT, _split_words(beginning))} {thing}"
    return _split_words(key)


def _split_words(key: str) -> str:
    return key.replace("_", " ")
