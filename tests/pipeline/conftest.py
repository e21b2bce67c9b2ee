"""What several modules of the pipeline begin with."""

from __future__ import annotations

import pytest

from tests.support.hub import Hub
from tests.support.themes import chained


@pytest.fixture
def only_claims(hub: Hub) -> None:
    """Nothing else is to be scripted."""
    hub.policy("mem0", episodes__rolling=False, graph__enabled=True)


@pytest.fixture
def only_themes(hub: Hub) -> None:
    """Only chains and segments are on; nothing else is read from what is said."""
    hub.policy("rag", segments__enabled=True, chain__enabled=True)
    hub.model.allow(construct={"facts": []}, chain=chained())
