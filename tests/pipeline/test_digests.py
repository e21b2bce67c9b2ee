"""Digests of days, sessions and everything (MemoryBank, spec §2, §15.2)."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from memoryhub.dialogues.models import Turn
from memoryhub.errors import EngineError
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.steps.episodes import write_digests
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.episodes import store
from notes.models import Derivation, Episode, EvolutionEvent, Proposal
from tests.support.hub import START_TIME, ScriptedHub

pytestmark = pytest.mark.django_db
SILENT: dict[str, Any] = {"changes": []}


@pytest.fixture
def bank(hub: ScriptedHub) -> ScriptedHub:
    """Only days are digested; constructing finds nothing."""
    hub.set_policy("rag", episodes__day=True)
    hub.model.allow(construct=SILENT)
    return hub


def run_after_midnight(hub: ScriptedHub) -> None:
    """Run what is due a minute after the next midnight."""
    tomorrow = (hub.now + timedelta(days=1)).replace(hour=0, minute=1)
    hub.run_due_jobs(seconds=(tomorrow - hub.now).total_seconds())


def list_digests(hub: ScriptedHub, kind: str = "day") -> list[Episode]:
    with tenant_scope(hub.tenant.id):
        return list(Episode.objects.filter(kind=kind, retired_at=None).order_by("day"))


def list_source_texts(hub: ScriptedHub, episode: Episode) -> set[str]:
    with tenant_scope(hub.tenant.id):
        links = Derivation.objects.filter(child_id=episode.id)
        return set(links.values_list("turn__text", flat=True))


def test_a_day_is_digested_once_it_is_over(bank: ScriptedHub) -> None:
    bank.say("I planted a fig tree.")
    bank.run_due_jobs()
    assert list_digests(bank) == []
    bank.model.script("digest", {"text": "Ana planted a fig tree.", "points": ["A fig tree"]})
    run_after_midnight(bank)
    (day,) = list_digests(bank)
    assert (day.day, day.text) == (START_TIME.date(), "Ana planted a fig tree.")
    assert day.details == {"points": ["A fig tree"]}
    assert list_source_texts(bank, day) == {"I planted a fig tree."}
    assert bank.model.list_calls("digest")[0]["kind"] == "day"
    assert bank.run_due_jobs(days=2) == 0


def test_the_day_is_that_of_the_spaces_own_time_zone(bank: ScriptedHub) -> None:
    with tenant_scope(bank.tenant.id):
        Space.objects.filter(id=bank.space.id).update(timezone="Asia/Shanghai")
    bank.model.allow("digest")
    bank.say("Good morning.", at=datetime(2026, 5, 12, 17, tzinfo=UTC))
    run_after_midnight(bank)
    assert list_digests(bank) == []
    bank.now = datetime(2026, 5, 13, 16, tzinfo=UTC)
    bank.run_due_jobs(minutes=1)
    assert [row.day for row in list_digests(bank)] == [date(2026, 5, 13)]


def test_MB8_a_late_turn_makes_the_digest_stale_and_is_in_the_next_one(bank: ScriptedHub) -> None:
    bank.say("I planted a fig tree.")
    bank.model.script("digest", {"text": "Ana planted a fig tree."})
    run_after_midnight(bank)
    (first,) = list_digests(bank)
    job = bank.say("It was a white fig.", at=START_TIME + timedelta(hours=1), session="late").job
    assert job is not None
    bank.model.script("digest", EngineError("down"))
    bank.run_due_jobs(minutes=1)
    (stale,) = list_digests(bank)
    assert (stale.stale, stale.text) == (True, "Ana planted a fig tree.")
    bank.model.script("digest", {"text": "Ana planted a white fig tree."})
    bank.run_due_jobs(hours=1)
    (renewed,) = list_digests(bank)
    asked = " ".join(part["text"] for part in bank.model.list_calls("digest")[-1]["parts"])
    assert "It was a white fig." in asked
    assert "I planted a fig tree." in asked
    assert (renewed.id, renewed.stale, renewed.text) == (
        first.id,
        False,
        "Ana planted a white fig tree.",
    )
    assert renewed.coverage_hash != first.coverage_hash
    assert list_source_texts(bank, renewed) == {"I planted a fig tree.", "It was a white fig."}
    assert renewed.version == first.version + 2


def test_MB9_the_digest_of_all_days_reads_them_by_date(bank: ScriptedHub) -> None:
    bank.set_policy("rag", episodes__day=True, episodes__global=True)
    days = {"12": "Ana planted a fig.", "14": "The fig has fruit."}

    def digest(data: dict[str, Any]) -> dict[str, str]:
        if data["kind"] == "global":
            return {"text": "Ana grew a fig tree."}
        return {"text": days[data["parts"][0]["at"][8:10]]}

    bank.model.allow(digest=digest)
    # The later day is told first.
    bank.say("It has fruit!", at=START_TIME + timedelta(days=2), session="b")
    bank.say("I planted a fig.", at=START_TIME, session="a")
    bank.now = START_TIME + timedelta(days=3)
    bank.run_due_jobs()
    calls = bank.model.list_calls("digest")
    assert [call["kind"] for call in calls] == ["day", "day", "global"]
    assert [part["text"] for part in calls[-1]["parts"]] == list(days.values())
    with tenant_scope(bank.tenant.id):
        everything = Episode.objects.get(kind=Episode.Kind.GLOBAL, retired_at=None, stale=False)
        assert everything.text == "Ana grew a fig tree."
        links = Derivation.objects.filter(child_id=everything.id).values_list("via_type", "via_id")
        assert {kind for kind, _ in links} == {"episode"}
        assert {via for _, via in links} == {day.id for day in list_digests(bank)}


def test_MB10_a_digest_reads_no_other_subject(bank: ScriptedHub) -> None:
    bank.say("I planted a fig tree.")
    bank.subject = "Ben"
    bank.say("I sold my car.")
    bank.model.script("digest", {"text": "Ben sold his car."})
    run_after_midnight(bank)
    (asked,) = bank.model.list_calls("digest")
    assert "fig" not in str(asked)
    assert list_source_texts(bank, list_digests(bank)[0]) == {"I sold my car."}


def test_a_session_is_digested_once_it_has_fallen_silent(bank: ScriptedHub) -> None:
    bank.set_policy("rag", episodes__session=True)
    bank.say("I planted a fig tree.", session="a")
    bank.run_due_jobs(minutes=10)
    bank.say("It is a white one.", session="a")
    bank.run_due_jobs(minutes=25)
    assert bank.model.list_calls("digest") == []
    bank.model.script("digest", {"text": "Ana planted a white fig.", "title": "Fig"})
    bank.run_due_jobs(minutes=10)
    (row,) = list_digests(bank, "session")
    assert (row.title, row.from_seq, row.to_seq) == ("Fig", 1, 2)


def test_a_portrait_is_made_of_the_days_notes_on_the_person(bank: ScriptedHub) -> None:
    bank.set_policy("rag", portrait__enabled=True)

    def digest(data: dict[str, Any]) -> dict[str, Any]:
        if data["kind"] == "persona":
            return {"text": "Ana loves trees.", "traits": ["patient"], "mood": "glad"}
        return {"text": "A patient gardener.", "reply_strategy": "Talk of plants."}

    bank.model.allow(digest=digest)
    bank.say_exchange("I love trees.", "As an assistant I hate them.")
    run_after_midnight(bank)
    persona = bank.model.list_calls("digest")[0]
    assert "hate" not in str(persona)
    with tenant_scope(bank.tenant.id):
        portrait = Episode.objects.get(
            kind=Episode.Kind.GLOBAL_PERSONA, retired_at=None, stale=False
        )
    assert portrait.text == "A patient gardener."
    assert portrait.details == {"reply_strategy": "Talk of plants."}


def test_a_failed_digest_leaves_the_old_one(bank: ScriptedHub) -> None:
    bank.say("I planted a fig tree.")
    bank.model.script("digest", "Error: could not get a response.", "Error again.")
    run_after_midnight(bank)
    assert list_digests(bank) == []
    with tenant_scope(bank.tenant.id):
        assert Job.objects.get(step="digest").state == Job.State.RETRY
    bank.model.script("digest", {"text": "Ana planted a fig tree."})
    bank.run_due_jobs(hours=1)
    assert len(list_digests(bank)) == 1


def test_what_a_person_corrected_is_proposed_against_and_stays(bank: ScriptedHub) -> None:
    bank.say("I planted a fig tree.")
    bank.model.script("digest", {"text": "Ana planted a fig tree."})
    run_after_midnight(bank)
    with tenant_scope(bank.tenant.id):
        Episode.objects.update(text="Ana planted a quince.", corrected_by="operator")
    bank.model.script("digest", {"text": "Ana planted a white fig."})
    bank.say("A white fig.", at=START_TIME + timedelta(hours=1), session="late")
    bank.run_due_jobs()
    (day,) = list_digests(bank)
    assert (day.text, day.stale) == ("Ana planted a quince.", False)
    with tenant_scope(bank.tenant.id):
        proposal = Proposal.objects.get()
    assert (proposal.row_id, proposal.payload["text"]) == (day.id, "Ana planted a white fig.")


def test_stale_episodes_of_every_kind_are_written_from_what_remains(bank: ScriptedHub) -> None:
    bank.set_policy(
        "rag",
        facts__enabled=True,
        episodes__day=True,
        episodes__topic=True,
        episodes__rolling=True,
        episodes__window_turns=4,
        episodes__rolling_exchanges=2,
    )
    bank.model.allow("episode_write", "digest", "fold_summary")
    bank.say_exchange("I planted a fig tree.", "Lovely.")
    bank.say_exchange("My password is hunter2.", "I see.")
    run_after_midnight(bank)
    with tenant_scope(bank.tenant.id):
        assert set(Episode.objects.values_list("kind", flat=True)) == {"day", "topic", "rolling"}
        Turn.objects.filter(text__contains="hunter2").update(state="redacted", text="")
        Episode.objects.update(stale=True)
        assert store.load_rolling_text(bank.space) == ""
        write_digests.plan_stale_renewal(bank.space, bank.now)
    before = len(bank.model.requests)
    bank.run_due_jobs()
    later = [asked.data for asked in bank.model.requests[before:]]
    assert len(later) == 3
    assert "hunter2" not in str(later)
    assert "fig tree" in str(later)
    with tenant_scope(bank.tenant.id):
        assert not Episode.objects.filter(stale=True).exists()
        assert store.load_rolling_text(bank.space) == "They talked."


def test_an_episode_of_which_nothing_remains_is_held_no_longer(bank: ScriptedHub) -> None:
    bank.say("My password is hunter2.")
    bank.model.script("digest", {"text": "Ana has a password."})
    run_after_midnight(bank)
    with tenant_scope(bank.tenant.id):
        Turn.objects.update(state="redacted", text="")
        Episode.objects.update(stale=True)
        write_digests.plan_stale_renewal(bank.space, bank.now)
    bank.run_due_jobs()
    assert list_digests(bank) == []


def test_I6_a_renewal_is_an_event_with_the_old_and_the_new_text(bank: ScriptedHub) -> None:
    bank.say("I planted a fig tree.")
    bank.model.script("digest", {"text": "A fig."}, {"text": "A white fig."})
    run_after_midnight(bank)
    bank.say("A white one.", at=START_TIME + timedelta(hours=1), session="late")
    bank.run_due_jobs()
    with tenant_scope(bank.tenant.id):
        events = EvolutionEvent.objects.exclude(kind="resolve").order_by("created_at", "id")
        revisions = [revision for event in events for revision in event.revisions.all()]
    assert [(r.version_before, r.version_after) for r in revisions] == [(None, 1), (1, 2), (2, 3)]
    assert (revisions[-1].before or {})["text"] == "A fig."
    assert (revisions[-1].after or {})["text"] == "A white fig."
