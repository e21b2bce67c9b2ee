"""The models a tenant works with, and a test of them. Not queries of the database: of endpoints."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils.translation import gettext as _

from memoryhub.console.connecting import Tested, shown_address, trouble, without
from memoryhub.console.wording import listed
from memoryhub.errors import EngineError
from memoryhub.models_in_use import PROBED, embedder

if TYPE_CHECKING:
    from memoryhub.engines.llm.probing import Capabilities

# Seconds: somebody looks at the page meanwhile.
PATIENCE = 20.0


def language_model() -> Tested:
    """Up to nine small questions, of which the answers tell what it can do. What was found out is
    kept: the hub asks the way that works best from its next start on. Call without a scope."""
    from memoryhub.engines.llm.probing import probe, remember  # loads the SDK

    url, key, model = settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY, settings.LLM_MODEL
    timeout = min(PATIENCE, settings.MODEL_TIMEOUT_SECONDS)
    try:
        if not model:
            raise EngineError(_("No model is named"), code="engine_not_configured")
        found = probe(url, key, model, timeout=timeout)
    except EngineError as error:
        return Tested(_("Language model"), trouble(error.message, error.code, key))
    remember(settings.DATA_DIR / PROBED, found)
    wrong = None
    if not found.usable:
        wrong = trouble(_("It gave no usable JSON in any way that was tried"), "", key)
    return Tested(_("Language model"), wrong, _abilities(found))


def known_language_model() -> list[tuple[str, str]]:
    """What the last test found out; empty without one."""
    from memoryhub.engines.llm.probing import remembered  # loads the SDK

    if not (settings.OPENAI_BASE_URL and settings.LLM_MODEL):
        return []
    file = settings.DATA_DIR / PROBED
    found = remembered(file, settings.OPENAI_BASE_URL, settings.LLM_MODEL)
    return _abilities(found) if found else []


def _abilities(found: Capabilities) -> list[tuple[str, str]]:
    key = settings.OPENAI_API_KEY
    troubles = [
        (_("Tried %(way)s") % {"way": name}, without(why, key))
        for name, why in found.troubles.items()
    ]
    return [
        (_("A small answer takes"), f"{found.milliseconds / 1000:.1f} s"),
        (_("Answers in JSON by"), listed(found.shapes) or _("no way that was tried")),
        (_("Calls tools"), _("yes") if found.tools else _("no")),
        (_("Refuses options"), listed(found.without) or _("none")),
        *troubles,
    ]


def embedding_model() -> Tested:
    """One text is embedded. Call without a scope."""
    try:
        made = embedder()
        started = time.perf_counter()
        (vector,) = made.embed([f"Tested at {time.time()}"])  # another text each time: none is kept
    except EngineError as error:
        wrong = trouble(error.message, error.code, settings.OPENAI_API_KEY)
        return Tested(_("Embedder"), wrong)
    took = (time.perf_counter() - started) * 1000
    figures = [(_("Embedder"), made.name), (_("Dimensions"), str(len(vector)))]
    return Tested(_("Embedder"), None, [*figures, (_("A text takes"), f"{took:,.0f} ms")])


def configured() -> list[tuple[str, str]]:
    """What the operator set, without secrets."""
    url = settings.OPENAI_BASE_URL
    return [
        (_("Endpoint"), shown_address(url) if url else ""),
        (_("Its key"), _("set") if settings.OPENAI_API_KEY else _("none")),
        (_("Language model"), settings.LLM_MODEL),
        (_("Embedder"), settings.EMBEDDER),
        (_("Embedding model"), settings.EMBEDDING_MODEL or _("the packaged one")),
    ]
