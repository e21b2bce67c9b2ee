"""What belongs in a file: the tables, in the order of their lines.

Each app declares its own, and of the others why they stay: logs, work under way, what is made
anew, and what is the hub's. A space's rows name rows of the same space alone (I8).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from django.apps import apps
from django.db.models import ForeignKey, Model, Q, QuerySet

from memoryhub.declarations import ExportKind, load_declarations
from memoryhub.exchange.columns import FileColumn, list_columns
from memoryhub.tenants.models import Space


@dataclass(frozen=True, slots=True)
class ExportTable:
    """A table. `of_space`: the lookup that says whose a row is; "": the tenant's own.

    `shared`: rows of the tenant, of which some may name a space. `keys`: text columns made of ids.
    """

    model: type[Model]
    order: tuple[str, ...] = ("id",)
    of_space: str = "space"
    shared: bool = False
    keys: frozenset[str] = field(default_factory=frozenset)

    @property
    def name(self) -> str:
        return str(self.model._meta.model_name)

    @property
    def columns(self) -> tuple[FileColumn, ...]:
        return list_columns(self.model, shared=self.shared)

    def select_rows(self, space: Space) -> QuerySet[Any]:
        """The rows of a space. Call inside the tenant's scope."""
        rows = self.model._default_manager.filter(**{self.of_space: space.pk})
        return rows.order_by(*self.order)

    def select_tenant_rows(self) -> QuerySet[Any]:
        """The rows that are the tenant's own."""
        own = Q(**{f"{self.of_space}__isnull": True}) if self.of_space else Q()
        return self.model._default_manager.filter(own).order_by(*self.order)

    def list_references(self) -> Iterator[tuple[str, type[Model]]]:
        """(column, model it names) of every reference but those to tenant and space."""
        for column in self.columns:
            if isinstance(column.field, ForeignKey) and column.field.related_model is not Space:
                yield column.name, column.field.related_model


def _load_tables(part: Literal["space", "tenant"]) -> dict[str, ExportTable]:
    """The declared tables of this part of a file, by name, those that name rows of others last."""
    declared = [
        (apps.get_model(label, name), kind)
        for label, app in load_declarations().items()
        for name, kind in app.export_kinds.items()
        if isinstance(kind, ExportKind) and part in kind.parts
    ]
    declared.sort(key=lambda each: each[1].is_last)
    tables = [ExportTable(model, k.order, k.of_space, k.shared, k.keys) for model, k in declared]
    return {table.name: table for table in tables}


SPACE_ROW = "space"
# Of one space, the tables of an app together: a row's columns name rows of tables before its own.
SPACE_TABLES = _load_tables("space")
# Of the tenant as a whole, behind its spaces; its rules for answers stay: another gives its own.
TENANT_TABLES = _load_tables("tenant")
