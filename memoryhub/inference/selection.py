"""Which engine reads a tenant's dialogue, and which embedder makes its vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar, cast

import structlog
from django.conf import settings
from django.utils.translation import gettext as _

from memoryhub.engines import registry
from memoryhub.engines.registry import EmbedderName, EngineSettings, RerankerName
from memoryhub.engines.types import Embedder, Engine, Reranker
from memoryhub.errors import EngineError, InvalidInput
from memoryhub.inference.connections import (
    ModelConnection,
    find_connection,
    find_hub_connection,
    load_hub_models,
    open_sealed_key,
)
from memoryhub.inference.models import MAX_EMBEDDER_NAME_LENGTH, HubModels
from memoryhub.policies.schema import Policy
from memoryhub.policies.switches import PROXY_PURPOSE
from memoryhub.tenants.models import Space, Tenant

if TYPE_CHECKING:
    from memoryhub.engines.llm.client.relay import ChatRelay

log = structlog.get_logger()
T = TypeVar("T")
PROBE_FILE_NAME = "models.json"  # in the data folder


def build_engine_settings(connection: ModelConnection | None = None) -> EngineSettings:
    """With another way to a language model than the environment's. The embedder keeps to that one:
    vectors of another endpoint might be others under the same name."""
    told = _read_environment()
    if connection is None:
        return told
    url, key, model = connection.url, connection.key, connection.model
    return replace(told, openai_base_url=url, openai_api_key=key, llm_model=model)


def _read_environment() -> EngineSettings:
    return EngineSettings(
        embedder=cast("EmbedderName", settings.EMBEDDER),
        embedding_model=settings.EMBEDDING_MODEL,
        embedding_dimension=settings.EMBEDDING_DIMENSION,
        openai_base_url=settings.OPENAI_BASE_URL,
        openai_api_key=settings.OPENAI_API_KEY,
        llm_model=settings.LLM_MODEL,
        threads=settings.MODEL_THREADS,
        timeout=settings.MODEL_TIMEOUT_SECONDS,
        max_tokens=settings.LLM_MAX_TOKENS,
        probed=settings.DATA_DIR / PROBE_FILE_NAME,
        prompts=settings.PROMPTS,
        reranker=cast("RerankerName", settings.RERANKER),
        reranker_model=settings.RERANKER_MODEL,
        reranker_url=settings.RERANKER_URL,
        reranker_api_key=settings.RERANKER_API_KEY,
        reranker_timeout=settings.RERANKER_TIMEOUT_SECONDS,
    )


def select_engine(tenant: Tenant, policy: Policy) -> Engine:
    """The tenant's engine, with the models and prompts that the policy names for purposes."""
    models, prompts = _list_named_choices(policy.llm.model), _list_named_choices(policy.llm.prompt)
    asked = find_connection(tenant) if tenant.engine == Tenant.Engine.LLM else None
    told = replace(build_engine_settings(asked), llm_models=models, llm_prompts=prompts)
    return registry.get_engine(tenant.engine, told)


def _list_named_choices(by_purpose: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((purpose, name) for purpose, name in by_purpose.items() if name))


def get_named_engine(name: str) -> Engine:
    """The engine of this name, whatever a tenant or a policy says."""
    asked = find_hub_connection() if name == Tenant.Engine.LLM else None
    return registry.get_engine(name, build_engine_settings(asked))


def list_proxied_models(tenant: Tenant, policy: Policy) -> list[str]:
    """Names of the models that clients may ask through the hub; the first is asked unless they
    name another. Raises a permanent EngineError that says what to set where there is none.

    A tenant whose dialogue is read by rules is given those that the operator lists, and no others.
    """
    asked = find_connection(tenant)
    if not asked.url:
        message = _("No OpenAI-compatible endpoint is configured: set OPENAI_BASE_URL")
        raise EngineError(message, permanent=True, code="engine_not_configured")
    listed, own = settings.PROXY_MODELS, policy.llm.model.get(PROXY_PURPOSE, "")
    if tenant.engine == Tenant.Engine.LLM:
        listed = [own or asked.model, *listed]
    elif own in listed:
        listed = [own, *listed]
    names = list(dict.fromkeys(name for name in listed if name))
    if not names:
        message = _(
            "No model is configured for this tenant: set MEMORYHUB_LLM_MODEL and switch the "
            "tenant to the engine llm, or list models in MEMORYHUB_PROXY_MODELS"
        )
        raise EngineError(message, permanent=True, code="engine_not_configured")
    return names


def get_proxy_relay(tenant: Tenant) -> ChatRelay:
    """The way to the endpoint for what the tenant's clients ask through the hub."""
    from memoryhub.engines.llm.client.relay import get_relay  # loads the SDK

    asked = find_connection(tenant)
    return get_relay(asked.url, asked.key, settings.PROXY_TIMEOUT_SECONDS)


def get_reranker(*, packaged: bool = False) -> Reranker:
    """The hub's own, or the one that comes with it. Raises a permanent EngineError when none is
    set, or it cannot be made."""
    told = build_engine_settings()
    return registry.get_reranker(replace(told, reranker="packaged") if packaged else told)


def get_configured_embedder() -> Embedder:
    """The environment's. No statement. Raises a permanent EngineError when it can't be made."""
    return registry.get_embedder(build_engine_settings())


def get_current_embedder(chosen: HubModels | None = None) -> Embedder:
    """The one that new spaces use and others change over to: the operator's choice in the console,
    else the environment's. One statement and a scope's, unless `chosen` was read already. Raises a
    permanent EngineError."""
    chosen = chosen or load_hub_models()
    if not chosen.embedder:
        return get_configured_embedder()
    found = _find_without_endpoint(chosen.embedder) or _find_at_chosen_endpoint(chosen)
    if found is None:
        told = _("There is no embedder %(name)s here any more") % {"name": chosen.embedder}
        raise EngineError(told, permanent=True, code="engine_not_configured")
    return found


def find_embedder(model: str) -> Embedder | None:
    """The embedder whose vectors are named `model` ("": the one in use); None if it is gone.

    After another one was chosen, spaces are still searched by the old one's vectors until the new
    one's are complete (E17). A statement only where the environment and the package don't make it.
    Raises EngineError as `get_current_embedder` does.
    """
    if not model:
        return get_current_embedder()
    if found := _find_without_endpoint(model):
        return found
    chosen = load_hub_models()
    if chosen.embedder == model and chosen.embedder_endpoint:
        return _find_at_chosen_endpoint(chosen)
    return registry.find_embedder(model, build_engine_settings())


def _find_without_endpoint(model: str) -> Embedder | None:
    """The environment's or the packaged one, if that is its name."""
    configured = get_configured_embedder()
    if model == configured.name:
        return configured
    return registry.find_embedder(model, replace(build_engine_settings(), openai_base_url=""))


def _find_at_chosen_endpoint(chosen: HubModels) -> Embedder | None:
    key = open_sealed_key(chosen.embedder_endpoint, chosen.sealed_embedder_key)
    return _find_at_endpoint(chosen.embedder, chosen.embedder_endpoint, key)


def _find_at_endpoint(model: str, url: str, key: str) -> Embedder | None:
    told = replace(build_engine_settings(), openai_base_url=url, openai_api_key=key)
    return registry.find_embedder(model, told)


@dataclass(frozen=True, slots=True)
class EmbedderOffer:
    """An embedder that may be chosen, with the endpoint that it is asked at, if it needs one."""

    embedder: Embedder
    url: str = ""
    key: str = field(default="", repr=False)


def offer_embedder(name: str) -> EmbedderOffer:
    """The one whose vectors have this name: the environment's, the packaged one, or another model
    of the hub's endpoint as `model-dimension`. Raises InvalidInput and EngineError."""
    if found := _find_without_endpoint(name):
        return EmbedderOffer(found)
    asked = find_hub_connection()
    known = asked.url and len(name) <= MAX_EMBEDDER_NAME_LENGTH
    made = _find_at_endpoint(name, asked.url, asked.key) if known else None
    if made is None:
        told = _("no embedder here has this name: a model of the endpoint is model-dimension")
        raise InvalidInput(told, field="embedder")
    return EmbedderOffer(made, asked.url, asked.key)


def select_embedder(space: Space) -> Embedder:
    """The one by whose vectors the space is searched, for what is written to it.

    So that what is said while another one's vectors are made is found as ever (E17). Where it is
    gone, the one in use: what it embeds is found by its words until the space has changed over.
    """
    return find_embedder(space.embedding_model) or get_current_embedder()


def embed_or_none(embed: Callable[[], T]) -> T | None:
    """What `embed` makes of an embedder; None when it is down: what is written is kept, and what
    is asked is answered, by words alone then (E16, E18)."""
    try:
        return embed()
    except EngineError as error:
        log.warning("embedder.failed", error=str(error))
        return None


def list_known_embedders(current: str) -> list[str]:
    """Names of those that can be made without being named: the one in use, the environment's, the
    packaged one."""
    packaged = registry.get_embedder(EngineSettings()).name
    return list(dict.fromkeys(filter(None, [current, get_configured_embedder().name, packaged])))
