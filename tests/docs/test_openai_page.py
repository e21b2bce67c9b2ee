"""The page about OpenAI's wire names every route with its scope, every header and every field."""

from __future__ import annotations

import re
from typing import Any

from api.openai.memory import LEARN_OFF, render_report
from api.openai.model_views import MAX_INPUTS
from api.openai.options import DEFAULT_BUDGET, METADATA_OPTIONS, OPTION_HEADERS
from api.openai.urls import urlpatterns
from memoryhub.recall.render.pack import LEAST_TOKENS, MOST_TOKENS
from tests.docs.pages import ROOT

PAGE = (ROOT / "docs/reference/openai.md").read_text(encoding="utf-8")


def test_every_route_is_there_with_the_scope_it_needs() -> None:
    rows = []
    for route in urlpatterns:
        callback: Any = route.callback
        path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", str(route.pattern))
        for method, scope in callback.view_class.scopes.items():
            rows.append(f"| `{method} /openai/v1/{path}` | `{scope}` |")
    assert [row for row in rows if row not in PAGE] == []
    assert len(re.findall(r"^\| `[A-Z]+ /", PAGE, re.M)) == len(rows)


def test_every_header_and_field_is_there() -> None:
    fields = [
        *OPTION_HEADERS,
        *(f"metadata.{name}" for name in METADATA_OPTIONS),
        *render_report(None, LEARN_OFF),
    ]
    assert [name for name in fields if f"`{name}`" not in PAGE] == []


def test_the_limits_are_those_of_the_code() -> None:
    bounds = f"{LEAST_TOKENS} to {MOST_TOKENS:,}; {DEFAULT_BUDGET:,} unless given"
    assert bounds in PAGE
    assert f"up to {MAX_INPUTS:,};" in PAGE
