"""Core blocks after an erasure: put back to before the erased words, or emptied (spec §11.9)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q

from memoryhub.dialogues.models import Turn
from memoryhub.tenants.models import Space
from notes.evidence import gives_away
from personas.models import BlockVersion, CoreBlock


def scrub(space: Space, turns: Sequence[Turn], now: datetime) -> tuple[int, list[dict[str, Any]]]:
    """(blocks changed, shared blocks for a person to look at). Call before the turns are redacted.

    A version is scrubbed when one of the turns led to it, or when it says what only they said.
    """
    if not turns:
        return 0, []
    erased, review, changed = {turn.id: turn for turn in turns}, [], 0
    for block in _blocks(space, set(erased)):
        if not _scrub(block, erased, space, now):
            continue
        changed += 1
        if block.space_id is None:
            review.append({"block": str(block.id), "label": block.label})
    return changed, review


def _blocks(space: Space, turns: set[UUID]) -> list[CoreBlock]:
    reached = Q(space=space) | Q(attachments__space=space) | Q(versions__turn_id__in=turns)
    return list(CoreBlock.objects.filter(reached).distinct())


def _scrub(block: CoreBlock, erased: dict[UUID, Turn], space: Space, now: datetime) -> bool:
    versions = list(BlockVersion.objects.filter(block=block).order_by("version"))
    told = [v for v in versions if v.turn_id in erased or _betrays(v.value, space, erased)]
    shown = any(v.version == block.version for v in told) or _betrays(block.value, space, erased)
    if not told and not shown:
        return False
    kept = [v for v in versions if v not in told]
    for version in told:
        version.value, version.reason = "", ""
    BlockVersion.objects.bulk_update(told, ["value", "reason"])
    if shown:
        block.value = "" if block.generated or not kept else kept[-1].value
        block.version += 1
        block.updated_at = now
        block.save(update_fields=["value", "version", "updated_at"])
        BlockVersion.objects.create(
            tenant_id=block.tenant_id,
            block=block,
            version=block.version,
            value=block.value,
            actor="erasure",
            space=space,
            created_at=now,
        )
    return True


def _betrays(value: str, space: Space, erased: dict[UUID, Turn]) -> bool:
    """The name of whom it is about is no secret of one turn."""
    return gives_away(value, [t.text for t in erased.values()], [space.subject, space.name])
