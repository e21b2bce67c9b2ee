"""Index entries made anew from their owners' present text, for whoever has to embed them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID
from zoneinfo import ZoneInfo

from memoryhub.dialogues.queries import turns_around
from memoryhub.tenants.models import Space
from notes import indexing, registry
from notes.dating import event_words


def entries_of(
    space: Space, owners: Mapping[str, Collection[UUID]], zone: ZoneInfo
) -> list[indexing.Entry]:
    """The entries of these memories, by kind, made anew. Call inside the tenant's scope."""
    made = list(_turn_entries(space, set(owners.get("turn", ())), zone))
    for kind, ids in owners.items():
        if kind != "turn":
            found = registry.kind_of(kind).model._default_manager.in_bulk(ids)
            made += registry.entries_of(kind, list(found.values()), zone)
    return made


def _turn_entries(space: Space, ids: set[UUID], zone: ZoneInfo) -> Sequence[indexing.Entry]:
    if not ids:
        return []
    turns = turns_around(ids, indexing.BEFORE)
    return indexing.turn_entries(
        turns, space.speakers, only=ids, zone=zone, time_words=event_words(list(ids), zone)
    )
