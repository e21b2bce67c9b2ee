"""What every page's frame needs: where the navigation leads, and which of its entries is open."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from memoryhub.console.frame.admin_addresses import find_admin_address
from memoryhub.console.frame.requests import Seat
from memoryhub.pipeline.review.answer_proposals import count_open_cases
from memoryhub.tenants.scope import tenant_scope

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

THEMES = ("light", "dark")


@dataclass(frozen=True, slots=True)
class NavigationEntry:
    """An entry of the navigation. `names` are the URL names that belong to it; on a narrow screen
    the `spare` ones stand behind "More". `words`: what else one may call it."""

    label: StrOrPromise
    icon: str
    url_name: str
    names: tuple[str, ...] = ()
    spare: bool = False
    words: StrOrPromise = ""

    def is_current(self, here: str) -> bool:
        return here == self.url_name or here.startswith((*self.names, f"{self.url_name}-"))


_SETTINGS_PAGES = ("policy", "models", "predicate", "people", "key", "webhook", "data", "growth")
NAVIGATION = (
    NavigationEntry(_("Overview"), "overview", "overview"),
    NavigationEntry(_("Spaces"), "spaces", "spaces", ("space", "search", "import")),
    NavigationEntry(_("Inbox"), "review", "review", ("receipt",)),
    NavigationEntry(_("Quality"), "good", "quality", spare=True),
    NavigationEntry(_("Chat"), "chat", "chat"),
    NavigationEntry(
        _("Activity"),
        "jobs",
        "requests",
        ("job", "recall", "usage", "feedback", "changes"),
        spare=True,
    ),
    NavigationEntry(_("Lab"), "lab", "lab", ("golden", "replay", "embedding"), spare=True),
    NavigationEntry(
        _("Settings"),
        "policy",
        "settings",
        _SETTINGS_PAGES,
        spare=True,
        words=_("preferences, options, configuration"),
    ),
)
# Where the tabs of those lead, for who goes there by name.
FURTHER_ENTRIES = (
    NavigationEntry(_("Jobs"), "jobs", "jobs"),
    NavigationEntry(_("Model calls"), "jobs", "usage", words=_("tokens, cost, spending")),
    NavigationEntry(_("Recalls"), "jobs", "recalls"),
    NavigationEntry(_("Feedback"), "jobs", "feedback"),
    NavigationEntry(
        _("Policy"), "policy", "policy", words=_("presets, how memory works, forgetting, retention")
    ),
    NavigationEntry(
        _("Models and budgets"), "policy", "models", words=_("settings, prices, endpoint, limits")
    ),
    NavigationEntry(_("Predicates"), "policy", "predicates"),
    NavigationEntry(_("Test questions"), "lab", "golden", words=_("golden questions")),
    NavigationEntry(_("Replays"), "lab", "replays"),
    NavigationEntry(_("Embeddings"), "lab", "embeddings", words=_("vectors")),
    NavigationEntry(_("Account"), "person", "account", words=_("password, settings")),
)
ADMIN_ENTRIES = (
    NavigationEntry(_("Changes"), "jobs", "changes"),
    NavigationEntry(_("People"), "policy", "people", words=_("members, invite, roles, settings")),
    NavigationEntry(
        _("API keys"), "key", "keys", words=_("tokens, access, settings, expiry, expiration")
    ),
    NavigationEntry(_("Webhooks"), "policy", "webhooks"),
    NavigationEntry(_("Data"), "policy", "data", words=_("retention, erase, export")),
    NavigationEntry(_("Growth"), "policy", "growth", words=_("disk, size, rows")),
)

# What one can begin from anywhere: the page where it is begun.
ACTIONS = (
    NavigationEntry(_("Start a chat"), "chat", "chat"),
    NavigationEntry(_("Review open cases"), "review", "review"),
)
ADMIN_ACTIONS = (
    NavigationEntry(_("Import memories"), "spaces", "imports", words=_("upload, file")),
    NavigationEntry(_("Add an API key"), "key", "keys"),
    NavigationEntry(_("Invite a person"), "person", "people", words=_("add a member")),
    NavigationEntry(_("Run a lab benchmark"), "lab", "lab-new", words=_("benchmark, run")),
)


def build_frame_context(request: HttpRequest) -> dict[str, Any]:
    seat: Seat | None = getattr(request, "seat", None)
    here = getattr(request.resolver_match, "url_name", "") or ""
    places = [(place, place.is_current(here)) for place in NAVIGATION] if seat else []
    spare = [(place, is_here) for place, is_here in places if place.spare]
    further = (*FURTHER_ENTRIES, *(ADMIN_ENTRIES if seat and seat.can_administer else ()))
    theme = request.COOKIES.get("theme", "")
    return {
        "seat": seat,
        "operates": bool(seat and seat.can_administer and request.user.is_superuser),
        "theme": theme if theme in THEMES else "",
        "behind": _find_admin_address(request) if seat and seat.can_administer else "",
        "places": places,
        "spare_places": spare,
        "further_places": further if seat else (),
        "palette_actions": _list_actions(seat),
        "waiting": partial(_count_waiting_cases, seat) if seat else 0,
        "spare_here": any(is_here for place, is_here in spare),
    }


def _find_admin_address(request: HttpRequest) -> str:
    """Of what the page is about, in Django's admin."""
    match = request.resolver_match
    return find_admin_address(match.url_name or "" if match else "", match.kwargs if match else {})


def _list_actions(seat: Seat | None) -> tuple[NavigationEntry, ...]:
    if not seat:
        return ()
    return (*ACTIONS, *(ADMIN_ACTIONS if seat.can_administer else ()))


def _count_waiting_cases(seat: Seat) -> int:
    """Open questions, for the badge. Asked for only where the frame is drawn."""
    with tenant_scope(seat.tenant.id):
        return count_open_cases()
