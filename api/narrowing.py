"""`?filter=` of a list: the filter grammar over a resource's columns."""

from __future__ import annotations

import json
from typing import Any

from django.db.models import Q

from api.columns import Resource
from api.filters import Field, parse, to_q
from memoryhub.errors import InvalidInput

MOST_CHARACTERS = 8000


def narrowed(given: str, resource: Resource) -> Q:
    """The filter as a condition. Raises InvalidInput naming the place at fault."""
    if len(given) > MOST_CHARACTERS:
        raise InvalidInput(f"at most {MOST_CHARACTERS:,} characters", field="filter")
    try:
        tree = json.loads(given, parse_constant=_refused)
    except (ValueError, RecursionError):
        raise InvalidInput("a JSON object, as URL-encoded text", field="filter") from None
    fields = filterable(resource)
    return to_q(parse(tree, fields, field="filter"), fields)


def filterable(resource: Resource) -> dict[str, Field]:
    """The columns that may be compared: all but objects of many shapes."""
    return {
        name: Field(column.kind, resource.path(name))
        for name, column in resource.columns.items()
        if column.kind != "object"
    }


def _refused(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
