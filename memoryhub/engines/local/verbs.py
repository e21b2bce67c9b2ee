"""English verb forms by lemminflect, and the verbs that matter by what they say."""

from __future__ import annotations

from functools import lru_cache

import lemminflect  # type: ignore[import-untyped]  # ships without annotations

# They report a state of mind about a clause: the clause may be a fact, they are not.
OPINION = frozenset(
    "think guess believe suppose feel find realize realise notice mean figure".split()
)
# "I know", "I hope", "I can imagine": nothing to remember.
EMPTY = frozenset(
    "know hope see hear agree bet wish imagine understand appreciate mean guess wonder say tell ask"
    " thank relate mention talk speak chat believe suppose feel admire sound look seem matter mind"
    " doubt care remind happen thrill gladden sure trust share remember forget show send let check"
    " help_ guess wait figure think consider".split()
)
LIKING = frozenset("love like enjoy prefer hate dislike adore loathe fancy detest".split())
PLANNING = frozenset("plan hope want intend aim decide prepare look think dream wish".split())
ENDING = frozenset("quit stop cease abandon drop".split())


@lru_cache(maxsize=20_000)
def inflected(lemma: str, tag: str) -> str:
    """("move", "VBD") → "moved"; the lemma itself where no form is known."""
    if lemma == "be":
        return {"VBZ": "is", "VBD": "was", "VBN": "been", "VBG": "being"}.get(tag, "are")
    forms = lemminflect.getInflection(lemma, tag)
    return str(forms[0]) if forms else lemma


@lru_cache(maxsize=20_000)
def lemma_of(word: str, pos: str = "VERB") -> str:
    lemmas = lemminflect.getLemma(word.lower(), pos)
    return str(lemmas[0]) if lemmas else word.lower()


def is_past_form(word: str) -> bool:
    """ "lost", "signed", "quit": a form that may be a past tense whatever the tagger says."""
    low = word.lower()
    return (
        low == "quit"
        or low in lemminflect.getInflection(lemma_of(low), "VBD")
        and (low != lemma_of(low))
    )


def third_person(verb: str, lemma: str) -> str:
    """The form after "she" of a present form after "I": am → is, have → has, go → goes."""
    low = verb.lower()
    fixed = {"am": "is", "'m": "is", "are": "is", "'re": "is", "'ve": "has", "were": "was"}
    return fixed.get(low) or inflected(lemma or low, "VBZ")
