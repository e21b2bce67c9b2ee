"""From records to memories: one way in for all sources, whether it is tried or done.

The file is read through before anything is written: a broken one is refused whole. Then what was
said goes to `ingest`, as through the API, and is read by the pipeline; what is ready-made is
written by `storing`. Importing a file again adds nothing, and goes on where a crash broke it off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from memoryhub.errors import InvalidInput, MemoryHubError
from memoryhub.importers import storing
from memoryhub.importers.records import (
    KINDS,
    Block,
    Kind,
    Memory,
    Passage,
    Record,
    Skipped,
    Talk,
    Unknown,
)
from memoryhub.importers.report import Report, kind_of, size_of
from memoryhub.importers.sources.base import Source
from memoryhub.importers.storing import Origin
from memoryhub.importers.streaming import Item, Open, items
from memoryhub.pipeline.services import IngestRequest, append, ingest
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import clean_subject, ensure_space

# Ready-made memories written in one event.
BATCH = 200
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Wanted:
    """An import as it was asked for. `subject`: whose all of it is, "": whom the file names.
    `only`: the kinds to take."""

    source: Source
    open_file: Open
    file: str
    actor: str
    subject: str = ""
    only: frozenset[Kind] = frozenset(KINDS)
    dry_run: bool = False

    def items(self) -> Iterator[Item]:
        return items(self.open_file, self.source.sections)

    def records(self) -> Iterator[Record]:
        """What is wanted of what the source reads."""
        for record in self.source.read(self.items):
            if isinstance(record, (Skipped, Unknown)) or kind_of(record) in self.only:
                yield record

    def subject_of(self, record: Record) -> str:
        named = "" if isinstance(record, (Skipped, Unknown)) else record.subject
        return self.subject or named


def load(
    tenant_id: UUID, wanted: Wanted, now: datetime, progress: Progress = lambda done, total: None
) -> Report:
    """Raises InvalidInput, which names the place, before anything is written: for a file that is
    broken, holds nothing of this source, or says not whose memories it holds."""
    report = checked(wanted)
    if not report.total:
        return report
    origin = Origin(
        wanted.source.name, wanted.source.title, wanted.file[:200], wanted.actor[:120], now
    )
    loader = _Loader(tenant_id, wanted, origin, report, progress)
    loader.run()
    return report


def checked(wanted: Wanted) -> Report:
    """The file, read through: what it has, and nothing written or looked up."""
    report = Report(wanted.source.name, wanted.file[:200], wanted.dry_run)
    if wanted.subject:
        clean_subject(wanted.subject)
    ownerless = 0
    for record in wanted.records():
        subject = wanted.subject_of(record)
        if not subject and not isinstance(record, (Skipped, Unknown)):
            ownerless += size_of(record)
            report.skip(_ownerless(record))
        else:
            report.saw(record, subject)
    if ownerless and not report.total:
        message = _("the file does not say whose memories these are: name a subject")
        raise InvalidInput(message, field="subject")
    if not report.total and not report.reasons:
        message = _("nothing of %(source)s is in the file")
        raise InvalidInput(message % {"source": wanted.source.title}, field="file")
    return report


def _ownerless(record: Talk | Memory | Passage | Block) -> Skipped:
    reason = gettext_noop("it does not say whose it is: name a subject")
    own_id = record.id if isinstance(record, (Memory, Passage)) else ""
    return Skipped(record.where, reason, kind_of(record), own_id, size_of(record))


@dataclass
class _Loader:
    tenant_id: UUID
    wanted: Wanted
    origin: Origin
    report: Report
    progress: Progress
    done: int = 0
    memories: dict[str, list[Memory]] = field(default_factory=dict)
    passages: dict[str, list[Passage]] = field(default_factory=dict)
    # Ids of facts and notes of this file so far, by subject: a file may name one twice.
    seen: set[tuple[str, str, str]] = field(default_factory=set)

    def run(self) -> None:
        for record in self.wanted.records():
            if isinstance(record, (Skipped, Unknown)):
                continue  # counted when the file was checked
            subject = self.wanted.subject_of(record)
            if subject:
                self._take(record, subject)
        self._flush()

    def _take(self, record: Talk | Memory | Passage | Block, subject: str) -> None:
        if isinstance(record, Talk):
            self._say(record, subject)
        elif isinstance(record, Block):
            self._block(record, subject)
        elif self._is_new_in_file(record, subject):
            if isinstance(record, Memory):
                self.memories.setdefault(subject, []).append(record)
            else:
                self.passages.setdefault(subject, []).append(record)
            held = sum(len(each) for each in self.memories.values())
            if held + sum(len(each) for each in self.passages.values()) >= BATCH:
                self._flush()

    def _is_new_in_file(self, record: Memory | Passage, subject: str) -> bool:
        key = (subject, kind_of(record), record.id)
        if record.id and key in self.seen:
            reason = gettext_noop("an earlier item of the file has this id")
            self._skipped(Skipped(record.where, reason, kind_of(record), record.id))
            return False
        self.seen.add(key)
        return True

    def _skipped(self, record: Skipped) -> None:
        self.report.skip(record)
        self._advance(record.count)

    def _advance(self, count: int) -> None:
        self.done += count
        self.progress(self.done, self.report.total)

    def _count(self, kind: Kind, taken: int, already: int) -> None:
        self.report.taken[kind] += taken
        self.report.already[kind] += already
        self._advance(taken + already)

    def _say(self, talk: Talk, subject: str) -> None:
        for at in range(0, len(talk.messages), settings.MAX_MESSAGES):
            messages = talk.messages[at : at + settings.MAX_MESSAGES]
            request = IngestRequest(
                subject,
                messages,
                session=talk.session,
                agent=talk.agent,
                channel=self.origin.engine,
            )
            try:
                new = self._told(request)
            except MemoryHubError as error:
                reason = f"{error.field or 'messages'}: {error.message}"
                self._skipped(Skipped(talk.where, reason, "turn", talk.session, len(messages)))
            else:
                self._count("turn", new, len(messages) - new)

    def _told(self, request: IngestRequest) -> int:
        """How many of the messages are new; with a dry run, what was written is taken back."""
        if not self.wanted.dry_run:
            return len(ingest(self.tenant_id, request).new)
        with tenant_scope(self.tenant_id):
            mark = transaction.savepoint()
            try:
                space = ensure_space(self.tenant_id, request.subject)
                return len(append(space, request, self.origin.now).new)
            finally:
                transaction.savepoint_rollback(mark)

    def _space(self, subject: str) -> Space | None:
        """None with a dry run, where there is none yet."""
        with tenant_scope(self.tenant_id):
            if not self.wanted.dry_run:
                return ensure_space(self.tenant_id, subject)
            return Space.objects.filter(subject=clean_subject(subject)).first()

    def _flush(self) -> None:
        for subject, memories in self.memories.items():
            self._facts(self._space(subject), memories)
        for subject, passages in self.passages.items():
            self._notes(self._space(subject), passages)
        self.memories.clear()
        self.passages.clear()

    def _facts(self, space: Space | None, memories: list[Memory]) -> None:
        places = storing.placed(space, memories, self.origin)
        new = [place for place in places if not place.known]
        if new and space is not None and not self.wanted.dry_run:
            storing.take_facts(space, new, self.origin)
        self._count("fact", len(new), len(places) - len(new))

    def _notes(self, space: Space | None, passages: list[Passage]) -> None:
        known = storing.known_notes(space, passages, self.origin)
        new = [
            passage
            for passage in passages
            if space is None or storing.note_id(space, passage, self.origin) not in known
        ]
        if new and space is not None and not self.wanted.dry_run:
            storing.take_notes(space, new, self.origin)
        self._count("note", len(new), len(passages) - len(new))

    def _block(self, block: Block, subject: str) -> None:
        space = self._space(subject)
        there = storing.block_there(space, block)
        if there is not None and there.value == block.value:
            self._count("block", 0, 1)
            return
        reason = storing.refusal(there, block)
        if not reason and space is not None and not self.wanted.dry_run:
            reason = storing.take_block(space, there, block, self.origin)
        if reason:
            self._skipped(Skipped(block.where, reason, "block", block.label))
        else:
            self._count("block", 1, 0)


def kinds_of(names: Iterable[str]) -> frozenset[Kind]:
    """Raises InvalidInput for what is no kind; all kinds where none is named."""
    given = [name for name in names if name]
    found = frozenset(kind for kind in KINDS if kind in given)
    if unknown := [name for name in given if name not in KINDS]:
        known = ", ".join(KINDS)
        raise InvalidInput(
            _("%(unknown)s is none of %(known)s")
            % {"unknown": repr(unknown[0][:40]), "known": known},
            field="only",
        )
    return found or frozenset(KINDS)
