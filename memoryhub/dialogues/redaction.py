"""Words that are taken out of what was said, so that what is left stays where it was (I1)."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable

from django.conf import settings

from memoryhub.dialogues.models import REDACTION_BAR, Turn

TextSpan = tuple[int, int]

# Words on both sides with no mark between: the middle of a clause is gone.
_HOLE = re.compile(rf"\w[^\S\n]*{REDACTION_BAR}+[^\S\n]*(?!(?:and|but|also|oh)\b)\w", re.I)
# A word that waits for what is gone.
_OPEN_END = re.compile(
    rf"(?:\b(?:at|in|on|to|for|with|from|of|by|as|the|an?|my|your|his|her|our|their|is|are|was|were"
    rf"|am|called|named)|[在去到是叫有的和跟给])[^\S\n]*{REDACTION_BAR}",
    re.I,
)


def hash_with_secret(*parts: object) -> str:
    """A digest that tells nothing to who doesn't know what was erased and the hub's secret: the
    first that it had, since what is gone can't be hashed again."""
    said = "\0".join(str(part) for part in parts)
    first = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS][-1]
    return hmac.new(first.encode(), said.encode(), "sha256").hexdigest()


def draw_bars(text: str, spans: Iterable[TextSpan]) -> str:
    """`text` with these stretches under bars of the same length."""
    for start, end in spans:
        text = f"{text[:start]}{REDACTION_BAR * (end - start)}{text[end:]}"
    return text


def reads_over_bars(text: str, start: int, end: int) -> bool:
    """Whether the words from `start` to `end` make a sentence only by what is gone from among
    them: "I teach swimming at ███ on Fridays"."""
    if REDACTION_BAR not in text:
        return False
    open_ended = any(start <= m.start() < end for m in _OPEN_END.finditer(text))
    return open_ended or any(start <= m.start() and m.end() <= end for m in _HOLE.finditer(text))


def bury_words(turn: Turn) -> None:
    """Its hash tells no longer what it said. Call before its words change; a hash that was buried
    before stays as it is."""
    if turn.content_hash == hashlib.sha256(turn.text.encode()).hexdigest():
        turn.content_hash = hash_buried_words(turn)


def hash_buried_words(turn: Turn) -> str:
    """By which words that were erased are recognised when they are delivered again."""
    return hash_with_secret("content", turn.space_id, turn.speaker, turn.content_hash)
