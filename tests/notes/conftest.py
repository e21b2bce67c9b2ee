"""Memories written by hand, as the steps write them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from memoryhub.tenants.scope import tenant_scope
from tests.support.hand_writer import HandWriter
from tests.support.hub import ScriptedHub


@pytest.fixture
def hand(hub: ScriptedHub) -> Iterator[HandWriter]:
    with tenant_scope(hub.tenant.id):
        yield HandWriter(hub)
