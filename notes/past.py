"""Rows as they were held at an earlier moment, for lists that the database filters and pages.

`timeline.as_of` tells a whole space; this tells one kind of row, whatever the space's size.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db.models import (
    CharField,
    Expression,
    F,
    Field,
    JSONField,
    Model,
    QuerySet,
    TextField,
)
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Cast

from memoryhub.tenants.models import Space
from notes.models import COUNTERS, Revision
from notes.registry import kind_of
from notes.workbench import restore

# Columns that a revision has itself.
_OWN = frozenset({"id", "tenant_id", "space_id", "version"}) | COUNTERS


def held_at(space: Space, model: type[Model], at: datetime) -> QuerySet[Any]:
    """The last revision until `at` of each row of the model that was held then, with the row's
    columns under their own names, so that filters of the model's rows fit. What reading counts is
    not among them, and `id` is the revision's. Call inside the tenant's scope.
    """
    known = Revision.objects.filter(
        space=space, row_type=model._meta.model_name, event__created_at__lte=at
    )
    latest = known.order_by("row_id", "-version_after", "-id").distinct("row_id")
    rows = Revision.objects.filter(id__in=latest.values("id"), after__isnull=False)
    held: QuerySet[Any] = rows.annotate(**_columns(model))
    return held.filter(retired_at=None)


def _columns(model: type[Model]) -> dict[str, Any]:
    fields = [field for field in model._meta.concrete_fields if field.attname not in _OWN]
    columns = {field.attname: _column(field) for field in fields}
    return columns | {field.name: F(field.attname) for field in fields if field.is_relation}


def _column(field: Field[Any, Any]) -> Expression | Any:
    if isinstance(field, (ArrayField, JSONField)):
        return KeyTransform(field.attname, "after")
    text = KeyTextTransform(field.attname, "after")
    if isinstance(field, (CharField, TextField)):
        return text
    kind: Any = getattr(field, "target_field", field)  # a foreign key's is what it points to
    return Cast(text, output_field=type(kind)())


def row_of(revision: Revision) -> Any:
    """The row with the values it had, not to be saved. What reading counts is as in a new one."""
    model = kind_of(revision.row_type).model
    row = model(pk=revision.row_id, tenant_id=revision.tenant_id, space_id=revision.space_id)
    restore(row, revision.after or {})
    return row
