from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memoryhub.recall.ranking import score, weights
from memoryhub.recall.ranking.score import score_candidates
from memoryhub.recall.ranking.signals import compute_signals
from memoryhub.recall.ranking.weights import (
    SHIPPED_PATH,
    Weights,
    get_shipped_weights,
    read_weights,
    write_weights,
)
from tests.recall.test_fusion import make_candidate, parse_route


def write_weights_file(tmp_path: Path, **changes: Any) -> Path:
    raw = json.loads(SHIPPED_PATH.read_text(encoding="utf-8"))
    for name, value in changes.items():
        raw["weights"][name] = value
    path = tmp_path / "weights.json"
    path.write_text(json.dumps(raw), encoding="utf-8")
    return path


def test_the_shipped_weights_say_what_they_were_learned_from() -> None:
    trained = get_shipped_weights().trained
    assert len(trained.conversations) == 2
    assert trained.questions > 100
    assert trained.on
    assert set(trained.recall) >= {"recall@10", "recall@30"}


def test_a_search_is_ranked_by_the_shipped_weights() -> None:
    way, found = (
        parse_route("Where does Ana live?"),
        [make_candidate(0.4, 0.2, speaker="Ana"), make_candidate(0.1)],
    )
    columns = compute_signals(way, found)
    used = json.loads(SHIPPED_PATH.read_text(encoding="utf-8"))["weights"]
    parts = {scored.candidate.id: scored.parts for scored in score_candidates(way, found)}
    for at, each in enumerate(found):
        for name, value in parts[each.id].items():
            assert value == pytest.approx(used[name] * columns[name][at])


def test_another_file_ranks_otherwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    way, found = parse_route("Where?"), [make_candidate(0.9, 0.1), make_candidate(0.1, 0.9)]
    assert score_candidates(way, found)[0].candidate is found[0]
    other = read_weights(write_weights_file(tmp_path, lexical=9.0))
    monkeypatch.setattr(score, "get_shipped_weights", lambda: other)
    assert score_candidates(way, found)[0].candidate is found[1]


def test_every_signal_has_a_weight_and_every_weight_a_signal() -> None:
    assert set(compute_signals(parse_route("where"), [make_candidate()])) == set(
        Weights.model_fields
    )


@pytest.mark.parametrize(
    "changes", [{"dense": "much"}, {"dense": None}, {"dense": 1e9}, {"unheard_of": 1.0}]
)
def test_a_file_with_other_values_is_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(changes))):
        read_weights(write_weights_file(tmp_path, **changes))


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    write_weights(tmp_path / "w.json", get_shipped_weights())
    assert weights.read_weights(tmp_path / "w.json") == get_shipped_weights()
