"""How near an answer comes to the expected one, by words as LoCoMo counts them: F1, BLEU-1
(Papineni et al., 2002), ROUGE-2 and ROUGE-L (Lin, 2004), METEOR (Banerjee and Lavie, 2005).

Pure. Words are what is left without case, punctuation, articles and "and", as stems; Chinese counts
by the character. LoCoMo scores by category: of several expected things each counts by itself (1),
of alternatives the first (3), and where there is nothing to say only a refusal (5).
"""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

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
    """Each measure by its name, in [0, 1], of an answer to a question that has one."""
    wanted = select_expected(expected, category)
    given, expect = split_words(answer), split_words(wanted)
    found = {
        "f1": compute_f1_of_parts(wanted, answer) if category == 1 else compute_f1(expect, given),
        "bleu1": compute_bleu1(expect, given),
        "rouge_2": compute_rouge_2(expect, given),
        "rouge_l": compute_rouge_l(expect, given),
        "meteor": compute_meteor(expect, given),
    }
    return {name: round(value, 4) for name, value in found.items()}


def select_expected(expected: str, category: int) -> str:
    """What an answer is held against: in category 3 the first of alternatives."""
    return expected.split(";")[0] if category == 3 else expected


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


def compute_rouge_2(wanted: Sequence[str], given: Sequence[str]) -> float:
    """F1 of pairs of neighbouring words: nothing where either has one word only."""
    shared = sum((Counter(pairwise(wanted)) & Counter(pairwise(given))).values())
    return 2 * shared / (len(wanted) + len(given) - 2) if shared else 0.0


def compute_meteor(wanted: Sequence[str], given: Sequence[str]) -> float:
    """The mean of precision and recall of single words with recall nine times the weight,
    10 P R / (R + 9 P), less up to half of it the more runs the shared words fall into.

    Words that match are stems, so that METEOR's exact and stem stages are one; its third, by
    WordNet's synonyms, is left out.
    """
    pairs = _align_words(wanted, given)
    if not pairs:
        return 0.0
    precision, recall = len(pairs) / len(given), len(pairs) / len(wanted)
    runs = 1 + sum(b != (a[0] + 1, a[1] + 1) for a, b in pairwise(pairs))
    mean = 10 * precision * recall / (recall + 9 * precision)
    return mean * (1 - 0.5 * (runs / len(pairs)) ** 3)


def _align_words(wanted: Sequence[str], given: Sequence[str]) -> list[tuple[int, int]]:
    """(place in `given`, place in `wanted`) of words that match, each used once: a word goes on
    with the run before it where it can, else it takes the first of its kind that is left."""
    places: dict[str, list[int]] = {}
    for at, word in enumerate(wanted):
        places.setdefault(word, []).append(at)
    found, last = list[tuple[int, int]](), -1
    for at, word in enumerate(given):
        if left := places.get(word):
            last = last + 1 if last + 1 in left else left[0]
            left.remove(last)
            found.append((at, last))
    return found


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
