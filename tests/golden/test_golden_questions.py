"""Golden questions: saved, changed, taken away, undone, and erased with what they name."""

from __future__ import annotations

from uuid import uuid4

import pytest

from memoryhub.errors import Conflict, InvalidInput, NotFound
from memoryhub.golden import services
from memoryhub.golden.models import GoldenQuestion
from memoryhub.pipeline.corrections import undo_event
from memoryhub.pipeline.erasure import erase_targets
from memoryhub.pipeline.erasure.erase_targets import ErasureTarget
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant, ensure_space
from notes.models import EvolutionEvent, Revision
from tests.recall.scene import RecallScene
from tests.support.database_scan import find_tables_with_word


def list_questions(scene: RecallScene) -> list[GoldenQuestion]:
    with tenant_scope(scene.hub.tenant.id):
        return list(GoldenQuestion.objects.filter(retired_at=None))


def save_question(
    scene: RecallScene, text: str, *named: services.MemoryReference, tags: tuple[str, ...] = ()
) -> GoldenQuestion:
    made = services.save_question(scene.space, text, named, "ida", scene.hub.now, tags=tags)
    return made.row


def test_it_keeps_what_it_names_with_lineage_and_sources(scene: RecallScene) -> None:
    (turn,) = scene.say("I keep bees in Ghent")
    fact = scene.add_fact("Ana keeps bees", turn)
    saved = save_question(
        scene, " Where are the bees? ", ("fact", fact.id), tags=("bees", "bees", " a  b ")
    )
    assert (saved.text, saved.tags) == ("Where are the bees?", ["bees", "a b"])
    assert saved.expected == [
        {"kind": "fact", "id": str(fact.id), "lineage": str(fact.lineage), "turns": [str(turn.id)]}
    ]
    assert set(saved.names) == {str(fact.id), str(turn.id)}
    with tenant_scope(scene.hub.tenant.id):
        event = EvolutionEvent.objects.get(revisions__row_id=saved.id)
    assert (event.kind, event.actor) == ("manual", "ida")


def test_a_turn_is_its_own_source(scene: RecallScene) -> None:
    (turn,) = scene.say("I keep bees")
    assert save_question(scene, "Bees?", ("turn", turn.id)).expected[0]["turns"] == [str(turn.id)]


@pytest.mark.parametrize("text", ["", "  ", "\0", "x" * 2001])
def test_an_empty_or_huge_question_is_refused(scene: RecallScene, text: str) -> None:
    (turn,) = scene.say("I keep bees")
    with pytest.raises(InvalidInput) as refused:
        save_question(scene, text, ("turn", turn.id))
    assert refused.value.field == "text"
    assert list_questions(scene) == []


def test_it_names_from_one_to_twenty_memories_of_its_space(scene: RecallScene) -> None:
    turns = scene.say(*(f"word {n}" for n in range(21)))
    with pytest.raises(InvalidInput, match="1 to 20"):
        save_question(scene, "Nothing?")
    with pytest.raises(InvalidInput, match="1 to 20"):
        save_question(scene, "All?", *(("turn", turn.id) for turn in turns))
    with pytest.raises(NotFound):
        save_question(scene, "Strange?", ("fact", uuid4()))
    with pytest.raises(NotFound):
        save_question(scene, "Kind?", ("segment", turns[0].id))
    with pytest.raises(InvalidInput) as refused:
        save_question(scene, "Tags?", ("turn", turns[0].id), tags=("x" * 41,))
    assert refused.value.field == "tags"


def test_memories_of_another_tenant_do_not_exist(scene: RecallScene) -> None:
    (turn,) = scene.say("I keep bees")
    other = create_tenant("Other", "other")
    with tenant_scope(other.id):
        space = ensure_space(other.id, "ben")
    with pytest.raises(NotFound):
        services.save_question(space, "Bees?", [("turn", turn.id)], "eve", scene.hub.now)


def test_changed_it_keeps_the_sources_of_memories_that_are_gone(scene: RecallScene) -> None:
    first, second = scene.say("I keep bees", "I keep hens")
    fact = scene.add_fact("Ana keeps bees", first)
    saved = save_question(scene, "Animals?", ("fact", fact.id))
    with tenant_scope(scene.hub.tenant.id):
        type(fact).objects.filter(id=fact.id).delete()
    named: list[services.MemoryReference] = [("fact", fact.id), ("turn", second.id)]
    changed = services.update_question(
        scene.space, saved.id, "What animals?", named, "ida", scene.hub.now
    ).row
    assert changed.version == 2
    assert changed.expected[0] == saved.expected[0]
    assert [e["kind"] for e in changed.expected] == ["fact", "turn"]


def test_taken_away_it_comes_back_by_undo(scene: RecallScene) -> None:
    (turn,) = scene.say("I keep bees")
    saved = save_question(scene, "Bees?", ("turn", turn.id))
    services.remove_question(scene.space, saved.id, "ida", scene.hub.now)
    assert list_questions(scene) == []
    with pytest.raises(Conflict):
        services.remove_question(scene.space, saved.id, "ida", scene.hub.now)
    with tenant_scope(scene.hub.tenant.id):
        event = EvolutionEvent.objects.get(reason="golden question taken away")
    undo_event(event, "ida", scene.hub.now)
    assert [q.text for q in list_questions(scene)] == ["Bees?"]


def test_erased_it_goes_with_what_it_names_words_and_all(scene: RecallScene) -> None:
    secret, other = scene.say("my secret is marzipan", "I keep bees")
    fact = scene.add_fact("Ana has a secret", secret)
    save_question(scene, "What about the marzipan?", ("fact", fact.id))
    stays = save_question(scene, "Bees?", ("turn", other.id))
    target = ErasureTarget("turns", (secret.id,))
    assert erase_targets.plan_erasure(scene.space, target).counts["goldenquestions"] == 1
    receipt = erase_targets.execute_erasure(scene.space, target, "ida", scene.hub.now)
    assert receipt.counts["goldenquestions"] == 1
    assert [q.id for q in list_questions(scene)] == [stays.id]
    assert find_tables_with_word("marzipan") == []
    with tenant_scope(scene.hub.tenant.id):
        told = Revision.objects.filter(row_type="goldenquestion").exclude(row_id=stays.id)
        assert list(told.values_list("before", "after").distinct()) == [(None, None)]


def test_erased_as_a_fact_alone_it_takes_its_questions_along(scene: RecallScene) -> None:
    (turn,) = scene.say("I keep bees")
    fact = scene.add_fact("Ana keeps bees", turn)
    save_question(scene, "Bees?", ("fact", fact.id))
    erase_targets.execute_erasure(
        scene.space, ErasureTarget("facts", (fact.id,)), "ida", scene.hub.now
    )
    assert list_questions(scene) == []


def test_rows_are_of_their_tenant_alone(scene: RecallScene) -> None:
    (turn,) = scene.say("I keep bees")
    save_question(scene, "Bees?", ("turn", turn.id))
    other = create_tenant("Other", "other")
    with tenant_scope(other.id):
        assert GoldenQuestion.objects.count() == 0
    assert GoldenQuestion._base_manager.count() == 0
