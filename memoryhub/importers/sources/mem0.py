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
from memoryhub.importers.fields import ItemRefused, OpenItems, read_or_skip
from memoryhub.importers.json_stream import JsonItem
from memoryhub.importers.records import (
    MemoryRecord,
    PastVersion,
    Record,
    RelationTriple,
    SkippedRecord,
    UnknownFields,
)

HistoryRow = tuple[str, Mapping[str, Any]]
SECTIONS = ("results", "memories", "relations", "history")
_PAGING_FIELDS = {"count", "next", "previous", "page", "page_size", "total"}
_MEMORY_FIELDS = {
    *("id", "memory", "text", "data", "hash", "metadata", "categories", "created_at"),
    *("updated_at", "user_id", "agent_id", "app_id", "run_id", "session_id", "actor_id", "role"),
    *("expiration_date", "immutable", "score", "score_breakdown", "replaced_by", "synthesized"),
    *("lifecycle_state", "owner", "organization", "event"),
}
_RELATION_FIELDS = {"source", "relationship", "relation", "target", "destination", "user_id"}
_RELATION_FIELDS |= {"source_type", "target_type", "destination_type", "source_id", "score"}
_HISTORY_FIELDS = {
    *("id", "memory_id", "input", "old_memory", "new_memory", "user_id", "event", "metadata"),
    *("created_at", "updated_at", "categories", "is_deleted", "actor_id", "role"),
}


@dataclass
class _HistoryIndex:
    """Rows of history by memory, and whose memories are in the file."""

    rows: dict[str, list[HistoryRow]] = field(default_factory=dict)
    subjects: dict[str, str] = field(default_factory=dict)

    @property
    def only_subject(self) -> str:
        known = set(self.subjects.values())
        return known.pop() if len(known) == 1 else ""


def recognises(item: JsonItem) -> bool:
    keys = fields.get_keys(item.value)
    return (
        "memory" in keys
        or ("data" in keys and "hash" in keys)
        or ("memory_id" in keys and "event" in keys)
        or (item.section == "relations" and "relationship" in keys)
    )


def read_records(items: OpenItems) -> Iterator[Record]:
    """Twice through the file: the history comes with its memory, wherever it stands."""
    told = _HistoryIndex()
    for item in items():
        if _is_history(item):
            yield from read_or_skip(item, lambda item: _collect_history_row(item, told), "fact")
    late: list[JsonItem] = []
    for item in items():
        if item.section == "relations":
            late.append(item)
        elif not _is_history(item):
            yield from read_or_skip(item, lambda item: _read_memory(item, told), "fact")
    for memory_id, rows in told.rows.items():  # of memories that stand nowhere else
        try:
            yield _build_memory_from_history(memory_id, rows, told)
        except ItemRefused as error:
            yield SkippedRecord(rows[0][0], str(error), "fact", memory_id)
    for item in late:
        yield from read_or_skip(item, lambda item: _read_relation(item, told), "fact")


def _is_history(item: JsonItem) -> bool:
    value = item.value
    return item.section == "history" or (
        isinstance(value, dict) and "memory_id" in value and "event" in value
    )


def _read_memory(item: JsonItem, told: _HistoryIndex) -> Iterator[Record]:
    if item.section and item.section not in SECTIONS:
        if item.section not in _PAGING_FIELDS:
            yield UnknownFields((item.section,))
        return
    value = fields.read_object(item.value)
    memory_id = fields.read_short_text(value, "id")
    subject = _read_subject(value)
    said_at = fields.read_time(value, "created_at")
    replaced = fields.read_short_text(value, "replaced_by")
    until = _read_expiry(value) or (fields.read_time(value, "updated_at") if replaced else None)
    said = [step for step in _build_history_steps(told.rows.pop(memory_id, [])) if step.text]
    yield MemoryRecord(
        where=item.where,
        subject=subject,
        id=memory_id,
        text=fields.read_text(value, "memory", "text", "data"),
        said_at=said_at or fields.read_time(value, "updated_at"),
        valid_from=said[-1].at if len(said) > 1 else None,
        valid_to=until,
        speaker=fields.read_short_text(value, "actor_id", most=120),
        pinned=bool(value.get("immutable")),
        metadata=fields.read_metadata(value, "metadata"),
        origin=_read_origin(value),
        earlier=_build_past_versions(said),
    )
    told.subjects[memory_id] = subject
    yield from fields.report_unknown_fields(value, _MEMORY_FIELDS)


def _read_subject(value: Mapping[str, Any]) -> str:
    """As the hub's mem0 wire has it: a user, else what else the memory is about."""
    if user := fields.read_short_text(value, "user_id"):
        return user
    for kind in ("agent", "app", "run"):
        if name := fields.read_short_text(value, f"{kind}_id", most=190):
            return f"{kind}:{name}"
    return ""


def _read_expiry(value: Mapping[str, Any]) -> datetime | None:
    """The end of the last day on which it holds, or the moment given."""
    given = value.get("expiration_date")
    try:
        day = parse_date(given) if isinstance(given, str) else None
    except ValueError:
        day = None
    if day is not None and day.year < 9999:
        return datetime.combine(day + timedelta(days=1), time(), UTC)
    return fields.read_time(value, "expiration_date")


def _read_origin(value: Mapping[str, Any]) -> dict[str, Any]:
    """Who and what it was kept under, by mem0's names."""
    names = ("agent_id", "app_id", "run_id", "role")
    kept: dict[str, Any] = {name: fields.read_short_text(value, name) for name in names}
    kept["categories"] = value.get("categories") or []
    return {name: each for name, each in kept.items() if each}


def _collect_history_row(item: JsonItem, told: _HistoryIndex) -> Iterator[Record]:
    value = fields.read_object(item.value)
    memory_id = fields.read_short_text(value, "memory_id")
    if not memory_id:
        raise ItemRefused(_("no memory_id"))
    told.rows.setdefault(memory_id, []).append((item.where, value))
    yield from fields.report_unknown_fields(value, _HISTORY_FIELDS)


@dataclass(frozen=True, slots=True)
class _HistoryStep:
    """What a memory says from `at` on; "": it was deleted."""

    at: datetime
    text: str


def _build_history_steps(rows: list[HistoryRow]) -> list[_HistoryStep]:
    """In the order of time. The library tells no time of a deletion: it came last."""
    found: list[_HistoryStep] = []
    gone = False
    for __, value in rows:
        event = fields.read_short_text(value, "event").upper()
        if event not in ("ADD", "UPDATE", "DELETE"):
            raise ItemRefused(f"event: {event or 'none'} is none of ADD, UPDATE, DELETE")
        names = ("created_at", "updated_at") if event == "ADD" else ("updated_at", "created_at")
        at = fields.read_time(value, *names)
        gone = gone or (at is None and event == "DELETE")
        if at is not None:
            text = "" if event == "DELETE" else fields.read_text(value, "new_memory")
            found.append(_HistoryStep(at, text))
        elif event != "DELETE":
            raise ItemRefused(_("no created_at"))
    found.sort(key=lambda step: step.at)
    return [*found, _HistoryStep(found[-1].at, "")] if gone and found else found


def _build_past_versions(said: list[_HistoryStep]) -> list[PastVersion]:
    """All but the last."""
    following = itertools.pairwise(said)
    return [PastVersion(one.text, one.at, two.at) for one, two in following if two.at > one.at]


def _build_memory_from_history(
    memory_id: str, rows: list[HistoryRow], told: _HistoryIndex
) -> MemoryRecord:
    steps, last = _build_history_steps(rows), rows[-1][1]
    said = [step for step in steps if step.text]
    if not said:
        raise ItemRefused(_("deleted, and nothing tells what it said"))
    return MemoryRecord(
        where=rows[0][0],
        subject=_read_subject(last) or told.subjects.get(memory_id, ""),
        id=memory_id,
        text=said[-1].text,
        said_at=said[-1].at,
        valid_to=None if steps[-1].text else steps[-1].at,
        speaker=fields.read_short_text(last, "actor_id", most=120),
        metadata=fields.read_metadata(last, "metadata"),
        earlier=_build_past_versions(said),
    )


def _read_relation(item: JsonItem, told: _HistoryIndex) -> Iterator[Record]:
    value = fields.read_object(item.value)
    source = fields.read_text(value, "source")
    label = fields.read_text(value, "relationship", "relation")
    target = fields.read_text(value, "target", "destination")
    said = " ".join([source, label, target]).replace("_", " ")
    types = (
        fields.read_short_text(value, "source_type", most=20),
        fields.read_short_text(value, "target_type", "destination_type", most=20),
    )
    yield MemoryRecord(
        where=item.where,
        subject=fields.read_short_text(value, "user_id") or told.only_subject,
        id=f"{source}|{label}|{target}"[: fields.LONGEST_ID],
        text=said,
        triples=(RelationTriple(source, label, target, *types),),
    )
    yield from fields.report_unknown_fields(value, _RELATION_FIELDS)
