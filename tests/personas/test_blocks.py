"""Core blocks: limits, versions, sharing, and whose they are (MemGPT, spec §3, §15.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from memoryhub.errors import Conflict, InvalidInput, MemoryHubError, NotFound
from memoryhub.recall.context import build_context
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.models import EvolutionEvent
from personas import blocks
from personas.blocks import BlockWriter
from personas.models import BlockVersion, CoreBlock
from tests.support.factories import MAY, make_space, make_tenant


@pytest.fixture
def space(db: None) -> Iterator[Space]:
    tenant = make_tenant()
    with tenant_scope(tenant.id):
        yield make_space(tenant, "nora")


@pytest.fixture
def agent(space: Space) -> BlockWriter:
    return BlockWriter("helper", "agent", MAY, space)


def create_block(
    space: Space, value: str = "", *, shared: bool = False, **values: object
) -> CoreBlock:
    at: Any = values.pop("at", MAY)
    person = BlockWriter("ida", "person", at, space)
    given = {"tenant_id": space.tenant_id, "space": None if shared else space} | values
    return blocks.create_block(person, str(given.pop("label", "human")), value, **given)  # type: ignore[arg-type]  # test values


def test_edits_are_versions_with_who_and_what(space: Space, agent: BlockWriter) -> None:
    block = create_block(space, "Nora.")
    blocks.append_to_block(agent, block.id, "Keeps bees.")
    blocks.replace_in_block(agent, block.id, "Nora", "Nora Vos")
    blocks.insert_into_block(agent, block.id, "Lives in Ghent.", 1)
    block = blocks.insert_into_block(agent, block.id, "Likes rye.", -1)
    assert block.value == "Nora Vos.\nLives in Ghent.\nKeeps bees.\nLikes rye."
    block = blocks.rethink_block(agent, block.id, "Nora Vos, beekeeper.")
    assert block.version == 6
    history = list(BlockVersion.objects.filter(block=block))
    assert [each.version for each in history] == [6, 5, 4, 3, 2, 1]
    assert [each.actor for each in history] == ["helper"] * 5 + ["ida"]
    assert history[-1].value == "Nora."


def test_MG7_an_append_over_the_limit_names_both_numbers_and_changes_nothing(
    space: Space, agent: BlockWriter
) -> None:
    block = create_block(space, "x" * 90, char_limit=100)
    with pytest.raises(InvalidInput, match=r"90 of 100 characters and would have 121") as refused:
        blocks.append_to_block(agent, block.id, "y" * 30)
    assert refused.value.extra == {"current": 90, "requested": 121, "limit": 100}
    block.refresh_from_db()
    assert (block.value, block.version) == ("x" * 90, 1)
    assert BlockVersion.objects.count() == 1


@pytest.mark.parametrize(
    ("old", "why"), [("", "empty"), ("wasps", "not in the block"), ("bees", "2 times")]
)
def test_MG8_replacing_nothing_absent_or_ambiguous_words_is_refused(
    space: Space, agent: BlockWriter, old: str, why: str
) -> None:
    block = create_block(space, "bees and bees")
    with pytest.raises(InvalidInput, match=why):
        blocks.replace_in_block(agent, block.id, old, "honey")
    block.refresh_from_db()
    assert (block.value, block.version) == ("bees and bees", 1)


def test_all_of_several_may_be_meant(space: Space, agent: BlockWriter) -> None:
    block = create_block(space, "bees and bees")
    assert (
        blocks.replace_in_block(agent, block.id, "bees", "hens", everywhere=True).value
        == "hens and hens"
    )


def test_MG9_of_two_writers_from_one_version_the_second_gets_the_current_value(
    space: Space,
) -> None:
    other = make_space(space.tenant, "omar")
    shared = create_block(space, "one", shared=True)
    for value in ("two", "three"):
        blocks.rethink_block(BlockWriter("ida", "person", MAY, space), shared.id, value)
    for each in (space, other):
        blocks.attach_block(shared, each)
    seen = {each.id: blocks.get_block_by_label(each, "human").version for each in (space, other)}
    assert set(seen.values()) == {3}
    first = blocks.append_to_block(
        BlockWriter("a", "agent", MAY, space), shared.id, "four", seen[space.id]
    )
    assert first.version == 4
    with pytest.raises(Conflict) as refused:
        blocks.append_to_block(
            BlockWriter("b", "agent", MAY, other), shared.id, "vier", seen[other.id]
        )
    assert refused.value.extra == {"version": 4, "value": "three\nfour"}
    shared.refresh_from_db()
    assert (shared.version, shared.value) == (4, "three\nfour")


def test_shared_blocks_are_seen_where_they_are_attached_and_nowhere_else(space: Space) -> None:
    other = make_space(space.tenant, "omar")
    mine = create_block(space, label="human")
    shared = create_block(space, label="rules", shared=True)
    blocks.attach_block(shared, space)
    blocks.attach_block(shared, space)
    assert blocks.load_visible_blocks(space) == [mine, shared]
    assert blocks.load_visible_blocks(other) == []
    blocks.detach_block(shared, space)
    assert blocks.load_visible_blocks(space) == [mine]
    with pytest.raises(InvalidInput):
        blocks.attach_block(mine, other)


def test_a_block_attached_for_one_agent_stays_out_of_another_s_sight(space: Space) -> None:
    shared = create_block(space, label="rules", shared=True)
    blocks.attach_block(shared, space, agent="planner")
    assert blocks.load_visible_blocks(space, "planner") == [shared]
    assert blocks.load_visible_blocks(space, "tutor") == []
    assert blocks.load_visible_blocks(space) == []


def test_a_context_of_the_past_has_the_words_of_then(space: Space, agent: BlockWriter) -> None:
    def shown(at: datetime) -> list[tuple[str, datetime]]:
        made = build_context(
            space, "Who is she?", as_of=at, now=later + timedelta(days=9), reinforce=False
        )
        return [(item.text, item.occurred_at) for item in made.items("core")]

    block, gone = create_block(space, "Nora."), create_block(space, "Rye.", label="shopping")
    later = MAY + timedelta(days=2)
    hers = replace(agent, now=later)
    blocks.append_to_block(hers, block.id, "Keeps bees.")
    blocks.delete_block(hers, gone.id)
    create_block(space, "New.", label="late", at=later)
    assert shown(MAY - timedelta(days=1)) == []
    assert shown(MAY + timedelta(days=1)) == [("human: Nora.", MAY), ("shopping: Rye.", MAY)]
    assert [text for text, _ in shown(later)] == ["human: Nora.\nKeeps bees.", "late: New."]


def test_an_agents_own_block_comes_before_any_agents(space: Space) -> None:
    anybodys, own = create_block(space), create_block(space, agent="helper")
    assert blocks.get_block_by_label(space, "human", "helper") == own
    assert blocks.get_block_by_label(space, "human", "other") == anybodys
    with pytest.raises(NotFound, match="there are: 'human'"):
        blocks.get_block_by_label(space, "persona")


@pytest.mark.parametrize("closed", ["read_only", "generated"])
def test_agents_edit_no_closed_block(space: Space, agent: BlockWriter, closed: str) -> None:
    block = create_block(space, "fixed", **{closed: True})
    attempts: list[Callable[[], CoreBlock]] = [
        lambda: blocks.append_to_block(agent, block.id, "more"),
        lambda: blocks.replace_in_block(agent, block.id, "fixed", "loose"),
        lambda: blocks.rethink_block(agent, block.id, "loose"),
        lambda: blocks.revise_block(agent, block.id, label="loose"),
        lambda: blocks.delete_block(agent, block.id),
    ]
    for attempt in attempts:
        with pytest.raises(MemoryHubError, match="read-only"):
            attempt()
    block.refresh_from_db()
    assert (block.value, block.version) == ("fixed", 1)


def test_renaming_resizing_and_deleting(space: Space) -> None:
    person = BlockWriter("ida", "person", MAY, space)
    block, other = create_block(space, "12345", label="a"), create_block(space, label="b")
    assert blocks.revise_block(person, block.id, label="c").label == "c"
    with pytest.raises(Conflict):
        blocks.revise_block(person, other.id, label="c")
    with pytest.raises(InvalidInput):
        blocks.revise_block(person, block.id, char_limit=4)
    assert blocks.revise_block(person, block.id, char_limit=5).char_limit == 5
    blocks.delete_block(person, block.id)
    assert blocks.load_visible_blocks(space) == [other]
    assert create_block(space, label="c").version == 1
    with pytest.raises(NotFound):
        blocks.append_to_block(person, block.id, "late")


@pytest.mark.parametrize(
    ("values", "made_new"),
    [
        ({"value": "123456789", "label": "b", "char_limit": 9}, 1),
        ({"value": "12", "label": "a", "char_limit": 2}, 1),
        ({"value": "12345", "label": "a", "char_limit": 5}, 0),
    ],
)
def test_text_label_and_limit_are_one_version_and_one_event(
    space: Space, values: dict[str, Any], made_new: int
) -> None:
    block = create_block(space, "12345", label="a", char_limit=5)
    events = EvolutionEvent.objects.count()
    blocks.revise_block(BlockWriter("ida", "person", MAY, space), block.id, **values)
    block.refresh_from_db()
    assert {name: getattr(block, name) for name in values} == values
    assert block.version == 1 + made_new
    assert EvolutionEvent.objects.count() == events + made_new


def test_a_block_that_an_undoing_left_too_full_can_be_renamed(space: Space) -> None:
    block = create_block(space, "12345", label="a", char_limit=5)
    CoreBlock.objects.filter(id=block.id).update(char_limit=4)
    assert (
        blocks.revise_block(BlockWriter("ida", "person", MAY, space), block.id, label="b").label
        == "b"
    )


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"value": "1234567890", "char_limit": 9}, "value"),
        ({"value": "1234", "char_limit": 3}, "char_limit"),
        ({"value": "12", "char_limit": blocks.MAX_CHAR_LIMIT + 1}, "char_limit"),
        ({"value": "12", "label": " "}, "label"),
    ],
)
def test_of_what_is_refused_nothing_is_written(
    space: Space, values: dict[str, Any], field: str
) -> None:
    block = create_block(space, "12345", label="a", char_limit=5)
    with pytest.raises(InvalidInput) as refused:
        blocks.revise_block(BlockWriter("ida", "person", MAY, space), block.id, **values)
    assert refused.value.field == field
    block.refresh_from_db()
    assert (block.value, block.label, block.char_limit, block.version) == ("12345", "a", 5, 1)


def test_the_first_blocks_are_made_once(space: Space) -> None:
    for _ in range(2):
        made_first = blocks.ensure_default_blocks(space, "helper", 500, MAY)
        assert sorted(block.label for block in made_first) == ["human", "persona"]
    assert {block.char_limit for block in CoreBlock.objects.all()} == {500}
