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
from django.views.decorators.http import require_POST

from memoryhub.console.access import tenant_page, tenant_view
from memoryhub.console.listing import read_filters
from memoryhub.console.queries import signals as queries
from memoryhub.console.queries.memories import fact_or_404
from memoryhub.console.queries.spaces import space_or_404
from memoryhub.console.reading import read_id
from memoryhub.console.requests import ConsoleRequest
from memoryhub.console.views.history import undoable
from memoryhub.console.views.spaces import tab
from memoryhub.console.wording import kept
from memoryhub.errors import MemoryHubError
from memoryhub.pipeline import measuring, restoring
from memoryhub.tenants.models import Membership
from memoryhub.tenants.scope import tenant_scope
from notes import works
from notes.correcting import by_hand
from notes.quality import Signal, of_name
from notes.works import Work

EDITOR = Membership.Role.EDITOR


@tenant_page()
def quality(request: ConsoleRequest) -> HttpResponse:
    filters = read_filters(request.GET, (queries.SIGNAL, queries.SORT))
    context = {"overall": queries.of_tenant(), "filters": filters, "page": queries.spaces(filters)}
    return render(request, "quality.html", context | {"signal": of_name(filters["signal"])})


@tenant_page()
def of_space(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    now = timezone.now()
    space = space_or_404(space_id, now)
    lines, readings = queries.of_space(space)
    name = queries.SIGNAL.read(request.GET)
    reading = next((row for row in readings if row.signal == name), None)
    evidence = queries.evidence(space, reading, now) if reading else []
    context: dict[str, Any] = {"lines": lines, "reading": reading, "evidence": evidence}
    return tab(request, space, "quality", signal=of_name(name), **context)


@require_POST
@tenant_view(role=EDITOR)
def measure(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    """Now, in the request: it asks no model, and compares a bounded number of facts."""
    with tenant_scope(request.tenant.id):
        space = space_or_404(space_id, timezone.now())
    measuring.measure(space, timezone.now())
    messages.success(request, _("Measured."))
    return redirect(_page(space_id, request))


@require_POST
@tenant_view(role=EDITOR)
def act(request: ConsoleRequest, space_id: UUID, fact_id: UUID) -> HttpResponse:
    """Merge a fact into the other of its pair, or retire it: a change by hand, to be undone."""
    now, who = timezone.now(), request.user.username
    with tenant_scope(request.tenant.id):
        space = space_or_404(space_id, now)
        fact_or_404(space, fact_id)
    signal = of_name(request.POST.get("signal", ""))
    other = read_id(request.POST.get("other", ""))
    try:
        work = _work(request.POST.get("action", ""), fact_id, other)
        event = by_hand(space, who, now, _why(signal), work)
        restoring.settle(space.id, space.tenant_id, str(event.id), now)
    except MemoryHubError as error:
        messages.error(request, _("Nothing was changed: %(why)s.") % {"why": error.message})
        return redirect(_page(space_id, request))
    undo = reverse("space-event", args=[space_id, event.id])
    done = _("Merged into the other one.") if other else _("Retired: it is held no longer.")
    messages.success(request, done, extra_tags=undoable(undo))
    return redirect(_page(space_id, request))


def _work(action: str, fact_id: UUID, other: UUID | None) -> Work:
    """Raises InvalidInput: a fact is merged with another one only."""
    if action == "merge":
        return works.merging("fact", fact_id, other or fact_id)
    return works.removing([fact_id])


def _why(signal: Signal | None) -> str:
    return f"quality: {kept(signal.label).lower()}" if signal else "quality"


def _page(space_id: UUID, request: ConsoleRequest) -> str:
    name = queries.SIGNAL.read(request.POST)
    return f"{reverse('space-quality', args=[space_id])}?signal={name}"
