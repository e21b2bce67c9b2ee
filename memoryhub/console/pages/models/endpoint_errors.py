"""What a test of a model's endpoint found, in words, with what to do. Pure.

An endpoint that refuses a key may quote it: of such a refusal nothing it said is shown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

_STATUS_PATTERN = re.compile(r"answered (\d{3})")
_REMEDIES = {
    "engine_not_configured": gettext_noop(
        "Set OPENAI_BASE_URL and MEMORYHUB_LLM_MODEL, and start the hub again."
    ),
    "unreachable": gettext_noop(
        "Does the server run, and can this machine reach it? Look at OPENAI_BASE_URL."
    ),
    "timeout": gettext_noop(
        "It may be loading its model: try again. Else take a smaller model, or raise "
        "MEMORYHUB_MODEL_TIMEOUT_SECONDS."
    ),
    "rate_limited": gettext_noop(
        "Wait a minute, and look at the limits and the credit of its account."
    ),
    "engine_failed": gettext_noop(
        "Something answers there, but not as OpenAI does: does OPENAI_BASE_URL end in /v1?"
    ),
}
_KEY_REFUSED = (
    gettext_noop("The endpoint refused the hub's key"),
    gettext_noop("Set OPENAI_API_KEY to one that is valid there."),
)
_UNKNOWN_MODEL = (
    gettext_noop("The endpoint knows no such model or address"),
    gettext_noop("Look at MEMORYHUB_LLM_MODEL, and whether OPENAI_BASE_URL ends in /v1."),
)


@dataclass(frozen=True, slots=True)
class EndpointProblem:
    what: str
    todo: str


@dataclass(frozen=True, slots=True)
class ModelProbe:
    """One part that was asked. `figures`: what is known of it, (name, words)."""

    name: str
    trouble: EndpointProblem | None = None
    figures: list[tuple[str, str]] = field(default_factory=list)


def describe_problem(message: str, code: str, key: str = "") -> EndpointProblem:
    """Of an EngineError. `key` is taken out wherever it stands."""
    status = parse_status(message)
    if status in (401, 403):
        return EndpointProblem(*map(_, _KEY_REFUSED))
    if status == 404:
        return EndpointProblem(*map(_, _UNKNOWN_MODEL))
    todo = _(_REMEDIES[code]) if code in _REMEDIES else _("What it says is all that is known.")
    return EndpointProblem(hide_key(message, key), todo)


def parse_status(message: str) -> int:
    """The HTTP status that an error of the endpoint names; 0 without one."""
    found = _STATUS_PATTERN.search(message)
    return int(found[1]) if found else 0


def hide_key(text: str, key: str) -> str:
    """`text` without the key, and without anything where a key was refused."""
    if parse_status(text) in (401, 403):
        return _(_KEY_REFUSED[0])
    return text.replace(key, "…") if len(key) > 3 else text


def format_endpoint_address(url: str) -> str:
    """An endpoint's address without names, passwords and what follows the path."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return _("an address that can't be read")
    return f"{parts.scheme}://{host}{port}{parts.path}" if host else ""
