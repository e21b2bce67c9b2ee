"""X13: random operations of every kind; I1 to I12 hold after each (spec §11.3)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from memoryhub.dialogues.models import Turn
from memoryhub.errors import MemoryHubError
from memoryhub.inference.selection import get_configured_embedder
from memoryhub.pipeline.models import Job
from memoryhub.tenants.models import Space, SpaceModel
from memoryhub.tenants.scope import tenant_scope
from notes.facts.intervals import are_rivals, has_overlap, is_claim_held
from notes.history import row_kinds
from notes.history.change_set import serialize_row
from notes.history.row_kinds import rebuild_entries
from notes.models import (
    Derivation,
    EvolutionEvent,
    Fact,
    IndexEntry,
    Page,
    Proposal,
    Revision,
)
from personas import profile
from personas.models import CoreBlock, ProfileAttribute, Trait
from tests.pipeline.random_world import RandomWorld
from tests.support.database_scan import find_tables_with_words
from tests.support.hub import ScriptedHub

Kind = EvolutionEvent.Kind


OPERATIONS: dict[str, Callable[[RandomWorld], object]] = {
    "say": RandomWorld.say_anything,
    "promote": RandomWorld.promote_segments,
    "flush": RandomWorld.flush_window,
    "a day passes": RandomWorld.let_days_pass,
    "archive": RandomWorld.archive_passage,
    "undo": RandomWorld.undo_any_event,
    "roll back": RandomWorld.roll_back,
    "correct": RandomWorld.correct_any_fact,
    "describe": RandomWorld.describe_person,
    "edit block": RandomWorld.edit_block,
    "erase": RandomWorld.erase_any_turn,
}
# Each run deals all of these, in some order: the mix is even, whatever the order.
DECK = [*["say"] * 4, *["undo", "correct", "ask", "edit block"] * 2, *(OPERATIONS.keys() - {"say"})]


@pytest.mark.django_db
@settings(
    max_examples=4,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(st.integers(0, 10**9), st.permutations(sorted(DECK)))
def test_X13_X12_invariants_hold_after_any_operations(
    hub: ScriptedHub, seed: int, steps: list[str]
) -> None:
    world = RandomWorld(hub, seed)
    world.say("lives_in", "Porto", "now", "s1")
    for step in steps:
        if step == "ask":
            before = get_state(world)
            world.ask_anything()
            assert find_differences(before, get_state(world)) == {}  # I11
        with suppress(MemoryHubError):  # refused: nothing may have changed for the worse
            OPERATIONS.get(step, RandomWorld.run_due_jobs)(world)
        world.run_due_jobs()
        with tenant_scope(world.hub.tenant.id):
            check_invariants(world)
    # Enough of every kind was there for the checks to mean something.
    with tenant_scope(world.hub.tenant.id):
        kinds = set(Revision.objects.values_list("row_type", flat=True))
    assert kinds >= {"fact", "note", "segment", "episode", "trait", "relation", "coreblock"}
    assert "profileattribute" in kinds


@dataclass
class HeldRows:
    """All that a space holds, read once a check: a statement a kind."""

    space: Space
    rows: dict[str, list[Any]]
    revisions: dict[UUID, list[Revision]]
    supported: set[UUID]
    ids: dict[type[Any], set[UUID]] = field(default_factory=dict)

    def ids_of(self, model: type[Any]) -> set[UUID]:
        if model not in self.ids:
            rows = model._default_manager.filter(space=self.space)
            self.ids[model] = set(rows.values_list("pk", flat=True))
        return self.ids[model]


def load_held_rows(space: Space) -> HeldRows:
    """The rows, the revisions of each by version, and which of them have a support."""
    kinds = row_kinds.list_row_kinds()
    rows = {kind.name: list(kind.model._default_manager.filter(space=space)) for kind in kinds}
    revisions: dict[UUID, list[Revision]] = defaultdict(list)
    told = Revision.objects.filter(space=space).select_related("event")
    for revision in told.order_by("version_after"):
        revisions[revision.row_id].append(revision)
    support = Derivation.objects.filter(space=space, role="support")
    supported = set(support.values_list("child_id", flat=True))
    ids = {kind.model: {row.pk for row in rows[kind.name]} for kind in kinds}
    return HeldRows(space, rows, revisions, supported, dict(ids))


def check_invariants(world: RandomWorld) -> None:
    jobs = Job.objects.exclude(error="")
    assert not jobs.exists(), [(job.step, job.error) for job in jobs]
    space = world.space
    held = load_held_rows(space)
    check_words_unchanged(world, space)  # I1
    for kind in row_kinds.list_row_kinds():
        if kind.is_derived:
            check_histories(kind, held)  # I2, I6, I7
        check_one_space(kind, held)  # I8
    check_block_versions()
    check_relations_follow(held)
    check_profile_follows(space, world)
    facts: list[Fact] = held.rows["fact"]
    check_no_overlap([fact for fact in facts if is_claim_held(fact)])  # I4
    for fact in facts:
        check_end(fact, {each.id: each for each in facts})  # I5
    notes = {note.id: note for note in held.rows["note"]}
    for link in held.rows["link"]:
        if link.active and link.retired_at is None:
            assert (notes[link.a_id].retired_at, notes[link.b_id].retired_at) == (None, None)
    check_index(held)  # I9
    check_unread_tier(space)  # I10
    if world.erased:  # I12
        assert find_tables_with_words(world.erased) == [], world.erased


def get_state(world: RandomWorld) -> Any:
    """All that a question must leave as it is."""
    with tenant_scope(world.hub.tenant.id):
        rows = {
            (kind.name, row.pk): serialize_row(row)
            for kind in row_kinds.list_row_kinds()
            for row in kind.model._default_manager.all()
        }
        counted = (EvolutionEvent, Revision, Derivation, Proposal, IndexEntry, Turn, Job)
        return rows, [model.objects.count() for model in counted]


def find_differences(before: Any, after: Any) -> dict[Any, Any]:
    """What differs. A memory that had faded may come back, as an event with a revision each:
    that is what a deep search is for (MB6)."""
    rows, counts = before
    now, counted = after
    found: dict[Any, Any] = {}
    woken = 0
    for key in rows.keys() | now.keys():
        was, is_now = rows.get(key, {}), now.get(key, {})
        names = {n for n in was.keys() | is_now.keys() if was.get(n) != is_now.get(n)}
        if names == {"visibility", "version"} and is_now["visibility"] == "active":
            woken += 1
        elif names:
            found[key] = {name: (was.get(name), is_now.get(name)) for name in names}
    if counted != [counts[0] + bool(woken), counts[1] + woken, *counts[2:]]:
        found["counts"] = counts, counted
    return found


def check_words_unchanged(world: RandomWorld, space: Space) -> None:
    now = dict(Turn.objects.filter(space=space).values_list("id", "text"))
    for turn, text in world.texts.items():
        assert now[turn] == text
    world.texts = {turn: text for turn, text in now.items() if text}


def check_histories(kind: row_kinds.RowKind, held: HeldRows) -> None:
    """Every version has its revision, the last of which says what the row is; and a source."""
    for row in held.rows[kind.name]:
        found = held.revisions[row.pk]
        if kind.model is Page and not found:
            assert row.version == 1  # as ingestion formed it
            continue
        first = found[0].version_after
        assert first == 1 or kind.model is Page, row
        assert [r.version_after for r in found] == list(range(first, row.version + 1)), row
        assert [r.version_before for r in found[1:]] == [r.version_after for r in found[:-1]], row
        if found[-1].after is not None:  # None: its words were erased
            assert found[-1].after == serialize_row(row), row
        by_hand = any(r.event.actor != "pipeline" for r in found)
        assert row.pk in held.supported or by_hand or kind.model is Page or rests_on_hand(row), row


def check_block_versions() -> None:
    """Shared ones too, whose events are in the history of whoever wrote."""
    for block in CoreBlock.objects.prefetch_related("versions"):
        told = {version.version: version.value for version in block.versions.all()}
        assert sorted(told) == list(range(1, block.version + 1)), block
        assert told[block.version] == block.value, block
        revisions = Revision.objects.filter(row_id=block.id).order_by("version_after")
        assert [r.version_after for r in revisions] == sorted(told), block
        assert all(
            (r.after or {}).get("value", "") in (told[r.version_after], "") for r in revisions
        )


def rests_on_hand(row: Any) -> bool:
    """A portrait of nothing but what a person said of the persona."""
    if not isinstance(row, CoreBlock):
        return False
    parts = [
        *Trait.objects.filter(space=row.space_id),
        *ProfileAttribute.objects.filter(space=row.space_id),
    ]
    support = Derivation.objects.filter(role="support", child_id__in=[p.id for p in parts])
    return not support.exists()


def check_one_space(kind: row_kinds.RowKind, held: HeldRows) -> None:
    for column in kind.model._meta.concrete_fields:
        to = column.related_model
        if isinstance(to, type) and issubclass(to, SpaceModel):
            pointed = {getattr(row, column.attname) for row in held.rows[kind.name]} - {None}
            assert pointed <= held.ids_of(to), column


def check_relations_follow(held: HeldRows) -> None:
    """I3: a relation says nothing of its own, and goes when its fact is taken back."""
    taken_back = {fact.id for fact in held.rows["fact"] if _is_undone(fact, held)}
    for relation in held.rows["relation"]:
        if relation.fact_id in taken_back:
            assert relation.retired_at, relation


def _is_undone(fact: Fact, held: HeldRows) -> bool:
    """By undoing what made it."""
    if fact.retired_at is None:
        return False
    last = held.revisions[fact.id][-1:]
    return any(r.event.kind == Kind.UNDO and r.event.undo_of_id is not None for r in last)


def check_profile_follows(space: Space, world: RandomWorld) -> None:
    """I3: a mirrored attribute says what its fact says, and rests on one that holds."""
    now = world.hub.now
    wanted = profile.find_source_facts(space, now, sensitive=False)
    shown = {a.key: a for a in profile.load_profile(space, now)}
    for key, fact in wanted.items():
        assert key in shown, (key, fact)
        if shown[key].fact_id is not None:
            assert (shown[key].fact_id, shown[key].value) == (
                fact.id,
                profile.read_fact_value(fact),
            )


def check_end(fact: Fact, known: dict[UUID, Fact]) -> None:
    seen = set()
    at: Fact | None = fact
    while at is not None:
        assert at.id not in seen
        seen.add(at.id)
        before = known[at.supersedes_id] if at.supersedes_id else None
        assert before is None or before.recorded_at <= at.recorded_at
        at = before


def check_no_overlap(facts: list[Fact]) -> None:
    for n, one in enumerate(facts):
        for other in facts[n + 1 :]:
            if are_rivals(one, other):
                assert not has_overlap(one, other), (one, other)


def check_index(held: HeldRows) -> None:
    """What is live has its entries, with the hash of its present text; nothing else is found."""
    space = held.space
    owners = {
        kind.name: {
            row.pk
            for row in held.rows[kind.name]
            if not getattr(row, "retired_at", None) and not _is_awaiting_text(row)
        }
        for kind in row_kinds.list_row_kinds()
        if kind.entries is not None
    }
    said = Turn.objects.filter(space=space, state=Turn.State.PROCESSED).exclude(text="")
    owners["turn"] = set(said.values_list("id", flat=True))
    wanted = {
        (e.kind, e.owner_id, e.chunk): e.text_hash
        for e in rebuild_entries(space, owners, ZoneInfo("UTC"))
    }
    rows = IndexEntry.objects.filter(space=space, model=get_configured_embedder().name)
    found = {(e.kind, e.owner_id, e.chunk): e.text_hash for e in rows}
    assert wanted.keys() <= found.keys(), _list_named_rows(set(wanted) - set(found))
    assert {k for k in wanted if wanted[k] != found[k]} == set()
    reworded = {("fact", f.id) for f in held.rows["fact"] if f.retired_at}
    left = {k for k in found if k not in wanted and k[:2] not in reworded}
    assert left == set(), _list_named_rows(left)


def _is_awaiting_text(row: Any) -> bool:
    """Its words were erased, and are still to be written anew."""
    return bool(getattr(row, "stale", False)) and not get_registry_text(row)


def get_registry_text(row: Any) -> str:
    texts = row_kinds.get_row_kind(row._meta.model_name).texts
    return "".join(str(getattr(row, name) or "") for name in texts if name != "details")


def _list_named_rows(keys: set[Any]) -> list[Any]:
    known = {kind.name: kind.model for kind in row_kinds.list_row_kinds()}
    return [
        (k, (r := known[k[0]]._default_manager.filter(pk=k[1]).first()) and serialize_row(r))
        for k in keys
        if k[0] in known
    ]


def check_unread_tier(space: Space) -> None:
    """I10: what is not read yet is in the short-term queue."""
    pending = Turn.objects.filter(space=space, state__in=("pending", "failed"))
    for turn in pending:
        for page in Page.objects.filter(
            session=turn.session_id, first_seq__lte=turn.seq, last_seq__gte=turn.seq
        ):
            assert page.tier == Page.Tier.SHORT
