"""Roles, databases and extensions of a new cluster. Every step may be run again.

`memoryhub_owner` owns the database and runs migrations; `memoryhub_app` is what the
application uses. Neither is a superuser or may bypass row-level security. Extensions go
into template1, so a later database has them though its owner may not create `vector`.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

APP, OWNER, SUPERUSER = "memoryhub_app", "memoryhub_owner", "postgres"
DATABASE = "memoryhub"
EXTENSIONS = ("vector", "btree_gin", "pg_trgm", "unaccent")
ROLE_ATTRIBUTES = "LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS"
GRANTS = """
ALTER SCHEMA public OWNER TO {owner};
GRANT USAGE ON SCHEMA public TO {app};
ALTER DEFAULT PRIVILEGES FOR ROLE {owner} IN SCHEMA public
    GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {app};
ALTER DEFAULT PRIVILEGES FOR ROLE {owner} IN SCHEMA public
    GRANT USAGE, SELECT ON SEQUENCES TO {app};
"""
Conninfo = Mapping[str, str]


def provision_cluster(superuser: Conninfo, passwords: Mapping[str, str]) -> None:
    """Everything the hub needs of a new cluster."""
    with connect_as_superuser(superuser, "postgres") as connection:
        for role in (OWNER, APP):
            create_role(connection, role, passwords[role])
    with connect_as_superuser(superuser, "template1") as connection:
        for extension in EXTENSIONS:
            name = sql.Identifier(extension)
            connection.execute(sql.SQL("CREATE EXTENSION IF NOT EXISTS {}").format(name))
    create_database(superuser, DATABASE)


def create_role(connection: psycopg.Connection, role: str, password: str) -> None:
    """The password is only asked for over TCP."""
    known = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone()
    statement = f"{'ALTER' if known else 'CREATE'} ROLE {{}} {ROLE_ATTRIBUTES} PASSWORD {{}}"
    connection.execute(sql.SQL(statement).format(sql.Identifier(role), sql.Literal(password)))


def create_database(superuser: Conninfo, name: str) -> None:
    """A database owned by the owner role and usable by the app role; one there is kept."""
    names = {"owner": sql.Identifier(OWNER), "app": sql.Identifier(APP)}
    with connect_as_superuser(superuser, "postgres") as connection:
        query = "SELECT 1 FROM pg_database WHERE datname = %s"
        if not connection.execute(query, [name]).fetchone():
            statement = sql.SQL("CREATE DATABASE {name} OWNER {owner}")
            connection.execute(statement.format(name=sql.Identifier(name), owner=names["owner"]))
    with connect_as_superuser(superuser, name) as connection:
        connection.execute(sql.SQL(GRANTS).format(**names))


def connect_as_superuser(superuser: Conninfo, database: str) -> psycopg.Connection:
    return psycopg.connect(make_conninfo(**{**superuser, "dbname": database}), autocommit=True)


def ensure_role_passwords(path: Path) -> dict[str, str]:
    """The roles' passwords for TCP, made once and kept in a file only we can read."""
    if not path.exists():
        made = {role: secrets.token_urlsafe(24) for role in (APP, OWNER)}
        draft = path.with_suffix(".new")
        draft.unlink(missing_ok=True)
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump(made, file)
        draft.rename(path)
    loaded: dict[str, str] = json.loads(path.read_text())
    return loaded
