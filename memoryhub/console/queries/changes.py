"""What people and keys changed, wherever it is kept: memories, policies, erasures, the tenant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import CharField, F, Func, QuerySet, UUIDField, Value
from django.urls import reverse

from memoryhub.console.listing import Choice, Filters, containing
from memoryhub.console.wording import erased_target
from memoryhub.policies.models import PolicyVersion
from memoryhub.tenants.models import AuditEntry
from notes.models import EvolutionEvent, Receipt

DAYS = Choice(
    "days", "Days", (("30", "last 30"), ("7", "last 7"), ("1", "last one"), ("all", "all"))
)
AREA = Choice(
    "area",
    "Of",
    (
        ("all", "anything"),
        ("memory", "memories"),
        ("policy", "policy"),
        ("erasure", "erasures"),
        ("key", "keys"),
        ("person", "people"),
        ("webhook", "webhooks"),
        ("tenant", "tenant"),
        ("data", "data taken out"),
    ),
)
CHOICES = (DAYS, AREA)
# What is not by hand is the pipeline's, and an erasure has its receipt.
_BY_HAND = (EvolutionEvent.Kind.MANUAL, EvolutionEvent.Kind.UNDO)
_COLUMNS = ("id", "when", "who", "area", "what", "of", "why", "in_space", "subject")
_WORDS = {
    **dict(EvolutionEvent.Kind.choices),
    **dict(AuditEntry.Action.choices),
    "policy": "Policy changed",
    "erased": "Erased",
}
_PAGES = {"key": "keys", "person": "people", "webhook": "webhooks", "tenant": "settings"}


@dataclass(frozen=True, slots=True)
class Change:
    """One of them. `what` is its kind, `of` and `why` are words kept with it."""

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
    area = filters["area"]
    sources = {"memory": _memories, "policy": _policies, "erasure": _erasures}
    if area == "all":
        first, *rest = [*(source(filters) for source in sources.values()), _entries(filters)]
    else:
        first, rest = sources.get(area, _entries)(filters), []
    if filters["days"] != "all":
        since = now - timedelta(days=int(filters["days"]))
        first, *rest = [rows.filter(when__gte=since) for rows in (first, *rest)]
    first, *rest = [rows.order_by().values(*_COLUMNS) for rows in (first, *rest)]
    return (first.union(*rest, all=True) if rest else first).order_by("-when", "-id")


def told(rows: Iterable[dict[str, Any]]) -> Iterator[Change]:
    return (Change(**row) for row in rows)


def _memories(filters: Filters) -> QuerySet[Any]:
    rows = EvolutionEvent.objects.filter(kind__in=_BY_HAND)
    rows = rows.filter(containing(filters.q, "actor", "reason", "trigger", "space__subject"))
    return rows.annotate(
        when=F("created_at"), area=_word("memory"), what=F("kind"), of=F("trigger"), **_OF_SPACE
    )


def _policies(filters: Filters) -> QuerySet[Any]:
    rows = PolicyVersion.objects.filter(
        containing(filters.q, "actor", "reason", "preset", "space__subject")
    )
    return rows.annotate(
        when=F("created_at"),
        area=_word("policy"),
        what=_word("policy"),
        of=F("preset"),
        **_OF_SPACE,
    )


def _erasures(filters: Filters) -> QuerySet[Any]:
    rows = Receipt.objects.filter(containing(filters.q, "actor", "reason", "target"))
    nowhere: dict[str, Any] = {"in_space": Value(None, UUIDField()), "subject": _word(None)}
    return rows.annotate(
        when=F("created_at"),
        who=F("actor"),
        why=F("reason"),
        area=_word("erasure"),
        what=_word("erased"),
        of=F("target"),
        **nowhere,
    )


def _entries(filters: Filters) -> QuerySet[Any]:
    rows = AuditEntry.objects.filter(
        containing(filters.q, "actor", "about", "detail", "space__subject")
    )
    if filters["area"] != "all":
        rows = rows.filter(action__startswith=f"{filters['area']}.")
    kind = Func(F("action"), Value("."), Value(1), function="split_part", output_field=CharField())
    values = {**_OF_SPACE, "why": F("detail")}
    return rows.annotate(when=F("at"), area=kind, what=F("action"), of=F("about"), **values)


def _word(text: str | None) -> Value:
    return Value(text, CharField())


_OF_SPACE: dict[str, Any] = {
    "who": F("actor"),
    "why": F("reason"),
    "in_space": F("space_id"),
    "subject": F("space__subject"),
}
