"""The models a tenant works with, and a test of them. Not queries of the database: of endpoints."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils.translation import gettext as _

from memoryhub.console.frame.text.wording import join_list
from memoryhub.console.pages.models.endpoint_errors import (
    ModelProbe,
    describe_problem,
    format_endpoint_address,
    hide_key,
)
from memoryhub.errors import EngineError
from memoryhub.inference.selection import PROBE_FILE_NAME, get_current_embedder

if TYPE_CHECKING:
    from memoryhub.engines.llm.client.probe import ModelCapabilities

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
    ]
