"""What apps declare: read once, never changed, and without gaps."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest
from django.apps import apps

from memoryhub import checks
from memoryhub.declarations import AppDeclaration, load_declarations
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.steps.derive.derive import DeriveStep


def list_findings(label: str = "", **changes: Any) -> list[tuple[str | None, str]]:
    """(id, message) of what the check finds where the app declares this otherwise."""
    declared = dict(load_declarations())
    if label:
        declared[label] = replace(declared[label], **changes)
    found = checks.find_declaration_gaps(declared, apps.get_models(), set(Job.Step))
    assert all(message.hint for message in found)
    return [(message.id, message.msg) for message in found]


def drop(label: str, column: str, name: str) -> dict[str, Any]:
    """The app's column without that name."""
    held = getattr(load_declarations()[label], column)
    return {column: {key: value for key, value in held.items() if key != name}}


def add(label: str, column: str, **more: Any) -> dict[str, Any]:
    return {column: {**getattr(load_declarations()[label], column), **more}}


def test_the_hub_declares_all_there_is() -> None:
    assert list_findings() == []
    assert checks.check_app_declarations(None) == []


def test_a_step_that_nobody_or_more_than_one_declares() -> None:
    pipeline = load_declarations()["pipeline"]
    without = tuple(step for step in pipeline.steps if step is not DeriveStep)
    assert list_findings("pipeline", steps=without) == [
        ("memoryhub.E007", "The step derive is declared 0 times.")
    ]
    assert list_findings("golden", steps=(*load_declarations()["golden"].steps, DeriveStep)) == [
        ("memoryhub.E007", "The step derive is declared 2 times.")
    ]


@pytest.mark.parametrize(
    ("label", "name"), [("recall", "recalllog"), ("dialogues", "turn"), ("importers", "importpart")]
)
def test_words_that_no_erasure_knows_of(label: str, name: str) -> None:
    ((code, message),) = list_findings(label, **drop(label, "erasable_texts", name))
    assert code == "memoryhub.E008"
    assert f"{label}.{name}" in message


def test_a_memory_kind_whose_words_nobody_declares() -> None:
    kinds = load_declarations()["personas"].memory_kinds
    words, growth = list_findings("personas", memory_kinds=kinds[1:])
    assert (words[0], growth[0]) == ("memoryhub.E008", "memoryhub.E014")
    assert "personas.trait" in words[1]
    assert "personas.trait" in growth[1]


@pytest.mark.parametrize(("label", "name"), [("api", "ratewindow"), ("notes", "derivation")])
def test_a_table_whose_rows_nobody_ends(label: str, name: str) -> None:
    ((code, message),) = list_findings(label, **drop(label, "growth", name))
    assert code == "memoryhub.E014"
    assert f"{label}.{name}" in message


@pytest.mark.parametrize(("label", "name"), [("notes", "fact"), ("api", "ratewindow")])
def test_a_table_that_is_neither_exported_nor_left_out(label: str, name: str) -> None:
    ((code, message),) = list_findings(label, **drop(label, "export_kinds", name))
    assert code == "memoryhub.E009"
    assert f"{label}.{name}" in message


@pytest.mark.parametrize(
    ("label", "column", "name"),
    [
        ("notes", "erasable_texts", "fact"),  # a memory kind as well
        ("recall", "erasable_texts", "turn"),  # another app's table
        ("items", "export_kinds", "nothing"),
    ],
)
def test_what_is_declared_twice_or_is_no_table(label: str, column: str, name: str) -> None:
    ((code, message),) = list_findings(label, **add(label, column, **{name: "a reason"}))
    assert code == "memoryhub.E010"
    assert f"{label}.{name}" in message


def test_a_memory_kind_that_two_apps_declare() -> None:
    fact = load_declarations()["notes"].memory_kinds[0]
    golden = load_declarations()["golden"].memory_kinds
    assert list_findings("golden", memory_kinds=(*golden, fact)) == [
        ("memoryhub.E010", "Two memory kinds are called fact.")
    ]


def test_a_declaration_does_not_change() -> None:
    declared: Any = load_declarations()
    recall: Any = declared["recall"]
    assert load_declarations() is load_declarations()
    with pytest.raises(TypeError):
        declared["other"] = AppDeclaration()
    with pytest.raises(FrozenInstanceError):
        recall.space_sweeps = ()
    with pytest.raises(TypeError):
        recall.erasable_texts["recalllog"] = "a reason"
