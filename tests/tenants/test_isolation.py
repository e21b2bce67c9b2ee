from __future__ import annotations

import pytest
from django.db import DatabaseError, connection, transaction

from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant, ensure_space

pytestmark = pytest.mark.django_db


def test_the_application_role_can_not_bypass_it() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user")
        assert cursor.fetchone() == (False, False)


def test_without_a_scope_there_are_no_rows() -> None:
    tenant = create_tenant("One", "one")
    with tenant_scope(tenant.id):
        ensure_space(tenant.id, "ana")
        assert Space.objects.count() == 1
    assert Space.objects.count() == 0
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM tenants_space")
        assert cursor.fetchone() == (0,)


def test_a_scope_sees_its_own_tenant_only_even_in_raw_sql() -> None:
    one, two = create_tenant("One", "one"), create_tenant("Two", "two")
    with tenant_scope(one.id):
        ensure_space(one.id, "ana")
    with tenant_scope(two.id), connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM tenants_space")
        assert cursor.fetchone() == (0,)


def test_a_row_of_another_tenant_can_not_be_written() -> None:
    one, two = create_tenant("One", "one"), create_tenant("Two", "two")
    with tenant_scope(one.id), pytest.raises(DatabaseError), transaction.atomic():
        Space.objects.create(tenant=two, subject="intruder")


def test_an_inner_scope_gives_way_to_the_outer_one() -> None:
    one, two = create_tenant("One", "one"), create_tenant("Two", "two")
    with tenant_scope(one.id):
        ensure_space(one.id, "ana")
        with tenant_scope(two.id):
            assert Space.objects.count() == 0
        assert Space.objects.count() == 1


def test_an_error_leaves_no_scope_behind() -> None:
    tenant = create_tenant("One", "one")
    with pytest.raises(RuntimeError), tenant_scope(tenant.id):
        raise RuntimeError
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('memoryhub.tenant', true)")
        assert cursor.fetchone()[0] in (None, "")
