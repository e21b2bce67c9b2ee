"""Entities merged by the clock (spec §12.1, GR5, R3)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from memoryhub.engines.local.engine import LocalEngine
from memoryhub.errors import EngineError
from memoryhub.pipeline.corrections import undo_event
from memoryhub.pipeline.review import answer_proposals
from memoryhub.pipeline.steps.maintenance import merge_entities
from memoryhub.policies.services import load_effective_policy
from memoryhub.tenants.scope import tenant_scope
from notes.index import indexer
from notes.models import Entity, EvolutionEvent, IndexEntry, Proposal, Revision
from tests.support.hub import ScriptedHub

pytestmark = pytest.mark.django_db
NAMES = {
    "Robert Hall": [1.0],
    "R. Hall": [0.97, 0.2431],
    "Rob Hill": [0.8, 0.6],
    "Bo": [0.3, 0.0, 0.954],
}


@pytest.fixture(autouse=True)
def only_claims(hub: ScriptedHub) -> None:
    hub.set_policy("mem0g", episodes__rolling=False)
    hub.embedder.table |= NAMES


def make_entities(hub: ScriptedHub, *names: str, **columns: Any) -> list[Entity]:
    """Entities that stand side by side, as two of one batch do."""
    with tenant_scope(hub.tenant.id):
        space = hub.space
        rows = [
            Entity.objects.create(
                tenant=hub.tenant,
                space=space,
                name=name,
                canonical_key=name.casefold(),
                mention_count=9 - at,
                **columns,
            )
            for at, name in enumerate(names)
        ]
        entries = indexer.build_entity_entries(rows)
        vectors = indexer.embed_entries(entries, hub.embedder)
        indexer.write_entries(space, hub.embedder.name, entries, vectors)
    return rows


def sweep_entities(hub: ScriptedHub) -> Any:
    with tenant_scope(hub.tenant.id):
        space, policy = hub.space, load_effective_policy(hub.space).policy
    return merge_entities.merge_duplicate_entities(space, policy, hub.now)


def reload_entity(hub: ScriptedHub, row: Entity) -> Entity:
    with tenant_scope(hub.tenant.id):
        return Entity.objects.get(id=row.id)


def test_GR5_two_names_of_one_are_merged_by_the_clock_and_can_be_undone(hub: ScriptedHub) -> None:
    long, short = make_entities(hub, "Robert Hall", "R. Hall")
    assert sweep_entities(hub) is None
    assert reload_entity(hub, short).merged_into_id == long.id
    assert reload_entity(hub, long).aliases == ["R. Hall"]
    with tenant_scope(hub.tenant.id):
        event = EvolutionEvent.objects.get(kind="merge")
        assert (event.trigger, event.actor) == ("sweep", "pipeline")
        assert Revision.objects.filter(event=event).count() == 2
        # Found by either name, and by its own vector as before.
        words = IndexEntry.objects.get(owner_id=long.id)
        assert "hall" in str(words.words)
        assert words.embedding is not None
        undo_event(event, "eva", hub.now)
    assert reload_entity(hub, short).merged_into_id is None
    with tenant_scope(hub.tenant.id):
        Entity.objects.update(compared_at=None)
    sweep_entities(hub)
    assert reload_entity(hub, short).merged_into_id is None, "taken apart by a person"


@pytest.mark.parametrize(("same", "state"), [(False, "rejected"), (None, "open")])
def test_GR5_doubts_are_asked_about_once(hub: ScriptedHub, same: bool | None, state: str) -> None:
    _, other = make_entities(hub, "Robert Hall", "Rob Hill")
    decisions = [] if same is None else [{"pair": "p1", "same": same}]
    hub.model.script("merge_check", {"decisions": decisions})
    sweep_entities(hub)
    assert reload_entity(hub, other).merged_into_id is None
    with tenant_scope(hub.tenant.id):
        assert Proposal.objects.get().state == state
        Entity.objects.update(compared_at=None)
    sweep_entities(hub)  # nothing more is scripted: a second question would fail
    assert len(hub.model.list_calls("merge_check")) == 1


def test_GR5_a_doubt_that_a_model_dispels_is_a_merge(hub: ScriptedHub) -> None:
    long, other = make_entities(hub, "Robert Hall", "Rob Hill")
    hub.model.script("merge_check", {"decisions": [{"pair": "p1", "same": True}]})
    sweep_entities(hub)
    assert reload_entity(hub, other).merged_into_id == long.id


@pytest.mark.parametrize(
    ("names", "state", "decided_by"),
    [
        (("artists", "favorite artists art"), "rejected", "local/"),
        (("Erik Lund", "Lund"), "open", ""),
    ],
)
def test_GR5_plain_words_are_told_apart_by_rule_and_nobody_is_asked(
    hub: ScriptedHub,
    monkeypatch: pytest.MonkeyPatch,
    names: tuple[str, str],
    state: str,
    decided_by: str,
) -> None:
    """However near their vectors are; of two names the rules can't tell, and a person is asked."""
    monkeypatch.setattr(merge_entities, "select_engine", lambda tenant, policy: LocalEngine())
    hub.embedder.table |= dict(zip(names, ([1.0], [0.8, 0.6]), strict=True))
    one, other = make_entities(hub, *names)
    sweep_entities(hub)
    assert reload_entity(hub, other).merged_into_id is None
    assert reload_entity(hub, one).merged_into_id is None
    with tenant_scope(hub.tenant.id):
        settled = Proposal.objects.get()
        assert settled.state == state
        assert settled.decided_by.startswith(decided_by)
        assert bool(settled.decided_by) == bool(decided_by)


def test_GR5_what_a_person_declined_is_not_asked_again(hub: ScriptedHub) -> None:
    make_entities(hub, "Robert Hall", "Rob Hill")
    hub.model.allow("merge_check")
    sweep_entities(hub)
    with tenant_scope(hub.tenant.id):
        answer_proposals.answer_proposal(Proposal.objects.get(), "keep", "eva", hub.now)
        Entity.objects.update(compared_at=None)
    sweep_entities(hub)
    assert len(hub.model.list_calls("merge_check")) == 1


def test_a_sweep_is_bounded_and_the_next_goes_on(
    hub: ScriptedHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merge_entities, "MOST_ASKED", 1)
    hub.embedder.table |= {"Rob Hull": [0.8, 0.0, 0.6]}
    make_entities(hub, "Robert Hall", "Rob Hill", "Rob Hull")
    hub.model.allow(merge_check={"decisions": [{"pair": "p1", "same": False}]})
    assert sweep_entities(hub) == hub.now
    for _ in range(3):
        sweep_entities(hub)
    asked = [frozenset(call["pairs"][0]["names"]) for call in hub.model.list_calls("merge_check")]
    assert all(len(call["pairs"]) == 1 for call in hub.model.list_calls("merge_check"))
    assert len(asked) == len(set(asked)) >= 2
    assert sweep_entities(hub) is None
    with tenant_scope(hub.tenant.id):
        assert not Entity.objects.filter(compared_at=None).exists()


def test_a_model_that_fails_leaves_its_pairs_and_the_sure_ones_are_merged(hub: ScriptedHub) -> None:
    long, short, _ = make_entities(hub, "Robert Hall", "R. Hall", "Rob Hill")
    hub.model.allow(merge_check=EngineError("away"))
    assert sweep_entities(hub) == hub.now + timedelta(days=1)
    assert reload_entity(hub, short).merged_into_id == long.id
    with tenant_scope(hub.tenant.id):
        assert not Proposal.objects.exists()
        assert Entity.objects.filter(compared_at=None).exists()
    hub.model.allow(merge_check={"decisions": [{"pair": "p1", "same": False}]})
    assert sweep_entities(hub) is None


def test_what_a_person_corrected_is_proposed_and_not_merged(hub: ScriptedHub) -> None:
    _, short = make_entities(hub, "Robert Hall", "R. Hall", corrected_by="eva")
    sweep_entities(hub)
    assert reload_entity(hub, short).merged_into_id is None
    with tenant_scope(hub.tenant.id):
        assert Proposal.objects.get().kind == "merge"


def test_names_far_apart_or_with_other_numbers_stay_two(hub: ScriptedHub) -> None:
    hub.embedder.table |= {"Room 101": [0.0, 1.0], "Room 102": [0.0, 0.99, 0.14]}
    rows = make_entities(hub, "Robert Hall", "Bo", "Room 101", "Room 102")
    sweep_entities(hub)
    assert [reload_entity(hub, row).merged_into_id for row in rows] == [None] * 4
