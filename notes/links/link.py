"""Links between notes: undirected, one row a pair and kind (A-Mem, spec §4, A9)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q, QuerySet

from memoryhub.tenants.models import Space
from notes.history.change_set import ChangeSet, TurnEvidence, serialize_row
from notes.models import Derivation, Link

MAX_REASON_LENGTH = 500


@dataclass(frozen=True, slots=True)
class NotePair:
    """A link to be: two notes in either order. `weight` in (0, 1]."""

    first: UUID
    second: UUID
    kind: str
    reason: str = ""
    weight: float = 1.0

    @property
    def key(self) -> tuple[UUID, UUID, str]:
        """The same for both orders: the smaller id first."""
        a, b = sorted((self.first, self.second))
        return a, b, self.kind


def link_notes(
    space: Space,
    pairs: Iterable[NotePair],
    sources: Mapping[UUID, Sequence[TurnEvidence]],
    changes: ChangeSet,
    now: datetime,
) -> list[Link]:
    """Make the links, or put back in force those that were withdrawn; held ones stay as they are.

    `sources` are the turns behind the notes, by note: a link rests on those of its notes. Call
    inside the tenant's scope. At most three statements.
    """
    wanted = {pair.key: pair for pair in pairs if pair.first != pair.second}
    held = {(row.a_id, row.b_id, row.kind): row for row in _load_existing_links(space, wanted)}
    again = [
        _revive_link(row, wanted[key], changes)
        for key, row in held.items()
        if not _is_in_force(row)
    ]
    made = [
        _build_link(space, pair, changes, now) for key, pair in wanted.items() if key not in held
    ]
    Link.objects.bulk_create(made, batch_size=500)
    Link.objects.bulk_update(again, ["active", "retired_at", "reason", "weight", "version"])
    for row in made:
        changes.record_creation(row, _collect_sources(row, sources))
    for row in again:
        changes.record_support(row, _collect_sources(row, sources))
    return [*made, *again]


def _load_existing_links(
    space: Space, wanted: Collection[tuple[UUID, UUID, str]]
) -> Iterable[Link]:
    if not wanted:
        return []
    rows = Link.objects.filter(
        space=space, a__in={a for a, _, _ in wanted}, b__in={b for _, b, _ in wanted}
    )
    return [row for row in rows if (row.a_id, row.b_id, row.kind) in wanted]


def _is_in_force(row: Link) -> bool:
    return bool(row.active and row.retired_at is None)


def _build_link(space: Space, pair: NotePair, changes: ChangeSet, now: datetime) -> Link:
    a, b, kind = pair.key
    return Link(
        tenant_id=space.tenant_id,
        space=space,
        a_id=a,
        b_id=b,
        kind=kind,
        reason=pair.reason[:MAX_REASON_LENGTH],
        weight=pair.weight,
        engine=changes.engine,
        created_at=now,
    )


def _revive_link(row: Link, pair: NotePair, changes: ChangeSet) -> Link:
    before = serialize_row(row)
    row.active, row.retired_at = True, None
    row.reason, row.weight = pair.reason[:MAX_REASON_LENGTH], pair.weight
    row.version += 1
    changes.record_change(row, before)
    return row


def _collect_sources(
    row: Link, sources: Mapping[UUID, Sequence[TurnEvidence]]
) -> list[TurnEvidence]:
    return [source for note in (row.a_id, row.b_id) for source in sources.get(note, ())]


def load_note_sources(notes: Iterable[UUID]) -> dict[UUID, Sequence[TurnEvidence]]:
    """The turns that notes were made from, by note. One statement, none for no notes."""
    ids = list(notes)
    rows = Derivation.objects.filter(
        child_type="note", child_id__in=ids, role=Derivation.Role.SUPPORT
    )
    found: dict[UUID, list[TurnEvidence]] = defaultdict(list)
    for row in rows.order_by("turn__seq", "id") if ids else ():
        found[row.child_id].append(TurnEvidence(row.turn_id, row.span_start, row.span_end))
    return dict(found)


def filter_links_of_notes(notes: Iterable[UUID]) -> QuerySet[Link]:
    """The links in force of any of the notes, both of whose ends are there to be shown."""
    ids = list(notes)
    rows: QuerySet[Link] = Link.objects.filter(
        Q(a__in=ids) | Q(b__in=ids),
        active=True,
        retired_at=None,
        a__retired_at=None,
        b__retired_at=None,
    )
    return rows
