"""Lists by cursor with a total, single rows with an ETag, and `?fields=` for both."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db.models import Q, QuerySet
from django.http import QueryDict
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.utils.encoders import JSONEncoder

from api.rows.columns import Resource
from api.rows.filter_conditions import build_condition
from api.rows.filters import FilterField, parse_filter
from memoryhub.errors import InvalidInput, NotFound

MAX_FILTER_CHARACTERS = 8000  # in an address
MAX_PAGE_SIZE = 200
DEFAULT_PAGE_SIZE = 50


# Of members of a body that asks for a list; all others are text, or a time in seconds.
_MEMBER_TYPES: Mapping[str, tuple[tuple[type, ...], str]] = {
    "limit": ((int,), "a whole number"),
    "reverse": ((bool,), "true or false"),
    "filter": ((dict,), "an object"),
    "fields": ((list,), "a list of names of columns"),
}


def build_query_parameters(
    body: Mapping[str, Any], members: Sequence[OpenApiParameter]
) -> QueryDict:
    """What a body asks of a list, as its parameters in an address have it. Raises InvalidInput."""
    known, made = [each.name for each in members], QueryDict(mutable=True)
    for name, value in body.items():
        if name not in known:
            raise InvalidInput(f"no such member; known: {', '.join(known)}", field=name[:60])
        wanted, told = _MEMBER_TYPES.get(name, ((str, int, float), "text"))
        if isinstance(value, float) and value.is_integer():
            value = int(value)  # JSON knows one kind of number: 20.0 is as whole as 20
        if type(value) not in wanted or (type(value) is list and not _is_list_of_names(value)):
            raise InvalidInput(told, field=name)
        made[name] = _format_member(value)
    return made


def _is_list_of_names(value: list[Any]) -> bool:
    return bool(value) and all(isinstance(each, str) and "," not in each for each in value)


def _format_member(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(value)
    try:
        return value if isinstance(value, str) else json.dumps(value)
    except RecursionError:
        raise InvalidInput("nested too deeply", field="filter") from None


def parse_filter_parameter(given: str, resource: Resource) -> Q:
    """The filter as a condition. Raises InvalidInput naming the place at fault."""
    try:
        tree = json.loads(given, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise InvalidInput("a JSON object, as URL-encoded text", field="filter") from None
    fields = build_filter_fields(resource)
    return build_condition(parse_filter(tree, fields, field="filter"), fields)


def build_filter_fields(resource: Resource) -> dict[str, FilterField]:
    """The columns that may be compared: all but objects of many shapes."""
    return {
        name: FilterField(column.kind, resource.get_lookup_path(name))
        for name, column in resource.columns.items()
        if column.kind != "object"
    }


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def list_rows(request: Request, resource: Resource, *sources: QuerySet[Any]) -> dict[str, Any]:
    """{"items", "total", "next"}: two queries. Raises InvalidInput that names the parameter.

    Rows of several sources are one list, their total takes a query each.
    """
    names, limit = read_fields_parameter(request, resource), read_limit(request)
    if (given := request.query_params.get("filter")) is not None:
        if len(given) > MAX_FILTER_CHARACTERS and request.method != "POST":
            told = f"at most {MAX_FILTER_CHARACTERS:,} characters here: POST it to …/query"
            raise InvalidInput(told, field="filter")
        kept = parse_filter_parameter(given, resource)
        try:
            sources = tuple(rows.filter(kept) for rows in sources)
        except ValidationError:  # of a list of ids, which a filter takes for one of texts
            raise InvalidInput("an id, where a list holds ids", field="filter") from None
    order = _read_order(request, resource)
    after = _build_cursor_condition(request, resource, order)
    columns = [*names, *(name.lstrip("-") for name in order)]
    paths = [f"{'-' * n.startswith('-')}{resource.get_lookup_path(n.lstrip('-'))}" for n in order]
    behind = [rows.filter(after) for rows in sources]
    found = _load_values(behind, resource, columns, limit + 1, paths)
    shown = [row[: len(names)] for row in found[:limit]]
    more = len(found) > limit
    return {
        "items": [dict(zip(names, row, strict=True)) for row in shown],
        "total": sum(rows.count() for rows in sources),
        "next": _build_cursor(order, found[limit - 1][len(names) :]) if more else None,
    }


def render_row(
    resource: Resource, rows: QuerySet[Any], row_id: UUID, names: Sequence[str] = ()
) -> dict[str, Any]:
    """One query. Raises NotFound."""
    names = names or list(resource.columns)
    found = _load_values([rows.filter(pk=row_id)], resource, names, 1)
    if not found:
        raise NotFound(f"There is no such {resource.name}.")
    return dict(zip(names, found[0], strict=True))


def render_rows(
    resource: Resource, rows: QuerySet[Any], row_ids: Collection[UUID], names: Sequence[str]
) -> dict[UUID, dict[str, Any]]:
    """One query; by id, without those that are not there."""
    found = _load_values([rows.filter(pk__in=row_ids)], resource, ["id", *names], len(row_ids))
    return {row_id: dict(zip(names, row, strict=True)) for row_id, *row in found}


def read_fields_parameter(request: Request, resource: Resource) -> list[str]:
    """The columns that `?fields=a,b` asks for, in their own order; all without it."""
    given = request.query_params.get("fields")
    if given is None:
        return list(resource.columns)
    asked = {name.strip() for name in given.split(",")}
    if unknown := sorted(asked - set(resource.columns)):
        known = ", ".join(resource.columns)
        raise InvalidInput(f"there is no {unknown[0][:60]!r}; known: {known}", field="fields")
    return [name for name in resource.columns if name in asked]


def build_etag(version: object, shown: dict[str, Any]) -> str:
    """An ETag: the row's version, and what is shown of it. `If-Match` compares the version."""
    text = json.dumps(shown, sort_keys=True, cls=JSONEncoder)
    return f'"{version}.{hashlib.sha256(text.encode()).hexdigest()[:16]}"'


def _load_values(
    sources: Sequence[QuerySet[Any]],
    resource: Resource,
    names: Sequence[str],
    most: int,
    order: Sequence[str] = (),
) -> list[list[Any]]:
    columns = [resource.columns[name] for name in names]
    paths = [resource.get_lookup_path(name) for name in names]
    first, *rest = [rows.order_by().values_list(*paths) for rows in sources]
    rows = (first.union(*rest, all=True) if rest else first).order_by(*order)[:most]
    return [
        [c.null_value if v is None else v for c, v in zip(columns, row, strict=True)]
        for row in rows
    ]


def build_status_condition(request: Request, resource: Resource) -> Q:
    """Those a list shows: what is held, and with `?status=all` everything."""
    status = request.query_params.get("status", "held")
    if status not in ("held", "all"):
        raise InvalidInput("held or all", field="status")
    shown = resource.current_condition if status == "held" else None
    return shown(timezone.now()) if shown else Q()


def read_limit(request: Request) -> int:
    return read_whole_number(request, "limit", DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)


def read_whole_number(request: Request, name: str, usual: int, most: int) -> int:
    """Of the query string. Raises InvalidInput."""
    raw = request.query_params.get(name, str(usual))
    if not (raw.isascii() and raw.isdecimal() and len(raw) < 8 and 1 <= int(raw) <= most):
        raise InvalidInput(f"a whole number from 1 to {most}", field=name)
    return int(raw)


def filter_by_state(request: Request, rows: QuerySet[Any], states: Sequence[str]) -> QuerySet[Any]:
    """Those in the state that `?state=` names, if it names one. Raises InvalidInput."""
    state = request.query_params.get("state")
    if state is not None and state not in states:
        raise InvalidInput(f"must be one of {', '.join(states)}", field="state")
    return rows if state is None else rows.filter(state=state)


def read_flag(request: Request, name: str) -> bool:
    """Of the query string; false unless given. Raises InvalidInput."""
    given = request.query_params.get(name, "false")
    if given not in ("true", "false"):
        raise InvalidInput("true or false", field=name)
    return given == "true"


def _read_order(request: Request, resource: Resource) -> tuple[str, ...]:
    """The resource's own order, or all of it turned round."""
    if not read_flag(request, "reverse"):
        return resource.order
    return tuple(n[1:] if n.startswith("-") else f"-{n}" for n in resource.order)


def _build_cursor(order: Sequence[str], values: Sequence[Any]) -> str:
    text = json.dumps([list(order), list(values)], cls=JSONEncoder, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _build_cursor_condition(request: Request, resource: Resource, order: Sequence[str]) -> Q:
    """What comes behind the cursor's row in this order."""
    given = request.query_params.get("cursor")
    if given is None:
        return Q()
    values = _parse_cursor(given, resource, order)
    behind, same = Q(pk__in=[]), Q()
    for name, value in zip(order, values, strict=True):
        path = resource.get_lookup_path(name.lstrip("-"))
        way = "lt" if name.startswith("-") else "gt"
        behind |= same & Q(**{f"{path}__{way}": value})
        same &= Q(**{path: value})
    # Said apart as well, so that an index on the first column is of use.
    first, way = order[0].lstrip("-"), "lte" if order[0].startswith("-") else "gte"
    return Q(**{f"{resource.get_lookup_path(first)}__{way}": values[0]}) & behind


def _parse_cursor(given: str, resource: Resource, order: Sequence[str]) -> list[Any]:
    try:
        text = base64.urlsafe_b64decode(given.encode("ascii") + b"=" * (-len(given) % 4))
        columns, values = json.loads(text)
        if columns != list(order) or len(values) != len(order):
            raise ValueError("of another list")
        return [
            _parse_cursor_value(resource, n.lstrip("-"), v)
            for n, v in zip(order, values, strict=True)
        ]
    except (ValueError, TypeError, RecursionError, ValidationError):
        message = "take `next` of the page before, with the same order"
        raise InvalidInput(message, field="cursor") from None


def _parse_cursor_value(resource: Resource, name: str, value: Any) -> Any:
    """The value as the database has it. Raises ValueError, TypeError or ValidationError."""
    kind = resource.columns[name].kind
    if kind == "number":
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ValueError("no number")
        if abs(value) >= 2**63:
            raise ValueError("too large a number")
        return int(value)
    if not isinstance(value, str) or "\0" in value or len(value) > 400:
        raise ValueError("no text")
    value.encode()
    if kind == "text":
        return value
    if kind == "id":
        return UUID(value)
    found = datetime.fromisoformat(value)
    if found.tzinfo is None:
        raise ValueError("without a zone")
    return found
