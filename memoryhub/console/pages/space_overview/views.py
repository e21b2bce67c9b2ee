"""The first page of a space."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone

from memoryhub.console.frame.access import page_at, tenant_page
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.space.tabs import (
    get_plain_space_or_404,
    get_space_or_404,
    render_tab,
)
from memoryhub.console.pages.space_overview.queries import load_space_glance
from memoryhub.policies.services import load_effective_policy


@page_at("spaces/<uuid:space_id>/", "space-overview")
@tenant_page()
def space_overview_page(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    """It takes no options: an address with any is of the timeline, which stood here before."""
    now = timezone.now()
    space = get_space_or_404(space_id, now)
    if request.GET:
        timeline = reverse("space-timeline", args=[space_id])
        return redirect(f"{timeline}?{request.GET.urlencode()}")
    glance = load_space_glance(space, load_effective_policy(space).policy, now)
    return render_tab(request, space, "overview", "space_overview/overview.html", glance=glance)


@page_at("spaces/<uuid:space_id>/memories/", "space-memories")
@tenant_page()
def redirect_to_facts(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    """The first view of the memories."""
    return redirect("space-facts", space_id=get_plain_space_or_404(space_id).id)
