"""Facts, notes, segments and entities of a space, and where they came from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, get_args
from uuid import UUID

from django.db.models import Q, prefetch_related_objects
from django.http import Http404
from django.urls import reverse
from django.utils.translation import gettext, pgettext
from django.utils.translation import gettext_lazy as _

from memoryhub.console.frame.lists import (
    FilterChoice,
    Filters,
    ListPage,
    build_text_condition,
    load_page,
    load_value_choice,
)
from memoryhub.console.frame.space.moments import SpaceMoment
from memoryhub.console.frame.text import history_rows
from memoryhub.console.frame.text.history_rows import FieldChange
from memoryhub.console.frame.text.quotes import SourceQuote, TextSpan, split_pieces
from memoryhub.console.frame.text.row_names import load_row_names
from memoryhub.console.frame.text.wording import format_code
from memoryhub.dialogues.models import Turn
from memoryhub.engines.types.claims import FactKind
from memoryhub.inference.models import ModelCall
from memoryhub.policies.schema import HeatPolicy
from memoryhub.tenants.models import Space
from notes.facts.validity import build_current_q, build_future_q, build_past_q
from notes.models import (
    Derivation,
    Entity,
    EvolutionEvent,
    Fact,
    Revision,
    Segment,
)
from notes.models import (
    Page as DialoguePage,
)
from notes.topics.heat import annotate_heat
from notes.topics.pages import load_page_turns

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
_SEGMENT_ORDERS = {"hot": "-heat", "ready": "-promotion", "recent": "-ended_at"}
SEGMENT_SORT_CHOICE = FilterChoice(
    "sort",
    _("Sort by"),
    (("hot", _("Heat")), ("ready", _("Promotion heat")), ("recent", _("Last conversation"))),
)
SEGMENT_TIER_CHOICE = FilterChoice(
    "tier", _("Tier"), (("", _("All")), ("mid", _("Mid term")), ("cold", _("Cold")))
)
PAGES_A_SEGMENT = 10


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
        load_value_choice(rows, "owner", "owner", _("About"), _("Anybody"), spare=False),
        FilterChoice(
            "kind", _("Kind"), (("", _("Any")), *((k, format_code(k)) for k in get_args(FactKind)))
        ),
        load_value_choice(rows, "speaker", "speaker", _("Said by"), _("Anybody")),
        load_value_choice(rows, "engine", "engine", _("Engine"), _("Any")),
    )


def load_facts(space: Space, filters: Filters, moment: SpaceMoment) -> ListPage[FactRow]:
    rows = moment.rows(space, Fact).filter(
        build_text_condition(filters.q, "text", "owner"),
        _build_status_condition(filters["status"], moment.at),
        filters.build_days_condition("asserted_at", space.timezone),
        **filters.chosen_values("owner", "kind", "speaker", "engine"),
    )
    found = load_page(rows.order_by("-asserted_at", "-id"), filters.page).map(moment.row)
    prefetch_related_objects(found.rows, _SUCCESSOR_RELATION)
    return found.with_rows(load_fact_rows(found.rows, moment))


_SUCCESSOR_RELATION = "superseded_by"


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
    return [FactRow(fact, find_successor(fact), quotes[fact.id]) for fact in rows]


def find_successor(fact: Fact) -> Fact | None:
    """The claim that took this one's place. Expects `superseded_by` to be prefetched."""
    return min(fact.superseded_by.all(), key=lambda newer: newer.recorded_at, default=None)


def load_sources(
    kind: str, ids: Iterable[UUID], moment: SpaceMoment | None = None
) -> dict[UUID, list[SourceQuote]]:
    """Each row's supporting turns in order, with the words set off: at an earlier moment those
    it had then. One statement."""
    links = Derivation.objects.filter(
        child_type=kind, child_id__in=list(ids), role=Derivation.Role.SUPPORT
    )
    if moment and moment.recorded_by:
        links = links.filter(event__created_at__lte=moment.recorded_by)
    spans: dict[UUID, dict[Turn, list[TextSpan]]] = defaultdict(lambda: defaultdict(list))
    for link in links.select_related("turn__session").order_by("turn__seq"):
        spans[link.child_id][link.turn].append((link.span_start, link.span_end))
    return defaultdict(
        list,
        {
            child: [
                SourceQuote(turn, split_pieces(turn.text, found)) for turn, found in turns.items()
            ]
            for child, turns in spans.items()
        },
    )


@dataclass(frozen=True, slots=True)
class FactBiography:
    """A memory's whole life: its versions (first to last), what became of it."""

    row: FactRow
    versions: list[FactRow]
    changes: list[MemoryChange]

    @property
    def has_several_versions(self) -> bool:
        return len(self.versions) > 1


@dataclass(frozen=True, slots=True)
class MemoryChange:
    event: EvolutionEvent
    revision: Revision
    fields: list[FieldChange]
    words: str
    models_asked: Sequence[tuple[str, str]] = ()

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
            return pgettext("of a row", "made") if made else gettext("changed")
        was, is_now = bool(before.get("retired_at")), bool(after.get("retired_at"))
        if was == is_now:
            return gettext("changed")
        return gettext("taken out") if is_now else gettext("brought back")

    @property
    def address(self) -> str:
        """Of the row's page; empty for kinds without one."""
        if self.revision.row_type not in ("fact", "note", "segment"):
            return ""
        ids = [self.revision.space_id, self.revision.row_id]
        return reverse(f"space-{self.revision.row_type}", args=ids)


def get_fact_or_404(space: Space, fact_id: UUID) -> Fact:
    fact: Fact | None = Fact.objects.filter(space=space, id=fact_id).first()
    if fact is None:
        raise Http404
    return fact


def load_biography(space: Space, fact_id: UUID) -> FactBiography:
    """Raises Http404."""
    fact = get_fact_or_404(space, fact_id)
    lineage = Fact.objects.filter(space=space, lineage=fact.lineage)
    chain = lineage.prefetch_related(_SUCCESSOR_RELATION).select_related("supersedes")
    versions = load_fact_rows(chain.order_by("valid_from", "recorded_at", "id"))
    row = next(version for version in versions if version.fact.id == fact.id)
    return FactBiography(row, versions, load_changes("fact", [v.fact.id for v in versions]))


def load_changes(kind: str, ids: Iterable[UUID]) -> list[MemoryChange]:
    """Newest first, with what models were asked. A handful of statements."""
    revisions = Revision.objects.filter(row_type=kind, row_id__in=list(ids))
    ordered = revisions.select_related("event").prefetch_related("event__undone_by")
    found = list(ordered.order_by("-event__created_at", "-id"))
    return describe_changes(
        [(r.event, r) for r in found], _load_models_asked([r.event for r in found])
    )


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
    return [
        _describe_change(event, revision, names, (asked or {}).get(event.job_id, ()))
        for event, revision in pairs
    ]


def _describe_change(
    event: EvolutionEvent,
    revision: Revision,
    names: history_rows.RowNames,
    asked: Sequence[tuple[str, str]],
) -> MemoryChange:
    before, after, kind = revision.before, revision.after, revision.row_type
    said = history_rows.describe_row(kind, after or before or {}, names) if after or before else ""
    fields = history_rows.list_field_changes(kind, before, after, names) if before and after else []
    return MemoryChange(event, revision, fields, said, asked)


def load_segments(
    space: Space, filters: Filters, weights: HeatPolicy, moment: SpaceMoment
) -> ListPage[Any]:
    """With their heat, unless they are of an earlier moment: visits are not in the history."""
    rows = moment.rows(space, Segment).filter(
        build_text_condition(filters.q, "summary", "keywords"),
        filters.build_days_condition("ended_at", space.timezone),
        retired_at=None,
        **filters.chosen_values("tier"),
    )
    if moment.is_past:
        return load_page(rows.order_by("-ended_at", "-id"), filters.page).map(moment.row)
    hot = annotate_heat(rows, weights, moment.at)
    return load_page(hot.order_by(_SEGMENT_ORDERS[filters["sort"]], "-id"), filters.page)


def get_segment_or_404(space: Space, segment_id: UUID, weights: HeatPolicy, now: datetime) -> Any:
    rows = Segment.objects.filter(space=space, id=segment_id)
    segment = annotate_heat(rows, weights, now).first()
    if segment is None:
        raise Http404
    return segment


@dataclass(frozen=True, slots=True)
class ExchangeRow:
    """An exchange of a segment with its turns. `opens_chain`: the one above is of another."""

    page: DialoguePage
    turns: list[Turn]
    opens_chain: bool


def load_segment_pages(segment: Segment, number: int) -> ListPage[ExchangeRow]:
    """The exchanges of a segment, newest first, with their turns. Three statements."""
    rows = DialoguePage.objects.filter(memberships__segment=segment).select_related("chain")
    found = load_page(rows.order_by("-first_seq"), number, PAGES_A_SEGMENT)
    turns = load_page_turns(found.rows)
    above = [None, *(page.chain_id for page in found.rows)]
    return found.with_rows(
        [
            ExchangeRow(page, turns[page.id], page.chain_id is not None and page.chain_id != last)
            for page, last in zip(found.rows, above, strict=False)
        ]
    )


def load_entity_type_choice(space: Space) -> FilterChoice:
    rows = Entity.objects.filter(space=space)
    found = load_value_choice(rows, "type", "type", _("Type"), _("Any"), spare=False)
    named = (found.options[0], *((value, format_code(value)) for value, label in found.options[1:]))
    return FilterChoice(found.name, found.label, named)


def load_entities(space: Space, filters: Filters, moment: SpaceMoment) -> ListPage[Entity]:
    rows = moment.rows(space, Entity).filter(
        build_text_condition(filters.q, "name", "aliases"), **filters.chosen_values("type")
    )
    return load_page(rows.order_by("-mention_count", "name", "id"), filters.page).map(moment.row)
