"""What forms send, as values; and what came of it, said to who asked for it in one message."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import TypeVar
from uuid import UUID
from zoneinfo import ZoneInfo

from django.contrib import messages
from django.utils.dateparse import parse_datetime
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext

from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.errors import MemoryHubError
from memoryhub.tenants.models import Space

T = TypeVar("T")


def read_time(given: str, space: Space) -> datetime | None:
    """As the browser's time picker gives it, in the space's zone."""
    try:
        found = parse_datetime(given)
    except ValueError:
        return None
    if found is None or not 1900 < found.year < 2200:
        return None
    return found if found.tzinfo else found.replace(tzinfo=ZoneInfo(space.timezone))


def read_ids(given: Iterable[str]) -> list[UUID]:
    """Each once, in their order; what is no id is left out."""
    return list(dict.fromkeys(found for text in given if (found := read_id(text)) is not None))


def read_id(given: str) -> UUID | None:
    try:
        return UUID(given)
    except ValueError:
        return None


def read_back_address(request: ConsoleRequest) -> str:
    """The page that a form was sent from, as it says; "" where it says none of this hub."""
    back = request.POST.get("back", "")
    # A word that begins otherwise would be taken for the name of a page.
    is_own = back.startswith("/") and url_has_allowed_host_and_scheme(back, allowed_hosts=None)
    return back if is_own else ""


# Of each field of a draft: more than any form takes.
_MAX_DRAFT_LENGTH = 250_000


def keep_draft(request: ConsoleRequest, name: str) -> None:
    """Keep what a refused form was sent with until the page shows it again (`take_draft`): what
    somebody typed is not lost."""
    fields = {
        field: text.replace("\0", "")[:_MAX_DRAFT_LENGTH]
        for field, text in request.POST.dict().items()
        if field != "csrfmiddlewaretoken"
    }
    request.session[_build_draft_key(name)] = fields


def take_draft(request: ConsoleRequest, name: str) -> dict[str, str]:
    """What was sent with the form of this name and refused, once; empty where nothing was."""
    fields: dict[str, str] = request.session.pop(_build_draft_key(name), {})
    return fields


def _build_draft_key(name: str) -> str:
    return f"draft-{name}"


def attempt(request: ConsoleRequest, work: Callable[[], T], refused: str) -> T | None:
    """What came of it; None after a refusal, which `refused` tells with its reason, %(why)s."""
    try:
        return work()
    except MemoryHubError as error:
        messages.error(request, refused % {"why": error.message})
        return None


def run_and_report(
    request: ConsoleRequest,
    work: Callable[[], object],
    said: str,
    *,
    refused: str = "",
    undo: Callable[[], str] = str,
) -> bool:
    """Whether it was done. A refusal gives its reason; other errors are none of the person's.

    `undo`: once it was done, the tags that offer to take it back.
    """
    try:
        work()
    except MemoryHubError as error:
        words = {"refused": refused or gettext("Not done"), "why": error.message}
        messages.error(request, gettext("%(refused)s: %(why)s.") % words)
        return False
    messages.success(request, said, extra_tags=undo())
    return True
