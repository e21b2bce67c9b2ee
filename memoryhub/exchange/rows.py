"""Lines of a file as rows: read, checked, renamed, and written in batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import DataError, IntegrityError, models, transaction
from django.utils.translation import gettext as _

from memoryhub.errors import InvalidInput
from memoryhub.exchange.columns import FileColumn
from memoryhub.exchange.file_format import build_line_error
from memoryhub.exchange.id_shift import IdShift
from memoryhub.exchange.tables import ExportTable
from memoryhub.tenants.ids import new_id
from memoryhub.tenants.models import Space
from notes.models import Link, Receipt, Tombstone

ROWS_PER_BATCH = 500
NumberedRow = tuple[int, Any]


# In files of version 1.
_OLD_SLOT_NAMES = {
    "s": "subject", "v": "verb", "o": "object", "o2": "indirect_object", "c": "complement"
}  # fmt: skip


def update_line(line: dict[str, Any]) -> dict[str, Any]:
    """A line of version 1 as it is written today: facts, and the rows of facts that the history
    and the inbox hold."""
    match line:
        case {"row": "fact"}:
            return dict(_rename_slots(line))
        case {"row": "revision", "row_type": "fact"}:
            return {**line, **{at: _rename_slots(line.get(at)) for at in ("before", "after")}}
        case {"row": "proposal", "payload": {"candidate": candidate} as payload}:
            return {**line, "payload": {**payload, "candidate": _rename_slots(candidate)}}
    return line


def _rename_slots(row: Any) -> Any:
    if not isinstance(row, dict):
        return row
    return {_OLD_SLOT_NAMES.get(name, name): value for name, value in row.items()}


class IdTaken(Exception):
    """An id of the file is in use, here or with a tenant that can't be seen."""


@dataclass
class RowBuilder:
    """How lines become rows of one import. `spaces`: the file's ids and the spaces they are here.

    `ignored` counts what a newer hub may have written: fields, and kinds of lines.
    """

    tenant_id: UUID
    id_shift: IdShift
    spaces: dict[UUID, Space] = field(default_factory=dict)
    ignored: Counter[str] = field(default_factory=Counter)

    def build_row(
        self, kind: ExportTable, number: int, told: Mapping[str, Any], space: Space | None
    ) -> Any:
        """Not saved. Raises InvalidInput that names the line and the field."""
        values: dict[str, Any] = {"tenant_id": self.tenant_id}
        if not kind.shared and hasattr(kind.model, "space"):
            values["space"] = space
        names = {"row"}
        for column in kind.columns:
            names.add(column.name)
            values[column.name] = self._read_value(kind, column, number, told)
        for name in told.keys() - names:
            self.ignored[f"{kind.name}.{name[:60]}"] += 1
        row: Any = kind.model(**values)
        if isinstance(row, Link) and row.a_id > row.b_id:
            row.a_id, row.b_id = row.b_id, row.a_id  # undirected: the smaller id first
        if isinstance(row, Tombstone):
            row.id = new_id()  # it is known by its digest
        if isinstance(row, Receipt) and row.is_sealed:
            row.undoable_until = None  # what is sealed is in no file: here it is gone
        return row

    def _read_value(
        self, kind: ExportTable, column: FileColumn, number: int, told: Mapping[str, Any]
    ) -> Any:
        try:
            if column.name not in told:
                return column.get_default()
            value = column.read(told[column.name])
        except (ValueError, OverflowError) as error:
            raise build_line_error(number, f"{kind.name}: {column.name} {error}") from error
        return self._shift_ids(kind, column, value)

    def _shift_ids(self, kind: ExportTable, column: FileColumn, value: Any) -> Any:
        if value is None:
            return None
        if column.name == "space_id":
            found = self.spaces.get(value)
            return found.id if found else None
        if column.holds_ids:
            many = isinstance(value, list)
            shift = self.id_shift.shift_id
            return [shift(each) for each in value] if many else shift(value)
        if column.name in kind.keys:
            return self.id_shift.shift_key(value)
        if isinstance(column.field, (models.JSONField, ArrayField)):
            return self.id_shift.shift_json(value, column.name)
        return value


def write_rows(
    kind: ExportTable, lines: Sequence[NumberedRow], space: Space | None, renaming: IdShift
) -> None:
    """Store rows in one statement. Raises Taken, InvalidInput that names the line."""
    _check_references(kind, lines, space)
    lines = _drop_known_receipts(kind, lines)
    if not lines:
        return
    try:
        with transaction.atomic():
            kind.model._default_manager.bulk_create(
                [row for _, row in lines],
                batch_size=ROWS_PER_BATCH,
                ignore_conflicts=kind.model is Tombstone,
            )
    except (IntegrityError, DataError) as error:
        if _get_constraint_name(error).endswith("_pkey") and not renaming.step:
            raise IdTaken from error
        raise _find_failing_line(kind, lines) from error


def _drop_known_receipts(kind: ExportTable, lines: Sequence[NumberedRow]) -> Sequence[NumberedRow]:
    """Receipts outlive what they are about: in the tenant they came from they are still there."""
    if kind.model is not Receipt:
        return lines
    digests = [row.target_digest for _, row in lines]
    rows = Receipt.objects.filter(target_digest__in=digests)
    held = set(rows.values_list("target_digest", "created_at"))
    return [each for each in lines if (each[1].target_digest, each[1].created_at) not in held]


def _get_constraint_name(error: BaseException) -> str:
    diagnosis = getattr(error.__cause__, "diag", None)
    return str(getattr(diagnosis, "constraint_name", "") or "")


def _find_failing_line(kind: ExportTable, lines: Sequence[NumberedRow]) -> InvalidInput:
    """The first line that can't be stored beside those before it."""
    for number, row in lines:
        try:
            with transaction.atomic():
                row.save(force_insert=True)
        except IntegrityError as error:
            rule = _get_constraint_name(error) or str(error).splitlines()[0]
            twice = rule.endswith("_pkey")
            said = "its id was given before" if twice else f"breaks the rule {rule}"
            return build_line_error(number, f"{kind.name}: {said}")
        except DataError as error:
            said = str(error).splitlines()[0]
            return build_line_error(number, f"{kind.name}: {said}")
    return build_line_error(lines[0][0], f"{kind.name}: can't be stored")


def _check_references(kind: ExportTable, lines: Sequence[NumberedRow], space: Space | None) -> None:
    """A row names rows of its own space, which came before it (I8): what the database alone
    checks is that they are somewhere. Rows of the same kind are looked at afterwards."""
    for name, parent in kind.list_references():
        if parent is kind.model:
            continue
        wanted = {getattr(row, name) for _, row in lines} - {None}
        held = parent._default_manager.filter(id__in=wanted, space=space)
        there = set(held.values_list("id", flat=True))
        for number, row in lines:
            if (named := getattr(row, name)) is not None and named not in there:
                what = parent._meta.model_name
                raise build_line_error(number, f"{kind.name}: {name} names no {what} before it")


def check_self_references(kind: ExportTable, space: Space, renaming: IdShift) -> None:
    """Rows that name others of their kind, once all are there. Raises InvalidInput."""
    for name, parent in kind.list_references():
        if parent is not kind.model:
            continue
        rows = kind.select_rows(space).filter(**{f"{name}__isnull": False})
        inside = parent._default_manager.filter(space=space).values("id")
        lost = rows.exclude(**{f"{name}__in": inside}).values_list("id", flat=True).first()
        if lost is not None:
            given = IdShift(-renaming.step).shift_id(lost)
            what = _("%(kind)s %(id)s: %(name)s names no %(kind)s of the file")
            told = {"kind": kind.name, "id": given, "name": name}
            raise InvalidInput(what % told, code="bad_line", field=str(given))
