"""Whether an exchange opens a new topic: a greeting, or words that turn the talk.

On dialogue data a time gap and then a greeting find the borders; embedding drift does not.
The gap is the caller's to see, the words are read here.
"""

from __future__ import annotations

import re

_GREETING = re.compile(
    r"^\W*(?:hey|hi|hello|good (?:morning|afternoon|evening)|long time no|what's up"
    r"|how have you been|how's it going|great to (?:hear|see)|guess what)\b",
    re.I,
)
_TOPIC_TURN = re.compile(
    r"\b(?:by the way|btw|anyway|anyways|speaking of|on (?:another|a different) note"
    r"|changing the subject|to change the subject|that reminds me|before i forget|in other news"
    r"|since we last (?:spoke|talked|chatted))\b",
    re.I,
)


def opens_topic(text: str) -> bool:
    """`text` is the first utterance of an exchange, or all of it."""
    plain = text.replace("’", "'")
    return bool(_GREETING.match(plain) or _TOPIC_TURN.search(plain[:400]))
