"""Words that are taken out of what was said, so that what is left stays where it was (I1)."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable

from django.conf import settings

from memoryhub.dialogues.models import REDACTION_BAR, Turn

TextSpan = tuple[int, int]


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


def bury_words(turn: Turn) -> None:
    """Its hash tells no longer what it said. Call before its words change; a hash that was buried
    before stays as it is."""
    if turn.content_hash == hashlib.sha256(turn.text.encode()).hexdigest():
        turn.content_hash = hash_buried_words(turn)


def hash_buried_words(turn: Turn) -> str:
    """By which words that were erased are recognised when they are delivered again."""
    return hash_with_secret("content", turn.space_id, turn.speaker, turn.content_hash)
