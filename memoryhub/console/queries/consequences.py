"""What a correction would do: the rows it changes, and what follows from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from memoryhub.console.listing import containing
from memoryhub.console.queries.history import Told, told
from memoryhub.console.wording import kind_words, plural
from memoryhub.errors import InvalidInput, MemoryHubError
from memoryhub.tenants.models import Space
from notes import timeline
from notes.correcting import planned
from notes.models import Fact, Note, Relation
from notes.timeline import RowChange
from notes.works import Work
from personas.models import ProfileAttribute

_VERBS = ("closes", "withdraws", "reopens", "changes", "writes", "takes out")
OFFERED = 8


@dataclass(frozen=True, slots=True)
class Consequences:
    """`summary` in a line, `rows` one by one, `follows` what the hub does of itself afterwards.
    `refused`: why it can't be done; `missing`: the field that is not filled in yet."""

    rows: list[Told] = field(default_factory=list)
    summary: str = ""
    follows: list[str] = field(default_factory=list)
    refused: str = ""
    missing: str = ""


def consequences(space: Space, work: Work, actor: str, now: datetime) -> Consequences:
    """Plans it and writes nothing. Call inside the tenant's scope. About ten statements."""
    try:
        bench = planned(space, actor, now, "", work)
    except InvalidInput as error:
        return Consequences(refused=error.message, missing=error.field or "")
    except MemoryHubError as error:
        return Consequences(refused=error.message)
    changes = timeline.preview(bench)
    return Consequences(told(space.id, changes), in_words(changes), _follows(space, changes))


def in_words(changes: Sequence[RowChange]) -> str:
    """ "closes 1 fact, changes 2 links"."""
    counts = Counter((_verb(change), change.kind) for change in changes)
    return ", ".join(
        f"{verb} {plural(counts[verb, kind], kind_words(kind))}"
        for verb in _VERBS
        for kind in sorted({kind for v, kind in counts if v == verb})
    )


def _verb(change: RowChange) -> str:
    before, after = change.before or {}, change.after or {}
    if change.how == "removed":
        return "takes out"
    if change.how == "added":
        return "writes"
    if after.get("status") != before.get("status") and after.get("status") == "retracted":
        return "withdraws"
    if bool(before.get("valid_to")) != bool(after.get("valid_to")):
        return "closes" if after.get("valid_to") else "reopens"
    return "changes"


def _follows(space: Space, changes: Sequence[RowChange]) -> list[str]:
    """Said of facts only: nothing mirrors a note. Three statements."""
    touched = [c.row_id for c in changes if c.kind == "fact" and _matters(c)]
    if not touched:
        return []
    profile = ProfileAttribute.objects.filter(space=space, retired_at=None)
    notes = Note.objects.filter(space=space, retired_at=None)
    said = [
        _said(
            Relation.objects.filter(fact__in=touched).count(),
            "relation between entities follows it",
            "relations between entities follow it",
        ),
        _said(
            profile.filter(fact__in=touched).count(),
            "entry of the profile is read anew",
            "entries of the profile are read anew",
        ),
        _said(
            notes.filter(fact__in=touched).count(),
            "note that was made of it stays",
            "notes that were made of it stay",
        ),
    ]
    return [words for words in said if words]


def _matters(change: RowChange) -> bool:
    """A change of what holds, not of a pin or a count."""
    names = {name for name, _, _ in change.fields}
    return change.how != "changed" or bool(names & {"status", "valid_to", "valid_from", "text"})


def _said(count: int, one: str, several: str) -> str:
    return f"{count} {one if count == 1 else several}" if count else ""


def alike(space: Space, row: Fact | Note, q: str) -> list[Fact | Note]:
    """Memories that this one could be merged into: those that words find, else the likeliest."""
    if isinstance(row, Fact):
        facts = Fact.objects.filter(space=space, owner=row.owner, retired_at=None)
        facts = facts.exclude(id=row.id).exclude(status=Fact.Status.RETRACTED)
        likely = facts.filter(predicate_key=row.predicate_key) if row.predicate_key else facts
        return list((facts.filter(containing(q, "text")) if q else likely)[:OFFERED])
    notes = Note.objects.filter(space=space, retired_at=None).exclude(id=row.id)
    likely_notes = notes.filter(keywords__overlap=row.keywords) if row.keywords else notes
    by_words = containing(q, "content", "context", "keywords")
    return list((notes.filter(by_words) if q else likely_notes)[:OFFERED])
