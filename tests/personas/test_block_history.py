"""Every edit of a core block is an event, undone and redone like any other (spec §11.8, I6)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from memoryhub.dialogues.models import Turn
from memoryhub.errors import Conflict
from memoryhub.pipeline import erasing, restoring
from memoryhub.pipeline.erasing import Target
from memoryhub.policies.services import policy_of
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes import timeline
from notes.models import Derivation, EvolutionEvent, Revision
from notes.recording import values_of
from personas import blocks, portrait
from personas.blocks import Writer
from personas.models import BlockVersion, CoreBlock
from tests.support.factories import make_trait
from tests.support.hub import Hub
from tests.support.scan import places_of

Edit = Callable[[Writer, CoreBlock], CoreBlock]
EDITS: dict[str, Edit] = {
    "append": lambda who, block: blocks.append(who, block.id, "Keeps bees."),
    "replace": lambda who, block: blocks.replace(who, block.id, "Likes", "Loves"),
    "insert": lambda who, block: blocks.insert(who, block.id, "First.", 0),
    "rethink": lambda who, block: blocks.rethink(who, block.id, ""),
    "rename": lambda who, block: blocks.rename(who, block.id, "person"),
    "resize": lambda who, block: blocks.resize(who, block.id, 90),
    "delete": lambda who, block: blocks.delete(who, block.id),
}


def writer(hub: Hub, kind: Any = "person", space: Space | None = None, **more: Any) -> Writer:
    hub.pass_time(minutes=1)
    return Writer("ida", kind, hub.now, space or hub.space, **more)


def made(hub: Hub, value: str = "Likes tea.", *, shared: bool = False) -> CoreBlock:
    with tenant_scope(hub.tenant.id):
        who, space = writer(hub), None if shared else hub.space
        return blocks.create(who, "human", value, tenant_id=hub.tenant.id, space=space)


def changed(hub: Hub, block: CoreBlock, edit: Edit, who: Writer | None = None) -> EvolutionEvent:
    """The event of this edit."""
    with tenant_scope(hub.tenant.id):
        edit(who or writer(hub), block)
        rows = Revision.objects.filter(row_id=block.id).select_related("event")
        return rows.order_by("-version_after")[0].event


def undo(hub: Hub, event: EvolutionEvent, **options: Any) -> EvolutionEvent:
    hub.pass_time(minutes=1)
    return restoring.undo(event, "eva", hub.now, **options)


def says(hub: Hub, block: CoreBlock) -> dict[str, Any]:
    """All columns but the version, which only rises."""
    with tenant_scope(hub.tenant.id):
        return values_of(CoreBlock.objects.get(id=block.id)) | {"version": None}


def versions(hub: Hub, block: CoreBlock) -> list[tuple[int, str, str]]:
    with tenant_scope(hub.tenant.id):
        rows = BlockVersion.objects.filter(block=block).order_by("version")
        return list(rows.values_list("version", "value", "actor"))


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_is_undone_bit_for_bit_and_redone(hub: Hub, edit: str) -> None:
    block = made(hub)
    before = says(hub, block)
    event = changed(hub, block, EDITS[edit])
    after = says(hub, block)
    assert (before != after, event.actor, event.kind) == (True, "ida", "manual")
    undone = undo(hub, event)
    assert says(hub, block) == before
    undo(hub, undone)
    assert says(hub, block) == after
    assert [number for number, _, _ in versions(hub, block)] == [1, 2, 3, 4]
    assert [actor for _, _, actor in versions(hub, block)] == ["ida", "ida", "eva", "eva"]


def test_undoing_the_first_edit_takes_the_block_away(hub: Hub) -> None:
    block = made(hub)
    with tenant_scope(hub.tenant.id):
        event = Revision.objects.get(row_id=block.id).event
    undo(hub, event)
    with tenant_scope(hub.tenant.id):
        assert blocks.in_front_of(hub.space) == []


def test_X8_an_edit_with_a_later_one_is_refused_and_cascade_undoes_both(hub: Hub) -> None:
    block = made(hub)
    first = changed(hub, block, EDITS["append"])
    later = changed(hub, block, EDITS["replace"])
    with pytest.raises(Conflict) as refused:
        undo(hub, first)
    assert refused.value.extra["later"] == [str(later.id)]
    undo(hub, first, cascade=True)
    assert says(hub, block)["value"] == "Likes tea."
    assert versions(hub, block)[-2:] == [
        (4, "Likes tea.\nKeeps bees.", "eva"),
        (5, "Likes tea.", "eva"),
    ]


def test_a_label_taken_since_is_not_taken_back(hub: Hub) -> None:
    block = made(hub)
    event = changed(hub, block, EDITS["rename"])
    made(hub, "Another.")
    with pytest.raises(Conflict):
        undo(hub, event)
    assert says(hub, block)["label"] == "person"


def test_a_roll_back_covers_the_spaces_own_blocks(hub: Hub) -> None:
    block = made(hub)
    then, before = hub.now, says(hub, block)
    changed(hub, block, EDITS["append"])
    changed(hub, block, EDITS["rename"])
    with tenant_scope(hub.tenant.id):
        hub.pass_time(minutes=1)
        bench = timeline.plan_roll_back(hub.space, then, "eva", hub.now)
        preview = timeline.preview(bench)
        since = timeline.since(hub.space, then, hub.now)
    assert [(c.kind, c.how) for c in preview] == [("coreblock", "changed")]
    assert ("value", "Likes tea.\nKeeps bees.", "Likes tea.") in preview[0].fields
    assert ("label", "human", "person") in since[0].fields
    restoring.roll_back(hub.space, then, "eva", hub.now)
    assert says(hub, block) == before


def test_a_roll_back_leaves_shared_blocks_and_names_their_changes(hub: Hub) -> None:
    block = made(hub, shared=True)
    then = hub.now
    event = changed(hub, block, EDITS["append"])
    with tenant_scope(hub.tenant.id):
        assert timeline.shared_events(hub.space, then) == [event]
        assert timeline.since(hub.space, then, hub.now) == []
    hub.pass_time(minutes=1)
    assert restoring.roll_back(hub.space, then, "eva", hub.now) == []
    assert says(hub, block)["value"] == "Likes tea.\nKeeps bees."
    undo(hub, event)  # by itself, it can be
    assert says(hub, block)["value"] == "Likes tea."


def test_a_shared_block_changed_elsewhere_since_is_not_taken_back(hub: Hub) -> None:
    other = Hub(hub.tenant, hub.model, hub.embedder, subject="Bea").space
    block = made(hub, shared=True)
    event = changed(hub, block, EDITS["append"])
    changed(hub, block, EDITS["replace"], writer(hub, space=other))
    for cascade in (False, True):
        with pytest.raises(Conflict, match="from another space"):
            undo(hub, event, cascade=cascade)
    assert says(hub, block)["value"] == "Loves tea.\nKeeps bees."


def test_a_refused_edit_is_no_event(hub: Hub) -> None:
    block = made(hub)
    with tenant_scope(hub.tenant.id):
        before = EvolutionEvent.objects.count()
        with pytest.raises(Exception, match="holds"):
            blocks.append(writer(hub), block.id, "x" * 3000)
        blocks.rethink(writer(hub), block.id, "Likes tea.")
        assert EvolutionEvent.objects.count() == before


def test_I12_what_an_erased_turn_led_to_is_in_no_revision(hub: Hub) -> None:
    hub.say("I moved to Zanzibar.")
    block = made(hub)
    with tenant_scope(hub.tenant.id):
        turn = Turn.objects.get()
    who = writer(hub, "agent", turn_id=turn.id, reason="by its own tool")
    told = changed(hub, block, lambda w, b: blocks.append(w, b.id, "Lives in Zanzibar."), who)
    last = changed(hub, block, EDITS["replace"])
    erasing.execute(hub.space, Target("turns", (turn.id,)), "eva", hub.now)
    assert says(hub, block)["value"] == "Likes tea."
    with tenant_scope(hub.tenant.id):
        assert places_of("Zanzibar") == []
        shown = Revision.objects.filter(row_id=block.id).order_by("version_after")
        assert [r.version_after for r in shown] == [1, 2, 3, 4]
        assert shown[3].event.kind == "erase"
    for event in (told, last):
        with tenant_scope(hub.tenant.id):
            event.refresh_from_db()
        with pytest.raises(Conflict, match="eras"):
            undo(hub, event, cascade=True)


def test_the_portrait_rests_on_the_turns_of_what_it_is_made_of(hub: Hub) -> None:
    hub.policy("balanced", portrait__enabled=True)
    hub.say("I like to try things.")
    with tenant_scope(hub.tenant.id):
        turn, space = Turn.objects.get(), hub.space
        trait = make_trait(space, "openness", "high", turn)
        effective = policy_of(space)
        block = portrait.renew(space, effective.policy, effective.version, hub.now)
        assert block is not None
        link = Derivation.objects.get(child_id=block.id)
        assert (link.turn_id, link.via_type, link.via_id) == (turn.id, "trait", trait.id)
        event = Revision.objects.get(row_id=block.id).event
        assert (event.kind, event.policy_version) == ("refresh", effective.version)
    erasing.execute(hub.space, Target("turns", (turn.id,)), "eva", hub.now)
    with tenant_scope(hub.tenant.id):
        assert places_of("try things") == []
        assert not CoreBlock.objects.filter(label="portrait", retired_at=None).exists()
