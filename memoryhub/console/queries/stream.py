"""The stream of a space's change-sets: each with what it changed, its cause, and its undoing."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from memoryhub.console.listing import Choice, Filters, Page, containing, page_of, values_in
from memoryhub.console.moments import Moment
from memoryhub.console.queries.memories import Change, changes_in
from memoryhub.console.wording import kind_words
from memoryhub.pipeline.counting import count_of
from memoryhub.tenants.models import Space
from notes import registry
from notes.models import EvolutionEvent, Revision

KIND = Choice("kind", _("Kind"), (("", _("All")), *EvolutionEvent.Kind.choices))
STATE = Choice(
    "state",
    _("State"),
    (
        ("", _("All")),
        ("standing", _("Standing")),
        ("undone", _("Undone")),
        ("purged", _("Erased since")),
    ),
)
# Rows of a change-set that are told in the stream; its page tells them all.
MOST_ROWS = 40


@dataclass(frozen=True, slots=True)
class Told:
    """A change-set with the first of its `count` rows."""

    event: EvolutionEvent
    changes: list[Change]
    count: int

    @property
    def untold(self) -> int:
        return self.count - len(self.changes)


def choices(space: Space) -> tuple[Choice, ...]:
    """Two statements."""
    rows = EvolutionEvent.objects.filter(space=space)
    kinds = sorted((kind_words(kind.name), kind.name) for kind in registry.kinds())
    return (
        KIND,
        values_in(rows, "actor", "actor", _("By"), _("Anybody"), spare=False),
        Choice("row", _("Changed"), (("", _("Anything")), *((n, w) for w, n in kinds)), spare=True),
        Choice(STATE.name, STATE.label, STATE.options, spare=True),
        values_in(rows, "engine", "engine", _("Engine"), _("Any")),
    )


def history(space: Space, filters: Filters, moment: Moment) -> Page[Told]:
    rows = moment.rows(space, EvolutionEvent).filter(
        containing(filters.q, "reason", "actor"),
        _in_state(filters["state"]),
        filters.on_days("created_at", space.timezone),
        **filters.chosen("kind", "actor", "engine"),
    )
    if filters["row"]:
        rows = rows.filter(Exists(_of_kind(filters["row"])))
    # Into an attribute of its own: a slice is no related manager's.
    first = Prefetch("revisions", Revision.objects.order_by("id")[:MOST_ROWS], "first")
    counted = rows.annotate(rows=count_of(Revision.objects.all(), "event"))
    found = page_of(counted.prefetch_related(first, "undone_by"), filters.page)
    changes = _changes(found.rows)
    return found.map(lambda event: Told(event, changes[event.id], event.rows))


def _in_state(state: str) -> Q:
    undone = Exists(EvolutionEvent.objects.filter(undo_of=OuterRef("pk")))
    return {
        "standing": Q(~undone, is_purged=False),
        "undone": Q(undone),
        "purged": Q(is_purged=True),
    }.get(state, Q())


def _of_kind(row_type: str) -> QuerySet[Revision]:
    return Revision.objects.filter(event=OuterRef("pk"), row_type=row_type)


def _changes(events: list[Any]) -> dict[UUID, list[Change]]:
    pairs = [(event, revision) for event in events for revision in event.first]
    by_event: dict[UUID, list[Change]] = defaultdict(list)
    for change in changes_in(pairs):
        by_event[change.event.id].append(change)
    return by_event
