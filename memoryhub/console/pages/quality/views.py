"""The quality centre: signals, rates and evidence; one click merges or retires."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from memoryhub.console.frame.access import EDITOR, action_at, page_at, tenant_page, tenant_view
from memoryhub.console.frame.form_values import read_id
from memoryhub.console.frame.lists import read_filters
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.space.tabs import get_space_or_404, render_tab
from memoryhub.console.frame.text.wording import format_for_history
from memoryhub.console.pages.facts.queries import get_fact_or_404
from memoryhub.console.pages.history.views import build_correction_undo_tags
from memoryhub.console.pages.quality import queries
from memoryhub.errors import MemoryHubError
from memoryhub.pipeline import corrections
from memoryhub.pipeline.steps.maintenance import quality_readings
from memoryhub.tenants.scope import tenant_scope
from notes.quality.signals import QualitySignal, find_signal


@page_at("quality/", "quality")
@tenant_page()
def quality_page(request: ConsoleRequest) -> HttpResponse:
    filters = read_filters(request.GET, (queries.SIGNAL_CHOICE, queries.SIGNAL_SORT_CHOICE))
    context = {
        "overall": queries.load_tenant_quality(),
        "filters": filters,
        "page": queries.load_space_readings(filters),
    }
    return render(
        request, "quality/tenant.html", context | {"signal": find_signal(filters["signal"])}
    )


@page_at("spaces/<uuid:space_id>/quality/", "space-quality")
@tenant_page()
def space_quality_page(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    now = timezone.now()
    space = get_space_or_404(space_id, now)
    lines, readings = queries.load_space_quality(space)
    name = queries.SIGNAL_CHOICE.read(request.GET)
    reading = next((row for row in readings if row.signal == name), None)
    evidence = queries.load_evidence(space, reading, now) if reading else []
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
    messages.success(request, _("Measured."))
    return redirect(_build_quality_address(space_id, request))


@action_at("spaces/<uuid:space_id>/quality/<uuid:fact_id>/act", "space-quality-act")
@tenant_view(role=EDITOR)
def resolve_quality_finding(request: ConsoleRequest, space_id: UUID, fact_id: UUID) -> HttpResponse:
    """Merge a fact into the other of its pair, or retire it: a change by hand, to be undone."""
    now, who = timezone.now(), request.user.username
    with tenant_scope(request.tenant.id):
        space = get_space_or_404(space_id, now)
        get_fact_or_404(space, fact_id)
    signal = find_signal(request.POST.get("signal", ""))
    other = read_id(request.POST.get("other", ""))
    try:
        reason = _describe_quality_reason(signal)
        if request.POST.get("action", "") == "merge":  # with another one only
            gone, kept = fact_id, other or fact_id
            made = corrections.merge_memories(space, "fact", gone, kept, who, now, reason=reason)
        else:
            made = corrections.forget_facts(space, [fact_id], who, now, reason=reason)
    except MemoryHubError as error:
        messages.error(request, _("Nothing was changed: %(why)s.") % {"why": error.message})
        return redirect(_build_quality_address(space_id, request))
    done = _("Merged into the other one.") if other else _("Forgotten: it is held no longer.")
    messages.success(request, done, extra_tags=build_correction_undo_tags(made))
    return redirect(_build_quality_address(space_id, request))


def _describe_quality_reason(signal: QualitySignal | None) -> str:
    return f"quality: {format_for_history(signal.label).lower()}" if signal else "quality"


def _build_quality_address(space_id: UUID, request: ConsoleRequest) -> str:
    name = queries.SIGNAL_CHOICE.read(request.POST)
    return f"{reverse('space-quality', args=[space_id])}?signal={name}"
