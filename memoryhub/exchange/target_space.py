"""The space a file's rows come into: a new one, or one of the same subject that is empty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from memoryhub.dialogues.models import Turn
from memoryhub.engines.types import Embedder
from memoryhub.errors import Conflict
from memoryhub.exchange.columns import list_columns
from memoryhub.exchange.file_format import build_line_error
from memoryhub.exchange.rows import IdTaken, RowBuilder
from memoryhub.exchange.tables import SPACE_TABLES
from memoryhub.pipeline.models import Job
from memoryhub.subject_names import MAX_OWNER_LENGTH, reads_like_name
from memoryhub.tenants.models import Space
from memoryhub.tenants.services import clean_subject, refuse_hidden_characters

# What of a space's own row is the file's, once its rows are in.
_IMPORTED_COLUMNS: tuple[str, ...] = ("name", "former_names", "timezone", "speakers", "next_seq")
_IMPORTED_COLUMNS += ("created_at", "last_activity_at", "paused_at", "paused_by")


@dataclass
class TargetSpace:
    """A space as the file tells of it. `row`: what it is here; `file_id` and `file_subject`: what
    it is in the file.

    `keeps_vectors`: the embedder that made the file's vectors is here too, and makes vectors of
    `dimension` numbers.
    """

    file_id: UUID
    file_subject: str
    subject: str
    columns: dict[str, Any]
    embedding_model: str
    row: Space
    existed: bool = False
    keeps_vectors: bool = False
    dimension: int = 0
    model: str = ""
    is_indexed: bool = False

    def open_space(self, shape: RowBuilder, embedders: Mapping[str, Embedder | None]) -> None:
        """Call inside the tenant's scope. Raises Conflict where the subject has memories, Taken."""
        rows = Space.objects.select_for_update().filter(subject=self.subject)
        held: Space | None = rows.first()
        if held is not None:
            _check_is_empty(held)
            self.row, self.existed = held, True
        else:
            self.row = self._create_space(shape)
        shape.spaces[self.file_id] = self.row
        found = embedders.get(self.embedding_model)
        current = embedders.get("")
        self.keeps_vectors = bool(self.embedding_model and found)
        self.dimension = found.dimension if found else 0
        used = found or current
        self.model = used.name if used else self.embedding_model
        # A space that nothing is found in yet is searched by whatever finds the first of it.
        self.row.embedding_model = self.model if self.embedding_model else ""

    def _create_space(self, shape: RowBuilder) -> Space:
        space_id = shape.id_shift.shift_id(self.file_id)
        made = Space(id=space_id, tenant_id=shape.tenant_id, subject=self.subject)
        try:
            with transaction.atomic():
                made.save(force_insert=True)
        except IntegrityError as error:
            if shape.id_shift.step:
                raise Conflict(_("this subject was made meanwhile"), code="not_empty") from error
            raise IdTaken from error
        made.speakers, made.timezone = self.columns["speakers"], self.columns["timezone"]
        return made

    def save_columns(self) -> None:
        """The space's own columns, once its rows are in. `next_seq` never goes back (X2)."""
        last = Turn.objects.filter(space=self.row).aggregate(last=Max("seq"))["last"] or 0
        values = self.columns | {"next_seq": max(self.columns["next_seq"], last + 1)}
        values["embedding_model"] = self.row.embedding_model
        if self.row.paused_at:  # a file does not end a pause
            values |= {"paused_at": self.row.paused_at, "paused_by": self.row.paused_by}
        Space.objects.filter(id=self.row.id).update(**values)
        self.row.refresh_from_db()


def read_target_space(number: int, told: Mapping[str, Any], subject: str) -> TargetSpace:
    """Of a line. Raises InvalidInput that names it."""
    columns = {column.name: column for column in list_columns(Space)}
    values: dict[str, Any] = {}
    for name in ("id", "subject", "embedding_model", *_IMPORTED_COLUMNS):
        column = columns[name]
        try:
            values[name] = column.read(told[name]) if name in told else column.get_default()
        except (ValueError, OverflowError) as error:
            raise build_line_error(number, f"space: {name} {error}") from error
    try:
        ZoneInfo(values["timezone"])
    except (KeyError, ValueError, OSError) as error:  # whatever the name leads to
        raise build_line_error(number, "space: timezone is none that is known") from error
    if values["next_seq"] < 1:
        raise build_line_error(number, "space: next_seq is below 1")
    named = clean_subject(subject or values["subject"])
    about = {name: values[name] for name in _IMPORTED_COLUMNS}
    if not isinstance(about["created_at"], datetime):
        raise build_line_error(number, "space: created_at is missing")
    if named != values["subject"]:
        refuse_hidden_characters(named)
        _keep_called(about, values["subject"])
    return TargetSpace(
        values["id"], values["subject"], named, about, values["embedding_model"], Space()
    )


def _keep_called(about: dict[str, Any], subject: str) -> None:
    """Under another name somebody is called as before: it stands in what is written, and is whom
    messages are from."""
    about["former_names"] = sorted({*about["former_names"], subject})
    if not about["name"] and reads_like_name(subject):
        about["name"] = subject[:MAX_OWNER_LENGTH]


def _check_is_empty(space: Space) -> None:
    """Raises Conflict that says what there is."""
    there = {kind.name: kind.select_rows(space).count() for kind in SPACE_TABLES.values()}
    there["job"] = Job.objects.filter(space=space).count()
    if held := {name: count for name, count in there.items() if count}:
        message = _(
            "%(subject)s has memories here already: import under another subject, or erase"
            " these first"
        )
        told = {"subject": space.subject}
        raise Conflict(message % told, code="not_empty", field="subject", held=held)
