"""Core blocks: text always in front of an agent, which it edits itself (MemGPT, spec §3, §11.4).

One service a mutation, used by tools, pages and requests alike. A writer names the version it
read; another has been there meanwhile: Conflict with the current value (G7). What exceeds the
limit, or matches nothing or too much, is refused with the numbers, and the block is unchanged
(G5, G6). Every edit is an event of the space it comes from, which can be undone (I6), beside the
version that says who wrote what. Call inside the tenant's scope.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, Literal
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils.translation import gettext

from memoryhub.errors import Conflict, InvalidInput, NotFound
from memoryhub.tenants.models import Space
from notes.history.change_set import ChangeSet, TurnEvidence
from notes.models import EvolutionEvent, Revision
from personas.models import BlockAttachment, BlockVersion, CoreBlock

# What an edit makes of a block's text. Pure; raises InvalidInput for what it can't do (G6).


def replace_text(value: str, old: str, new: str, *, everywhere: bool) -> str:
    """`new` in the place of `old`, which is there exactly once unless `everywhere`."""
    times = value.count(old)
    if not times:
        raise InvalidInput(
            gettext("%(old)s is not in the block: copy it exactly") % {"old": repr(old[:80])},
            field="old",
        )
    if times > 1 and not everywhere:
        raise InvalidInput(
            gettext("%(old)s is in the block %(times)s times: give more of the words around it")
            % {"old": repr(old[:80]), "times": times},
            field="old",
        )
    return value.replace(old, new)


def insert_line(value: str, text: str, line: int) -> str:
    """`text` before line `line`, counted from 0; -1 is the end."""
    lines = value.split("\n") if value else []
    if not -1 <= line <= len(lines):
        raise InvalidInput(
            gettext("the block has %(count)s lines: -1 to %(count)s") % {"count": len(lines)},
            field="line",
        )
    at = len(lines) if line == -1 else line
    return "\n".join([*lines[:at], text, *lines[at:]])


MAX_LABEL_LENGTH = 60
MAX_CHAR_LIMIT = 200_000
# Blocks an agent starts with.
DEFAULT_BLOCKS = {
    "persona": "Who you are in this conversation: your role, your manner, what you have promised.",
    "human": "What to know at all times about the person you are talking with.",
}


@dataclass(frozen=True, slots=True)
class BlockWriter:
    """Who writes. Agents may not touch read-only and generated blocks (C9). `space` and
    `turn_id` say where from: the edit is in that space's history, and an erasure finds it.
    `sources` are what a generated block rests on; `events` are those of what was written."""

    actor: str
    kind: Literal["agent", "person", "pipeline"]
    now: datetime
    space: Space
    turn_id: UUID | None = None
    reason: str = ""
    sources: Sequence[TurnEvidence] = ()
    policy_version: str = ""
    events: list[EvolutionEvent] = field(default_factory=list)


def load_visible_blocks(
    space: Space, agent: str = "", as_of: datetime | None = None
) -> list[CoreBlock]:
    """The blocks of a space and the shared ones attached to it: any agent's, and this agent's.

    `as_of`: those there were then, with what they said then.
    """
    mine = Q(agent="") | Q(agent=agent)
    attached = BlockAttachment.objects.filter(mine, space=space).values("block_id")
    held = Q(retired_at=None) | (Q(retired_at__gt=as_of) if as_of else Q(pk=None))
    rows = CoreBlock.objects.filter(
        held, (Q(space=space) & mine) | Q(id__in=attached, space=None)
    ).order_by("label", "id")
    return list(rows) if as_of is None else build_past_blocks(list(rows), as_of)


def build_past_blocks(held: Sequence[CoreBlock], at: datetime) -> list[CoreBlock]:
    """Those of the rows that were there, not to be saved, with the words of their versions then."""
    known = BlockVersion.objects.filter(block__in=held, created_at__lte=at)
    latest = {v.block_id: v for v in known.order_by("block_id", "-version").distinct("block_id")}
    for block in held:
        if version := latest.get(block.id):
            block.value, block.version = version.value, version.version
            block.updated_at = version.created_at
    return [block for block in held if block.id in latest]


def get_block_by_label(space: Space, label: str, agent: str = "") -> CoreBlock:
    """The block an agent means by a label: its own before a shared one. Raises NotFound."""
    found = load_visible_blocks(space, agent)
    mine = sorted(
        (b for b in found if b.label == label.strip()),
        key=lambda b: (b.space_id is None, -len(b.agent)),
    )
    if not mine:
        known = ", ".join(repr(block.label) for block in found) or "none yet"
        raise NotFound(
            gettext("no block %(label)s; there are: %(known)s")
            % {"label": repr(label), "known": known},
            code="no_such_block",
        )
    return mine[0]


def create_block(
    writer: BlockWriter,
    label: str,
    value: str = "",
    *,
    tenant_id: UUID,
    space: Space | None = None,
    agent: str = "",
    description: str = "",
    char_limit: int = 2000,
    read_only: bool = False,
    generated: bool = False,
) -> CoreBlock:
    """A new block of the space, or one to share when there is none. Raises InvalidInput,
    Conflict for a label that is taken."""
    label = _clean_label(label)
    if not 1 <= char_limit <= MAX_CHAR_LIMIT:
        raise InvalidInput(
            gettext("from 1 to %(limit)s characters") % {"limit": MAX_CHAR_LIMIT},
            field="char_limit",
        )
    _check_label_free(tenant_id, space, agent, label)
    block = CoreBlock(
        tenant_id=tenant_id,
        space=space,
        agent=agent[:120],
        label=label,
        description=description[:500],
        char_limit=char_limit,
        read_only=read_only,
        generated=generated,
        updated_at=writer.now,
    )
    _check_length(block, value, char_limit)
    block.value = value
    with _taking_label(label):
        block.save(force_insert=True)
    changes = _build_change_set(writer)
    changes.record_creation(block, writer.sources)
    _save_changes(changes, writer)
    return block


def ensure_default_blocks(
    space: Space, agent: str, char_limit: int, now: datetime
) -> list[CoreBlock]:
    """An agent's first blocks, made when it first speaks; returns all it has in front of it."""
    known = load_visible_blocks(space, agent)
    taken = {block.label for block in known}
    writer = BlockWriter("memoryhub", "pipeline", now, space, reason="the agent's first blocks")
    for label, about in DEFAULT_BLOCKS.items():
        if label not in taken:
            known.append(
                create_block(
                    writer,
                    label,
                    tenant_id=space.tenant_id,
                    space=space,
                    description=about,
                    char_limit=char_limit,
                )
            )
    return known


def append_to_block(
    writer: BlockWriter, block_id: UUID, text: str, version: int | None = None
) -> CoreBlock:
    """Add a line at the end."""
    if not text.strip():
        raise InvalidInput(gettext("nothing to append"), field="text")
    return _edit_value(writer, block_id, version, lambda old: f"{old}\n{text}" if old else text)


def replace_in_block(
    writer: BlockWriter,
    block_id: UUID,
    old: str,
    new: str,
    version: int | None = None,
    *,
    everywhere: bool = False,
) -> CoreBlock:
    """Put `new` in the place of `old`, which must be there exactly once unless `everywhere`."""
    if not old:
        raise InvalidInput(gettext("`old` is empty: say which words to replace"), field="old")
    replace = partial(replace_text, old=old, new=new, everywhere=everywhere)
    return _edit_value(writer, block_id, version, replace)


def insert_into_block(
    writer: BlockWriter, block_id: UUID, text: str, line: int, version: int | None = None
) -> CoreBlock:
    """Insert before line `line`, counted from 0; -1 is the end."""
    if not text.strip():
        raise InvalidInput(gettext("nothing to insert"), field="text")
    return _edit_value(writer, block_id, version, lambda old: insert_line(old, text, line))


def rethink_block(
    writer: BlockWriter, block_id: UUID, value: str, version: int | None = None
) -> CoreBlock:
    """Write the whole block anew."""
    return revise_block(writer, block_id, version, value=value)


def revise_block(
    writer: BlockWriter,
    block_id: UUID,
    version: int | None = None,
    *,
    value: str | None = None,
    label: str | None = None,
    char_limit: int | None = None,
) -> CoreBlock:
    """Text, label and limit at once, as one version and one event; None leaves one as it is."""
    block = _lock_block(writer, block_id, version)
    text = block.value if value is None else value
    limit = block.char_limit if char_limit is None else char_limit
    name = block.label if label is None else _clean_label(label)
    if value is not None or char_limit is not None:  # a name is free of what the block holds
        _check_length(block, text, max(limit, block.char_limit))
        _check_char_limit(limit, len(text))
    if name != block.label:
        _check_label_free(block.tenant_id, block.space, block.agent, name)
    if (text, name, limit) != (block.value, block.label, block.char_limit):
        _save_version(block, writer, value=text, label=name, char_limit=limit)
    return block


def delete_block(writer: BlockWriter, block_id: UUID, version: int | None = None) -> CoreBlock:
    """Take it out of every agent's sight. Its versions stay."""
    block = _lock_block(writer, block_id, version)
    _save_version(block, writer, retired_at=writer.now)
    return block


def attach_block(block: CoreBlock, space: Space, agent: str = "") -> BlockAttachment:
    """Put a shared block in front of the agents of a space. Twice is once."""
    if block.space_id is not None:
        raise InvalidInput(
            gettext("only a block that belongs to no space is shared"), field="block"
        )
    made, _ = BlockAttachment.objects.get_or_create(
        block=block, space=space, agent=agent, defaults={"tenant_id": space.tenant_id}
    )
    return made


def detach_block(block: CoreBlock, space: Space) -> None:
    BlockAttachment.objects.filter(block=block, space=space).delete()


def _edit_value(
    writer: BlockWriter, block_id: UUID, version: int | None, change: Callable[[str], str]
) -> CoreBlock:
    block = _lock_block(writer, block_id, version)
    value = change(block.value)
    _check_length(block, value, block.char_limit)
    if value != block.value:
        _save_version(block, writer, value=value)
    return block


def _lock_block(writer: BlockWriter, block_id: UUID, version: int | None) -> CoreBlock:
    """The block, locked. Raises NotFound, Conflict, InvalidInput for whom it is not."""
    block = CoreBlock.objects.select_for_update().filter(id=block_id, retired_at=None).first()
    if block is None:
        raise NotFound(gettext("no such block"), code="no_such_block")
    if writer.kind == "agent" and (block.read_only or block.generated):
        raise InvalidInput(
            gettext("the block %(label)s is read-only") % {"label": repr(block.label)},
            code="read_only",
        )
    if block.generated and writer.kind == "person":
        raise InvalidInput(
            gettext("the block %(label)s is generated: correct what it is made of")
            % {"label": repr(block.label)},
            code="read_only",
        )
    if version is not None and version != block.version:
        raise Conflict(
            gettext("the block %(label)s changed meanwhile: it is in version %(version)s now")
            % {"label": repr(block.label), "version": block.version},
            code="version_conflict",
            version=block.version,
            value=block.value,
        )
    return block


def _check_char_limit(char_limit: int, used: int) -> None:
    if not max(1, used) <= char_limit <= MAX_CHAR_LIMIT:
        raise InvalidInput(
            gettext("from %(least)s to %(most)s") % {"least": max(1, used), "most": MAX_CHAR_LIMIT},
            field="char_limit",
        )


def _check_length(block: CoreBlock, value: str, limit: int) -> None:
    if len(value) > limit:
        raise InvalidInput(
            gettext(
                "the block %(label)s holds %(count)s of %(limit)s characters and would have"
                " %(would)s: shorten it, or put this into archival memory"
            )
            % {
                "label": repr(block.label),
                "count": len(block.value),
                "limit": limit,
                "would": len(value),
            },
            code="block_full",
            field="value",
            current=len(block.value),
            requested=len(value),
            limit=limit,
        )


def _clean_label(label: str) -> str:
    label = label.strip()
    if not label or len(label) > MAX_LABEL_LENGTH:
        raise InvalidInput(
            gettext("from 1 to %(limit)s characters") % {"limit": MAX_LABEL_LENGTH}, field="label"
        )
    return label


def _check_label_free(tenant_id: UUID, space: Space | None, agent: str, label: str) -> None:
    taken = CoreBlock.objects.filter(
        tenant_id=tenant_id, space=space, agent=agent, label=label, retired_at=None
    )
    if taken.exists():
        raise _build_label_conflict(label)


def _build_label_conflict(label: str) -> Conflict:
    return Conflict(
        gettext("there is a block %(label)s already") % {"label": repr(label)},
        code="label_taken",
        field="label",
    )


@contextmanager
def _taking_label(label: str) -> Iterator[None]:
    """Somebody may take a free label in the same moment: to the second it is taken."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        raise _build_label_conflict(label) from error


def _save_version(block: CoreBlock, writer: BlockWriter, **values: Any) -> None:
    changes = _build_change_set(writer)
    with _taking_label(values.get("label", block.label)):
        changes.update_row(block, **values, updated_at=writer.now)
    changes.record_support(block, writer.sources)
    _save_changes(changes, writer)


def _build_change_set(writer: BlockWriter) -> ChangeSet:
    kinds = EvolutionEvent.Kind
    return ChangeSet(
        writer.space,
        kinds.REFRESH if writer.kind == "pipeline" else kinds.MANUAL,
        writer.actor[:120],
        writer.now,
        writer.reason[:500],
        trigger="block",
        policy_version=writer.policy_version,
    )


def _save_changes(changes: ChangeSet, writer: BlockWriter) -> None:
    """The event, and the version that is part of it."""
    changes.save()
    writer.events.append(changes.event)
    follow_revisions(changes.revisions, writer.turn_id)


def follow_revisions(revisions: Sequence[Revision], turn_id: UUID | None = None) -> None:
    """The versions that events made, undoing among them."""
    BlockVersion.objects.bulk_create(
        BlockVersion(
            tenant_id=revision.tenant_id,
            block_id=revision.row_id,
            version=revision.version_after,
            value=(revision.after or {})["value"],
            actor=revision.event.actor,
            reason=revision.event.reason[:500],
            space_id=revision.space_id,
            turn_id=turn_id,
            created_at=revision.event.created_at,
        )
        for revision in revisions
    )
