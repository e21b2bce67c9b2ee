"""English verb forms by lemminflect, and the verbs that matter by what they say."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from memoryhub.engines.local.wordlists import split_words

if TYPE_CHECKING:
    from spacy.tokens import Token

# They report a state of mind about a clause: the clause may be a fact, they are not.
OPINION_VERBS = split_words("""
    think guess believe suppose feel find realize realise notice mean figure
""")
# "I hope", "I can imagine": nothing to remember in any tense.
EMPTY_VERBS = split_words("""
    hope agree bet wish imagine understand appreciate mean guess wonder thank relate matter mind
    doubt care happen thrill trust let wait figure suppose believe sound seem admire hang reply
""")
# Nothing to remember in the present ("I see"), but "I saw a bear" is.
EMPTY_PRESENT_VERBS = split_words("""
    know see hear say tell ask mention talk chat feel look remind remember forget show send
    check think consider share stay
""")
LIKING_VERBS = split_words("love like enjoy prefer hate dislike adore loathe fancy detest")
# What somebody does or does not do, with nothing more to say of it.
ACTIVITY_VERBS = split_words("""
    smoke vape drink drive cycle swim surf ski snowboard run jog climb dance cook bake sing paint
    knit crochet sew fish hunt dive snorkel skate hike kayak snore gamble meditate
""")
# What changes a life, with nothing more to say of it either.
LIFE_VERBS = split_words("""
    move leave die quit retire resign graduate divorce separate marry emigrate enlist propose
""")
ENDING_VERBS = split_words("quit stop cease abandon drop")


# Nobody tells an assistant to do these: "drive an F-150" leaves out "I".
TOLD_VERBS = split_words("""
    live drive own owe bank volunteer weigh earn work teach study hate need want smoke drink sleep
    swim eat ride love like enjoy prefer start finish move leave retire rent share wear play
""")


def is_told_bare(head: Token) -> bool:
    """A bare verb that opens its sentence and leaves out "I"."""
    bare = head.dep_ in ("ROOT", "ccomp") and head.tag_ in ("VB", "VBP")
    return bare and head.lemma_.lower() in TOLD_VERBS and head.i - head.sent.start < 2


def is_subjectless_liking(head: Token) -> bool:
    """ "Love hiking!": a liking that opens its sentence is the speaker's, not an order."""
    bare = head.dep_ == "ROOT" and head.tag_ in ("VB", "VBP")
    return bare and head.lemma_.lower() in LIKING_VERBS and head.i - head.sent.start < 2


@lru_cache(maxsize=20_000)
def inflect_verb(lemma: str, tag: str) -> str:
    """("move", "VBD") → "moved"; the lemma itself where no form is known."""
    if lemma == "be":
        return {"VBZ": "is", "VBD": "was", "VBN": "been", "VBG": "being"}.get(tag, "are")
    forms = _forms(lemma, tag)
    return forms[0] if forms else lemma


def _forms(lemma: str, tag: str) -> tuple[str, ...]:
    import lemminflect  # with spaCy: a second, which what parses nothing need not wait

    return tuple(lemminflect.getInflection(lemma, tag))


@lru_cache(maxsize=20_000)
def find_lemma(word: str, pos: str = "VERB") -> str:
    import lemminflect  # see `_forms`

    lemmas = lemminflect.getLemma(word.lower(), pos)
    return str(lemmas[0]) if lemmas else word.lower()


@lru_cache(maxsize=20_000)
def is_dictionary_noun(word: str) -> bool:
    """Whether a dictionary has the word as a noun: names of people are not there."""
    import lemminflect  # see `_forms`

    return bool(lemminflect.getAllLemmas(word.lower(), upos="NOUN"))


@lru_cache(maxsize=20_000)
def is_dictionary_word(word: str) -> bool:
    """Whether a dictionary has the word as anything that is inflected, as few names are."""
    import lemminflect  # see `_forms`

    return bool(lemminflect.getAllLemmas(word.lower()))


def is_past_form(word: str) -> bool:
    """ "lost", "signed", "quit": a form that may be a past tense whatever the tagger says."""
    low = word.lower()
    return low == "quit" or (low in _forms(find_lemma(low), "VBD") and (low != find_lemma(low)))


def inflect_third_person(verb: str, lemma: str) -> str:
    """The form after "she" of a present form after "I": am → is, have → has, go → goes."""
    low = verb.lower()
    fixed = {"am": "is", "'m": "is", "are": "is", "'re": "is", "'ve": "has", "were": "was"}
    return fixed.get(low) or inflect_verb(lemma or low, "VBZ")
