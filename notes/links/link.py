"""Links between notes: undirected, one row a pair and kind (A-Mem, spec §4, A9)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q, QuerySet

from memoryhub.tenants.models import Space
from notes.history.change_set import ChangeSet, TurnEvidence
from notes.history.unit_of_work import UnitOfWork
from notes.models import Link

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
    pairs: Iterable[NotePair], sources: Mapping[UUID, Sequence[TurnEvidence]], changes: ChangeSet
) -> list[Link]:
    """Make the links, or put back in force those that were withdrawn; held ones stay as they are.

    `sources` are the turns behind the notes, by note: a link rests on those of its notes. Call
    inside the tenant's scope. At most three statements.
    """
    wanted = {pair.key: pair for pair in pairs if pair.first != pair.second}
    held = {
        (row.a_id, row.b_id, row.kind): row for row in _load_existing_links(changes.space, wanted)
    }
    unit = UnitOfWork.from_change_set(changes)
    made = [_build_link(pair, changes) for key, pair in wanted.items() if key not in held]
    for row in made:
        unit.add_row(changes, row, _collect_sources(row, sources))
    again = [row for row in held.values() if not row.active or row.retired_at]
    for row in again:
        pair = wanted[row.a_id, row.b_id, row.kind]
        reason = pair.reason[:MAX_REASON_LENGTH]
        unit.edit_row(changes, row, active=True, retired_at=None, reason=reason, weight=pair.weight)
        changes.record_support(row, _collect_sources(row, sources))
    unit.write_rows()
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


def _build_link(pair: NotePair, changes: ChangeSet) -> Link:
    a, b, kind = pair.key
    return Link(
        tenant_id=changes.space.tenant_id,
        space=changes.space,
        a_id=a,
        b_id=b,
        kind=kind,
        reason=pair.reason[:MAX_REASON_LENGTH],
        weight=pair.weight,
        engine=changes.engine,
        created_at=changes.at,
    )


def _collect_sources(
    row: Link, sources: Mapping[UUID, Sequence[TurnEvidence]]
) -> list[TurnEvidence]:
    return [source for note in (row.a_id, row.b_id) for source in sources.get(note, ())]


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
