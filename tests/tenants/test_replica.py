"""When the primary is read though there is a copy. That the copy is read `make cells` shows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import OperationalError, connection, connections

from memoryhub.tenants.database import replica
from memoryhub.tenants.scope import reading_scope, tenant_scope
from tests.support.factories import make_tenant

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def copy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A second way to the same database."""
    monkeypatch.setitem(connections.settings, "replica", connections.settings["default"])
    monkeypatch.setattr(replica, "_rests_until", 0.0)
    yield
    if hasattr(connections._connections, "replica"):  # type: ignore[attr-defined]  # Django's own
        connections["replica"].close()
        del connections["replica"]


def test_within_a_transaction_the_primary_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replica, "_wait_for_position", lambda *_: True)
    tenant = make_tenant("Quarry")
    with tenant_scope(tenant.id), reading_scope(tenant.id):
        assert connection.alias == "default"


def test_a_copy_that_can_not_be_reached_is_left_alone_for_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = list[int]()

    def fail(*_: Any) -> bool:
        asked.append(1)
        raise OperationalError("gone")

    monkeypatch.setattr(replica, "_wait_for_position", fail)
    tenant = make_tenant("Quarry")
    for _ in range(3):
        with reading_scope(tenant.id):
            assert connection.alias == "default"
    assert asked == [1]
