"""Memories written by hand, as the steps write them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from memoryhub.tenants.scope import tenant_scope
from tests.support.hand import Hand
from tests.support.hub import Hub


@pytest.fixture
def hand(hub: Hub) -> Iterator[Hand]:
    with tenant_scope(hub.tenant.id):
        yield Hand(hub)
