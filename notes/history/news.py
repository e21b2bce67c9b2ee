"""What a change-set means to those who only hear that something changed. Pure.

A revision is news when it adds, ends, replaces or takes away a memory, or changes what it says;
counting another mention or another visit is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from django.apps import apps

from memoryhub.background.news import News
from notes.models.fields import MemoryFields

Values = Mapping[str, Any]
# By kind of row: its name in news, and the model whose columns say what of it is news.
_NEWS_KINDS = {
    "fact": ("fact", "notes.Fact"),
    "note": ("note", "notes.Note"),
    "episode": ("episode", "notes.Episode"),
    "trait": ("trait", "personas.Trait"),
    "coreblock": ("block", "personas.CoreBlock"),
}
_CHANGE_NAMES = {"note": "evolved"}
_SUPERSEDED, _RETRACTED, _ACTIVE = "superseded", "retracted", "active"


class RevisionChange(Protocol):
    """A revision. Both sides are None for a row that was erased."""

    @property
    def row_type(self) -> str: ...
    @property
    def row_id(self) -> UUID: ...
    @property
    def version_after(self) -> int: ...
    @property
    def before(self) -> Values | None: ...
    @property
    def after(self) -> Values | None: ...


def build_news(
    changes: Iterable[RevisionChange],
    at: datetime,
    *,
    space_id: UUID,
    event_id: UUID,
    job_id: UUID | None,
) -> Iterator[News]:
    """One for each memory that the change-set changed in a way worth telling."""
    told = [change for change in changes if change.row_type in _NEWS_KINDS]
    made = [change.after for change in told if change.before is None and change.after]
    context = _ChangeContext(
        at,
        {str(row["supersedes_id"]) for row in made if row.get("supersedes_id")},
        {str(row["lineage"]) for row in made if row.get("lineage")},
        {str(c.after["lineage"]) for c in told if _is_reworded(c) and c.after},
    )
    for change in told:
        if how := _name_change(change, context):
            name = _NEWS_KINDS[change.row_type][0]
            data = {"id": str(change.row_id), "version": change.version_after}
            data |= _render_lineage(change) | {"event_id": str(event_id)}
            data |= {"job_id": str(job_id)} if job_id else {}
            yield News(f"{name}.{how}", at, data, space_id)


class _ChangeContext(NamedTuple):
    """When it was, and what else the change-set did: ids that new facts supersede, lineages with a
    new version, and lineages of which a version was put away."""

    at: datetime
    replaced: set[str]
    renewed: set[str]
    put_away: set[str]


def _is_reworded(change: RevisionChange) -> bool:
    """A version that is put away, unless it is because it never was true."""
    before, after = change.before, change.after
    if not before or not after or "lineage" not in after:
        return False
    return _is_retirement(before, after) and after.get("status") != _RETRACTED


def _is_retirement(before: Values, after: Values) -> bool:
    return not before.get("retired_at") and bool(after.get("retired_at"))


def _is_over(row: Values, at: datetime) -> bool:
    """Does not hold any more: an end that is known but still to come is none yet."""
    until = row.get("valid_to")
    ahead = until is not None and datetime.fromisoformat(str(until)) > at
    return row.get("status") != _ACTIVE and not (row.get("status") == _SUPERSEDED and ahead)


def _name_change(change: RevisionChange, context: _ChangeContext) -> str:
    """The second word of its kind; "" for no news."""
    before, after = change.before, change.after
    if before is None and after is None:
        return "deleted"
    if before is None or after is None:
        return _name_arrival(after, context) if after else "deleted"
    if after.get("status") == _RETRACTED != before.get("status"):
        return "retracted"
    if _is_retirement(before, after):
        return "" if str(after.get("lineage")) in context.renewed else "deleted"
    was_over, is_over = _is_over(before, context.at), _is_over(after, context.at)
    if _is_retirement(after, before) or (after.get("status") == _ACTIVE and was_over):
        return "restored"
    if after.get("status") == _SUPERSEDED != before.get("status"):
        if str(change.row_id) in context.replaced:
            return "superseded"
        if is_over:
            return "ended"
    columns = _list_news_columns(change.row_type)
    if after.get("retired_at") or all(before.get(name) == after.get(name) for name in columns):
        return ""
    return _CHANGE_NAMES.get(change.row_type, "changed")


@cache
def _list_news_columns(row_type: str) -> tuple[str, ...]:
    """A change of which is told."""
    fields: MemoryFields = apps.get_model(_NEWS_KINDS[row_type][1]).memory_fields
    return tuple(name for name, field in fields.items() if field.is_news)


def _name_arrival(row: Values, context: _ChangeContext) -> str:
    if row.get("retired_at"):
        return ""
    return "changed" if str(row.get("lineage")) in context.put_away else "added"


def _render_lineage(change: RevisionChange) -> dict[str, Any]:
    """By which other versions of the same claim are known."""
    row = change.after or change.before or {}
    if "lineage" not in row:
        return {}
    shown = {"lineage": str(row["lineage"]), "lineage_version": row["lineage_version"]}
    before = row.get("supersedes_id")
    return shown | ({"supersedes": str(before)} if before else {})
