"""The filter grammar: a JSON object becomes a tree of tests, which may become a condition on rows.

    {"AND": [{"user_id": "ana"}, {"created_at": {"gte": "2026-01-01"}}]}

A key is AND, OR, NOT or the name of a field; siblings are joined by AND. The value of a field is
what it equals, "*" for anything at all, a list of choices, or an object of operators: eq, ne, in,
gt, gte, lt, lte, contains, icontains. NOT takes a filter, or a list of which none may match.

Which fields there are is the caller's table of `FilterField`. Nothing here reads rows;
`filter_conditions` makes conditions of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any, Literal
from uuid import UUID

from django.utils.dateparse import parse_date, parse_datetime

from memoryhub.dialogues.messages import check_time, clean_text, find_metadata_fault
from memoryhub.errors import InvalidInput

FieldKind = Literal["id", "text", "name", "time", "day", "number", "flag", "list", "object"]

MOST_TESTS, MOST_LEVELS, MOST_CHOICES, MOST_CHARACTERS = 100, 10, 500, 1_000
ANY_VALUE = "*"
_ORDER_OPERATORS = ("gt", "gte", "lt", "lte")
_SEARCH_OPERATORS = ("contains", "icontains")
# By kind of field. "any" stands for "*": there is a value.
OPERATORS: Mapping[FieldKind, tuple[str, ...]] = {
    "id": ("eq", "ne", "in", "any"),
    "text": ("eq", "ne", "in", *_ORDER_OPERATORS, *_SEARCH_OPERATORS, "any"),
    "name": ("eq", "ne", "in", *_ORDER_OPERATORS, *_SEARCH_OPERATORS, "any"),
    "day": ("eq", "ne", "in", *_ORDER_OPERATORS, "any"),
    "time": ("eq", "ne", "in", *_ORDER_OPERATORS, "any"),
    "number": ("eq", "ne", "in", *_ORDER_OPERATORS, "any"),
    "flag": ("eq", "ne"),
    "list": ("eq", "ne", "in", "contains", "any"),
    "object": ("eq", "ne", "in", *_ORDER_OPERATORS, *_SEARCH_OPERATORS, "any"),
}
_JOIN_NAMES = ("AND", "OR", "NOT")


@dataclass(frozen=True, slots=True)
class FilterField:
    """A name that may be filtered by. `column`: its path in the ORM.

    kind "name": text that is kept composed, with nothing around it, and compared so. kind "list":
    an array of texts. kind "object": JSON of the caller's, tested key by key:
    `{"metadata": {"team": "red"}}`.
    """

    kind: FieldKind
    column: str


FilterFields = Mapping[str, FilterField]


@dataclass(frozen=True, slots=True)
class FieldTest:
    """One field compared. `value` has the field's Python type; of "in" it is a tuple.

    `key`: which key of an object; "" for other kinds.
    """

    __test__ = False  # pytest is not meant

    name: str
    op: str
    value: Any = None
    key: str = ""


@dataclass(frozen=True, slots=True)
class And:
    parts: tuple[FilterNode, ...]


@dataclass(frozen=True, slots=True)
class Or:
    parts: tuple[FilterNode, ...]


@dataclass(frozen=True, slots=True)
class Not:
    part: FilterNode


FilterNode = FieldTest | And | Or | Not


def parse_filter(raw: object, fields: FilterFields, *, field: str = "filters") -> FilterNode:
    """The tree of a filter; without tests it lets everything through.

    Raises InvalidInput that names the place (`filters.AND[1].created_at`) and what is allowed.
    """
    node = _parse_object(raw, fields, field, 1)
    if sum(1 for _ in list_tests(node)) > MOST_TESTS:
        raise InvalidInput(f"at most {MOST_TESTS} tests", field=field)
    return node


def list_tests(node: FilterNode, *, negated: bool = False) -> Iterator[tuple[FieldTest, bool]]:
    """Every test of a tree, and whether it stands under an odd number of NOTs."""
    if isinstance(node, FieldTest):
        yield node, negated
    elif isinstance(node, Not):
        yield from list_tests(node.part, negated=not negated)
    else:
        for part in node.parts:
            yield from list_tests(part, negated=negated)


def _parse_object(raw: object, fields: FilterFields, where: str, level: int) -> FilterNode:
    if not isinstance(raw, dict):
        raise InvalidInput("an object", field=where)
    if level > MOST_LEVELS:
        raise InvalidInput(f"at most {MOST_LEVELS} levels", field=where)
    parts = [
        _parse_entry(name, value, fields, f"{where}.{name}", level) for name, value in raw.items()
    ]
    return parts[0] if len(parts) == 1 else And(tuple(parts))


def _parse_entry(
    name: str, value: object, fields: FilterFields, where: str, level: int
) -> FilterNode:
    if name in _JOIN_NAMES:
        return _parse_join(name, value, fields, where, level)
    if name not in fields:
        known = ", ".join([*_JOIN_NAMES, *sorted(fields)])
        raise InvalidInput(f"there is no such field; known: {known}", field=where)
    own = fields[name]
    if own.kind == "object":
        return _parse_object_tests(name, value, where)
    return _parse_tests(name, "", own.kind, value, where)


def _parse_join(
    name: str, value: object, fields: FilterFields, where: str, level: int
) -> FilterNode:
    if name == "NOT" and isinstance(value, dict):
        return Not(_parse_object(value, fields, where, level + 1))
    if not isinstance(value, list) or not value:
        raise InvalidInput("a list of at least one filter", field=where)
    parts = tuple(
        _parse_object(each, fields, f"{where}[{at}]", level + 1) for at, each in enumerate(value)
    )
    if name == "AND":
        return And(parts)
    return Or(parts) if name == "OR" else Not(Or(parts))


def _parse_object_tests(name: str, value: object, where: str) -> FilterNode:
    if not isinstance(value, dict) or not value:
        raise InvalidInput("an object of at least one key", field=where)
    if fault := find_metadata_fault(value):
        raise InvalidInput(fault, field=where)
    tests = (_parse_tests(name, k, "object", each, f"{where}.{k}") for k, each in value.items())
    return And(tuple(tests))


def _parse_tests(name: str, key: str, kind: FieldKind, value: object, where: str) -> FilterNode:
    if value == ANY_VALUE and "any" in OPERATORS[kind]:
        return FieldTest(name, "any", None, key)
    tests = (
        FieldTest(name, op, _parse_operand(op, operand, kind, place), key)
        for op, operand, place in _list_operators(value, kind, where)
    )
    return And(tuple(tests))


def _list_operators(
    value: object, kind: FieldKind, where: str
) -> Iterator[tuple[str, object, str]]:
    """The value of a field as operators, each with its operand and the place where that was sent.
    An object of the caller's may itself be compared: it is one of operators only if every key
    is."""
    named = isinstance(value, dict) and all(op in OPERATORS[kind] and op != "any" for op in value)
    if isinstance(value, list) and kind != "object":
        yield "in", value, where
    elif isinstance(value, dict) and value and (named or kind != "object"):
        for op, operand in value.items():
            yield op, operand, f"{where}.{op}"
    else:
        yield "eq", value, where


def _parse_operand(op: str, value: object, kind: FieldKind, where: str) -> Any:
    known = [each for each in OPERATORS[kind] if each != "any"]
    if op not in known:
        raise InvalidInput(f"there is no such operator; known: {', '.join(known)}", field=where)
    if op == "in":
        if not isinstance(value, list) or not 0 < len(value) <= MOST_CHOICES:
            raise InvalidInput(f"a list of 1 to {MOST_CHOICES} values", field=where)
        return tuple(_parse_value(each, kind, f"{where}[{at}]") for at, each in enumerate(value))
    if value is None and op in ("eq", "ne"):
        return None
    if op in _SEARCH_OPERATORS:
        part = _parse_text(value, where)
        return clean_text(part) if kind == "name" else part
    return _parse_value(value, kind, where, op)


def _parse_value(value: object, kind: FieldKind, where: str, op: str = "eq") -> Any:
    if kind == "object":
        return _parse_json_value(value, where, op)
    if kind == "time":
        return _parse_moment(value, where)
    if kind in ("text", "list"):
        return _parse_text(value, where)
    if kind == "name":
        return clean_text(_parse_text(value, where)).strip()
    if kind in ("id", "day"):
        return _parse_id_or_day(value, kind, where)
    is_flag = isinstance(value, bool)
    if kind == "flag" and is_flag:
        return value
    if kind == "number" and isinstance(value, (int, float)) and not is_flag:
        if not abs(value) < 2**63:
            raise InvalidInput("a number that can be stored", field=where)
        return value
    raise InvalidInput("true or false" if kind == "flag" else "a number", field=where)


def _parse_text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise InvalidInput("text", field=where)
    if len(value) > MOST_CHARACTERS:
        raise InvalidInput(f"at most {MOST_CHARACTERS} characters", field=where)
    # Surrogates are halves of characters.
    if "\0" in value or any("\ud800" <= each <= "\udfff" for each in value):
        raise InvalidInput("NULs and halves of characters are in no text", field=where)
    return value


def _parse_id_or_day(value: object, kind: Literal["id", "day"], where: str) -> UUID | date:
    text = _parse_text(value, where)
    try:
        return UUID(text) if kind == "id" else date.fromisoformat(text)
    except ValueError:
        wanted = "an id" if kind == "id" else "a day, as 2026-05-12"
        raise InvalidInput(wanted, field=where) from None


def _parse_json_value(value: object, where: str, op: str) -> Any:
    """A value of the caller's own JSON: any for equality, text or a number to be ordered."""
    ordered = isinstance(value, (str, int, float)) and not isinstance(value, bool)
    if op in _ORDER_OPERATORS and not ordered:
        raise InvalidInput("text or a number", field=where)
    return _parse_text(value, where) if isinstance(value, str) else value


def _parse_moment(value: object, where: str) -> datetime:
    """ISO 8601 or seconds since 1970; a day is its first moment, and without a zone it is UTC."""
    try:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            found = datetime.fromtimestamp(value, UTC)
        else:
            found = _parse_iso_time(value)
    except (ValueError, OverflowError, OSError):
        raise InvalidInput("a day or a time as in ISO 8601", field=where) from None
    return check_time(found if found.tzinfo else found.replace(tzinfo=UTC), field=where)


def _parse_iso_time(value: object) -> datetime:
    if not isinstance(value, str):
        raise ValueError("not text")
    day: date | None = parse_date(value)
    moment = datetime.combine(day, time()) if day else parse_datetime(value)
    if moment is None:
        raise ValueError("no time")
    return moment
