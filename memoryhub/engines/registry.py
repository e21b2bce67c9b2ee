"""Which engine and embedder the settings name: made once per process, on first use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Generic, Literal, NoReturn, TypeVar

from memoryhub.engines.embedding.cache import CachedEmbedder
from memoryhub.engines.types import Embedder, Engine
from memoryhub.errors import EngineError

EmbedderName = Literal["onnx", "sentence-transformers", "openai"]
EngineName = Literal["local", "llm"]
EMBEDDER_NAMES: tuple[EmbedderName, ...] = ("onnx", "sentence-transformers", "openai")
ENGINE_NAMES: tuple[EngineName, ...] = ("local", "llm")

PartT = TypeVar("PartT", covariant=True)

_LOCK = Lock()


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


def get_embedder(settings: EngineSettings) -> Embedder:
    """The embedder of these settings. Raises a permanent EngineError when it cannot be made."""
    with _LOCK:
        return _build_embedder(settings)


def find_embedder(name: str, settings: EngineSettings) -> Embedder | None:
    """An embedder other than the configured one, by the name its vectors carry.

    The packaged one is always there, and another model of the configured endpoint may be.
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
    packaged = replace(settings, embedder="onnx", embedding_model="", embedding_dimension=None)
    model, _, dimension = name.rpartition("-")
    if not (model and dimension.isdigit() and settings.openai_base_url):
        return [packaged]
    served = replace(settings, embedder="openai", embedding_model=model)
    return [packaged, replace(served, embedding_dimension=int(dimension))]


def get_engine(name: str, settings: EngineSettings) -> Engine:
    """The engine of this name. Raises a permanent EngineError when it cannot be made."""
    with _LOCK:
        return _build_engine(name, settings)


@cache
def _build_embedder(settings: EngineSettings) -> Embedder:
    maker = _EMBEDDER_FACTORIES.get(
        settings.embedder, _build_refusing_factory(settings.embedder, EMBEDDER_NAMES)
    )
    return CachedEmbedder(maker.build_part(settings))


@cache
def _build_engine(name: str, settings: EngineSettings) -> Engine:
    return _ENGINE_FACTORIES.get(name, _build_refusing_factory(name, ENGINE_NAMES)).build_part(
        settings
    )


@dataclass(frozen=True, slots=True)
class _PartFactory(Generic[PartT]):
    """`check` raises what is missing; `make` imports its library, heavy and needed by few."""

    check: Callable[[EngineSettings], None]
    make: Callable[[EngineSettings], PartT]

    def build_part(self, settings: EngineSettings) -> PartT:
        self.check(settings)
        return self.make(settings)


def _build_refusing_factory(name: str, known: Sequence[str]) -> _PartFactory[NoReturn]:
    def refuse(settings: EngineSettings) -> NoReturn:
        raise EngineError(f"There is no {name!r}; known: {', '.join(known)}", permanent=True)

    return _PartFactory(refuse, refuse)


def _check_onnx(settings: EngineSettings) -> None:
    from memoryhub.engines.embedding.model_files import MINILM_MODEL, MINILM_TOKENIZER

    MINILM_MODEL.locate()
    MINILM_TOKENIZER.locate()


def _build_onnx(settings: EngineSettings) -> Embedder:
    from memoryhub.engines.embedding.onnx import OnnxMiniLM

    return OnnxMiniLM(threads=settings.threads)


def _check_sentence_transformers(settings: EngineSettings) -> None:
    from memoryhub.engines.embedding.sentence_transformers import check_extra_installed

    check_extra_installed()


def _build_sentence_transformers(settings: EngineSettings) -> Embedder:
    from memoryhub.engines.embedding.sentence_transformers import SentenceTransformerEmbedder

    return SentenceTransformerEmbedder(
        settings.embedding_model, settings.embedding_dimension or None
    )


def _check_openai(settings: EngineSettings) -> None:
    _check_setting(settings.openai_base_url, "OPENAI_BASE_URL")
    _check_setting(settings.embedding_model, "MEMORYHUB_EMBEDDING_MODEL")
    _check_setting(settings.embedding_dimension, "MEMORYHUB_EMBEDDING_DIMENSION")


def _build_openai(settings: EngineSettings) -> Embedder:
    from memoryhub.engines.embedding.openai import OpenAIEmbedder

    return OpenAIEmbedder(
        settings.openai_base_url,
        settings.openai_api_key,
        settings.embedding_model,
        settings.embedding_dimension or 0,
        timeout=settings.timeout,
    )


def _check_local(settings: EngineSettings) -> None:
    """Always there: its libraries are the hub's own dependencies."""


def _build_local(settings: EngineSettings) -> Engine:
    from memoryhub.engines.local.engine import LocalEngine

    return LocalEngine()


def _check_llm(settings: EngineSettings) -> None:
    _check_setting(settings.openai_base_url, "OPENAI_BASE_URL")
    _check_setting(settings.llm_model, "MEMORYHUB_LLM_MODEL")


def _build_llm(settings: EngineSettings) -> Engine:
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


def _check_setting(value: object, setting: str) -> None:
    if not value:
        raise EngineError(f"{setting} is not set", permanent=True, code="engine_not_configured")


_EMBEDDER_FACTORIES: dict[str, _PartFactory[Embedder]] = {
    "onnx": _PartFactory(_check_onnx, _build_onnx),
    "sentence-transformers": _PartFactory(
        _check_sentence_transformers, _build_sentence_transformers
    ),
    "openai": _PartFactory(_check_openai, _build_openai),
}
_ENGINE_FACTORIES: dict[str, _PartFactory[Engine]] = {
    "local": _PartFactory(_check_local, _build_local),
    "llm": _PartFactory(_check_llm, _build_llm),
}
