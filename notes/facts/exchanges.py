"""Whether words say that one value took the place of another. Pure.

Asked where a model says so of a relation that is known to have many values side by side.
"""

from __future__ import annotations

from collections.abc import Sequence

from memoryhub.engines.local.comparison.pairs import find_cues
from notes.facts.words import extract_stems

_CUES_OF_EXCHANGE = frozenset({"over", "left", "switch", "wrong"})
_CUES_OF_BOTH = frozenset({"also", "still"})
_LEAST_STATED = 0.5  # of the words of a value


def tells_exchange(quoted: Sequence[str], around: Sequence[str], new: str, old: str) -> bool:
    """Whether sentences say that the value `new` took the place of `old`: those `quoted` state the
    new one and that something changed, or a sentence `around` them says that the old one did.
    ("I like soup now") says only the one, ("I also like soup", "I still like pizza") say both."""
    said = " ".join(quoted)
    if not _states_value(said, new) or find_cues(said) & _CUES_OF_BOTH:
        return False
    of_old = [sentence for sentence in around if _states_value(sentence, old)]
    cues = [find_cues(sentence) for sentence in (said, *of_old)]
    return any(each & _CUES_OF_EXCHANGE and not each & _CUES_OF_BOTH for each in cues)


def _states_value(said: str, value: str) -> bool:
    words = extract_stems(value)
    return bool(words) and len(words & extract_stems(said)) >= _LEAST_STATED * len(words)
