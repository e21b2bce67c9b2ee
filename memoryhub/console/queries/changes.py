"""What people and keys changed (api/audit.py), for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from api.audit import COLUMNS, sources
from memoryhub.console.listing import Choice, Filters, containing
from memoryhub.console.wording import erased_target
from memoryhub.tenants.models import AuditEntry
from notes.models import EvolutionEvent

DAYS = Choice(
    "days",
    _("Days"),
    (("30", _("last 30")), ("7", _("last 7")), ("1", _("last one")), ("all", _("all"))),
)
AREA = Choice(
    "area",
    _("Of"),
    (
        ("all", _("anything")),
        ("memory", _("memories")),
        ("policy", _("policy")),
        ("erasure", _("erasures")),
        ("key", _("keys")),
        ("person", _("people")),
        ("webhook", _("webhooks")),
        ("tenant", _("tenant")),
        ("data", _("data taken out")),
    ),
)
CHOICES = (DAYS, AREA)
_WORDS = {
    **dict(EvolutionEvent.Kind.choices),
    **dict(AuditEntry.Action.choices),
    "policy": _("Policy changed"),
    "erased": _("Erased"),
}
_PAGES = {"key": "keys", "person": "people", "webhook": "webhooks", "tenant": "settings"}


@dataclass(frozen=True, slots=True)
class Change:
    """A row of the audit."""

    id: UUID
    when: datetime
    who: str
    area: str
    what: str
    of: str
    why: str
    in_space: UUID | None
    subject: str | None

    @property
    def words(self) -> str:
        return str(_WORDS.get(self.what, self.what))

    @property
    def about(self) -> str:
        return erased_target(self.of) if self.area == "erasure" else self.of

    @property
    def address(self) -> str:
        """Where it is told in full; "" where nothing more is known."""
        if self.area == "memory":
            return reverse("space-event", args=[self.in_space, self.id])
        if self.area == "erasure":
            return reverse("receipt", args=[self.id])
        if self.area == "policy":
            return (
                reverse("space-policy", args=[self.in_space])
                if self.in_space
                else reverse("policy")
            )
        return reverse(_PAGES[self.area]) if self.area in _PAGES else ""


def changes(filters: Filters, now: datetime) -> QuerySet[Any]:
    """Rows of values, newest first; `told` makes Changes of them. One statement, of all sources."""
    kept = containing(filters.q, "who", "why", "of", "subject")
    if filters["area"] != "all":
        kept &= Q(area=filters["area"])
    if filters["days"] != "all":
        kept &= Q(when__gte=now - timedelta(days=int(filters["days"])))
    first, *rest = [rows.filter(kept).order_by().values(*COLUMNS) for rows in sources()]
    return first.union(*rest, all=True).order_by("-when", "-id")


def told(rows: Iterable[dict[str, Any]]) -> Iterator[Change]:
    return (Change(**row) for row in rows)
