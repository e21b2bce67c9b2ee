"""A dataset of dialogues with questions, as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from memoryhub.dialogues.formats import Conversation
from memoryhub.lab.datasets.categories import CATEGORIES_BY_FORMAT, Category


@dataclass(frozen=True, slots=True)
class DatasetQuestion:
    """`category` is the set's number (0 where it has none); `evidence` may be empty.

    `expected` is "" where the set names no answer. `unanswerable`: nothing was said about it.
    `asked_at`: when it is asked, where the set says so.
    """

    text: str
    category: int = 0
    evidence: frozenset[str] = frozenset()
    expected: str = ""
    unanswerable: bool = False
    asked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A conversation, and what is asked about it."""

    conversation: Conversation
    questions: list[DatasetQuestion] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.conversation.subject

    @property
    def turn_count(self) -> int:
        return sum(len(session.messages) for session in self.conversation.sessions)


@dataclass(frozen=True, slots=True)
class Dataset:
    """A file as read. `sha256` is that of its bytes: two reports with the same one compare."""

    name: str
    form: str
    sha256: str
    dialogues: Sequence[Dialogue]

    @property
    def categories(self) -> tuple[Category, ...]:
        return CATEGORIES_BY_FORMAT.get(self.form, ())
