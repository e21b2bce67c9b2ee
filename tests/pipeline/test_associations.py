"""A-Mem's notes, links and evolution, from the words of the dialogue (spec §4, §15.4)."""

from __future__ import annotations

from typing import Any

import pytest

from memoryhub.dialogues.messages import Message
from memoryhub.dialogues.models import Turn
from memoryhub.engines.types import NoteEvolution
from memoryhub.errors import EngineError
from memoryhub.inference.models import ModelCall
from memoryhub.pipeline.corrections import forget_note, undo_event
from memoryhub.pipeline.ingest.services import IngestRequest, ingest_messages
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.steps.associate.neighbourhood import NoteNeighbourhood
from memoryhub.recall.context import build_context
from memoryhub.recall.services import search_memories
from memoryhub.tenants.scope import tenant_scope
from notes import archive
from notes.history.change_set import ChangeSet
from notes.index import indexer
from notes.links.evolve import DescriptorChange, compute_new_descriptors, evolve_notes
from notes.links.link import NotePair, filter_links_of_notes
from notes.links.link import link_notes as link_up
from notes.links.nearest import NearNote
from notes.models import (
    Derivation,
    EvolutionEvent,
    Fact,
    IndexEntry,
    Link,
    Note,
    Proposal,
    Revision,
)
from tests.support.claims import make_change_reply, make_changes_reply
from tests.support.hub import START_TIME, ScriptedHub

pytestmark = pytest.mark.django_db

# Directions of meaning: two notes on one of them are neighbours, others are not.
SEA, TEA, TAX = [1.0, 0, 0, 0], [0, 1.0, 0, 0], [0, 0, 1.0, 0]


def build_entry(note: Note) -> indexer.EntryDraft:
    """As A-Mem has it: one text of content and descriptors."""
    return indexer.build_note_entries([note], vector="whole")[0]


@pytest.fixture
def hub(hub: ScriptedHub) -> ScriptedHub:
    hub.embedder.table = {"sea": SEA, "tea": TEA, "tax": TAX}
    hub.set_policy("amem", llm__combine_calls=True)
    hub.model.allow("query_terms")
    return hub


def say_with_note(hub: ScriptedHub, text: str, **note: Any) -> Note:
    """One more exchange, whose note is described by `note`; the note as it is afterwards."""
    drafted = {"keywords": [text.split()[0]], "tags": ["life"], "context": text} | note
    hub.model.script("construct", {"changes": [], "note": drafted})
    hub.say(text)
    hub.run_due_jobs()
    return get_note(hub, text)


def get_note(hub: ScriptedHub, text: str) -> Note:
    with tenant_scope(hub.tenant.id):
        return Note.objects.get(content__endswith=text)


def find_handle(data: dict[str, Any], text: str) -> str:
    """The handle under which a note was offered; fails when it was not."""
    return next(
        str(n["handle"]) for n in [*data["notes"], *data["known"]] if n["content"].endswith(text)
    )


def list_links(hub: ScriptedHub) -> list[Link]:
    with tenant_scope(hub.tenant.id):
        return list(Link.objects.filter(active=True).order_by("created_at", "id"))


def list_events(hub: ScriptedHub, reason: str) -> list[EvolutionEvent]:
    with tenant_scope(hub.tenant.id):
        return list(EvolutionEvent.objects.filter(reason=reason).order_by("created_at", "id"))


def list_revisions(hub: ScriptedHub, event: EvolutionEvent) -> list[Revision]:
    with tenant_scope(hub.tenant.id):
        return list(Revision.objects.filter(event=event).order_by("id"))


def get_entry(hub: ScriptedHub, note: Note) -> IndexEntry:
    with tenant_scope(hub.tenant.id):
        return IndexEntry.objects.get(kind="note", owner_id=note.id)


def make_two_near_notes(hub: ScriptedHub, answer: Any) -> tuple[Note, Note]:
    """A note, and a new one near it of which `link_evolve` says `answer`."""
    old = say_with_note(hub, "Rowing on the sea every day", keywords=["rowing"], tags=["sport"])
    hub.model.script("link_evolve", answer)
    return old, say_with_note(
        hub, "The sea was rough this morning", keywords=["rough"], tags=["weather"]
    )


def reply_growth(text: str, **values: Any) -> Any:
    """A reply that describes the note of `text` anew."""
    return lambda data: {
        "links": [],
        "neighbours": [{"handle": find_handle(data, text), "why": "it says more", **values}],
    }


def test_AM1_a_built_note_is_stored_and_embedded_whole(hub: ScriptedHub) -> None:
    words = {"keywords": ["kelp", "tide"], "tags": ["nature"], "context": "On gathering."}
    note = say_with_note(hub, "I gather things at the sea", **words)
    assert (note.keywords, note.tags, note.context) == (
        ["kelp", "tide"],
        ["nature"],
        "On gathering.",
    )
    assert note.enrichment == Note.Enrichment.DONE
    embedded = build_entry(note)
    for part in (note.content, "kelp", "tide", "nature", "On gathering."):
        assert part in " ".join([embedded.text_to_embed, *embedded.beside])
    assert get_entry(hub, note).text_hash == embedded.text_hash


def test_AM1_without_a_draft_a_note_waits_and_is_described_later(hub: ScriptedHub) -> None:
    hub.model.script("construct", {"changes": []})
    words = {"keywords": ["gulls"], "tags": ["birds"], "context": "Gulls, again."}
    hub.model.script(
        "note_build",
        EngineError("closed"),
        lambda data: {"notes": [{"handle": data["notes"][0]["handle"], **words}]},
    )
    hub.say("There were gulls over the sea")
    hub.run_due_jobs(seconds=0)
    pending = get_note(hub, "gulls over the sea")
    assert pending.enrichment == Note.Enrichment.PENDING
    assert pending.content == build_entry(pending).text_to_embed
    assert get_entry(hub, pending).text_hash == build_entry(pending).text_hash
    hub.run_due_jobs()
    done = get_note(hub, "gulls over the sea")
    assert (done.enrichment, done.keywords, done.version) == (Note.Enrichment.DONE, ["gulls"], 2)
    assert get_entry(hub, done).text_hash == build_entry(done).text_hash
    (event,) = list_events(hub, "described")
    assert [
        ((r.before or {})["keywords"], (r.after or {})["keywords"])
        for r in list_revisions(hub, event)
    ] == [([], ["gulls"])]


def test_a_note_that_the_model_leaves_out_is_asked_about_three_times_and_then_left(
    hub: ScriptedHub,
) -> None:
    hub.model.script("construct", {"changes": []})
    hub.model.script("note_build", {"notes": []}, {"notes": []}, {"notes": []})
    hub.say("There were gulls over the sea")
    hub.run_due_jobs()
    assert len(hub.model.list_calls("note_build")) == 3
    assert get_note(hub, "gulls over the sea").enrichment == Note.Enrichment.PENDING


def test_small_talk_costs_no_description(hub: ScriptedHub) -> None:
    hub.model.script("construct", {"changes": []})
    hub.say("Thanks, so glad, how nice")
    hub.run_due_jobs()
    assert get_note(hub, "how nice").enrichment == Note.Enrichment.DONE
    assert hub.model.list_calls("note_build") == []


def test_E2_a_few_words_make_no_note(hub: ScriptedHub) -> None:
    hub.model.script("construct", {"changes": []}, {"changes": []})
    hub.say("ok thanks bye")
    hub.run_due_jobs()
    hub.set_policy(llm__combine_calls=True, notes__least_words=1)
    hub.say("ok thanks ciao")
    hub.run_due_jobs()
    with tenant_scope(hub.tenant.id):
        assert [note.content for note in Note.objects.all()] == ["Ana: ok thanks ciao"]


def test_a_question_that_only_the_hub_answered_and_a_wish_make_no_note(hub: ScriptedHub) -> None:
    hub.model.script("construct", {"changes": []}, {"changes": []}, {"changes": []})
    hub.say("Where do I keep the spare key?")
    hub.run_due_jobs()
    hub.say("Forget where I keep the spare key.")
    hub.run_due_jobs()
    hub.say_exchange("Where do people keep a spare key?", "Mostly below a flower pot.")
    hub.run_due_jobs()
    with tenant_scope(hub.tenant.id):
        (note,) = Note.objects.all()
    assert "flower pot" in note.content


def test_AM2_only_the_neighbour_that_was_named_changes(hub: ScriptedHub) -> None:
    """Guards A2: the seven were stored in order, and the oldest are not touched."""
    said = ["tea in the morning", "tea at noon", "tax return", "tax letter"]
    said += ["sea and sky", "sea and sand", "tea at night"]
    notes = [say_with_note(hub, f"Once upon {text}") for text in said]
    hub.set_policy(llm__combine_calls=True, notes__k=2)
    hub.model.script("link_evolve", reply_growth("sea and sand", tags=["more"]))
    say_with_note(hub, "Once more the sea")
    data = hub.model.list_calls("link_evolve")[-1]
    offered = [n["content"].removeprefix("Ana: Once upon ") for n in data["known"]]
    assert sorted(offered) == ["sea and sand", "sea and sky"]
    after = [get_note(hub, f"Once upon {text}") for text in said]
    assert [new.version - old.version for old, new in zip(notes, after, strict=True)] == (
        [0, 0, 0, 0, 0, 1, 0]
    )
    assert after[5].tags == ["more"]
    assert after[5].content == notes[5].content


def test_AM3_links_are_undirected_and_unknown_handles_are_counted(hub: ScriptedHub) -> None:
    def answer(data: dict[str, Any]) -> dict[str, Any]:
        near = find_handle(data, "every day")
        named = [{"to": near, "kind": "related", "reason": "both at sea"}, {"to": "m99"}]
        return {"links": [*named, {"to": near, "kind": "married"}], "neighbours": []}

    old, new = make_two_near_notes(hub, answer)
    (link,) = list_links(hub)
    assert {link.a_id, link.b_id} == {old.id, new.id}
    assert (link.kind, link.reason) == ("related", "both at sea")
    with tenant_scope(hub.tenant.id):
        for note in (old, new):
            assert [row.id for row in filter_links_of_notes([note.id])] == [link.id]
        support = Derivation.objects.filter(child_type="link", child_id=link.id, role="support")
        assert {row.turn.text for row in support} == {"The sea was rough this morning"}


def test_AM3_a_handle_that_was_not_offered_is_one_rejected_item(hub: ScriptedHub) -> None:
    named = [{"to": "m1", "reason": "both at sea"}, {"to": "m99"}]
    old, new = make_two_near_notes(hub, {"links": named, "neighbours": []})
    (link,) = list_links(hub)
    assert {link.a_id, link.b_id} == {old.id, new.id}
    with tenant_scope(hub.tenant.id):
        assert ModelCall.objects.get(purpose="link_evolve").rejected == 1


def test_AM3_a_link_that_exists_is_not_made_twice_and_a_withdrawn_one_comes_back(
    hub: ScriptedHub,
) -> None:
    old, new = make_two_near_notes(
        hub, {"links": [{"to": "m1", "reason": "first"}], "neighbours": []}
    )
    (link,) = list_links(hub)
    with tenant_scope(hub.tenant.id):
        changes = ChangeSet(hub.space, "manual", "ana", hub.now)
        again = NotePair(new.id, old.id, "related", "again")
        assert link_up([again], {}, changes) == []
        assert changes.revisions == []
        Link.objects.update(active=False)
        assert list(filter_links_of_notes([old.id])) == []
        (back,) = link_up([again, again], {}, changes)
        changes.save()
        back.refresh_from_db()
        assert (back.id, back.active, back.reason, back.version) == (link.id, True, "again", 2)
        assert Link.objects.count() == 1


def test_E28_no_note_is_linked_with_itself(hub: ScriptedHub) -> None:
    make_two_near_notes(hub, {"links": [{"from": "n1", "to": "n1"}], "neighbours": []})
    assert list_links(hub) == []


def test_AM4_a_neighbour_without_an_entry_stays_as_it_is(hub: ScriptedHub) -> None:
    notes = [say_with_note(hub, f"The sea on {day}") for day in ("Monday", "Tuesday", "Friday")]
    hub.model.script("link_evolve", reply_growth("Tuesday", keywords=["Sunday"]))
    say_with_note(hub, "The sea on Sunday")
    after = [get_note(hub, f"The sea on {day}") for day in ("Monday", "Tuesday", "Friday")]
    assert [n.keywords for n in after] == [notes[0].keywords, ["Sunday"], notes[2].keywords]


def test_AM5_empty_values_leave_descriptors_as_they_are(hub: ScriptedHub) -> None:
    old, _ = make_two_near_notes(
        hub, reply_growth("every day", tags=[], context="", keywords=["rough"])
    )
    after = get_note(hub, "every day")
    assert (after.tags, after.context, after.keywords) == (old.tags, old.context, ["rough"])


def test_AM5_nothing_but_empty_values_is_no_change(hub: ScriptedHub) -> None:
    old, _ = make_two_near_notes(hub, reply_growth("every day", tags=[], context="", keywords=[]))
    assert get_note(hub, "every day").version == old.version
    assert list_events(hub, "linked with what it belongs to") == []


@pytest.mark.parametrize(
    ("said", "tags", "kept"),
    [
        ("The sea was rough this morning", ["outdoor life", "sport"], ["outdoor life", "sport"]),
        ("The sea was rough this morning", ["Zanzibar cup", "2031", "for Rui"], []),
        ("The sea was rough this morning", ["what the sea is to us all"], []),
        ("The sea was rough this morning", ["art", "food", "law", "tax"], ["art", "food", "law"]),
        ("今天早上的 sea 上浪很大，风也大", ["户外生活", "王小明"], ["户外生活"]),
    ],
)
def test_a_model_s_tag_may_be_a_broader_theme_and_no_news(
    hub: ScriptedHub, said: str, tags: list[str], kept: list[str]
) -> None:
    """What is in neither note is let through where it names nobody, is short and one of few; what
    is dropped is counted."""
    old = say_with_note(hub, "Rowing on the sea every day", keywords=["rowing"], tags=["sport"])
    hub.model.script("link_evolve", reply_growth("every day", tags=tags))
    say_with_note(hub, said, keywords=["rough"])
    assert get_note(hub, "every day").tags == (kept or old.tags)
    with tenant_scope(hub.tenant.id):
        assert ModelCall.objects.get(purpose="link_evolve").rejected == len(tags) - len(kept)


def test_the_rules_add_no_theme_that_no_note_has() -> None:
    note, near = Note(content="Rowing on the sea"), Note(content="The sea was rough")
    grown = NoteEvolution("m1", tags=("outdoor life", "rough sea"))
    assert compute_new_descriptors(note, grown, [near]) == ({"tags": ["rough sea"]}, 1)
    assert compute_new_descriptors(note, grown, [near], broadens=True) == (
        {"tags": ["outdoor life", "rough sea"]},
        0,
    )


def test_AM6_an_evolved_note_is_embedded_anew_in_the_same_unit_of_work(hub: ScriptedHub) -> None:
    hub.embedder.table |= {"The sea was rough": SEA, "rough": TAX}
    old = say_with_note(hub, "Rowing on the sea every day", keywords=["rowing"], tags=["sport"])
    before = get_entry(hub, old)
    assert before.embedding[2] == 0
    hub.model.script("link_evolve", reply_growth("every day", keywords=["rowing", "rough"]))
    say_with_note(hub, "The sea was rough this morning", keywords=["rough"])
    after, entry = get_note(hub, "every day"), get_entry(hub, get_note(hub, "every day"))
    assert entry.text_hash == build_entry(after).text_hash != before.text_hash
    assert entry.embedding[2] > 0  # what it learnt is in its vector


def test_AM8_one_event_holds_links_and_evolution_with_before_and_after(hub: ScriptedHub) -> None:
    """What undo needs: it restores `before`, and the links are the event's own (spec §11.8)."""

    old, new = make_two_near_notes(hub, reply_links_and_growth)
    (event,) = list_events(hub, "linked with what it belongs to")
    assert (event.kind, event.actor, event.trigger) == ("evolve", "pipeline", "derive")
    by_type = {r.row_type: r for r in list_revisions(hub, event)}
    assert set(by_type) == {"link", "note"}
    assert by_type["link"].before is None
    note = by_type["note"]
    assert (note.row_id, note.version_before, note.version_after) == (old.id, 1, 2)
    assert ((note.before or {})["tags"], (note.after or {})["tags"]) == (["sport"], ["weather"])
    with tenant_scope(hub.tenant.id):
        lesson = Derivation.objects.get(child_id=old.id, role="context")
    assert (lesson.via_id, lesson.child_version) == (new.id, 2)


def test_AM9_the_first_note_of_a_space_makes_no_call(hub: ScriptedHub) -> None:
    say_with_note(hub, "The sea is all I have")
    assert hub.model.list_calls("link_evolve") == []


def test_AM9_nor_does_a_note_with_nothing_near_it(hub: ScriptedHub) -> None:
    say_with_note(hub, "The sea is all I have")
    say_with_note(hub, "My tax return is late")
    assert hub.model.list_calls("link_evolve") == []


def test_AM10_content_is_kept_as_the_string_it_is(hub: ScriptedHub) -> None:
    hub.set_policy(llm__combine_calls=True, notes__least_words=1)
    note = say_with_note(hub, "202503021500", keywords=["123"])
    assert (note.content, note.keywords) == ("Ana: 202503021500", ["123"])
    (found,) = search_memories(hub.space, "202503021500", kinds=["note"], now=hub.now).items
    assert (found.text, found.sources[0].text) == ("Ana: 202503021500", "202503021500")
    hub.say("And a time of its own", metadata={"time": "202503021500", "content": "123"})
    with tenant_scope(hub.tenant.id):
        assert Turn.objects.get(seq=2).metadata == {"time": "202503021500", "content": "123"}


def test_AM10_a_passage_of_digits_stays_text(hub: ScriptedHub) -> None:
    archive.add_passage(hub.space, "123", hub.embedder, author="helper", now=hub.now, tags=["7"])
    with tenant_scope(hub.tenant.id):
        kept = Note.objects.get()
        assert (kept.content, kept.tags) == ("123", ["7"])


def test_AM11_a_deleted_note_takes_its_links_along(hub: ScriptedHub) -> None:
    old, new = make_two_near_notes(hub, {"links": [{"to": "m1"}], "neighbours": []})
    with tenant_scope(hub.tenant.id):
        old.delete()
        assert Link.objects.count() == 0
        assert list(filter_links_of_notes([new.id])) == []


def test_AM11_a_withdrawn_note_is_no_neighbour_and_has_no_links(hub: ScriptedHub) -> None:
    old, new = make_two_near_notes(hub, {"links": [{"to": "m1"}], "neighbours": []})
    forget_note(hub.space, old.id, "nora", hub.now)
    with tenant_scope(hub.tenant.id):
        assert list(filter_links_of_notes([new.id])) == []
        assert not IndexEntry.objects.filter(owner_id=old.id).exists()
    found = search_memories(
        hub.space, "sea", kinds=["note"], include_past=True, deep=True, now=hub.now
    )
    assert [item.id for item in found.items] == [new.id]
    made = build_context(hub.space, "sea", now=hub.now)
    assert [(item.id, item.linked) for item in made.items("notes")] == [(new.id, False)]
    say_with_note(hub, "And the sea again")
    offered = hub.model.list_calls("link_evolve")[-1]["known"]
    assert [n["content"] for n in offered] == [new.content]


def test_one_call_serves_all_notes_of_a_batch_and_offers_them_to_one_another(
    hub: ScriptedHub,
) -> None:
    old = say_with_note(hub, "The sea on Monday")
    hub.set_policy(llm__combine_calls=True, derive__batch_exchanges=2)
    note = {"keywords": ["day"], "tags": [], "context": "A day."}
    each = [note | {"exchange": handle} for handle in ("e1", "e2")]
    hub.model.script("construct", {"changes": [], "exchanges": each})
    both = [{"from": "n2", "to": "n1"}, {"from": "n1", "to": "m1"}]
    hub.model.script("link_evolve", {"links": both, "neighbours": []})
    spoken = ["The sea on Tuesday", "Noted and done", "The sea on Friday", "Noted and done"]
    messages = [
        Message("user" if at % 2 == 0 else "assistant", text, timestamp=hub.now)
        for at, text in enumerate(spoken)
    ]
    ingest_messages(hub.tenant.id, IngestRequest(hub.subject, messages, "s1"), hub.now)
    hub.run_due_jobs()
    (data,) = hub.model.list_calls("link_evolve")
    assert [sorted(note["near"]) for note in data["notes"]] == [["m1"], ["m1", "n1"]]
    with tenant_scope(hub.tenant.id):
        first, second = Note.objects.exclude(id=old.id).order_by("content")[::-1]
    pairs = {frozenset((link.a_id, link.b_id)) for link in list_links(hub)}
    assert pairs == {frozenset((first.id, second.id)), frozenset((first.id, old.id))}


def test_evolution_does_not_cascade(hub: ScriptedHub) -> None:
    make_two_near_notes(hub, reply_growth("every day", tags=["weather"]))
    hub.run_due_jobs(days=1)
    assert len(hub.model.list_calls("link_evolve")) == 1


def test_a_new_note_may_learn_from_its_neighbours(hub: ScriptedHub) -> None:
    _, new = make_two_near_notes(hub, reply_growth("this morning", tags=["weather", "sport"]))
    assert (new.tags, new.version) == (["weather", "sport"], 2)
    assert get_entry(hub, new).text_hash == build_entry(new).text_hash


def test_a_note_that_was_not_offered_can_not_be_changed(hub: ScriptedHub) -> None:
    far = say_with_note(hub, "My tax return is late")
    make_two_near_notes(hub, {"links": [], "neighbours": [{"handle": "m2", "tags": ["x"]}]})
    assert get_note(hub, "return is late").version == far.version


def test_what_a_person_corrected_becomes_a_proposal(hub: ScriptedHub) -> None:
    old = say_with_note(hub, "Rowing on the sea every day", tags=["sport"])
    with tenant_scope(hub.tenant.id):
        Note.objects.filter(id=old.id).update(corrected_by="nora")
    hub.model.script("link_evolve", reply_growth("every day", tags=["morning"]))
    say_with_note(hub, "The sea was rough this morning")
    after = get_note(hub, "every day")
    assert (after.tags, after.version) == (["sport"], old.version)
    with tenant_scope(hub.tenant.id):
        proposal = Proposal.objects.get()
        assert (proposal.kind, proposal.row_id) == ("overwrite", old.id)
        assert proposal.payload == {"tags": ["morning"]}
        assert len(proposal.turn_ids) == 1


@pytest.mark.parametrize(("allowed", "tags"), [(False, ["mine"]), (True, ["morning"])])
def test_C20_an_agents_note_evolves_only_where_the_policy_says_so(
    hub: ScriptedHub, allowed: bool, tags: list[str]
) -> None:
    archive.add_passage(
        hub.space, "The sea is calm", hub.embedder, author="agent", tags=["mine"], now=hub.now
    )
    hub.set_policy(llm__combine_calls=True, notes__evolve_agent_notes=allowed)
    hub.model.script("link_evolve", reply_growth("is calm", tags=["morning"]))
    say_with_note(hub, "The sea was rough this morning")
    assert get_note(hub, "is calm").tags == tags


def test_notes_of_facts_and_of_what_took_their_place(hub: ScriptedHub) -> None:
    """Spec §11.7: notes anchored to a superseded fact contradict the new fact's."""
    hub.set_policy(llm__combine_calls=True, notes__anchor="fact", facts__enabled=True)

    def home(city: str) -> dict[str, Any]:
        change = make_change_reply(
            "add",
            f"Ana lives in {city}",
            quote=f"I live in {city}",
            relation="lives_in",
            value=city,
        )
        note = {"keywords": [city], "tags": ["home"], "context": "Home."}
        return make_changes_reply(change, note=note)

    for city in ("Porto", "Madrid"):
        hub.model.script("construct", home(city))
        hub.say(f"I live in {city}")
        hub.run_due_jobs()
    with tenant_scope(hub.tenant.id):
        notes = list(Note.objects.order_by("occurred_at"))
        facts = list(Fact.objects.order_by("asserted_at"))
        assert [note.fact_id for note in notes] == [fact.id for fact in facts]
        assert [note.content for note in notes] == ["Ana lives in Porto", "Ana lives in Madrid"]
        link = Link.objects.get(kind="contradicts")
        assert {link.a_id, link.b_id} == {note.id for note in notes}


def test_strict_presets_describe_link_and_evolve_in_calls_of_their_own(hub: ScriptedHub) -> None:
    hub.set_policy(llm__combine_calls=False)
    hub.model.allow("link_evolve", "note_build")
    hub.say("Rowing on the sea every day")
    hub.run_due_jobs()
    hub.model.script("link_evolve", {"links": [{"to": "m1"}], "neighbours": []})
    hub.say("The sea was rough this morning")
    hub.run_due_jobs()
    assert hub.model.list_calls("construct") == []
    assert len(hub.model.list_calls("note_build")) == 2
    assert [data["wanted"] for data in hub.model.list_calls("link_evolve")] == [
        ["links"],
        ["neighbours"],
    ]
    assert len(list_links(hub)) == 1


@pytest.mark.parametrize(
    ("links_on", "evolution_on", "wanted"),
    [(True, False, [["links"]]), (False, True, [["neighbours"]]), (False, False, [])],
)
def test_what_the_policy_turns_off_is_not_asked_for(
    hub: ScriptedHub, links_on: bool, evolution_on: bool, wanted: list[list[str]]
) -> None:
    hub.set_policy(llm__combine_calls=True, notes__links=links_on, notes__evolution=evolution_on)
    say_with_note(hub, "The sea on Monday")
    say_with_note(hub, "The sea on Tuesday")
    assert [data["wanted"] for data in hub.model.list_calls("link_evolve")] == wanted


def test_a_failed_call_costs_the_note_nothing_but_time(hub: ScriptedHub) -> None:
    old, new = make_two_near_notes(hub, EngineError("closed"))
    hub.model.script("link_evolve", {"links": [{"to": "m1"}], "neighbours": []})
    assert list_links(hub) == []
    hub.run_due_jobs()
    (link,) = list_links(hub)
    assert {link.a_id, link.b_id} == {old.id, new.id}
    with tenant_scope(hub.tenant.id):
        assert Job.objects.get(step="derive", last_seq=2).state == Job.State.DONE


def test_E18_without_an_embedder_notes_are_linked_when_it_is_back(
    hub: ScriptedHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    say_with_note(hub, "The sea on Monday")
    embed = hub.embedder.embed

    def closed(texts: Any) -> Any:
        raise EngineError("closed")

    monkeypatch.setattr(hub.embedder, "embed", closed)
    hub.model.script("construct", {"changes": [], "note": {"keywords": ["day"], "context": "x"}})
    hub.say("The sea on Tuesday")
    hub.run_due_jobs(seconds=0)
    monkeypatch.setattr(hub.embedder, "embed", embed)
    hub.model.script("link_evolve", {"links": [{"to": "m1"}], "neighbours": []})
    hub.run_due_jobs()
    assert len(list_links(hub)) == 1


def test_a_note_changed_meanwhile_is_read_again(hub: ScriptedHub) -> None:
    """E10: what the model saw is no longer what is there."""

    def answer(data: dict[str, Any]) -> Any:
        with tenant_scope(hub.tenant.id):
            row = Note.objects.get(content__endswith="every day")
            changes = ChangeSet(hub.space, "manual", "nora", hub.now)
            evolve_notes(
                [(row, DescriptorChange(row, {"tags": ["by hand"]}, row.version))], {}, changes
            )
            changes.save()
        return reply_growth("every day", tags=["morning"])(data)

    say_with_note(hub, "Rowing on the sea every day", tags=["sport"])
    hub.model.script("link_evolve", answer, reply_growth("every day", keywords=["rough"]))
    say_with_note(hub, "The sea was rough this morning")
    after = get_note(hub, "every day")
    assert (after.tags, after.keywords, after.version) == (["by hand"], ["rough"], 3)


@pytest.mark.parametrize(
    ("model", "text", "told"),
    [
        ("all-MiniLM-L6-v2", "小雨喜欢洱海的早上", False),
        ("all-MiniLM-L6-v2", "The lake in the morning", True),
        ("bge-m3", "小雨喜欢洱海的早上", True),
    ],
)
def test_E5_cosines_are_told_only_where_the_embedder_reads_the_language(
    model: str, text: str, told: bool
) -> None:
    new, old = (Note(content=text, occurred_at=START_TIME) for _ in range(2))
    (offered,) = NoteNeighbourhood([(new, [NearNote(old, 0.9)])], model).build_neighbourhoods()
    assert list(offered.similar) == ([0.9] if told else [])


def test_AM8_undo_of_what_the_pipeline_did_and_redo(hub: ScriptedHub) -> None:
    old, new = make_two_near_notes(hub, reply_links_and_growth)
    (event,) = list_events(hub, "linked with what it belongs to")
    evolved = get_note(hub, "every day")
    undone = undo_event(event, "nora", hub.now).event
    back = get_note(hub, "every day")
    assert (back.keywords, back.tags, back.context) == (old.keywords, old.tags, old.context)
    assert back.version == evolved.version + 1
    assert get_entry(hub, back).text_hash == build_entry(old).text_hash
    assert list_links(hub) == []
    assert get_note(hub, "this morning").retired_at is None  # the new note itself stays
    undo_event(undone, "nora", hub.now)
    assert get_note(hub, "every day").tags == evolved.tags
    assert [{link.a_id, link.b_id} for link in list_links(hub)] == [{old.id, new.id}]


def reply_links_and_growth(data: dict[str, Any]) -> dict[str, Any]:
    near = find_handle(data, "every day")
    return {"links": [{"to": near}], "neighbours": [{"handle": near, "tags": ["weather"]}]}
