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
from memoryhub.exchange.columns import columns_of
from memoryhub.exchange.kinds import OF_SPACE
from memoryhub.exchange.lines import bad_line
from memoryhub.exchange.rows import Shape, Taken
from memoryhub.pipeline.models import Job
from memoryhub.tenants.models import Space
from memoryhub.tenants.services import clean_subject

# What of a space's own row is the file's, once its rows are in.
_TOLD: tuple[str, ...] = ("name", "timezone", "speakers", "next_seq", "created_at")
_TOLD += ("last_activity_at", "paused_at", "paused_by")


@dataclass
class Arrival:
    """A space as the file tells of it. `row`: what it is here; `given_id` and `given_subject`: what
    it is in the file.

    `keeps_vectors`: the embedder that made the file's vectors is here too, and makes vectors of
    `dimension` numbers.
    """

    given_id: UUID
    given_subject: str
    subject: str
    told: dict[str, Any]
    embedding_model: str
    row: Space
    existed: bool = False
    keeps_vectors: bool = False
    dimension: int = 0
    model: str = ""
    is_indexed: bool = False

    def take_place(self, shape: Shape, embedders: Mapping[str, Embedder | None]) -> None:
        """Call inside the tenant's scope. Raises Conflict where the subject has memories, Taken."""
        rows = Space.objects.select_for_update().filter(subject=self.subject)
        held: Space | None = rows.first()
        if held is not None:
            _refuse_full(held)
            self.row, self.existed = held, True
        else:
            self.row = self._made(shape)
        shape.spaces[self.given_id] = self.row
        found = embedders.get(self.embedding_model)
        current = embedders.get("")
        self.keeps_vectors = bool(self.embedding_model and found)
        self.dimension = found.dimension if found else 0
        used = found or current
        self.model = used.name if used else self.embedding_model
        # A space that nothing is found in yet is searched by whatever finds the first of it.
        self.row.embedding_model = self.model if self.embedding_model else ""

    def _made(self, shape: Shape) -> Space:
        made = Space(
            id=shape.renaming.of(self.given_id), tenant_id=shape.tenant_id, subject=self.subject
        )
        try:
            with transaction.atomic():
                made.save(force_insert=True)
        except IntegrityError as error:
            if shape.renaming.step:
                raise Conflict(_("this subject was made meanwhile"), code="not_empty") from error
            raise Taken from error
        made.speakers, made.timezone = self.told["speakers"], self.told["timezone"]
        return made

    def settle(self) -> None:
        """The space's own columns, once its rows are in. `next_seq` never goes back (X2)."""
        last = Turn.objects.filter(space=self.row).aggregate(last=Max("seq"))["last"] or 0
        values = self.told | {"next_seq": max(self.told["next_seq"], last + 1)}
        values["embedding_model"] = self.row.embedding_model
        if self.row.paused_at:  # a file does not end a pause
            values |= {"paused_at": self.row.paused_at, "paused_by": self.row.paused_by}
        Space.objects.filter(id=self.row.id).update(**values)
        self.row.refresh_from_db()


def read(number: int, told: Mapping[str, Any], subject: str) -> Arrival:
    """Of a line. Raises InvalidInput that names it."""
    columns = {column.name: column for column in columns_of(Space)}
    values: dict[str, Any] = {}
    for name in ("id", "subject", "embedding_model", *_TOLD):
        try:
            values[name] = (
                columns[name].read(told[name]) if name in told else columns[name].otherwise()
            )
        except (ValueError, OverflowError) as error:
            raise bad_line(number, f"space: {name} {error}") from error
    try:
        ZoneInfo(values["timezone"])
    except (KeyError, ValueError, OSError) as error:  # whatever the name leads to
        raise bad_line(number, "space: timezone is none that is known") from error
    if values["next_seq"] < 1:
        raise bad_line(number, "space: next_seq is below 1")
    named = clean_subject(subject or values["subject"])
    about = {name: values[name] for name in _TOLD}
    if not isinstance(about["created_at"], datetime):
        raise bad_line(number, "space: created_at is missing")
    return Arrival(
        values["id"], values["subject"], named, about, values["embedding_model"], Space()
    )


def _refuse_full(space: Space) -> None:
    """Raises Conflict that says what there is."""
    there = {kind.name: kind.of(space).count() for kind in OF_SPACE.values()}
    there["job"] = Job.objects.filter(space=space).count()
    if held := {name: count for name, count in there.items() if count}:
        raise Conflict(
            _(
                "%(subject)s has memories here already: import under another subject, or erase"
                " these first"
            )
            % {"subject": space.subject},
            code="not_empty",
            field="subject",
            held=held,
        )
