"""Every edit of a core block is an event, undone and redone like any other (spec §11.8, I6)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from memoryhub.dialogues.models import Turn
from memoryhub.errors import Conflict
from memoryhub.pipeline import corrections
from memoryhub.pipeline.erasure import erase_targets
from memoryhub.pipeline.erasure.erase_targets import ErasureTarget
from memoryhub.policies.services import load_effective_policy
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.history import timeline
from notes.history.change_set import serialize_row
from notes.history.undo import plan_roll_back
from notes.models import Derivation, EvolutionEvent, Revision
from personas import blocks, portrait
from personas.blocks import BlockWriter
from personas.models import BlockVersion, CoreBlock
from tests.support.database_scan import find_tables_with_word
from tests.support.factories import make_trait
from tests.support.hub import ScriptedHub

Edit = Callable[[BlockWriter, CoreBlock], CoreBlock]
EDITS: dict[str, Edit] = {
    "append": lambda who, block: blocks.append_to_block(who, block.id, "Keeps bees."),
    "replace": lambda who, block: blocks.replace_in_block(who, block.id, "Likes", "Loves"),
    "insert": lambda who, block: blocks.insert_into_block(who, block.id, "First.", 0),
    "rethink": lambda who, block: blocks.rethink_block(who, block.id, ""),
    "rename": lambda who, block: blocks.revise_block(who, block.id, label="person"),
    "resize": lambda who, block: blocks.revise_block(who, block.id, char_limit=90),
    "delete": lambda who, block: blocks.delete_block(who, block.id),
}


def make_writer(
    hub: ScriptedHub, kind: Any = "person", space: Space | None = None, **more: Any
) -> BlockWriter:
    hub.pass_time(minutes=1)
    return BlockWriter("ida", kind, hub.now, space or hub.space, **more)


def create_block(hub: ScriptedHub, value: str = "Likes tea.", *, shared: bool = False) -> CoreBlock:
    with tenant_scope(hub.tenant.id):
        who, space = make_writer(hub), None if shared else hub.space
        return blocks.create_block(who, "human", value, tenant_id=hub.tenant.id, space=space)


def edit_block(
    hub: ScriptedHub, block: CoreBlock, edit: Edit, who: BlockWriter | None = None
) -> EvolutionEvent:
    """The event of this edit."""
    with tenant_scope(hub.tenant.id):
        edit(who or make_writer(hub), block)
        rows = Revision.objects.filter(row_id=block.id).select_related("event")
        return rows.order_by("-version_after")[0].event


def undo_event(hub: ScriptedHub, event: EvolutionEvent, **options: Any) -> EvolutionEvent:
    hub.pass_time(minutes=1)
    return corrections.undo_event(event, "eva", hub.now, **options).event


def get_columns(hub: ScriptedHub, block: CoreBlock) -> dict[str, Any]:
    """All columns but the version, which only rises."""
    with tenant_scope(hub.tenant.id):
        return serialize_row(CoreBlock.objects.get(id=block.id)) | {"version": None}


def list_versions(hub: ScriptedHub, block: CoreBlock) -> list[tuple[int, str, str]]:
    with tenant_scope(hub.tenant.id):
        rows = BlockVersion.objects.filter(block=block).order_by("version")
        return list(rows.values_list("version", "value", "actor"))


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_is_undone_bit_for_bit_and_redone(hub: ScriptedHub, edit: str) -> None:
    block = create_block(hub)
    before = get_columns(hub, block)
    event = edit_block(hub, block, EDITS[edit])
    after = get_columns(hub, block)
    assert (before != after, event.actor, event.kind) == (True, "ida", "manual")
    undone = undo_event(hub, event)
    assert get_columns(hub, block) == before
    undo_event(hub, undone)
    assert get_columns(hub, block) == after
    assert [number for number, _, _ in list_versions(hub, block)] == [1, 2, 3, 4]
    assert [actor for _, _, actor in list_versions(hub, block)] == ["ida", "ida", "eva", "eva"]


def test_undoing_the_first_edit_takes_the_block_away(hub: ScriptedHub) -> None:
    block = create_block(hub)
    with tenant_scope(hub.tenant.id):
        event = Revision.objects.get(row_id=block.id).event
    undo_event(hub, event)
    with tenant_scope(hub.tenant.id):
        assert blocks.load_visible_blocks(hub.space) == []


def test_X8_an_edit_with_a_later_one_is_refused_and_cascade_undoes_both(hub: ScriptedHub) -> None:
    block = create_block(hub)
    first = edit_block(hub, block, EDITS["append"])
    later = edit_block(hub, block, EDITS["replace"])
    with pytest.raises(Conflict) as refused:
        undo_event(hub, first)
    assert refused.value.extra["later"] == [str(later.id)]
    undo_event(hub, first, cascade=True)
    assert get_columns(hub, block)["value"] == "Likes tea."
    assert list_versions(hub, block)[-2:] == [
        (4, "Likes tea.\nKeeps bees.", "eva"),
        (5, "Likes tea.", "eva"),
    ]


def test_a_label_taken_since_is_not_taken_back(hub: ScriptedHub) -> None:
    block = create_block(hub)
    event = edit_block(hub, block, EDITS["rename"])
    create_block(hub, "Another.")
    with pytest.raises(Conflict):
        undo_event(hub, event)
    assert get_columns(hub, block)["label"] == "person"


def test_a_roll_back_covers_the_spaces_own_blocks(hub: ScriptedHub) -> None:
    block = create_block(hub)
    then, before = hub.now, get_columns(hub, block)
    edit_block(hub, block, EDITS["append"])
    edit_block(hub, block, EDITS["rename"])
    with tenant_scope(hub.tenant.id):
        hub.pass_time(minutes=1)
        bench = plan_roll_back(hub.space, then, "eva", hub.now)
        preview = timeline.preview_changes(bench)
        since = timeline.load_changes_since(hub.space, then, hub.now)
    assert [(c.kind, c.how) for c in preview] == [("coreblock", "changed")]
    assert ("value", "Likes tea.\nKeeps bees.", "Likes tea.") in preview[0].fields
    assert ("label", "human", "person") in since[0].fields
    corrections.roll_back_space(hub.space, then, "eva", hub.now)
    assert get_columns(hub, block) == before


def test_a_roll_back_leaves_shared_blocks_and_names_their_changes(hub: ScriptedHub) -> None:
    block = create_block(hub, shared=True)
    then = hub.now
    event = edit_block(hub, block, EDITS["append"])
    with tenant_scope(hub.tenant.id):
        assert timeline.list_shared_events(hub.space, then) == [event]
        assert timeline.load_changes_since(hub.space, then, hub.now) == []
    hub.pass_time(minutes=1)
    assert corrections.roll_back_space(hub.space, then, "eva", hub.now).events == ()
    assert get_columns(hub, block)["value"] == "Likes tea.\nKeeps bees."
    undo_event(hub, event)  # by itself, it can be
    assert get_columns(hub, block)["value"] == "Likes tea."


def test_a_shared_block_changed_elsewhere_since_is_not_taken_back(hub: ScriptedHub) -> None:
    other = ScriptedHub(hub.tenant, hub.model, hub.embedder, subject="Bea").space
    block = create_block(hub, shared=True)
    event = edit_block(hub, block, EDITS["append"])
    edit_block(hub, block, EDITS["replace"], make_writer(hub, space=other))
    for cascade in (False, True):
        with pytest.raises(Conflict, match="from another space"):
            undo_event(hub, event, cascade=cascade)
    assert get_columns(hub, block)["value"] == "Loves tea.\nKeeps bees."


def test_a_refused_edit_is_no_event(hub: ScriptedHub) -> None:
    block = create_block(hub)
    with tenant_scope(hub.tenant.id):
        before = EvolutionEvent.objects.count()
        with pytest.raises(Exception, match="holds"):
            blocks.append_to_block(make_writer(hub), block.id, "x" * 3000)
        blocks.rethink_block(make_writer(hub), block.id, "Likes tea.")
        assert EvolutionEvent.objects.count() == before


def test_I12_what_an_erased_turn_led_to_is_in_no_revision(hub: ScriptedHub) -> None:
    hub.say("I moved to Zanzibar.")
    block = create_block(hub)
    with tenant_scope(hub.tenant.id):
        turn = Turn.objects.get()
    who = make_writer(hub, "agent", turn_id=turn.id, reason="by its own tool")
    told = edit_block(
        hub, block, lambda w, b: blocks.append_to_block(w, b.id, "Lives in Zanzibar."), who
    )
    last = edit_block(hub, block, EDITS["replace"])
    erase_targets.execute_erasure(hub.space, ErasureTarget("turns", (turn.id,)), "eva", hub.now)
    assert get_columns(hub, block)["value"] == "Likes tea."
    with tenant_scope(hub.tenant.id):
        assert find_tables_with_word("Zanzibar") == []
        shown = Revision.objects.filter(row_id=block.id).order_by("version_after")
        assert [r.version_after for r in shown] == [1, 2, 3, 4]
        assert shown[3].event.kind == "erase"
    for event in (told, last):
        with tenant_scope(hub.tenant.id):
            event.refresh_from_db()
        with pytest.raises(Conflict, match="eras"):
            undo_event(hub, event, cascade=True)


def test_the_portrait_rests_on_the_turns_of_what_it_is_made_of(hub: ScriptedHub) -> None:
    hub.set_policy("balanced", portrait__enabled=True)
    hub.say("I like to try things.")
    with tenant_scope(hub.tenant.id):
        turn, space = Turn.objects.get(), hub.space
        trait = make_trait(space, "openness", "high", turn)
        effective = load_effective_policy(space)
        block = portrait.renew_portrait(space, effective.policy, effective.version, hub.now)
        assert block is not None
        link = Derivation.objects.get(child_id=block.id)
        assert (link.turn_id, link.via_type, link.via_id) == (turn.id, "trait", trait.id)
        event = Revision.objects.get(row_id=block.id).event
        assert (event.kind, event.policy_version) == ("refresh", effective.version)
    erase_targets.execute_erasure(hub.space, ErasureTarget("turns", (turn.id,)), "eva", hub.now)
    with tenant_scope(hub.tenant.id):
        assert find_tables_with_word("try things") == []
        assert not CoreBlock.objects.filter(label="portrait", retired_at=None).exists()
