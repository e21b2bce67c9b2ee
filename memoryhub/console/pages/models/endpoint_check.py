"""The models a tenant works with, and a test of them. Not queries of the database: of endpoints."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from memoryhub.console.frame.text.wording import join_list
from memoryhub.errors import EngineError
from memoryhub.inference.selection import PROBE_FILE_NAME, get_current_embedder

if TYPE_CHECKING:
    from memoryhub.engines.llm.client.probe import ModelCapabilities


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


# Seconds: somebody looks at the page meanwhile.
MAX_PROBE_SECONDS = 20.0


def probe_language_model() -> ModelProbe:
    """Up to nine small questions, of which the answers tell what it can do. What was found out is
    kept: the hub asks the way that works best from its next start on. Call without a scope."""
    from memoryhub.engines.llm.client.probe import (
        probe_model,
        save_capabilities,  # loads the SDK
    )

    url, key, model = settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY, settings.LLM_MODEL
    timeout = min(MAX_PROBE_SECONDS, settings.MODEL_TIMEOUT_SECONDS)
    try:
        if not model:
            raise EngineError(_("No model is named"), code="engine_not_configured")
        found = probe_model(url, key, model, timeout=timeout)
    except EngineError as error:
        return ModelProbe(_("Language model"), describe_problem(error.message, error.code, key))
    save_capabilities(settings.DATA_DIR / PROBE_FILE_NAME, found)
    wrong = None
    if not found.is_usable:
        wrong = describe_problem(_("It gave no usable JSON in any way that was tried"), "", key)
    return ModelProbe(_("Language model"), wrong, _describe_abilities(found))


def read_known_abilities() -> list[tuple[str, str]]:
    """What the last test found out; empty without one."""
    from memoryhub.engines.llm.client.probe import read_capabilities  # loads the SDK

    if not (settings.OPENAI_BASE_URL and settings.LLM_MODEL):
        return []
    file = settings.DATA_DIR / PROBE_FILE_NAME
    found = read_capabilities(file, settings.OPENAI_BASE_URL, settings.LLM_MODEL)
    return _describe_abilities(found) if found else []


def _describe_abilities(found: ModelCapabilities) -> list[tuple[str, str]]:
    key = settings.OPENAI_API_KEY
    troubles = [
        (_("Tried %(way)s") % {"way": name}, hide_key(why, key))
        for name, why in found.troubles.items()
    ]
    return [
        (_("A small answer takes"), f"{found.milliseconds / 1000:.1f} s"),
        (_("Answers in JSON by"), join_list(found.shapes) or _("no way that was tried")),
        (_("Calls tools"), _("yes") if found.tools else _("no")),
        (_("Refuses options"), join_list(found.without) or _("none")),
        *troubles,
    ]


def probe_embedding_model() -> ModelProbe:
    """One text is embedded. Call without a scope."""
    try:
        made = get_current_embedder()
        started = time.perf_counter()
        (vector,) = made.embed([f"Tested at {time.time()}"])  # another text each time: none is kept
    except EngineError as error:
        wrong = describe_problem(error.message, error.code, settings.OPENAI_API_KEY)
        return ModelProbe(_("Embedder"), wrong)
    took = (time.perf_counter() - started) * 1000
    figures = [(_("Embedder"), made.name), (_("Dimensions"), str(len(vector)))]
    return ModelProbe(_("Embedder"), None, [*figures, (_("A text takes"), f"{took:,.0f} ms")])


def list_configured_models() -> list[tuple[str, str]]:
    """What the operator set, without secrets."""
    url = settings.OPENAI_BASE_URL
    return [
        (_("Endpoint"), format_endpoint_address(url) if url else ""),
        (_("Its key"), _("set") if settings.OPENAI_API_KEY else _("none")),
        (_("Language model"), settings.LLM_MODEL),
        (_("Embedder"), settings.EMBEDDER),
        (_("Embedding model"), settings.EMBEDDING_MODEL or _("the packaged one")),
        (_("Reranker"), " ".join((settings.RERANKER, settings.RERANKER_MODEL)).rstrip()),
    ]
