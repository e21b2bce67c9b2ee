"""mem0: what `get_all` returns in its v1, v1.1 and v2 shapes, of the platform and of the library,
its relations, and rows of `history`.

An array of memories, `{"results": […], "relations": […]}`, or JSON lines. Rows of history (they
have a `memory_id` and an `event`) are put together to the versions of their memory; OSS rows say
not whose they are, unless the memories stand in the same file.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from typing import Any

from django.utils.dateparse import parse_date
from django.utils.translation import gettext_noop as _

from memoryhub.importers import fields
from memoryhub.importers.fields import Refused
from memoryhub.importers.records import Memory, Record, Skipped, Triple, Unknown, Version
from memoryhub.importers.sources.base import Items, guarded
from memoryhub.importers.streaming import Item

Row = tuple[str, Mapping[str, Any]]
SECTIONS = ("results", "memories", "relations", "history")
_PAGING = {"count", "next", "previous", "page", "page_size", "total"}
_OF_MEMORY = {
    *("id", "memory", "text", "data", "hash", "metadata", "categories", "created_at"),
    *("updated_at", "user_id", "agent_id", "app_id", "run_id", "session_id", "actor_id", "role"),
    *("expiration_date", "immutable", "score", "score_breakdown", "replaced_by", "synthesized"),
    *("lifecycle_state", "owner", "organization", "event"),
}
_OF_RELATION = {"source", "relationship", "relation", "target", "destination", "user_id"}
_OF_RELATION |= {"source_type", "target_type", "destination_type", "source_id", "score"}
_OF_HISTORY = {
    *("id", "memory_id", "input", "old_memory", "new_memory", "user_id", "event", "metadata"),
    *("created_at", "updated_at", "categories", "is_deleted", "actor_id", "role"),
}


@dataclass
class _Told:
    """Rows of history by memory, and whose memories are in the file."""

    rows: dict[str, list[Row]] = field(default_factory=dict)
    subjects: dict[str, str] = field(default_factory=dict)

    @property
    def only_subject(self) -> str:
        known = set(self.subjects.values())
        return known.pop() if len(known) == 1 else ""


def read(items: Items) -> Iterator[Record]:
    """Twice through the file: the history comes with its memory, wherever it stands."""
    told = _Told()
    for item in items():
        if _is_history(item):
            yield from guarded(item, lambda item: _keep_row(item, told), "fact")
    late: list[Item] = []
    for item in items():
        if item.section == "relations":
            late.append(item)
        elif not _is_history(item):
            yield from guarded(item, lambda item: _memory(item, told), "fact")
    for memory_id, rows in told.rows.items():
        yield from _history(memory_id, rows, told)
    for item in late:
        yield from guarded(item, lambda item: _relation(item, told), "fact")


def _is_history(item: Item) -> bool:
    value = item.value
    return item.section == "history" or (
        isinstance(value, dict) and "memory_id" in value and "event" in value
    )


def _memory(item: Item, told: _Told) -> Iterator[Record]:
    if item.section and item.section not in SECTIONS:
        if item.section not in _PAGING:
            yield Unknown((item.section,))
        return
    value = fields.as_object(item.value)
    memory_id = fields.name_of(value, "id")
    subject = _subject(value)
    said_at = fields.time_of(value, "created_at")
    replaced = fields.name_of(value, "replaced_by")
    until = _until(value) or (fields.time_of(value, "updated_at") if replaced else None)
    said = [step for step in _steps(told.rows.pop(memory_id, [])) if step.text]
    yield Memory(
        where=item.where,
        subject=subject,
        id=memory_id,
        text=fields.text(value, "memory", "text", "data"),
        said_at=said_at or fields.time_of(value, "updated_at"),
        valid_from=said[-1].at if len(said) > 1 else None,
        valid_to=until,
        speaker=fields.name_of(value, "actor_id", most=120),
        pinned=bool(value.get("immutable")),
        metadata=fields.metadata_of(value, "metadata"),
        origin=_origin(value),
        earlier=_earlier(said),
    )
    told.subjects[memory_id] = subject
    if left := fields.unknown(value, _OF_MEMORY):
        yield Unknown(left)


def _subject(value: Mapping[str, Any]) -> str:
    """As the hub's mem0 wire has it: a user, else what else the memory is about."""
    if user := fields.name_of(value, "user_id"):
        return user
    for kind in ("agent", "app", "run"):
        if name := fields.name_of(value, f"{kind}_id", most=190):
            return f"{kind}:{name}"
    return ""


def _until(value: Mapping[str, Any]) -> datetime | None:
    """The end of the last day on which it holds, or the moment given."""
    given = value.get("expiration_date")
    try:
        day = parse_date(given) if isinstance(given, str) else None
    except ValueError:
        day = None
    if day is not None and day.year < 9999:
        return datetime.combine(day + timedelta(days=1), time(), UTC)
    return fields.time_of(value, "expiration_date")


def _origin(value: Mapping[str, Any]) -> dict[str, Any]:
    """Who and what it was kept under, by mem0's names."""
    names = ("agent_id", "app_id", "run_id", "role")
    kept: dict[str, Any] = {name: fields.name_of(value, name) for name in names}
    kept["categories"] = value.get("categories") or []
    return {name: each for name, each in kept.items() if each}


def _keep_row(item: Item, told: _Told) -> Iterator[Record]:
    value = fields.as_object(item.value)
    memory_id = fields.name_of(value, "memory_id")
    if not memory_id:
        raise Refused(_("no memory_id"))
    told.rows.setdefault(memory_id, []).append((item.where, value))
    if left := fields.unknown(value, _OF_HISTORY):
        yield Unknown(left)


def _history(memory_id: str, rows: list[Row], told: _Told) -> Iterator[Record]:
    """A memory that stands nowhere but in its history."""
    where = rows[0][0]
    try:
        yield _put_together(where, memory_id, rows, told)
    except Refused as error:
        yield Skipped(where, str(error), "fact", memory_id)


@dataclass(frozen=True, slots=True)
class _Step:
    """What a memory says from `at` on; "": it was deleted."""

    at: datetime
    text: str


def _steps(rows: list[Row]) -> list[_Step]:
    """In the order of time. The library tells no time of a deletion: it came last."""
    found: list[_Step] = []
    gone = False
    for __, value in rows:
        event = fields.name_of(value, "event").upper()
        if event not in ("ADD", "UPDATE", "DELETE"):
            raise Refused(f"event: {event or 'none'} is none of ADD, UPDATE, DELETE")
        names = ("created_at", "updated_at") if event == "ADD" else ("updated_at", "created_at")
        at = fields.time_of(value, *names)
        gone = gone or (at is None and event == "DELETE")
        if at is not None:
            found.append(_Step(at, "" if event == "DELETE" else fields.text(value, "new_memory")))
        elif event != "DELETE":
            raise Refused(_("no created_at"))
    found.sort(key=lambda step: step.at)
    return [*found, _Step(found[-1].at, "")] if gone and found else found


def _earlier(said: list[_Step]) -> list[Version]:
    """All but the last."""
    following = itertools.pairwise(said)
    return [Version(one.text, one.at, two.at) for one, two in following if two.at > one.at]


def _put_together(where: str, memory_id: str, rows: list[Row], told: _Told) -> Memory:
    steps, last = _steps(rows), rows[-1][1]
    said = [step for step in steps if step.text]
    if not said:
        raise Refused(_("deleted, and nothing tells what it said"))
    return Memory(
        where=where,
        subject=_subject(last) or told.subjects.get(memory_id, ""),
        id=memory_id,
        text=said[-1].text,
        said_at=said[-1].at,
        valid_to=None if steps[-1].text else steps[-1].at,
        speaker=fields.name_of(last, "actor_id", most=120),
        metadata=fields.metadata_of(last, "metadata"),
        earlier=_earlier(said),
    )


def _relation(item: Item, told: _Told) -> Iterator[Record]:
    value = fields.as_object(item.value)
    source = fields.text(value, "source")
    label = fields.text(value, "relationship", "relation")
    target = fields.text(value, "target", "destination")
    said = " ".join([source, label, target]).replace("_", " ")
    types = (
        fields.name_of(value, "source_type", most=20),
        fields.name_of(value, "target_type", "destination_type", most=20),
    )
    yield Memory(
        where=item.where,
        subject=fields.name_of(value, "user_id") or told.only_subject,
        id=f"{source}|{label}|{target}"[: fields.MOST_ID],
        text=said,
        triples=(Triple(source, label, target, *types),),
    )
    if left := fields.unknown(value, _OF_RELATION):
        yield Unknown(left)
