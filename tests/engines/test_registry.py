"""Choosing engines by settings: one of each per process, and plain words when one is missing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from memoryhub.engines.embedding import sentence_transformers
from memoryhub.engines.registry import EngineSettings, get_embedder, get_engine, get_reranker
from memoryhub.errors import EngineError

REMOTE = EngineSettings(
    embedder="openai",
    embedding_model="tiny",
    embedding_dimension=8,
    openai_base_url="http://127.0.0.1:9/v1",
    openai_api_key="hush",
    llm_model="small",
)


def test_the_default_is_the_packaged_model() -> None:
    embedder = get_embedder(EngineSettings())
    assert (embedder.name, embedder.dimension) == ("minilm-l6-v2-int8+zh1", 384)


def test_the_same_settings_give_the_same_object_in_every_thread() -> None:
    settings = EngineSettings(timeout=61)
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: get_embedder(settings), range(16)))
    assert len({id(each) for each in made}) == 1
    assert get_embedder(EngineSettings(timeout=62)) is not made[0]


def test_an_endpoint_is_used_when_the_settings_name_it() -> None:
    assert get_embedder(REMOTE).dimension == 8
    assert get_engine("llm", REMOTE).name == "llm"


@pytest.mark.parametrize(
    ("settings", "missing"),
    [
        (EngineSettings(embedder="openai"), "OPENAI_BASE_URL"),
        (
            EngineSettings(embedder="openai", openai_base_url="http://x"),
            "MEMORYHUB_EMBEDDING_MODEL",
        ),
        (
            EngineSettings(embedder="openai", openai_base_url="http://x", embedding_model="m"),
            "MEMORYHUB_EMBEDDING_DIMENSION",
        ),
    ],
)
def test_a_half_configured_embedder_names_the_missing_setting(
    settings: EngineSettings, missing: str
) -> None:
    with pytest.raises(EngineError, match=missing) as raised:
        get_embedder(settings)
    assert raised.value.permanent


def test_an_llm_without_a_model_names_the_missing_setting() -> None:
    with pytest.raises(EngineError, match="MEMORYHUB_LLM_MODEL"):
        get_engine("llm", EngineSettings(openai_base_url="http://x"))


def test_an_unknown_engine_lists_the_known_ones() -> None:
    with pytest.raises(EngineError, match="known: local, llm"):
        get_engine("oracle", EngineSettings())


def test_a_missing_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentence_transformers, "find_spec", lambda name: None)
    with pytest.raises(EngineError, match=r"requirements/sentence-transformers\.txt") as raised:
        get_embedder(EngineSettings(embedder="sentence-transformers"))
    assert raised.value.code == "extra_missing"


def test_what_no_setting_names_says_which_is_missing() -> None:
    assert get_engine("local", EngineSettings()).name == "local"
    with pytest.raises(EngineError, match="OPENAI_BASE_URL is not set"):
        get_engine("llm", EngineSettings())


@pytest.mark.parametrize(
    ("settings", "missing"),
    [
        (EngineSettings(), "MEMORYHUB_RERANKER"),
        (EngineSettings(reranker="endpoint"), "MEMORYHUB_RERANKER_URL"),
        (EngineSettings(reranker="cross-encoder"), "MEMORYHUB_RERANKER_MODEL"),
    ],
)
def test_a_reranker_that_is_not_set_names_what_is_missing(
    settings: EngineSettings, missing: str
) -> None:
    with pytest.raises(EngineError, match=f"{missing} is not set") as raised:
        get_reranker(settings)
    assert raised.value.permanent


def test_the_key_is_not_shown_with_the_settings() -> None:
    assert "hush" not in repr(REMOTE)
    assert "hush" not in repr(EngineSettings(reranker_api_key="hush"))
