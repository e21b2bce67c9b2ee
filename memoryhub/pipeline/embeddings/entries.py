"""Index entries made anew from their owners' present text, for whoever has to embed them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID
from zoneinfo import ZoneInfo

from memoryhub.dialogues.queries import load_turns_around
from memoryhub.tenants.models import Space
from notes.history import row_kinds
from notes.index import indexer
from notes.index.indexer import load_event_date_words


def rebuild_entries(
    space: Space, owners: Mapping[str, Collection[UUID]], zone: ZoneInfo
) -> list[indexer.EntryDraft]:
    """The entries of these memories, by kind, made anew. Call inside the tenant's scope."""
    made = list(_rebuild_turn_entries(space, set(owners.get("turn", ())), zone))
    for kind, ids in owners.items():
        if kind != "turn":
            found = row_kinds.get_row_kind(kind).model._default_manager.in_bulk(ids)
            made += row_kinds.build_entries(kind, list(found.values()), zone)
    return made


def _rebuild_turn_entries(
    space: Space, ids: set[UUID], zone: ZoneInfo
) -> Sequence[indexer.EntryDraft]:
    if not ids:
        return []
    turns = load_turns_around(ids, indexer.BEFORE)
    return indexer.build_turn_entries(
        turns,
        space.speakers,
        only=ids,
        zone=zone,
        time_words=load_event_date_words(list(ids), zone),
    )
