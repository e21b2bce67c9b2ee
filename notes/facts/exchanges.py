"""Whether words bear out that one value took the place of another. Pure.

Asked where a model says so of a relation that is known to have many values side by side.
"""

from __future__ import annotations

from collections.abc import Sequence

from memoryhub.engines.local.comparison.pairs import find_cues
from notes.facts.words import extract_stems

_CUES_OF_BOTH = frozenset({"also", "still"})
_LEAST_STATED = 0.5  # of the words of a value


def bear_exchange_out(quoted: Sequence[str], around: Sequence[str], new: str, old: str) -> bool:
    """Whether sentences may mean that the value `new` took the place of `old`: those `quoted` state
    the new one, and neither they nor what is said `around` them of the old one say that both are
    so ("I also like soup", "I still like pizza")."""
    said = " ".join(quoted)
    of_old = [sentence for sentence in around if _states_value(sentence, old)]
    says_both = any(find_cues(sentence) & _CUES_OF_BOTH for sentence in (said, *of_old))
    return _states_value(said, new) and not says_both


def _states_value(said: str, value: str) -> bool:
    words = extract_stems(value)
    return bool(words) and len(words & extract_stems(said)) >= _LEAST_STATED * len(words)
