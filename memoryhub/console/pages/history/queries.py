"""The stream of a space's change-sets: each with what it changed, its cause, and its undoing."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Prefetch, Q, QuerySet
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext_lazy as _

from memoryhub.console.frame.lists import (
    FilterChoice,
    Filters,
    ListPage,
    build_text_condition,
    load_page,
    load_value_choice,
)
from memoryhub.console.frame.space.moments import SpaceMoment
from memoryhub.console.frame.text.wording import format_actor, format_kind
from memoryhub.console.pages.history.row_changes import (
    MAX_EVENT_ROWS,
    MemoryChange,
    describe_changes,
)
from memoryhub.inference.models import ModelCall
from memoryhub.pipeline.counts import build_count_subquery
from memoryhub.tenants.models import Space
from notes.history import row_kinds
from notes.models import EvolutionEvent, Revision

EVENT_KIND_CHOICE = FilterChoice("kind", _("Kind"), (("", _("All")), *EvolutionEvent.Kind.choices))
EVENT_STATE_CHOICE = FilterChoice(
    "state",
    _("State"),
    (
        ("", _("All")),
        ("standing", _("In effect")),
        ("undone", _("Undone")),
        ("purged", _("Erased since")),
    ),
    spare=True,
)
# Rows of a change-set that are told in the stream; its page tells them all.
MAX_STREAM_ROWS = 40


@dataclass(frozen=True, slots=True)
class StreamEntry:
    """A change-set with the first of its `count` rows."""

    event: EvolutionEvent
    changes: list[MemoryChange]
    count: int

    @property
    def unlisted_count(self) -> int:
        return self.count - len(self.changes)


def load_event_choices(space: Space) -> tuple[FilterChoice, ...]:
    """Two statements."""
    rows = EvolutionEvent.objects.filter(space=space)
    kinds = sorted((format_kind(kind.name), kind.name) for kind in row_kinds.list_row_kinds())
    return (
        EVENT_KIND_CHOICE,
        load_value_choice(rows, "actor", _("By"), _("Anyone"), spare=False, say=format_actor),
        FilterChoice(
            "row", _("Changed"), (("", _("Anything")), *((n, w) for w, n in kinds)), spare=True
        ),
        EVENT_STATE_CHOICE,
        load_value_choice(rows, "engine", _("Engine"), _("Any")),
    )


def load_stream(space: Space, filters: Filters, moment: SpaceMoment) -> ListPage[StreamEntry]:
    rows = moment.rows(space, EvolutionEvent).filter(
        build_text_condition(filters.q, "reason", "actor"),
        _build_event_state_condition(filters["state"]),
        filters.build_days_condition("created_at", space.timezone),
        **filters.chosen_values("kind", "actor", "engine"),
    )
    if filters["row"]:
        changed = Revision.objects.filter(event=OuterRef("pk"), row_type=filters["row"])
        rows = rows.filter(Exists(changed))
    found = load_page(
        _with_first_rows(rows, Revision.objects.order_by("id")[:MAX_STREAM_ROWS]), filters.page
    )
    changes = _group_changes_by_event(found.rows)
    return found.map(lambda event: StreamEntry(event, changes[event.id], event.rows))


# They arrange and sum up what is held, and follow every change of it.
_ARRANGING_KINDS = (
    EvolutionEvent.Kind.PLACE,
    EvolutionEvent.Kind.ARCHIVE,
    EvolutionEvent.Kind.DIGEST,
    EvolutionEvent.Kind.REFRESH,
)


def load_latest_entries(space: Space | None, count: int) -> list[StreamEntry]:
    """The newest `count` change-sets of a space, or of all, that changed what is held; each with
    one row, what it made before what that took the place of."""
    rows = EvolutionEvent.objects.exclude(kind__in=_ARRANGING_KINDS).select_related("space")
    found = rows.filter(space=space) if space is not None else rows
    made_first = Revision.objects.order_by(F("version_before").asc(nulls_first=True), "id")
    events = list(_with_first_rows(found, made_first[:1])[:count])
    changes = _group_changes_by_event(events)
    return [StreamEntry(event, changes[event.id], event.rows) for event in events]


def _with_first_rows(
    rows: QuerySet[EvolutionEvent], revisions: QuerySet[Revision]
) -> QuerySet[Any]:
    # Into an attribute of its own: a slice is no related manager's.
    first = Prefetch("revisions", revisions, "first")
    counted = rows.annotate(rows=build_count_subquery(Revision.objects.all(), "event"))
    return counted.prefetch_related(first, "undone_by")


def _build_event_state_condition(state: str) -> Q:
    undone = Exists(EvolutionEvent.objects.filter(undo_of=OuterRef("pk")))
    return {
        "standing": Q(~undone, is_purged=False),
        "undone": Q(undone),
        "purged": Q(is_purged=True),
    }.get(state, Q())


def _group_changes_by_event(events: list[Any]) -> dict[UUID, list[MemoryChange]]:
    pairs = [(event, revision) for event in events for revision in event.first]
    by_event: dict[UUID, list[MemoryChange]] = defaultdict(list)
    for change in describe_changes(pairs):
        by_event[change.event.id].append(change)
    return by_event


MAX_EVENT_CALLS = 50


def get_event_or_404(space: Space, event_id: UUID) -> EvolutionEvent:
    return get_object_or_404(
        EvolutionEvent.objects.filter(space=space, id=event_id).select_related("undo_of")
    )


def load_revisions(event: EvolutionEvent) -> tuple[list[tuple[EvolutionEvent, Revision]], int]:
    """The first `MOST_ROWS` of its rows, and how many there are."""
    rows = event.revisions.order_by("id")
    return [(event, revision) for revision in rows[:MAX_EVENT_ROWS]], rows.count()


def load_event_calls(event: EvolutionEvent) -> list[ModelCall]:
    """What models were asked in the work that made the change, in order (spec E22)."""
    if event.job_id is None:
        return []
    rows = ModelCall.objects.filter(space_id=event.space_id, job_id=event.job_id)
    return list(rows.order_by("created_at", "id")[:MAX_EVENT_CALLS])
