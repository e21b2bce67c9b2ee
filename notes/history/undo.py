"""Undo and redo of any event, by its revisions (spec §11.8).

Everything is worked out in memory first: what would be undone and what rows would become. The
same plan is shown before, embedded with nothing open, and then written under a check of versions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from itertools import pairwise
from uuid import UUID

import psycopg
from django.db import IntegrityError, OperationalError, connection, transaction
from django.utils.translation import gettext, ngettext

from memoryhub.errors import Conflict
from memoryhub.inference.selection import select_embedder
from memoryhub.tenants.database.contention import MAX_TRIES, is_deadlock, pause_before_try
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import lock_space
from notes.history.standing import EventStanding, sort_newest_first
from notes.history.timeline import list_later_events
from notes.history.unit_of_work import RowKey, RowsChanged, UnitOfWork, load_event_standing
from notes.index import indexer
from notes.models import EvolutionEvent, Revision

# One entity of a name in a space: whoever reads at the same time may have made it first.
_ENTITY_CONSTRAINT = "entity_key"


def write_plan(tenant_id: UUID, build: Callable[[], UnitOfWork]) -> UnitOfWork:
    """Plan, embed and write; planned anew when the rows have changed meanwhile. Returns the plan
    that was written.

    Opens its own scopes, and embeds with nothing open: rows whose text changes are found under it
    at once, or by their words until the embedder is up again. Raises Conflict.
    """
    for number in range(MAX_TRIES):
        pause_before_try(number)
        with tenant_scope(tenant_id):
            plan = build()
        try:
            save_plan(plan)
        except RowsChanged:
            continue
        except OperationalError as error:
            if not is_deadlock(error) or connection.in_atomic_block:
                raise
            continue
        return plan
    raise Conflict(gettext("these memories are being changed: try again"), code="busy")


def save_plan(bench: UnitOfWork) -> None:
    """Embed and write a plan. Raises RowsChanged when somebody has changed its rows meanwhile, and
    NotFound when the space was erased."""
    model = select_embedder(bench.space)
    with tenant_scope(bench.space.tenant_id):
        entries = bench.build_entries(model.name)
    vectors = indexer.embed_entries_or_none(entries, model)
    with tenant_scope(bench.space.tenant_id):
        # An erasure locks it first as well, and what it takes afterwards.
        lock_space(bench.space)
        try:
            with transaction.atomic():
                bench.save()
                bench.update_dependents()
        except IntegrityError as error:
            if _get_constraint(error) == _ENTITY_CONSTRAINT:
                raise RowsChanged("an entity of this name was made meanwhile") from error
            raise Conflict(
                gettext("another memory has taken its place since"), code="undo_conflict"
            ) from error
        indexer.write_entries(bench.space, model.name, entries, vectors)


def _get_constraint(error: IntegrityError) -> str:
    """The name of what was broken."""
    cause = error.__cause__
    return str(cause.diag.constraint_name) if isinstance(cause, psycopg.Error) else ""


def plan_undo(
    event: EvolutionEvent,
    actor: str,
    now: datetime,
    *,
    cascade: bool = False,
    select_obstacles: Callable[[list[EvolutionEvent]], list[EvolutionEvent]] = list,
) -> UnitOfWork:
    """What undoing would do, changing nothing; of an undo, that is redo. Call inside the tenant's
    scope. Raises Conflict, with the ids of `later` events that changed the same rows unless
    `cascade` undoes those first. `select_obstacles`: those of them that stand in the way, where
    the others are undone unasked."""
    space = Space.objects.get(id=event.space_id)
    standing = load_event_standing(space)
    if not standing.is_standing(event.id):
        raise Conflict(gettext("this was undone already"), code="already_undone")
    chosen = {event.id}
    while True:
        chosen |= _find_dependents(chosen, standing)
        bench = undo_in_memory(space, chosen, actor, now)
        clashing = _find_clashing_events(bench, chosen, standing)
        if not clashing:
            break
        chosen |= clashing
    later = select_obstacles([e for e in bench.undone_events if e.id != event.id])
    if later and not cascade:
        raise Conflict(
            ngettext(
                "%(count)s later change built on this",
                "%(count)s later changes built on this",
                len(later),
            )
            % {"count": len(later)},
            code="later_events",
            later=[str(e.id) for e in later],
        )
    return bench


def undo_in_memory(space: Space, chosen: Iterable[UUID], actor: str, now: datetime) -> UnitOfWork:
    """The chosen events undone, newest first, in memory. Raises Conflict for what can't be."""
    events = {e.id: e for e in EvolutionEvent.objects.filter(space=space, id__in=list(chosen))}
    if elsewhere := set(chosen) - set(events):
        raise Conflict(
            gettext("what it changed is shared, and was changed from another space since"),
            code="later_elsewhere",
            later=[str(event) for event in elsewhere],
        )
    for event in events.values():
        _check_undoable(event)
    revisions = list(Revision.objects.filter(event__in=events))
    by_event: dict[UUID, list[Revision]] = defaultdict(list)
    for revision in revisions:
        by_event[revision.event_id].append(revision)
    if missing := set(events) - set(by_event):
        raise Conflict(
            gettext("nothing was changed by this"), code="not_undoable", event=str(min(missing))
        )
    ages = {e.id: (e.created_at, e.id) for e in events.values()}
    bench = UnitOfWork(space, actor, now)
    bench.load_rows({(r.row_type, r.row_id) for r in revisions})
    for event_id in sort_newest_first(ages, _list_event_order(revisions)):
        bench.undo_event(events[event_id], by_event[event_id])
    return bench


def _check_undoable(event: EvolutionEvent) -> None:
    if event.kind == EvolutionEvent.Kind.ERASE:
        raise Conflict(
            gettext("an erasure can't be undone"), code="not_undoable", event=str(event.id)
        )
    if event.is_purged:
        raise Conflict(
            gettext("what this changed was erased: it can't be undone any more"),
            code="not_undoable",
            event=str(event.id),
        )


def _list_event_order(revisions: Sequence[Revision]) -> list[tuple[UUID, UUID]]:
    """(later, earlier) events that changed a row one after the other."""
    versions: dict[RowKey, list[tuple[int, UUID]]] = defaultdict(list)
    for revision in revisions:
        key = (revision.row_type, revision.row_id)
        versions[key].append((revision.version_after, revision.event_id))
    pairs = []
    for of_row in versions.values():
        events = list(dict.fromkeys(event for _, event in sorted(of_row)))
        pairs += [(later, earlier) for earlier, later in pairwise(events)]
    return pairs


def _find_dependents(events: set[UUID], standing: EventStanding) -> set[UUID]:
    """Events that changed the same rows later and still stand, and those after them in turn."""
    found: set[UUID] = set()
    wave = events
    while wave:
        wave = _find_later_events(wave, standing) - events - found
        found |= wave
    return found


def _find_later_events(events: set[UUID], standing: EventStanding) -> set[UUID]:
    touched: dict[RowKey, int] = {}
    for kind, row, version in Revision.objects.filter(event__in=events).values_list(
        "row_type", "row_id", "version_after"
    ):
        touched[kind, row] = min(version, touched.get((kind, row), version))
    rows = Revision.objects.filter(row_id__in=[row for _, row in touched])
    after: dict[RowKey, set[UUID]] = defaultdict(set)
    for kind, row, version, event in rows.values_list(
        "row_type", "row_id", "version_after", "event_id"
    ):
        if version > touched.get((kind, row), version) and event not in events:
            after[kind, row].add(event)
    return {event for later in after.values() for event in standing.select_standing(later)}


def _find_clashing_events(
    bench: UnitOfWork, chosen: set[UUID], standing: EventStanding
) -> set[UUID]:
    """Later events that gave a place to other claims which these rows would take again (I4)."""
    rivals = bench.find_rivals()
    if not rivals:
        return set()
    since = min(event.created_at for event in bench.undone_events)
    rows = Revision.objects.filter(
        row_type="fact", row_id__in=[r.id for r in rivals], event__created_at__gte=since
    )
    events = set(rows.exclude(event__in=chosen).values_list("event_id", flat=True))
    found = standing.select_standing(events)
    if not found:
        raise Conflict(
            gettext("another memory has taken its place since"),
            code="undo_conflict",
            rivals=[str(fact.id) for fact in rivals],
        )
    return found


def plan_roll_back(space: Space, to: datetime, actor: str, now: datetime) -> UnitOfWork:
    """What undoing every event after `to` that stands would do, newest first, changing nothing.
    Call inside the scope. Raises Conflict."""
    later = {event.id for event in list_later_events(space, to)}
    bench = undo_in_memory(space, later, actor, now)
    if rivals := bench.find_rivals():
        raise Conflict(
            gettext("a memory has taken the place of one that would come back"),
            code="undo_conflict",
            rivals=[str(fact.id) for fact in rivals],
        )
    return bench
