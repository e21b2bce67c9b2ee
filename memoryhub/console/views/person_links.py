"""Links to a person's own page, and the pause that they or an operator may make."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from memoryhub.console.access import tenant_page
from memoryhub.console.listing import page_of, read_filters
from memoryhub.console.queries.spaces import space_or_404
from memoryhub.console.requests import ConsoleRequest
from memoryhub.console.views.spaces import tab
from memoryhub.tenants import person_links
from memoryhub.tenants.models import Membership, PersonLink
from memoryhub.tenants.services import go_on, pause

ADMIN = Membership.Role.ADMIN
# What the form offers, in days; the first is the usual.
DAYS = (person_links.USUAL.days, 1, 30, person_links.LONGEST.days)


@never_cache
@tenant_page(role=ADMIN)
def links(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    """A new link is shown in the answer that made it, and never again."""
    now = timezone.now()
    space = space_or_404(space_id, now)
    address = _made(request, space) if request.method == "POST" else ""
    rows = PersonLink.objects.filter(space=space).order_by("-created_at", "-id")
    page = page_of(rows, read_filters(request.GET).page)
    return tab(request, space, "person", address=address, page=page, days=DAYS)


def _made(request: ConsoleRequest, space: Any) -> str:
    """The address to send to the person."""
    given, now = request.POST.get("days", ""), timezone.now()
    days = next((each for each in DAYS if str(each) == given), DAYS[0])
    note = request.POST.get("note", "").replace("\0", "").strip()[:200]
    who = request.user.get_username()
    _, token = person_links.create(space, who, now, now + timedelta(days=days), note=note)
    return f"{request.build_absolute_uri(reverse('me-open'))}#{token}"


@require_POST
@tenant_page(role=ADMIN)
def revoke(request: ConsoleRequest, space_id: UUID, link_id: UUID) -> HttpResponse:
    link: PersonLink | None = PersonLink.objects.filter(space=space_id, id=link_id).first()
    if link is None:
        raise Http404
    person_links.revoke(link, timezone.now())
    messages.success(request, _("Closed: the link opens nothing any more."))
    return redirect("space-person", space_id=space_id)


@require_POST
@tenant_page(role=Membership.Role.EDITOR)
def pausing(request: ConsoleRequest, space_id: UUID) -> HttpResponse:
    now = timezone.now()
    space = space_or_404(space_id, now)
    if request.POST.get("paused") == "no":
        go_on(space)
        messages.success(request, _("Going on: what is said from now on is kept."))
    else:
        pause(space, request.user.get_username(), now)
        messages.success(request, _("Paused: nothing that is said is kept until it goes on."))
    return redirect("space-timeline", space_id=space_id)
