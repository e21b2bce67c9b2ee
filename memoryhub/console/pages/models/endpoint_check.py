"""The models a tenant works with, and a test of them. Not queries of the database: of endpoints."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from memoryhub.console.frame.text.wording import join_list
from memoryhub.engines.types import Embedder
from memoryhub.errors import EngineError
from memoryhub.inference.connections import (
    ConnectionSummary,
    ModelConnection,
    find_connection,
)
from memoryhub.inference.selection import PROBE_FILE_NAME
from memoryhub.tenants.models import Tenant

if TYPE_CHECKING:
    from memoryhub.engines.llm.client.probe import ModelCapabilities


_STATUS_PATTERN = re.compile(r"answered (\d{3})")
_REMEDIES = {
    "engine_not_configured": gettext_noop(
        "Enter an endpoint and a model below, or set OPENAI_BASE_URL and MEMORYHUB_LLM_MODEL."
    ),
    "unreachable": gettext_noop(
        "Is the server running, and can this machine reach it? Check the address."
    ),
    "timeout": gettext_noop(
        "It may still be loading its model: try again. Otherwise use a smaller model, "
        "or raise MEMORYHUB_MODEL_TIMEOUT_SECONDS."
    ),
    "rate_limited": gettext_noop("Wait a minute, then check the account's limits and credit."),
    "engine_failed": gettext_noop(
        "Something responds there, but not like OpenAI: does the address end in /v1?"
    ),
}
_KEY_REFUSED = (
    gettext_noop("The endpoint refused the hub's key"),
    gettext_noop("Enter a valid key. If it comes from the environment, update OPENAI_API_KEY."),
)
_SOURCES = {
    "tenant": gettext_noop("here, for this tenant only"),
    "hub": gettext_noop("by the operator, for the whole hub"),
    "environment": gettext_noop("by the operator, in the hub's environment"),
}
_UNKNOWN_MODEL = (
    gettext_noop("The endpoint doesn't know this model or address"),
    gettext_noop("Check the model's name, and that the address ends in /v1."),
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
    todo = _(_REMEDIES[code]) if code in _REMEDIES else _("No more is known than this message.")
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
        return _("an invalid address")
    return f"{parts.scheme}://{host}{port}{parts.path}" if host else ""


# Seconds: somebody looks at the page meanwhile.
MAX_PROBE_SECONDS = 20.0


def probe_tenant_model(tenant: Tenant) -> ModelProbe:
    """Of the connection that its questions take. Call without a scope."""
    try:
        return probe_language_model(find_connection(tenant))
    except EngineError as error:
        return ModelProbe(_("Language model"), describe_problem(error.message, error.code))


def probe_language_model(asked: ModelConnection) -> ModelProbe:
    """Up to nine small questions, of which the answers tell what it can do. What was found out is
    kept: the hub asks the way that works best from its next start on. Call without a scope."""
    from memoryhub.engines.llm.client.probe import (
        probe_model,
        save_capabilities,  # loads the SDK
    )

    url, key, model = asked.url, asked.key, asked.model
    timeout = min(MAX_PROBE_SECONDS, settings.MODEL_TIMEOUT_SECONDS)
    try:
        if not model:
            raise EngineError(_("No model is set"), code="engine_not_configured")
        found = probe_model(url, key, model, timeout=timeout)
    except EngineError as error:
        return ModelProbe(_("Language model"), describe_problem(error.message, error.code, key))
    told = {name: hide_key(why, key) for name, why in found.troubles.items()}
    save_capabilities(settings.DATA_DIR / PROBE_FILE_NAME, replace(found, troubles=told))
    wrong = None
    if not found.is_usable:
        wrong = describe_problem(_("It returned no usable JSON with any method tried"), "", key)
    return ModelProbe(_("Language model"), wrong, _describe_abilities(found, key))


def read_known_abilities(known: ConnectionSummary) -> list[tuple[str, str]]:
    """What the last test of this connection found out; empty without one."""
    from memoryhub.engines.llm.client.probe import read_capabilities  # loads the SDK

    if not (known.url and known.model):
        return []
    found = read_capabilities(settings.DATA_DIR / PROBE_FILE_NAME, known.url, known.model)
    return _describe_abilities(found, settings.OPENAI_API_KEY) if found else []


def _describe_abilities(found: ModelCapabilities, key: str) -> list[tuple[str, str]]:
    troubles = [
        (_("Tried %(way)s") % {"way": name}, hide_key(why, key))
        for name, why in found.troubles.items()
    ]
    return [
        (_("Short answer takes"), f"{found.milliseconds / 1000:.1f} s"),
        (_("JSON mode"), join_list(found.shapes) or _("none of the methods tried")),
        (_("Tool calls"), _("yes") if found.tools else _("no")),
        (_("Rejected options"), join_list(found.without) or _("none")),
        *troubles,
    ]


def probe_embedding_model(find: Callable[[], Embedder], key: str) -> ModelProbe:
    """One text is embedded. `key`: of its endpoint, to be hidden. Call without a scope."""
    try:
        made = find()
        started = time.perf_counter()
        (vector,) = made.embed([f"Tested at {time.time()}"])  # another text each time: none is kept
    except EngineError as error:
        return ModelProbe(_("Embedder"), describe_problem(error.message, error.code, key))
    took = (time.perf_counter() - started) * 1000
    figures = [(_("Embedder"), made.name), (_("Dimensions"), str(len(vector)))]
    return ModelProbe(
        _("Embedder"), None, [*figures, (_("Embedding one text takes"), f"{took:,.0f} ms")]
    )


def list_connection_parts(known: ConnectionSummary) -> list[tuple[str, str]]:
    """What is set, without secrets."""
    return [
        (_("Endpoint"), format_endpoint_address(known.url) if known.url else ""),
        (_("Its key"), _("set") if known.has_key else _("none")),
        (_("Language model"), known.model),
        (_("Configured"), _(_SOURCES[known.source])),
    ]


def list_embedder_parts(endpoint: str) -> list[tuple[str, str]]:
    """What makes vectors, as the operator set it in the environment. `endpoint`: where the one is
    asked that was chosen in the console."""
    asked = [(_("Endpoint"), format_endpoint_address(endpoint))] if endpoint else []
    reranker = _("off") if settings.RERANKER == "off" else settings.RERANKER
    return [
        *asked,
        (_("In the environment"), settings.EMBEDDER),
        (_("Embedding model"), settings.EMBEDDING_MODEL or _("built-in")),
        (_("Reranker"), f"{reranker} {settings.RERANKER_MODEL}".rstrip()),
    ]
