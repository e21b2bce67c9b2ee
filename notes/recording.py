"""Change-sets: every change to a derived row is written with its cause (I2, I6)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any
from uuid import UUID

from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Model

from memoryhub.news import News, tell
from memoryhub.policies.services import policy_of
from memoryhub.tenants.models import Space
from notes.models import COUNTERS, Derivation, EvolutionEvent, Revision
from notes.telling import news_of

_LEFT_OUT = frozenset({"tenant_id", "space_id"}) | COUNTERS


@dataclass(frozen=True, slots=True)
class Source:
    """A turn, and the characters of it that support a row; `via` the row in between, if any."""

    turn_id: UUID
    start: int | None = None
    end: int | None = None
    role: str = Derivation.Role.SUPPORT
    via_type: str = ""
    via_id: UUID | None = None


def values_of(row: Model) -> dict[str, Any]:
    """The row's own columns as JSON values, without those that reading changes."""
    held = ((name, getattr(row, name)) for name in _columns(type(row)))
    return {name: value if type(value) in _PLAIN else _plain(value) for name, value in held}


# A roll-back asks for the values of every row of a space, more than once.
@cache
def _columns(model: type[Model]) -> list[str]:
    names = [column.attname for column in model._meta.concrete_fields]
    return [name for name in names if name not in _LEFT_OUT]


_PLAIN: tuple[type, ...] = (str, int, float, bool, list, dict, type(None))
_encoder = DjangoJSONEncoder()


def _plain(value: Any) -> Any:
    """Of another type: a choice is text, the rest is written as JSON writes it."""
    return value if isinstance(value, _PLAIN) else _encoder.default(value)


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

    def created(self, row: Any, sources: Iterable[Source]) -> None:
        self._revise(row, None, getattr(row, "version", 1), after=values_of(row))
        self.supported(row, sources)

    def changed(self, row: Any, before: dict[str, Any]) -> None:
        """Call after the row's values and version were changed; `before` from values_of()."""
        self._revise(row, before["version"], row.version, before=before, after=values_of(row))

    def removed(self, row: Any) -> None:
        """A record without a version of its own (a membership) that goes; before it is deleted."""
        version = getattr(row, "version", 1)
        self._revise(row, version, version + 1, before=values_of(row))

    def erased(self, row: Any) -> None:
        """A row that is deleted: that it went is told, and nothing of what it was."""
        version = getattr(row, "version", 1)
        self._revise(row, version, version + 1)

    def supported(self, row: Any, sources: Iterable[Source]) -> None:
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

    def _revise(
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
            self.event.policy_version = policy_of(self.space).version
        self.event.save(force_insert=True)
        Revision.objects.bulk_create(self.revisions, batch_size=500)
        Derivation.objects.bulk_create(self.derivations, batch_size=500)
        tell(self.space.tenant_id, self._news)

    def _news(self) -> Iterable[News]:
        return news_of(
            self.revisions,
            self.at,
            space_id=self.space.id,
            event_id=self.event.id,
            job_id=self.job_id,
        )
