"""What a correction would do: the rows it changes, and what follows from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext, ngettext_lazy
from django.utils.translation import gettext_noop as _

from memoryhub.console.frame.lists import build_text_condition
from memoryhub.console.frame.text.wording import format_kind_count, join_list
from memoryhub.console.pages.history.row_changes import RowDifference, build_row_differences
from memoryhub.errors import InvalidInput, MemoryHubError
from memoryhub.pipeline.corrections import Correction
from memoryhub.tenants.models import Space
from notes.history.timeline import RowChange
from notes.models import Fact, Note, Relation
from personas.models import ProfileAttribute

_EFFECT_SENTENCES = {
    "closes": _("ends %(what)s"),
    "retracts": _("marks %(what)s as false"),
    "reopens": _("reopens %(what)s"),
    "changes": _("changes %(what)s"),
    "writes": _("writes %(what)s"),
    "takes out": _("removes %(what)s"),
}
MAX_MERGE_CANDIDATES = 8


@dataclass(frozen=True, slots=True)
class Consequences:
    """`summary` in a line, `rows` one by one, `follows` what the hub does of itself afterwards.
    `refused`: why it can't be done; `missing`: the field that is not filled in yet."""

    rows: list[RowDifference] = field(default_factory=list)
    summary: str = ""
    follows: list[str] = field(default_factory=list)
    refused: str = ""
    missing: str = ""


def preview_correction(space: Space, rehearse: Callable[[], Correction[Any]]) -> Consequences:
    """Of an operation's dry run. Call inside the tenant's scope. About ten statements."""
    try:
        changes = rehearse().changes
    except InvalidInput as error:
        return Consequences(refused=error.message, missing=error.field or "")
    except MemoryHubError as error:
        return Consequences(refused=error.message)
    return Consequences(
        build_row_differences(space.id, changes),
        describe_consequences(changes),
        _list_followups(space, changes),
    )


def describe_consequences(changes: Sequence[RowChange]) -> str:
    """ "closes 1 fact, changes 2 links"."""
    counts = Counter((_classify_row_change(change), change.kind) for change in changes)
    return join_list(
        gettext(message) % {"what": format_kind_count(kind, counts[verb, kind])}
        for verb, message in _EFFECT_SENTENCES.items()
        for kind in sorted({kind for v, kind in counts if v == verb})
    )


def _classify_row_change(change: RowChange) -> str:
    before, after = change.before or {}, change.after or {}
    if change.how == "removed":
        return "takes out"
    if change.how == "added":
        return "writes"
    if after.get("status") != before.get("status") and after.get("status") == "retracted":
        return "retracts"
    if bool(before.get("valid_to")) != bool(after.get("valid_to")):
        return "closes" if after.get("valid_to") else "reopens"
    return "changes"


def _list_followups(space: Space, changes: Sequence[RowChange]) -> list[str]:
    """Said of facts only: nothing mirrors a note. Three statements."""
    touched = [c.row_id for c in changes if c.kind == "fact" and _is_material_change(c)]
    if not touched:
        return []
    held = {"space": space, "retired_at": None, "fact__in": touched}
    counted = (
        (_RELATIONS_FOLLOW, Relation.objects.filter(fact__in=touched).count()),
        (_ENTRIES_FOLLOW, ProfileAttribute.objects.filter(**held).count()),
        (_NOTES_FOLLOW, Note.objects.filter(**held).count()),
    )
    return [message % {"count": count} for message, count in counted if count]


_RELATIONS_FOLLOW = ngettext_lazy(
    "%(count)s relation between entities is updated.",
    "%(count)s relations between entities are updated.",
    "count",
)
_ENTRIES_FOLLOW = ngettext_lazy(
    "%(count)s profile entry is updated.",
    "%(count)s profile entries are updated.",
    "count",
)
_NOTES_FOLLOW = ngettext_lazy(
    "%(count)s note based on it stays.",
    "%(count)s notes based on it stay.",
    "count",
)


def _is_material_change(change: RowChange) -> bool:
    """A change of what holds, not of a pin or a count."""
    names = {name for name, _, _ in change.fields}
    return change.how != "changed" or bool(names & {"status", "valid_to", "valid_from", "text"})


def find_merge_candidates(space: Space, row: Fact | Note, q: str) -> list[Fact | Note]:
    """Memories that this one could be merged into: those that words find, else the likeliest."""
    if isinstance(row, Fact):
        facts = Fact.objects.filter(space=space, owner=row.owner, retired_at=None)
        facts = facts.exclude(id=row.id).exclude(status=Fact.Status.RETRACTED)
        likely = facts.filter(predicate_key=row.predicate_key) if row.predicate_key else facts
        return list(
            (facts.filter(build_text_condition(q, "text")) if q else likely)[:MAX_MERGE_CANDIDATES]
        )
    notes = Note.objects.filter(space=space, retired_at=None).exclude(id=row.id)
    likely_notes = notes.filter(keywords__overlap=row.keywords) if row.keywords else notes
    by_words = build_text_condition(q, "content", "context", "keywords")
    return list((notes.filter(by_words) if q else likely_notes)[:MAX_MERGE_CANDIDATES])
