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

from memoryhub.engines.local.describing import speakers_of, without_speakers
from memoryhub.engines.local.language import language_of
from memoryhub.engines.types import Association, Evolution, LinkDraft, Neighbourhood, NoteView

ENOUGH = 0.65  # closeness of a link
STRONG = 0.72  # closeness over which themes spread
_A_WORD = 0.12  # what each shared word adds, of three at most
_UNKNOWN = 0.53  # stands for a cosine that is not given: one shared word is enough
MOST_LINKS = 5  # of a new note, the closest
# Days and months have capitals, and tell nothing of what is spoken of.
_CALENDAR = frozenset(name.lower() for name in (*day_name, *month_name) if name)
_FEW = 4  # with fewer neighbours no word is called common
# A capital inside a sentence; a name at its beginning can't be told from any other word.
_NAME = re.compile(r"(?<=[\w,;] )[A-Z][\w'’-]*[a-z]\b")


@dataclass(frozen=True, slots=True)
class Tie:
    """A new note's neighbour, how close it is, and the words they share."""

    note: NoteView
    closeness: float
    shared: tuple[str, ...]


def associated(notes: Sequence[Neighbourhood], *, links: bool, evolve: bool) -> Association:
    """Links of each new note with the closest of its neighbours, and themes that spread."""
    ties = [(near.note, ties_of(near)) for near in notes]
    return Association(
        links=tuple(_link(note, tie) for note, found in ties for tie in found) if links else (),
        evolutions=_merged(e for note, found in ties for e in _grown(note, found))
        if evolve
        else (),
    )


def ties_of(near: Neighbourhood) -> list[Tie]:
    """The neighbours close enough for a link, the closest first."""
    own, others = terms_of(near.note), [terms_of(note) for note in near.neighbours]
    common = _common(others)
    likeness = near.similar or [_UNKNOWN] * len(others)
    ties = []
    for note, similar, terms in zip(near.neighbours, likeness, others, strict=True):
        shared = tuple(sorted((own & terms) - common))
        closeness = closeness_of(similar, len(shared))
        ties.append(Tie(note, closeness, shared))
    close = [tie for tie in ties if tie.closeness >= ENOUGH]
    return sorted(close, key=lambda tie: -tie.closeness)[:MOST_LINKS]


def closeness_of(similar: float, shared: int) -> float:
    """The cosine, raised by each of the first three shared words; at most 1."""
    return round(min(1.0, similar + _A_WORD * min(3, shared)), 6)


def terms_of(note: NoteView) -> frozenset[str]:
    """Words that make a note particular: those of its keywords, and names in its text."""
    words = (word for keyword in note.keywords for word in _words_of(keyword.lower()))
    names = (_bare(name) for name in _NAME.findall(without_speakers(note.content)))
    return frozenset({*words, *names}) - _CALENDAR - speakers_of(note.content)


def _words_of(keyword: str) -> list[str]:
    """Its last word is what it is about; the words before count unless they are short."""
    *before, last = keyword.split() or [""]
    return [word for word in (*(w for w in before if len(w) > 3), last) if len(word) > 1]


def _bare(name: str) -> str:
    return re.sub(r"['’]s$", "", name).lower()


def _common(others: Sequence[frozenset[str]]) -> frozenset[str]:
    """Words of more than half of the neighbours: they tell none of them apart."""
    if len(others) < _FEW:
        return frozenset()
    counts = Counter(term for terms in others for term in terms)
    return frozenset(term for term, count in counts.items() if count > len(others) / 2)


def _link(note: NoteView, tie: Tie) -> LinkDraft:
    return LinkDraft(note.handle, tie.note.handle, "related", _reason(note, tie), tie.closeness)


def _reason(note: NoteView, tie: Tie) -> str:
    words = tie.shared[:4]
    if language_of(note.content) == "zh":
        return f"都提到{'、'.join(words)}" if words else "内容相近"
    return f"Both speak of {_listed(words)}" if words else "They say much the same"


def _listed(words: Sequence[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _grown(note: NoteView, ties: Sequence[Tie]) -> list[Evolution]:
    """Themes that a note and its close neighbours agree on reach the one that lacks them.

    Only themes: a keyword moved from one note to another would say of it what it does not say.
    """
    strong = [tie for tie in ties if tie.closeness >= STRONG]
    counts = Counter(tag for tie in strong for tag in tie.note.tags)
    agreed = [tag for tag, n in counts.items() if n >= 2 and n > len(strong) / 2]
    grown = [_with_tags(note, agreed, "Its closest neighbours share the theme")]
    known = [tag for tag in note.tags if counts[tag]]
    grown += [
        _with_tags(tie.note, known, _reason(note, tie)) for tie in strong if tie.shared and known
    ]
    return [each for each in grown if each]


def _with_tags(note: NoteView, tags: Sequence[str], why: str) -> Evolution | None:
    missing = [tag for tag in tags if tag not in note.tags]
    return Evolution(note.handle, tags=(*note.tags, *missing), why=why) if missing else None


def _merged(found: Iterable[Evolution]) -> tuple[Evolution, ...]:
    """One evolution a note, with the tags of all."""
    merged: dict[str, Evolution] = {}
    for each in found:
        before = merged.get(each.handle, each)
        tags = tuple(dict.fromkeys((*(before.tags or ()), *(each.tags or ()))))
        merged[each.handle] = Evolution(each.handle, tags=tags, why=before.why)
    return tuple(merged.values())
