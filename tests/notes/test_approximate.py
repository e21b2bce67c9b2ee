"""An approximate index of one space: an operator's choice, right with it and without."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from pgvector import HalfVector

from memoryhub.inference import selection
from memoryhub.recall.candidates.sql import retrieve_candidates
from memoryhub.recall.question.caller import SearchVisibility
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant, ensure_space
from notes.index import approximate
from notes.index.indexer import EntryDraft, write_entries
from notes.models import IndexEntry, Note

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])
AT = datetime(2026, 5, 8, tzinfo=UTC)
COUNT = 400


@pytest.fixture
def space() -> Iterator[Space]:
    """A space of notes in twenty clusters."""
    tenant = create_tenant("Large", "large")
    with tenant_scope(tenant.id):
        made = ensure_space(tenant.id, "ana")
        fill_space(made)
    yield made
    approximate.drop_indexes(made)


def fill_space(space: Space) -> None:
    random, model = np.random.default_rng(3), selection.get_configured_embedder()
    notes = Note.objects.bulk_create(
        Note(tenant=space.tenant, space=space, content=f"note {n}", occurred_at=AT, created_at=AT)
        for n in range(COUNT)
    )
    centres = random.standard_normal((20, model.dimension))
    vectors = centres[np.arange(COUNT) % 20] + random.standard_normal((COUNT, model.dimension))
    vectors *= 2 / np.linalg.norm(vectors, axis=1, keepdims=True)  # sums of two of length 1
    entries = [EntryDraft("note", n.id, 0, n.content, (), n.content, "") for n in notes]
    write_entries(space, model.name, entries, vectors.astype(np.float32))


def find_nearest(space: Space, vector: Any, most: int = 20) -> list[Any]:
    with tenant_scope(space.tenant_id):
        found = retrieve_candidates(
            space,
            words="",
            vector=vector,
            model=space.embedding_model,
            kinds=["note"],
            visibility=SearchVisibility(AT + timedelta(days=1)),
            per_arm=most,
        ).visible
    return [each.id for each in sorted(found, key=lambda c: -(c.dense or 0))]


def test_it_finds_nearly_all_that_exact_search_finds(space: Space) -> None:
    random = np.random.default_rng(5)
    asked = random.standard_normal((10, selection.get_configured_embedder().dimension)).astype(
        np.float32
    )
    exact = [find_nearest(space, vector) for vector in asked]
    call_command("index", "build", "large", "ana", least=100)
    space.approximate_model = get_approximate_model(space)
    found = [find_nearest(space, vector) for vector in asked]
    same = [len(set(a) & set(b)) / len(a) for a, b in zip(exact, found, strict=True)]
    assert len(exact[0]) == 20
    assert sum(same) / len(same) >= 0.95


def test_search_uses_it_where_it_is_and_never_otherwise(space: Space) -> None:
    approximate.build_indexes(space, least=1)
    assert approximate.build_index_name(space) in explain_statement(space)
    space.approximate_model = ""  # exact search would not take it, were it still there
    assert approximate.build_index_name(space) not in explain_statement(space)


def explain_statement(space: Space) -> str:
    """How the candidates' statement is carried out, were sorting forbidden."""
    vector = np.ones(selection.get_configured_embedder().dimension, np.float32)
    asked: list[tuple[str, Any]] = []

    def noted(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        asked.append((sql, params))
        return execute(sql, params, many, context)

    with tenant_scope(space.tenant_id), connection.cursor() as cursor:
        with connection.execute_wrapper(noted):
            find_nearest(space, vector)
        statement, values = asked[-1]
        cursor.execute("SET LOCAL enable_sort = off")
        values |= {"vector": HalfVector(vector).to_text()}  # EXPLAIN is told in words
        cursor.execute(f"EXPLAIN {statement}", values)
        return "\n".join(line for (line,) in cursor.fetchall())


def test_what_is_erased_is_not_found_any_more(space: Space) -> None:
    approximate.build_indexes(space, least=1)
    vector = np.ones(selection.get_configured_embedder().dimension, np.float32)
    best, *others = find_nearest(space, vector)
    with tenant_scope(space.tenant_id):
        IndexEntry.objects.filter(owner_id=best).delete()
        Note.objects.filter(id=best).delete()
    assert find_nearest(space, vector)[: len(others)] == others


def test_indexes_are_listed_and_those_of_erased_spaces_dropped(
    space: Space, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("index", "build", "large", "ana", least=100)
    call_command("index", "list")
    assert f"{approximate.build_index_name(space)}_note  " in (told := capsys.readouterr().out)
    assert f"{COUNT} vectors indexed" in told
    with tenant_scope(space.tenant_id):
        IndexEntry.objects.all().delete()
        Note.objects.all().delete()
        Space.objects.filter(id=space.id).delete()
    call_command("index", "list")
    assert "a space that is gone" in capsys.readouterr().out
    call_command("index", "drop", lost=True)
    assert approximate.list_indexes() == []


def test_dropping_it_brings_exact_search_back(space: Space) -> None:
    approximate.build_indexes(space, least=1)
    call_command("index", "drop", "large", "ana")
    assert approximate.list_indexes() == []
    assert get_approximate_model(space) == ""
    assert not approximate.drop_indexes(space)


@pytest.mark.parametrize(
    ("names", "complaint"),
    [
        (("large", "ana"), "below 50,000"),
        (("large", "nobody"), "no memories of nobody"),
        (("nowhere", "ana"), "no tenant nowhere"),
        (("large",), "Name the tenant and the subject"),
    ],
)
def test_what_can_t_be_built_is_refused(
    space: Space, names: tuple[str, ...], complaint: str
) -> None:
    with pytest.raises(CommandError, match=complaint):
        call_command("index", "build", *names)
    assert approximate.list_indexes() == []
    assert get_approximate_model(space) == ""


def test_only_the_owner_makes_one(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(approximate, "connections", {"owner": connection})
    with pytest.raises(CommandError, match="only the database's owner"):
        call_command("index", "build", "large", "ana", least=1)
    assert get_approximate_model(space) == ""


def get_approximate_model(space: Space) -> str:
    with tenant_scope(space.tenant_id):
        return str(Space.objects.values_list("approximate_model", flat=True).get(id=space.id))
