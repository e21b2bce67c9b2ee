"""Which notes belong together and what they teach each other, by likeness and shared words.

Read off pairs of the demo dialogues with the packaged embedder: above a cosine of .65 English
notes belong together (about nine in ten do), between .45 and .65 they do when they also share a
particular word, and below that the sharing of one is chance. Where the embedder can't read the
language (to the packaged one, the median of two unrelated Chinese notes is .78), no cosines are
given, and a shared word alone decides. Likeness never says that two notes contradict or repeat
one another: every link made here is `related`.
"""

from __future__ import annotations

import re
from calendar import day_name, month_name
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from memoryhub.engines.local.language import detect_language
from memoryhub.engines.local.notes.describe import (
    describe_passages,
    find_speaker_words,
    strip_speakers,
)
from memoryhub.engines.local.notes.introduce import evolve_by_introductions
from memoryhub.engines.local.wordlists import COURTESIES, VAGUE_NOUNS
from memoryhub.engines.types import (
    Association,
    LinkDraft,
    Neighbourhood,
    NoteDraft,
    NoteEvolution,
    NoteState,
    Passage,
)

MIN_LINK_CLOSENESS = 0.65  # closeness of a link
MIN_SPREAD_CLOSENESS = 0.72  # closeness over which themes spread
_SHARED_WORD_BONUS = 0.12  # what each shared word adds, of three at most
_UNKNOWN_COSINE = 0.53  # stands for a cosine that is not given: one shared word is enough
MAX_LINKS = 5  # of a new note, the closest
# Days and months have capitals, and tell nothing of what is spoken of.
_CALENDAR_WORDS = frozenset(name.lower() for name in (*day_name, *month_name) if name)
_IDLE_TERMS = _CALENDAR_WORDS | COURTESIES | VAGUE_NOUNS
_MIN_NEIGHBOURS_FOR_COMMON = 4  # with fewer neighbours no word is called common
_APOSTROPHE = re.compile(r"['’](?:m|ve|re|d|ll|t|s)?$")
# A capital inside a sentence; a name at its beginning can't be told from any other word.
_NAME = re.compile(r"(?<=[\w,;] )[A-Z][\w'’-]*[a-z]\b")


@dataclass(frozen=True, slots=True)
class NeighbourTie:
    """A new note's neighbour, how close it is, and the words they share."""

    note: NoteState
    closeness: float
    shared: tuple[str, ...]


def find_ties(near: Neighbourhood) -> list[NeighbourTie]:
    """The neighbours close enough for a link, the closest first."""
    own, others = extract_terms(near.note), [extract_terms(note) for note in near.neighbours]
    common = _find_common_terms(others)
    likeness = near.similar or [_UNKNOWN_COSINE] * len(others)
    ties = []
    for note, similar, terms in zip(near.neighbours, likeness, others, strict=True):
        if not (own and terms):
            continue  # of "Bye! Can't wait!" and "Just wanted to say hi!" there is nothing to join
        shared = tuple(sorted((own & terms) - common))
        closeness = score_closeness(similar, len(shared))
        ties.append(NeighbourTie(note, closeness, shared))
    close = [tie for tie in ties if tie.closeness >= MIN_LINK_CLOSENESS]
    return sorted(close, key=lambda tie: -tie.closeness)[:MAX_LINKS]


def score_closeness(similar: float, shared: int) -> float:
    """The cosine, raised by each of the first three shared words; at most 1."""
    return round(min(1.0, similar + _SHARED_WORD_BONUS * min(3, shared)), 6)


def extract_terms(note: NoteState) -> frozenset[str]:
    """Words that make a note particular: those of its keywords, and names in its text."""
    words = (word for keyword in note.keywords for word in _split_keyword(keyword.lower()))
    names = (_strip_possessive(name) for name in _NAME.findall(strip_speakers(note.content)))
    speakers = find_speaker_words(note.content)
    return frozenset(
        word
        for word in {*words, *names} - _IDLE_TERMS - speakers
        if not _APOSTROPHE.search(word) and not _is_nickname(word, speakers)
    )


def _is_nickname(word: str, speakers: Iterable[str]) -> bool:
    """Whether somebody who speaks may be called so: "mel" is Melanie, not a subject."""
    return len(word) > 2 and any(name.startswith(word) for name in speakers)


def _split_keyword(keyword: str) -> list[str]:
    """Its last word is what it is about; the words before count unless they are short."""
    *before, last = keyword.split() or [""]
    return [word for word in (*(w for w in before if len(w) > 3), last) if len(word) > 1]


def _strip_possessive(name: str) -> str:
    return re.sub(r"['’]s$", "", name).lower()


def _find_common_terms(others: Sequence[frozenset[str]]) -> frozenset[str]:
    """Words of more than half of the neighbours: they tell none of them apart."""
    if len(others) < _MIN_NEIGHBOURS_FOR_COMMON:
        return frozenset()
    counts = Counter(term for terms in others for term in terms)
    return frozenset(term for term, count in counts.items() if count > len(others) / 2)


def _build_link(note: NoteState, tie: NeighbourTie) -> LinkDraft:
    reason = _format_reason(note, tie)
    return LinkDraft(note.handle, tie.note.handle, "related", reason, tie.closeness)


def _format_reason(note: NoteState, tie: NeighbourTie) -> str:
    words = tie.shared[:4]
    if detect_language(note.content) == "zh":
        return f"都提到{'、'.join(words)}" if words else "内容相近"
    return f"Both speak of {_format_list(words)}" if words else "They say much the same"


def _format_list(words: Sequence[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _evolve_tags(note: NoteState, ties: Sequence[NeighbourTie]) -> list[NoteEvolution]:
    """Themes that a note and its close neighbours agree on reach the one that lacks them.

    Only themes: a keyword moved from one note to another would say of it what it does not say.
    """
    strong = [tie for tie in ties if tie.closeness >= MIN_SPREAD_CLOSENESS]
    counts = Counter(tag for tie in strong for tag in tie.note.tags)
    agreed = [tag for tag, n in counts.items() if n >= 2 and n > len(strong) / 2]
    grown = [_add_tags(note, agreed, "Its closest neighbours share the theme")]
    known = [tag for tag in note.tags if counts[tag]]
    grown += [
        _add_tags(tie.note, known, _format_reason(note, tie))
        for tie in strong
        if tie.shared and known
    ]
    return [each for each in grown if each]


def _add_tags(note: NoteState, tags: Sequence[str], why: str) -> NoteEvolution | None:
    missing = [tag for tag in tags if tag not in note.tags]
    return NoteEvolution(note.handle, tags=(*note.tags, *missing), why=why) if missing else None


def _merge_evolutions(found: Iterable[NoteEvolution]) -> tuple[NoteEvolution, ...]:
    """One evolution a note, with what all of them add, and each reason once."""
    merged: dict[str, NoteEvolution] = {}
    for each in found:
        before = merged.get(each.handle, NoteEvolution(each.handle))
        merged[each.handle] = NoteEvolution(
            each.handle,
            keywords=_join_words(before.keywords, each.keywords),
            tags=_join_words(before.tags, each.tags),
            context=before.context or each.context,
            why="; ".join(dict.fromkeys(why for why in (before.why, each.why) if why)),
        )
    return tuple(merged.values())


def _join_words(
    before: tuple[str, ...] | None, more: tuple[str, ...] | None
) -> tuple[str, ...] | None:
    joined = tuple(dict.fromkeys((*(before or ()), *(more or ()))))
    return joined or None


class NoteRules:
    def describe_notes(self, texts: Sequence[Passage]) -> list[NoteDraft | None]:
        """Keywords, themes and a line of context; without any where a text names nothing."""
        return describe_passages(texts)

    def link_and_evolve(
        self, notes: Sequence[Neighbourhood], *, links: bool = True, evolve: bool = True
    ) -> Association:
        """Links of each new note with the closest of its neighbours, themes that spread, and who
        is who among all that are near."""
        ties = [(near.note, find_ties(near)) for near in notes]
        found = (_build_link(note, tie) for note, close in ties for tie in close)
        grown = (each for note, close in ties for each in _evolve_tags(note, close))
        known = (
            each for near in notes for each in evolve_by_introductions(near.note, near.neighbours)
        )
        evolutions = _merge_evolutions(chain(grown, known)) if evolve else ()
        return Association(tuple(found) if links else (), evolutions)
