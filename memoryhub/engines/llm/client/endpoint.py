"""The one way to an OpenAI-compatible endpoint, and what its failures mean."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

import openai

from memoryhub.errors import EngineError
from memoryhub.places import step_aside

Reply = TypeVar("Reply")

# Worth another try: the server, its load or the network, not what was asked.
_RETRYABLE_STATUSES = frozenset({408, 409, 425, 429})


def build_client(base_url: str, api_key: str, timeout: float) -> openai.OpenAI:
    """A client bound to one endpoint; `timeout` is seconds for a whole request.

    It never retries by itself: jobs retry with backoff, and readers degrade at once.
    """
    if not base_url:
        raise EngineError(
            "No OpenAI-compatible endpoint is configured: set OPENAI_BASE_URL",
            permanent=True,
            code="engine_not_configured",
        )
    return openai.OpenAI(
        base_url=base_url,
        api_key=api_key or "none",
        timeout=timeout,
        max_retries=0,
        # It goes where it was told to, and nowhere that a server sends it.
        http_client=openai.DefaultHttpxClient(follow_redirects=False, timeout=timeout),
    )


@contextmanager
def translate_errors() -> Iterator[None]:
    """Around everything that waits for an endpoint: others work meanwhile. Turns the SDK's errors
    into EngineError; `permanent` when repeating cannot help."""
    try:
        with step_aside():
            yield
    except openai.APITimeoutError as error:
        raise EngineError("The model endpoint did not answer in time", code="timeout") from error
    except openai.APIConnectionError as error:
        raise EngineError("The model endpoint cannot be reached", code="unreachable") from error
    except openai.APIStatusError as error:
        raise _error_from_status(error) from error
    except (openai.OpenAIError, ValueError) as error:
        # A 200 whose body is not what the protocol says: a proxy's page, a cut reply.
        raise EngineError("The model endpoint sent an unreadable reply") from error


def check_reply(reply: Reply, part: str) -> Reply:
    """The reply, if it has a list of this name. Raises ValueError: the SDK hands on whatever came
    with status 200, a page as text and an object of another kind with None in it."""
    if not isinstance(getattr(reply, part, None), list):
        raise ValueError(f"a reply without {part}")
    return reply


def _error_from_status(error: openai.APIStatusError) -> EngineError:
    status = error.status_code
    # What is said of a key that was refused may have most of it, and errors are kept.
    said = "the key was refused" if status in (401, 403) else error.message[:300]
    return EngineError(
        f"The model endpoint answered {status}: {said}",
        permanent=status < 500 and status not in _RETRYABLE_STATUSES,
        code="rate_limited" if status == 429 else "endpoint_refused",
    )
