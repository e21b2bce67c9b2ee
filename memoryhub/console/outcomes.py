"""What came of something that was tried, said to who asked for it in one message."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages

from memoryhub.console.requests import ConsoleRequest
from memoryhub.errors import MemoryHubError


def tried(
    request: ConsoleRequest, work: Callable[[], object], said: str, *, refused: str = "Not done"
) -> bool:
    """Whether it was done. A refusal gives its reason; other errors are none of the person's."""
    try:
        work()
    except MemoryHubError as error:
        messages.error(request, f"{refused}: {error.message}.")
        return False
    messages.success(request, said)
    return True
