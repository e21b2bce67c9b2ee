"""What came of something that was tried, said to who asked for it in one message."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.utils.translation import gettext

from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.errors import MemoryHubError


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
