"""Rows in memory while events are undone one after the other; nothing is written before `save`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import Exists, Max, Model, OuterRef, Q
from django.utils.translation import gettext

from memoryhub.errors import Conflict, MemoryHubError, NotFound
from memoryhub.languages import use_stored_language
from memoryhub.tenants.models import Space
from notes.facts.intervals import are_rivals, has_overlap, is_claim_held, is_single_valued
from notes.history import row_kinds
from notes.history.change_set import ChangeSet, TurnEvidence, serialize_row
from notes.history.standing import EventStanding
from notes.index import indexer
from notes.models import (
    COUNTER_COLUMNS,
    Derivation,
    EvolutionEvent,
    Fact,
    IndexEntry,
    Link,
    Revision,
)

RowKey = tuple[str, UUID]
Values = dict[str, Any]


@dataclass
class ChangePlan:
    """`rows` as they become, `first` as they were; a record that is not there is None."""

    space: Space
    actor: str
    now: datetime
    rows: dict[RowKey, Any] = field(default_factory=dict)
    first: dict[RowKey, Values | None] = field(default_factory=dict)
    undone_events: list[EvolutionEvent] = field(default_factory=list)
    change_sets: list[ChangeSet] = field(default_factory=list)
    _record_versions: dict[RowKey, int] = field(default_factory=dict)
    _links: dict[UUID, list[RowKey]] = field(default_factory=lambda: defaultdict(list))

    def load_rows(self, keys: Iterable[RowKey]) -> None:
        """The rows, and the links of notes among them: those follow their notes."""
        wanted: dict[str, set[UUID]] = defaultdict(set)
        for kind, row_id in keys:
            wanted[kind].add(row_id)
        for kind, ids in wanted.items():
            of_kind = row_kinds.get_row_kind(kind)
            found: dict[UUID, Any] = of_kind.model._default_manager.in_bulk(ids)
            if not of_kind.is_derived:
                self._load_record_versions(kind, ids)
            for row_id in ids:
                self._keep_row(kind, row_id, found.get(row_id))
        if notes := wanted.get("note"):
            for link in Link.objects.filter(Q(a__in=notes) | Q(b__in=notes), active=True):
                if ("link", link.id) not in self.rows:
                    self._keep_row("link", link.id, link)
                self._links[link.a_id].append(("link", link.id))
                self._links[link.b_id].append(("link", link.id))

    def _load_record_versions(self, kind: str, ids: Iterable[UUID]) -> None:
        """How often a record was made and removed stands in its revisions only."""
        revisions = Revision.objects.filter(row_type=kind, row_id__in=list(ids))
        for row_id, last in revisions.values_list("row_id").annotate(last=Max("version_after")):
            self._record_versions[kind, row_id] = last

    def _keep_row(self, kind: str, row_id: UUID, row: Any) -> None:
        self.rows[kind, row_id] = row
        self.first[kind, row_id] = None if row is None else serialize_row(row)

    def undo_event(self, event: EvolutionEvent, revisions: Sequence[Revision]) -> None:
        """Take one event back. Its rows are as it left them: whatever came later is undone."""
        changes = ChangeSet(
            self.space,
            EvolutionEvent.Kind.UNDO,
            self.actor,
            self.now,
            reason=_describe_undo(event),
            trigger="undo",
            undo_of=event,
        )
        for key, before, after in _fold_revisions(revisions):
            self._revert_row(changes, key, before, after)
        self.undone_events.append(event)
        self.change_sets.append(changes)

    def set_reason(self, reason: str) -> None:
        """The caller's reason for what was worked out; "" leaves the one it has."""
        for changes in self.change_sets:
            changes.event.reason = reason or changes.event.reason

    def _revert_row(
        self, changes: ChangeSet, key: RowKey, before: Values | None, after: Values | None
    ) -> None:
        row = self.rows[key]
        if not row_kinds.get_row_kind(key[0]).is_derived:
            self._revert_record(changes, key, before)
            return
        if row is None:
            raise Conflict(gettext("a row of this event is gone"), code="not_undoable")
        if before is None:
            self._retire_with_links(changes, key)
            return
        changed = {n: v for n, v in before.items() if n != "version" and (after or {}).get(n) != v}
        self._apply_values(changes, row, changed)

    def _apply_values(self, changes: ChangeSet, row: Any, changed: Values) -> None:
        was = serialize_row(row)
        restore_columns(row, changed)
        row.version += 1
        changes.record_change(row, was)

    def get_row(self, row_type: str, row_id: UUID) -> Any:
        """A row of the space, to be changed. Raises NotFound."""
        key = (row_type, row_id)
        if key not in self.rows:
            self.load_rows({key})
        row = self.rows[key]
        if row is None or row.space_id != self.space.id:
            raise NotFound(gettext("there is no such %(kind)s") % {"kind": row_type})
        return row

    def add_manual_change_set(self, reason: str, *, actor: str = "") -> ChangeSet:
        """A change-set of a person's own; `edit` and `add` write into it."""
        changes = ChangeSet(
            self.space,
            EvolutionEvent.Kind.MANUAL,
            actor or self.actor,
            self.now,
            reason=reason,
            trigger="manual",
        )
        self.change_sets.append(changes)
        return changes

    def edit_row(self, changes: ChangeSet, row: Any, **values: Any) -> None:
        """Change columns of a loaded row, given by their attribute names."""
        was = serialize_row(row)
        for name, value in values.items():
            setattr(row, name, value)
        row.version += 1
        changes.record_change(row, was)

    def add_row(self, changes: ChangeSet, row: Any, sources: Iterable[TurnEvidence]) -> None:
        key = (str(row._meta.model_name), row.id)
        self.rows[key], self.first[key] = row, None
        changes.record_creation(row, sources)

    def retire_row(self, changes: ChangeSet, row: Any) -> None:
        """The row is not held any more; a note's links go with it."""
        self._retire_with_links(changes, (str(row._meta.model_name), row.id))

    def _retire_with_links(self, changes: ChangeSet, key: RowKey) -> None:
        row = self.rows[key]
        gone = {"retired_at": self.now} | ({"active": False} if key[0] == "link" else {})
        if not row.retired_at:
            self._apply_values(changes, row, gone)
        for link in self._links.get(key[1], []) if key[0] == "note" else []:
            if self.rows[link].active:
                self._apply_values(changes, self.rows[link], {"active": False})

    def _revert_record(self, changes: ChangeSet, key: RowKey, before: Values | None) -> None:
        """A record that was made goes, one that was removed comes back."""
        row, times = self.rows[key], self._record_versions.get(key, 1)
        self._record_versions[key] = times + 1
        if before is None and row is not None:
            row.version = times
            changes.record_removal(row)
            self.rows[key] = None
        elif before is not None and row is None:
            model = row_kinds.get_row_kind(key[0]).model
            made: Any = model(tenant_id=self.space.tenant_id, space_id=self.space.id)
            restore_columns(made, before)
            made.version = times + 1
            changes.record_creation(made, [])
            self.rows[key] = made

    def is_fresh(self) -> bool:
        """Lock the rows, and compare their versions with those the plan was made from."""
        for kind, ids in self._list_ids_by_kind().items():
            model = row_kinds.get_row_kind(kind).model
            held = model._default_manager.select_for_update().filter(id__in=ids).order_by("pk")
            rows = {row.pk: row for row in held}
            for row_id in ids:
                first = self.first[kind, row_id]
                if (first is None) != (row_id not in rows):
                    return False
                if first and getattr(rows[row_id], "version", None) != first.get("version"):
                    return False
        return True

    def _list_ids_by_kind(self) -> dict[str, list[UUID]]:
        """In one order for everybody, so that two writers don't wait for each other."""
        ids: dict[str, list[UUID]] = defaultdict(list)
        for kind, row_id in sorted(self.rows):
            ids[kind].append(row_id)
        return ids

    def save(self) -> None:
        """Write rows and events. What makes room goes first: one claim is open at a time."""
        for kind, ids in self._list_ids_by_kind().items():
            model = row_kinds.get_row_kind(kind).model
            gone = [i for i in ids if self.rows[kind, i] is None and self.first[kind, i]]
            model._default_manager.filter(id__in=gone).delete()
            held = [i for i in ids if self.rows[kind, i] is not None]
            made = [self.rows[kind, i] for i in held if self.first[kind, i] is None]
            changed = [self.rows[kind, i] for i in held if self._is_changed_row(kind, i)]
            fields = self._list_changed_fields(kind, ids)
            for rows in (
                [r for r in changed if _is_making_room(r)],
                [r for r in changed if not _is_making_room(r)],
            ):
                if rows:
                    model._default_manager.bulk_update(rows, fields, batch_size=500)
                model._default_manager.bulk_create(made)
                made = []
        for changes in self.change_sets:
            changes.save()
        self._revert_support()
        self._run_followers()
        self._delete_entries()

    def _revert_support(self) -> None:
        """What an event brought in support of rows that were there before it counts while the
        event stands. Rows it had made keep theirs: they go as a whole."""
        if not self.undone_events:
            return
        standing = load_event_standing(self.space)
        events = {standing.find_origin(event.id) for event in self.undone_events}
        held = {event for event in events if standing.is_standing(event)}
        made = Revision.objects.filter(
            event=OuterRef("event"), row_id=OuterRef("child_id"), version_before=None
        )
        brought = Derivation.objects.filter(~Exists(made))
        support, withdrawn = Derivation.Role.SUPPORT, Derivation.Role.WITHDRAWN
        brought.filter(event__in=held, role=withdrawn).update(role=support)
        brought.filter(event__in=events - held, role=support).update(role=withdrawn)

    def _run_followers(self) -> None:
        """What layers above keep beside their rows."""
        made: dict[str, list[Revision]] = defaultdict(list)
        for changes in self.change_sets:
            for revision in changes.revisions:
                made[revision.row_type].append(revision)
        for kind, revisions in made.items():
            if follow := row_kinds.get_row_kind(kind).follow:
                follow(revisions)

    def _is_changed_row(self, kind: str, row_id: UUID) -> bool:
        row, first = self.rows[kind, row_id], self.first[kind, row_id]
        return row is not None and first is not None and serialize_row(row) != first

    def _is_changed_or_new(self, kind: str, row_id: UUID) -> bool:
        """Differs from what it was, or is new."""
        return self._is_changed_row(kind, row_id) or (
            self.rows[kind, row_id] is not None and self.first[kind, row_id] is None
        )

    def _list_changed_fields(self, kind: str, ids: Sequence[UUID]) -> list[str]:
        names: set[str] = set()
        for row_id in ids:
            if self._is_changed_row(kind, row_id):
                was, now = self.first[kind, row_id] or {}, serialize_row(self.rows[kind, row_id])
                names |= {name for name in now if was.get(name) != now[name]}
        columns = row_kinds.get_row_kind(kind).model._meta.concrete_fields
        return [column.name for column in columns if column.attname in names]

    def _list_retired_ids(self) -> list[UUID]:
        return [
            key[1]
            for key, row in self.rows.items()
            if self._is_changed_or_new(*key) and getattr(row, "retired_at", None)
        ]

    def _delete_entries(self) -> None:
        """What was never to be is not found, nor is a page that is back in the short-term queue;
        undone again, it is embedded again."""
        gone = [*self._list_retired_ids(), *self._find_unsearched_ids()]
        IndexEntry.objects.filter(space=self.space, owner_id__in=gone).delete()

    def _find_unsearched_ids(self) -> set[UUID]:
        """Changed rows that are held, and as they are now make no entry."""
        zone = ZoneInfo(self.space.timezone)
        found: set[UUID] = set()
        for kind, ids in self._list_ids_by_kind().items():
            if row_kinds.get_row_kind(kind).entries is not None:
                rows = [self.rows[kind, i] for i in ids if self._is_changed_row(kind, i)]
                made = {entry.owner_id for entry in row_kinds.build_entries(kind, rows, zone)}
                found |= {row.pk for row in rows} - made
        return found

    def build_entries(self, model: str) -> list[indexer.EntryDraft]:
        """Entries of changed rows whose present text is not the one embedded (I9)."""
        zone = ZoneInfo(self.space.timezone)
        made: list[indexer.EntryDraft] = []
        for kind, ids in self._list_ids_by_kind().items():
            if row_kinds.get_row_kind(kind).entries is None:
                continue
            rows = [self.rows[kind, i] for i in ids if self._is_changed_or_new(kind, i)]
            live = [row for row in rows if not getattr(row, "retired_at", None)]
            made += row_kinds.build_entries(kind, live, zone)
        known = IndexEntry.objects.filter(
            space=self.space, model=model, owner_id__in=[entry.owner_id for entry in made]
        ).values_list("kind", "owner_id", "chunk", "text_hash")
        held = {(kind, owner, chunk): digest for kind, owner, chunk, digest in known}
        return [e for e in made if held.get((e.kind, e.owner_id, e.chunk)) != e.text_hash]

    def find_rivals(self) -> list[Fact]:
        """Claims not among the rows that hold when one of them would hold again (I4)."""
        facts = [
            r for (kind, _), r in self.rows.items() if kind == "fact" and r and is_claim_held(r)
        ]
        facts = [f for f in facts if self._is_changed_or_new("fact", f.id)]
        if not facts:
            return []
        places = Q(pk=None)
        for fact in facts:
            places |= Q(lineage=fact.lineage)
            if is_single_valued(fact):
                places |= Q(owner=fact.owner, predicate_key=fact.predicate_key)
        others = Fact.objects.filter(places, space=self.space, retired_at=None)
        others = others.exclude(status=Fact.Status.RETRACTED)
        outside = [o for o in others if ("fact", o.id) not in self.rows]
        return [o for o in outside if any(are_rivals(f, o) and has_overlap(f, o) for f in facts)]

    def list_differences(self) -> list[tuple[RowKey, Values | None, Values | None]]:
        """(row, values before, values after) of every row that would change."""
        told = (
            (key, self.first[key], None if row is None else serialize_row(row))
            for key, row in self.rows.items()
        )
        return [(key, before, after) for key, before, after in told if before != after]


def load_event_standing(space: Space) -> EventStanding:
    """Which of the space's events still stand. Call inside the tenant's scope."""
    undos = EvolutionEvent.objects.filter(space=space).exclude(undo_of=None)
    return EventStanding(undos.values_list("id", "undo_of_id"))


def _fold_revisions(
    revisions: Sequence[Revision],
) -> list[tuple[RowKey, Values | None, Values | None]]:
    """One change a row, newest last changed first: (row, before the event, after it)."""
    by_row: dict[RowKey, list[Revision]] = defaultdict(list)
    for revision in sorted(revisions, key=lambda r: r.version_after):
        by_row[revision.row_type, revision.row_id].append(revision)
    return [(key, of_row[0].before, of_row[-1].after) for key, of_row in by_row.items()]


def _describe_undo(event: EvolutionEvent) -> str:
    if event.kind == EvolutionEvent.Kind.UNDO:
        return "brought back what had been undone"
    with use_stored_language():
        what = event.get_kind_display()
    return f"took back: {what}" + (f" ({event.reason})" if event.reason else "")


def _is_making_room(row: Any) -> bool:
    """Makes room for another row: it is retired, over or withdrawn."""
    over = getattr(row, "valid_to", None) is not None
    return bool(row.retired_at) or over or getattr(row, "status", "") == Fact.Status.RETRACTED


def restore_columns(row: Model, values: Values) -> None:
    """Put recorded values back into a row's columns; what reading counts stays as it is."""
    columns: dict[str, Any] = {f.attname: f for f in row._meta.concrete_fields}
    for name, value in values.items():
        column = columns.get(name)
        if column is None or name in COUNTER_COLUMNS:
            continue
        kind = column.target_field if column.is_relation else column
        setattr(row, name, kind.to_python(value))


# A unit of work: rows made and changed in one event, written together or not at all.


class RowsChanged(MemoryHubError):
    """Somebody changed a row since it was read: read again and decide anew (E10)."""

    code = "rows_changed"


@dataclass
class UnitOfWork:
    """Give it each row before it is changed, and each new row; then `save`.

    `touch` remembers what the row was and raises its version, once however often it is called.
    """

    changes: ChangeSet
    _new_rows: dict[UUID, Any] = field(default_factory=dict)
    _old_rows: dict[UUID, tuple[Any, dict[str, Any]]] = field(default_factory=dict)
    _sources: dict[UUID, tuple[Any, list[TurnEvidence]]] = field(default_factory=dict)

    def add_row(self, row: Any) -> None:
        self._new_rows[row.id] = row

    def track_row(self, row: Any) -> None:
        if row.id not in self._new_rows and row.id not in self._old_rows:
            self._old_rows[row.id] = (row, serialize_row(row))
            row.version += 1

    def add_support(self, row: Any, sources: Iterable[TurnEvidence]) -> None:
        """What the row rests on; a turn that supports it already is not written again."""
        self._sources.setdefault(row.id, (row, []))[1].extend(sources)

    def save(self) -> None:
        """Write rows and the change-set. Raises RowsChanged when a version is not as read."""
        self._check_versions()
        for model, rows in _group_by_model(self._new_rows.values()):
            model.objects.bulk_create(rows, batch_size=500)
        for model, rows in _group_by_model(row for row, _ in self._old_rows.values()):
            columns = self._list_changed_columns(rows)
            model.objects.bulk_update(rows, columns, batch_size=500)
        for row in self._new_rows.values():
            self.changes.record_creation(row, [])
        for row, before in self._old_rows.values():
            self.changes.record_change(row, before)
        self._record_sources()
        self.changes.save()

    def _check_versions(self) -> None:
        for model, rows in _group_by_model(row for row, _ in self._old_rows.values()):
            held = model.objects.select_for_update().filter(id__in=[row.id for row in rows])
            now = dict(held.order_by("id").values_list("id", "version"))
            if any(now.get(row.id) != self._old_rows[row.id][1]["version"] for row in rows):
                raise RowsChanged(f"a {model._meta.model_name} was changed meanwhile")

    def _list_changed_columns(self, rows: list[Any]) -> list[str]:
        changed = {"version"}
        for row in rows:
            before = self._old_rows[row.id][1]
            changed |= {name for name, value in serialize_row(row).items() if before[name] != value}
        return sorted(changed)

    def _record_sources(self) -> None:
        known = self._load_known_sources()
        for row, sources in self._sources.values():
            fresh = {s.turn_id: s for s in sources if (row.id, s.turn_id) not in known}
            self.changes.record_support(row, fresh.values())

    def _load_known_sources(self) -> set[tuple[UUID, UUID]]:
        held = Derivation.objects.filter(
            child_id__in=[i for i in self._sources if i not in self._new_rows],
            role=Derivation.Role.SUPPORT,
        )
        return set(held.values_list("child_id", "turn_id"))


def _group_by_model(rows: Iterable[Any]) -> Iterator[tuple[Any, list[Any]]]:
    found: dict[Any, list[Any]] = defaultdict(list)
    for row in rows:
        found[type(row)].append(row)
    yield from found.items()
