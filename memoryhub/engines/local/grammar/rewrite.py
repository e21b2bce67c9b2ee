"""A clause put into the third person with the names of the people in it.

"I'm visiting my sister" said by Ana reads "Ana is visiting their sister". The speaker's own
"my" becomes "their", for nothing here may guess a gender.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memoryhub.engines.local.grammar.clauses import find_verb_subject
from memoryhub.engines.local.grammar.scene import Scene, format_possessive
from memoryhub.engines.local.grammar.verbs import (
    inflect_third_person,
    is_subjectless_liking,
    is_told_bare,
)
from memoryhub.engines.local.wordlists import PEOPLE, split_words

if TYPE_CHECKING:
    from spacy.tokens import Token

_NEGATIONS = {"n't", "n’t", "not", "nt"}
_CHAT_WORDS = {
    "&": "and", "w/": "with", "n": "and", "w": "with", "tho": "though", "cos": "because",
    "rn": "now", "atm": "now", "tmrw": "tomorrow", "tmr": "tomorrow", "tmw": "tomorrow",
    "ppl": "people", "abt": "about",
}  # fmt: skip
_CLIPPED_STEMS = {
    "ca": "can",
    "wo": "will",
    "sha": "shall",
    "gon": "going",
    "wan": "want",
    "got": "got",
}


@dataclass(frozen=True, slots=True)
class Voice:
    """How pronouns are worded. `referents`: token positions that stand for a known phrase."""

    scene: Scene
    by_speaker: bool = True
    referents: Mapping[int, str] = field(default_factory=dict)


def rewrite_tokens(tokens: Sequence[Token], voice: Voice) -> str:
    """The tokens joined as written, pronouns and contractions replaced."""
    parts: list[str] = []
    before: Token | None = None
    for token in tokens:
        word = _rewrite_word(token, voice)
        if word:
            parts.append(_choose_gap(before, token, word) + word)
            before = token
    return "".join(parts).strip()


def _choose_gap(before: Token | None, token: Token, word: str) -> str:
    if before is None or word == "'s":
        return ""
    if before.i + 1 == token.i and not before.whitespace_:
        spelt_out = word != token.text or (word == "is" and before.is_alpha)
        return " " if spelt_out and word[0].isalnum() and before.text != "-" else ""
    return "" if token.is_punct and token.text in ",.;:!?)%" else " "


def _rewrite_word(token: Token, voice: Voice) -> str:
    low = token.lower_.replace("’", "'")
    if token.i in voice.referents:
        return voice.referents[token.i]
    if low == "'" and token.i and token.nbor(-1).lower_ in PEOPLE and token.whitespace_:
        return "'s"  # "mums car", as the parser got it
    pronoun = _rewrite_pronoun(low, token, voice)
    if pronoun is not None:
        return pronoun
    if token.pos_ in ("VERB", "AUX", "PART"):
        return _rewrite_verb(low, token)
    return _CHAT_WORDS.get(low, "" if token.is_space else token.text)


def _rewrite_pronoun(low: str, token: Token, voice: Voice) -> str | None:
    me, you = voice.scene.speaker, voice.scene.listener
    own = "their" if voice.by_speaker and not _is_in_subject(token) else format_possessive(me)
    words = {"i": me, "me": me, "my": own, "mine": format_possessive(me), "myself": "themself"}
    together = f"{me} and others"
    words |= {"we": together, "us": together, "our": own, "ourselves": "themselves"}
    if token.head.lower_ == "of":
        words["us"] = "them"  # "four of us"
    if you:
        words |= {"you": you, "your": format_possessive(you), "yours": format_possessive(you)}
    is_pronoun = token.pos_ in ("PRON", "DET") or low == "i"
    return words.get(low) if is_pronoun else None


def _is_in_subject(token: Token) -> bool:
    return token.head.dep_ in ("nsubj", "nsubjpass") and token.dep_ == "poss"


def _rewrite_verb(low: str, token: Token) -> str:
    if low in _NEGATIONS:
        return "not"
    if low == "na" or (low == "ta" and token.i and token.nbor(-1).lower_ == "got"):
        return "to"
    if low in _CLIPPED_STEMS and _is_clipped(token):
        wants = low == "wan" and _agrees_with_speaker(token)
        return inflect_third_person(low, "want") if wants else _CLIPPED_STEMS[low]
    if low == "ll" and token.i and not token.nbor(-1).whitespace_:
        return "will"
    if low == "'d" or (low == "d" and token.i and not token.nbor(-1).whitespace_):
        return "had" if token.head.tag_ == "VBN" else "would"
    if low == "'ll":
        return "will"
    if low == "wanna":
        return "wants to" if _agrees_with_speaker(token) else "want to"
    clipped = low == "is" and token.i and not token.nbor(-1).whitespace_  # as the parser got it
    if (clipped or low in ("'s", "s")) and token.pos_ in ("AUX", "VERB"):
        follows = _get_next_word(token, past=_BETWEEN)
        if follows in _OPENS_NOUN or follows[:1] in "£$€0123456789":
            return "is"  # "that's my boss", "it's £710 now"
        if follows.endswith("ing"):
            return "is"  # "my brother's getting married"
        # By somebody, and not to them: "Tom's given a raise".
        done = any(c.dep_ == "dobj" for c in token.head.children)
        done = done and token.head.lemma_.lower() not in _GIVING_VERBS
        perfect = token.head.tag_ == "VBN" and token.dep_ == "aux"
        perfect = perfect or (done and token.head.tag_ in ("VBN", "VBD"))
        perfect = perfect or (
            follows == "gone" and _get_next_word(token, past={*_BETWEEN, "gone"}) in _GONE_SOMEWHERE
        )
        if follows == "left" and _get_next_word(token, past={*_BETWEEN, "left"}) in _LEFT_SO:
            return "is"  # "the door's left open"
        return "has" if perfect or follows in _NEVER_PASSIVE else "is"
    if low in ("'s", "’s") and token.tag_ == "POS" and _get_next_word(token) == "turned":
        return "has"  # "Edie's turned 7"
    return _rewrite_finite_verb(low, token)


def _is_clipped(token: Token) -> bool:
    return (
        _get_next_word(token) in ("na", "ta", "n't", "n’t", "not", "nt") and not token.whitespace_
    )


def _get_next_word(token: Token, past: Collection[str] = ()) -> str:
    """The word behind it, and behind those of `past`."""
    words = (t.lower_ for t in token.doc[token.i + 1 :])
    return next((word for word in words if word not in past), "")


_NEVER_PASSIVE = split_words("""
    been got had left moved turned started joined become begun grown stopped switched
""")
_OPENS_NOUN = split_words("my our your his their a an the")
_GIVING_VERBS = split_words("give offer pay send show teach tell award hand")
_GONE_SOMEWHERE = split_words("""
    to up down off back over through into in on part full vegan veggie freelance missing
""")
_LEFT_SO = split_words("open on unlocked empty alone running unattended out blank")
# "Becky's finally got room" has it.
_BETWEEN = split_words("finally just already only always never now also")


def _rewrite_finite_verb(low: str, token: Token) -> str:
    clipped = {"'re": "are", "'ve": "have", "'m": "am", "r": "are"}
    before = token.nbor(-1).lower_ if token.i else ""
    own = low in ("m", "ve") and before == "i"  # "im", "ive"
    if own or (low in ("re", "ve") and before in ("we", "you", "they")):
        low = f"'{low}"
    if low == "am" and token.i and token.nbor(-1).text[-1].isdigit():
        return token.text  # "10am"
    if low in ("am", "'m", "’m"):
        return "is"  # nobody else is meant, whatever the parser takes for its subject
    present = token.tag_ == "VBP" or low in clipped or low in ("am", "were")
    present = present or is_subjectless_liking(token) or is_told_bare(token)
    present = present or _is_joined_to_present(token)
    if present and low != "quit" and _agrees_with_speaker(token):
        return inflect_third_person(low, token.lemma_)
    return clipped.get(low, token.text)


def _is_joined_to_present(token: Token) -> bool:
    """ "work" of "I live here and work there", which the parser takes for an infinitive."""
    bare = token.tag_ == "VB" and not any(c.dep_ in ("aux", "auxpass") for c in token.children)
    return bare and token.dep_ == "conj" and token.head.tag_ in ("VBP", "VBD")


def _agrees_with_speaker(token: Token) -> bool:
    """The subject is the speaker alone: written as "I", or left out."""
    verb = token.head if token.dep_ in ("aux", "auxpass") else token
    subject = find_verb_subject(verb)
    return subject is None or (subject.lower_ in ("i", "me") and not any(subject.conjuncts))


def format_sentence(words: str) -> str:
    """`words` as a sentence: no stray spaces or commas, a capital and a full stop."""
    text = " ".join(words.split()).strip(" ,;:-–—.!?")
    if text.count('"') % 2:
        closes = not text[text.index('"') - 1].isspace() and text[0] != '"'
        text = f'"{text}' if closes else f'{text}"'
    text += ")" if text.count("(") == text.count(")") + 1 else ""
    text = text.replace(" ,", ",").replace("( ", "(").replace(" )", ")")
    if re.match(r"[a-z]+\S*\d", text):  # an id is no word
        return f"{text}."
    return f"{text[:1].upper()}{text[1:]}." if text else ""
