"""Statements that are planned once a connection."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from django.db import ProgrammingError, connection
from django.test.utils import CaptureQueriesContext

from memoryhub.embedded import EmbeddedPostgres
from memoryhub.recall.models import RecallLog
from memoryhub.tenants.database.prepared import insert_rows, open_prepared_cursor, update_rows
from memoryhub.tenants.ids import new_id
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant, ensure_space

pytestmark = pytest.mark.django_db(transaction=True)

_ASKED = "SELECT %(number)s::int + 1 AS more, %(words)s::text[] AS words"
_KEPT = "SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE statement LIKE %s"


def _fetch_rows(statement: str, values: Any) -> list[tuple[Any, ...]]:
    with open_prepared_cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())


def test_a_prepared_statement_is_planned_once_whatever_its_values_are() -> None:
    tenant = create_tenant("Ana", "ana")
    for number in (1, 40, 7):
        with tenant_scope(tenant.id):
            asked = {"number": number, "words": ["tea", "it's"]}
            assert _fetch_rows(_ASKED, asked) == [(number + 1, ["tea", "it's"])]
    with tenant_scope(tenant.id), connection.cursor() as cursor:
        cursor.execute(_KEPT, ["%AS more%"])
        assert (3, 0) in cursor.fetchall()


def test_other_statements_are_not_kept() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s::int AS not_kept", [3])
        cursor.execute(_KEPT, ["%not_kept%"])
        assert cursor.fetchall() == []


def test_the_first_statement_of_a_request_outlives_a_restart_of_the_database(
    postgres: EmbeddedPostgres,
) -> None:
    connection.close_if_unusable_or_obsolete()
    ((pid,),) = _fetch_rows("SELECT pg_backend_pid()", None)
    name = connection.settings_dict["NAME"]
    with psycopg.connect(postgres.dsn("superuser", name), autocommit=True) as superuser:
        superuser.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
    connection.close_if_unusable_or_obsolete()  # as Django does before each request
    assert _fetch_rows("SELECT 1", None) == [(1,)]


def test_what_is_prepared_is_logged_as_a_query_each_time() -> None:
    tenant = create_tenant("Ben", "ben")
    with tenant_scope(tenant.id), CaptureQueriesContext(connection) as caught:
        for number in (2, 3):
            _fetch_rows(_ASKED, {"number": number, "words": []})
    assert [query["sql"] for query in caught] == [_ASKED, _ASKED]


_ODD = """a "quoted" \\ back\\slash, it's {curly}, a,comma, NULL, 🙂 他\n\ttab"""
_AT = datetime(2026, 5, 1, 12, 30, 15, 123456, tzinfo=UTC)


def test_rows_are_inserted_as_they_were_given_the_rest_by_default() -> None:
    tenant = create_tenant("Cleo", "cleo")
    with tenant_scope(tenant.id):
        space = ensure_space(tenant.id, "cleo")
    given = {"tenant_id": tenant.id, "space_id": space.id, "asked_at": _AT, "form": "search"}
    told = {"query": _ODD, "options": {_ODD: [_ODD, None, 1.5, True]}, "tokens": 7}
    one, other = new_id(), new_id()
    with tenant_scope(tenant.id):
        insert_rows(RecallLog, [])
        insert_rows(RecallLog, [given | told | {"id": one}, given | {"id": other, "query": "?"}])
        row, plain = RecallLog.objects.get(id=one), RecallLog.objects.get(id=other)
    assert {name: getattr(row, name) for name in told} == told
    assert (row.asked_at, row.tenant_id, row.dropped, row.rounds) == (_AT, tenant.id, [], 1)
    assert (plain.options, plain.tokens, plain.milliseconds) == ({}, None, 0)


def test_of_rows_only_the_named_fields_are_written() -> None:
    tenant = create_tenant("Fay", "fay")
    with tenant_scope(tenant.id):
        space = ensure_space(tenant.id, "fay")
        given = {"tenant_id": tenant.id, "space_id": space.id, "asked_at": _AT, "form": "search"}
        insert_rows(RecallLog, [given | {"id": new_id(), "query": each} for each in "abc"])
        changed, same, plain = RecallLog.objects.order_by("query")
        told = {
            "options": {_ODD: [_ODD, None, 1.5]},
            "tokens": None,
            "asked_at": _AT.replace(day=2),
        }
        for row in (changed, same):
            row.query = "not written"
            for name, value in told.items():
                setattr(row, name, value)
        update_rows([], ["tokens"])
        update_rows([changed, same], list(told))
        for row, query in ((changed, "a"), (same, "b")):
            row.refresh_from_db()
            assert row.query == query
            assert {name: getattr(row, name) for name in told} == told
        plain.refresh_from_db()
        assert plain.asked_at == _AT


def test_no_row_is_inserted_for_another_tenant() -> None:
    own, other = create_tenant("Dan", "dan"), create_tenant("Eve", "eve")
    with tenant_scope(other.id):
        space = ensure_space(other.id, "eve")
    row = {"tenant_id": other.id, "space_id": space.id, "asked_at": _AT, "query": "?"}
    with pytest.raises(ProgrammingError, match="row-level security"), tenant_scope(own.id):
        insert_rows(RecallLog, [row])
