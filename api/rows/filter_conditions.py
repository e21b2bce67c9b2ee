"""A filter as a condition of the database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import BooleanField, Func, JSONField, Lookup, Q, TextField, Value
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Coalesce
from django.db.models.lookups import (
    Contains,
    Exact,
    GreaterThan,
    GreaterThanOrEqual,
    IContains,
    LessThan,
    LessThanOrEqual,
)

from api.rows.filters import And, FieldTest, FilterField, FilterFields, FilterNode, Not


def build_condition(node: FilterNode, fields: FilterFields) -> Q:
    """The tree as a condition for `filter()`. A test of a missing value is false, never unknown,
    so that NOT lets it through."""
    if isinstance(node, Not):
        return ~build_condition(node.part, fields)
    if isinstance(node, FieldTest):
        return _build_test_condition(node, fields[node.name])
    joined = Q()
    for part in node.parts:
        each = build_condition(part, fields)
        joined = joined & each if isinstance(node, And) else joined | each
    return joined


_ORDER_LOOKUPS: Mapping[str, type[Lookup[Any]]] = {
    "gt": GreaterThan,
    "gte": GreaterThanOrEqual,
    "lt": LessThan,
    "lte": LessThanOrEqual,
}


def _build_test_condition(test: FieldTest, field: FilterField) -> Q:
    if field.kind == "object":
        return _build_key_condition(test, field.column)
    if field.kind == "list":
        return _build_list_condition(test, field.column)
    return _build_column_condition(test, field.column)


def _build_column_condition(test: FieldTest, column: str) -> Q:
    there = Q(**{f"{column}__isnull": False})
    if test.op == "any":
        return there
    if test.op == "ne":
        return ~_build_column_condition(FieldTest(test.name, "eq", test.value), column)
    if test.op == "eq":
        return there & Q(**{column: test.value}) if test.value is not None else ~there
    value: Sequence[Any] | Any = list(test.value) if test.op == "in" else test.value
    return there & Q(**{f"{column}__{test.op}": value})


def _build_list_condition(test: FieldTest, column: str) -> Q:
    """A list equals a text when it holds it: so do the clients' filters mean it."""
    if test.op == "any" or (test.op in ("eq", "ne") and test.value is None):
        filled = ~Q(**{f"{column}__len": 0}) & Q(**{f"{column}__isnull": False})
        return ~filled if test.op == "eq" else filled
    if test.op == "in":
        return Q(**{f"{column}__overlap": list(test.value)})
    holds = Q(**{f"{column}__contains": [test.value]})
    return ~holds if test.op == "ne" else holds


def _build_key_condition(test: FieldTest, column: str) -> Q:
    """A key of a JSON object; its name is a value here, never part of a lookup."""
    if test.op == "any":
        return Q(**{f"{column}__has_key": test.key}) & ~_build_key_equality(test.key, None, column)
    if test.op == "ne":
        return ~_build_key_condition(FieldTest(test.name, "eq", test.value, test.key), column)
    if test.op == "eq":
        if test.value is None:
            return ~Q(**{f"{column}__has_key": test.key}) | _build_key_equality(
                test.key, None, column
            )
        return _build_key_equality(test.key, test.value, column)
    if test.op == "in":
        choices = Q(pk=None)
        for value in test.value:
            choices |= _build_key_equality(test.key, value, column)
        return choices
    if test.op in ("contains", "icontains"):
        return _build_key_containment(test, column)
    return _treat_missing_as_false(_build_key_order(test, column)) & _build_key_type_check(
        test, column
    )


def _build_key_equality(key: str, value: object, column: str) -> Q:
    return _treat_missing_as_false(Exact(KeyTransform(key, column), Value(value, JSONField())))


def _build_key_containment(test: FieldTest, column: str) -> Q:
    """A text that has the words, or a list that has the text."""
    found = IContains if test.op == "icontains" else Contains
    words = _treat_missing_as_false(found(KeyTextTransform(test.key, column), Value(test.value)))
    listed = Q(**{f"{column}__contains": {test.key: [test.value]}})
    return words | listed


def _build_key_order(test: FieldTest, column: str) -> Lookup[Any]:
    return _ORDER_LOOKUPS[test.op](KeyTransform(test.key, column), Value(test.value, JSONField()))


def _build_key_type_check(test: FieldTest, column: str) -> Q:
    """Texts are compared with texts only, numbers with numbers: JSON orders them across types."""
    kind = Func(KeyTransform(test.key, column), function="jsonb_typeof", output_field=TextField())
    return _treat_missing_as_false(
        Exact(kind, Value("string" if isinstance(test.value, str) else "number"))
    )


def _treat_missing_as_false(lookup: Lookup[Any]) -> Q:
    """False where the key is missing."""
    return Q(Coalesce(lookup, Value(False), output_field=BooleanField()))
