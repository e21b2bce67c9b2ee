"""Statements that are planned once a connection."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant
from memoryhub.tenants.statements import prepared

pytestmark = pytest.mark.django_db(transaction=True)

_ASKED = "SELECT %(number)s::int + 1 AS more, %(words)s::text[] AS words"
_KEPT = "SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE statement LIKE %s"


def _rows(statement: str, values: Any) -> list[tuple[Any, ...]]:
    with prepared() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())


def test_a_prepared_statement_is_planned_once_whatever_its_values_are() -> None:
    tenant = create_tenant("Ana", "ana")
    for number in (1, 40, 7):
        with tenant_scope(tenant.id):
            asked = {"number": number, "words": ["tea", "it's"]}
            assert _rows(_ASKED, asked) == [(number + 1, ["tea", "it's"])]
    with tenant_scope(tenant.id), connection.cursor() as cursor:
        cursor.execute(_KEPT, ["%AS more%"])
        assert (3, 0) in cursor.fetchall()


def test_other_statements_are_not_kept() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s::int AS not_kept", [3])
        cursor.execute(_KEPT, ["%not_kept%"])
        assert cursor.fetchall() == []


def test_what_is_prepared_is_logged_as_a_query_each_time() -> None:
    tenant = create_tenant("Ben", "ben")
    with tenant_scope(tenant.id), CaptureQueriesContext(connection) as caught:
        for number in (2, 3):
            _rows(_ASKED, {"number": number, "words": []})
    assert [query["sql"] for query in caught] == [_ASKED, _ASKED]
