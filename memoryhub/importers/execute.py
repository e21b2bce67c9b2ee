"""From records to memories: one way in for all sources, whether it is tried or done.

The file is read through before anything is written: a broken one is refused whole. Then what was
said goes to `ingest`, as through the API, and is read by the pipeline; what is ready-made is
written by `write`. Importing a file again adds nothing, and goes on where a crash broke it off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from memoryhub.errors import InvalidInput, MemoryHubError
from memoryhub.importers import write
from memoryhub.importers.fields import ImportSource
from memoryhub.importers.json_stream import OpenFile, stream_items
from memoryhub.importers.records import (
    RECORD_KINDS,
    BlockRecord,
    ContentRecord,
    MemoryRecord,
    PassageRecord,
    Record,
    RecordKind,
    SessionRecord,
    SkippedRecord,
)
from memoryhub.importers.report import ImportReport
from memoryhub.importers.sources import OWN_EXPORT, find_other_system, is_readable
from memoryhub.importers.turns import take_turn
from memoryhub.importers.write import ImportOrigin
from memoryhub.pipeline.ingest.services import IngestRequest, append_messages, ingest_messages
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import clean_subject, ensure_space, find_space
from personas.blocks import MAX_CHAR_LIMIT

# Ready-made memories written in one event.
BATCH_SIZE = 200
Progress = Callable[[int, int], None]


class MisreadFile(InvalidInput):
    """A file that is whole, and may be read when it is asked for in another way."""


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """An import as it was asked for. `subject`: whose all of it is, "": whom the file names.
    `only`: the kinds to take."""

    source: ImportSource
    open_file: OpenFile
    file: str
    actor: str
    subject: str = ""
    only: frozenset[RecordKind] = frozenset(RECORD_KINDS)
    dry_run: bool = False

    def read_records(self) -> Iterator[Record]:
        """What is wanted of what the source reads, about whom it was asked for."""
        for record in self.source.read(partial(stream_items, self.open_file, self.source.sections)):
            if not isinstance(record, ContentRecord):
                yield record
            elif record.kind in self.only:
                yield replace(record, subject=self.subject or record.subject)


def import_file(
    tenant_id: UUID,
    wanted: ImportRequest,
    now: datetime,
    progress: Progress = lambda done, total: None,
) -> ImportReport:
    """Raises InvalidInput, which names the place, before anything is written: for a file that is
    broken, of another system, holds nothing of this source, or says not whose memories it holds."""
    report = check_file(wanted)
    if not report.total:
        return report
    source = wanted.source
    origin = ImportOrigin(source.name, source.title, wanted.file[:200], wanted.actor[:120], now)
    _FileImporter(tenant_id, wanted, origin, report, progress).run()
    return report


def check_file(wanted: ImportRequest) -> ImportReport:
    """The file, read through: what it has, and nothing written or looked up."""
    report = ImportReport(wanted.source.name, wanted.file[:200], wanted.dry_run)
    if wanted.subject:
        clean_subject(wanted.subject)
    if other := find_other_system(wanted.source, wanted.open_file):
        told = _describe_other_system(other, wanted.source)
        raise (MisreadFile if is_readable(other) else InvalidInput)(told, field="file")
    ownerless = 0
    for record in wanted.read_records():
        if not isinstance(record, ContentRecord):
            report.count_record(record, "")
        elif record.subject:
            report.count_record(record, record.subject)
        else:
            ownerless += record.count
            reason = gettext_noop("it does not say whose it is: name a subject")
            own_id = record.id if isinstance(record, (MemoryRecord, PassageRecord)) else ""
            skipped = SkippedRecord(record.where, reason, record.kind, own_id, record.count)
            report.add_skipped(skipped)
    if ownerless and not report.total:
        message = _("the file does not say whose memories these are: name a subject")
        raise MisreadFile(message, field="subject")
    if not report.total and not report.reasons:
        message = _("nothing of %(source)s is in the file")
        raise MisreadFile(message % {"source": _(wanted.source.title)}, field="file")
    return report


def _describe_other_system(other: str, source: ImportSource) -> str:
    if other == OWN_EXPORT:
        return _(
            "this is an export of MemoryHub: it comes in with its history by “Import an export”, "
            "or POST /api/v1/import"
        )
    told = {"found": _(other), "source": _(source.title)}
    return _("this is a file of %(found)s, not of %(source)s") % told


@dataclass
class _FileImporter:
    tenant_id: UUID
    request: ImportRequest
    origin: ImportOrigin
    report: ImportReport
    progress: Progress
    done: int = 0
    memories: dict[str, list[MemoryRecord]] = field(default_factory=dict)
    passages: dict[str, list[PassageRecord]] = field(default_factory=dict)
    # Ids of facts and notes of this file so far, by subject: a file may name one twice.
    seen: set[tuple[str, str, str]] = field(default_factory=set)

    def run(self) -> None:
        for record in self.request.read_records():
            # What is none of these was counted when the file was checked.
            if isinstance(record, ContentRecord) and record.subject:
                self._import_record(record)
        self._write_batch()

    def _import_record(self, record: ContentRecord) -> None:
        if isinstance(record, SessionRecord):
            self._import_session(record)
        elif isinstance(record, BlockRecord):
            self._import_block(record)
        elif self._is_new_in_file(record):
            if isinstance(record, MemoryRecord):
                self.memories.setdefault(record.subject, []).append(record)
            else:
                self.passages.setdefault(record.subject, []).append(record)
            held = sum(len(each) for each in self.memories.values())
            if held + sum(len(each) for each in self.passages.values()) >= BATCH_SIZE:
                self._write_batch()

    def _is_new_in_file(self, record: MemoryRecord | PassageRecord) -> bool:
        key = (record.subject, record.kind, record.id)
        if record.id and key in self.seen:
            reason = gettext_noop("an earlier item of the file has this id")
            self._add_skipped(SkippedRecord(record.where, reason, record.kind, record.id))
            return False
        self.seen.add(key)
        return True

    def _add_skipped(self, record: SkippedRecord) -> None:
        self.report.add_skipped(record)
        self._advance_progress(record.count)

    def _advance_progress(self, count: int) -> None:
        self.done += count
        self.progress(self.done, self.report.total)

    def _count_imported(self, kind: RecordKind, taken: int, already: int) -> None:
        self.report.taken[kind] += taken
        self.report.already[kind] += already
        self._advance_progress(taken + already)

    def _import_session(self, talk: SessionRecord) -> None:
        for at in range(0, len(talk.messages), settings.MAX_MESSAGES):
            messages = talk.messages[at : at + settings.MAX_MESSAGES]
            request = IngestRequest(
                talk.subject, messages, talk.session, talk.agent, channel=self.origin.engine
            )
            try:
                new = self._ingest_messages(request)
            except MemoryHubError as error:
                reason, count = f"{error.field or 'messages'}: {error.message}", len(messages)
                self._add_skipped(SkippedRecord(talk.where, reason, "turn", talk.session, count))
            else:
                self._count_imported("turn", new, len(messages) - new)

    def _ingest_messages(self, request: IngestRequest) -> int:
        """How many of the messages are new; with a dry run, what was written is taken back."""
        if not self.request.dry_run:
            return len(ingest_messages(self.tenant_id, request).new)
        with tenant_scope(self.tenant_id):
            mark = transaction.savepoint()
            try:
                space = ensure_space(self.tenant_id, request.subject)
                return len(append_messages(space, request, self.origin.now).new)
            finally:
                transaction.savepoint_rollback(mark)

    def _find_space(self, subject: str) -> Space | None:
        """None with a dry run, where there is none yet."""
        with tenant_scope(self.tenant_id):
            if not self.request.dry_run:
                return ensure_space(self.tenant_id, subject)
            return find_space(subject)

    def _write_batch(self) -> None:
        for subject, memories in self.memories.items():
            space = self._find_space(subject)
            with take_turn(space):
                self._write_facts(space, memories)
        for subject, passages in self.passages.items():
            space = self._find_space(subject)
            with take_turn(space):
                self._write_notes(space, passages)
        self.memories.clear()
        self.passages.clear()

    def _write_facts(self, space: Space | None, memories: list[MemoryRecord]) -> None:
        places = write.match_lineages(space, memories, self.origin)
        new = [place for place in places if not place.known]
        if new and space is not None and not self.request.dry_run:
            write.write_facts(space, new, self.origin)
        self._count_imported("fact", len(new), len(places) - len(new))

    def _write_notes(self, space: Space | None, passages: list[PassageRecord]) -> None:
        known = write.find_known_notes(space, passages, self.origin)
        new = [
            passage
            for passage in passages
            if space is None or write.build_note_id(space, passage, self.origin) not in known
        ]
        if new and space is not None and not self.request.dry_run:
            write.write_notes(space, new, self.origin)
        self._count_imported("note", len(new), len(passages) - len(new))

    def _import_block(self, block: BlockRecord) -> None:
        space = self._find_space(block.subject)
        with take_turn(space):
            self._write_block(space, block)

    def _write_block(self, space: Space | None, block: BlockRecord) -> None:
        there = write.find_block(space, block)
        if there is not None and there.value == block.value:
            self._count_imported("block", 0, 1)
            return
        reason = ""
        if len(block.value) > MAX_CHAR_LIMIT:
            reason = f"value: at most {MAX_CHAR_LIMIT} characters"
        elif there is not None and there.value.strip():
            reason = gettext_noop("a block of this label is there, with other words")
        elif space is not None and not self.request.dry_run:
            reason = write.write_block(space, there, block, self.origin)
        if reason:
            self._add_skipped(SkippedRecord(block.where, reason, "block", block.label))
        else:
            self._count_imported("block", 1, 0)


def parse_kinds(names: Iterable[str]) -> frozenset[RecordKind]:
    """Raises InvalidInput for what is no kind; all kinds where none is named."""
    given = [name for name in names if name]
    found = frozenset(kind for kind in RECORD_KINDS if kind in given)
    if unknown := [name for name in given if name not in RECORD_KINDS]:
        known = ", ".join(RECORD_KINDS)
        told = {"unknown": repr(unknown[0][:40]), "known": known}
        raise InvalidInput(_("%(unknown)s is none of %(known)s") % told, field="only")
    return found or frozenset(RECORD_KINDS)
