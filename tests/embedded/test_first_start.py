"""What a new cluster has, and who may do what in it."""

from __future__ import annotations

import psycopg
import pytest

from memoryhub.embedded import EmbeddedPostgres
from tests.embedded.helpers import query_value


def test_start_says_whether_it_started(server: EmbeddedPostgres) -> None:
    assert not server.is_running()
    assert server.start()
    assert server.is_running()
    assert not server.start()
    assert server.stop()
    assert not server.is_running()
    assert not server.stop()


def test_roles_database_extensions_and_settings(server: EmbeddedPostgres) -> None:
    server.start()
    roles = """SELECT array_agg(rolname::text ORDER BY rolname) FROM pg_roles
        WHERE rolname LIKE 'memoryhub%' AND rolcanlogin
        AND NOT (rolsuper OR rolbypassrls OR rolcreatedb OR rolcreaterole OR rolreplication)"""
    assert query_value(server.dsn("app"), roles) == ["memoryhub_app", "memoryhub_owner"]
    extensions = "SELECT array_agg(extname::text) FROM pg_extension"
    found = query_value(server.dsn("app"), extensions)
    assert {"vector", "btree_gin", "pg_trgm", "unaccent"} <= set(found)
    assert query_value(server.dsn("app"), "SHOW maintenance_work_mem") == "256MB"
    assert query_value(server.dsn("app"), "SHOW jit") == "off"
    assert query_value(server.dsn("app"), "SHOW fsync") == "off"
    assert query_value(server.dsn("app"), "SHOW listen_addresses") == ""
    assert query_value(server.dsn("app"), "SHOW server_encoding") == "UTF8"
    assert query_value(server.dsn("app"), "SELECT lower('ÄÉ')") == "äé"


def test_the_owner_makes_tables_the_app_only_uses_them(server: EmbeddedPostgres) -> None:
    server.start()
    with psycopg.connect(server.dsn("owner"), autocommit=True) as owner:
        owner.execute("CREATE TABLE kept (id serial PRIMARY KEY, what text)")
        owner.execute("CREATE EXTENSION IF NOT EXISTS vector")
    with psycopg.connect(server.dsn("app"), autocommit=True) as app:
        app.execute("INSERT INTO kept (what) VALUES ('a')")
        for forbidden in ("DROP TABLE kept", "CREATE TABLE mine ()", "TRUNCATE kept"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                app.execute(forbidden)


def test_further_databases_are_like_the_first(server: EmbeddedPostgres) -> None:
    server.start()
    server.create_database("another")
    server.create_database("another")
    query = "SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = current_database()"
    assert query_value(server.dsn("app", "another"), query) == "memoryhub_owner"
    assert query_value(server.dsn("app", "another"), "SELECT '[1,2]'::vector <-> '[1,2]'") == 0


def test_a_first_start_cut_short_is_made_up_for(server: EmbeddedPostgres) -> None:
    server.start()
    server.stop()
    (server.places.home / "prepared").unlink()
    assert server.start()
    assert query_value(server.dsn("app"), "SELECT 1") == 1
