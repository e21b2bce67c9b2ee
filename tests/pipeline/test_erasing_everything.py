"""X6 over every system at once: the local engine in preset `balanced`, all lanes run (I12)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from memoryhub.dialogues.messages import Message
from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.erasure import erase_targets
from memoryhub.pipeline.erasure.erase_targets import ErasureTarget
from memoryhub.pipeline.ingest.services import IngestRequest, ingest_messages
from memoryhub.pipeline.jobs import runner
from memoryhub.pipeline.models import Job
from memoryhub.policies.services import set_policy
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant
from notes.models import Episode, Fact, Segment
from tests.support.database_scan import find_tables_with_word

START = datetime(2026, 5, 1, 9, tzinfo=UTC)
SAID = [
    ("I live in Porto and I work at the harbour.", "That sounds lively."),
    ("My sister Beatriz bought a trombone in Quxford yesterday.", "A trombone, how loud."),
    ("Beatriz plays every Sunday with the zarquon orchestra.", "Does the orchestra travel?"),
    ("I love kayaking on the Douro river.", "The river must be cold."),
    ("I moved to Vizconia last week.", "How do you like Vizconia?"),
    ("My dog is called Bolota.", "A fine name."),
    ("I bought a kayak in Faro.", "Enjoy it."),
    ("I have a meeting with Tomas on Friday.", "Good luck."),
    ("I love cooking fish at home.", "Which fish?"),
    ("We went to the museum with Bolota.", "Were dogs allowed?"),
    ("I adopted a parrot called Zephyrino, and I sold my old car.", "Zephyrino is a fine name."),
    ("I want to learn to sail.", "The harbour has a school."),
]
# Of turns 2 and 5: what only they, and the reply to the fifth, speak of.
SECRET = ("trombone", "Quxford", "Vizconia")


@pytest.fixture
def talked(db: None, monkeypatch: pytest.MonkeyPatch) -> Space:
    monkeypatch.setattr("memoryhub.pipeline.ingest.services.ring_worker", lambda *ids: None)
    tenant = create_tenant("One", "one")
    set_policy(
        tenant.id,
        actor="test",
        preset="balanced",
        overrides={"episodes.global": True, "episodes.session": True, "episodes.window_turns": 4},
    )
    for number, pair in enumerate(SAID):
        at = START + timedelta(hours=9 * number)
        messages = [
            Message("user", pair[0], "Ana", timestamp=at),
            Message("assistant", pair[1], "Hub", timestamp=at + timedelta(seconds=30)),
        ]
        done = ingest_messages(tenant.id, IngestRequest("Ana", messages, f"s{number // 4}"), at)
        runner.drain_space(tenant.id, done.space.id, at + timedelta(hours=1))
    runner.drain_space(tenant.id, done.space.id, START + timedelta(days=9))
    return done.space


def list_failures(tenant_id: UUID) -> list[str]:
    with tenant_scope(tenant_id):
        bad = Job.objects.exclude(state=Job.State.DONE).exclude(error="")
        return [f"{job.step}: {job.error}" for job in bad]


def test_X6_nothing_is_left_in_balanced_with_all_lanes_run(talked: Space) -> None:
    now = START + timedelta(days=10)
    with tenant_scope(talked.tenant_id):
        ids = [turn.id for turn in Turn.objects.all() if any(word in turn.text for word in SECRET)]
        assert len(ids) == 4
        for word in SECRET:
            assert len(find_tables_with_word(word)) > 3, (word, find_tables_with_word(word))
        assert Segment.objects.exists()
    erase_targets.execute_erasure(talked, ErasureTarget("turns", tuple(ids)), "eva", now)
    with tenant_scope(talked.tenant_id):
        for word in SECRET:
            assert find_tables_with_word(word) == [], word
    for days in (10, 12, 14):
        runner.drain_space(talked.tenant_id, talked.id, START + timedelta(days=days, hours=2))
    assert list_failures(talked.tenant_id) == []
    with tenant_scope(talked.tenant_id):
        for word in SECRET:
            assert find_tables_with_word(word) == [], word
        # What remains is told again: nothing stays withheld.
        assert not Segment.objects.filter(stale=True, retired_at=None).exists()
        assert not Episode.objects.filter(stale=True, retired_at=None).exists()
        assert Fact.objects.filter(text__contains="Porto", valid_to=None).exists()


def test_X6_one_clause_goes_with_all_that_repeats_it_and_the_rest_stays(talked: Space) -> None:
    now = START + timedelta(days=10)
    with tenant_scope(talked.tenant_id):
        parrot = Fact.objects.filter(text__contains="Zephyrino").earliest("id")
        turn = Turn.objects.get(text__startswith="I adopted")
        kept = list(Fact.objects.filter(text__contains="old car").values())
        assert kept
        assert len(find_tables_with_word("Zephyrino")) > 3
    target = ErasureTarget("facts", (parrot.id,), sources=True)
    receipt = erase_targets.execute_erasure(talked, target, "eva", now)
    assert receipt.counts["clauses"] >= 1
    for days in (0, 10, 12, 14):
        if days:
            runner.drain_space(talked.tenant_id, talked.id, START + timedelta(days=days, hours=2))
        with tenant_scope(talked.tenant_id):
            assert find_tables_with_word("Zephyrino") == [], days
            assert find_tables_with_word("phyrino") == [], days
    assert list_failures(talked.tenant_id) == []
    with tenant_scope(talked.tenant_id):
        turn.refresh_from_db()
        assert turn.text.endswith("█ and I sold my old car.")
        assert list(Fact.objects.filter(text__contains="old car").values()) == kept
        assert not Segment.objects.filter(stale=True, retired_at=None).exists()
        assert not Episode.objects.filter(stale=True, retired_at=None).exists()
