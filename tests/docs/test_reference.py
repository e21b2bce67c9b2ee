"""Routes, commands, checks, dependencies: each has its place in the reference."""

from __future__ import annotations

import argparse
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, get_commands, load_command_class
from django.urls import URLPattern

from api.rows.read_views import QueriedListMixin
from api.urls import urlpatterns
from memoryhub.errors import MemoryHubError
from tests.docs.pages import ROOT, list_blocks, list_headings, read_prose

REFERENCE = ROOT / "docs/reference"
API = REFERENCE / "api.md"


def read_section(page: Path, heading: str) -> str:
    """The text under a second-level heading."""
    parts = re.split(r"^## ", page.read_text(encoding="utf-8"), flags=re.M)
    return next(part for part in parts if part.splitlines()[0] == heading)


def list_routes() -> Iterator[URLPattern]:
    """All but those of lists asked for in a body, which are told of once for all of them."""
    for route in urlpatterns:
        assert isinstance(route, URLPattern)
        callback: Any = route.callback  # as_view() gives it its class
        if not issubclass(callback.view_class, QueriedListMixin):
            yield route


def test_lists_are_told_to_be_asked_for_in_a_body_too() -> None:
    assert "`/query`" in read_section(API, "Lists")


def test_every_route_has_its_heading_and_path() -> None:
    for route in list_routes():
        text = read_section(API, str(route.name))
        if route.name != "not-found":
            path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", str(route.pattern)).replace("row_id", "id")
            assert f"/api/v1/{path}`" in text


def test_every_route_with_a_key_says_which_scope_it_needs() -> None:
    for route in list_routes():
        view = getattr(route.callback, "view_class", None)
        given = getattr(route.callback, "view_initkwargs", {})
        for method, scope in given.get("scopes", getattr(view, "scopes", {})).items():
            assert f"`{method} /api/v1/" in read_section(API, str(route.name))
            assert f"scope `{scope}`" in read_section(API, str(route.name))


def test_every_field_of_a_request_is_described() -> None:
    from api.v1.memories import AddSerializer, MessageSerializer
    from api.v1.search import ContextSerializer, SearchSerializer

    for heading, serializers in {
        "memories": (AddSerializer, MessageSerializer),
        "search": (SearchSerializer,),
        "context": (ContextSerializer,),
    }.items():
        for name in (field for each in serializers for field in each().fields):
            assert f"`{name}`" in read_section(API, heading)


def test_every_field_of_a_search_is_described() -> None:
    from dataclasses import fields

    from memoryhub.recall.context import MemoryContext
    from memoryhub.recall.render.results import (
        ArmRank,
        ChannelRank,
        DroppedMemory,
        Explanation,
        MemoryItem,
        RouteTaken,
        SearchResult,
        TurnSource,
    )

    shapes = (
        SearchResult,
        MemoryItem,
        TurnSource,
        Explanation,
        RouteTaken,
        ChannelRank,
        ArmRank,
        DroppedMemory,
    )
    for heading, described in {"search": shapes, "context": (MemoryContext,)}.items():
        text = read_section(API, heading)
        for shape in described:
            assert [f.name for f in fields(shape) if f"`{f.name}`" not in text] == []


def test_every_column_of_a_list_is_described() -> None:
    shared, alone = read_section(API, "Single rows"), {"jobs": "job", "imports": "import"}
    for route in list_routes():
        callback: Any = route.callback  # as_view() gives it these two attributes
        resource = getattr(callback.view_class, "resource", None)
        resource = callback.view_initkwargs.get("resource", resource)
        single = "<uuid" in str(route.pattern) or route.name == "space"
        if resource is not None and not single:
            text = read_section(API, str(route.name)) + (
                read_section(API, alone[route.name]) if route.name in alone else shared
            )
            assert [name for name in resource.columns if f"`{name}`" not in text] == []


def test_every_decision_is_described() -> None:
    from notes.facts.decide import ResolutionOp

    assert [
        op.value for op in ResolutionOp if f"| `{op.value}` |" not in read_section(API, "job")
    ] == []


def test_problem_codes_carry_the_status_that_the_code_gives_them() -> None:
    from memoryhub.errors import Conflict, InvalidInput, NotFound, TooLarge

    shown = {
        code: int(status)
        for status, code in re.findall(r"^\| (\d{3}) \| `(\w+)` \|", API.read_text(), re.M)
    }
    kinds: list[type[MemoryHubError]] = [InvalidInput, NotFound, TooLarge]
    assert {kind.code: kind.status for kind in kinds}.items() <= shown.items()
    raised = _list_conflict_codes()
    assert raised
    assert raised.items() <= shown.items()
    assert set(raised.values()) == {Conflict.status}


def _list_conflict_codes() -> dict[str, int]:
    """Codes that are given to Conflict by name, anywhere in the code."""
    files = [f for part in ("api", "memoryhub", "notes") for f in (ROOT / part).rglob("*.py")]
    given = re.compile(r"raise Conflict\([^)]*?code=\"(\w+)\"", re.S)
    return {code: 409 for file in files for code in given.findall(file.read_text())}


def test_every_management_command_has_its_heading() -> None:
    ours = {
        name
        for name, app in get_commands().items()
        if isinstance(app, str) and app.split(".")[0] in {"memoryhub", "api", "notes", "personas"}
    }
    assert ours >= {"hub", "db", "import_dialogues", "lab"}
    described = {text for text in list_headings(REFERENCE / "commands.md", 2) if " " not in text}
    assert described == ours


def options_of(parser: argparse.ArgumentParser) -> set[str]:
    """Long options of a command and of its actions, without those of every Django command."""
    found: set[str] = set()
    for action in parser._actions:
        found |= {option for option in action.option_strings if option.startswith("--")}
        if isinstance(action, argparse._SubParsersAction):
            found = found.union(*(options_of(inner) for inner in action.choices.values()))
    return found


def test_every_option_of_a_command_is_described() -> None:
    everywhere = options_of(BaseCommand().create_parser("manage.py", "any"))
    text = (REFERENCE / "commands.md").read_text()
    for name in list_headings(REFERENCE / "commands.md", 2):
        if " " not in name:
            command = load_command_class(get_commands()[name], name)
            own = options_of(command.create_parser("manage.py", name)) - everywhere
            assert [option for option in sorted(own) if option not in text] == []


def test_every_system_check_has_its_heading() -> None:
    source = (ROOT / "memoryhub/checks.py").read_text()
    ids = set(re.findall(r'id="(memoryhub\.[EW]\d+)"', source))
    assert ids
    assert set(list_headings(REFERENCE / "checks.md", 2)) == ids


def test_every_dependency_has_a_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [name for names in project["optional-dependencies"].values() for name in names]
    names = {re.split(r"[\[<>=~]", name)[0] for name in [*project["dependencies"], *extras]}
    table = read_section(ROOT / "docs/decisions.md", "What it depends on, and why")
    given = {name for row in re.findall(r"^\| ([^|]+) \|", table, re.M) for name in row.split(", ")}
    assert given - {"Package", "---"} == names


def test_the_readme_shows_both_commands_first_and_make_knows_them() -> None:
    first = list_blocks(ROOT / "README.md", "sh")[0]
    makefile = (ROOT / "Makefile").read_text()
    commands = re.findall(r"^make (\w+)", first, re.M)
    assert commands == ["run", "test"]
    assert all(re.search(rf"^{target}:", makefile, re.M) for target in commands)


def test_every_make_target_named_in_a_page_exists() -> None:
    makefile = (ROOT / "Makefile").read_text()
    named = {
        target
        for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
        for target in re.findall(r"`make ([a-z]+)`", read_prose(page))
    }
    assert named
    assert [t for t in sorted(named) if not re.search(rf"^{t}:", makefile, re.M)] == []
