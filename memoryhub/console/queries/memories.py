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

from memoryhub.console import telling
from memoryhub.console.listing import Choice, Filters, Page, containing, page_of, values_in
from memoryhub.console.moments import Moment
from memoryhub.console.queries.naming import named
from memoryhub.console.quoting import SourceQuote, Span, pieces
from memoryhub.console.telling import FieldChange
from memoryhub.console.wording import code
from memoryhub.dialogues.models import Turn
from memoryhub.engines.types.claims import FactKind
from memoryhub.inference.models import ModelCall
from memoryhub.policies.schema import Heat
from memoryhub.tenants.models import Space
from notes.heat import with_heat
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
from notes.paging import turns_of
from notes.queries import is_ahead, is_current, is_past

STATUS = Choice(
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
_ORDERS = {"hot": "-heat", "ready": "-promotion", "recent": "-ended_at"}
HEAT_SORT = Choice(
    "sort",
    _("Sort by"),
    (("hot", _("Heat")), ("ready", _("Promotion heat")), ("recent", _("Last conversation"))),
)
TIER = Choice("tier", _("Tier"), (("", _("All")), ("mid", _("Mid term")), ("cold", _("Cold"))))
PAGES_A_SEGMENT = 10


@dataclass(frozen=True, slots=True)
class FactRow:
    """A fact with the one that replaced it and the words it rests on."""

    fact: Fact
    successor: Fact | None
    sources: list[SourceQuote]


def fact_choices(space: Space) -> tuple[Choice, ...]:
    """Three statements."""
    rows = Fact.objects.filter(space=space)
    return (
        STATUS,
        values_in(rows, "owner", "owner", _("About"), _("Anybody"), spare=False),
        Choice("kind", _("Kind"), (("", _("Any")), *((k, code(k)) for k in get_args(FactKind)))),
        values_in(rows, "speaker", "speaker", _("Said by"), _("Anybody")),
        values_in(rows, "engine", "engine", _("Engine"), _("Any")),
    )


def facts(space: Space, filters: Filters, moment: Moment) -> Page[FactRow]:
    rows = moment.rows(space, Fact).filter(
        containing(filters.q, "text", "owner"),
        _status(filters["status"], moment.at),
        filters.on_days("asserted_at", space.timezone),
        **filters.chosen("owner", "kind", "speaker", "engine"),
    )
    found = page_of(rows.order_by("-asserted_at", "-id"), filters.page).map(moment.row)
    prefetch_related_objects(found.rows, _SUCCESSORS)
    return found.holding(fact_rows(found.rows, moment))


_SUCCESSORS = "superseded_by"


def _status(status: str, now: datetime) -> Q:
    return {
        "current": is_current(now),
        "ahead": is_ahead(now),
        "past": is_past(now),
        "withdrawn": Q(status=Fact.Status.RETRACTED),
    }.get(status, Q())


def fact_rows(found: Iterable[Fact], moment: Moment | None = None) -> list[FactRow]:
    rows = list(found)
    quotes = sources_of("fact", [fact.id for fact in rows], moment)
    return [FactRow(fact, successor(fact), quotes[fact.id]) for fact in rows]


def successor(fact: Fact) -> Fact | None:
    """The claim that took this one's place. Expects `superseded_by` to be prefetched."""
    return min(fact.superseded_by.all(), key=lambda newer: newer.recorded_at, default=None)


def sources_of(
    kind: str, ids: Iterable[UUID], moment: Moment | None = None
) -> dict[UUID, list[SourceQuote]]:
    """Each row's supporting turns in order, with the words set off: at an earlier moment those
    it had then. One statement."""
    links = Derivation.objects.filter(
        child_type=kind, child_id__in=list(ids), role=Derivation.Role.SUPPORT
    )
    if moment and moment.recorded_by:
        links = links.filter(event__created_at__lte=moment.recorded_by)
    spans: dict[UUID, dict[Turn, list[Span]]] = defaultdict(lambda: defaultdict(list))
    for link in links.select_related("turn__session").order_by("turn__seq"):
        spans[link.child_id][link.turn].append((link.span_start, link.span_end))
    return defaultdict(
        list,
        {
            child: [SourceQuote(turn, pieces(turn.text, found)) for turn, found in turns.items()]
            for child, turns in spans.items()
        },
    )


@dataclass(frozen=True, slots=True)
class Biography:
    """A memory's whole life: its versions (first to last), what became of it."""

    row: FactRow
    versions: list[FactRow]
    changes: list[Change]

    @property
    def several(self) -> bool:
        return len(self.versions) > 1


@dataclass(frozen=True, slots=True)
class Change:
    event: EvolutionEvent
    revision: Revision
    fields: list[FieldChange]
    words: str
    asked: Sequence[tuple[str, str]] = ()

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


def fact_or_404(space: Space, fact_id: UUID) -> Fact:
    fact: Fact | None = Fact.objects.filter(space=space, id=fact_id).first()
    if fact is None:
        raise Http404
    return fact


def biography(space: Space, fact_id: UUID) -> Biography:
    """Raises Http404."""
    fact = fact_or_404(space, fact_id)
    lineage = Fact.objects.filter(space=space, lineage=fact.lineage)
    chain = lineage.prefetch_related(_SUCCESSORS).select_related("supersedes")
    versions = fact_rows(chain.order_by("valid_from", "recorded_at", "id"))
    row = next(version for version in versions if version.fact.id == fact.id)
    return Biography(row, versions, changes_of("fact", [v.fact.id for v in versions]))


def changes_of(kind: str, ids: Iterable[UUID]) -> list[Change]:
    """Newest first, with what models were asked. A handful of statements."""
    revisions = Revision.objects.filter(row_type=kind, row_id__in=list(ids))
    ordered = revisions.select_related("event").prefetch_related("event__undone_by")
    found = list(ordered.order_by("-event__created_at", "-id"))
    return changes_in([(r.event, r) for r in found], _asked([r.event for r in found]))


def _asked(events: Sequence[EvolutionEvent]) -> Mapping[UUID | None, Sequence[tuple[str, str]]]:
    """By job, the (prompt with its version, model) that were asked in it. One statement at most."""
    jobs = {event.job_id for event in events if event.job_id is not None}
    asked: dict[UUID | None, list[tuple[str, str]]] = defaultdict(list)
    if jobs:
        calls = ModelCall.objects.filter(job_id__in=jobs).order_by("template", "model")
        for job, template, model in calls.values_list("job_id", "template", "model").distinct():
            asked[job].append((template, model))
    return asked


def changes_in(
    pairs: Sequence[tuple[EvolutionEvent, Revision]],
    asked: Mapping[UUID | None, Sequence[tuple[str, str]]] | None = None,
) -> list[Change]:
    """Each revision told in words. A statement for each kind of row that they name."""
    told = [(r.row_type, r.row_id, values) for _, r in pairs for values in (r.before, r.after)]
    names = named(told)
    return [
        _change(event, revision, names, (asked or {}).get(event.job_id, ()))
        for event, revision in pairs
    ]


def _change(
    event: EvolutionEvent,
    revision: Revision,
    names: telling.Names,
    asked: Sequence[tuple[str, str]],
) -> Change:
    before, after, kind = revision.before, revision.after, revision.row_type
    said = telling.words(kind, after or before or {}, names) if after or before else ""
    fields = telling.changed(kind, before, after, names) if before and after else []
    return Change(event, revision, fields, said, asked)


def segments(space: Space, filters: Filters, weights: Heat, moment: Moment) -> Page[Any]:
    """With their heat, unless they are of an earlier moment: visits are not in the history."""
    rows = moment.rows(space, Segment).filter(
        containing(filters.q, "summary", "keywords"),
        filters.on_days("ended_at", space.timezone),
        retired_at=None,
        **filters.chosen("tier"),
    )
    if moment.is_past:
        return page_of(rows.order_by("-ended_at", "-id"), filters.page).map(moment.row)
    hot = with_heat(rows, weights, moment.at)
    return page_of(hot.order_by(_ORDERS[filters["sort"]], "-id"), filters.page)


def segment_or_404(space: Space, segment_id: UUID, weights: Heat, now: datetime) -> Any:
    rows = Segment.objects.filter(space=space, id=segment_id)
    segment = with_heat(rows, weights, now).first()
    if segment is None:
        raise Http404
    return segment


@dataclass(frozen=True, slots=True)
class PageRow:
    """An exchange of a segment with its turns. `opens_chain`: the one above is of another."""

    page: DialoguePage
    turns: list[Turn]
    opens_chain: bool


def segment_pages(segment: Segment, number: int) -> Page[PageRow]:
    """The exchanges of a segment, newest first, with their turns. Three statements."""
    rows = DialoguePage.objects.filter(memberships__segment=segment).select_related("chain")
    found = page_of(rows.order_by("-first_seq"), number, PAGES_A_SEGMENT)
    turns = turns_of(found.rows)
    above = [None, *(page.chain_id for page in found.rows)]
    return found.holding(
        [
            PageRow(page, turns[page.id], page.chain_id is not None and page.chain_id != last)
            for page, last in zip(found.rows, above, strict=False)
        ]
    )


def type_choice(space: Space) -> Choice:
    rows = Entity.objects.filter(space=space)
    found = values_in(rows, "type", "type", _("Type"), _("Any"), spare=False)
    named = (found.options[0], *((value, code(value)) for value, label in found.options[1:]))
    return Choice(found.name, found.label, named)


def entities(space: Space, filters: Filters, moment: Moment) -> Page[Entity]:
    rows = moment.rows(space, Entity).filter(
        containing(filters.q, "name", "aliases"), **filters.chosen("type")
    )
    return page_of(rows.order_by("-mention_count", "name", "id"), filters.page).map(moment.row)
