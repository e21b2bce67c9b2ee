"""What was erased without a person's word, such as by a wish said in talk: kept sealed for a time.

While rows are erased, PostgreSQL itself notes each row of the tenant's tables that changes
(tenants/row_images.py), so that whatever an erasure does can be put back as it was. What is sealed
is readable with the hub's key alone: no reader finds it, and no file or scan shows it. A later
erasure takes its share of what is sealed along, and the sweep destroys the rest in time.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db import IntegrityError, connection, transaction
from django.utils.translation import gettext

from memoryhub.dialogues.models import Turn
from memoryhub.errors import Conflict
from memoryhub.pipeline.jobs import queue
from memoryhub.pipeline.models import Job, SealedErasure
from memoryhub.policies.schema import Policy
from memoryhub.policies.services import load_effective_policy
from memoryhub.tenants.database.row_images import (
    RowImage,
    delete_rows,
    insert_rows,
    load_rows,
    update_row,
)
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.sealing import open_sealed, reseal, seal_secret
from memoryhub.tenants.services import lock_space
from notes.erasure.trace import REWRITTEN_KINDS, ErasureTrace
from notes.history import row_kinds
from notes.history.undo import plan_undo
from notes.history.unit_of_work import UnitOfWork
from notes.index import indexer
from notes.models import EvolutionEvent, Fact, IndexEntry, Proposal, Receipt, Revision

UNDO_TRIGGER = "unseal"
_EVENTS, _REVISIONS, _ENTRIES = "notes_evolutionevent", "notes_revision", "notes_indexentry"
_JOBS, _TURNS, _DERIVATIONS = "pipeline_job", "dialogues_turn", "notes_derivation"
_BLOCKS, _VERSIONS = "personas_coreblock", "personas_blockversion"
# A person's or the pipeline's later word on these stands in the way of bringing them back.
_FIRM = frozenset({_TURNS, "notes_fact", "notes_note"})
# These follow by themselves, or are told of by others: what they say by now stays.
_FOLLOWING = frozenset(
    {
        *(_JOBS, "tenants_space", "pipeline_spacemap", "pipeline_qualityreading", _BLOCKS),
        *("personas_trait", "personas_profileattribute", "inference_modelcall"),
    }
)
# Of a later erasure, the earlier one keeps these: logs may tell of anything, and go.
_KEPT_AFTER_ANOTHER = ("notes_", "personas_", "dialogues_")
_SUMMARIES = frozenset({f"notes_{kind}" for kind in (*REWRITTEN_KINDS, "segmentpage")})
# Work and tidings that the erasure itself made, which no undo takes away.
_STAYING = (_JOBS, "webhooks_", "tenants_")


# Sealing


def seal_erasure(
    found: ErasureTrace, receipt: Receipt, images: Sequence[RowImage], now: datetime
) -> None:
    """Keep what the erasure took until `receipt.undoable_until`. Call inside its transaction."""
    assert receipt.undoable_until is not None
    assert found.event_id is not None
    sealed = SealedErasure(
        tenant_id=found.space.tenant_id,
        space=found.space,
        receipt=receipt,
        event_id=found.event_id,
        turn_ids=sorted(found.touched_turn_ids),
        created_at=now,
        until=receipt.undoable_until,
    )
    _fill(sealed, images)
    sealed.save(force_insert=True)
    _plan_end(sealed)


def _fill(sealed: SealedErasure, images: Sequence[RowImage]) -> None:
    sealed.sealed = seal_secret(json.dumps([image.to_json() for image in images]))
    links = (image for image in images if image.table == _DERIVATIONS)
    rests = {UUID(link.values["turn_id"]) for link in links if "turn_id" in link.values}
    sealed.row_ids = sorted({UUID(image.id) for image in images} | rests)


def _plan_end(sealed: SealedErasure) -> None:
    key = f"sealed-{sealed.receipt_id}-{sealed.until.isoformat()}"
    queue.plan_step(sealed.space, Job.Step.SWEEP, key, sealed.until)


def _open(sealed: SealedErasure) -> list[RowImage]:
    return [RowImage.from_json(each) for each in json.loads(open_sealed(sealed.sealed))]


def reseal_erasures() -> int:
    """Seal all anew under the hub's key of now. Call outside every scope."""
    done = 0
    with connection.cursor() as cursor:
        cursor.execute("SELECT tenant_id FROM memoryhub_ageing_tenants()")
        tenants = [row[0] for row in cursor.fetchall()]
    for tenant_id in tenants:
        with tenant_scope(tenant_id):
            for row in SealedErasure.objects.select_for_update():
                row.sealed = reseal(row.sealed)
                row.save(update_fields=["sealed"])
                done += 1
    return done


# Ending


def destroy_due(space: Space, policy: Policy, now: datetime) -> datetime | None:
    """Destroy what can't be brought back any more; returns when the next one is due. Under a legal
    hold all stay. A task of the sweep."""
    with tenant_scope(space.tenant_id):
        held = SealedErasure.objects.filter(space=space)
        if policy.erase.hold:
            return now if held.exists() else None
        destroy(held.filter(until__lte=now), now)
        due: datetime | None = held.values_list("until", flat=True).order_by("until").first()
    return due


def is_kept_by_hold(space: Space, receipts: Iterable[Receipt]) -> bool:
    """Whether a legal hold keeps what is sealed of these from being destroyed. One statement, none
    where nothing is sealed."""
    sealed = any(receipt.is_sealed for receipt in receipts)
    return sealed and load_effective_policy(space).policy.erase.hold


def destroy(rows: Any, now: datetime) -> None:
    """For good: from now on the receipts say so. Call inside the tenant's scope."""
    receipts = list(rows.values_list("receipt_id", flat=True))
    Receipt.objects.filter(id__in=receipts).update(gone_at=now)
    rows.delete()


def yield_to_erasure(found: ErasureTrace, chosen: Collection[UUID], now: datetime) -> None:
    """What is sealed in the space gives way to another erasure, before that is carried out: a
    sealed one of the same turns is destroyed, others lose what is made of what goes now, and the
    logs. `chosen`: ids that were asked for. Call inside its transaction."""
    turns = _list_reached_turn_ids(found, chosen)
    for sealed in SealedErasure.objects.filter(space=found.space).select_for_update():
        if (turns | set(chosen)).intersection(sealed.turn_ids):
            destroy(SealedErasure.objects.filter(id=sealed.id), now)
            continue
        rows = {row for _, row in {**found.doomed_rows, **found.tainted_rows}}
        rows |= {row for _, row in found.rewritten_rows} | set(found.entities)
        _fill(sealed, _list_spared(_open(sealed), {str(row) for row in rows | turns}))
        sealed.save(update_fields=["sealed", "row_ids"])


def select_overtaken(
    held: Iterable[SealedErasure], found: ErasureTrace, chosen: Collection[UUID]
) -> list[SealedErasure]:
    """Those of them that `yield_to_erasure` would destroy. Call inside the tenant's scope."""
    reached = _list_reached_turn_ids(found, chosen).union(chosen)
    return [sealed for sealed in held if reached.intersection(sealed.turn_ids)]


def _list_reached_turn_ids(found: ErasureTrace, chosen: Collection[UUID]) -> set[UUID]:
    """Of a conversation that was chosen, all: what is erased of it already is not traced."""
    turns = Turn.objects.filter(session__in=chosen, space=found.space)
    return {*found.touched_turn_ids, *turns.values_list("id", flat=True)}


def _list_spared(images: Sequence[RowImage], gone: set[str]) -> list[RowImage]:
    """Those that are not of these rows or made of them. What turns and pages are found by is made
    of their neighbours' words too, and is made anew."""
    made = {
        str(image.values["child_id"])
        for image in images
        if image.table == _DERIVATIONS and image.values.get("turn_id") in gone
    }
    gone = gone | made
    own = ("id", "owner_id", "row_id", "child_id", "turn_id", "fact_id", "note_id")
    return [
        image
        for image in images
        if image.table.startswith(_KEPT_AFTER_ANOTHER)
        and not (image.table == _ENTRIES and image.values.get("kind") in (None, "turn", "page"))
        and not any(str(image.values.get(name)) in gone for name in own)
    ]


# Bringing back


def find_sealed(event: EvolutionEvent) -> SealedErasure | None:
    """What the erasure of this event sealed. Call inside the tenant's scope."""
    rows = SealedErasure.objects.filter(space=event.space_id, event_id=event.id)
    sealed: SealedErasure | None = rows.select_related("receipt", "space").first()
    return sealed


def find_undoable(event: EvolutionEvent, now: datetime) -> SealedErasure | None:
    """The same, while it can be undone. No statement for other events."""
    sealed = find_sealed(event) if event.kind == EvolutionEvent.Kind.ERASE else None
    return sealed if sealed is not None and sealed.until > now else None


def list_sealed(space: Space, now: datetime) -> list[SealedErasure]:
    """Those that can still be undone, the newest first. Call inside the tenant's scope."""
    rows = SealedErasure.objects.filter(space=space, until__gt=now)
    return list(rows.select_related("receipt").order_by("-created_at"))


def unseal_erasure(
    event: EvolutionEvent,
    actor: str,
    now: datetime,
    *,
    cascade: bool = False,
    reason: str = "",
    dry_run: bool = False,
) -> EvolutionEvent:
    """Put back every row as it was; returns the event that says so, which a dry run does not
    store. Opens its own scope. Raises Conflict where it is gone for good, or where more was built
    on what was read again meanwhile (unless `cascade`) or another memory has taken a place."""
    with tenant_scope(event.tenant_id), transaction.atomic():
        space = Space.objects.get(id=event.space_id)
        lock_space(space)
        sealed = find_undoable(event, now)
        if sealed is None:
            raise Conflict(gettext("an erasure can't be undone"), code="not_undoable")
        made = EvolutionEvent(
            tenant_id=event.tenant_id,
            space=space,
            kind=EvolutionEvent.Kind.UNDO,
            actor=actor,
            trigger=UNDO_TRIGGER,
            reason=reason,
            undo_of=event,
            created_at=now,
        )
        point = transaction.savepoint()
        _restore(space, sealed, actor, now, cascade=cascade)
        if dry_run:
            transaction.savepoint_rollback(point)
            return made
        _settle_wish(sealed, actor, now)
        made.save(force_insert=True)
        Receipt.objects.filter(id=sealed.receipt_id).update(undone_at=now)
        sealed.delete()
        queue.plan_step(space, Job.Step.EMBED, f"unsealed-{made.id}", now)
    return made


def _restore(
    space: Space, sealed: SealedErasure, actor: str, now: datetime, *, cascade: bool
) -> None:
    images = _open(sealed)
    by_table: dict[str, list[RowImage]] = defaultdict(list)
    for image in images:
        by_table[image.table].append(image)
    jobs = [image.id for image in by_table[_JOBS] if image.before is None]
    _take_back_readings(space, jobs, actor, now, cascade=cascade)
    try:
        with transaction.atomic():
            _write_back(sealed, by_table)
            _check_rivals(space, by_table, actor, now)
            with connection.cursor() as cursor:
                cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
                cursor.execute("SET CONSTRAINTS ALL DEFERRED")
    except IntegrityError as error:
        raise Conflict(
            gettext("another memory has taken its place since"), code="undo_conflict"
        ) from error
    _write_missing_entries(space, by_table)
    speakers = Turn.objects.filter(space=space).exclude(speaker="")
    spoken = {*space.speakers, *speakers.values_list("speaker", flat=True).distinct().order_by()}
    Space.objects.filter(id=space.id).update(speakers=sorted(spoken))


def _take_back_readings(
    space: Space, jobs: Sequence[str], actor: str, now: datetime, *, cascade: bool
) -> None:
    """What was read again from what remained says what comes back now, and what the hub itself
    made of it goes along: only what was told or done since stands in the way. Raises Conflict."""
    planned = Job.objects.filter(id__in=jobs, step=Job.Step.REDERIVE)
    again = list(planned.values_list("id", flat=True))
    planned.filter(state__in=Job.UNFINISHED_STATES).update(
        state=Job.State.CANCELLED, finished_at=now, lease_until=None
    )
    while True:
        held = EvolutionEvent.objects.filter(
            space=space, job_id__in=again, undone_by=None, revisions__isnull=False
        )
        event = held.order_by("-created_at", "-id").first()
        if event is None:
            return
        plan = plan_undo(event, actor, now, cascade=cascade, select_obstacles=_select_obstacles)
        plan.save()
        plan.update_dependents()


def _select_obstacles(events: list[EvolutionEvent]) -> list[EvolutionEvent]:
    """Those that came of a message or of somebody's act, and not of the hub alone, as where a note
    evolved or a topic was summed up. One statement."""
    jobs = Job.objects.filter(id__in=[event.job_id for event in events if event.job_id])
    own = set(jobs.exclude(step=Job.Step.DERIVE).values_list("id", flat=True))
    return [event for event in events if event.job_id not in own]


def _write_back(sealed: SealedErasure, by_table: Mapping[str, Sequence[RowImage]]) -> None:
    """What was made goes, what was changed changes back, what went comes. The place of a claim is
    free before another takes it, and what a claim supersedes is there before it is named."""
    stale = _find_changed_since(by_table)
    _delete_made_rows(sealed, by_table, stale)
    later: list[RowImage] = []
    for table, images in by_table.items():
        if table in (_ENTRIES, _EVENTS, _REVISIONS):
            continue
        for image in images:
            if image.before is None or image.after is None:
                continue
            values = _pick_values(image, stale)
            if "supersedes_id" in values:
                value = values.pop("supersedes_id")
                later.append(RowImage(table, image.id, {"supersedes_id": value}, {}))
            update_row(table, image.id, values)
    for table, images in by_table.items():
        lost = [image.before for image in images if image.before and image.after is None]
        if table == _ENTRIES:
            lost = [image.before for image in images if image.before]
        _insert(table, lost)
    for image in [*later, *by_table.get(_EVENTS, ()), *by_table.get(_REVISIONS, ())]:
        if image.before is not None and image.after is not None:
            update_row(image.table, image.id, image.before)


def _find_changed_since(by_table: Mapping[str, Sequence[RowImage]]) -> set[tuple[str, str]]:
    """Rows that say by now something else than the erasure left. Raises Conflict for those that
    can't say both, with the ids of the `later` events."""
    found: set[tuple[str, str]] = set()
    for table, images in by_table.items():
        changed = [i for i in images if i.before is not None and i.after is not None]
        held = load_rows(table, [image.id for image in changed])
        for image in changed:
            row = held.get(image.id)
            if row is None or any(row[name] != was for name, was in (image.after or {}).items()):
                found.add((table, image.id))
    firm = [UUID(row) for table, row in found if table in _FIRM]
    if firm:
        rows = Revision.objects.filter(row_id__in=firm).order_by("-event__created_at")
        later = dict.fromkeys(str(event) for event in rows.values_list("event_id", flat=True))
        raise Conflict(
            gettext("what it left was changed since: undo that first"),
            code="later_events",
            later=list(later)[:1],
        )
    return found


def _write_missing_entries(space: Space, by_table: Mapping[str, Sequence[RowImage]]) -> None:
    owners = {
        kind: {UUID(image.id) for image in by_table.get(table, ()) if image.before}
        for kind, table in (("turn", _TURNS), ("page", "notes_page"))
    }
    known = {row for ids in owners.values() for row in ids}
    held = set(
        IndexEntry.objects.filter(space=space, owner_id__in=known).values_list(
            "owner_id", flat=True
        )
    )
    missing = {kind: ids - held for kind, ids in owners.items()}
    entries = row_kinds.rebuild_entries(space, missing, ZoneInfo(space.timezone))
    indexer.write_entries(space, space.embedding_model, entries, None)


def _pick_values(image: RowImage, stale: set[tuple[str, str]]) -> dict[str, Any]:
    """What to put back of a row: of one that was changed since, its words, to be renewed."""
    values = dict(image.before or {})
    if (image.table, image.id) not in stale:
        return values
    if image.table in _FOLLOWING:
        return {}
    values.pop("version", None)
    if image.table in _SUMMARIES and "stale" in values:
        values["stale"] = True
    return values


def _delete_made_rows(
    sealed: SealedErasure,
    by_table: Mapping[str, Sequence[RowImage]],
    stale: set[tuple[str, str]],
) -> None:
    """Rows that the erasure wrote, but for its event, its work and what is told of rows that were
    changed since."""
    kept_rows = {row for _, row in stale}
    owners = {str(image.values["owner_id"]) for image in by_table.get(_ENTRIES, ())}
    delete_rows(_ENTRIES, sorted(owners), column="owner_id")
    for table, images in sorted(by_table.items(), key=lambda each: each[0] == _EVENTS):
        if table.startswith(_STAYING) or table == _ENTRIES:
            continue
        made = [
            image.id
            for image in images
            if image.before is None
            and image.id != str(sealed.event_id)
            and str(image.values.get("row_id")) not in kept_rows
            and str(image.values.get("block_id")) not in kept_rows
        ]
        if table == _EVENTS:
            wanted = [UUID(row_id) for row_id in made]
            left = Revision.objects.filter(event__in=wanted).values_list("event_id", flat=True)
            made = sorted(set(made) - {str(event) for event in left})
        delete_rows(table, made)


def _insert(table: str, rows: Iterable[Mapping[str, Any]]) -> None:
    """A row of those that follow by themselves gives way to one that stands there by now."""
    wanted = list(rows)
    if table not in _FOLLOWING:
        insert_rows(table, wanted)
        return
    for row in wanted:
        try:
            with transaction.atomic():
                insert_rows(table, [row])
        except IntegrityError:
            continue


def _check_rivals(
    space: Space, by_table: Mapping[str, Sequence[RowImage]], actor: str, now: datetime
) -> None:
    """Raises Conflict where another claim holds in the place of one that came back (I4)."""
    back = [image.id for image in by_table.get("notes_fact", ()) if image.before]
    bench = UnitOfWork(space, actor, now)
    for fact in Fact.objects.filter(id__in=back):
        bench.rows["fact", fact.id], bench.original_values["fact", fact.id] = fact, None
    if rivals := bench.find_rivals():
        raise Conflict(
            gettext("another memory has taken its place since"),
            code="undo_conflict",
            rivals=[str(fact.id) for fact in rivals],
        )


def _settle_wish(sealed: SealedErasure, actor: str, now: datetime) -> None:
    """The wish is answered by a person now: nothing grants it by itself again."""
    wishes = Proposal.objects.filter(
        space=sealed.space_id,
        kind=Proposal.Kind.ERASE,
        id__in=sealed.row_ids,
        payload__auto=True,
    )
    for wish in wishes:
        wish.payload = {**wish.payload, "auto": False}
        wish.state = Proposal.State.REJECTED
        wish.decided_at, wish.decided_by, wish.decided_because = now, actor[:120], ""
        wish.save()


def compute_end(space: Space, now: datetime) -> datetime | None:
    """Until when what is erased now without a person's word can be brought back. Call inside the
    tenant's scope."""
    hours = load_effective_policy(space).policy.erase.undo_hours
    return now + timedelta(hours=hours) if hours else None
