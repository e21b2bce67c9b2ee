"""Change-sets: every change to a derived row is written with its cause (I2, I6)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any
from uuid import UUID

from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Model, QuerySet

from memoryhub.background.news import News, notify_listeners
from memoryhub.policies.services import load_effective_policy
from memoryhub.tenants.database.prepared import insert_rows
from memoryhub.tenants.models import Space
from notes.history.news import build_news
from notes.models import COUNTER_COLUMNS, Derivation, EvolutionEvent, Revision

_UNRECORDED_COLUMNS = frozenset({"tenant_id", "space_id"}) | COUNTER_COLUMNS


@dataclass(frozen=True, slots=True)
class TurnEvidence:
    """A turn, and the characters of it that support a row; `via` the row in between, if any."""

    turn_id: UUID
    start: int | None = None
    end: int | None = None
    role: str = Derivation.Role.SUPPORT
    via_type: str = ""
    via_id: UUID | None = None


def filter_supports(row_type: str, **of: Any) -> QuerySet[Derivation]:
    rows: QuerySet[Derivation] = Derivation.objects.filter(child_type=row_type, **of)
    return rows.filter(role=Derivation.Role.SUPPORT)


def load_supports(row_type: str, row_ids: Iterable[UUID]) -> dict[UUID, list[TurnEvidence]]:
    """What supports each row, in the order in which it was said. One statement, none for no
    rows. Call inside the tenant's scope."""
    found: dict[UUID, list[TurnEvidence]] = {}
    if ids := list(row_ids):
        for row in filter_supports(row_type, child_id__in=ids).order_by("turn__seq", "id"):
            found.setdefault(row.child_id, []).append(
                TurnEvidence(
                    row.turn_id, row.span_start, row.span_end, row.role, row.via_type, row.via_id
                )
            )
    return found


def load_supports_of(row: Any) -> list[TurnEvidence]:
    return load_supports(row._meta.model_name, [row.id]).get(row.id, [])


def serialize_row(row: Model) -> dict[str, Any]:
    """The row's own columns as JSON values, without those that reading changes."""
    held = ((name, getattr(row, name)) for name in _list_columns(type(row)))
    return {
        name: value if type(value) in _JSON_TYPES else _serialize_value(value)
        for name, value in held
    }


# A roll-back asks for the values of every row of a space, more than once.
@cache
def _list_columns(model: type[Model]) -> list[str]:
    names = [column.attname for column in model._meta.concrete_fields]
    return [name for name in names if name not in _UNRECORDED_COLUMNS]


_JSON_TYPES: tuple[type, ...] = (str, int, float, bool, list, dict, type(None))
_encoder = DjangoJSONEncoder()


def _serialize_value(value: Any) -> Any:
    """Of another type: a choice is text, the rest is written as JSON writes it."""
    return value if isinstance(value, _JSON_TYPES) else _encoder.default(value)


@dataclass
class ChangeSet:
    """Collects what one event did, and writes it in three statements; then it tells.

    `policy_version`: under which it was decided; "" stands for the one in force when it is saved.
    """

    space: Space
    kind: str
    actor: str
    at: datetime
    reason: str = ""
    engine: str = ""
    job_id: UUID | None = None
    trigger: str = ""
    policy_version: str = ""
    undo_of: EvolutionEvent | None = None
    revisions: list[Revision] = field(default_factory=list)
    derivations: list[Derivation] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.event = EvolutionEvent(
            tenant_id=self.space.tenant_id,
            space=self.space,
            kind=self.kind,
            actor=self.actor,
            reason=self.reason,
            engine=self.engine,
            job_id=self.job_id,
            trigger=self.trigger,
            policy_version=self.policy_version,
            undo_of=self.undo_of,
            created_at=self.at,
        )

    def record_creation(self, row: Any, sources: Iterable[TurnEvidence]) -> None:
        self._add_revision(row, None, getattr(row, "version", 1), after=serialize_row(row))
        self.record_support(row, sources)

    def record_change(self, row: Any, before: dict[str, Any]) -> None:
        """Call after the row's values and version were changed; `before` from `serialize_row`."""
        self._add_revision(
            row, before["version"], row.version, before=before, after=serialize_row(row)
        )

    def edit_row(self, row: Any, **values: Any) -> None:
        """Set columns by their attribute names and raise the version, in memory: the caller
        writes the row, which it has locked."""
        before = serialize_row(row)
        for name, value in values.items():
            setattr(row, name, value)
        row.version += 1
        self.record_change(row, before)

    def update_row(self, row: Any, **values: Any) -> None:
        """The same, and written at once."""
        self.edit_row(row, **values)
        row.save(update_fields=[*values, "version"])

    def record_removal(self, row: Any) -> None:
        """A record without a version of its own (a membership) that goes; before it is deleted."""
        version = getattr(row, "version", 1)
        self._add_revision(row, version, version + 1, before=serialize_row(row))

    def record_erasure(self, row: Any) -> None:
        """A row that is deleted: that it went is told, and nothing of what it was."""
        version = getattr(row, "version", 1)
        self._add_revision(row, version, version + 1)

    def record_support(self, row: Any, sources: Iterable[TurnEvidence]) -> None:
        self.derivations += [
            Derivation(
                tenant_id=self.space.tenant_id,
                space=self.space,
                child_type=row._meta.model_name,
                child_id=row.id,
                child_version=getattr(row, "version", 1),
                turn_id=source.turn_id,
                span_start=source.start,
                span_end=source.end,
                role=source.role,
                via_type=source.via_type,
                via_id=source.via_id,
                event=self.event,
            )
            for source in sources
        ]

    def _add_revision(
        self,
        row: Any,
        version_before: int | None,
        version_after: int,
        *,
        before: dict[str, Any] | None = None,
        after: dict[str, Any] | None = None,
    ) -> None:
        self.revisions.append(
            Revision(
                tenant_id=self.space.tenant_id,
                space_id=self.space.id,
                event=self.event,
                row_type=row._meta.model_name,
                row_id=row.id,
                version_before=version_before,
                version_after=version_after,
                before=before,
                after=after,
            )
        )

    def save(self) -> None:
        """Write the event with its revisions and derivations; nothing when nothing happened."""
        if not self.revisions and not self.derivations:
            return
        if not self.event.policy_version:
            self.event.policy_version = load_effective_policy(self.space).version
        insert_rows(EvolutionEvent, [vars(self.event)])
        self.event._state.adding = False
        insert_rows(Revision, [vars(row) for row in self.revisions])
        insert_rows(Derivation, [vars(row) for row in self.derivations])
        notify_listeners(self.space.tenant_id, self._build_news)

    def _build_news(self) -> Iterable[News]:
        return build_news(
            self.revisions,
            self.at,
            space_id=self.space.id,
            event_id=self.event.id,
            job_id=self.job_id,
        )
