"""Slips of the hand in a question: "my dgo's name", "favorit food". English only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from itertools import islice
from string import ascii_lowercase

from memoryhub.engines.local.wordlists import split_words

# Of a question in lower case: what is written large is a name.
_WORD = re.compile(r"(?<![\w'’@./-])[a-z]{3,20}(?![\w@/-])")
_LEAST_FOR_A_MISSING_LETTER = 5  # shorter words are like too many others
_MOST_WORDS = 40  # looked at; a longer text is no question typed in a hurry
# Chat spelling that is meant so, and words that are American otherwise.
_MEANT_SO = split_words("""
    abt wats hows whens wheres whos wanna gonna gotta kinda sorta lol omg idk btw pls plz thx thru
    tho cuz coz rn ppl msg fav fave txt tmrw tmr yest bday bf gf hubby doin goin gimme lemme nvm imo
    jewellery marvellous woollen aluminium mould moult
""")
# The dictionary is American: "colour", "organised", "travelling", "theatre" are no slips.
_BRITISH = re.compile(r"our|(?<=[iy])s(?=e|ing|ation)|ll(?=ed|ing|er)|re$|ogue$|ence$|mme$|ae|oe")
_AMERICAN = {"our": "or", "s": "z", "ll": "l", "re": "er", "ogue": "og", "ence": "ense"}
_AMERICAN |= {"mme": "m", "ae": "e", "oe": "e"}


def correct_typos(text: str, told: Iterable[str] = ()) -> str:
    """The text with each word that is none put right, where one slip explains it: two letters in
    the wrong order, and in longer words one that is missing or too many. A word of one of the texts
    `told` is one: "edie" is who was spoken of."""
    found = {match[0] for match in islice(_WORD.finditer(text), _MOST_WORDS)}
    known = {word for each in told for word in _WORD.findall(each.lower())}
    found -= known | {f"{word}s" for word in known}  # "leahs husband"
    slips = {word: right for word in found if (right := _correct_word(word))}
    return _WORD.sub(lambda match: slips.get(match[0], match[0]), text) if slips else text


@lru_cache(maxsize=20_000)
def _correct_word(word: str) -> str:
    """The word that was meant, or "" where it is one, or none is near enough."""
    frequency = _load_frequencies()
    if word in _MEANT_SO or word in frequency or _BRITISH.sub(_spell_american, word) in frequency:
        return ""
    for alike in _list_near_words(word):
        known = sorted(alike & frequency.keys())
        if known:
            return max(known, key=lambda each: frequency[each])
    return ""


def _spell_american(match: re.Match[str]) -> str:
    return _AMERICAN[match[0]]


def _list_near_words(word: str) -> Iterator[set[str]]:
    """What it may have been, the likelier slips first."""
    cuts = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    yield {a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1}
    if len(word) >= _LEAST_FOR_A_MISSING_LETTER:
        yield {a + b[1:] for a, b in cuts if a and b and a[-1] == b[0]}  # "carreer"
        yield {a + letter + b for a, b in cuts for letter in ascii_lowercase}
        yield {a + b[1:] for a, b in cuts if b}


@cache
def _load_frequencies() -> Mapping[str, int]:
    """How often each English word is written: 160,000 of them, names among them. A third of a
    second and 40 MB, which only a process needs that is asked with an unknown word."""
    from spellchecker import SpellChecker

    frequencies: Mapping[str, int] = SpellChecker(distance=1).word_frequency.dictionary
    return frequencies
