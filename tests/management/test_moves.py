"""A tenant moves to another cell: all of it, and nobody writes to what is left behind."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.db import connections

from memoryhub.dialogues.messages import Message
from memoryhub.embedded import EmbeddedPostgres
from memoryhub.errors import TenantMoved
from memoryhub.management.backups import build_owner_dsn
from memoryhub.management.moves import (
    MoveError,
    Routes,
    list_routes,
    move_tenant,
    purge_moved_tenant,
)
from memoryhub.pipeline import tasks
from memoryhub.pipeline.ingest.services import IngestRequest, ingest_messages, run_space
from memoryhub.tenants.models import Membership, Tenant, User
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import add_member, create_key, create_tenant
from tests.conftest import copy_template

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])


@pytest.fixture
def other_cell(postgres: EmbeddedPostgres, django_db_setup: None, worker_id: str) -> Iterator[str]:
    """A database of the same version, without tenants, whatever other tests left in theirs.

    Of this process alone: the others have the same server, and may be moving a tenant, too.
    """
    name = f"move_target_{worker_id}"
    copy_template(postgres, name)
    yield postgres.dsn("owner", name)
    with psycopg.connect(postgres.dsn("superuser", "postgres"), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _make_tenant() -> Tenant:
    tenant = create_tenant("Quarry", "quarry")
    _say(tenant, "I live in Porto.")
    return tenant


def _say(tenant: Tenant, text: str) -> None:
    with tasks.silence_doorbell():
        done = ingest_messages(tenant.id, IngestRequest("ana", [Message("user", text, "Ana")]))
    run_space(tenant.id, done.space.id)


def _read(dsn: str, statement: str) -> list[Any]:
    with psycopg.connect(dsn) as connection:
        return [value for (value,) in connection.execute(statement.encode()).fetchall()]


_ALL_ROWS = """
SELECT t::text FROM notes_fact t UNION ALL SELECT t::text FROM dialogues_turn t
UNION ALL SELECT t::text FROM notes_indexentry t UNION ALL SELECT t::text FROM tenants_apikey t
UNION ALL SELECT t::text FROM notes_revision t ORDER BY 1
"""


def test_all_of_a_tenant_moves_and_comes_back(other_cell: str) -> None:
    tenant, here = _make_tenant(), build_owner_dsn()
    _, key = create_key(tenant, "first", ["read"])
    before, switched = _read(here, _ALL_ROWS), list[Routes]()
    move_tenant("quarry", here, other_cell, "b2", switched.append)
    assert _read(other_cell, _ALL_ROWS) == before
    prefix = key.split("_")[1]
    assert switched == [Routes([prefix], ["quarry"])]
    assert list_routes(other_cell, "b2") == Routes(["b2", prefix], ["quarry"])
    assert list_routes(here, "a1") == Routes(["a1"], [])
    with pytest.raises(TenantMoved), tenant_scope(tenant.id):
        pass
    with pytest.raises(MoveError, match="purge it first"):
        move_tenant("quarry", other_cell, here, "a1", lambda _: None)
    assert purge_moved_tenant("quarry", here) > 0
    assert _read(here, _ALL_ROWS) == []
    move_tenant("quarry", other_cell, here, "a1", lambda _: None)
    assert _read(here, _ALL_ROWS) == before
    with tenant_scope(tenant.id):
        assert Tenant.objects.get(id=tenant.id).moved_to == ""


def test_what_is_written_while_it_is_copied_comes_along_and_writers_wait(
    other_cell: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memoryhub.management import moves

    tenant, here = _make_tenant(), build_owner_dsn()
    copy_changes, outcome = moves._TenantCopy.copy_changes, list[str]()

    def write_late() -> None:
        try:
            _say(tenant, "I have a dog called Rex.")
            outcome.append("written")
        except TenantMoved:
            outcome.append("moved")
        finally:
            connections.close_all()

    late = threading.Thread(target=write_late)

    def begin_writer_and_copy(self: Any, position: str) -> int:
        late.start()  # while the tenant is held
        return copy_changes(self, position)

    copy_all = moves._TenantCopy.copy_all

    def copy_and_write(self: Any) -> str:
        position = copy_all(self)
        _say(tenant, "I moved to Lagos.")
        with tenant_scope(tenant.id), connections["default"].cursor() as cursor:
            cursor.execute("DELETE FROM notes_fingerprint")
        return position

    monkeypatch.setattr(moves._TenantCopy, "copy_all", copy_and_write)
    monkeypatch.setattr(moves._TenantCopy, "copy_changes", begin_writer_and_copy)
    moved = move_tenant("quarry", here, other_cell, "b2", lambda _: None)
    late.join()
    assert moved.changed > 0
    assert outcome == ["moved"]
    assert _read(other_cell, _ALL_ROWS) == _read(here, _ALL_ROWS)
    assert len(_read(other_cell, "SELECT text FROM dialogues_turn")) == 2


def test_people_come_along_without_being_operators_and_nobody_is_taken_for_another(
    other_cell: str,
) -> None:
    tenant, here = _make_tenant(), build_owner_dsn()
    ada = User.objects.create_superuser("ada", password="correct horse battery")
    add_member(tenant, ada, Membership.Role.ADMIN)
    with psycopg.connect(other_cell) as connection:
        connection.execute(
            "INSERT INTO tenants_user (password, is_superuser, username, first_name, last_name, "
            "email, is_staff, is_active, date_joined) "
            "VALUES ('', false, 'ada', '', '', '', false, true, now())"
        )
    with pytest.raises(MoveError, match="ada"):
        move_tenant("quarry", here, other_cell, "b2", lambda _: None)
    with tenant_scope(tenant.id):
        assert Membership.objects.count() == 1  # it is served here as before
    with psycopg.connect(other_cell) as connection:
        connection.execute("UPDATE tenants_user SET username = 'ada of old'")
    move_tenant("quarry", here, other_cell, "b2", lambda _: None)
    assert _read(
        other_cell,
        "SELECT u.username || u.is_superuser || (u.password <> '') FROM tenants_membership m "
        "JOIN tenants_user u ON u.id = m.user_id",
    ) == ["adafalsetrue"]


def test_a_move_that_broke_off_before_it_was_open_is_ended_by_another(other_cell: str) -> None:
    tenant, here = _make_tenant(), build_owner_dsn()
    move_tenant("quarry", here, other_cell, "b2", lambda _: None)
    with psycopg.connect(other_cell) as connection:
        connection.execute("UPDATE tenants_tenant SET moved_to = 'arriving'")
    with pytest.raises(MoveError, match="has moved"):
        move_tenant("quarry", here, other_cell, "c3", lambda _: None)
    move_tenant("quarry", here, other_cell, "b2", lambda _: None)
    assert _read(other_cell, "SELECT moved_to FROM tenants_tenant") == [""]
    assert tenant.slug == "quarry"


def test_what_is_served_here_is_not_deleted(other_cell: str) -> None:
    _make_tenant()
    with pytest.raises(MoveError, match="served here"):
        purge_moved_tenant("quarry", build_owner_dsn())
