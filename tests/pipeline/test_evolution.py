"""A-Mem as its paper has it: one vector of all, evolution with its reasons, keywords of a question
(spec §4)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.corrections import undo_event
from memoryhub.pipeline.erasure import erase_targets
from memoryhub.pipeline.erasure.erase_targets import ErasureTarget
from memoryhub.recall.services import search_memories
from memoryhub.tenants.scope import tenant_scope
from notes import archive
from notes.index import indexer
from notes.models import EvolutionEvent, IndexEntry, Note
from tests.support.hub import START_TIME, ScriptedHub

pytestmark = pytest.mark.django_db

SEA, TAX = [1.0, 0, 0, 0], [0, 0, 1.0, 0]


@pytest.fixture
def hub(hub: ScriptedHub) -> ScriptedHub:
    hub.embedder.table = {"sea": SEA, "tax": TAX}
    hub.set_policy("amem")
    hub.model.allow("link_evolve", "query_terms")
    return hub


def say_with_note(hub: ScriptedHub, text: str, **described: Any) -> Note:
    """An exchange whose note is described so; the note as it is afterwards."""
    hub.model.script(
        "note_build", lambda data: {"notes": [{"handle": data["notes"][0]["handle"], **described}]}
    )
    hub.say(text)
    hub.run_due_jobs()
    return get_note(hub, text)


def get_note(hub: ScriptedHub, text: str) -> Note:
    with tenant_scope(hub.tenant.id):
        return Note.objects.get(content__endswith=text)


def get_entry(hub: ScriptedHub, note: Note) -> IndexEntry:
    with tenant_scope(hub.tenant.id):
        return IndexEntry.objects.get(kind="note", owner_id=note.id)


def hash_whole(note: Note) -> str:
    (entry,) = indexer.build_note_entries([note], vector="whole")
    return entry.text_hash


def grow_note(text: str, **values: Any) -> Any:
    """A reply by which the known note that ends so is described anew."""

    def reply(data: dict[str, Any]) -> dict[str, Any]:
        if "neighbours" not in data["wanted"]:
            return {"links": [], "neighbours": []}
        handle = next(n["handle"] for n in data["known"] if n["content"].endswith(text))
        return {"links": [], "neighbours": [{"handle": handle, **values}]}

    return reply


def test_A7_a_note_is_one_vector_of_content_keywords_tags_and_context() -> None:
    note = Note(content="Boats", keywords=["sail"], tags=["water"], context="A trip")
    note.occurred_at = START_TIME
    (entry,) = indexer.build_note_entries([note], vector="whole")
    assert (entry.text_to_embed, entry.beside) == ("Boats\nsail water A trip", ())


def test_A7_what_describes_a_long_note_is_embedded_with_each_of_its_pieces() -> None:
    note = Note(content="word " * 400, keywords=["sail"], context="So. " * 60)
    note.occurred_at = START_TIME
    entries = indexer.build_note_entries([note], vector="whole")
    assert len(entries) > 1
    for entry in entries:
        assert entry.text_to_embed.endswith("So.")
        assert len(entry.text_to_embed.split()) <= indexer.MAX_CHUNK_TOKENS


def test_A7_amem_stores_the_whole_and_renews_it_when_the_note_evolves(hub: ScriptedHub) -> None:
    old = say_with_note(hub, "Rowing on the sea", keywords=["rowing"], tags=["sport"])
    assert get_entry(hub, old).text_hash == hash_whole(old)
    hub.embedder.table |= {"The sea race": SEA, "race": TAX}
    hub.model.script("link_evolve", {"links": [], "neighbours": []})
    hub.model.script("link_evolve", grow_note("Rowing on the sea", keywords=["race"], why="x"))
    say_with_note(hub, "The sea race is on Sunday", keywords=["race"])
    after = get_note(hub, "Rowing on the sea")
    assert (after.keywords, after.version) == (["race"], old.version + 1)
    assert get_entry(hub, after).text_hash == hash_whole(after) != hash_whole(old)
    vector = np.array(get_entry(hub, after).embedding)
    assert vector[2] > 0.9 * np.linalg.norm(vector)  # the new word is in the one vector


def test_the_hub_s_own_mixture_keeps_a_vector_for_the_content_and_one_for_the_rest(
    hub: ScriptedHub,
) -> None:
    hub.set_policy("amem", notes__vector="beside")
    note = say_with_note(hub, "Rowing on the sea", keywords=["rowing"])
    (entry,) = indexer.build_note_entries([note])
    assert get_entry(hub, note).text_hash == entry.text_hash != hash_whole(note)


def test_an_agent_s_own_note_is_embedded_as_the_policy_says(hub: ScriptedHub) -> None:
    kept = archive.add_passage(
        hub.space, "The gate code", hub.embedder, author="aide", now=hub.now, tags=["keys"]
    )
    assert get_entry(hub, kept).text_hash == hash_whole(kept)


def test_A16_history_has_before_after_and_the_reason_and_undoing_embeds_the_old_whole(
    hub: ScriptedHub,
) -> None:
    old = say_with_note(hub, "Rowing on the sea", keywords=["rowing"], tags=["sport"])
    hub.model.script("link_evolve", {"links": [], "neighbours": []})
    learnt = "the race shows that it is training"
    grown = {"context": "Training for a race.", "why": learnt}
    hub.model.script("link_evolve", grow_note("Rowing on the sea", **grown))
    say_with_note(hub, "The sea race is on Sunday", keywords=["race"])
    with tenant_scope(hub.tenant.id):
        event = EvolutionEvent.objects.get(reason__contains=learnt)
        (revision,) = event.revisions.all()
    assert "Rowing on the sea" in event.reason
    before, after = revision.before or {}, revision.after or {}
    assert (before["context"], after["context"]) == ("", "Training for a race.")
    undo_event(event, "nora", hub.now)
    assert get_entry(hub, old).text_hash == hash_whole(get_note(hub, "Rowing on the sea"))
    assert get_note(hub, "Rowing on the sea").context == ""


def test_E20_why_a_note_evolved_goes_with_the_turn_that_taught_it(hub: ScriptedHub) -> None:
    say_with_note(hub, "Rowing on the sea", keywords=["rowing"], tags=["sport"])
    hub.model.script("link_evolve", {"links": [], "neighbours": []})
    grown = {"context": "For the Zanzibar cup.", "why": "it is for the Zanzibar cup"}
    hub.model.script("link_evolve", grow_note("Rowing on the sea", **grown))
    said = "The sea race is the Zanzibar cup"
    say_with_note(hub, said, keywords=["race"])
    with tenant_scope(hub.tenant.id):
        turns = tuple(turn.id for turn in Turn.objects.filter(text=said))
        assert EvolutionEvent.objects.filter(reason__contains="Zanzibar").exists()
    target = ErasureTarget("turns", turns)
    erase_targets.execute_erasure(hub.space, target, "eva", hub.now)
    with tenant_scope(hub.tenant.id):
        assert not EvolutionEvent.objects.filter(reason__contains="Zanzibar").exists()


def test_s4_4_a_question_is_looked_for_with_its_keywords(hub: ScriptedHub) -> None:
    note = say_with_note(hub, "Rowing on the sea", keywords=["rowing"])
    say_with_note(hub, "The tax form is due", keywords=["form"])
    hub.model.script("query_terms", {"terms": ["sea"]})
    found = search_memories(hub.space, "What does she do outdoors?", now=hub.now)
    assert [item.id for item in found.items][:1] == [note.id]
    assert found.degraded == []
    (asked,) = hub.model.list_calls("query_terms")
    assert asked == {"question": "What does she do outdoors?"}


def test_s4_4_without_keywords_it_is_the_question_alone(hub: ScriptedHub) -> None:
    note = say_with_note(hub, "Rowing on the sea", keywords=["rowing"])
    hub.model.script("query_terms", "no JSON", "none again")
    found = search_memories(hub.space, "the sea?", now=hub.now)
    assert [item.id for item in found.items] == [note.id]
    assert found.degraded == ["router"]
    hub.set_policy("amem", route__keywords=False)
    search_memories(hub.space, "the sea?", now=hub.now)
    assert len(hub.model.list_calls("query_terms")) == 1
