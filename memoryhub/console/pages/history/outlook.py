"""What undoing, rolling back and erasing would do, for the pages that ask before they do it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from memoryhub.console.frame.text.wording import format_kind_count, join_list, join_phrases
from memoryhub.console.pages.history.row_changes import RowDifference, build_row_differences
from memoryhub.errors import MemoryHubError
from memoryhub.pipeline import corrections
from memoryhub.tenants.models import Space
from notes.history import timeline
from notes.history.timeline import RowChange
from notes.models import EvolutionEvent


@dataclass(frozen=True, slots=True)
class UndoOutlook:
    """What an action would do, or why it can't be done. `later` would be undone with it;
    `shared` stay, as other spaces see what they changed."""

    rows: list[RowDifference] = field(default_factory=list)
    summary: str = ""
    later: list[EvolutionEvent] = field(default_factory=list)
    refused: str = ""
    shared: list[EvolutionEvent] = field(default_factory=list)


def preview_undo(event: EvolutionEvent, actor: str, now: datetime) -> UndoOutlook:
    """Of undoing it together with whatever was built on it."""
    try:
        undone = corrections.undo_event(event, actor, now, cascade=True, dry_run=True)
    except MemoryHubError as error:
        return UndoOutlook(refused=error.message)
    later = [each for each in undone.undone_events if each.id != event.id]
    changes = undone.changes
    return UndoOutlook(
        build_row_differences(event.space_id, changes), describe_row_changes(changes), later
    )


def preview_roll_back(space: Space, to: datetime, actor: str, now: datetime) -> UndoOutlook:
    try:
        undone = corrections.roll_back_space(space, to, actor, now, dry_run=True)
    except MemoryHubError as error:
        return UndoOutlook(refused=error.message)
    changes = undone.changes
    shared = timeline.list_shared_events(space, to)
    return UndoOutlook(
        build_row_differences(space.id, changes),
        describe_row_changes(changes),
        undone.undone_events,
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
