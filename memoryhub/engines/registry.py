"""Which engine and embedder the settings name: made once per process, on first use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Generic, Literal, NoReturn, TypeVar

from memoryhub.engines.embedding.remembering import RememberingEmbedder
from memoryhub.engines.types import Embedder, Engine
from memoryhub.errors import EngineError

EmbedderName = Literal["onnx", "sentence-transformers", "openai"]
EngineName = Literal["local", "llm"]
Kind = Literal["embedder", "engine"]
EMBEDDERS: tuple[EmbedderName, ...] = ("onnx", "sentence-transformers", "openai")
ENGINES: tuple[EngineName, ...] = ("local", "llm")

Made = TypeVar("Made", covariant=True)

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
    # (purpose, model) of those that ask another model than `llm_model`.
    llm_models: tuple[tuple[str, str], ...] = ()
    # An operator's own prompts, and (purpose, name) of those that are asked by one.
    prompts: Path | None = None
    llm_prompts: tuple[tuple[str, str], ...] = ()
    # Where a probe of models left what it found out.
    probed: Path | None = None


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether a part can be made from the settings; `reason` says what is missing."""

    kind: Kind
    name: str
    ready: bool
    reason: str = ""


def get_embedder(settings: EngineSettings) -> Embedder:
    """The embedder of these settings. Raises a permanent EngineError when it cannot be made."""
    with _LOCK:
        return _embedder(settings)


def embedder_named(name: str, settings: EngineSettings) -> Embedder | None:
    """An embedder other than the configured one, by the name its vectors carry.

    The packaged one is always there, and another model of the configured endpoint may be.
    """
    for other in _others(name, settings):
        try:
            made = get_embedder(other)
        except EngineError:
            continue
        if made.name == name:
            return made
    return None


def _others(name: str, settings: EngineSettings) -> list[EngineSettings]:
    packaged = replace(settings, embedder="onnx", embedding_model="", embedding_dimension=None)
    model, _, dimension = name.rpartition("-")
    if not (model and dimension.isdigit() and settings.openai_base_url):
        return [packaged]
    served = replace(settings, embedder="openai", embedding_model=model)
    return [packaged, replace(served, embedding_dimension=int(dimension))]


def get_engine(name: str, settings: EngineSettings) -> Engine:
    """The engine of this name. Raises a permanent EngineError when it cannot be made."""
    with _LOCK:
        return _engine(name, settings)


def available(settings: EngineSettings) -> list[Availability]:
    """What could be made from the settings and what is missing for the rest; loads nothing."""
    embedders = [_availability("embedder", name, settings) for name in EMBEDDERS]
    return embedders + [_availability("engine", name, settings) for name in ENGINES]


def _availability(kind: Kind, name: str, settings: EngineSettings) -> Availability:
    check = (_EMBEDDERS if kind == "embedder" else _ENGINES)[name].check
    try:
        check(settings)
    except EngineError as error:
        return Availability(kind, name, ready=False, reason=error.message)
    return Availability(kind, name, ready=True)


@cache
def _embedder(settings: EngineSettings) -> Embedder:
    maker = _EMBEDDERS.get(settings.embedder, _unknown(settings.embedder, EMBEDDERS))
    return RememberingEmbedder(maker.made(settings))


@cache
def _engine(name: str, settings: EngineSettings) -> Engine:
    return _ENGINES.get(name, _unknown(name, ENGINES)).made(settings)


@dataclass(frozen=True, slots=True)
class _Maker(Generic[Made]):
    """`check` raises what is missing; `make` imports its library, heavy and needed by few."""

    check: Callable[[EngineSettings], None]
    make: Callable[[EngineSettings], Made]

    def made(self, settings: EngineSettings) -> Made:
        self.check(settings)
        return self.make(settings)


def _unknown(name: str, known: Sequence[str]) -> _Maker[NoReturn]:
    def refuse(settings: EngineSettings) -> NoReturn:
        raise EngineError(f"There is no {name!r}; known: {', '.join(known)}", permanent=True)

    return _Maker(refuse, refuse)


def _check_onnx(settings: EngineSettings) -> None:
    from memoryhub.engines.embedding.packaged import MINILM_MODEL, MINILM_TOKENIZER

    MINILM_MODEL.locate()
    MINILM_TOKENIZER.locate()


def _make_onnx(settings: EngineSettings) -> Embedder:
    from memoryhub.engines.embedding.onnx import OnnxMiniLM

    return OnnxMiniLM(threads=settings.threads)


def _check_sentence_transformers(settings: EngineSettings) -> None:
    from memoryhub.engines.embedding.sentence_transformers import require_extra

    require_extra()


def _make_sentence_transformers(settings: EngineSettings) -> Embedder:
    from memoryhub.engines.embedding.sentence_transformers import SentenceTransformerEmbedder

    return SentenceTransformerEmbedder(
        settings.embedding_model, settings.embedding_dimension or None
    )


def _check_openai(settings: EngineSettings) -> None:
    _require(settings.openai_base_url, "OPENAI_BASE_URL")
    _require(settings.embedding_model, "MEMORYHUB_EMBEDDING_MODEL")
    _require(settings.embedding_dimension, "MEMORYHUB_EMBEDDING_DIMENSION")


def _make_openai(settings: EngineSettings) -> Embedder:
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


def _make_local(settings: EngineSettings) -> Engine:
    from memoryhub.engines.local.engine import LocalEngine

    return LocalEngine()


def _check_llm(settings: EngineSettings) -> None:
    _require(settings.openai_base_url, "OPENAI_BASE_URL")
    _require(settings.llm_model, "MEMORYHUB_LLM_MODEL")


def _make_llm(settings: EngineSettings) -> Engine:
    from memoryhub.engines.llm.engine import LLMEngine
    from memoryhub.engines.llm.own_prompts import Prompts

    return LLMEngine.connected(
        settings.openai_base_url,
        settings.openai_api_key,
        settings.llm_model,
        timeout=settings.timeout,
        models=dict(settings.llm_models),
        probed=settings.probed,
        prompts=Prompts(settings.prompts, dict(settings.llm_prompts)),
    )


def _require(value: object, setting: str) -> None:
    if not value:
        raise EngineError(f"{setting} is not set", permanent=True, code="engine_not_configured")


_EMBEDDERS: dict[str, _Maker[Embedder]] = {
    "onnx": _Maker(_check_onnx, _make_onnx),
    "sentence-transformers": _Maker(_check_sentence_transformers, _make_sentence_transformers),
    "openai": _Maker(_check_openai, _make_openai),
}
_ENGINES: dict[str, _Maker[Engine]] = {
    "local": _Maker(_check_local, _make_local),
    "llm": _Maker(_check_llm, _make_llm),
}
