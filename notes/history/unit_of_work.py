"""Rows in memory and the events that change them, until all is written together or not at all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from operator import itemgetter
from typing import Any, Self
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import Exists, F, IntegerField, Max, Model, OuterRef, Q, Value
from django.utils.translation import gettext

from memoryhub.errors import Conflict, MemoryHubError, NotFound
from memoryhub.languages import use_stored_language
from memoryhub.tenants.database.prepared import update_rows
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
    Relation,
    Revision,
)
from notes.review.moot import settle_moot_cases

RowKey = tuple[str, UUID]
Values = dict[str, Any]


class RowsChanged(MemoryHubError):
    """Somebody changed a row since it was read: read again and decide anew (E10)."""

    code = "rows_changed"


@dataclass
class UnitOfWork:
    """`rows` as they become, `original_values` as they were; what is not there is None.

    A row is loaded by its key (`load_rows`, `get_row`), or handed in by whoever has read it
    (`track_row`, `edit_row`). Nothing is written before `save` or `write_rows`.
    """

    space: Space
    actor: str
    now: datetime
    change_sets: list[ChangeSet] = field(default_factory=list)
    rows: dict[RowKey, Any] = field(default_factory=dict)
    original_values: dict[RowKey, Values | None] = field(default_factory=dict)
    undone_events: list[EvolutionEvent] = field(default_factory=list)
    _new: set[RowKey] = field(default_factory=set)
    _tracked: dict[RowKey, Values | None] = field(default_factory=dict)
    _sources: dict[RowKey, list[TurnEvidence]] = field(default_factory=dict)
    _counters: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    _record_versions: dict[RowKey, int] = field(default_factory=dict)
    _links: dict[UUID, list[RowKey]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def from_change_set(cls, changes: ChangeSet) -> Self:
        """For rows that are handed in, and whose changes are one event."""
        return cls(changes.space, changes.actor, changes.at, [changes])

    @property
    def changes(self) -> ChangeSet:
        """The first change-set: where it is the only one, what is tracked goes into it."""
        return self.change_sets[0]

    # Rows that are handed in

    def track_row(self, row: Any) -> None:
        """Call before the row is changed, however often: its version rises once, and one revision
        tells what it was and what it is when it is written. A row not stored yet is created."""
        key = get_row_key(row)
        if key in self._tracked or key in self._new:
            return
        if row._state.adding:
            self._keep_new_row(row)
            self._tracked[key] = None
        else:
            self._tracked[key] = self._keep_handed_row(row)
            row.version += 1

    def add_support(self, row: Any, sources: Iterable[TurnEvidence]) -> None:
        """What a tracked row rests on; a turn that supports it already is not written again."""
        self._sources.setdefault(get_row_key(row), []).extend(sources)

    def _keep_handed_row(self, row: Any) -> Values:
        key, values = get_row_key(row), serialize_row(row)
        self.rows[key] = row
        self.original_values.setdefault(key, values)
        return values

    def _keep_new_row(self, row: Any) -> None:
        key = get_row_key(row)
        self.rows[key], self.original_values[key] = row, None
        self._new.add(key)

    # Rows that are loaded by key

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
        self.original_values[kind, row_id] = None if row is None else serialize_row(row)

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
            self.retire_row(changes, row)
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
        """Change columns of a row, given by their attribute names, with a revision of its own."""
        self._keep_handed_row(row)
        self._counters[row._meta.model_name] |= values.keys() & COUNTER_COLUMNS
        changes.edit_row(row, **values)

    def add_row(self, changes: ChangeSet, row: Any, sources: Iterable[TurnEvidence]) -> None:
        """A new row, as it is now."""
        self._keep_new_row(row)
        changes.record_creation(row, sources)

    def retire_row(self, changes: ChangeSet, row: Any) -> None:
        """The row is not held any more; a note's links go with it."""
        key = get_row_key(row)
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

    # Writing

    def save(self) -> None:
        """Write rows and events. Raises RowsChanged when a row is not in the version read."""
        self._lock_rows()
        self.write_rows()
        for changes in self.change_sets:
            changes.save()

    def _lock_rows(self) -> None:
        for kind, ids in self._list_ids_by_kind().items():
            known = [row_id for row_id in ids if (kind, row_id) not in self._new]
            if not known:
                continue
            model = row_kinds.get_row_kind(kind).model
            version = F("version") if hasattr(model, "version") else _NO_VERSION
            rows = model._default_manager.select_for_update().filter(id__in=known).order_by("pk")
            was = {i: v.get("version") for i in known if (v := self.original_values[kind, i])}
            if dict(rows.values_list("pk", version)) != was:
                raise RowsChanged(f"a {kind} was changed meanwhile")

    def _list_ids_by_kind(self) -> dict[str, list[UUID]]:
        """In one order for everybody, so that two writers don't wait for each other."""
        ids: dict[str, list[UUID]] = defaultdict(list)
        for kind, row_id in sorted(self.rows):
            ids[kind].append(row_id)
        return ids

    def write_rows(self) -> None:
        """Write the rows alone, which the caller has locked; it saves the change-sets as well."""
        for key, before in self._tracked.items():
            if before is None:
                self.changes.record_creation(self.rows[key], [])
            else:
                self.changes.record_change(self.rows[key], before)
        for kind, ids in self._list_ids_by_kind().items():
            self._write_kind(kind, ids)
        self._record_sources()
        self._settle_moot_cases()

    def _settle_moot_cases(self) -> None:
        """A claim that has ended leaves nothing to ask about it, one that holds again does."""
        standing = itemgetter("status", "retired_at")
        changed = [
            row
            for (kind, row_id), row in self.rows.items()
            if kind == "fact" and row is not None and (was := self.original_values[kind, row_id])
            if standing(was) != standing(serialize_row(row))
        ]
        if changed:
            settle_moot_cases(self.space, changed, self.now)

    def _record_sources(self) -> None:
        held = Derivation.objects.filter(
            child_id__in=[key[1] for key in self._sources if key not in self._new],
            role=Derivation.Role.SUPPORT,
        )
        known = set(held.values_list("child_id", "turn_id"))
        for key, sources in self._sources.items():
            fresh = {s.turn_id: s for s in sources if (key[1], s.turn_id) not in known}
            self.changes.record_support(self.rows[key], fresh.values())

    def _write_kind(self, kind: str, ids: Sequence[UUID]) -> None:
        """What makes room goes first: one claim is open at a time."""
        rows = row_kinds.get_row_kind(kind).model._default_manager
        if gone := [i for i in ids if self.rows[kind, i] is None and self.original_values[kind, i]]:
            rows.filter(id__in=gone).delete()
        held = [
            (self.rows[kind, i], self.original_values[kind, i])
            for i in ids
            if self.rows[kind, i] is not None
        ]
        changed = [(row, was) for row, was in held if was and serialize_row(row) != was]
        fields = self._list_changed_fields(kind, changed)
        last = [row for row, was in changed if _may_take_room(row, was)]
        update_rows([row for row, _ in changed if row not in last], fields)
        rows.bulk_create([row for row, was in held if was is None], batch_size=500)
        update_rows(last, fields)

    def update_dependents(self) -> None:
        """What hangs on rows that were loaded by key: call after `save`."""
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
        row, first = self.rows[kind, row_id], self.original_values[kind, row_id]
        return row is not None and first is not None and serialize_row(row) != first

    def _is_changed_or_new(self, kind: str, row_id: UUID) -> bool:
        """Differs from what it was, or is new."""
        row, first = self.rows[kind, row_id], self.original_values[kind, row_id]
        return row is not None and (first is None or serialize_row(row) != first)

    def _list_changed_fields(self, kind: str, changed: Iterable[tuple[Any, Values]]) -> list[str]:
        names = set(self._counters[kind])
        for row, was in changed:
            names |= {name for name, value in serialize_row(row).items() if was[name] != value}
        columns = row_kinds.get_row_kind(kind).model._meta.concrete_fields
        return [column.name for column in columns if {column.attname, column.name} & names]

    def _delete_entries(self) -> None:
        """What was never to be is not found, nor is a page that is back in the short-term queue;
        undone again, it is embedded again."""
        retired = [
            key[1]
            for key, row in self.rows.items()
            if self._is_changed_or_new(*key) and getattr(row, "retired_at", None)
        ]
        gone = [*retired, *self._find_unsearched_ids()]
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
        changed = [e for e in made if held.get((e.kind, e.owner_id, e.chunk)) != e.text_hash]
        return [*changed, *self._build_entries_of_relations()]

    def _build_entries_of_relations(self) -> list[indexer.EntryDraft]:
        """Relations that stay as they are, and are found by other words: by the names of their
        ends, and by what their facts say."""
        entities = {e.id: e for e in self._list_rows_with_other("entity", "name")}
        facts = {f.id: f for f in self._list_rows_with_other("fact", "text")}
        if not entities and not facts:
            return []
        touched = Q(src__in=entities) | Q(dst__in=entities) | Q(fact__in=facts)
        rows = Relation.objects.filter(touched, space=self.space, retired_at=None)
        rows = rows.exclude(id__in=[key[1] for key in self.rows if key[0] == "relation"])
        found = list(rows.select_related("src", "dst", "fact"))
        for relation in found:
            relation.src = entities.get(relation.src_id, relation.src)
            relation.dst = entities.get(relation.dst_id, relation.dst)
            relation.fact = facts.get(relation.fact_id, relation.fact)
        return indexer.build_relation_entries(found)

    def _list_rows_with_other(self, kind: str, column: str) -> list[Any]:
        """Rows that were there, and have another value in this column now."""
        return [
            row
            for (of_kind, row_id), row in self.rows.items()
            if of_kind == kind and row is not None
            if (was := self.original_values[kind, row_id]) and was[column] != getattr(row, column)
        ]

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
            (key, self.original_values[key], None if row is None else serialize_row(row))
            for key, row in self.rows.items()
        )
        return [(key, before, after) for key, before, after in told if before != after]


def get_row_key(row: Any) -> RowKey:
    return str(row._meta.model_name), row.pk


_NO_VERSION = Value(None, output_field=IntegerField())


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


# The columns by which one claim of a predicate is open at a time.
_ROOM_COLUMNS = (
    "owner",
    "predicate_key",
    "cardinality",
    "status",
    "valid_to",
    "retired_at",
    "polarity",
)


def _may_take_room(row: Any, was: Values) -> bool:
    """It holds, and did not before, or not in this place: another row may have to go first."""
    over = row.retired_at or getattr(row, "valid_to", None) is not None
    if over or getattr(row, "status", "") == Fact.Status.RETRACTED:
        return False
    now = serialize_row(row)
    return any(now.get(name) != was.get(name) for name in _ROOM_COLUMNS)


def restore_columns(row: Model, values: Values) -> None:
    """Put recorded values back into a row's columns; what reading counts stays as it is."""
    columns: dict[str, Any] = {f.attname: f for f in row._meta.concrete_fields}
    for name, value in values.items():
        column = columns.get(name)
        if column is None or name in COUNTER_COLUMNS:
            continue
        kind = column.target_field if column.is_relation else column
        setattr(row, name, kind.to_python(value))
