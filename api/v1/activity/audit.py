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
AUDIT_COLUMNS = ("id", "when", "who", "area", "what", "of", "why", "in_space", "subject")
# What is not by hand is the pipeline's, and an erasure has its receipt.
_MANUAL_KINDS = (EvolutionEvent.Kind.MANUAL, EvolutionEvent.Kind.UNDO)


def build_audit_sources() -> list[QuerySet[Any]]:
    """The rows of each table, with COLUMNS; their union is the audit. Call inside the tenant's
    scope."""
    return [
        _select_memory_changes(),
        _select_policy_changes(),
        _select_erasures(),
        _select_tenant_changes(),
    ]


def _select_memory_changes() -> QuerySet[Any]:
    rows = EvolutionEvent.objects.filter(kind__in=_MANUAL_KINDS)
    return rows.annotate(
        when=F("created_at"),
        area=_build_text_value("memory"),
        what=F("kind"),
        of=F("trigger"),
        **_SPACE_ANNOTATIONS,
    )


def _select_policy_changes() -> QuerySet[Any]:
    return PolicyVersion.objects.annotate(
        when=F("created_at"),
        area=_build_text_value("policy"),
        what=_build_text_value("policy"),
        of=F("preset"),
        **_SPACE_ANNOTATIONS,
    )


def _select_erasures() -> QuerySet[Any]:
    nowhere: dict[str, Any] = {
        "in_space": Value(None, UUIDField()),
        "subject": _build_text_value(None),
    }
    return Receipt.objects.annotate(
        when=F("created_at"),
        who=F("actor"),
        why=F("reason"),
        area=_build_text_value("erasure"),
        what=_build_text_value("erased"),
        of=F("target"),
        **nowhere,
    )


def _select_tenant_changes() -> QuerySet[Any]:
    kind = Func(F("action"), Value("."), Value(1), function="split_part", output_field=CharField())
    values = {**_SPACE_ANNOTATIONS, "why": F("detail")}
    rows = AuditEntry.objects.annotate(when=F("at"), what=F("action"), of=F("about"), **values)
    return rows.annotate(area=kind)


def _build_text_value(text: str | None) -> Value:
    return Value(text, CharField())


_SPACE_ANNOTATIONS: dict[str, Any] = {
    "who": F("actor"),
    "why": F("reason"),
    "in_space": F("space_id"),
    "subject": F("space__subject"),
}
