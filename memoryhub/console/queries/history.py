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

from memoryhub.console import telling
from memoryhub.console.queries.naming import named
from memoryhub.console.telling import FieldChange
from memoryhub.console.wording import counted, listed, phrases
from memoryhub.errors import MemoryHubError
from memoryhub.inference.models import ModelCall
from memoryhub.pipeline.restoring import refuse_mirrored
from memoryhub.tenants.models import Space
from notes import timeline
from notes.models import EvolutionEvent, Proposal, Receipt, Revision
from notes.timeline import RowChange
from notes.undoing import plan

MOST_CALLS = 50
WITH_PAGE = ("fact", "note", "segment")
MOST_ROWS = 200


@dataclass(frozen=True, slots=True)
class Told:
    """One row of a difference, with the words it has after it, or had before it went."""

    kind: str
    how: str
    words: str
    fields: list[FieldChange]
    address: str


@dataclass(frozen=True, slots=True)
class Outlook:
    """What an action would do, or why it can't be done. `later` would be undone with it;
    `shared` stay, as other spaces see what they changed."""

    rows: list[Told] = field(default_factory=list)
    summary: str = ""
    later: list[EvolutionEvent] = field(default_factory=list)
    refused: str = ""
    shared: list[EvolutionEvent] = field(default_factory=list)


def event_or_404(space: Space, event_id: UUID) -> EvolutionEvent:
    rows = EvolutionEvent.objects.filter(space=space, id=event_id)
    event: EvolutionEvent | None = rows.select_related("undo_of").first()
    if event is None:
        raise Http404
    return event


def by_hand_at(space: Space, actor: str, at: datetime) -> EvolutionEvent | None:
    """The change-set that a person made at this moment; None where nothing was changed."""
    rows = EvolutionEvent.objects.filter(space=space, created_at=at, actor=actor[:120])
    made: EvolutionEvent | None = rows.filter(kind=EvolutionEvent.Kind.MANUAL).first()
    return made


def outlook(event: EvolutionEvent, actor: str, now: datetime) -> Outlook:
    """Of undoing it together with whatever was built on it."""
    try:
        refuse_mirrored(event)
        bench = plan(event, actor, now, cascade=True)
    except MemoryHubError as error:
        return Outlook(refused=error.message)
    later = [each for each in bench.undone if each.id != event.id]
    changes = timeline.preview(bench)
    return Outlook(told(event.space_id, changes), in_words(changes), later)


def roll_back_outlook(space: Space, to: datetime, actor: str, now: datetime) -> Outlook:
    try:
        bench = timeline.plan_roll_back(space, to, actor, now)
    except MemoryHubError as error:
        return Outlook(refused=error.message)
    changes = timeline.preview(bench)
    shared = timeline.shared_events(space, to)
    return Outlook(told(space.id, changes), in_words(changes), bench.undone, shared=shared)


def in_words(changes: list[RowChange]) -> str:
    """ "changes 2 facts, takes out 1 note"."""
    counts = Counter((change.how, change.kind) for change in changes)
    parts = []
    for how, message in _CHANGES.items():
        kinds = [counted(kind, n) for (h, kind), n in sorted(counts.items()) if h == how]
        if kinds:
            parts.append(gettext(message) % {"what": listed(kinds)})
    return phrases(parts)


_CHANGES = {
    "added": _("brings back %(what)s"),
    "changed": _("changes %(what)s"),
    "removed": _("takes out %(what)s"),
}


def told(space_id: UUID, changes: list[RowChange]) -> list[Told]:
    shown = changes[:MOST_ROWS]
    names = named((c.kind, c.row_id, v) for c in shown for v in (c.before, c.after))
    return [_told(space_id, change, names) for change in shown]


def _told(space_id: UUID, change: RowChange, names: telling.Names) -> Told:
    page = f"space-{change.kind}" if change.kind in WITH_PAGE else ""
    return Told(
        kind=change.kind,
        how=change.how,
        words=telling.words(change.kind, change.after or change.before or {}, names),
        fields=telling.changed(
            change.kind, change.before or {}, {n: new for n, _, new in change.fields}, names
        ),
        address=reverse(page, args=[space_id, change.row_id]) if page else "",
    )


def revisions(event: EvolutionEvent) -> tuple[list[tuple[EvolutionEvent, Revision]], int]:
    """The first `MOST_ROWS` of its rows, and how many there are."""
    rows = event.revisions.order_by("id")
    return [(event, revision) for revision in rows[:MOST_ROWS]], rows.count()


def calls_of(event: EvolutionEvent) -> list[ModelCall]:
    """What models were asked in the work that made the change, in order (spec E22)."""
    if event.job_id is None:
        return []
    rows = ModelCall.objects.filter(space_id=event.space_id, job_id=event.job_id)
    return list(rows.order_by("created_at", "id")[:MOST_CALLS])


def receipt_or_404(receipt_id: UUID) -> Receipt:
    receipt: Receipt | None = Receipt.objects.filter(id=receipt_id).first()
    if receipt is None:
        raise Http404
    return receipt


def proposal_or_404(proposal_id: UUID) -> Proposal:
    rows = Proposal.objects.filter(id=proposal_id).select_related("space")
    proposal: Proposal | None = rows.first()
    if proposal is None:
        raise Http404
    return proposal
