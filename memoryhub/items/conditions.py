"""What is asked of items, as conditions in SQL: namespaces, and values by comparison."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from memoryhub.errors import InvalidInput

ANY_LABEL = "*"
MAX_CONDITIONS = 50
_ORDER_OPERATORS = {"$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<="}


@dataclass
class WhereClause:
    """Conditions that hold together, with the values they name."""

    parts: list[str] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)

    def add(self, part: str, *values: Any) -> None:
        self.parts.append(part)
        self.values += values

    @property
    def sql(self) -> str:
        return " AND ".join(self.parts) or "TRUE"


def build_tenant_clause(tenant_id: UUID, space_id: UUID | None, now: datetime) -> WhereClause:
    """What is held, and has not outlived its time."""
    where = WhereClause()
    where.add("i.tenant_id = %s", tenant_id)
    if space_id:
        where.add("i.space_id = %s", space_id)
    where.add("(i.expires_at IS NULL OR i.expires_at > %s)", now)
    return where


def add_prefix_condition(where: WhereClause, prefix: Sequence[str]) -> None:
    """Namespaces that begin with these labels; "*" stands for any."""
    for place, label in enumerate(prefix, start=1):
        _add_label_condition(where, f"i.namespace[{place}]", label)


def add_suffix_condition(where: WhereClause, suffix: Sequence[str]) -> None:
    """Namespaces that end with these labels."""
    if suffix:
        where.add("cardinality(i.namespace) >= %s", len(suffix))
    for back, label in enumerate(reversed(suffix)):
        _add_label_condition(where, f"i.namespace[cardinality(i.namespace) - {back}]", label)


def _add_label_condition(where: WhereClause, column: str, label: str) -> None:
    if label == ANY_LABEL:
        where.add(f"{column} IS NOT NULL")
    else:
        where.add(f"{column} = %s", label)


def add_value_conditions(where: WhereClause, wanted: Mapping[str, Any]) -> None:
    """Values whose members are as `wanted` says: equal, or by operators ($eq, $ne, $gt, …).

    An object without operators compares member by member, and others may be there besides.
    Ordered are numbers with numbers and texts with texts. Raises InvalidInput.
    """
    _add_member_conditions(where, "i.value", [], wanted, "filter")
    if len(where.parts) > MAX_CONDITIONS:
        raise InvalidInput(
            _("at most %(limit)s conditions") % {"limit": MAX_CONDITIONS}, field="filter"
        )


def _add_member_conditions(
    where: WhereClause, column: str, path: list[Any], wanted: Mapping[str, Any], field: str
) -> None:
    for name, value in wanted.items():
        inner, keys, at = f"{column} -> %s::text", [*path, name], f"{field}.{name}"
        if not isinstance(value, dict):
            where.add(f"{inner} = %s::jsonb", *keys, json.dumps(value))
        elif any(str(each).startswith("$") for each in value):
            for operator, operand in value.items():
                _add_comparison(where, inner, keys, operator, operand, at)
        else:
            where.add(f"jsonb_typeof({inner}) = 'object'", *keys)
            _add_member_conditions(where, inner, keys, value, at)


def _add_comparison(
    where: WhereClause, column: str, keys: list[Any], operator: str, operand: Any, field: str
) -> None:
    if operator == "$eq":
        where.add(f"{column} = %s::jsonb", *keys, json.dumps(operand))
    elif operator == "$ne":
        where.add(f"{column} IS DISTINCT FROM %s::jsonb", *keys, json.dumps(operand))
    elif operator in _ORDER_OPERATORS:
        if isinstance(operand, bool) or not isinstance(operand, (int, float, str)):
            raise InvalidInput(_("a number or a text to compare with"), field=f"{field}.{operator}")
        kind = "string" if isinstance(operand, str) else "number"
        sign = _ORDER_OPERATORS[operator]
        part = f"(jsonb_typeof({column}) = %s AND {column} {sign} %s::jsonb)"
        where.add(part, *keys, kind, *keys, json.dumps(operand))
    else:
        known = ", ".join(["$eq", "$ne", *_ORDER_OPERATORS])
        told = {"operator": repr(operator[:20]), "known": known}
        raise InvalidInput(_("no operator %(operator)s; known: %(known)s") % told, field=field)
