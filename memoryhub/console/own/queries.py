"""What a person is shown of what is remembered about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import Q
from django.http import Http404
from django.utils.translation import gettext_lazy as _

from memoryhub.console import wording
from memoryhub.console.listing import Choice, Filters, Page, containing, page_of
from memoryhub.console.own import deeds, topics
from memoryhub.console.queries import memories
from memoryhub.console.queries.memories import Change, FactRow
from memoryhub.console.queries.personas import Persona, TraitLife
from memoryhub.console.quoting import SourceQuote
from memoryhub.policies.services import policy_of
from memoryhub.tenants.models import Space
from notes.models import EvolutionEvent, Fact, Note
from notes.queries import is_ahead, is_current, is_past
from personas.models import Trait
from personas.registry import allowed
from personas.traits import owner_of

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

SHOW = Choice(
    "show",
    _("Show"),
    (
        ("held", _("What holds now")),
        ("past", _("What no longer holds")),
        ("withdrawn", _("What was never so")),
    ),
)


@dataclass(frozen=True, slots=True)
class Group:
    title: StrOrPromise
    rows: Sequence[FactRow]


def facts(space: Space, filters: Filters, now: datetime) -> tuple[Page[Any], list[Group]]:
    """A page of facts, and the same under headings. Four statements."""
    place = topics.place(topics.names_of(space))
    rows = Fact.objects.filter(
        containing(filters.q, "text", "owner"), _shown(filters["show"], now), space=space
    )
    ordered = rows.annotate(topic=place).order_by("topic", "-valid_from", "-id")
    found = page_of(ordered.prefetch_related("superseded_by"), filters.page)
    told = memories.fact_rows(found.rows)
    groups = groupby(told, key=lambda row: row.fact.topic)  # type: ignore[attr-defined]  # annotated
    return found, [Group(topics.HEADINGS[at], list(rows)) for at, rows in groups]


def _shown(show: str, now: datetime) -> Q:
    withdrawn = Q(status=Fact.Status.RETRACTED)
    return {
        "past": is_past(now),
        "withdrawn": withdrawn,
    }.get(show, is_current(now) | is_ahead(now))


@dataclass(frozen=True, slots=True)
class Memory:
    """A fact, where it comes from, and what people put right about it, newest first."""

    row: FactRow
    by_hand: Sequence[Change]
    is_held: bool


def memory_or_404(space: Space, fact_id: UUID) -> Memory:
    found: Fact | None = (
        Fact.objects.filter(space=space, id=fact_id).prefetch_related("superseded_by").first()
    )
    if found is None:
        raise Http404
    lineage = Fact.objects.filter(space=space, lineage=found.lineage).values_list("id", flat=True)
    changes = memories.changes_of("fact", lineage)
    by_hand = [each for each in changes if each.event.kind == EvolutionEvent.Kind.MANUAL]
    held = found.retired_at is None and found.status != Fact.Status.RETRACTED
    (row,) = memories.fact_rows([found])
    return Memory(row, by_hand, held)


def traits(persona: Persona) -> list[tuple[StrOrPromise, list[TraitLife]]]:
    """What is thought of them, and what they took back themselves, by group."""
    found = [
        (title, [life for life in lives if _concerns(life)]) for title, lives in persona.groups
    ]
    return [(title, lives) for title, lives in found if lives]


def _concerns(life: TraitLife) -> bool:
    return life.now is not None or life.before[0].corrected_by == deeds.ACTOR


def trait_or_404(space: Space, key: str) -> None:
    """Whether this was ever thought of the person, and is shown to them."""
    switches = policy_of(space).policy.traits
    rows = Trait.objects.filter(space=space, owner=owner_of(space), key=key, retired_at=None)
    offered = key in allowed(extras=switches.extras, sensitive=switches.sensitive)
    if not (offered and rows.exists()):
        raise Http404


def notes(space: Space, filters: Filters) -> Page[tuple[Note, list[SourceQuote]]]:
    """Three statements."""
    rows = Note.objects.filter(
        containing(filters.q, "content", "context", "keywords"), space=space, retired_at=None
    )
    found = page_of(rows, filters.page)
    quotes = memories.sources_of("note", [note.id for note in found.rows])
    return found.map(lambda note: (note, quotes[note.id]))


_PLAIN = {
    "turns": _("Messages"),
    "pages": _("Exchanges"),
    "facts": _("Memories"),
    "segments": _("Topics"),
    "chains": _("Threads of talk"),
    "entities": _("Names of people and things"),
    "relations": _("Ties between them"),
    "episodes": _("Summaries"),
    "profileattributes": _("Entries of your profile"),
    "coreblocks": _("Texts kept at hand for assistants"),
    "blocks": _("Texts kept at hand for assistants"),
    "proposals": _("Questions that waited for somebody"),
    "model_calls": _("Requests to a language model"),
    "jobs": _("Tasks about them"),
}


def counted(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """What an erasure takes, in a person's words."""
    return [(_plain(kind), count) for kind, count in counts.items()]


def _plain(kind: str) -> str:
    """Kinds of rows come in both numbers."""
    return str(_PLAIN.get(kind) or _PLAIN.get(f"{kind}s") or wording.erased(kind))


def note_or_404(space: Space, note_id: UUID) -> Note:
    note: Note | None = Note.objects.filter(space=space, id=note_id, retired_at=None).first()
    if note is None:
        raise Http404
    return note
