"""How widely both arms look, by kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from memoryhub.recall.arms import Visibility, candidates
from memoryhub.recall.results import ItemKind
from memoryhub.tenants.scope import tenant_scope
from tests.recall.scene import Scene


def looked_at(scene: Scene, kinds: Sequence[ItemKind], words: str, vector: Any) -> Counter[str]:
    with tenant_scope(scene.hub.tenant.id):
        found = candidates(
            scene.space,
            words=words,
            vector=vector,
            model=scene.hub.embedder.name,
            kinds=kinds,
            visibility=Visibility(scene.hub.now),
            per_arm=4,
        ).seen
    return Counter(each.kind for each in found)


@pytest.mark.parametrize("arm", ["words", "vectors"])
def test_beside_turns_half_as_many_are_looked_at_of_what_is_read_from_them(
    scene: Scene, arm: str
) -> None:
    scene.near(kayak=[1, 0])
    for n in range(6):
        scene.say(f"the kayak {n}")
        scene.fact(f"a kayak {n}")
        scene.note(f"some kayak {n}")
    words = "kayak" if arm == "words" else "unheard"
    vector = None if arm == "words" else scene.hub.embedder.embed(["kayak"])[0].astype(np.float32)
    all_kinds = looked_at(scene, ("fact", "turn", "note"), words, vector)
    assert all_kinds == {"turn": 4, "fact": 2, "note": 2}
    assert looked_at(scene, ("fact", "note"), words, vector) == {"fact": 4, "note": 4}
