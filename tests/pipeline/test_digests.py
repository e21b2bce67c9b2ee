"""Digests of days, sessions and everything (MemoryBank, spec §2, §15.2)."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from memoryhub.dialogues.models import Turn
from memoryhub.errors import EngineError
from memoryhub.pipeline import digesting
from memoryhub.pipeline.models import Job
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes import episodes
from notes.models import Derivation, Episode, EvolutionEvent, Proposal
from tests.support.hub import START, Hub

pytestmark = pytest.mark.django_db
SILENT: dict[str, Any] = {"facts": [], "speech_acts": []}


@pytest.fixture
def bank(hub: Hub) -> Hub:
    """Only days are digested; constructing finds nothing."""
    hub.policy("rag", episodes__day=True)
    hub.model.allow(construct=SILENT)
    return hub


def midnight(hub: Hub) -> None:
    """Run what is due a minute after the next midnight."""
    tomorrow = (hub.now + timedelta(days=1)).replace(hour=0, minute=1)
    hub.drain(seconds=(tomorrow - hub.now).total_seconds())


def digests(hub: Hub, kind: str = "day") -> list[Episode]:
    with tenant_scope(hub.tenant.id):
        return list(Episode.objects.filter(kind=kind, retired_at=None).order_by("day"))


def sources(hub: Hub, episode: Episode) -> set[str]:
    with tenant_scope(hub.tenant.id):
        links = Derivation.objects.filter(child_id=episode.id)
        return set(links.values_list("turn__text", flat=True))


def test_a_day_is_digested_once_it_is_over(bank: Hub) -> None:
    bank.say("I planted a fig tree.")
    bank.drain()
    assert digests(bank) == []
    bank.model.script("digest", {"text": "Ana planted a fig tree.", "points": ["A fig tree"]})
    midnight(bank)
    (day,) = digests(bank)
    assert (day.day, day.text) == (START.date(), "Ana planted a fig tree.")
    assert day.details == {"points": ["A fig tree"]}
    assert sources(bank, day) == {"I planted a fig tree."}
    assert bank.model.calls("digest")[0]["kind"] == "day"
    assert bank.drain(days=2) == 0


def test_the_day_is_that_of_the_spaces_own_time_zone(bank: Hub) -> None:
    with tenant_scope(bank.tenant.id):
        Space.objects.filter(id=bank.space.id).update(timezone="Asia/Shanghai")
    bank.model.allow("digest")
    bank.say("Good morning.", at=datetime(2026, 5, 12, 17, tzinfo=UTC))
    midnight(bank)
    assert digests(bank) == []
    bank.now = datetime(2026, 5, 13, 16, tzinfo=UTC)
    bank.drain(minutes=1)
    assert [row.day for row in digests(bank)] == [date(2026, 5, 13)]


def test_MB8_a_late_turn_makes_the_digest_stale_and_is_in_the_next_one(bank: Hub) -> None:
    bank.say("I planted a fig tree.")
    bank.model.script("digest", {"text": "Ana planted a fig tree."})
    midnight(bank)
    (first,) = digests(bank)
    job = bank.say("It was a white fig.", at=START + timedelta(hours=1), session="late").job
    assert job is not None
    bank.model.script("digest", EngineError("down"))
    bank.drain(minutes=1)
    (stale,) = digests(bank)
    assert (stale.stale, stale.text) == (True, "Ana planted a fig tree.")
    bank.model.script("digest", {"text": "Ana planted a white fig tree."})
    bank.drain(hours=1)
    (renewed,) = digests(bank)
    asked = " ".join(part["text"] for part in bank.model.calls("digest")[-1]["parts"])
    assert "It was a white fig." in asked
    assert "I planted a fig tree." in asked
    assert (renewed.id, renewed.stale, renewed.text) == (
        first.id,
        False,
        "Ana planted a white fig tree.",
    )
    assert renewed.coverage_hash != first.coverage_hash
    assert sources(bank, renewed) == {"I planted a fig tree.", "It was a white fig."}
    assert renewed.version == first.version + 2


def test_MB9_the_digest_of_all_days_reads_them_by_date(bank: Hub) -> None:
    bank.policy("rag", episodes__day=True, episodes__global=True)
    days = {"12": "Ana planted a fig.", "14": "The fig has fruit."}

    def digest(data: dict[str, Any]) -> dict[str, str]:
        if data["kind"] == "global":
            return {"text": "Ana grew a fig tree."}
        return {"text": days[data["parts"][0]["at"][8:10]]}

    bank.model.allow(digest=digest)
    # The later day is told first.
    bank.say("It has fruit!", at=START + timedelta(days=2), session="b")
    bank.say("I planted a fig.", at=START, session="a")
    bank.now = START + timedelta(days=3)
    bank.drain()
    calls = bank.model.calls("digest")
    assert [call["kind"] for call in calls] == ["day", "day", "global"]
    assert [part["text"] for part in calls[-1]["parts"]] == list(days.values())
    with tenant_scope(bank.tenant.id):
        everything = episodes.all_days(bank.space)
        assert everything is not None
        assert everything.text == "Ana grew a fig tree."
        links = Derivation.objects.filter(child_id=everything.id).values_list("via_type", "via_id")
        assert {kind for kind, _ in links} == {"episode"}
        assert {via for _, via in links} == {day.id for day in digests(bank)}


def test_MB10_a_digest_reads_no_other_subject(bank: Hub) -> None:
    bank.say("I planted a fig tree.")
    bank.subject = "Ben"
    bank.say("I sold my car.")
    bank.model.script("digest", {"text": "Ben sold his car."})
    midnight(bank)
    (asked,) = bank.model.calls("digest")
    assert "fig" not in str(asked)
    assert sources(bank, digests(bank)[0]) == {"I sold my car."}


def test_a_session_is_digested_once_it_has_fallen_silent(bank: Hub) -> None:
    bank.policy("rag", episodes__session=True)
    bank.say("I planted a fig tree.", session="a")
    bank.drain(minutes=10)
    bank.say("It is a white one.", session="a")
    bank.drain(minutes=25)
    assert bank.model.calls("digest") == []
    bank.model.script("digest", {"text": "Ana planted a white fig.", "title": "Fig"})
    bank.drain(minutes=10)
    (row,) = digests(bank, "session")
    assert (row.title, row.from_seq, row.to_seq) == ("Fig", 1, 2)


def test_a_portrait_is_made_of_the_days_notes_on_the_person(bank: Hub) -> None:
    bank.policy("rag", portrait__enabled=True)

    def digest(data: dict[str, Any]) -> dict[str, Any]:
        if data["kind"] == "persona":
            return {"text": "Ana loves trees.", "traits": ["patient"], "mood": "glad"}
        return {"text": "A patient gardener.", "reply_strategy": "Talk of plants."}

    bank.model.allow(digest=digest)
    bank.exchange("I love trees.", "As an assistant I hate them.")
    midnight(bank)
    persona = bank.model.calls("digest")[0]
    assert "hate" not in str(persona)
    with tenant_scope(bank.tenant.id):
        portrait = episodes.portrait(bank.space)
    assert portrait is not None
    assert portrait.text == "A patient gardener."
    assert portrait.details == {"reply_strategy": "Talk of plants."}


def test_a_failed_digest_leaves_the_old_one(bank: Hub) -> None:
    bank.say("I planted a fig tree.")
    bank.model.script("digest", "Error: could not get a response.", "Error again.")
    midnight(bank)
    assert digests(bank) == []
    with tenant_scope(bank.tenant.id):
        assert Job.objects.get(step="digest").state == Job.State.RETRY
    bank.model.script("digest", {"text": "Ana planted a fig tree."})
    bank.drain(hours=1)
    assert len(digests(bank)) == 1


def test_what_a_person_corrected_is_proposed_against_and_stays(bank: Hub) -> None:
    bank.say("I planted a fig tree.")
    bank.model.script("digest", {"text": "Ana planted a fig tree."})
    midnight(bank)
    with tenant_scope(bank.tenant.id):
        Episode.objects.update(text="Ana planted a quince.", corrected_by="operator")
    bank.model.script("digest", {"text": "Ana planted a white fig."})
    bank.say("A white fig.", at=START + timedelta(hours=1), session="late")
    bank.drain()
    (day,) = digests(bank)
    assert (day.text, day.stale) == ("Ana planted a quince.", False)
    with tenant_scope(bank.tenant.id):
        proposal = Proposal.objects.get()
    assert (proposal.row_id, proposal.payload["text"]) == (day.id, "Ana planted a white fig.")


def test_stale_episodes_of_every_kind_are_written_from_what_remains(bank: Hub) -> None:
    bank.policy(
        "rag",
        facts__enabled=True,
        episodes__day=True,
        episodes__topic=True,
        episodes__rolling=True,
        episodes__window_turns=4,
        episodes__rolling_exchanges=2,
    )
    bank.model.allow("episode_write", "digest", "fold_summary")
    bank.exchange("I planted a fig tree.", "Lovely.")
    bank.exchange("My password is hunter2.", "I see.")
    midnight(bank)
    with tenant_scope(bank.tenant.id):
        assert set(Episode.objects.values_list("kind", flat=True)) == {"day", "topic", "rolling"}
        Turn.objects.filter(text__contains="hunter2").update(state="redacted", text="")
        Episode.objects.update(stale=True)
        assert episodes.rolling_text(bank.space) == ""
        digesting.plan_stale(bank.space, bank.now)
    before = len(bank.model.asked)
    bank.drain()
    later = [asked.data for asked in bank.model.asked[before:]]
    assert len(later) == 3
    assert "hunter2" not in str(later)
    assert "fig tree" in str(later)
    with tenant_scope(bank.tenant.id):
        assert not Episode.objects.filter(stale=True).exists()
        assert episodes.rolling_text(bank.space) == "They talked."


def test_an_episode_of_which_nothing_remains_is_held_no_longer(bank: Hub) -> None:
    bank.say("My password is hunter2.")
    bank.model.script("digest", {"text": "Ana has a password."})
    midnight(bank)
    with tenant_scope(bank.tenant.id):
        Turn.objects.update(state="redacted", text="")
        Episode.objects.update(stale=True)
        digesting.plan_stale(bank.space, bank.now)
    bank.drain()
    assert digests(bank) == []


def test_I6_a_renewal_is_an_event_with_the_old_and_the_new_text(bank: Hub) -> None:
    bank.say("I planted a fig tree.")
    bank.model.script("digest", {"text": "A fig."}, {"text": "A white fig."})
    midnight(bank)
    bank.say("A white one.", at=START + timedelta(hours=1), session="late")
    bank.drain()
    with tenant_scope(bank.tenant.id):
        events = EvolutionEvent.objects.exclude(kind="resolve").order_by("created_at", "id")
        revisions = [revision for event in events for revision in event.revisions.all()]
    assert [(r.version_before, r.version_after) for r in revisions] == [(None, 1), (1, 2), (2, 3)]
    assert (revisions[-1].before or {})["text"] == "A fig."
    assert (revisions[-1].after or {})["text"] == "A white fig."
