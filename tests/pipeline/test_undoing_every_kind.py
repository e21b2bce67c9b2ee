"""Undo (spec §11.8) of every kind of row: undone bit for bit, redone bit for bit, index and all."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings

from memoryhub.dialogues.formats import read_dialogues
from memoryhub.errors import Conflict
from memoryhub.pipeline.corrections import undo_event
from memoryhub.pipeline.ingest.services import IngestRequest, ingest_messages
from memoryhub.pipeline.jobs.runner import drain_space
from memoryhub.pipeline.steps import promotion
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant
from notes.history import row_kinds
from notes.history.change_set import serialize_row
from notes.history.unit_of_work import RowKey, load_event_standing
from notes.models import Derivation, EvolutionEvent, IndexEntry, Revision
from personas import blocks, profile, traits
from personas.blocks import BlockWriter
from personas.models import ProfileAttribute

DEMO = Path(settings.BASE_DIR) / "memoryhub/demo/dialogues/ana.jsonl"
Rows = dict[RowKey, dict[str, Any]]
EVERY_KIND = {
    "fact", "entity", "relation", "note", "link", "page", "chain", "segment", "segmentpage",
    "episode", "trait", "profileattribute", "coreblock",
}  # fmt: skip


def live_through_demo() -> tuple[Space, datetime]:
    """Two sessions of the demo through every step, and what persons and agents write beside."""
    tenant = create_tenant("One", "one")
    (conversation,) = read_dialogues(DEMO, "jsonl")
    for session in conversation.sessions[:2]:
        now = max(m.timestamp for m in session.messages if m.timestamp) + timedelta(days=1)
        request = IngestRequest(conversation.subject, session.messages, session.name)
        space = ingest_messages(tenant.id, request, now).space
        drain_space(tenant.id, space.id, now)
    with tenant_scope(tenant.id):
        writer = BlockWriter("helper", "agent", now, space)
        block = blocks.create_block(writer, "plans", "Sail.", tenant_id=tenant.id, space=space)
        blocks.append_to_block(writer, block.id, "Rope.")
        traits.correct_trait(space, "music", "low", "ida", now)
        traits.correct_trait(space, "music", "high", "ida", now)
        profile.write_attribute(space, "hobby", "sailing", "ida", now)
    return space, now


def list_mirrored(space: Space) -> list[UUID]:
    """Attributes of the profile that say what a fact says: they follow it at once, whatever is
    undone (I3), and an event of theirs alone can't be undone."""
    mirrored = ProfileAttribute.objects.filter(space=space).exclude(fact=None)
    return list(mirrored.values_list("id", flat=True))


def list_rows(space: Space) -> Rows:
    """Every row with all its columns but the version, which only rises."""
    mirrored = set(list_mirrored(space))
    return {
        (kind.name, row.pk): serialize_row(row) | {"version": None}
        for kind in row_kinds.list_row_kinds()
        for row in kind.model._default_manager.filter(space=space)
        if row.pk not in mirrored
    }


def list_index_entries(space: Space) -> set[tuple[str, UUID, int, str]]:
    """Entries of memories; a vector each, or the test's embedder was not asked."""
    entries = IndexEntry.objects.filter(space=space).exclude(kind="turn")
    entries = entries.exclude(owner_id__in=list_mirrored(space))
    assert not entries.filter(embedding=None).exists()
    return set(entries.values_list("kind", "owner_id", "chunk", "text_hash"))


def list_support(space: Space) -> set[tuple[UUID, UUID, UUID]]:
    """(row, turn, the event that brought it) of all that counts as support."""
    links = Derivation.objects.filter(space=space, role=Derivation.Role.SUPPORT)
    links = links.exclude(child_id__in=list_mirrored(space))
    return set(links.values_list("child_id", "turn_id", "event_id"))


def list_support_before(event: EvolutionEvent, support: set[tuple[UUID, UUID, UUID]]) -> Any:
    """Without what the event had brought to rows that were there before it."""
    made = set(
        Revision.objects.filter(event=event, version_before=None).values_list("row_id", flat=True)
    )
    return {s for s in support if s[2] != event.id or s[0] in made}


def compute_rows_before(event: EvolutionEvent, rows: Rows, now: datetime) -> Rows:
    """What undoing it must come to, told from its revisions: what it changed is as it was, what
    it made is retired, what it only recorded is gone. Every other row stays."""
    wanted = dict(rows)
    revisions = Revision.objects.filter(event=event).order_by("-version_after")
    for revision in revisions:
        key = (revision.row_type, revision.row_id)
        if revision.before is not None:
            wanted[key] = revision.before | {"version": None}
        elif row_kinds.get_row_kind(revision.row_type).is_derived:
            wanted[key] = wanted[key] | {"retired_at": _format_time(now)}
            if revision.row_type == "link":
                wanted[key]["active"] = False
        else:
            del wanted[key]
    gone = {k[1] for k, row in wanted.items() if k[0] == "note" and row["retired_at"]}
    for (kind, _), row in wanted.items():  # links of a retired note are let go
        if kind == "link" and gone & {UUID(str(row["a_id"])), UUID(str(row["b_id"]))}:
            row["active"] = False
    return wanted


def _format_time(now: datetime) -> Any:
    return serialize_row(EvolutionEvent(created_at=now))["created_at"]


@pytest.mark.django_db
def test_X8_every_event_is_undone_and_redone_bit_for_bit() -> None:
    """From the newest to the oldest, so that nothing stands in the way of any."""
    space, now = live_through_demo()
    with tenant_scope(space.tenant_id):
        made = EvolutionEvent.objects.filter(space=space).exclude(kind="undo")
        events = list(made.exclude(trigger=promotion.MIRROR_TRIGGER))
        kinds = set(Revision.objects.filter(space=space).values_list("row_type", flat=True))
    assert kinds >= EVERY_KIND
    withdrawn = 0
    while events:
        event = events.pop(_find_last_free_event(events))
        now += timedelta(minutes=1)
        with tenant_scope(space.tenant_id):
            held, found, support = list_rows(space), list_index_entries(space), list_support(space)
            supported = list_support_before(event, support)
            withdrawn += len(support - supported)
            wanted = compute_rows_before(event, {key: dict(row) for key, row in held.items()}, now)
        undone = undo_event(event, "eva", now).event
        with tenant_scope(space.tenant_id):
            assert _find_differences(list_rows(space), wanted) == {}, event
            assert list_support(space) == supported
        with pytest.raises(Conflict) as refused:
            undo_event(event, "eva", now)
        assert refused.value.code == "already_undone"
        redone = undo_event(undone, "eva", now + timedelta(seconds=1)).event
        with tenant_scope(space.tenant_id):
            assert _find_differences(list_rows(space), held) == {}, event
            assert list_index_entries(space) == found, event
            assert list_support(space) == support
            assert load_event_standing(space).is_standing(event.id)
        undo_event(redone, "eva", now + timedelta(seconds=2))
    assert withdrawn


def _find_last_free_event(events: list[EvolutionEvent]) -> int:
    """The place of one with no later event on its rows: those of one moment have no order."""
    left = {event.id for event in events}
    newest: dict[UUID, int] = {}
    versions: list[tuple[UUID, UUID, int]] = []
    space = events[0].space_id
    with tenant_scope(events[0].tenant_id):
        rows = Revision.objects.filter(space=space, event__in=left)
        versions += rows.values_list("event_id", "row_id", "version_after")
    for _, row, version in versions:
        newest[row] = max(version, newest.get(row, 0))
    blocked = {event for event, row, version in versions if version < newest[row]}
    free = [n for n, event in enumerate(events) if event.id not in blocked]
    return max(free, key=lambda n: (events[n].created_at, events[n].id))


def _find_differences(now: Rows, wanted: Rows) -> dict[RowKey, Any]:
    """Columns that are not as wanted: (is, should be)."""
    return {
        key: {
            name: (now.get(key, {}).get(name), wanted.get(key, {}).get(name))
            for name in {**now.get(key, {}), **wanted.get(key, {})}
            if now.get(key, {}).get(name) != wanted.get(key, {}).get(name)
        }
        for key in now.keys() | wanted.keys()
        if now.get(key) != wanted.get(key)
    }
