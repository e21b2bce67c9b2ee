"""What an agent's memory tools find, page by page (MemGPT, spec §3.3, §15.3)."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from memoryhub.dialogues.models import Session
from memoryhub.policies.services import load_effective_policy
from memoryhub.recall.agent_memory import SpaceMemory
from memoryhub.tenants.scope import tenant_scope
from notes.models import Note
from personas.agent.tools import format_hit_page
from personas.window import WindowHelpers, compose_agent_context
from tests.support.factories import make_turns
from tests.support.hub import ScriptedHub


@pytest.fixture
def memory(hub: ScriptedHub) -> SpaceMemory:
    return SpaceMemory(hub.space, "helper", hub.now)


def add_turns(hub: ScriptedHub, *texts: str, at: datetime | None = None) -> None:
    with tenant_scope(hub.tenant.id):
        make_turns(hub.space, *texts, at=at or hub.now)


def test_MG3_what_was_evicted_is_found_in_recall(hub: ScriptedHub, memory: SpaceMemory) -> None:
    hub.set_policy(window__context_limit=200)
    add_turns(hub, "The evicted phrase is here.", *[f"{n} " + "word " * 40 for n in range(6)])
    with tenant_scope(hub.tenant.id):
        session, policy = Session.objects.get(), load_effective_policy(hub.space).policy
    aid = WindowHelpers(hub.embedder.count_tokens, lambda *_: "Words were said.", lambda *_: None)
    window = compose_agent_context(session, policy, aid, hub.now)
    assert window.evicted
    assert not any("evicted phrase" in message.content for message in window.messages)
    found = memory.search_turns("evicted phrase", 1)
    assert format_hit_page(found).startswith(
        "1 of 1, page 1 of 1:\n- [2026-05-12 09:00] Ana: The evicted"
    )


def test_MG4_twelve_matches_come_in_pages_of_five(hub: ScriptedHub, memory: SpaceMemory) -> None:
    add_turns(hub, *[f"My bees, number {n}." for n in range(12)], "My hens.")
    pages = [memory.search_turns("bees number", page) for page in (1, 2, 3, 4)]
    assert [len(page.hits) for page in pages] == [5, 5, 2, 0]
    assert {(page.total, page.pages) for page in pages} == {(12, 3)}
    assert pages[0].hits[0].text == "My bees, number 11."


def test_words_may_stand_apart_and_in_chinese(hub: ScriptedHub, memory: SpaceMemory) -> None:
    add_turns(hub, "The bees sleep in my hive.", "我养了三只猫。")
    assert memory.search_turns("hive bees", 1).total == 1
    assert memory.search_turns("养了猫", 1).total == 1


def test_without_the_words_what_means_the_same_is_found(
    hub: ScriptedHub, memory: SpaceMemory
) -> None:
    hub.set_policy("full_context")
    hub.model.allow(construct={"changes": []})
    hub.say("I keep bees in Ghent.", "The weather is fine.")
    hub.run_due_jobs()
    found = memory.search_turns("where are bees kept", 1)
    assert [hit.text for hit in found.hits][:1] == ["I keep bees in Ghent."]


def test_days_are_those_of_the_space_and_both_count(hub: ScriptedHub, memory: SpaceMemory) -> None:
    start = datetime(2026, 5, 1, 12, tzinfo=UTC)
    for days in range(4):
        add_turns(hub, f"Day {days}.", at=start + timedelta(days=days))
    found = memory.list_turns_by_date(date(2026, 5, 3), date(2026, 5, 2), 1)
    assert [hit.text for hit in found.hits] == ["Day 1.", "Day 2."]


def test_the_turn_that_is_answered_is_not_found(hub: ScriptedHub) -> None:
    with tenant_scope(hub.tenant.id):
        _, asked = make_turns(hub.space, "I keep bees.", "What of my bees?")
    memory = SpaceMemory(hub.space, "helper", hub.now, asked.id)
    assert [hit.text for hit in memory.search_turns("bees", 1).hits] == ["I keep bees."]


def test_archival_notes_are_the_agents_and_found_by_tag_and_day(
    hub: ScriptedHub, memory: SpaceMemory
) -> None:
    memory.archive_text("A poem about bees.", ["poem", "bees"])
    memory.archive_text("A recipe with honey and bees.", ["recipe"])
    assert memory.search_archive("bees", 1, [], "any", None, None).total == 2
    assert memory.search_archive("bees", 1, ["poem", "x"], "any", None, None).total == 1
    assert memory.search_archive("bees", 1, ["poem", "x"], "all", None, None).total == 0
    today = hub.now.date()
    assert memory.search_archive("bees", 1, [], "any", today, today).total == 2
    assert memory.search_archive("bees", 1, [], "any", None, date(2026, 5, 1)).total == 0
    with tenant_scope(hub.tenant.id):
        assert set(Note.objects.values_list("author", flat=True)) == {"helper"}


def test_other_subjects_are_not_looked_through(hub: ScriptedHub, memory: SpaceMemory) -> None:
    from memoryhub.tenants.services import ensure_space

    with tenant_scope(hub.tenant.id):
        make_turns(ensure_space(hub.tenant.id, "omar"), "I keep bees.")
    assert memory.search_turns("bees", 1).total == 0
