"""Rows in memory while events are undone one after the other; nothing is written before `save`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import Exists, Max, Model, OuterRef, Q
from django.utils.translation import gettext

from memoryhub.errors import Conflict, NotFound
from memoryhub.languages import as_kept
from memoryhub.tenants.models import Space
from notes import indexing, registry
from notes.intervals import counts, is_single, overlap, same_place
from notes.models import COUNTERS, Derivation, EvolutionEvent, Fact, IndexEntry, Link, Revision
from notes.recording import ChangeSet, Source, values_of
from notes.standing import Standing

Key = tuple[str, UUID]
Values = dict[str, Any]


@dataclass
class Workbench:
    """`rows` as they become, `first` as they were; a record that is not there is None."""

    space: Space
    actor: str
    now: datetime
    rows: dict[Key, Any] = field(default_factory=dict)
    first: dict[Key, Values | None] = field(default_factory=dict)
    undone: list[EvolutionEvent] = field(default_factory=list)
    changes: list[ChangeSet] = field(default_factory=list)
    _times: dict[Key, int] = field(default_factory=dict)
    _links: dict[UUID, list[Key]] = field(default_factory=lambda: defaultdict(list))

    def load(self, keys: Iterable[Key]) -> None:
        """The rows, and the links of notes among them: those follow their notes."""
        wanted: dict[str, set[UUID]] = defaultdict(set)
        for kind, row_id in keys:
            wanted[kind].add(row_id)
        for kind, ids in wanted.items():
            of_kind = registry.kind_of(kind)
            found: dict[UUID, Any] = of_kind.model._default_manager.in_bulk(ids)
            if not of_kind.is_derived:
                self._count(kind, ids)
            for row_id in ids:
                self._take(kind, row_id, found.get(row_id))
        if notes := wanted.get("note"):
            for link in Link.objects.filter(Q(a__in=notes) | Q(b__in=notes), active=True):
                if ("link", link.id) not in self.rows:
                    self._take("link", link.id, link)
                self._links[link.a_id].append(("link", link.id))
                self._links[link.b_id].append(("link", link.id))

    def _count(self, kind: str, ids: Iterable[UUID]) -> None:
        """How often a record was made and removed stands in its revisions only."""
        revisions = Revision.objects.filter(row_type=kind, row_id__in=list(ids))
        for row_id, last in revisions.values_list("row_id").annotate(last=Max("version_after")):
            self._times[kind, row_id] = last

    def _take(self, kind: str, row_id: UUID, row: Any) -> None:
        self.rows[kind, row_id] = row
        self.first[kind, row_id] = None if row is None else values_of(row)

    def undo(self, event: EvolutionEvent, revisions: Sequence[Revision]) -> None:
        """Take one event back. Its rows are as it left them: whatever came later is undone."""
        changes = ChangeSet(
            self.space,
            EvolutionEvent.Kind.UNDO,
            self.actor,
            self.now,
            reason=_why(event),
            trigger="undo",
            undo_of=event,
        )
        for key, before, after in _folded(revisions):
            self._turn_back(changes, key, before, after)
        self.undone.append(event)
        self.changes.append(changes)

    def because(self, reason: str) -> None:
        """The caller's reason for what was worked out; "" leaves the one it has."""
        for changes in self.changes:
            changes.event.reason = reason or changes.event.reason

    def _turn_back(
        self, changes: ChangeSet, key: Key, before: Values | None, after: Values | None
    ) -> None:
        row = self.rows[key]
        if not registry.kind_of(key[0]).is_derived:
            self._turn_record(changes, key, before)
            return
        if row is None:
            raise Conflict(gettext("a row of this event is gone"), code="not_undoable")
        if before is None:
            self._retire(changes, key)
            return
        changed = {n: v for n, v in before.items() if n != "version" and (after or {}).get(n) != v}
        self._edit(changes, row, changed)

    def _edit(self, changes: ChangeSet, row: Any, changed: Values) -> None:
        was = values_of(row)
        restore(row, changed)
        row.version += 1
        changes.changed(row, was)

    def row(self, row_type: str, row_id: UUID) -> Any:
        """A row of the space, to be changed. Raises NotFound."""
        key = (row_type, row_id)
        if key not in self.rows:
            self.load({key})
        row = self.rows[key]
        if row is None or row.space_id != self.space.id:
            raise NotFound(gettext("there is no such %(kind)s") % {"kind": row_type})
        return row

    def by_hand(self, reason: str, *, actor: str = "") -> ChangeSet:
        """A change-set of a person's own; `edit` and `add` write into it."""
        changes = ChangeSet(
            self.space,
            EvolutionEvent.Kind.MANUAL,
            actor or self.actor,
            self.now,
            reason=reason,
            trigger="manual",
        )
        self.changes.append(changes)
        return changes

    def edit(self, changes: ChangeSet, row: Any, **values: Any) -> None:
        """Change columns of a loaded row, given by their attribute names."""
        was = values_of(row)
        for name, value in values.items():
            setattr(row, name, value)
        row.version += 1
        changes.changed(row, was)

    def add(self, changes: ChangeSet, row: Any, sources: Iterable[Source]) -> None:
        key = (str(row._meta.model_name), row.id)
        self.rows[key], self.first[key] = row, None
        changes.created(row, sources)

    def retire(self, changes: ChangeSet, row: Any) -> None:
        """The row is not held any more; a note's links go with it."""
        self._retire(changes, (str(row._meta.model_name), row.id))

    def _retire(self, changes: ChangeSet, key: Key) -> None:
        row = self.rows[key]
        gone = {"retired_at": self.now} | ({"active": False} if key[0] == "link" else {})
        if not row.retired_at:
            self._edit(changes, row, gone)
        for link in self._links.get(key[1], []) if key[0] == "note" else []:
            if self.rows[link].active:
                self._edit(changes, self.rows[link], {"active": False})

    def _turn_record(self, changes: ChangeSet, key: Key, before: Values | None) -> None:
        """A record that was made goes, one that was removed comes back."""
        row, times = self.rows[key], self._times.get(key, 1)
        self._times[key] = times + 1
        if before is None and row is not None:
            row.version = times
            changes.removed(row)
            self.rows[key] = None
        elif before is not None and row is None:
            model = registry.kind_of(key[0]).model
            made: Any = model(tenant_id=self.space.tenant_id, space_id=self.space.id)
            restore(made, before)
            made.version = times + 1
            changes.created(made, [])
            self.rows[key] = made

    def is_fresh(self) -> bool:
        """Lock the rows, and compare their versions with those the plan was made from."""
        for kind, ids in self._ids().items():
            model = registry.kind_of(kind).model
            held = model._default_manager.select_for_update().filter(id__in=ids).order_by("pk")
            rows = {row.pk: row for row in held}
            for row_id in ids:
                first = self.first[kind, row_id]
                if (first is None) != (row_id not in rows):
                    return False
                if first and getattr(rows[row_id], "version", None) != first.get("version"):
                    return False
        return True

    def _ids(self) -> dict[str, list[UUID]]:
        """In one order for everybody, so that two writers don't wait for each other."""
        ids: dict[str, list[UUID]] = defaultdict(list)
        for kind, row_id in sorted(self.rows):
            ids[kind].append(row_id)
        return ids

    def save(self) -> None:
        """Write rows and events. What makes room goes first: one claim is open at a time."""
        for kind, ids in self._ids().items():
            model = registry.kind_of(kind).model
            gone = [i for i in ids if self.rows[kind, i] is None and self.first[kind, i]]
            model._default_manager.filter(id__in=gone).delete()
            held = [i for i in ids if self.rows[kind, i] is not None]
            made = [self.rows[kind, i] for i in held if self.first[kind, i] is None]
            changed = [self.rows[kind, i] for i in held if self._differs(kind, i)]
            fields = self._fields(kind, ids)
            for rows in (
                [r for r in changed if _leaves(r)],
                [r for r in changed if not _leaves(r)],
            ):
                if rows:
                    model._default_manager.bulk_update(rows, fields, batch_size=500)
                model._default_manager.bulk_create(made)
                made = []
        for changes in self.changes:
            changes.save()
        self._turn_support()
        self._follow()
        self._forget_entries()

    def _turn_support(self) -> None:
        """What an event brought in support of rows that were there before it counts while the
        event stands. Rows it had made keep theirs: they go as a whole."""
        if not self.undone:
            return
        standing = standing_in(self.space)
        events = {standing.origin(event.id) for event in self.undone}
        held = {event for event in events if standing.stands(event)}
        made = Revision.objects.filter(
            event=OuterRef("event"), row_id=OuterRef("child_id"), version_before=None
        )
        brought = Derivation.objects.filter(~Exists(made))
        support, withdrawn = Derivation.Role.SUPPORT, Derivation.Role.WITHDRAWN
        brought.filter(event__in=held, role=withdrawn).update(role=support)
        brought.filter(event__in=events - held, role=support).update(role=withdrawn)

    def _follow(self) -> None:
        """What layers above keep beside their rows."""
        made: dict[str, list[Revision]] = defaultdict(list)
        for changes in self.changes:
            for revision in changes.revisions:
                made[revision.row_type].append(revision)
        for kind, revisions in made.items():
            if follow := registry.kind_of(kind).follow:
                follow(revisions)

    def _differs(self, kind: str, row_id: UUID) -> bool:
        row, first = self.rows[kind, row_id], self.first[kind, row_id]
        return row is not None and first is not None and values_of(row) != first

    def _changed(self, kind: str, row_id: UUID) -> bool:
        """Differs from what it was, or is new."""
        return self._differs(kind, row_id) or (
            self.rows[kind, row_id] is not None and self.first[kind, row_id] is None
        )

    def _fields(self, kind: str, ids: Sequence[UUID]) -> list[str]:
        names: set[str] = set()
        for row_id in ids:
            if self._differs(kind, row_id):
                was, now = self.first[kind, row_id] or {}, values_of(self.rows[kind, row_id])
                names |= {name for name in now if was.get(name) != now[name]}
        columns = registry.kind_of(kind).model._meta.concrete_fields
        return [column.name for column in columns if column.attname in names]

    def _retired(self) -> list[UUID]:
        return [
            key[1]
            for key, row in self.rows.items()
            if self._changed(*key) and getattr(row, "retired_at", None)
        ]

    def _forget_entries(self) -> None:
        """What was never to be is not found, nor is a page that is back in the short-term queue;
        undone again, it is embedded again."""
        gone = [*self._retired(), *self._unsearched()]
        IndexEntry.objects.filter(space=self.space, owner_id__in=gone).delete()

    def _unsearched(self) -> set[UUID]:
        """Changed rows that are held, and as they are now make no entry."""
        zone = ZoneInfo(self.space.timezone)
        found: set[UUID] = set()
        for kind, ids in self._ids().items():
            if registry.kind_of(kind).entries is not None:
                rows = [self.rows[kind, i] for i in ids if self._differs(kind, i)]
                made = {entry.owner_id for entry in registry.entries_of(kind, rows, zone)}
                found |= {row.pk for row in rows} - made
        return found

    def entries(self, model: str) -> list[indexing.Entry]:
        """Entries of changed rows whose present text is not the one embedded (I9)."""
        zone = ZoneInfo(self.space.timezone)
        made: list[indexing.Entry] = []
        for kind, ids in self._ids().items():
            if registry.kind_of(kind).entries is None:
                continue
            rows = [self.rows[kind, i] for i in ids if self._changed(kind, i)]
            live = [row for row in rows if not getattr(row, "retired_at", None)]
            made += registry.entries_of(kind, live, zone)
        known = IndexEntry.objects.filter(
            space=self.space, model=model, owner_id__in=[entry.owner_id for entry in made]
        ).values_list("kind", "owner_id", "chunk", "text_hash")
        held = {(kind, owner, chunk): digest for kind, owner, chunk, digest in known}
        return [e for e in made if held.get((e.kind, e.owner_id, e.chunk)) != e.text_hash]

    def rivals(self) -> list[Fact]:
        """Claims not among the rows that hold when one of them would hold again (I4)."""
        facts = [r for (kind, _), r in self.rows.items() if kind == "fact" and r and counts(r)]
        facts = [f for f in facts if self._changed("fact", f.id)]
        if not facts:
            return []
        places = Q(pk=None)
        for fact in facts:
            places |= Q(lineage=fact.lineage)
            if is_single(fact):
                places |= Q(owner=fact.owner, predicate_key=fact.predicate_key)
        others = Fact.objects.filter(places, space=self.space, retired_at=None)
        others = others.exclude(status=Fact.Status.RETRACTED)
        outside = [o for o in others if ("fact", o.id) not in self.rows]
        return [o for o in outside if any(same_place(f, o) and overlap(f, o) for f in facts)]

    def difference(self) -> list[tuple[Key, Values | None, Values | None]]:
        """(row, values before, values after) of every row that would change."""
        told = (
            (key, self.first[key], None if row is None else values_of(row))
            for key, row in self.rows.items()
        )
        return [(key, before, after) for key, before, after in told if before != after]


def standing_in(space: Space) -> Standing:
    """Which of the space's events still stand. Call inside the tenant's scope."""
    undos = EvolutionEvent.objects.filter(space=space).exclude(undo_of=None)
    return Standing(undos.values_list("id", "undo_of_id"))


def _folded(revisions: Sequence[Revision]) -> list[tuple[Key, Values | None, Values | None]]:
    """One change a row, newest last changed first: (row, before the event, after it)."""
    by_row: dict[Key, list[Revision]] = defaultdict(list)
    for revision in sorted(revisions, key=lambda r: r.version_after):
        by_row[revision.row_type, revision.row_id].append(revision)
    return [(key, of_row[0].before, of_row[-1].after) for key, of_row in by_row.items()]


def _why(event: EvolutionEvent) -> str:
    if event.kind == EvolutionEvent.Kind.UNDO:
        return "brought back what had been undone"
    with as_kept():
        what = event.get_kind_display()
    return f"took back: {what}" + (f" ({event.reason})" if event.reason else "")


def _leaves(row: Any) -> bool:
    """Makes room for another row: it is retired, over or withdrawn."""
    over = getattr(row, "valid_to", None) is not None
    return bool(row.retired_at) or over or getattr(row, "status", "") == Fact.Status.RETRACTED


def restore(row: Model, values: Values) -> None:
    """Put recorded values back into a row's columns; what reading counts stays as it is."""
    columns: dict[str, Any] = {f.attname: f for f in row._meta.concrete_fields}
    for name, value in values.items():
        column = columns.get(name)
        if column is None or name in COUNTERS:
            continue
        kind = column.target_field if column.is_relation else column
        setattr(row, name, kind.to_python(value))
