"""What people and keys changed, wherever it is kept: memories, policies, erasures, the tenant.

Four tables of which each tells it in its own words, under names that they share.
"""

from __future__ import annotations

from typing import Any

from django.db.models import CharField, F, Func, QuerySet, UUIDField, Value

from memoryhub.policies.models import PolicyVersion
from memoryhub.tenants.models import AuditEntry
from notes.models import EvolutionEvent, Receipt

# `when`, by `who`, of which `area`; `what` is its kind, `of` and `why` are words kept with it.
COLUMNS = ("id", "when", "who", "area", "what", "of", "why", "in_space", "subject")
# What is not by hand is the pipeline's, and an erasure has its receipt.
_BY_HAND = (EvolutionEvent.Kind.MANUAL, EvolutionEvent.Kind.UNDO)


def sources() -> list[QuerySet[Any]]:
    """The rows of each table, with COLUMNS; their union is the audit. Call inside the tenant's
    scope."""
    return [_memories(), _policies(), _erasures(), _entries()]


def _memories() -> QuerySet[Any]:
    rows = EvolutionEvent.objects.filter(kind__in=_BY_HAND)
    return rows.annotate(
        when=F("created_at"), area=_word("memory"), what=F("kind"), of=F("trigger"), **_OF_SPACE
    )


def _policies() -> QuerySet[Any]:
    return PolicyVersion.objects.annotate(
        when=F("created_at"),
        area=_word("policy"),
        what=_word("policy"),
        of=F("preset"),
        **_OF_SPACE,
    )


def _erasures() -> QuerySet[Any]:
    nowhere: dict[str, Any] = {"in_space": Value(None, UUIDField()), "subject": _word(None)}
    return Receipt.objects.annotate(
        when=F("created_at"),
        who=F("actor"),
        why=F("reason"),
        area=_word("erasure"),
        what=_word("erased"),
        of=F("target"),
        **nowhere,
    )


def _entries() -> QuerySet[Any]:
    kind = Func(F("action"), Value("."), Value(1), function="split_part", output_field=CharField())
    values = {**_OF_SPACE, "why": F("detail")}
    rows = AuditEntry.objects.annotate(when=F("at"), what=F("action"), of=F("about"), **values)
    return rows.annotate(area=kind)


def _word(text: str | None) -> Value:
    return Value(text, CharField())


_OF_SPACE: dict[str, Any] = {
    "who": F("actor"),
    "why": F("reason"),
    "in_space": F("space_id"),
    "subject": F("space__subject"),
}
