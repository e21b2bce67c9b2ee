"""A memory that may answer a question, with what speaks for it."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from memoryhub.recall.render.results import ItemKind


class MemoryCandidate(NamedTuple):
    """A memory with what the signals need. A tuple: a search makes some hundreds of them.

    `dense` is in [-2, 2], two similarities added, or None without a vector. `lexical` is about
    the share of the question's words it has, in itself and in its window on average, and more
    where they are repeated. `session` and `place` say where a turn stands. `text` is cut to 500
    characters. `recalled_at` and `strength` say how well it is remembered (spec §11.6). `asked`
    and `words` are stems with spaces between: the question's, and its own with its window's.
    `role` is that of a turn's speaker.
    """

    kind: ItemKind
    id: UUID
    dense: float | None
    lexical: float
    speaker: str
    owner: str
    predicate: str
    occurred_at: datetime
    event_from: datetime | None
    event_to: datetime | None
    session: UUID | None
    place: int
    text: str
    recalled_at: datetime | None = None
    strength: int = 1
    question_words: str = ""
    words: str = ""
    role: str = ""
