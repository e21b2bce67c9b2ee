"""What every page's frame needs."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.http import HttpRequest

from memoryhub.console.frame.navigation import _list_further_entries, _list_navigation
from memoryhub.console.frame.requests import Seat
from memoryhub.pipeline.review.answer_proposals import count_open_cases
from memoryhub.tenants.scope import tenant_scope

THEMES = ("light", "dark")


def build_frame_context(request: HttpRequest) -> dict[str, Any]:
    seat = getattr(request, "seat", None)
    places = _list_navigation(request) if seat else []
    theme = request.COOKIES.get("theme", "")
    return {
        "seat": seat,
        "operates": bool(seat and seat.can_administer and request.user.is_superuser),
        "theme": theme if theme in THEMES else "",
        "places": places,
        "spare_places": [(place, here) for place, here in places if place.spare],
        "further_places": _list_further_entries(seat) if seat else (),
        "waiting": partial(_count_waiting_cases, seat) if seat else 0,
        "spare_here": any(here for place, here in places if place.spare),
    }


def _count_waiting_cases(seat: Seat) -> int:
    """Open questions, for the badge. Asked for only where the frame is drawn."""
    with tenant_scope(seat.tenant.id):
        return count_open_cases()
