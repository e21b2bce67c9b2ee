"""Quality as last measured: of a tenant by signal and space, of a space with evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, F, FloatField, Max, Min, Q, Sum
from django.db.models.functions import Cast, NullIf
from django.utils.translation import gettext_lazy as _

from memoryhub.console.frame.lists import (
    FilterChoice,
    Filters,
    ListPage,
    build_text_condition,
    load_page,
)
from memoryhub.console.frame.text.quotes import SourceQuote, load_sources
from memoryhub.pipeline.models import QualityReading
from memoryhub.tenants.models import Space
from notes.facts.validity import filter_current
from notes.models import Fact
from notes.quality.signals import SIGNALS, QualitySignal, compute_rate

SIGNAL_CHOICE = FilterChoice(
    "signal", _("Signal"), tuple((signal.name, signal.label) for signal in SIGNALS)
)
SIGNAL_SORT_CHOICE = FilterChoice(
    "sort", _("Sort by"), (("rate", _("Share")), ("found", _("Number")), ("name", _("Name")))
)


@dataclass(frozen=True, slots=True)
class SignalRow:
    """A signal with what was found; None where nothing was measured."""

    signal: QualitySignal
    found: int | None
    of: int
    spaces: int = 0

    @property
    def rate(self) -> float:
        return compute_rate(self.found or 0, self.of)


@dataclass(frozen=True, slots=True)
class TenantQuality:
    """`oldest`, `newest`: when the spaces were measured; None where none was."""

    lines: Sequence[SignalRow]
    oldest: datetime | None
    newest: datetime | None
    measured: int


def load_tenant_quality() -> TenantQuality:
    """Two statements, over a row a signal and space."""
    with_some = Count("space", filter=Q(found__gt=0))
    grouped = QualityReading.objects.order_by().values("signal")
    rows = {
        row["signal"]: row
        for row in grouped.annotate(count=Sum("found"), whole=Sum("of"), some=with_some)
    }
    times = QualityReading.objects.aggregate(
        oldest=Min("computed_at"), newest=Max("computed_at"), measured=Count("space", distinct=True)
    )
    lines = [
        SignalRow(signal, row["count"], row["whole"], row["some"])
        if (row := rows.get(signal.name))
        else SignalRow(signal, None, 0)
        for signal in SIGNALS
    ]
    return TenantQuality(lines, **times)


def load_space_readings(filters: Filters) -> ListPage[QualityReading]:
    """Those that have any of the signal, the worst first. Two statements."""
    rows = QualityReading.objects.filter(
        build_text_condition(filters.q, "space__subject", "space__name"), signal=filters["signal"]
    )
    share = Cast("found", FloatField()) / NullIf(Cast("of", FloatField()), 0.0)
    rows = rows.filter(found__gt=0).annotate(share=share).select_related("space")
    order: Mapping[str, tuple[Any, ...]] = {
        "rate": (F("share").desc(nulls_last=True), "-found", "id"),
        "found": ("-found", "id"),
        "name": ("space__subject", "id"),
    }
    return load_page(rows.order_by(*order[filters["sort"]]), filters.page)


def load_space_quality(space: Space) -> tuple[list[SignalRow], list[QualityReading]]:
    """One statement."""
    rows = {row.signal: row for row in QualityReading.objects.filter(space=space)}
    lines = [
        SignalRow(signal, row.found, row.of)
        if (row := rows.get(signal.name))
        else SignalRow(signal, None, 0)
        for signal in SIGNALS
    ]
    return lines, list(rows.values())


@dataclass(frozen=True, slots=True)
class SignalEvidence:
    """A fact that a signal is about, the other one of a pair, and what they rest on."""

    fact: Fact
    other: Fact | None
    cosine: float | None
    quotes: Sequence[SourceQuote]
    other_quotes: Sequence[SourceQuote]


def load_evidence(space: Space, reading: QualityReading, now: datetime) -> list[SignalEvidence]:
    """Of the samples what is held still. Two statements."""
    ids = [
        (_parse_optional_id(s["fact"]), _parse_optional_id(s["other"]), s["cosine"])
        for s in reading.samples
    ]
    wanted = {each for one, other, _ in ids for each in (one, other) if each}
    facts = {
        fact.id: fact
        for fact in filter_current(Fact.objects.filter(space=space, id__in=wanted), now)
    }
    quotes = load_sources("fact", facts)
    return [
        SignalEvidence(
            facts[one],
            facts[other] if other else None,
            cosine,
            quotes[one],
            quotes[other] if other else [],
        )
        for one, other, cosine in ids
        if one in facts and (other is None or other in facts)
    ]


def _parse_optional_id(given: Any) -> Any:
    return UUID(given) if given else None
