"""How near an answer comes to the expected one: F1, BLEU-1, ROUGE-L on LoCoMo's words. Pure.

Words are what is left without case, punctuation, articles and "and", as stems; Chinese counts by
the character. LoCoMo scores by category: of several expected things each counts by itself
(1), of alternatives the first (3), and where there is nothing to say only a refusal (5).
"""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from collections.abc import Sequence

from memoryhub.lab.metrics.porter_stemmer import stem_word

_IGNORED_WORDS = frozenset({"a", "an", "the", "and"})
_PUNCTUATION_TABLE = str.maketrans("", "", string.punctuation)
_WORD_PATTERN = re.compile(r"[㐀-鿿豈-﫿]|[^\s㐀-鿿豈-﫿　-〿！-｠]+")
_REFUSAL_PATTERN = re.compile(
    r"no information available|not mentioned|found nothing|no information|cannot be answered"
    r"|can't be answered|don't know|do not know|not (?:been )?(?:stated|specified|said)"
    r"|没有找到|没有提到|未提及|不知道|没有相关",
    re.I,
)


def split_words(text: str) -> list[str]:
    """LoCoMo's normalisation."""
    plain = text.lower().translate(_PUNCTUATION_TABLE).replace("’", "")
    return [stem_word(word) for word in _WORD_PATTERN.findall(plain) if word not in _IGNORED_WORDS]


def score_answer(expected: str, answer: str, *, category: int = 0) -> dict[str, float]:
    """`f1`, `bleu1` and `rouge_l` in [0, 1] of an answer to a question that has one."""
    wanted = expected.split(";")[0] if category == 3 else expected
    given, expect = split_words(answer), split_words(wanted)
    f1 = compute_f1_of_parts(wanted, answer) if category == 1 else compute_f1(expect, given)
    bleu1, rouge_l = compute_bleu1(expect, given), compute_rouge_l(expect, given)
    return {"f1": round(f1, 4), "bleu1": round(bleu1, 4), "rouge_l": round(rouge_l, 4)}


def score_refusal(answer: str, *, abstained: bool, quoted: bool = False) -> dict[str, float]:
    """Where there is nothing to say, saying so is all that counts.

    What is `quoted` may hold the words of a refusal that somebody else once said.
    """
    return {"refusal": float(abstained or (not quoted and is_refusal(answer)))}


def is_refusal(answer: str) -> bool:
    return not answer.strip() or _REFUSAL_PATTERN.search(answer) is not None


def compute_f1(wanted: Sequence[str], given: Sequence[str]) -> float:
    """Harmonic mean of precision and recall over words, each counted as often as in both."""
    shared = sum((Counter(wanted) & Counter(given)).values())
    return 2 * shared / (len(wanted) + len(given)) if shared else 0.0


def compute_f1_of_parts(wanted: str, answer: str) -> float:
    """Each of the expected things, parted by commas, against the part of the answer that says it
    best; their mean."""
    given = [split_words(part) for part in answer.split(",")]
    each = [
        max(compute_f1(split_words(part), some) for some in given) for part in wanted.split(",")
    ]
    return sum(each) / len(each)


def compute_bleu1(wanted: Sequence[str], given: Sequence[str]) -> float:
    """Share of the answer's words that are expected, less for an answer that is too short."""
    if not given:
        return 0.0
    precision = sum((Counter(wanted) & Counter(given)).values()) / len(given)
    return precision * min(1.0, math.exp(1 - len(wanted) / len(given)))


def compute_rouge_l(wanted: Sequence[str], given: Sequence[str]) -> float:
    """F1 of the longest run of words that both have in the same order, gaps allowed."""
    shared = _count_longest_shared(wanted, given)
    return 2 * shared / (len(wanted) + len(given)) if shared else 0.0


def _count_longest_shared(one: Sequence[str], other: Sequence[str]) -> int:
    row = [0] * (len(other) + 1)
    for word in one:
        diagonal = 0
        for at, against in enumerate(other, 1):
            above = row[at]
            row[at] = diagonal + 1 if word == against else max(above, row[at - 1])
            diagonal = above
    return row[-1]
