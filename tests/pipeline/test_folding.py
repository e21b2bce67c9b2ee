"""The summary so far (Mem0's S, spec §5.2, §5.3, §12.1)."""

from __future__ import annotations

from typing import Any

import pytest

from memoryhub.errors import EngineError
from memoryhub.tenants.scope import tenant_scope
from notes.episodes import store
from notes.models import Derivation, Episode, EvolutionEvent
from tests.support.hub import ScriptedHub

pytestmark = pytest.mark.django_db
SILENT: dict[str, Any] = {"changes": []}


@pytest.fixture
def folding(hub: ScriptedHub) -> ScriptedHub:
    hub.set_policy("rag", episodes__rolling=True, episodes__rolling_exchanges=2)
    hub.model.allow(construct=SILENT)
    return hub


def get_summary(hub: ScriptedHub) -> str:
    with tenant_scope(hub.tenant.id):
        return store.load_rolling_text(hub.space)


def say_exchanges(hub: ScriptedHub, *said: str) -> None:
    for text in said:
        hub.say_exchange(text, f"You said: {text}")
        hub.run_due_jobs(minutes=1)


def test_S_is_renewed_every_so_many_exchanges(folding: ScriptedHub) -> None:
    say_exchanges(folding, "I planted a fig.")
    assert get_summary(folding) == ""
    folding.model.script("fold_summary", {"text": "Ana planted a fig."})
    say_exchanges(folding, "It grows.")
    assert get_summary(folding) == "Ana planted a fig."
    folding.model.script("fold_summary", {"text": "Ana's fig has fruit."})
    say_exchanges(folding, "It blooms.", "It has fruit.")
    assert get_summary(folding) == "Ana's fig has fruit."
    first, second = folding.model.list_calls("fold_summary")
    assert first["summary"] == ""
    assert second["summary"] == "Ana planted a fig."
    said = [message["text"] for message in second["messages"]]
    assert said == [
        "It blooms.",
        "You said: It blooms.",
        "It has fruit.",
        "You said: It has fruit.",
    ]


def test_S_is_renewed_when_much_was_said_in_few_exchanges(folding: ScriptedHub) -> None:
    folding.set_policy("rag", episodes__rolling=True, episodes__rolling_tokens=100)
    folding.model.script("fold_summary", {"text": "A long story."})
    say_exchanges(folding, "And then it grew. " * 30)
    assert get_summary(folding) == "A long story."


def test_a_failing_fold_keeps_the_old_S(folding: ScriptedHub) -> None:
    folding.model.script("fold_summary", {"text": "Ana planted a fig."})
    say_exchanges(folding, "I planted a fig.", "It grows.")
    folding.model.script("fold_summary", EngineError("down"))
    say_exchanges(folding, "It blooms.", "It has fruit.")
    assert get_summary(folding) == "Ana planted a fig."
    folding.model.script("fold_summary", {"text": "Ana's fig has fruit."})
    folding.run_due_jobs(hours=1)
    assert get_summary(folding) == "Ana's fig has fruit."
    assert len(folding.model.list_calls("fold_summary")[-1]["messages"]) == 4


def test_S_is_one_row_with_its_history_and_every_source(folding: ScriptedHub) -> None:
    folding.model.allow("fold_summary")
    say_exchanges(folding, *(f"It is day {n}." for n in range(6)))
    with tenant_scope(folding.tenant.id):
        row = Episode.objects.get(kind="rolling")
        assert (row.version, row.from_seq, row.to_seq) == (3, 1, 12)
        assert Derivation.objects.filter(child_id=row.id).count() == 12
        kinds = EvolutionEvent.objects.filter(trigger="fold").values_list("kind", flat=True)
        assert sorted(kinds) == ["digest", "refresh", "refresh"]


def test_S_is_no_longer_than_wished(folding: ScriptedHub) -> None:
    policy = {"episodes__rolling_exchanges": 1, "episodes__rolling_words": 20}
    folding.set_policy("rag", episodes__rolling=True, **policy)
    folding.model.script("fold_summary", {"text": "Ana planted one more fig tree. " * 40})
    say_exchanges(folding, "I planted figs.")
    assert len(get_summary(folding).split()) <= 30
    assert get_summary(folding).endswith("tree.")


def test_nothing_is_folded_where_the_policy_says_no(folding: ScriptedHub) -> None:
    folding.set_policy("rag")
    say_exchanges(folding, "One.", "Two.", "Three.")
    assert get_summary(folding) == ""
