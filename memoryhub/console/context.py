"""What every page's frame needs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from memoryhub.console.queries.review import open_count
from memoryhub.console.requests import Seat
from memoryhub.tenants.scope import tenant_scope

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

THEMES = ("light", "dark")


@dataclass(frozen=True, slots=True)
class Place:
    """An entry of the navigation. `names` are the URL names that belong to it; on a narrow screen
    the `spare` ones stand behind "More"."""

    label: StrOrPromise
    icon: str
    url_name: str
    names: tuple[str, ...] = ()
    spare: bool = False


_SETTINGS = ("policy", "models", "people", "key", "webhook", "data")
PLACES = (
    Place(_("Overview"), "overview", "overview"),
    Place(_("Spaces"), "spaces", "spaces", ("space", "search", "import")),
    Place(_("Inbox"), "review", "review", ("receipt",)),
    Place(_("Quality"), "good", "quality", spare=True),
    Place(_("Chat"), "chat", "chat"),
    Place(
        _("Activity"),
        "jobs",
        "requests",
        ("job", "recall", "usage", "feedback", "changes"),
        spare=True,
    ),
    Place(_("Lab"), "lab", "lab", ("golden", "replay", "embedding"), spare=True),
    Place(_("Settings"), "policy", "settings", _SETTINGS, spare=True),
)
# Where the tabs of those lead, for who goes there by name.
FURTHER = (
    Place(_("Jobs"), "jobs", "jobs"),
    Place(_("Model calls"), "jobs", "usage"),
    Place(_("Recalls"), "jobs", "recalls"),
    Place(_("Feedback"), "jobs", "feedback"),
    Place(_("Policy"), "policy", "policy"),
    Place(_("Models and budgets"), "policy", "models"),
    Place(_("Golden questions"), "lab", "golden"),
    Place(_("Replays"), "lab", "replays"),
    Place(_("Embeddings"), "lab", "embeddings"),
)
FOR_ADMINS = (
    Place(_("Changes"), "jobs", "changes"),
    Place(_("People"), "policy", "people"),
    Place(_("API keys"), "key", "keys"),
    Place(_("Webhooks"), "policy", "webhooks"),
    Place(_("Data"), "policy", "data"),
)


def console(request: HttpRequest) -> dict[str, Any]:
    seat = getattr(request, "seat", None)
    places = _places(request) if seat else []
    theme = request.COOKIES.get("theme", "")
    return {
        "seat": seat,
        "operates": bool(seat and seat.can_administer and request.user.is_superuser),
        "theme": theme if theme in THEMES else "",
        "places": places,
        "spare_places": [(place, here) for place, here in places if place.spare],
        "further_places": _further(seat) if seat else (),
        "waiting": partial(_waiting, seat) if seat else 0,
        "spare_here": any(here for place, here in places if place.spare),
    }


def _waiting(seat: Seat) -> int:
    """Open questions, for the badge. Asked for only where the frame is drawn."""
    with tenant_scope(seat.tenant.id):
        return open_count()


def _further(seat: Seat) -> tuple[Place, ...]:
    return (*FURTHER, *(FOR_ADMINS if seat.can_administer else ()))


def _places(request: HttpRequest) -> list[tuple[Place, bool]]:
    """The entries, each with whether it is the current one."""
    here = getattr(request.resolver_match, "url_name", "") or ""
    return [(place, _holds(place, here)) for place in PLACES]


def _holds(place: Place, here: str) -> bool:
    return here == place.url_name or here.startswith((*place.names, f"{place.url_name}-"))
