"""A unit of work: rows made and changed in one event, written together or not at all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from memoryhub.errors import MemoryHubError
from notes.models import Derivation
from notes.recording import ChangeSet, Source, values_of


class RowsChanged(MemoryHubError):
    """Somebody changed a row since it was read: read again and decide anew (E10)."""

    code = "rows_changed"


@dataclass
class Unit:
    """Give it each row before it is changed, and each new row; then `save`.

    `touch` remembers what the row was and raises its version, once however often it is called.
    """

    changes: ChangeSet
    _new: dict[UUID, Any] = field(default_factory=dict)
    _old: dict[UUID, tuple[Any, dict[str, Any]]] = field(default_factory=dict)
    _sources: dict[UUID, tuple[Any, list[Source]]] = field(default_factory=dict)

    def add(self, row: Any) -> None:
        self._new[row.id] = row

    def touch(self, row: Any) -> None:
        if row.id not in self._new and row.id not in self._old:
            self._old[row.id] = (row, values_of(row))
            row.version += 1

    def support(self, row: Any, sources: Iterable[Source]) -> None:
        """What the row rests on; a turn that supports it already is not written again."""
        self._sources.setdefault(row.id, (row, []))[1].extend(sources)

    def save(self) -> None:
        """Write rows and the change-set. Raises RowsChanged when a version is not as read."""
        self._check()
        for model, rows in _by_model(self._new.values()):
            model.objects.bulk_create(rows, batch_size=500)
        for model, rows in _by_model(row for row, _ in self._old.values()):
            columns = self._changed_columns(rows)
            model.objects.bulk_update(rows, columns, batch_size=500)
        for row in self._new.values():
            self.changes.created(row, [])
        for row, before in self._old.values():
            self.changes.changed(row, before)
        self._record_sources()
        self.changes.save()

    def _check(self) -> None:
        for model, rows in _by_model(row for row, _ in self._old.values()):
            held = model.objects.select_for_update().filter(id__in=[row.id for row in rows])
            now = dict(held.order_by("id").values_list("id", "version"))
            if any(now.get(row.id) != self._old[row.id][1]["version"] for row in rows):
                raise RowsChanged(f"a {model._meta.model_name} was changed meanwhile")

    def _changed_columns(self, rows: list[Any]) -> list[str]:
        changed = {"version"}
        for row in rows:
            before = self._old[row.id][1]
            changed |= {name for name, value in values_of(row).items() if before[name] != value}
        return sorted(changed)

    def _record_sources(self) -> None:
        known = self._known()
        for row, sources in self._sources.values():
            fresh = {s.turn_id: s for s in sources if (row.id, s.turn_id) not in known}
            self.changes.supported(row, fresh.values())

    def _known(self) -> set[tuple[UUID, UUID]]:
        held = Derivation.objects.filter(
            child_id__in=[i for i in self._sources if i not in self._new],
            role=Derivation.Role.SUPPORT,
        )
        return set(held.values_list("child_id", "turn_id"))


def _by_model(rows: Iterable[Any]) -> Iterator[tuple[Any, list[Any]]]:
    found: dict[Any, list[Any]] = defaultdict(list)
    for row in rows:
        found[type(row)].append(row)
    yield from found.items()
