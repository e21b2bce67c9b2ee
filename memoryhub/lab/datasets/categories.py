"""What the numbers of question categories mean, and what papers call them (spec §9.1).

Papers print different names for the same number of LoCoMo: figures are kept, compared and shown
by number, and never matched by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from django.utils.translation import gettext_noop as _


@dataclass(frozen=True, slots=True)
class Category:
    """`content`: by what is asked. `others`: what papers print over this number's figures."""

    number: int
    content: str
    others: Mapping[str, str]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


_AMEM, _MEM0 = "A-Mem, MemoryOS", "Mem0"

LOCOMO_CATEGORIES: tuple[Category, ...] = (
    Category(1, _("multi-hop"), {_AMEM: "single-hop", _MEM0: "single-hop"}),
    Category(2, _("temporal"), {_AMEM: "multi-hop", _MEM0: "temporal"}),
    Category(3, _("open-domain"), {_AMEM: "temporal", _MEM0: "multi-hop"}),
    Category(4, _("single-hop"), {_AMEM: "open-domain", _MEM0: "open-domain"}),
    Category(5, _("adversarial"), {_AMEM: "adversarial", _MEM0: "left out"}),
)
# LongMemEval names its types; the numbers are ours.
LONGMEMEVAL_CATEGORIES: tuple[Category, ...] = (
    Category(1, "single-session-user", {}),
    Category(2, "single-session-assistant", {}),
    Category(3, "single-session-preference", {}),
    Category(4, "multi-session", {}),
    Category(5, "temporal-reasoning", {}),
    Category(6, "knowledge-update", {}),
)
CATEGORIES_BY_FORMAT: Mapping[str, tuple[Category, ...]] = {
    "locomo": LOCOMO_CATEGORIES,
    "longmemeval": LONGMEMEVAL_CATEGORIES,
}
ADVERSARIAL_CATEGORY = 5  # of LoCoMo
