"""Core blocks after an erasure: put back to before the erased words, or emptied (spec §11.9)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from math import inf
from typing import Any
from uuid import UUID

from django.db.models import Q

from memoryhub.tenants.models import Space
from notes.erasure.evidence import has_erased_words
from notes.history.change_set import ChangeSet
from notes.models import Derivation, EvolutionEvent, Revision
from personas.models import BlockVersion, CoreBlock


def scrub_blocks(
    space: Space, erased: Mapping[UUID, str], actor: str, now: datetime
) -> tuple[int, list[dict[str, Any]]]:
    """(blocks changed, shared blocks for a person to look at). `erased`: by turn, what goes of it.

    A version is scrubbed when one of the turns led to it, or when it says what only they said.
    """
    if not erased:
        return 0, []
    review, changed = [], 0
    changes = ChangeSet(space, EvolutionEvent.Kind.ERASE, actor, now, trigger="erase")
    reached = Q(space=space) | Q(attachments__space=space) | Q(versions__turn_id__in=erased)
    for block in CoreBlock.objects.filter(reached).distinct():
        if not _scrub_block(block, erased, changes):
            continue
        changed += 1
        if block.space_id is None:
            review.append({"block": str(block.id), "label": block.label})
    changes.save()
    return changed, review


def _scrub_block(block: CoreBlock, erased: Mapping[UUID, str], changes: ChangeSet) -> bool:
    versions = list(BlockVersion.objects.filter(block=block).order_by("version"))
    # Of a generated block, the first version that rests on one of the turns.
    rests = Derivation.objects.filter(child_id=block.id, turn__in=erased)
    since = min(rests.values_list("child_version", flat=True), default=inf)
    told = [
        v
        for v in versions
        if v.turn_id in erased or v.version >= since or _is_tainted(v.value, changes.space, erased)
    ]
    shown = any(v.version == block.version for v in told)
    shown = shown or _is_tainted(block.value, changes.space, erased)
    if not told and not shown:
        return False
    kept = [v for v in versions if v not in told]
    for version in told:
        version.value, version.reason = "", ""
    BlockVersion.objects.bulk_update(told, ["value", "reason"])
    _purge_revisions(block, {v.version for v in told})
    if shown:
        _restore_value(block, "" if block.generated or not kept else kept[-1].value, changes)
    return True


def _purge_revisions(block: CoreBlock, told: set[int]) -> None:
    """The same words in the histories, of whatever space: those events can't be undone any more."""
    rows = Revision.objects.filter(row_id=block.id)
    after, before = rows.filter(version_after__in=told), rows.filter(version_before__in=told)
    events = {*after.values_list("event_id", flat=True), *before.values_list("event_id", flat=True)}
    EvolutionEvent.objects.filter(id__in=events).update(is_purged=True, reason="")
    before.update(before=None)
    after.update(before=None, after=None)


def _restore_value(block: CoreBlock, value: str, changes: ChangeSet) -> None:
    changes.update_row(block, value=value, updated_at=changes.at)
    changes.revisions[-1].before = None  # these words go
    BlockVersion.objects.create(
        tenant_id=block.tenant_id,
        block=block,
        version=block.version,
        value=block.value,
        actor="erasure",
        space=changes.space,
        created_at=changes.at,
    )


def _is_tainted(value: str, space: Space, erased: Mapping[UUID, str]) -> bool:
    """The name of whom it is about is no secret of one turn."""
    return has_erased_words(value, erased.values(), [space.subject, space.name])
