"""What the hub held at an earlier moment, what has changed since, and the way back (spec §11.8).

System time, told by revisions: when a memory was written, not when it held in the world. A space
is rolled back by undoing the later events, so that rolling back can be taken back too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Cast
from django.utils.translation import gettext

from memoryhub.errors import Conflict
from memoryhub.tenants.models import Space
from notes.history import row_kinds
from notes.history.row_kinds import get_row_kind
from notes.history.unit_of_work import RowKey, UnitOfWork, load_event_standing, restore_columns
from notes.models import COUNTER_COLUMNS, EvolutionEvent, Revision

Values = Mapping[str, Any]
# Columns whose change says nothing by itself.
_SILENT_COLUMNS = frozenset(
    {"version", "engine", "recorded_at", "retired_at", "text_key", "coverage_hash"}
)


@dataclass(frozen=True, slots=True)
class RowChange:
    """A row that is not what it was. `before` or `after` is None where it is not held."""

    kind: str
    row_id: UUID
    before: Values | None
    after: Values | None

    @property
    def how(self) -> Literal["added", "changed", "removed"]:
        if self.before is None:
            return "added"
        return "removed" if self.after is None else "changed"

    @property
    def fields(self) -> list[tuple[str, Any, Any]]:
        """(column, before, after) of what changed in a row that is held all along."""
        if self.before is None or self.after is None:
            return []
        return [
            (name, self.before.get(name), value)
            for name, value in self.after.items()
            if name not in _SILENT_COLUMNS and self.before.get(name) != value
        ]


def load_state_at(
    space: Space, at: datetime, among: Collection[UUID] | None = None
) -> dict[RowKey, Values]:
    """The rows held at `at` with their values then; of the rows with these ids only, if given.
    Call inside the tenant's scope.

    What was erased since is missing: of that, nothing is left to be told.
    """
    known = Revision.objects.filter(space=space, event__created_at__lte=at)
    known = known.exclude(_build_shared_q())
    if among is not None:
        known = known.filter(row_id__in=among)
    known = known.order_by("row_type", "row_id", "-version_after", "-id")
    latest = known.distinct("row_type", "row_id").values_list("row_type", "row_id", "after")
    return {(kind, row): after for kind, row, after in latest if after and is_row_held(kind, after)}


def _build_shared_q() -> models.Q:
    """Revisions of rows that belong to the tenant and to no space."""
    found = models.Q(pk=None)
    for kind in row_kinds.list_row_kinds():
        if kind.may_be_shared:
            rows = kind.model._default_manager.filter(space=None)
            found |= models.Q(row_type=kind.name, row_id__in=rows.values("pk"))
    return found


def is_row_held(kind: str, values: Values) -> bool:
    """Rows with a version that are not retired; memberships are part of what they belong to."""
    return row_kinds.get_row_kind(kind).is_derived and not values.get("retired_at")


def compute_row_changes(
    then: Mapping[RowKey, Values], now: Mapping[RowKey, Values]
) -> list[RowChange]:
    """What became of the rows from one state to another: removed, changed, added."""
    changes = [
        RowChange(kind, row, then.get((kind, row)), now.get((kind, row)))
        for kind, row in {**then, **now}
    ]
    told = [c for c in changes if c.how != "changed" or c.fields]
    return sorted(told, key=lambda c: (c.kind, -len(c.how), c.row_id))


def load_changes_since(space: Space, at: datetime, now: datetime) -> list[RowChange]:
    """What has changed from `at` until `now`. Call inside the tenant's scope."""
    between = Revision.objects.filter(
        space=space, event__created_at__gt=at, event__created_at__lte=now
    )
    # Read first: within a statement the database looks for them anew for every row.
    changed = set(between.values_list("row_id", flat=True))
    return compute_row_changes(
        load_state_at(space, at, changed), load_state_at(space, now, changed)
    )


def list_later_events(space: Space, to: datetime) -> list[EvolutionEvent]:
    """Events after `to` whose effect still stands, newest first, but for those of
    `shared_events`. Raises Conflict where one of them can't be undone; `since` says from when on
    everything can.
    """
    rows = EvolutionEvent.objects.filter(space=space, created_at__gt=to)
    shared = {event.id for event in list_shared_events(space, to)}
    held = rows.filter(revisions__isnull=False).exclude(id__in=shared).distinct()
    events = {event.id: event for event in held}
    erased = EvolutionEvent.Kind.ERASE
    net = load_event_standing(space).select_standing(
        {e.id for e in events.values() if e.kind != erased}
    )
    found = sorted((events[e] for e in net), key=lambda e: (e.created_at, e.id), reverse=True)
    for event in found:
        if event.is_purged:
            raise Conflict(
                gettext(
                    "something that changed after this time was erased: go back to a later time"
                ),
                code="not_undoable",
                since=event.created_at.isoformat(),
            )
    return found


def list_shared_events(space: Space, to: datetime) -> list[EvolutionEvent]:
    """Changes after `to` of what other spaces see too, newest first: going back leaves them."""
    changed = Revision.objects.filter(_build_shared_q(), space=space, event__created_at__gt=to)
    rows = EvolutionEvent.objects.filter(id__in=changed.values("event_id"))
    return list(rows.order_by("-created_at", "-id"))


def preview_changes(bench: UnitOfWork) -> list[RowChange]:
    """What a plan would change, in the terms of `difference`."""
    rows = bench.list_differences()
    return compute_row_changes(
        {key: before for key, before, _ in rows if before and is_row_held(key[0], before)},
        {key: after for key, _, after in rows if after and is_row_held(key[0], after)},
    )


# Rows as they were held at an earlier moment, for lists that the database filters and pages.
#
# `load_state_at` tells a whole space; this tells one kind of row, whatever the space's size.


# Columns that a revision has itself.
_REVISION_COLUMNS = frozenset({"id", "tenant_id", "space_id", "version"}) | COUNTER_COLUMNS


def select_rows_held_at(
    space: Space, model: type[models.Model], at: datetime
) -> models.QuerySet[Any]:
    """The last revision until `at` of each row of the model that was held then, with the row's
    columns under their own names, so that filters of the model's rows fit. What reading counts is
    not among them, and `id` is the revision's. Call inside the tenant's scope.
    """
    known = Revision.objects.filter(
        space=space, row_type=model._meta.model_name, event__created_at__lte=at
    )
    latest = known.order_by("row_id", "-version_after", "-id").distinct("row_id")
    rows = Revision.objects.filter(id__in=latest.values("id"), after__isnull=False)
    held: models.QuerySet[Any] = rows.annotate(**_build_columns(model))
    return held.filter(retired_at=None)


def _build_columns(model: type[models.Model]) -> dict[str, Any]:
    fields = [
        field for field in model._meta.concrete_fields if field.attname not in _REVISION_COLUMNS
    ]
    columns = {field.attname: _build_column(field) for field in fields}
    return columns | {field.name: models.F(field.attname) for field in fields if field.is_relation}


def _build_column(field: models.Field[Any, Any]) -> models.Expression | Any:
    if isinstance(field, (ArrayField, models.JSONField)):
        return KeyTransform(field.attname, "after")
    text = KeyTextTransform(field.attname, "after")
    if isinstance(field, (models.CharField, models.TextField)):
        return text
    kind: Any = getattr(field, "target_field", field)  # a foreign key's is what it points to
    return Cast(text, output_field=type(kind)())


def build_past_row(revision: Revision) -> Any:
    """The row with the values it had, not to be saved. What reading counts is as in a new one."""
    model = get_row_kind(revision.row_type).model
    row = model(pk=revision.row_id, tenant_id=revision.tenant_id, space_id=revision.space_id)
    restore_columns(row, revision.after or {})
    return row
