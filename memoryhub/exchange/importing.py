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

from memoryhub.engines.types import Embedder
from memoryhub.errors import EngineError, InvalidInput
from memoryhub.exchange import arriving, erased, lines, settling, vectors
from memoryhub.exchange.kinds import OF_SPACE, OF_TENANT, SPACE, Kind
from memoryhub.exchange.lines import Header, bad_line
from memoryhub.exchange.renaming import Renaming
from memoryhub.exchange.rows import BATCH, Line, Shape, Taken, refer_to_themselves, write
from memoryhub.models_in_use import embedder, embedder_of
from memoryhub.policies.models import PolicyVersion
from memoryhub.tenants.scope import tenant_scope

log = structlog.get_logger()
_TENANT = "tenant"


@dataclass(frozen=True, slots=True)
class Wanted:
    """`subject`: under which a space comes in, where not its own. `restore_erased`: also what
    was erased here since the file was made."""

    subject: str = ""
    dry_run: bool = False
    restore_erased: bool = False


@dataclass
class Report:
    """What came in, or would. `ids`: kept, or new. `ignored`: fields and kinds of lines that this
    hub does not know. `left_out`: what the tenant has of its own. `vectors`: taken from the file,
    and to be made by a job."""

    dry_run: bool
    version: str
    scope: str
    ids: str = "kept"
    spaces: list[dict[str, Any]] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    ignored: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)
    vectors: dict[str, int] = field(default_factory=dict)


def bring_in(tenant_id: UUID, file: IO[bytes], actor: str, now: datetime, wanted: Wanted) -> Report:
    """Opens its own scope; calls no model. Raises InvalidInput that names the line, Conflict for
    a subject that has memories already or what was erased here since."""
    header = lines.verified(file)
    if wanted.subject and header.scope == _TENANT:
        raise InvalidInput(_("a file of a whole tenant names its own subjects"), field="subject")
    embedders = _embedders(header)
    try:
        report = _once(tenant_id, file, header, Renaming(), embedders, actor, now, wanted)
    except Taken:
        report = _once(tenant_id, file, header, Renaming.anew(), embedders, actor, now, wanted)
        report.ids = "new"
    if not wanted.dry_run:
        log.info("exchange.imported", actor=actor, spaces=len(report.spaces), ids=report.ids)
    return report


def _embedders(header: Header) -> Mapping[str, Embedder | None]:
    """Those whose vectors the file's spaces are searched by, as far as they are here, and under ""
    the one in use."""
    told = header.told.get("embedding_models")
    names = [name for name in told if isinstance(name, str)] if isinstance(told, list) else []
    try:
        return {"": embedder(), **{name: embedder_of(name) for name in names}}
    except EngineError as error:
        log.warning("embedder.failed", error=str(error))
        return {}


class _DryRun(Exception):
    """Takes the transaction back."""


@contextmanager
def _taken_back(dry_run: bool) -> Iterator[None]:
    try:
        with transaction.atomic():
            yield
            if dry_run:
                raise _DryRun
    except _DryRun:
        return


def _once(
    tenant_id: UUID,
    file: IO[bytes],
    header: Header,
    renaming: Renaming,
    embedders: Mapping[str, Embedder | None],
    actor: str,
    now: datetime,
    wanted: Wanted,
) -> Report:
    report = Report(wanted.dry_run, header.version, header.scope)
    with tenant_scope(tenant_id), _taken_back(wanted.dry_run):
        coming = _Coming(Shape(tenant_id, renaming), header, embedders, actor, now, wanted, report)
        for number, told in lines.rows(file):
            coming.line(number, told)
        coming.end()
    return report


@dataclass
class _Coming:
    """A file on its way in: the space its lines belong to, and those not yet written."""

    shape: Shape
    header: Header
    embedders: Mapping[str, Embedder | None]
    actor: str
    now: datetime
    wanted: Wanted
    report: Report
    space: arriving.Arrival | None = None
    all_spaces: list[arriving.Arrival] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    taken: int = 0
    had_policy: bool | None = None
    kind: Kind | None = None
    held: list[Line] = field(default_factory=list)
    given: list[tuple[Any, ...]] = field(default_factory=list)

    def line(self, number: int, told: Mapping[str, Any]) -> None:
        name = told.get("row")
        if not isinstance(name, str):
            raise bad_line(number, 'has no "row"')
        known = OF_SPACE if self.space else OF_TENANT
        if name == SPACE:
            self._open(number, told)
        elif name == _TENANT:
            self._close()
        elif name == vectors.KIND and self.space:
            self._vector(number, told)
        elif name in known:
            self._row(known[name], number, told)
        elif name in OF_SPACE or name == vectors.KIND:
            raise bad_line(number, f"a {name} stands before any space")
        else:
            self.shape.ignored[name[:60]] += 1
            return
        self.counts[name] += 1

    def _open(self, number: int, told: Mapping[str, Any]) -> None:
        self._close()
        if self.all_spaces and self.header.scope == SPACE:
            raise bad_line(number, "a second space in a file of one")
        arrival = arriving.read(number, told, self.wanted.subject)
        if not self.wanted.restore_erased:
            erased.refuse_subject(number, arrival.given_id)
        arrival.take_place(self.shape, self.embedders)
        self.space = arrival
        self.all_spaces.append(arrival)

    def _row(self, kind: Kind, number: int, told: Mapping[str, Any]) -> None:
        if self.space and self.space.is_indexed:
            raise bad_line(number, "vectors come last in a space")
        if self.kind is not kind or len(self.held) >= BATCH:
            self._flush()
        self.kind = kind
        row = self.shape.row(kind, number, told, self.space.row if self.space else None)
        self.held.append((number, row))

    def _flush(self) -> None:
        if self.kind is not None and self.held and self._comes_in(self.kind):
            space = self.space.row if self.space else None
            if self.space and not self.wanted.restore_erased:
                back = Renaming(-self.shape.renaming.step)
                erased.refuse(self.kind, self.held, self.space.given_id, back)
            write(self.kind, self.held, space, self.shape.renaming)
        self.held = []

    def _comes_in(self, kind: Kind) -> bool:
        """A tenant's own policy stays what it is."""
        if self.space or kind.model is not PolicyVersion:
            return True
        if self.had_policy is None:
            self.had_policy = PolicyVersion.objects.filter(space=None).exists()
        if self.had_policy:
            before = self.report.left_out.get(kind.name, 0)
            self.report.left_out[kind.name] = before + len(self.held)
        return not self.had_policy

    def _vector(self, number: int, told: Mapping[str, Any]) -> None:
        assert self.space is not None
        if not self.space.is_indexed:
            self._flush()
            self._index()
        try:
            given = vectors.read(told, self.shape.renaming, self.space.dimension)
        except ValueError as error:
            raise bad_line(number, f"vector: {error}") from error
        self.given.append(given)
        if len(self.given) >= BATCH:
            self._take()

    def _take(self) -> None:
        if self.space and self.space.keeps_vectors and not self.wanted.dry_run:
            self.taken += vectors.take(self.space.row, self.given)
        self.given = []

    def _index(self) -> None:
        assert self.space is not None
        self.space.is_indexed = True
        self.space.settle()
        if not self.wanted.dry_run:
            settling.index(self.space.row, self.space.model)

    def _close(self) -> None:
        """The space is complete."""
        self._flush()
        if self.space is None:
            return
        if not self.space.is_indexed:
            self._index()
        self._take()
        for kind in OF_SPACE.values():
            refer_to_themselves(kind, self.space.row, self.shape.renaming)
        self.space = None

    def end(self) -> None:
        self._close()
        if not self.all_spaces and self.header.scope == SPACE:
            raise InvalidInput(_("there is no space in this file"), code="bad_line", field="space")
        self._counted()
        waiting = 0
        for arrival in self.all_spaces:
            settling.refuse_policy(arrival.row)
            if not self.wanted.dry_run:
                about = self.header.about(arrival.given_subject)
                settling.tell(arrival.row, self.actor, self.now, about)
                waiting += settling.plan(arrival.row, self.now)
        self._tell(waiting)

    def _counted(self) -> None:
        """What the header promised came. Raises InvalidInput."""
        known = {*OF_SPACE, *OF_TENANT, SPACE, vectors.KIND, _TENANT}
        for kind, told in self.header.counts.items():
            if kind in known and self.counts[kind] != told:
                what = f"the header counts {told:,} of {kind[:60]}; there are {self.counts[kind]:,}"
                raise bad_line(1, what)

    def _tell(self, waiting: int) -> None:
        self.report.counts = dict(self.counts)
        self.report.ignored = dict(self.shape.ignored)
        self.report.vectors = {"taken": self.taken, "to_make": waiting}
        self.report.spaces = [
            {"id": str(each.row.id), "subject": each.row.subject, "existed": each.existed}
            for each in self.all_spaces
        ]
