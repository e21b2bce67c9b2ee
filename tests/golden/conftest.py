from __future__ import annotations

import pytest

from tests.recall.scene import Scene
from tests.support.hub import Hub


@pytest.fixture
def scene(hub: Hub) -> Scene:
    return Scene(hub)
