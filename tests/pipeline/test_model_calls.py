"""What reading a conversation costs in questions to a model, every lane included (issue 3)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from django.conf import settings

from benchmarks.count_model_calls import measure_model_calls
from memoryhub.lab.datasets.read import read_dataset_dialogues

PATH = Path(settings.BASE_DIR).parent / "shared" / "data" / "locomo-dev.json"
MOST = 2.0  # calls per exchange, amortised

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not PATH.exists(), reason="the LoCoMo conversations are not here"),
]


@pytest.mark.parametrize("by_turn", [False, True], ids=["by_session", "by_turn"])
def test_balanced_asks_at_most_two_questions_an_exchange(by_turn: bool) -> None:
    talk = read_dataset_dialogues(PATH)[0].conversation
    tally = measure_model_calls(replace(talk, sessions=talk.sessions[:4]), by_turn=by_turn)
    assert tally.dead == []
    assert tally.exchanges > 30
    assert {"construct", "resolve", "link_evolve", "themes", "fold_summary"} <= set(tally.calls)
    assert tally.per_exchange <= MOST, tally.calls
