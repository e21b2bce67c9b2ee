"""A dataset of dialogues with questions, as plain values, and what its categories are called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.utils.translation import gettext_noop as _

from memoryhub.dialogues.formats import Conversation


@dataclass(frozen=True, slots=True)
class Category:
    """What the number of a question's category means, and what papers call it (spec §9.1).

    Papers print different names for the same number of LoCoMo: figures are kept, compared and
    shown by number, and never matched by name. `content`: by what is asked. `others`: what papers
    print over this number's figures.
    """

    number: int
    content: str
    others: Mapping[str, str] = field(default_factory=dict)


_AMEM, _MEM0 = "A-Mem, MemoryOS", "Mem0"
ADVERSARIAL_CATEGORY = 5  # of LoCoMo
LOCOMO_CATEGORIES: tuple[Category, ...] = (
    Category(1, _("multi-hop"), {_AMEM: "single-hop", _MEM0: "single-hop"}),
    Category(2, _("temporal"), {_AMEM: "multi-hop", _MEM0: "temporal"}),
    Category(3, _("open-domain"), {_AMEM: "temporal", _MEM0: "multi-hop"}),
    Category(4, _("single-hop"), {_AMEM: "open-domain", _MEM0: "open-domain"}),
    Category(5, _("adversarial"), {_AMEM: "adversarial", _MEM0: "left out"}),
)
# LongMemEval names its types; the numbers are ours.
LONGMEMEVAL_CATEGORIES: tuple[Category, ...] = (
    Category(1, "single-session-user"),
    Category(2, "single-session-assistant"),
    Category(3, "single-session-preference"),
    Category(4, "multi-session"),
    Category(5, "temporal-reasoning"),
    Category(6, "knowledge-update"),
)
CATEGORIES_BY_FORMAT: Mapping[str, tuple[Category, ...]] = {
    "locomo": LOCOMO_CATEGORIES,
    "longmemeval": LONGMEMEVAL_CATEGORIES,
}


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
