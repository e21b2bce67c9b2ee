"""The page about mem0's wire names every route with its scope, every field and term."""

from __future__ import annotations

import re
from typing import Any

from api.mem0.ids import ID_LIMITS
from api.mem0.projects import PROJECT_SETTINGS
from api.mem0.requests import ADD_FIELDS, DELETE_FIELDS, LIST_FIELDS, SEARCH_FIELDS, UPDATE_FIELDS
from api.mem0.select import FILTER_FIELDS
from api.mem0.urls import urlpatterns
from tests.docs.pages import ROOT

PAGE = (ROOT / "docs/reference/mem0.md").read_text(encoding="utf-8")


def test_every_route_is_there_with_the_scope_it_needs() -> None:
    rows = []
    for route in urlpatterns:
        callback: Any = route.callback
        path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", str(route.pattern))
        for method, scope in callback.view_class.scopes.items():
            rows.append(f"| `{method} /{path}` | `{scope}` |")
    assert [row for row in rows if row not in PAGE] == []
    assert len(re.findall(r"^\| `[A-Z]+ /", PAGE, re.M)) == len(rows)


def test_every_field_of_a_filter_and_every_id_is_there() -> None:
    followed = (*ADD_FIELDS, *SEARCH_FIELDS, *LIST_FIELDS, *UPDATE_FIELDS, *DELETE_FIELDS)
    names = (*FILTER_FIELDS, *ID_LIMITS, *PROJECT_SETTINGS, *followed)
    assert [name for name in names if f"`{name}`" not in PAGE] == []


def test_the_limits_are_those_of_the_code() -> None:
    for name, limit in ID_LIMITS.items():
        (row,) = re.findall(rf"^\| `{name}` \|.*$", PAGE, re.M)
        assert f"up to {limit} characters" in row
