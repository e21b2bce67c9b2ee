"""How widely both arms look, by kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from memoryhub.recall.candidates.sql import retrieve_candidates
from memoryhub.recall.question.caller import SearchVisibility
from memoryhub.recall.render.results import ItemKind
from memoryhub.tenants.scope import tenant_scope
from tests.recall.scene import RecallScene


def count_candidates_by_kind(
    scene: RecallScene, kinds: Sequence[ItemKind], words: str, vector: Any
) -> Counter[str]:
    with tenant_scope(scene.hub.tenant.id):
        found = retrieve_candidates(
            scene.space,
            words=words,
            vector=vector,
            model=scene.hub.embedder.name,
            kinds=kinds,
            visibility=SearchVisibility(scene.hub.now),
            per_arm=4,
        ).visible
    return Counter(each.kind for each in found)


@pytest.mark.parametrize("arm", ["words", "vectors"])
def test_beside_turns_half_as_many_are_looked_at_of_what_is_read_from_them(
    scene: RecallScene, arm: str
) -> None:
    scene.set_vectors(kayak=[1, 0])
    for n in range(6):
        scene.say(f"the kayak {n}")
        scene.add_fact(f"a kayak {n}")
        scene.add_note(f"some kayak {n}")
    words = "kayak" if arm == "words" else "unheard"
    vector = None if arm == "words" else scene.hub.embedder.embed(["kayak"])[0].astype(np.float32)
    all_kinds = count_candidates_by_kind(scene, ("fact", "turn", "note"), words, vector)
    assert all_kinds == {"turn": 4, "fact": 2, "note": 2}
    assert count_candidates_by_kind(scene, ("fact", "note"), words, vector) == {
        "fact": 4,
        "note": 4,
    }
