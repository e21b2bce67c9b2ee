"""Links to a person's own page, and the pause that they or an operator may make."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from memoryhub.console.frame.access import ADMIN, EDITOR, action_at, page_at, tenant_page
from memoryhub.console.frame.lists import load_page, read_filters
from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.frame.shown_once import keep_until_shown, take_shown_once
from memoryhub.console.frame.space.tabs import get_space_or_404, render_tab
from memoryhub.tenants import person_links
from memoryhub.tenants.models import PersonLink
from memoryhub.tenants.services import pause_space, resume_space

# What the form offers, in days; the first is the usual.
_NEW_LINK = "new_person_link:"
LINK_DAYS = (person_links.DEFAULT_LIFETIME.days, 1, 30, person_links.MAX_LIFETIME.days)


@page_at("spaces/<uuid:space_id>/person/", "space-person")
@never_cache
@tenant_page(role=ADMIN)
def person_link_list_page(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    """A new link is shown on the page that follows, and never again."""
    now = timezone.now()
    space = get_space_or_404(space_id, now)
    waiting = f"{_NEW_LINK}{space_id}"
    if request.method == "POST":
        keep_until_shown(request, waiting, _create_person_link(request, space))
        return redirect("space-person", space_id=space_id)
    address = take_shown_once(request, waiting)
    rows = PersonLink.objects.filter(space=space).order_by("-created_at", "-id")
    page = load_page(rows, read_filters(request.GET).page)
    return render_tab(
        request,
        space,
        "person",
        "person_links/list.html",
        address=address,
        page=page,
        days=LINK_DAYS,
    )


def _create_person_link(request: ConsoleRequest, space: Any) -> str:
    """The address to send to the person."""
    given, now = request.POST.get("days", ""), timezone.now()
    days = next((each for each in LINK_DAYS if str(each) == given), LINK_DAYS[0])
    note = request.POST.get("note", "").replace("\0", "").strip()[:200]
    _, token = person_links.create_person_link(
        space, request.actor, now, now + timedelta(days=days), note=note
    )
    return f"{request.build_absolute_uri(reverse('me-open'))}#{token}"


@action_at("spaces/<uuid:space_id>/person/<uuid:link_id>/revoke", "space-person-revoke")
@tenant_page(role=ADMIN)
def revoke_person_link(request: ConsoleRequest, space_id: UUID, link_id: UUID) -> HttpResponse:
    link = get_object_or_404(PersonLink.objects.filter(space=space_id, id=link_id))
    person_links.revoke_person_link(link, timezone.now())
    messages.success(request, _("Closed: the link no longer works."))
    return redirect("space-person", space_id=space_id)


@action_at("spaces/<uuid:space_id>/pause", "space-pause")
@tenant_page(role=EDITOR)
def set_space_pause(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    now = timezone.now()
    space = get_space_or_404(space_id, now)
    if request.POST.get("paused") == "no":
        resume_space(space)
        messages.success(request, _("Resumed: new messages are kept again."))
    else:
        pause_space(space, request.actor, now)
        messages.success(request, _("Paused: new messages are not kept until it is resumed."))
    return redirect("space-timeline", space_id=space_id)
