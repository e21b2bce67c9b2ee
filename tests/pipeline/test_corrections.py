"""Every operation on a memory by hand: what it returns, writes, and does of itself afterwards."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from memoryhub.dialogues.models import Turn
from memoryhub.errors import Conflict, EngineError, NotFound
from memoryhub.pipeline import corrections
from memoryhub.pipeline.corrections import Correction, FactCorrection
from memoryhub.pipeline.erasure import erase_targets
from memoryhub.pipeline.erasure.erase_targets import ErasureTarget
from memoryhub.pipeline.models import Job
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_key
from notes.history import change_set
from notes.models import EvolutionEvent, Fact, IndexEntry, Note, Revision
from personas import profile
from personas.models import ProfileAttribute
from tests.support.claims import make_home_reply, say_and_derive
from tests.support.factories import make_entity, make_fact, make_member, make_note
from tests.support.hub import ScriptedHub


@pytest.fixture
def moved(hub: ScriptedHub) -> ScriptedHub:
    """Ana lived in Lisbon and moved to Porto; her profile says so."""
    hub.set_policy("mem0", episodes__rolling=False)
    hub.model.allow("resolve")
    say_and_derive(hub, "I live in Lisbon.", make_home_reply("Lisbon"))
    hub.pass_time(days=30)
    say_and_derive(hub, "I moved to Porto.", make_home_reply("Porto"))
    assert get_home(hub) == "Porto"
    return hub


def get_home(hub: ScriptedHub) -> str:
    """What is stored, whether or not its fact holds."""
    with tenant_scope(hub.tenant.id):
        rows = ProfileAttribute.objects.filter(retired_at=None, key="lives_in")
        return "".join(each.value for each in rows)


def get_move_event(hub: ScriptedHub) -> EvolutionEvent:
    with tenant_scope(hub.tenant.id):
        porto = Fact.objects.get(object="Porto")
        return Revision.objects.select_related("event").get(row_id=porto.id, version_after=1).event


def test_the_profile_follows_an_undo_and_its_redo(moved: ScriptedHub) -> None:
    undone = corrections.undo_event(get_move_event(moved), "eva", moved.now, cascade=True).event
    assert get_home(moved) == "Lisbon"
    corrections.undo_event(undone, "eva", moved.now + timedelta(minutes=1), cascade=True)
    assert get_home(moved) == "Porto"


def test_what_only_mirrors_a_fact_is_not_undone_but_its_fact_is(moved: ScriptedHub) -> None:
    """It would be written again at once."""
    with tenant_scope(moved.tenant.id):
        mirrored = EvolutionEvent.objects.filter(kind="refresh", trigger="profile")[0]
    with pytest.raises(Conflict) as refused:
        corrections.undo_event(mirrored, "eva", moved.now)
    assert refused.value.code == "mirrored"
    assert get_home(moved) == "Porto"


def test_a_corrected_fact_leaves_its_object_in_the_profile(moved: ScriptedHub) -> None:
    with tenant_scope(moved.tenant.id):
        fact = Fact.objects.get(object="Porto")
    text = fact.text.replace("Porto", "Braga")
    new = corrections.correct_fact(moved.space, fact.id, text, "eva", moved.now).row
    assert get_home(moved) == "Braga"
    assert (new.verb, new.engine, new.corrected_by) == (fact.verb, "", "eva")


def test_the_profile_follows_a_roll_back(moved: ScriptedHub) -> None:
    corrections.roll_back_space(moved.space, moved.now - timedelta(days=20), "eva", moved.now)
    assert get_home(moved) == "Lisbon"


def test_the_profile_follows_an_erasure(moved: ScriptedHub) -> None:
    with tenant_scope(moved.tenant.id):
        turn = Turn.objects.get(text__contains="Porto")
    erase_targets.execute_erasure(moved.space, ErasureTarget("turns", (turn.id,)), "eva", moved.now)
    assert get_home(moved) == "Lisbon"


def test_what_a_person_wrote_of_the_profile_stays(moved: ScriptedHub) -> None:
    with tenant_scope(moved.tenant.id):
        profile.write_attribute(moved.space, "lives in", "Braga", "ida", moved.now)
    corrections.undo_event(get_move_event(moved), "eva", moved.now, cascade=True)
    assert get_home(moved) == "Braga"


def test_following_twice_changes_nothing(moved: ScriptedHub) -> None:
    def events() -> Any:
        with tenant_scope(moved.tenant.id):
            return EvolutionEvent.objects.count()

    before = events()
    corrections.refresh_after_change(moved.space, "again", moved.now)
    assert events() == before


# Each operation: its event and row, and what follows of itself

Act = Callable[[ScriptedHub, Fact, Note], Correction[Any]]


def correct(hub: ScriptedHub, fact: Fact, note: Note) -> Correction[Any]:
    text = fact.text.replace("Porto", "Braga")
    return corrections.correct_fact(hub.space, fact.id, text, "eva", hub.now)


def correct_without_a_side(hub: ScriptedHub, fact: Fact, note: Note) -> Correction[Any]:
    wanted = {fact.id: FactCorrection(fact.text.replace("Porto", "Braga"))}
    return corrections.correct_facts(hub.space, wanted, "eva", hub.now, protects=False)


def retract(hub: ScriptedHub, fact: Fact, note: Note) -> Correction[Any]:
    return corrections.retract_fact(hub.space, fact.id, "eva", hub.now)


def end(hub: ScriptedHub, fact: Fact, note: Note) -> Correction[Any]:
    return corrections.end_fact(hub.space, fact.id, "eva", hub.now)


def forget(hub: ScriptedHub, fact: Fact, note: Note) -> Correction[Any]:
    return corrections.forget_facts(hub.space, [fact.id], "eva", hub.now)


def restore(hub: ScriptedHub, fact: Fact, note: Note) -> Correction[Any]:
    forget(hub, fact, note)
    return corrections.restore_fact(hub.space, fact.id, "eva", hub.now)


def pin(hub: ScriptedHub, fact: Fact, note: Note) -> Correction[Any]:
    return corrections.set_pinned(hub.space, "fact", fact.id, True, "eva", hub.now)


def merge(hub: ScriptedHub, fact: Fact, note: Note) -> Correction[Any]:
    with tenant_scope(hub.tenant.id):
        twin = make_fact(hub.space, "Ana has a flat in Porto", owner=fact.owner)
    return corrections.merge_memories(hub.space, "fact", fact.id, twin.id, "eva", hub.now)


def describe(hub: ScriptedHub, fact: Fact, note: Note) -> Correction[Any]:
    return corrections.describe_note(hub.space, note.id, "eva", hub.now, tags=["home"])


def forget_note(hub: ScriptedHub, fact: Fact, note: Note) -> Correction[Any]:
    return corrections.forget_note(hub.space, note.id, "eva", hub.now)


def restore_note(hub: ScriptedHub, fact: Fact, note: Note) -> Correction[Any]:
    forget_note(hub, fact, note)
    return corrections.restore_note(hub.space, note.id, "eva", hub.now)


# (operation, the reason in its history, its row, the home in the profile, what listeners hear)
OPERATIONS: list[tuple[Act, str, dict[str, Any], str, list[str]]] = [
    (correct, "corrected", {"object": "Braga", "corrected_by": "eva"}, "Braga", ["fact.changed"]),
    (correct_without_a_side, "corrected", {"corrected_by": ""}, "Braga", ["fact.changed"]),
    (retract, "retracted", {"status": "retracted"}, "Lisbon", ["fact.retracted"]),
    (end, "ended", {"status": "superseded"}, "", ["fact.ended"]),
    (forget, "forgotten", {"object": "Porto"}, "", ["fact.deleted"]),
    (restore, "restored", {"retired_at": None}, "Porto", ["fact.restored"]),
    (pin, "pinned", {"pinned": True}, "Porto", ["fact.changed"]),
    (merge, "merged", {"mention_count": 2}, "", ["fact.deleted"]),
    (describe, "described", {"tags": ["home"]}, "Porto", ["note.evolved"]),
    (forget_note, "forgotten", {"content": "Paddling"}, "Porto", ["note.deleted"]),
    (restore_note, "restored", {"retired_at": None}, "Porto", ["note.restored"]),
]


@pytest.mark.parametrize(("act", "reason", "values", "home", "heard"), OPERATIONS)
def test_an_operation_returns_event_and_row_and_does_what_follows(
    moved: ScriptedHub,
    monkeypatch: pytest.MonkeyPatch,
    act: Act,
    reason: str,
    values: dict[str, Any],
    home: str,
    heard: list[str],
) -> None:
    with tenant_scope(moved.tenant.id):
        fact, note = Fact.objects.get(object="Porto"), make_note(moved.space, "Paddling")
    told: list[str] = []
    monkeypatch.setattr(
        change_set, "notify_listeners", lambda tenant, build: told.extend(n.kind for n in build())
    )

    def fail(texts: Any) -> Any:
        raise EngineError("the embedder is down")

    monkeypatch.setattr(moved.embedder, "embed", fail)
    made = act(moved, fact, note)
    with tenant_scope(moved.tenant.id):
        event = EvolutionEvent.objects.get(id=made.event.id)
        row = type(made.row).objects.get(id=made.row.id)
        assert (event.kind, event.actor, event.reason) == ("manual", "eva", reason)
        assert event.revisions.filter(row_id=row.id).exists()
        assert {name: getattr(row, name) for name in values} == values
        waiting = IndexEntry.objects.filter(space=moved.space, embedding=None).exists()
        assert Job.objects.filter(step="embed", state="queued").exists() == waiting
    assert get_home(moved) == home
    assert [name for name in told if name in heard] == heard
    # Undo is offered from the event that came back, and undone everything is as it was.
    corrections.undo_event(made.event, "eva", moved.now, cascade=True)
    undone = "" if act in (restore,) else "Porto"
    assert get_home(moved) == undone


@pytest.mark.parametrize("act", [correct, retract, end, forget, pin, describe, forget_note])
def test_a_dry_run_plans_the_same_and_writes_nothing(
    moved: ScriptedHub, monkeypatch: pytest.MonkeyPatch, act: Act
) -> None:
    with tenant_scope(moved.tenant.id):
        fact, note = Fact.objects.get(object="Porto"), make_note(moved.space, "Paddling")
        events = EvolutionEvent.objects.count()
    run = corrections.edit_rows
    with monkeypatch.context() as patched:
        patched.setattr(
            corrections, "edit_rows", lambda *given, **named: run(*given, **named, dry_run=True)
        )
        planned = act(moved, fact, note)
    assert not planned.is_stored
    with tenant_scope(moved.tenant.id):
        assert EvolutionEvent.objects.count() == events
    done = act(moved, fact, note)
    assert [c.how for c in planned.changes] == [c.how for c in done.changes]


def test_what_a_person_says_of_themselves_returns_event_and_row(moved: ScriptedHub) -> None:
    trait = corrections.correct_trait(moved.space, "openness", "high", "eva", moved.now)
    assert (trait.row.level, trait.event.kind) == ("high", "manual")
    entry = corrections.correct_profile(moved.space, "nick name", "Annie", "eva", moved.now)
    assert (entry.row.value, entry.is_stored) == ("Annie", True)
    again = corrections.correct_trait(moved.space, "openness", "high", "eva", moved.now)
    assert not again.is_stored
    corrections.undo_trait_correction(moved.space, "openness", "eva", moved.now)
    with pytest.raises(NotFound):
        corrections.undo_trait_correction(moved.space, "openness", "eva", moved.now)


def test_merged_entities_are_split_again(moved: ScriptedHub) -> None:
    with tenant_scope(moved.tenant.id):
        one, other = (make_entity(moved.space, name) for name in ("Bob", "Robert"))
    merged = corrections.merge_memories(
        moved.space, "entity", one.id, other.id, "eva", moved.now, reason="the same person"
    )
    assert merged.row.aliases == ["Bob"]
    corrections.split_entity(moved.space, one.id, "eva", moved.now)
    with tenant_scope(moved.tenant.id):
        one.refresh_from_db()
        other.refresh_from_db()
    assert (one.merged_into_id, other.aliases) == (None, [])
    with pytest.raises(NotFound):
        corrections.split_entity(moved.space, one.id, "eva", moved.now)


# REST, mem0, the console and MCP's tools, which call REST: one result


def test_every_way_in_forgets_alike(moved: ScriptedHub, client: Client) -> None:
    def forget_by_rest(fact: Fact) -> int:
        path = f"/api/v1/spaces/{moved.subject}/facts/{fact.id}/forget"
        return rest.post(path, {}, format="json").status_code

    def forget_by_mem0(fact: Fact) -> int:
        return mem0.delete(f"/v1/memories/{fact.lineage}/").status_code

    def forget_by_console(fact: Fact) -> int:
        address = reverse("space-fact", args=[moved.space.id, fact.id])
        return client.post(address, {"action": "forget"}).status_code

    _, key = create_key(moved.tenant, "test", ["read", "write"])
    rest = APIClient(headers={"Authorization": f"Bearer {key}"})
    mem0 = APIClient(headers={"Authorization": f"Token {key}"})
    client.force_login(make_member(moved.tenant))
    results = []
    for forget_it in (forget_by_rest, forget_by_mem0, forget_by_console):
        with tenant_scope(moved.tenant.id):
            fact = make_fact(moved.space, "Ana plays chess")
        assert forget_it(fact) in (200, 302)
        with tenant_scope(moved.tenant.id):
            fact.refresh_from_db()
            (revision,) = Revision.objects.filter(row_id=fact.id).select_related("event")
        assert fact.retired_at is not None
        event, before, after = revision.event, revision.before or {}, revision.after or {}
        columns = {name for name, value in before.items() if value != after[name]}
        results.append((fact.status, fact.corrected_by, event.kind, event.reason, columns))
    assert results[0] == results[1] == results[2]
    assert results[0][2:4] == ("manual", "forgotten")


@pytest.mark.parametrize("words", ["I live in Braga these days.", "Ana lives in Braga."])
def test_the_profile_takes_the_value_of_a_correction_and_no_sentence(
    moved: ScriptedHub, words: str
) -> None:
    with tenant_scope(moved.tenant.id):
        fact = Fact.objects.get(object="Porto")
    made = corrections.correct_fact(moved.space, fact.id, words, "eva", moved.now)
    assert made.row.object == "Braga"
    assert get_home(moved) == "Braga"


def test_a_correction_says_its_value_and_since_when(moved: ScriptedHub) -> None:
    moved.pass_time(days=5)
    since = moved.now - timedelta(days=3)
    with tenant_scope(moved.tenant.id):
        fact = Fact.objects.get(object="Porto")
    wanted = {fact.id: FactCorrection("Home is by the sea now", value="Braga", since=since)}
    made = corrections.correct_facts(moved.space, wanted, "eva", moved.now, reason="she said so")
    assert (made.row.object, made.row.valid_from) == ("Braga", since)
    assert (made.event.actor, made.event.reason) == ("eva", "she said so")
    assert get_home(moved) == "Braga"
    target = ErasureTarget("facts", (made.row.id,))
    erase_targets.execute_erasure(moved.space, target, "eva", moved.now)
    with tenant_scope(moved.tenant.id):
        assert not Fact.objects.filter(lineage=fact.lineage, object="Porto").exists()


def test_others_that_name_the_old_value_are_found_and_put_right_only_where_chosen(
    moved: ScriptedHub,
) -> None:
    with tenant_scope(moved.tenant.id):
        fact = Fact.objects.get(object="Porto")
        other = make_fact(moved.space, "Ana rents a garage in Porto", Turn.objects.latest("seq"))
        assert corrections.find_facts_naming(moved.space, fact) == [other]
    wanted = {
        fact.id: FactCorrection("Ana lives in Braga", value="Braga"),
        other.id: corrections.replace_named_value(other, "Porto", "Braga"),
    }
    made = corrections.correct_facts(moved.space, wanted, "eva", moved.now)
    assert [row.text for row in made.rows] == ["Ana lives in Braga", "Ana rents a garage in Braga"]
    assert len(made.events) == 1


def test_a_value_that_the_words_do_not_say_stays_when_a_name_in_them_changes(
    moved: ScriptedHub,
) -> None:
    with tenant_scope(moved.tenant.id):
        fact = Fact.objects.get(object="Porto")
        trade = {"predicate_key": "works_as", "object": "teacher"}
        turn = Turn.objects.latest("seq")
        other = make_fact(moved.space, "Ana teaches pottery in Porto", turn, **trade)
    wanted = {
        fact.id: FactCorrection("Ana lives in Braga", value="Braga"),
        other.id: corrections.replace_named_value(other, "Porto", "Braga"),
    }
    made = corrections.correct_facts(moved.space, wanted, "eva", moved.now)
    assert [row.object for row in made.rows] == ["Braga", "teacher"]


def test_new_words_that_say_the_old_value_keep_it(moved: ScriptedHub) -> None:
    with tenant_scope(moved.tenant.id):
        fact = Fact.objects.get(object="Porto")
    words = "Ana has a home by the river, which is in Porto as before"
    made = corrections.correct_fact(moved.space, fact.id, words, "eva", moved.now)
    assert made.row.object == "Porto"
    assert get_home(moved) == "Porto"
