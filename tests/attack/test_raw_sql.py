"""What the application's role can do with SQL of its own choice, inside another tenant's scope."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.db import DatabaseError, connection, transaction

from memoryhub.tenants.models import ApiKey, Membership, Tenant, User
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.sign_in import attempts
from tests.console.conftest import ConsoleWorld, make_world
from tests.support import api_scene
from tests.support.attack import list_tenant_tables
from tests.support.factories import make_member, make_tenant

# Tables of the public schema that are no tenant's, and why they may be read inside a scope.
COMMON = {
    "auth_group": "there are none",
    "auth_group_permissions": "there are none",
    "auth_permission": "names of Django's",
    "django_content_type": "names of tables",
    "django_migrations": "names of migrations",
}
# The hub's own, which a scope does not reach.
OUT_OF_REACH = {
    "django_admin_log",
    "django_session",
    "inference_hubmodels",
    "tenants_browsersession",
    "tenants_recoverycode",
    "tenants_secondfactor",
    "tenants_signonidentity",
    "tenants_user_groups",
    "tenants_user_user_permissions",
}
# Functions of the owner, with what would make them tell of the victim. A new one fails until it is
# here.
FUNCTIONS: dict[str, list[str]] = {
    "memoryhub_ageing_tenants": [],
    "memoryhub_api_key": ["'{prefix}'"],
    "memoryhub_tenant_id": ["'{slug}'"],
    "memoryhub_due_spaces": ["'3000-01-01'", "1000"],
    "memoryhub_due_webhooks": ["'3000-01-01'", "1000"],
    "memoryhub_enter": ["'{tenant}'"],
    "memoryhub_lab_tenants": [],
    "memoryhub_queue_lag": [],
    "memoryhub_sealed_tenants": [],
    "memoryhub_waiting_imports": ["'3000-01-01'"],
    "memoryhub_waiting_lab_runs": [],
    "memoryhub_by_words": [
        "'{tenant}'",
        "'{space}'",
        "ARRAY['fact', 'note', 'turn']",
        "'bee'::tsquery",
        "10",
    ],
}
_TABLES = """
SELECT relname, relrowsecurity, relforcerowsecurity FROM pg_class
WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace
"""
_FUNCTIONS = """
SELECT proname FROM pg_proc WHERE prosecdef AND pronamespace = 'public'::regnamespace
"""


@pytest.fixture(scope="module")
def victim(kept_for_module: None) -> ConsoleWorld:
    tenant = make_tenant("Quarry")
    api_scene.make_row_of_every_kind(tenant)
    return make_world("Quarry", tenant)


@pytest.fixture
def stranger(db: None, victim: ConsoleWorld) -> Tenant:
    """Of whom one is a member of both."""
    tenant = make_tenant("Stranger")
    make_member(tenant)
    return tenant


def ask(statement: str, *values: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall() if cursor.description else [(cursor.rowcount,)]


def test_every_table_is_bound_or_common(db: None) -> None:
    found = {name: (bound, forced) for name, bound, forced in ask(_TABLES)}
    assert {name for name, (bound, _) in found.items() if not bound} == set(COMMON)
    assert [name for name, (bound, forced) in found.items() if bound and not forced] == []
    mine = {*list_tenant_tables(), "tenants_tenant", "tenants_user", "tenants_accountevent"}
    assert found.keys() == mine | OUT_OF_REACH | COMMON.keys()


def test_a_scope_shows_no_row_of_another_tenant(victim: ConsoleWorld, stranger: Tenant) -> None:
    filled, shown = [], []
    for table in list_tenant_tables():
        with tenant_scope(victim.tenant.id):
            filled += [table] * bool(ask(f"SELECT 1 FROM {table} LIMIT 1"))
        with tenant_scope(stranger.id):
            shown += [table] * bool(
                ask(f"SELECT 1 FROM {table} WHERE tenant_id <> %s", stranger.id)
            )
        shown += [table] * bool(ask(f"SELECT 1 FROM {table} LIMIT 1"))  # without any scope
    assert shown == []
    assert len(filled) > 40  # there was something to be shown


def try_statement(statement: str, *values: Any) -> str:
    """Why it was refused, "" where it did nothing, and otherwise that it was done."""
    try:
        with transaction.atomic():
            return "done" if ask(statement, *values)[0][0] else ""
    except DatabaseError as error:
        return str(error)


def test_a_scope_changes_no_row_of_another_tenant(victim: ConsoleWorld, stranger: Tenant) -> None:
    theirs, done = victim.tenant.id, []
    for table in list_tenant_tables():
        with tenant_scope(stranger.id):
            for statement in (
                f"UPDATE {table} SET tenant_id = tenant_id WHERE tenant_id = %s",
                f"DELETE FROM {table} WHERE tenant_id = %s",
            ):
                told = try_statement(statement, theirs)
                done += [f"{statement}: {told}"] * bool(told and "permission denied" not in told)
    assert done == []


def test_no_row_is_given_away_to_another_tenant(victim: ConsoleWorld, stranger: Tenant) -> None:
    """A copy of the victim's own row, made by whoever works for somebody else."""
    taken = []
    for table in list_tenant_tables():
        with tenant_scope(victim.tenant.id):
            found = ask(f"SELECT row_to_json(r)::text FROM {table} r LIMIT 1")
        if not found:
            continue
        made = f"INSERT INTO {table} SELECT * FROM json_populate_record(NULL::{table}, %s::json)"
        with tenant_scope(stranger.id):
            told = try_statement(made, found[0][0])
        taken += [f"{table}: {told}"] * ("row-level security" not in told)
    assert taken == []


def test_functions_of_the_owner_tell_nothing_of_another_tenant(
    victim: ConsoleWorld, stranger: Tenant
) -> None:
    assert {name for (name,) in ask(_FUNCTIONS)} == set(FUNCTIONS)
    with tenant_scope(victim.tenant.id):
        words = {
            "prefix": ApiKey.objects.values_list("prefix", flat=True).first(),
            "slug": victim.tenant.slug,
            "tenant": victim.tenant.id,
            "space": victim.space.id,
        }
    told = []
    for name, arguments in FUNCTIONS.items():
        asked = f"SELECT * FROM {name}({', '.join(arguments).format(**words)}) AS found"
        with tenant_scope(stranger.id):
            told += [name] * any(set(row) - {None} for row in ask(asked))
    assert told == []


def test_people_and_sessions_are_out_of_a_tenants_reach(
    victim: ConsoleWorld, stranger: Tenant, client: Any
) -> None:
    client.force_login(victim.admin)
    attempts.record_account_event(attempts.Kind.SIGNED_IN, victim.admin, "")
    assert ask("SELECT 1 FROM tenants_browsersession")
    with tenant_scope(stranger.id):
        for table in sorted(OUT_OF_REACH):
            assert ask(f"SELECT 1 FROM {table}") == [], table
        members = set(Membership.objects.values_list("user_id", flat=True))
        assert {row_id for (row_id,) in ask("SELECT id FROM tenants_user")} == members
        assert ask("SELECT 1 FROM tenants_accountevent") == []
        # Nor is one of one's own made more than they are.
        assert ask("UPDATE tenants_user SET is_superuser = true") == [(0,)]
        assert ask("DELETE FROM tenants_user") == [(0,)]
        with pytest.raises(DatabaseError, match="row-level security"), transaction.atomic():
            User.objects.create_user(f"intruder-{uuid4()}")


def test_the_owner_is_bound_inside_a_scope_too(victim: ConsoleWorld, stranger: Tenant) -> None:
    """A function of the owner runs with the owner's rights: the policies name them."""
    rows = ask("SELECT tablename, roles::text, qual FROM pg_policies WHERE policyname = 'owner'")
    open_to_all = [table for table, _, qual in rows if qual == "true"]
    assert open_to_all == ["notes_indexentry"]  # its function compares the tenant by itself
    assert {roles for _, roles, _ in rows} == {"{memoryhub_owner}"}
