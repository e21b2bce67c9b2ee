from __future__ import annotations

import pytest

from tests.recall.scene import RecallScene
from tests.support.hub import ScriptedHub


@pytest.fixture
def scene(hub: ScriptedHub) -> RecallScene:
    return RecallScene(hub)
