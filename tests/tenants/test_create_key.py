"""`manage.py create_key`."""

from __future__ import annotations

import io
import re
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from memoryhub.tenants import keys
from memoryhub.tenants.models import ApiKey, Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant

pytestmark = pytest.mark.django_db


@pytest.fixture
def tenant() -> Tenant:
    return create_tenant("One", "one")


def make_key(*words: str) -> tuple[str, str]:
    """(the key, all that was printed)."""
    out = io.StringIO()
    call_command("create_key", "bot", *words, tenant="one", stdout=out)
    (key,) = re.findall(r"mh_\S+", out.getvalue())
    return key, out.getvalue()


def test_a_key_reads_and_writes_unless_told_otherwise(tenant: Tenant) -> None:
    key, said = make_key()
    assert "read, write; all subjects" in said
    row = keys.find_live_key(key, timezone.now() + timedelta(days=9_999))
    assert row is not None
    assert (row.tenant_id, row.space_id) == (tenant.id, None)
    make_key("--scopes", "admin")
    with tenant_scope(tenant.id):
        assert list(ApiKey.objects.values_list("scopes", flat=True)) == [
            ["admin"],
            ["read", "write"],
        ]


def test_a_key_of_a_subject_comes_before_its_first_word(tenant: Tenant) -> None:
    key, said = make_key("--subject", "mia", "--scopes", "read, write")
    assert "only mia" in said
    with tenant_scope(tenant.id):
        space = Space.objects.get(subject="mia")
    row = keys.find_live_key(key, timezone.now())
    assert row is not None
    assert row.space_id == space.id
    make_key("--subject", "mia")
    with tenant_scope(tenant.id):
        assert Space.objects.count() == 1


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("2090-01-31", datetime(2090, 2, 1, tzinfo=UTC)),
        ("2090-01-31T08:00", datetime(2090, 1, 31, 8, tzinfo=UTC)),
        ("2090-01-31T08:00+02:00", datetime(2090, 1, 31, 6, tzinfo=UTC)),
    ],
)
def test_a_key_expires_when_it_was_told_to(tenant: Tenant, said: str, meant: datetime) -> None:
    key, _ = make_key("--expires", said)
    assert keys.find_live_key(key, meant - timedelta(seconds=1)) is not None
    assert keys.find_live_key(key, meant) is None


def test_a_day_ends_where_the_subject_is(tenant: Tenant) -> None:
    make_key("--subject", "mia")
    with tenant_scope(tenant.id):
        Space.objects.update(timezone="America/Bogota")
    key, _ = make_key("--subject", "mia", "--expires", "2090-01-31")
    with tenant_scope(tenant.id):
        row = ApiKey.objects.get(prefix=keys.extract_prefix(key))
        assert row.expires_at == datetime(2090, 2, 1, 5, tzinfo=UTC)
        assert str(row.last_day) == "2090-01-31"


@pytest.mark.parametrize(
    "words",
    [
        ("--scopes", "king"),
        ("--scopes", ""),
        ("--expires", "tomorrow"),
        ("--expires", "2090-02-31"),
        ("--expires", "9999-12-31"),
        ("--expires", "2020-01-31"),
        ("--subject", "x" * 201),
    ],
)
def test_what_is_wrong_makes_no_key_and_no_subject(tenant: Tenant, words: tuple[str, ...]) -> None:
    whose = () if "--subject" in words else ("--subject", "mia")
    with pytest.raises(CommandError):
        make_key(*words, *whose)
    with tenant_scope(tenant.id):
        assert not ApiKey.objects.exists()
        assert not Space.objects.exists()


def test_the_tenant_must_be_there(tenant: Tenant) -> None:
    with pytest.raises(CommandError, match="no tenant two"):
        call_command("create_key", "bot", tenant="two")
