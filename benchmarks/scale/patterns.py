"""Sessions as the hub stores them, made once: rows that spaces are then put together from.

What is indexed is made by `notes.indexing`, as for any dialogue; only the vectors are drawn, since
embedding a million texts would take hours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import numpy as np

from benchmarks.scale.language import EXCHANGES, Language, Session, Vectors, around
from memoryhub.dialogues.models import Turn
from notes.indexing import Entry, fact_entries, note_entries, page_entries, turn_entries
from notes.models import Fact, Note, Page

SPEAKERS = ("Ana", "Ben")
BEGIN = datetime(2025, 1, 6, 18, tzinfo=UTC)
# Within an exchange: two turns, a fact, their page, and beside every other a note.
ROWS = 8
FACT, PAGE, NOTE = 2, 3, 4


class Row(NamedTuple):
    """One memory of a pattern. `place`: exchange * ROWS + what it is."""

    pattern: int
    place: int
    kind: str
    text: str
    words: str
    window_words: str


def rows(sessions: Sequence[Session]) -> Iterator[Row]:
    for number, session in enumerate(sessions):
        texts, entries = _entries(session)
        for place, entry in entries.items():
            yield Row(number, place, entry.kind, texts[place], entry.words, entry.window_words)


def vectors(language: Language, sessions: Sequence[Session], centres: Vectors) -> Vectors:
    """(sessions * EXCHANGES, dimension) of length 1: what is said in a session lies together."""
    of_topics = centres[[session.topic for session in sessions]]
    of_sessions = around(language.random, of_topics, 0.8)
    return around(language.random, np.repeat(of_sessions, EXCHANGES, axis=0), 0.8)


def _entries(session: Session) -> tuple[dict[int, str], dict[int, Entry]]:
    """(texts, index entries), both by place."""
    turns = list(_turns(session))
    places = {turn.id: at // 2 * ROWS + at % 2 for at, turn in enumerate(turns)}
    texts = {places[turn.id]: turn.text for turn in turns}
    made = turn_entries(turns, SPEAKERS)
    for at, text in enumerate(session.facts):
        said, when = turns[2 * at], turns[2 * at].occurred_at
        fact = Fact(owner=SPEAKERS[0], speaker=SPEAKERS[0], text=text, asserted_at=when)
        page = Page(first_seq=2 * at, last_seq=2 * at + 1)
        note = Note(content=said.text, keywords=text.split()[-3:], occurred_at=when)
        notes = [note] if at % 2 == 0 else []
        made += fact_entries([fact]) + note_entries(notes)
        made += page_entries([(page, turns[2 * at : 2 * at + 2])], SPEAKERS)
        for row, code, shown in ((fact, FACT, text), (page, PAGE, ""), (note, NOTE, said.text)):
            places[row.id] = at * ROWS + code
            texts[at * ROWS + code] = shown
    return texts, {places[entry.owner_id]: entry for entry in made}


def _turns(session: Session) -> Iterator[Turn]:
    for at, pair in enumerate(zip(session.said, session.answered, strict=True)):
        for reply, text in enumerate(pair):
            when = BEGIN + timedelta(minutes=2 * at + reply)
            yield Turn(text=text, speaker=SPEAKERS[reply], occurred_at=when, ordinal=2 * at + reply)
