"""Which clauses of what was said tell a claim that is to be erased (spec §11.9). Pure.

English and Chinese borders: marks, and words that bring something else up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from memoryhub.dialogues.models import Turn
from memoryhub.dialogues.redaction import TextSpan, draw_bars
from memoryhub.engines.local.grammar.speech import asks_to_forget
from memoryhub.engines.local.language import HAN
from memoryhub.engines.local.wordlists import split_words
from notes.erasure.evidence import is_repetition
from notes.facts.words import extract_stems, stem_word

_BORDER = re.compile(
    r"(?<=[,;.!?])(?=\s)|(?<=[，；。！？\n])"
    rf"|(?<=[,;!?])(?=[{HAN}])|(?=\b(?:and|but|also|oh)\b)|(?=顺便|对了|另外|还有)",
    re.I,
)
_SENTENCE_BORDER = re.compile(rf"(?<=[.!?])(?=[\s{HAN}])|(?<=[。！？\n])")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
# What opens a clause, or fills it, and tells nothing by itself.
_FILLERS = frozenset(
    stem_word(word)
    for word in split_words(
        """
    oh also but so well hey hi hello ok okay yes please thanks thank you u your i i'm me my mine we
    it it's that this thing things one which what who can could would will shall just really
    forget delete erase remove get rid about mean say said tell told anything something else
    nothing help sure sorry know noted done understood
    """
    )
) | set("我你您他她它吧呢啊哦嗯请把那这个件事也就都跟和说忘记掉删除对顺便还有另外好")


def list_clauses(text: str, border: re.Pattern[str] = _BORDER) -> list[TextSpan]:
    """Where its clauses stand; what only opens one belongs to the next."""
    edges = sorted({0, len(text), *(match.start() for match in border.finditer(text))})
    found: list[TextSpan] = []
    start = 0
    for end in edges[1:]:
        if _list_telling_words(text[start:end]) or end == len(text):
            found.append(_trim(text, start, end))
            start = end
    return [(start, end) for start, end in found if start < end]


def list_sentences(text: str) -> list[TextSpan]:
    return list_clauses(text, _SENTENCE_BORDER)


def _trim(text: str, start: int, end: int) -> TextSpan:
    bare = text[start:end]
    start += len(bare) - len(bare.lstrip())
    return start, max(start, end - (len(bare) - len(bare.rstrip())))


def _list_telling_words(text: str) -> set[str]:
    return set(extract_stems(text) - _FILLERS)


@dataclass(frozen=True, slots=True)
class ToldClaim:
    """A claim as a turn tells it: `span` where it does, if that is known."""

    text: str
    value: str
    owner: str
    span: TextSpan | None = None


@dataclass(slots=True)
class TurnCut:
    """A turn that loses `spans` of its text and keeps the rest."""

    turn: Turn
    spans: list[TextSpan]
    lost: str = field(init=False)  # the words that go, and those that stay
    left: str = field(init=False)

    def __post_init__(self) -> None:
        text = self.turn.words
        self.lost = "\n".join(text[start:end] for start, end in self.spans)
        self.turn.text = draw_bars(self.turn.text, self.spans)
        self.left = self.turn.words
        self.turn.text = text


def find_told_spans(
    text: str, claims: Sequence[ToldClaim], kept: Sequence[ToldClaim], said: Iterable[str] = ()
) -> list[TextSpan]:
    """The stretches that tell the claims, clause by clause; of a clause that tells a kept one as
    well, only what that doesn't rest on. `said`: what has been told in other turns."""
    clauses = list_clauses(text)
    own = [claim.span for claim in claims if claim.span]
    held = [part for claim in kept for part in _narrow(text, clauses, claim)]
    texts = [*said, *(claim.text for claim in claims)]
    values = [(claim.value, claim.owner) for claim in claims]
    found: list[TextSpan] = []
    for clause in clauses:
        mine = [span for span in own if _overlaps(span, clause)]
        tells = is_repetition(text[slice(*clause)], texts, values)
        beside = [span for span in held if _overlaps(span, clause)]
        if not beside and (mine or tells):
            found.append(clause)
        elif mine:
            free = [part for part in _subtract(clause, beside) if _overlaps_any(part, mine)]
            free = [part for part in free if _list_telling_words(text[slice(*part)])]
            found += free or (_find_words(text, clause, values) if tells else [])
    return _merge(found or own)


def leave_out_repeating(kept: Iterable[ToldClaim], lost: Sequence[ToldClaim]) -> list[ToldClaim]:
    """The kept claims without those that stand within the words of a lost one and tell nothing
    that it does not: "adopted a parrot called Rio" takes "the parrot is called Rio" along."""
    return [claim for claim in kept if not any(_repeats(claim, other) for other in lost)]


def _repeats(claim: ToldClaim, other: ToldClaim) -> bool:
    if not claim.span or not other.span:
        return False
    within = other.span[0] <= claim.span[0] and claim.span[1] <= other.span[1]
    return within and extract_stems(claim.text, claim.owner) <= extract_stems(
        other.text, other.owner
    )


def _narrow(text: str, clauses: Sequence[TextSpan], claim: ToldClaim) -> list[TextSpan]:
    """Of what a claim rests on, the clauses that say it, where some do."""
    start, end = claim.span or (0, len(text))
    parts = [(max(start, a), min(end, b)) for a, b in clauses if _overlaps((a, b), (start, end))]
    telling = [
        part
        for part in parts
        if is_repetition(text[slice(*part)], (), [(claim.value, claim.owner)])
    ]
    return telling or ([claim.span] if claim.span else [])


def _subtract(clause: TextSpan, taken: Iterable[TextSpan]) -> list[TextSpan]:
    start, found = clause[0], []
    for a, b in sorted(taken):
        found.append((start, min(a, clause[1])))
        start = max(start, b)
    return [(a, b) for a, b in [*found, (start, clause[1])] if a < b]


def _find_words(text: str, clause: TextSpan, values: Iterable[tuple[str, str]]) -> list[TextSpan]:
    """The values word for word, else the words of theirs that stand here."""
    values, here = list(values), text[slice(*clause)]
    exact = [m.span() for v, _ in values for m in re.finditer(re.escape(v), here, re.I) if v]
    if exact:
        return [(clause[0] + start, clause[0] + end) for start, end in exact]
    telling = {stem for value, owner in values for stem in extract_stems(value, owner)}
    words = _WORD.finditer(text, *clause)
    return [word.span() for word in words if extract_stems(word[0]) & telling]


def _overlaps(a: TextSpan, b: TextSpan) -> bool:
    return a[0] < b[1] and b[0] < a[1]


def _overlaps_any(span: TextSpan, others: Iterable[TextSpan]) -> bool:
    return any(_overlaps(span, other) for other in others)


def _merge(spans: Iterable[TextSpan]) -> list[TextSpan]:
    found: list[TextSpan] = []
    for start, end in sorted(set(spans)):
        if found and start < found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def says_more(text: str, spans: Iterable[TextSpan], known: Iterable[str]) -> bool:
    """Whether anything is told outside these stretches but what is `known`; a wish to forget is
    not."""
    left = draw_bars(text, spans)
    stems = {stem for each in known for stem in extract_stems(each)}
    return any(
        _list_telling_words(left[start:end]) - stems
        for start, end in list_clauses(left)
        if not asks_to_forget(left[start:end], left)
    )


def find_wish_spans(text: str) -> list[TextSpan]:
    """The sentences that ask to forget something."""
    return [span for span in list_sentences(text) if asks_to_forget(text[slice(*span)], text)]


def has_own_words(derived: str, lost: Iterable[str], left: Iterable[str]) -> bool:
    """Whether a text says anything that only the lost words do; of Han, two characters together."""
    gone = _list_tokens(lost) - _list_tokens(left)
    return bool(gone & _list_tokens([derived]))


_HAN_RUN = re.compile(f"[{HAN}]{{2,}}")


def _list_tokens(texts: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for text in texts:
        found |= {word for word in _list_telling_words(text) if not re.match(f"[{HAN}]", word)}
        runs = [run[0] for run in _HAN_RUN.finditer(text)]
        found |= {run[at : at + 2] for run in runs for at in range(len(run) - 1)}
    return found
