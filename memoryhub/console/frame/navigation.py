"""Where the navigation leads, and which of its entries is open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from memoryhub.console.frame.requests import Seat

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


@dataclass(frozen=True, slots=True)
class NavigationEntry:
    """An entry of the navigation. `names` are the URL names that belong to it; on a narrow screen
    the `spare` ones stand behind "More"."""

    label: StrOrPromise
    icon: str
    url_name: str
    names: tuple[str, ...] = ()
    spare: bool = False


_SETTINGS_PAGES = ("policy", "models", "people", "key", "webhook", "data")
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
    NavigationEntry(_("Settings"), "policy", "settings", _SETTINGS_PAGES, spare=True),
)
# Where the tabs of those lead, for who goes there by name.
FURTHER_ENTRIES = (
    NavigationEntry(_("Jobs"), "jobs", "jobs"),
    NavigationEntry(_("Model calls"), "jobs", "usage"),
    NavigationEntry(_("Recalls"), "jobs", "recalls"),
    NavigationEntry(_("Feedback"), "jobs", "feedback"),
    NavigationEntry(_("Policy"), "policy", "policy"),
    NavigationEntry(_("Models and budgets"), "policy", "models"),
    NavigationEntry(_("Golden questions"), "lab", "golden"),
    NavigationEntry(_("Replays"), "lab", "replays"),
    NavigationEntry(_("Embeddings"), "lab", "embeddings"),
)
ADMIN_ENTRIES = (
    NavigationEntry(_("Changes"), "jobs", "changes"),
    NavigationEntry(_("People"), "policy", "people"),
    NavigationEntry(_("API keys"), "key", "keys"),
    NavigationEntry(_("Webhooks"), "policy", "webhooks"),
    NavigationEntry(_("Data"), "policy", "data"),
)


def _list_further_entries(seat: Seat) -> tuple[NavigationEntry, ...]:
    return (*FURTHER_ENTRIES, *(ADMIN_ENTRIES if seat.can_administer else ()))


def _list_navigation(request: HttpRequest) -> list[tuple[NavigationEntry, bool]]:
    """The entries, each with whether it is the current one."""
    here = getattr(request.resolver_match, "url_name", "") or ""
    return [(place, _is_current_entry(place, here)) for place in NAVIGATION]


def _is_current_entry(place: NavigationEntry, here: str) -> bool:
    return here == place.url_name or here.startswith((*place.names, f"{place.url_name}-"))
