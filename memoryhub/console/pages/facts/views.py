"""The facts of a space, and one with its whole life."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import get_args
from uuid import UUID

from django.db.models import Q, prefetch_related_objects
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext

from memoryhub.console.frame.access import page_at, tenant_page, tenant_view
from memoryhub.console.frame.lists import (
    FilterChoice,
    Filters,
    ListPage,
    build_text_condition,
    load_page,
    load_value_choice,
    read_filters,
)
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.space.moments import SpaceMoment
from memoryhub.console.frame.space.tabs import get_space_at_moment, get_space_or_404, render_tab
from memoryhub.console.frame.text.quotes import SourceQuote, load_sources
from memoryhub.console.frame.text.wording import format_code, format_person
from memoryhub.console.pages.corrections.views import correct_memory
from memoryhub.console.pages.facts.lineage_chart import build_lineage_chart
from memoryhub.console.pages.history.row_changes import MemoryChange, load_changes
from memoryhub.console.pages.memories.views import (
    build_memory_context,
    load_fact_surroundings,
    render_correction_form,
    wants_form_only,
)
from memoryhub.engines.types import FactKind
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.facts.validity import build_current_q, build_future_q, build_past_q
from notes.models import EvolutionEvent, Fact
from notes.quality.feedback import filter_feedback_on

FACT_STATUS_CHOICE = FilterChoice(
    "status",
    _("Show"),
    (
        ("current", _("Current")),
        ("ahead", _("Not yet true")),
        ("past", _("No longer true")),
        ("withdrawn", _("Never true")),
        ("all", _("All")),
    ),
)


@dataclass(frozen=True, slots=True)
class FactRow:
    """A fact with the one that replaced it and the words it rests on."""

    fact: Fact
    successor: Fact | None
    sources: list[SourceQuote]


def load_fact_choices(space: Space) -> tuple[FilterChoice, ...]:
    """Three statements."""
    rows = Fact.objects.filter(space=space)
    return (
        FACT_STATUS_CHOICE,
        load_value_choice(rows, "owner", _("About"), _("Anyone"), spare=False, say=format_person),
        FilterChoice(
            "kind", _("Kind"), (("", _("Any")), *((k, format_code(k)) for k in get_args(FactKind)))
        ),
        load_value_choice(rows, "speaker", _("Said by"), _("Anyone"), say=format_person),
        load_value_choice(rows, "engine", _("Engine"), _("Any")),
    )


def load_facts(space: Space, filters: Filters, moment: SpaceMoment) -> ListPage[FactRow]:
    rows = moment.rows(space, Fact).filter(
        build_text_condition(filters.q, "text", "owner"),
        _build_status_condition(filters["status"], moment.at),
        filters.build_days_condition("asserted_at", space.timezone),
        **filters.chosen_values("owner", "kind", "speaker", "engine"),
    )
    found = load_page(rows.order_by("-asserted_at", "-id"), filters.page).map(moment.row)
    return found.with_rows(load_fact_rows(found.rows, moment))


def _build_status_condition(status: str, now: datetime) -> Q:
    return {
        "current": build_current_q(now),
        "ahead": build_future_q(now),
        "past": build_past_q(now),
        "withdrawn": Q(status=Fact.Status.RETRACTED),
    }.get(status, Q())


def load_fact_rows(found: Iterable[Fact], moment: SpaceMoment | None = None) -> list[FactRow]:
    rows = list(found)
    quotes = load_sources("fact", [fact.id for fact in rows], moment)
    successors = load_successors(rows)
    return [FactRow(fact, successors.get(fact.id), quotes[fact.id]) for fact in rows]


def load_successors(facts: Sequence[Fact]) -> dict[UUID, Fact]:
    """By id, the claim that took one's place; of one that is not held any more, the version that
    reworded it: one that was hidden has none. Two statements at most."""
    prefetch_related_objects(facts, "superseded_by")
    retired = {fact.lineage for fact in facts if fact.retired_at}
    versions = list(Fact.objects.filter(lineage__in=retired)) if retired else []
    found: dict[UUID, Fact] = {}
    for fact in facts:
        newer = list(fact.superseded_by.all())
        if fact.retired_at:
            newer += [version for version in versions if version.lineage == fact.lineage]
            newer = [each for each in newer if each.recorded_at == fact.retired_at]
        if newer:
            found[fact.id] = min(newer, key=lambda each: each.recorded_at)
    return found


@dataclass(frozen=True, slots=True)
class FactBiography:
    """A memory's whole life: its versions (first to last), what became of it."""

    row: FactRow
    versions: list[FactRow]
    changes: list[MemoryChange]

    @property
    def has_several_versions(self) -> bool:
        return len(self.versions) > 1


def get_fact_or_404(space: Space, fact_id: UUID) -> Fact:
    return get_object_or_404(Fact.objects.filter(space=space, id=fact_id))


def load_biography(space: Space, fact_id: UUID) -> FactBiography:
    """Raises Http404."""
    fact = get_fact_or_404(space, fact_id)
    lineage = Fact.objects.filter(space=space, lineage=fact.lineage)
    chain = lineage.select_related("supersedes")
    versions = load_fact_rows(chain.order_by("valid_from", "recorded_at", "id"))
    row = next(version for version in versions if version.fact.id == fact.id)
    return FactBiography(row, versions, load_changes("fact", [v.fact.id for v in versions]))


# Of what was said of a fact, the latest.
MAX_SHOWN_FEEDBACK = 10


def _find_correction(life: FactBiography) -> EvolutionEvent | None:
    """The event by which a person gave the memory the words or the value that it has: it rests on
    that, and no more on what was said."""
    if not life.row.fact.corrected_by:
        return None
    for change in life.changes:
        before, after = change.revision.before, change.revision.after or {}
        named = {name for name in ("text", "object") if name in after}
        wrote = change.revision.row_id == life.row.fact.id and named
        by_person = change.event.kind == EvolutionEvent.Kind.MANUAL and change.undone is None
        if (
            wrote
            and by_person
            and (before is None or any(before.get(n) != after[n] for n in named))
        ):
            event: EvolutionEvent = change.event
            return event
    return None


@page_at("spaces/<uuid:space_id>/facts/<uuid:fact_id>/", "space-fact")
@tenant_view()
def fact_page(request: ConsoleRequest, space_id: UUID, fact_id: UUID) -> HttpResponse:
    """Sent, it is put right: see `corrections`."""
    if request.method == "POST":
        with tenant_scope(request.tenant.id):
            get_fact_or_404(get_space_or_404(space_id, timezone.now()), fact_id)
        if corrected := correct_memory(request, space_id, "fact", fact_id):
            return corrected
    with tenant_scope(request.tenant.id):
        return _render_fact(request, space_id, fact_id)


def _render_fact(request: ConsoleRequest, space_id: UUID, fact_id: UUID) -> HttpResponse:
    now = timezone.now()
    space = get_space_or_404(space_id, now)
    if wants_form_only(request):
        return render_correction_form(request, space, "fact", get_fact_or_404(space, fact_id))
    life = load_biography(space, fact_id)
    row = life.row
    turns = [quote.turn for quote in row.sources]
    return render_tab(
        request,
        space,
        "fact",
        "facts/fact.html",
        life=life,
        row=row,
        corrected=_find_correction(life),
        lineage=build_lineage_chart(life.versions, now),
        around=load_fact_surroundings(space, row.fact, turns, now),
        words=filter_feedback_on(row.fact)[:MAX_SHOWN_FEEDBACK],
        **build_memory_context(request, space, "fact", row.fact),
    )


@page_at("spaces/<uuid:space_id>/facts/", "space-facts")
@tenant_page()
def fact_list_page(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    space, moment = get_space_at_moment(request, space_id)
    filters = read_filters(
        request.GET, load_fact_choices(space), dated=pgettext("on days", "Date mentioned")
    )
    page = load_facts(space, filters, moment)
    return render_tab(
        request, space, "facts", "facts/list.html", filters=filters, page=page, moment=moment
    )
