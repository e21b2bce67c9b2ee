"""What several modules of the pipeline begin with."""

from __future__ import annotations

import pytest

from tests.support.hub import ScriptedHub
from tests.support.segments import reply_chain


@pytest.fixture
def only_claims(hub: ScriptedHub) -> None:
    """Nothing else is to be scripted; what is compared is judged new, unless a test says more."""
    hub.set_policy("mem0", episodes__rolling=False, graph__enabled=True)
    hub.model.allow("resolve", graph_entities={"entities": []})


@pytest.fixture
def only_themes(hub: ScriptedHub) -> None:
    """Only chains and segments are on; nothing else is read from what is said."""
    hub.set_policy("rag", segments__enabled=True, chain__enabled=True)
    hub.model.allow(construct={"changes": []}, chain=reply_chain())
