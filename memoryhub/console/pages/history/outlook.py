"""What undoing, rolling back and erasing would do, for the pages that ask before they do it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.http import Http404
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from memoryhub.console.frame.text import history_rows
from memoryhub.console.frame.text.history_rows import FieldChange
from memoryhub.console.frame.text.row_names import load_row_names
from memoryhub.console.frame.text.wording import format_kind_count, join_list, join_phrases
from memoryhub.errors import MemoryHubError
from memoryhub.inference.models import ModelCall
from memoryhub.pipeline.corrections import check_not_mirrored
from memoryhub.tenants.models import Space
from notes.history import timeline
from notes.history.timeline import RowChange
from notes.history.undo import plan_undo
from notes.models import EvolutionEvent, Proposal, Receipt, Revision

MAX_EVENT_CALLS = 50
KINDS_WITH_PAGE = ("fact", "note", "segment")
MAX_EVENT_ROWS = 200


@dataclass(frozen=True, slots=True)
class RowDifference:
    """One row of a difference, with the words it has after it, or had before it went."""

    kind: str
    how: str
    words: str
    fields: list[FieldChange]
    address: str


@dataclass(frozen=True, slots=True)
class UndoOutlook:
    """What an action would do, or why it can't be done. `later` would be undone with it;
    `shared` stay, as other spaces see what they changed."""

    rows: list[RowDifference] = field(default_factory=list)
    summary: str = ""
    later: list[EvolutionEvent] = field(default_factory=list)
    refused: str = ""
    shared: list[EvolutionEvent] = field(default_factory=list)


def get_event_or_404(space: Space, event_id: UUID) -> EvolutionEvent:
    rows = EvolutionEvent.objects.filter(space=space, id=event_id)
    event: EvolutionEvent | None = rows.select_related("undo_of").first()
    if event is None:
        raise Http404
    return event


def find_manual_event(space: Space, actor: str, at: datetime) -> EvolutionEvent | None:
    """The change-set that a person made at this moment; None where nothing was changed."""
    rows = EvolutionEvent.objects.filter(space=space, created_at=at, actor=actor[:120])
    made: EvolutionEvent | None = rows.filter(kind=EvolutionEvent.Kind.MANUAL).first()
    return made


def preview_undo(event: EvolutionEvent, actor: str, now: datetime) -> UndoOutlook:
    """Of undoing it together with whatever was built on it."""
    try:
        check_not_mirrored(event)
        bench = plan_undo(event, actor, now, cascade=True)
    except MemoryHubError as error:
        return UndoOutlook(refused=error.message)
    later = [each for each in bench.undone_events if each.id != event.id]
    changes = timeline.preview_changes(bench)
    return UndoOutlook(
        build_row_differences(event.space_id, changes), describe_row_changes(changes), later
    )


def preview_roll_back(space: Space, to: datetime, actor: str, now: datetime) -> UndoOutlook:
    try:
        bench = timeline.plan_roll_back(space, to, actor, now)
    except MemoryHubError as error:
        return UndoOutlook(refused=error.message)
    changes = timeline.preview_changes(bench)
    shared = timeline.list_shared_events(space, to)
    return UndoOutlook(
        build_row_differences(space.id, changes),
        describe_row_changes(changes),
        bench.undone_events,
        shared=shared,
    )


def describe_row_changes(changes: list[RowChange]) -> str:
    """ "changes 2 facts, takes out 1 note"."""
    counts = Counter((change.how, change.kind) for change in changes)
    parts = []
    for how, message in _CHANGE_SENTENCES.items():
        kinds = [format_kind_count(kind, n) for (h, kind), n in sorted(counts.items()) if h == how]
        if kinds:
            parts.append(gettext(message) % {"what": join_list(kinds)})
    return join_phrases(parts)


_CHANGE_SENTENCES = {
    "added": _("brings back %(what)s"),
    "changed": _("changes %(what)s"),
    "removed": _("takes out %(what)s"),
}


def build_row_differences(space_id: UUID, changes: list[RowChange]) -> list[RowDifference]:
    shown = changes[:MAX_EVENT_ROWS]
    names = load_row_names((c.kind, c.row_id, v) for c in shown for v in (c.before, c.after))
    return [_build_row_difference(space_id, change, names) for change in shown]


def _build_row_difference(
    space_id: UUID, change: RowChange, names: history_rows.RowNames
) -> RowDifference:
    page = f"space-{change.kind}" if change.kind in KINDS_WITH_PAGE else ""
    return RowDifference(
        kind=change.kind,
        how=change.how,
        words=history_rows.describe_row(change.kind, change.after or change.before or {}, names),
        fields=history_rows.list_field_changes(
            change.kind, change.before or {}, {n: new for n, _, new in change.fields}, names
        ),
        address=reverse(page, args=[space_id, change.row_id]) if page else "",
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


def get_receipt_or_404(receipt_id: UUID) -> Receipt:
    receipt: Receipt | None = Receipt.objects.filter(id=receipt_id).first()
    if receipt is None:
        raise Http404
    return receipt


def get_proposal_or_404(proposal_id: UUID) -> Proposal:
    rows = Proposal.objects.filter(id=proposal_id).select_related("space")
    proposal: Proposal | None = rows.first()
    if proposal is None:
        raise Http404
    return proposal
