"""What a person is shown of what is remembered about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db.models import Case, IntegerField, Q, Value, When
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from memoryhub.console.frame.lists import (
    FilterChoice,
    Filters,
    ListPage,
    build_text_condition,
    load_page,
)
from memoryhub.console.frame.text import wording
from memoryhub.console.frame.text.quotes import SourceQuote, load_sources
from memoryhub.console.pages.facts.views import FactRow, load_fact_rows
from memoryhub.console.pages.history.row_changes import MemoryChange, load_changes
from memoryhub.console.pages.own import corrections
from memoryhub.console.pages.persona.queries import Persona, TraitLife
from memoryhub.policies.services import load_effective_policy
from memoryhub.tenants.audit import HUB_ACTOR
from memoryhub.tenants.models import Space
from notes.facts.validity import (
    build_current_q,
    build_future_q,
    build_past_q,
    build_plan_over_q,
)
from notes.models import EvolutionEvent, Fact, Note
from personas.dimensions import list_allowed_keys
from personas.models import Trait
from personas.traits import get_owner_name

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


_HOME_PREDICATES = ("lives_in", "address", "speaks", "marital_status", "married", "age")
_WORK_PREDICATES = ("works_as", "works_at")
_HEALTH_PREDICATES = ("allergic_to", "smokes")
_TASTE_PREDICATES = ("eats", "drinks", "likes", "plays", "rides", "owns")
_IS_PLAN = Q(kind="plan") | Q(predicate_key__startswith="scheduled_")
_IS_LIKING = (
    Q(kind="preference")
    | Q(predicate_key__in=_TASTE_PREDICATES)
    | Q(predicate_key__startswith="favourite_")
)
# Of facts about the person, in the order of the page; one stands under the first that takes it.
_OWN_HEADINGS: Sequence[tuple[StrOrPromise, Q]] = (
    (_("Home and family"), Q(predicate_key__in=_HOME_PREDICATES) & ~_IS_PLAN),
    (pgettext_lazy("in a life", "Work"), Q(predicate_key__in=_WORK_PREDICATES) & ~_IS_PLAN),
    (pgettext_lazy("in a life", "Health"), Q(predicate_key__in=_HEALTH_PREDICATES) & ~_IS_PLAN),
    (_("Likes and habits"), _IS_LIKING & ~_IS_PLAN),
    (_("Your traits"), Q(kind="attribute") & ~_IS_PLAN),
    (_("Plans and dates"), _IS_PLAN),
    (_("What happened"), Q(kind="event")),
    (_("Current situation"), Q()),
)
_OTHERS_HEADING = _("Other people and things you mentioned")
_PAST_PLANS_HEADING = _("Plans whose day is over")
HEADINGS = (*(heading for heading, of in _OWN_HEADINGS), _OTHERS_HEADING, _PAST_PLANS_HEADING)


def list_person_names(space: Space) -> list[str]:
    """What the person is called. Where nobody who spoke is called so, the name may be an id of
    an application's: then whoever spoke is taken for the person."""
    name = get_owner_name(space)
    others = space.called_names if name in space.speakers else space.speakers
    return list(dict.fromkeys((name, *others)))


def build_heading_case(names: Sequence[str], now: datetime) -> Case:
    """Where in HEADINGS a fact stands, for SQL. `names`: what the person is called."""
    mine = Q(owner__in=names)
    past_plan = When(build_plan_over_q(now), then=Value(HEADINGS.index(_PAST_PLANS_HEADING)))
    cases = [When(mine & of, then=Value(at)) for at, (heading, of) in enumerate(_OWN_HEADINGS)]
    others = Value(HEADINGS.index(_OTHERS_HEADING))
    return Case(past_plan, *cases, default=others, output_field=IntegerField())


OWN_SHOW_CHOICE = FilterChoice(
    "show",
    _("Show"),
    (
        ("held", _("True now")),
        ("past", _("No longer true")),
        ("withdrawn", _("Never true")),
    ),
)


@dataclass(frozen=True, slots=True)
class FactGroup:
    title: StrOrPromise
    rows: Sequence[FactRow]


def load_own_facts(
    space: Space, filters: Filters, now: datetime
) -> tuple[ListPage[Any], list[FactGroup]]:
    """A page of facts, and the same under headings. Four statements."""
    place = build_heading_case(list_person_names(space), now)
    rows = Fact.objects.filter(
        build_text_condition(filters.q, "text", "owner"),
        _build_own_show_condition(filters["show"], now),
        space=space,
    )
    ordered = rows.annotate(topic=place).order_by("topic", "-valid_from", "-id")
    found = load_page(ordered, filters.page)
    told = load_fact_rows(found.rows)
    groups = groupby(told, key=lambda row: row.fact.topic)  # type: ignore[attr-defined]  # annotated
    return found, [FactGroup(HEADINGS[at], list(rows)) for at, rows in groups]


def _build_own_show_condition(show: str, now: datetime) -> Q:
    withdrawn = Q(status=Fact.Status.RETRACTED)
    return {"past": build_past_q(now), "withdrawn": withdrawn}.get(
        show, build_current_q(now) | build_future_q(now)
    )


@dataclass(frozen=True, slots=True)
class OwnMemory:
    """A fact, where it comes from, and what people put right about it, newest first."""

    row: FactRow
    by_hand: Sequence[MemoryChange]
    is_held: bool


def get_own_memory_or_404(space: Space, fact_id: UUID) -> OwnMemory:
    found: Fact | None = Fact.objects.filter(space=space, id=fact_id).first()
    if found is None:
        raise Http404
    lineage = Fact.objects.filter(space=space, lineage=found.lineage).values_list("id", flat=True)
    changes = load_changes("fact", lineage)
    by_hand = [
        each
        for each in changes
        if each.event.kind == EvolutionEvent.Kind.MANUAL and each.event.actor != HUB_ACTOR
    ]
    held = found.retired_at is None and found.status != Fact.Status.RETRACTED
    (row,) = load_fact_rows([found])
    return OwnMemory(row, by_hand, held)


def list_shown_traits(persona: Persona) -> list[tuple[StrOrPromise, list[TraitLife]]]:
    """What is thought of them, and what they took back themselves, by group."""
    found = [
        (title, [life for life in lives if _is_shown_trait(life)])
        for title, lives in persona.groups
    ]
    return [(title, lives) for title, lives in found if lives]


def _is_shown_trait(life: TraitLife) -> bool:
    return life.now is not None or life.before[0].corrected_by == corrections.ACTOR


def check_trait_or_404(space: Space, key: str) -> None:
    """Whether this was ever thought of the person, and is shown to them."""
    switches = load_effective_policy(space).policy.traits
    rows = Trait.objects.filter(space=space, owner=get_owner_name(space), key=key, retired_at=None)
    offered = key in list_allowed_keys(extras=switches.extras, sensitive=switches.sensitive)
    if not (offered and rows.exists()):
        raise Http404


def load_own_notes(space: Space, filters: Filters) -> ListPage[tuple[Note, list[SourceQuote]]]:
    """Three statements."""
    rows = Note.objects.filter(
        build_text_condition(filters.q, "content", "context", "keywords"),
        space=space,
        retired_at=None,
    )
    found = load_page(rows, filters.page)
    quotes = load_sources("note", [note.id for note in found.rows])
    return found.map(lambda note: (note, quotes[note.id]))


_PLAIN_KIND_WORDS = {
    "turns": _("Messages"),
    "clauses": _("Messages that lose one part and keep the rest"),
    "pages": _("Exchanges"),
    "facts": _("Memories"),
    "segments": _("Topics"),
    "chains": _("Conversation threads"),
    "entities": _("Names of people and things"),
    "relations": _("Relations between them"),
    "episodes": _("Summaries"),
    "profile": _("Your profile entries"),
    "blocks": _("Texts kept ready for assistants"),
    "proposals": _("Questions waiting for a person"),
    "model_calls": _("Requests to a language model"),
    "jobs": _("Tasks about them"),
}


def format_erasure_counts(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """What an erasure takes, in a person's words."""
    return [
        (str(_PLAIN_KIND_WORDS.get(kind) or wording.format_erased_kind(kind)), count)
        for kind, count in counts.items()
    ]


def get_own_note_or_404(space: Space, note_id: UUID) -> Note:
    return get_object_or_404(Note.objects.filter(space=space, id=note_id, retired_at=None))
