"""Bringing a file into a tenant: all of it, or nothing.

One transaction holds everything, so that a file that is damaged, contradicts itself, or takes a
place that is not free leaves no row. A dry run is the same, taken back at its end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import IO, Any
from uuid import UUID

import structlog
from django.db import transaction
from django.utils.translation import gettext as _
from typing_extensions import TypedDict

from memoryhub.dialogues.quota import check_quota_after
from memoryhub.engines.types import Embedder
from memoryhub.errors import InvalidInput
from memoryhub.exchange import after_import, erasure_check, file_format, rows, target_space, vectors
from memoryhub.exchange.file_format import FileHeader, build_line_error
from memoryhub.exchange.id_shift import IdShift
from memoryhub.exchange.rows import ROWS_PER_BATCH, IdTaken, NumberedRow, RowBuilder
from memoryhub.exchange.tables import SPACE_ROW, SPACE_TABLES, TENANT_TABLES, ExportTable
from memoryhub.importers.sources import find_system
from memoryhub.inference.selection import embed_or_none, find_embedder
from memoryhub.policies.models import PolicyVersion
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope

log = structlog.get_logger()
_TENANT_ROW = "tenant"
# Bytes of a file that is no export which are looked at to tell whose it is.
_LOOKED_AT = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class SpaceImportOptions:
    """`subject`: under which a space comes in, where not its own. `restore_erased`: also what
    was erased here since the file was made."""

    subject: str = ""
    dry_run: bool = False
    restore_erased: bool = False


class ImportedSpace(TypedDict):
    """`existed`: as an empty one."""

    id: str
    subject: str
    existed: bool


@dataclass
class SpaceImportReport:
    """What came in, or would. `ids`: kept, or new. `ignored`: fields and kinds of lines that this
    hub does not know. `left_out`: what the tenant has of its own. `vectors`: taken from the file,
    and to be made by a job."""

    dry_run: bool
    version: str
    scope: str
    ids: str = "kept"
    spaces: list[ImportedSpace] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    ignored: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)
    vectors: dict[str, int] = field(default_factory=dict)


def import_file(
    tenant_id: UUID, file: IO[bytes], actor: str, now: datetime, wanted: SpaceImportOptions
) -> SpaceImportReport:
    """Opens its own scope; calls no model. Raises InvalidInput that names the line, Conflict for
    a subject that has memories already or what was erased here since, QuotaReached."""
    header = _verify_export(file)
    if wanted.subject and header.scope == _TENANT_ROW:
        raise InvalidInput(_("a file of a whole tenant names its own subjects"), field="subject")
    embedders = _find_embedders(header)

    def import_shifted(shift: IdShift) -> SpaceImportReport:
        shape = RowBuilder(tenant_id, shift)
        made = SpaceImportReport(wanted.dry_run, header.version, header.scope)
        with tenant_scope(tenant_id), _roll_back_dry_run(wanted.dry_run):
            coming = _FileImport(shape, header, embedders, actor, now, wanted, made)
            for number, told in file_format.read_lines(file):
                coming.import_line(number, told)
            coming.finish_import()
        return made

    try:
        report = import_shifted(IdShift())
    except IdTaken:
        report = import_shifted(IdShift.from_random_step())
        report.ids = "new"
    if not wanted.dry_run:
        log.info("exchange.imported", actor=actor, spaces=len(report.spaces), ids=report.ids)
    return report


def _verify_export(file: IO[bytes]) -> FileHeader:
    """Raises InvalidInput that names the line, and the system that wrote the file, if another."""
    try:
        return file_format.verify_file(file)
    except InvalidInput as refused:
        file.seek(0)
        if refused.extra.get("line") != 1 or not (system := find_system(file.read(_LOOKED_AT))):
            raise
        message = _(
            "this is a file of %(found)s, not an export of MemoryHub: it is brought in by “Import "
            "memories”, or POST /api/v1/imports"
        )
        told = message % {"found": _(system)}
        raise InvalidInput(told, code="bad_line", field="line 1", line=1) from refused


def _find_embedders(header: FileHeader) -> Mapping[str, Embedder | None]:
    """Those whose vectors the file's spaces are searched by, as far as they are here, and under ""
    the one in use."""
    told = header.fields.get("embedding_models")
    names = [name for name in told if isinstance(name, str)] if isinstance(told, list) else []
    return embed_or_none(lambda: {name: find_embedder(name) for name in ("", *names)}) or {}


@contextmanager
def _roll_back_dry_run(dry_run: bool) -> Iterator[None]:
    with transaction.atomic():
        yield
        if dry_run:
            transaction.set_rollback(True)


@dataclass
class _FileImport:
    """A file on its way in: the space its lines belong to, and those not yet written."""

    shape: RowBuilder
    header: FileHeader
    embedders: Mapping[str, Embedder | None]
    actor: str
    now: datetime
    wanted: SpaceImportOptions
    report: SpaceImportReport
    space: target_space.TargetSpace | None = None
    all_spaces: list[target_space.TargetSpace] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    vectors_written: int = 0
    had_policy: bool | None = None
    kind: ExportTable | None = None
    pending_rows: list[NumberedRow] = field(default_factory=list)
    pending_vectors: list[tuple[Any, ...]] = field(default_factory=list)

    def import_line(self, number: int, told: dict[str, Any]) -> None:
        if self.header.major == 1:
            told = rows.update_line(told)
        name = told.get("row")
        if not isinstance(name, str):
            raise build_line_error(number, 'has no "row"')
        known = SPACE_TABLES if self.space else TENANT_TABLES
        if name == SPACE_ROW:
            self._open_space(number, told)
        elif name == _TENANT_ROW:
            self._finish_space()
        elif name == vectors.VECTOR_ROW and self.space:
            self._add_vector(number, told)
        elif name in known:
            self._add_row(known[name], number, told)
        elif name in SPACE_TABLES or name == vectors.VECTOR_ROW:
            raise build_line_error(number, f"a {name} stands before any space")
        else:
            self.shape.ignored[name[:60]] += 1
            return
        self.counts[name] += 1

    def _open_space(self, number: int, told: Mapping[str, Any]) -> None:
        self._finish_space()
        if self.all_spaces and self.header.scope == SPACE_ROW:
            raise build_line_error(number, "a second space in a file of one")
        arrival = target_space.read_target_space(number, told, self.wanted.subject)
        if not self.wanted.restore_erased:
            erasure_check.check_subject_not_erased(number, arrival.file_id)
        arrival.open_space(self.shape, self.embedders)
        self.space = arrival
        self.all_spaces.append(arrival)

    def _add_row(self, kind: ExportTable, number: int, told: Mapping[str, Any]) -> None:
        if self.space and self.space.is_indexed:
            raise build_line_error(number, "vectors come last in a space")
        if self.kind is not kind or len(self.pending_rows) >= ROWS_PER_BATCH:
            self._write_rows()
        self.kind = kind
        row = self.shape.build_row(kind, number, told, self.space.row if self.space else None)
        self.pending_rows.append((number, row))

    def _write_rows(self) -> None:
        if self.kind is not None and self.pending_rows and self._is_accepted(self.kind):
            space = self.space.row if self.space else None
            if self.space and not self.wanted.restore_erased:
                back = IdShift(-self.shape.id_shift.step)
                erasure_check.check_rows_not_erased(
                    self.kind, self.pending_rows, self.space.file_id, back
                )
            rows.write_rows(self.kind, self.pending_rows, space, self.shape.id_shift)
        self.pending_rows = []

    def _is_accepted(self, kind: ExportTable) -> bool:
        """A tenant's own policy stays what it is."""
        if self.space or kind.model is not PolicyVersion:
            return True
        if self.had_policy is None:
            self.had_policy = PolicyVersion.objects.filter(space=None).exists()
        if self.had_policy:
            before = self.report.left_out.get(kind.name, 0)
            self.report.left_out[kind.name] = before + len(self.pending_rows)
        return not self.had_policy

    def _add_vector(self, number: int, told: Mapping[str, Any]) -> None:
        assert self.space is not None
        if not self.space.is_indexed:
            self._write_rows()
            self._index_space()
        try:
            given = vectors.parse_vector(told, self.shape.id_shift, self.space.dimension)
        except ValueError as error:
            raise build_line_error(number, f"vector: {error}") from error
        self.pending_vectors.append(given)
        if len(self.pending_vectors) >= ROWS_PER_BATCH:
            self._write_vectors()

    def _write_vectors(self) -> None:
        if self.space and self.space.keeps_vectors and not self.wanted.dry_run:
            self.vectors_written += vectors.write_vectors(self.space.row, self.pending_vectors)
        self.pending_vectors = []

    def _index_space(self) -> None:
        assert self.space is not None
        self.space.is_indexed = True
        self.space.save_columns()
        if not self.wanted.dry_run:
            after_import.index_words(self.space.row, self.space.model)

    def _finish_space(self) -> None:
        """The space is complete."""
        self._write_rows()
        if self.space is None:
            return
        if not self.space.is_indexed:
            self._index_space()
        self._write_vectors()
        for kind in SPACE_TABLES.values():
            rows.check_self_references(kind, self.space.row, self.shape.id_shift)
        self.space = None

    def finish_import(self) -> None:
        self._finish_space()
        if not self.all_spaces and self.header.scope == SPACE_ROW:
            raise InvalidInput(_("there is no space in this file"), code="bad_line", field="space")
        self._check_counts()
        check_quota_after(Tenant.objects.get(id=self.shape.tenant_id), self.counts["turn"])
        waiting = 0
        for arrival in self.all_spaces:
            after_import.check_policy(arrival.row)
            if not self.wanted.dry_run:
                about = self.header.describe_origin(arrival.file_subject)
                after_import.record_import(arrival.row, self.actor, self.now, about)
                waiting += after_import.plan_jobs(arrival.row, self.now)
        self.report.counts = dict(self.counts)
        self.report.ignored = dict(self.shape.ignored)
        self.report.vectors = {"taken": self.vectors_written, "to_make": waiting}
        self.report.spaces = [
            {"id": str(each.row.id), "subject": each.row.subject, "existed": each.existed}
            for each in self.all_spaces
        ]

    def _check_counts(self) -> None:
        """What the header promised came. Raises InvalidInput."""
        known = {*SPACE_TABLES, *TENANT_TABLES, SPACE_ROW, vectors.VECTOR_ROW, _TENANT_ROW}
        for kind, told in self.header.counts.items():
            if kind in known and self.counts[kind] != told:
                what = f"the header counts {told:,} of {kind[:60]}; there are {self.counts[kind]:,}"
                raise build_line_error(1, what)
