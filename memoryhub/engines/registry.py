"""Which engine and embedder the settings name: made once per process, on first use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Literal, TypeVar, get_args

from memoryhub.engines.embedding.cache import CachedEmbedder
from memoryhub.engines.types import Embedder, Engine, Reranker
from memoryhub.errors import EngineError

if TYPE_CHECKING:
    from memoryhub.engines.embedding.onnx import OnnxMiniLM

EmbedderName = Literal["onnx", "minilm", "sentence-transformers", "openai"]
EngineName = Literal["local", "llm"]
RerankerName = Literal["off", "packaged", "cross-encoder", "endpoint"]
EMBEDDER_NAMES: tuple[EmbedderName, ...] = get_args(EmbedderName)
ENGINE_NAMES: tuple[EngineName, ...] = get_args(EngineName)
RERANKER_NAMES: tuple[RerankerName, ...] = get_args(RerankerName)

PartT = TypeVar("PartT")
_LOCK = Lock()
# Apart: a cross-encoder takes seconds to load, and nobody else should wait for it.
_RERANKER_LOCK = Lock()


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """What engines need to know. `timeout` is in seconds, `threads` per embedder."""

    embedder: EmbedderName = "onnx"
    embedding_model: str = ""
    embedding_dimension: int | None = None
    openai_base_url: str = ""
    openai_api_key: str = field(default="", repr=False)
    llm_model: str = ""
    threads: int = 1
    timeout: float = 120.0
    max_tokens: int = 4000  # of a reply
    # (purpose, model) of those that ask another model than `llm_model`.
    llm_models: tuple[tuple[str, str], ...] = ()
    # An operator's own prompts, and (purpose, name) of those that are asked by one.
    prompts: Path | None = None
    llm_prompts: tuple[tuple[str, str], ...] = ()
    # Where a probe of models left what it found out.
    probed: Path | None = None
    reranker: RerankerName = "off"
    reranker_model: str = ""
    reranker_url: str = ""
    reranker_api_key: str = field(default="", repr=False)
    reranker_timeout: float = 5.0


def get_embedder(settings: EngineSettings) -> Embedder:
    """The embedder of these settings. Raises a permanent EngineError when it cannot be made."""
    with _LOCK:
        return _build_embedder(settings)


def find_embedder(name: str, settings: EngineSettings) -> Embedder | None:
    """An embedder other than the configured one, by the name its vectors carry.

    The packaged ones are always there, and another model of the configured endpoint may be.
    """
    for other in _list_candidate_settings(name, settings):
        try:
            made = get_embedder(other)
        except EngineError:
            continue
        if made.name == name:
            return made
    return None


def _list_candidate_settings(name: str, settings: EngineSettings) -> list[EngineSettings]:
    without = replace(settings, embedding_model="", embedding_dimension=None)
    packaged = [replace(without, embedder="onnx"), replace(without, embedder="minilm")]
    model, _, dimension = name.rpartition("-")
    if not (model and dimension.isdigit() and settings.openai_base_url):
        return packaged
    served = replace(settings, embedder="openai", embedding_model=model)
    return [*packaged, replace(served, embedding_dimension=int(dimension))]


def get_engine(name: str, settings: EngineSettings) -> Engine:
    """The engine of this name. Raises a permanent EngineError when it cannot be made."""
    with _LOCK:
        return _build_engine(name, settings)


def get_reranker(settings: EngineSettings) -> Reranker:
    """The reranker of these settings. Raises a permanent EngineError when it cannot be made, or
    none is set."""
    _check_setting(settings.reranker != "off", "MEMORYHUB_RERANKER")
    with _RERANKER_LOCK:
        return _build_reranker(settings)


@cache
def _build_embedder(settings: EngineSettings) -> Embedder:
    return CachedEmbedder(_choose_maker(_EMBEDDER_MAKERS, settings.embedder)(settings))


@cache
def _build_engine(name: str, settings: EngineSettings) -> Engine:
    return _choose_maker(_ENGINE_MAKERS, name)(settings)


@cache
def _build_reranker(settings: EngineSettings) -> Reranker:
    return _choose_maker(_RERANKER_MAKERS, settings.reranker)(settings)


def _choose_maker(known: Mapping[str, PartT], name: str) -> PartT:
    if name not in known:
        raise EngineError(f"There is no {name!r}; known: {', '.join(known)}", permanent=True)
    return known[name]


# Each asks for what it needs before it imports its library, heavy and needed by few.


def _build_packaged(settings: EngineSettings) -> Embedder:
    _build_minilm(settings)  # its files are there
    from memoryhub.engines.embedding.packaged import get_packaged_embedder

    return get_packaged_embedder(settings.threads)


def _build_minilm(settings: EngineSettings) -> OnnxMiniLM:
    from memoryhub.engines.embedding.model_files import MINILM_MODEL, MINILM_TOKENIZER

    MINILM_MODEL.locate()
    MINILM_TOKENIZER.locate()
    from memoryhub.engines.embedding.onnx import get_onnx_minilm

    return get_onnx_minilm(settings.threads)


def _build_sentence_transformers(settings: EngineSettings) -> Embedder:
    from memoryhub.engines.embedding import sentence_transformers as extra

    extra.check_extra_installed()
    dimension = settings.embedding_dimension or None
    return extra.SentenceTransformerEmbedder(settings.embedding_model, dimension)


def _build_openai(settings: EngineSettings) -> Embedder:
    _check_setting(settings.openai_base_url, "OPENAI_BASE_URL")
    _check_setting(settings.embedding_model, "MEMORYHUB_EMBEDDING_MODEL")
    _check_setting(settings.embedding_dimension, "MEMORYHUB_EMBEDDING_DIMENSION")
    from memoryhub.engines.embedding.openai import OpenAIEmbedder

    return OpenAIEmbedder(
        settings.openai_base_url,
        settings.openai_api_key,
        settings.embedding_model,
        settings.embedding_dimension or 0,
        timeout=settings.timeout,
    )


def _build_local(settings: EngineSettings) -> Engine:
    from memoryhub.engines.local.engine import LocalEngine

    return LocalEngine()


def _build_llm(settings: EngineSettings) -> Engine:
    _check_setting(settings.openai_base_url, "OPENAI_BASE_URL")
    _check_setting(settings.llm_model, "MEMORYHUB_LLM_MODEL")
    from memoryhub.engines.llm.engine import LLMEngine
    from memoryhub.engines.llm.own_prompts import PromptSet

    return LLMEngine.connect(
        settings.openai_base_url,
        settings.openai_api_key,
        settings.llm_model,
        timeout=settings.timeout,
        max_tokens=settings.max_tokens,
        models=dict(settings.llm_models),
        probed=settings.probed,
        prompts=PromptSet(settings.prompts, dict(settings.llm_prompts)),
    )


def _build_packaged_reranker(settings: EngineSettings) -> Reranker:
    from memoryhub.engines.reranking.packaged import get_packaged_reranker

    return get_packaged_reranker(settings.threads)


def _build_cross_encoder(settings: EngineSettings) -> Reranker:
    _check_setting(settings.reranker_model, "MEMORYHUB_RERANKER_MODEL")
    from memoryhub.engines.reranking.cross_encoder import CrossEncoderReranker

    return CrossEncoderReranker(settings.reranker_model, timeout=settings.reranker_timeout)


def _build_endpoint_reranker(settings: EngineSettings) -> Reranker:
    _check_setting(settings.reranker_url, "MEMORYHUB_RERANKER_URL")
    from memoryhub.engines.reranking.endpoint import EndpointReranker

    return EndpointReranker(
        settings.reranker_url,
        settings.reranker_api_key,
        settings.reranker_model,
        timeout=settings.reranker_timeout,
    )


def _check_setting(value: object, setting: str) -> None:
    if not value:
        raise EngineError(f"{setting} is not set", permanent=True, code="engine_not_configured")


_EMBEDDER_MAKERS: dict[str, Callable[[EngineSettings], Embedder]] = {
    "onnx": _build_packaged,
    "minilm": _build_minilm,
    "sentence-transformers": _build_sentence_transformers,
    "openai": _build_openai,
}
_ENGINE_MAKERS: dict[str, Callable[[EngineSettings], Engine]] = {
    "local": _build_local,
    "llm": _build_llm,
}
_RERANKER_MAKERS: dict[str, Callable[[EngineSettings], Reranker]] = {
    "packaged": _build_packaged_reranker,
    "cross-encoder": _build_cross_encoder,
    "endpoint": _build_endpoint_reranker,
}
