"""Every column of a memory is declared once: what it is to people, API, search, erasure, export."""

from __future__ import annotations

from typing import Any, get_type_hints

import pytest
from django.db import models
from django.db.models import Model

from api.rows.columns import build_columns
from memoryhub.exchange.columns import list_columns
from memoryhub.recall.render.results import MemoryItem
from notes.history import row_kinds
from notes.models.fields import MemoryField, MemoryFields
from personas.models import BlockVersion

MODELS = [*(kind.model for kind in row_kinds.list_row_kinds()), BlockVersion]


def get_fields(model: Any) -> MemoryFields:
    fields: MemoryFields = model.memory_fields
    return fields


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_column_is_classified(model: type[Model]) -> None:
    columns = {column.attname: column for column in model._meta.concrete_fields}
    fields = get_fields(model)
    assert set(columns) - set(fields) == set(), "say in memory_fields what these are"
    assert set(fields) - set(columns) == set(), "these are no columns"
    for name, field in fields.items():
        if field.is_words:
            # An erasure takes words away, so there has to be a value without any.
            assert not columns[name].is_relation
        if isinstance(columns[name], models.TextField):
            assert field.is_words or not field.label, f"is {name} made of what was said?"


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_names_of_the_api_are_given_once(model: type[Model]) -> None:
    shown = [
        field.api or name for name, field in get_fields(model).items() if field.api is not None
    ]
    assert len(set(shown)) == len(shown)
    assert list(build_columns(model)) == shown


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_what_search_carries_has_a_place_in_its_results(model: type[Model]) -> None:
    filled = [each for field in get_fields(model).values() for each in field.results]
    assert len(set(filled)) == len(filled)
    assert set(filled) <= set(get_type_hints(MemoryItem))


def test_what_does_not_belong_in_a_file_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    model: Any = MODELS[0]
    assert "text" in {column.name for column in list_columns.__wrapped__(model)}
    kept = {**get_fields(model), "text": MemoryField(is_exported=False)}
    monkeypatch.setattr(model, "memory_fields", kept)
    assert "text" not in {column.name for column in list_columns.__wrapped__(model)}
