"""What several modules of the pipeline begin with."""

from __future__ import annotations

import pytest

from tests.support.hub import Hub


@pytest.fixture
def only_claims(hub: Hub) -> None:
    """Nothing else is to be scripted."""
    hub.policy("mem0", episodes__rolling=False, graph__enabled=True)
