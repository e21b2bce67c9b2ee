"""X13: random operations of every kind; I1 to I12 hold after each (spec §11.3)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from memoryhub.dialogues.models import Turn
from memoryhub.errors import MemoryHubError
from memoryhub.models_in_use import embedder
from memoryhub.pipeline.models import Job
from memoryhub.pipeline.remaking import entries_of
from memoryhub.tenants.models import Space, SpaceModel
from memoryhub.tenants.scope import tenant_scope
from notes import registry
from notes.intervals import counts, overlap, same_place
from notes.models import (
    Derivation,
    EvolutionEvent,
    Fact,
    IndexEntry,
    Link,
    Page,
    Proposal,
    Relation,
    Revision,
)
from notes.recording import values_of
from personas import profiles
from tests.pipeline.world import World
from tests.support.hub import Hub
from tests.support.scan import places_of

Kind = EvolutionEvent.Kind


OPERATIONS: dict[str, Callable[[World], object]] = {
    "say": World.say_anything,
    "promote": World.promote,
    "flush": World.flush,
    "a day passes": World.a_day_passes,
    "archive": World.archive,
    "undo": World.undo,
    "roll back": World.roll_back,
    "correct": World.correct,
    "describe": World.describe,
    "erase": World.erase,
}
# Each run deals all of these, in some order: the mix is even, whatever the order.
DECK = [*["say"] * 4, *["undo", "correct", "ask"] * 2, *(OPERATIONS.keys() - {"say"})]


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
    hub: Hub, seed: int, steps: list[str]
) -> None:
    world = World(hub, seed)
    world.say("lives_in", "Porto", "holds", "s1")
    for step in steps:
        if step == "ask":
            before = state(world)
            world.ask()
            assert changed(before, state(world)) == {}  # I11
        with suppress(MemoryHubError):  # refused: nothing may have changed for the worse
            OPERATIONS.get(step, World.settle)(world)
        world.settle()
        with tenant_scope(world.hub.tenant.id):
            check(world)
    # Enough of every kind was there for the checks to mean something.
    with tenant_scope(world.hub.tenant.id):
        kinds = set(Revision.objects.values_list("row_type", flat=True))
    assert kinds >= {"fact", "note", "segment", "episode", "trait", "relation", "profileattribute"}


def check(world: World) -> None:
    jobs = Job.objects.exclude(error="")
    assert not jobs.exists(), [(job.step, job.error) for job in jobs]
    space = world.space
    unchanged_words(world, space)  # I1
    for kind in registry.kinds():
        if kind.is_derived:
            histories(kind, space)  # I2, I6, I7
        one_space(kind.model, space)  # I8
    relations_follow(space)
    profile_follows(space, world)
    facts = list(Fact.objects.filter(space=space).select_related("supersedes"))
    no_overlap([fact for fact in facts if counts(fact)])  # I4
    for fact in facts:
        ends(fact)  # I5
    for link in Link.objects.filter(space=space, active=True, retired_at=None).select_related(
        "a", "b"
    ):
        assert (link.a.retired_at, link.b.retired_at) == (None, None)
    indexed(space)  # I9
    waiting(space)  # I10
    for word in world.erased:  # I12
        assert places_of(word) == [], word


def state(world: World) -> Any:
    """All that a question must leave as it is."""
    with tenant_scope(world.hub.tenant.id):
        rows = {
            (kind.name, row.pk): values_of(row)
            for kind in registry.kinds()
            for row in kind.model._default_manager.all()
        }
        counted = (EvolutionEvent, Revision, Derivation, Proposal, IndexEntry, Turn, Job)
        return rows, [model.objects.count() for model in counted]


def changed(before: Any, after: Any) -> dict[Any, Any]:
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


def unchanged_words(world: World, space: Space) -> None:
    now = dict(Turn.objects.filter(space=space).values_list("id", "text"))
    for turn, text in world.texts.items():
        assert now[turn] == text
    world.texts = {turn: text for turn, text in now.items() if text}


def histories(kind: registry.RowKind, space: Space) -> None:
    """Every version has its revision, the last of which says what the row is; and a source."""
    rows: list[Any] = list(kind.model._default_manager.filter(space=space))
    revisions: dict[UUID, list[Revision]] = {row.pk: [] for row in rows}
    for revision in (
        Revision.objects.filter(row_type=kind.name, row_id__in=revisions)
        .select_related("event")
        .order_by("version_after")
    ):
        revisions[revision.row_id].append(revision)
    supported = set(
        Derivation.objects.filter(
            child_type=kind.name, child_id__in=revisions, role="support"
        ).values_list("child_id", flat=True)
    )
    for row in rows:
        found = revisions[row.pk]
        if kind.model is Page and not found:
            assert row.version == 1  # as ingestion formed it
            continue
        first = found[0].version_after
        assert first == 1 or kind.model is Page, row
        assert [r.version_after for r in found] == list(range(first, row.version + 1)), row
        assert [r.version_before for r in found[1:]] == [r.version_after for r in found[:-1]], row
        if found[-1].after is not None:  # None: its words were erased
            assert found[-1].after == values_of(row), row
        by_hand = any(r.event.actor != "pipeline" for r in found)
        assert row.pk in supported or by_hand or kind.model is Page, row


def one_space(model: Any, space: Space) -> None:
    for column in model._meta.concrete_fields:
        to = column.related_model
        if isinstance(to, type) and issubclass(to, SpaceModel):
            rows = model._default_manager.filter(space=space, **{f"{column.name}__isnull": False})
            assert not rows.exclude(**{f"{column.name}__space": space}).exists(), column


def relations_follow(space: Space) -> None:
    """I3: a relation says nothing of its own, and goes when its fact is taken back."""
    rows = Relation.objects.filter(space=space).select_related("fact")
    made_back = {f.id for f in Fact.objects.filter(space=space) if _taken_back(f)}
    for relation in rows:
        if relation.fact_id in made_back:
            assert relation.retired_at, relation


def _taken_back(fact: Fact) -> bool:
    """By undoing what made it."""
    if fact.retired_at is None:
        return False
    last = Revision.objects.filter(row_id=fact.id).order_by("-version_after").first()
    return last is not None and last.event.kind == Kind.UNDO and last.event.undo_of is not None


def profile_follows(space: Space, world: World) -> None:
    """I3: a mirrored attribute says what its fact says, and rests on one that holds."""
    now = world.hub.now
    wanted = profiles.sourced(space, now, sensitive=False)
    shown = {a.key: a for a in profiles.attributes(space, now)}
    for key, fact in wanted.items():
        assert key in shown, (key, fact)
        if shown[key].fact_id is not None:
            assert (shown[key].fact_id, shown[key].value) == (fact.id, profiles.said_by(fact))


def ends(fact: Fact) -> None:
    seen = set()
    at: Fact | None = fact
    while at is not None:
        assert at.id not in seen
        seen.add(at.id)
        before = at.supersedes
        assert before is None or before.recorded_at <= at.recorded_at
        at = before


def no_overlap(facts: list[Fact]) -> None:
    for n, one in enumerate(facts):
        for other in facts[n + 1 :]:
            if same_place(one, other):
                assert not overlap(one, other), (one, other)


def indexed(space: Space) -> None:
    """What is live has its entries, with the hash of its present text; nothing else is found."""
    owners = {
        kind.name: {
            row.pk
            for row in kind.model._default_manager.filter(space=space)
            if not getattr(row, "retired_at", None) and not _withheld(row)
        }
        for kind in registry.kinds()
        if kind.entries is not None
    }
    said = Turn.objects.filter(space=space, state=Turn.State.PROCESSED).exclude(text="")
    owners["turn"] = set(said.values_list("id", flat=True))
    wanted = {
        (e.kind, e.owner_id, e.chunk): e.text_hash
        for e in entries_of(space, owners, ZoneInfo("UTC"))
    }
    rows = IndexEntry.objects.filter(space=space, model=embedder().name)
    held = {(e.kind, e.owner_id, e.chunk): e.text_hash for e in rows}
    assert wanted.keys() <= held.keys(), _named(set(wanted) - set(held))
    assert {k for k in wanted if wanted[k] != held[k]} == set()
    reworded = {("fact", f.id) for f in Fact.objects.filter(space=space).exclude(retired_at=None)}
    left = {k for k in held if k not in wanted and k[:2] not in reworded}
    assert left == set(), _named(left)


def _withheld(row: Any) -> bool:
    """Its words were erased, and are still to be written anew."""
    return bool(getattr(row, "stale", False)) and not registry_text(row)


def registry_text(row: Any) -> str:
    texts = registry.kind_of(row._meta.model_name).texts
    return "".join(str(getattr(row, name) or "") for name in texts if name != "details")


def _named(keys: set[Any]) -> list[Any]:
    known = {kind.name: kind.model for kind in registry.kinds()}
    return [
        (k, (r := known[k[0]]._default_manager.filter(pk=k[1]).first()) and values_of(r))
        for k in keys
        if k[0] in known
    ]


def waiting(space: Space) -> None:
    """I10: what is not read yet is in the short-term queue."""
    pending = Turn.objects.filter(space=space, state__in=("pending", "failed"))
    for turn in pending:
        for page in Page.objects.filter(
            session=turn.session_id, first_seq__lte=turn.seq, last_seq__gte=turn.seq
        ):
            assert page.tier == Page.Tier.SHORT
