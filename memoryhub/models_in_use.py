"""Which engine reads a tenant's dialogue, and which embedder makes its vectors."""

from __future__ import annotations

from typing import cast

from django.conf import settings

from memoryhub.engines import registry
from memoryhub.engines.registry import EmbedderName, EngineSettings
from memoryhub.engines.types import Embedder, Engine


def engine_settings() -> EngineSettings:
    return EngineSettings(
        embedder=cast("EmbedderName", settings.EMBEDDER),
        embedding_model=settings.EMBEDDING_MODEL,
        embedding_dimension=settings.EMBEDDING_DIMENSION,
        openai_base_url=settings.OPENAI_BASE_URL,
        openai_api_key=settings.OPENAI_API_KEY,
        llm_model=settings.LLM_MODEL,
        threads=settings.MODEL_THREADS,
        timeout=settings.MODEL_TIMEOUT_SECONDS,
    )


def engine_named(name: str) -> Engine:
    return registry.get_engine(name, engine_settings())


def embedder() -> Embedder:
    return registry.get_embedder(engine_settings())
