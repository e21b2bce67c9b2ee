"""Sessions as the hub stores them, made once: rows that spaces are then put together from.

What is indexed is made by `notes.index.indexer`, as for any dialogue; only the vectors are drawn,
since embedding a million texts would take hours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import numpy as np

from benchmarks.scale.language import EXCHANGES, Language, PatternSession, Vectors, draw_around
from memoryhub.dialogues.models import Turn
from notes.index import indexer
from notes.models import Fact, Note, Page

SPEAKERS = ("Ana", "Ben")
START_TIME = datetime(2025, 1, 6, 18, tzinfo=UTC)
# Within an exchange: two turns, a fact, their page, and beside every other a note.
ROWS_PER_EXCHANGE = 8
FACT, PAGE, NOTE = 2, 3, 4


class PatternRow(NamedTuple):
    """One memory of a pattern. `place`: exchange * ROWS + what it is."""

    pattern: int
    place: int
    kind: str
    text: str
    words: str
    window_words: str


def build_rows(sessions: Sequence[PatternSession]) -> Iterator[PatternRow]:
    for number, session in enumerate(sessions):
        texts, entries = _build_entries(session)
        for place, entry in entries.items():
            yield PatternRow(
                number, place, entry.kind, texts[place], entry.words, entry.window_words
            )


def draw_session_vectors(
    language: Language, sessions: Sequence[PatternSession], centres: Vectors
) -> Vectors:
    """(sessions * EXCHANGES, dimension) of length 1: what is said in a session lies together."""
    of_topics = centres[[session.topic for session in sessions]]
    of_sessions = draw_around(language.random, of_topics, 0.8)
    return draw_around(language.random, np.repeat(of_sessions, EXCHANGES, axis=0), 0.8)


def _build_entries(session: PatternSession) -> tuple[dict[int, str], dict[int, indexer.EntryDraft]]:
    """(texts, index entries), both by place."""
    turns = list(_build_turns(session))
    places = {turn.id: at // 2 * ROWS_PER_EXCHANGE + at % 2 for at, turn in enumerate(turns)}
    texts = {places[turn.id]: turn.text for turn in turns}
    made = indexer.build_turn_entries(turns, SPEAKERS)
    for at, text in enumerate(session.facts):
        said, when = turns[2 * at], turns[2 * at].occurred_at
        fact = Fact(owner=SPEAKERS[0], speaker=SPEAKERS[0], text=text, asserted_at=when)
        page = Page(first_seq=2 * at, last_seq=2 * at + 1)
        note = Note(content=said.text, keywords=text.split()[-3:], occurred_at=when)
        notes = [note] if at % 2 == 0 else []
        made += indexer.build_fact_entries([fact]) + indexer.build_note_entries(notes)
        made += indexer.build_page_entries([(page, turns[2 * at : 2 * at + 2])], SPEAKERS)
        for row, code, shown in ((fact, FACT, text), (page, PAGE, ""), (note, NOTE, said.text)):
            places[row.id] = at * ROWS_PER_EXCHANGE + code
            texts[at * ROWS_PER_EXCHANGE + code] = shown
    return texts, {places[entry.owner_id]: entry for entry in made}


def _build_turns(session: PatternSession) -> Iterator[Turn]:
    for at, pair in enumerate(zip(session.user_texts, session.reply_texts, strict=True)):
        for reply, text in enumerate(pair):
            when = START_TIME + timedelta(minutes=2 * at + reply)
            yield Turn(text=text, speaker=SPEAKERS[reply], occurred_at=when, ordinal=2 * at + reply)
