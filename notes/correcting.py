"""What a person changes by hand: one function a correction, each a manual event (spec C9, E19).

A row changed here carries `corrected_by`: from then on the pipeline only proposes against it.
Functions open their own scopes and embed with nothing open: call them outside of a transaction.
They raise NotFound, InvalidInput, and Conflict where another memory stands in the way.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.utils.translation import gettext

from memoryhub.errors import Conflict, Outdated
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes import works
from notes.models import EvolutionEvent, Fact
from notes.undoing import TRIES, finish
from notes.workbench import Workbench
from notes.works import Work

# A row that is to be in the version its writer has read; None: in whichever it is.
Read = tuple[str, UUID, int | None]


def by_hand(
    space: Space,
    actor: str,
    now: datetime,
    reason: str,
    work: Work,
    read: Read | None = None,
) -> EvolutionEvent:
    """Run `work` on rows in memory, refuse what breaks I4, embed, and write it as one event.

    Raises Outdated when the row is not as it was `read`.
    """
    for _ in range(TRIES):
        with tenant_scope(space.tenant_id):
            bench = planned(space, actor, now, reason, work, read)
        if made := finish(bench):
            return made[0]
    raise Conflict(gettext("these memories are being changed: try again"), code="busy")


def planned(
    space: Space,
    actor: str,
    now: datetime,
    reason: str,
    work: Work,
    read: Read | None = None,
) -> Workbench:
    """What `work` would do, changing nothing. Call inside the tenant's scope. Raises as it does."""
    bench = Workbench(space, actor, now)
    if read is not None:
        _refuse_changed(bench, *read)
    work(bench, bench.by_hand(reason))
    if rivals := bench.rivals():
        raise Conflict(
            gettext("at that time “%(text)s” holds") % {"text": rivals[0].text},
            code="another_holds",
            rivals=[str(fact.id) for fact in rivals],
        )
    return bench


def _refuse_changed(bench: Workbench, kind: str, row_id: UUID, version: int | None) -> None:
    held = bench.row(kind, row_id).version
    if version is not None and version != held:
        raise Outdated(
            gettext("it is in version %(held)s by now, not in %(version)s")
            % {"held": held, "version": version},
            version=held,
        )


def edit_text(
    space: Space,
    fact_id: UUID,
    text: str,
    actor: str,
    now: datetime,
    *,
    reason: str = "",
    version: int | None = None,
) -> Fact:
    """The same claim in better words: a new version of it, with the same supports."""
    made: list[Fact] = []
    work = works.rewording(fact_id, text, made)
    by_hand(space, actor, now, reason or "put in other words", work, ("fact", fact_id, version))
    return made[0]


def never_true(
    space: Space,
    fact_id: UUID,
    actor: str,
    now: datetime,
    *,
    reason: str = "",
    version: int | None = None,
) -> EvolutionEvent:
    """It was never so (E19): no time brings it back, and what it had closed holds again."""
    work, read = works.withdrawing(fact_id), ("fact", fact_id, version)
    return by_hand(space, actor, now, reason or "was never true", work, read)


def ended(
    space: Space,
    fact_id: UUID,
    actor: str,
    now: datetime,
    *,
    at: datetime | None = None,
    reason: str = "",
    version: int | None = None,
) -> EvolutionEvent:
    """It is no longer so: it held until `at`, or until now."""
    work, read = works.ending(fact_id, at), ("fact", fact_id, version)
    return by_hand(space, actor, now, reason or "no longer true", work, read)


def restore(
    space: Space,
    fact_id: UUID,
    actor: str,
    now: datetime,
    *,
    reason: str = "",
    version: int | None = None,
) -> EvolutionEvent:
    """It is so after all, and still: whatever had withdrawn, ended or retired it."""
    work, read = works.restoring(fact_id), ("fact", fact_id, version)
    return by_hand(space, actor, now, reason or "restored", work, read)


def pin(
    space: Space,
    row_type: str,
    row_id: UUID,
    pinned: bool,
    actor: str,
    now: datetime,
    *,
    reason: str = "",
    version: int | None = None,
) -> EvolutionEvent:
    """What is pinned does not fade, and the pipeline does not change it."""
    why = reason or ("pinned" if pinned else "no longer pinned")
    work = works.pinning(row_type, row_id, pinned)
    return by_hand(space, actor, now, why, work, (row_type, row_id, version))


def describe_note(
    space: Space,
    note_id: UUID,
    actor: str,
    now: datetime,
    *,
    context: str | None = None,
    keywords: Sequence[str] | None = None,
    tags: Sequence[str] | None = None,
    category: str | None = None,
    reason: str = "",
    version: int | None = None,
) -> EvolutionEvent:
    """Other descriptors; None leaves one as it is. What a note says never changes."""
    given = {"context": context, "keywords": keywords, "tags": tags, "category": category}
    work = works.describing(note_id, {n: value for n, value in given.items() if value is not None})
    why = reason or "described by hand"
    return by_hand(space, actor, now, why, work, ("note", note_id, version))


def delete_note(
    space: Space,
    note_id: UUID,
    actor: str,
    now: datetime,
    *,
    reason: str = "",
    version: int | None = None,
) -> EvolutionEvent:
    """Take a note out, with its links. It can be undone; erasing it can't."""
    work, read = works.deleting(note_id), ("note", note_id, version)
    return by_hand(space, actor, now, reason or "deleted", work, read)
