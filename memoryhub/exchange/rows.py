"""Lines of a file as rows: read, checked, renamed, and written in batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import DatabaseError, DataError, IntegrityError, models, transaction
from django.db.models import Model
from django.utils.translation import gettext as _

from memoryhub.errors import InvalidInput
from memoryhub.exchange.columns import Column
from memoryhub.exchange.kinds import Kind
from memoryhub.exchange.lines import bad_line
from memoryhub.exchange.renaming import Renaming
from memoryhub.tenants.ids import new_id
from memoryhub.tenants.models import Space
from notes.models import Link, Receipt, Tombstone

BATCH = 500
Line = tuple[int, Any]


class Taken(Exception):
    """An id of the file is in use, here or with a tenant that can't be seen."""


@dataclass
class Shape:
    """How lines become rows of one import. `spaces`: the file's ids and the spaces they are here.

    `ignored` counts what a newer hub may have written: fields, and kinds of lines.
    """

    tenant_id: UUID
    renaming: Renaming
    spaces: dict[UUID, Space] = field(default_factory=dict)
    ignored: Counter[str] = field(default_factory=Counter)

    def row(self, kind: Kind, number: int, told: Mapping[str, Any], space: Space | None) -> Any:
        """Not saved. Raises InvalidInput that names the line and the field."""
        values: dict[str, Any] = {"tenant_id": self.tenant_id}
        if not kind.shared and hasattr(kind.model, "space"):
            values["space"] = space
        names = {"row"}
        for column in kind.columns:
            names.add(column.name)
            values[column.name] = self._value(kind, column, number, told)
        for name in told.keys() - names:
            self.ignored[f"{kind.name}.{name[:60]}"] += 1
        return _settled(kind.model(**values))

    def _value(self, kind: Kind, column: Column, number: int, told: Mapping[str, Any]) -> Any:
        try:
            if column.name not in told:
                return column.otherwise()
            value = column.read(told[column.name])
        except (ValueError, OverflowError) as error:
            raise bad_line(number, f"{kind.name}: {column.name} {error}") from error
        return self._renamed(kind, column, value)

    def _renamed(self, kind: Kind, column: Column, value: Any) -> Any:
        if value is None:
            return None
        if column.name == "space_id":
            found = self.spaces.get(value)
            return found.id if found else None
        if column.names:
            known = self.renaming
            return [known.of(v) for v in value] if isinstance(value, list) else known.of(value)
        if column.name in kind.keys:
            return self.renaming.within(value)
        if isinstance(column.field, (models.JSONField, ArrayField)):
            return self.renaming.inside(value, column.name)
        return value


def _settled(row: Any) -> Any:
    if isinstance(row, Link) and row.a_id > row.b_id:
        row.a_id, row.b_id = row.b_id, row.a_id  # undirected: the smaller id first
    if isinstance(row, Tombstone):
        row.id = new_id()  # it is known by its digest
    return row


def write(kind: Kind, lines: Sequence[Line], space: Space | None, renaming: Renaming) -> None:
    """Store rows in one statement. Raises Taken, InvalidInput that names the line."""
    _refer(kind, lines, space)
    lines = _unheld(kind, lines)
    if not lines:
        return
    try:
        with transaction.atomic():
            _insert(kind, [row for _, row in lines])
    except (IntegrityError, DataError) as error:
        if _of_a_key(error) and not renaming.step:
            raise Taken from error
        raise _blamed(kind, lines) from error


def _insert(kind: Kind, rows: Sequence[Model]) -> None:
    ignore = kind.model is Tombstone
    kind.model._default_manager.bulk_create(rows, batch_size=BATCH, ignore_conflicts=ignore)


def _unheld(kind: Kind, lines: Sequence[Line]) -> Sequence[Line]:
    """Receipts outlive what they are about: in the tenant they came from they are still there."""
    if kind.model is not Receipt:
        return lines
    digests = [row.target_digest for _, row in lines]
    rows = Receipt.objects.filter(target_digest__in=digests)
    held = set(rows.values_list("target_digest", "created_at"))
    return [each for each in lines if (each[1].target_digest, each[1].created_at) not in held]


def _of_a_key(error: DatabaseError) -> bool:
    return _constraint(error).endswith("_pkey")


def _constraint(error: BaseException) -> str:
    diagnosis = getattr(error.__cause__, "diag", None)
    return str(getattr(diagnosis, "constraint_name", "") or "")


def _blamed(kind: Kind, lines: Sequence[Line]) -> InvalidInput:
    """The first line that can't be stored beside those before it."""
    for number, row in lines:
        try:
            with transaction.atomic():
                row.save(force_insert=True)
        except IntegrityError as error:
            rule = _constraint(error) or str(error).splitlines()[0]
            twice = "its id was given before" if _of_a_key(error) else f"breaks the rule {rule}"
            return bad_line(number, f"{kind.name}: {twice}")
        except DataError as error:
            said = str(error).splitlines()[0]
            return bad_line(number, f"{kind.name}: {said}")
    return bad_line(lines[0][0], f"{kind.name}: can't be stored")


def _refer(kind: Kind, lines: Sequence[Line], space: Space | None) -> None:
    """A row names rows of its own space, which came before it (I8): what the database alone
    checks is that they are somewhere. Rows of the same kind are looked at afterwards."""
    for name, parent in kind.references():
        if parent is kind.model:
            continue
        wanted = {getattr(row, name) for _, row in lines} - {None}
        there = _there(parent, wanted, space)
        for number, row in lines:
            if (named := getattr(row, name)) is not None and named not in there:
                what = parent._meta.model_name
                raise bad_line(number, f"{kind.name}: {name} names no {what} before it")


def _there(model: type[Model], ids: Collection[UUID], space: Space | None) -> set[UUID]:
    rows = model._default_manager.filter(id__in=ids, space=space) if ids else None
    return set(rows.values_list("id", flat=True)) if rows is not None else set()


def refer_to_themselves(kind: Kind, space: Space, renaming: Renaming) -> None:
    """Rows that name others of their kind, once all are there. Raises InvalidInput."""
    for name, parent in kind.references():
        if parent is not kind.model:
            continue
        rows = kind.of(space).filter(**{f"{name}__isnull": False})
        inside = parent._default_manager.filter(space=space).values("id")
        lost = rows.exclude(**{f"{name}__in": inside}).values_list("id", flat=True).first()
        if lost is not None:
            given = Renaming(-renaming.step).of(lost)
            what = _("%(kind)s %(id)s: %(name)s names no %(kind)s of the file")
            told = {"kind": kind.name, "id": given, "name": name}
            raise InvalidInput(what % told, code="bad_line", field=str(given))
