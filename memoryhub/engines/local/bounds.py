"""How much of an exchange is read by rules, and in what pieces: so that any text takes seconds.

Reading takes time by the word, whatever stands there. Of a text as long as a book those sentences
are read in which somebody speaks of themselves; all of it is kept and found by its words.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice

from memoryhub.engines.local.language import CJK
from memoryhub.engines.types import Exchange

# Words of an exchange that are read: about 40,000 characters of English prose.
MAX_WORDS = 8_000
_SENTENCE = re.compile(r"[^.!?…。！？\n]+(?:[.!?…。！？\n](?=\S))*[.!?…。！？\n]*")
_OF_ONESELF = re.compile(r"\b(?:i|me|my|mine|we|us|our)\b|我|咱", re.I)
# Words of a sentence. What goes on longer is no sentence; a tree of it would be as deep as long.
MAX_SENTENCE_WORDS = 150
# A line of one mark is there to be looked at. Quotes are what the parser takes longest for.
_DRAWN_LINE = re.compile(r"([^\w\s]|_)\1{15,}")
# About what the parser makes one word of; a stretch without spaces is several.
_WORD = re.compile(rf"[{CJK}]{{1,2}}|(?:(?![{CJK}])\w){{1,12}}|[^\w\s]|\n")
_SENTENCE_END = re.compile(r"[.!?…](?=\s)|\n")


def bound_exchange(exchange: Exchange) -> Exchange:
    """The exchange with what is read of it, blank where it is not: all else keeps its place."""
    left, utterances = MAX_WORDS, []
    for utterance in exchange.utterances:
        text = _DRAWN_LINE.sub(lambda line: line[1].ljust(len(line[0])), utterance.text)
        words = _count_words(text, left)
        if words > left:
            text, words = _choose_sentences(text, left)
        left -= words
        utterances.append(utterance if text == utterance.text else replace(utterance, text=text))
    return replace(exchange, utterances=utterances)


def _count_words(text: str, most: int) -> int:
    """At most one more than `most`, for who counts to the end of a book counts long."""
    return sum(1 for _ in islice(_WORD.finditer(text), most + 1))


def _choose_sentences(text: str, words: int) -> tuple[str, int]:
    """So many words: each sentence once, those first in which somebody speaks of themselves. And
    how many there are."""
    once = {match[0].strip(): match for match in reversed([*_SENTENCE.finditer(text)])}
    found = sorted(
        once.values(), key=lambda match: (not _OF_ONESELF.search(match[0]), match.start())
    )
    left, chosen = words, []
    for match in found:
        if (count := _count_words(match[0], left)) <= left:
            chosen.append(match.span())
            left -= count
        elif left:
            cut = next(islice(_WORD.finditer(text, *match.span()), left, None))
            chosen.append((match.start(), cut.start()))
            left = 0
            break
    pieces, end = [], 0
    for start, stop in sorted(chosen):
        pieces += [" " * (start - end), text[start:stop]]
        end = stop
    return "".join(pieces), words - left


def find_endless_cuts(text: str) -> list[int]:
    """Where a text that goes on and on without the end of a sentence is to be cut."""
    cuts: list[int] = []
    words = 0
    for match in _WORD.finditer(text) if len(text) > MAX_SENTENCE_WORDS else ():
        words = 0 if _SENTENCE_END.match(text, match.start()) else words + 1
        if words > MAX_SENTENCE_WORDS:
            cuts.append(match.start())
            words = 1
    return cuts
