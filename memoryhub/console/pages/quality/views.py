"""The quality centre: signals, rates and evidence; one click merges or retires."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db.models import Count, F, FloatField, Max, Min, Q, Sum
from django.db.models.functions import Cast, NullIf
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from memoryhub.console.frame.access import EDITOR, action_at, page_at, tenant_page, tenant_view
from memoryhub.console.frame.forms import attempt, read_id
from memoryhub.console.frame.lists import (
    FilterChoice,
    Filters,
    ListPage,
    build_text_condition,
    load_page,
    read_filters,
)
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.space.tabs import get_space_or_404, render_tab
from memoryhub.console.frame.text.quotes import SourceQuote, load_sources
from memoryhub.console.frame.text.wording import format_for_history
from memoryhub.console.pages.facts.views import get_fact_or_404
from memoryhub.console.pages.history.views import build_correction_undo_tags
from memoryhub.pipeline import corrections
from memoryhub.pipeline.models import QualityReading
from memoryhub.pipeline.steps.maintenance import quality_readings
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.facts.validity import filter_current
from notes.models import Fact
from notes.quality.signals import SIGNALS, QualitySignal, compute_rate, find_signal

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


def load_tenant_quality() -> dict[str, Any]:
    """`lines` by signal, and when the spaces were `measured`: the `oldest` and the `newest`. Two
    statements, over a row a signal and space."""
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
    return {"lines": lines, **times}


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


@page_at("quality/", "quality")
@tenant_page()
def quality_page(request: ConsoleRequest) -> HttpResponse:
    filters = read_filters(request.GET, (SIGNAL_CHOICE, SIGNAL_SORT_CHOICE))
    context = {
        "overall": load_tenant_quality(),
        "filters": filters,
        "page": load_space_readings(filters),
        "signal": find_signal(filters["signal"]),
    }
    return render(request, "quality/tenant.html", context)


@page_at("spaces/<uuid:space_id>/quality/", "space-quality")
@tenant_page()
def space_quality_page(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    now = timezone.now()
    space = get_space_or_404(space_id, now)
    lines, readings = load_space_quality(space)
    name = SIGNAL_CHOICE.read(request.GET)
    reading = next((row for row in readings if row.signal == name), None)
    evidence = load_evidence(space, reading, now) if reading else []
    context: dict[str, Any] = {"lines": lines, "reading": reading, "evidence": evidence}
    return render_tab(
        request, space, "quality", "quality/space.html", signal=find_signal(name), **context
    )


@action_at("spaces/<uuid:space_id>/quality/measure", "space-quality-measure")
@tenant_view(role=EDITOR)
def measure_quality(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    """Now, in the request: it asks no model, and compares a bounded number of facts."""
    with tenant_scope(request.tenant.id):
        space = get_space_or_404(space_id, timezone.now())
    quality_readings.measure_quality(space, timezone.now())
    messages.success(request, gettext("Measured."))
    return redirect(_build_quality_address(space_id, request))


@action_at("spaces/<uuid:space_id>/quality/<uuid:fact_id>/act", "space-quality-act")
@tenant_view(role=EDITOR)
def resolve_quality_finding(request: ConsoleRequest, space_id: UUID, fact_id: UUID) -> HttpResponse:
    """Merge a fact into the other of its pair, or retire it: a change by hand, to be undone."""
    now = timezone.now()
    with tenant_scope(request.tenant.id):
        space = get_space_or_404(space_id, now)
        get_fact_or_404(space, fact_id)
    signal = find_signal(request.POST.get("signal", ""))
    other = read_id(request.POST.get("other", ""))
    reason = f"quality: {format_for_history(signal.label).lower()}" if signal else "quality"

    def resolve() -> corrections.Correction[Any]:
        if request.POST.get("action", "") != "merge":  # with another one only
            return corrections.forget_facts(space, [fact_id], request.actor, now, reason=reason)
        pair = (fact_id, other or fact_id)
        return corrections.merge_memories(space, "fact", *pair, request.actor, now, reason=reason)

    made = attempt(request, resolve, gettext("Nothing was changed: %(why)s."))
    if made is None:
        return redirect(_build_quality_address(space_id, request))
    done = (
        gettext("Merged into the other one.") if other else gettext("Hidden: it is no longer used.")
    )
    messages.success(request, done, extra_tags=build_correction_undo_tags(made))
    return redirect(_build_quality_address(space_id, request))


def _build_quality_address(space_id: UUID, request: ConsoleRequest) -> str:
    name = SIGNAL_CHOICE.read(request.POST)
    return f"{reverse('space-quality', args=[space_id])}?signal={name}"
