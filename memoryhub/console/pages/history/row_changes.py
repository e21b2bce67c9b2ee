"""What became of single rows, in words: in the history, and in what an action would do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext, pgettext

from memoryhub.console.frame.text import history_rows
from memoryhub.console.frame.text.history_rows import FieldChange
from memoryhub.console.frame.text.row_names import load_row_names
from memoryhub.inference.models import ModelCall
from notes.history.timeline import RowChange
from notes.models import EvolutionEvent, Note, Revision

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


def build_row_differences(space_id: UUID, changes: list[RowChange]) -> list[RowDifference]:
    shown = changes[:MAX_EVENT_ROWS]
    names = load_row_names((c.kind, c.row_id, v) for c in shown for v in (c.before, c.after))
    return [_build_row_difference(space_id, change, names) for change in shown]


def _build_row_difference(
    space_id: UUID, change: RowChange, names: history_rows.RowNames
) -> RowDifference:
    return RowDifference(
        kind=change.kind,
        how=change.how,
        words=history_rows.describe_row(change.kind, change.after or change.before or {}, names),
        fields=history_rows.list_field_changes(
            change.kind, change.before or {}, {n: new for n, _, new in change.fields}, names
        ),
        address=_build_row_address(space_id, change.kind, change.row_id),
    )


def _build_row_address(space_id: UUID, kind: str, row_id: UUID) -> str:
    return reverse(f"space-{kind}", args=[space_id, row_id]) if kind in KINDS_WITH_PAGE else ""


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """`lessons`: of a note, the notes that it came from."""

    event: EvolutionEvent
    revision: Revision
    fields: list[FieldChange]
    words: str
    models_asked: Sequence[tuple[str, str]] = ()
    lessons: Sequence[Note] = ()

    @property
    def undone(self) -> EvolutionEvent | None:
        """What took the event back. Expects `undone_by` to be prefetched."""
        return next(iter(self.event.undone_by.all()), None)

    @property
    def how(self) -> str:
        """What became of the row, in a word or two."""
        before, after = self.revision.before, self.revision.after
        if not (before or after):
            return gettext("erased")
        if after is None:
            return gettext("removed")
        if before is None:
            made = self.revision.version_before is None
            return pgettext("of a row", "created") if made else gettext("changed")
        was, is_now = bool(before.get("retired_at")), bool(after.get("retired_at"))
        if was == is_now:
            return gettext("changed")
        return gettext("removed") if is_now else gettext("brought back")

    @property
    def address(self) -> str:
        """Of the row's page; empty for kinds without one, and where the row is erased."""
        row = self.revision
        if not (row.before or row.after):
            return ""
        return _build_row_address(row.space_id, row.row_type, row.row_id)


def load_changes(kind: str, ids: Iterable[UUID]) -> list[MemoryChange]:
    """Newest first, with what models were asked. A handful of statements."""
    revisions = Revision.objects.filter(row_type=kind, row_id__in=list(ids))
    ordered = revisions.select_related("event").prefetch_related("event__undone_by")
    found = list(ordered.order_by("-event__created_at", "-id"))
    asked = _load_models_asked([revision.event for revision in found])
    return describe_changes([(revision.event, revision) for revision in found], asked)


def _load_models_asked(
    events: Sequence[EvolutionEvent],
) -> Mapping[UUID | None, Sequence[tuple[str, str]]]:
    """By job, the (prompt with its version, model) that were asked in it. One statement at most."""
    jobs = {event.job_id for event in events if event.job_id is not None}
    asked: dict[UUID | None, list[tuple[str, str]]] = defaultdict(list)
    if jobs:
        calls = ModelCall.objects.filter(job_id__in=jobs).order_by("template", "model")
        for job, template, model in calls.values_list("job_id", "template", "model").distinct():
            asked[job].append((template, model))
    return asked


def describe_changes(
    pairs: Sequence[tuple[EvolutionEvent, Revision]],
    asked: Mapping[UUID | None, Sequence[tuple[str, str]]] | None = None,
) -> list[MemoryChange]:
    """Each revision told in words. A statement for each kind of row that they name."""
    told = [(r.row_type, r.row_id, values) for _, r in pairs for values in (r.before, r.after)]
    names = load_row_names(told)
    found = []
    for event, revision in pairs:
        before, after, kind = revision.before, revision.after, revision.row_type
        held = after or before
        said = history_rows.describe_row(kind, held, names) if held else ""
        fields = (
            history_rows.list_field_changes(kind, before, after, names) if before and after else []
        )
        models = (asked or {}).get(event.job_id, ())
        found.append(MemoryChange(event, revision, fields, said, models))
    return found
