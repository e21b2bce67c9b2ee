"""Embeddings over HTTP: what is asked, what is refused, and what each failure means."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from memoryhub.engines.embedding.openai import BATCH_SIZE, OpenAIEmbedder
from memoryhub.errors import EngineError
from tests.support.openai_server import OpenAIServer, ScriptedReply, make_vector


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(dimension=8) as running:
        yield running


def make_embedder(server: OpenAIServer, **options: Any) -> OpenAIEmbedder:
    return OpenAIEmbedder(server.url, "secret", "tiny", **({"dimension": 8} | options))


def test_vectors_are_unit_rows_in_the_order_of_the_texts(server: OpenAIServer) -> None:
    rows = make_embedder(server).embed(["a", "b"])
    assert rows.dtype == np.float32
    for row, text in zip(rows, "ab", strict=True):
        expected = np.array(make_vector(text, 8))
        assert np.allclose(row, expected / np.linalg.norm(expected), atol=1e-6)


def test_the_request_names_model_key_and_dimension(server: OpenAIServer) -> None:
    make_embedder(server).embed(["a"])
    (request,) = server.requests
    assert request.authorization == "Bearer secret"
    assert request.body["model"] == "tiny"
    assert request.body["dimensions"] == 8


def test_many_texts_go_in_batches_and_none_in_no_request(server: OpenAIServer) -> None:
    assert make_embedder(server).embed([]).shape == (0, 8)
    assert make_embedder(server).embed(["x"] * (BATCH_SIZE + 1)).shape == (BATCH_SIZE + 1, 8)
    assert [len(request.body["input"]) for request in server.requests] == [BATCH_SIZE, 1]


@pytest.mark.parametrize("behaviour", [{"honours_dimensions": False}, {"refuses_dimensions": True}])
def test_longer_vectors_are_cut_and_renormalised(
    server: OpenAIServer, behaviour: dict[str, bool]
) -> None:
    for name, value in behaviour.items():
        setattr(server, name, value)
    server.dimension = 16
    expected = np.array(make_vector("a", 8))
    row = make_embedder(server).embed(["a"])[0]
    assert np.allclose(row, expected / np.linalg.norm(expected), atol=1e-6)


def test_an_endpoint_that_refused_dimensions_is_not_asked_again(server: OpenAIServer) -> None:
    server.refuses_dimensions, server.honours_dimensions = True, False
    one = make_embedder(server)
    one.embed(["a"])
    one.embed(["b"])
    assert ["dimensions" in request.body for request in server.requests] == [True, False, False]


def test_too_few_dimensions_is_permanent_and_names_the_setting(server: OpenAIServer) -> None:
    server.dimension, server.honours_dimensions = 4, False
    with pytest.raises(EngineError, match="MEMORYHUB_EMBEDDING_DIMENSION") as raised:
        make_embedder(server).embed(["a"])
    assert raised.value.permanent


@pytest.mark.parametrize(
    ("status", "permanent"),
    [(400, True), (401, True), (404, True), (429, False), (500, False), (503, False)],
)
def test_status_decides_whether_a_retry_can_help(
    server: OpenAIServer, status: int, permanent: bool
) -> None:
    server.script_embeddings(ScriptedReply(status=status), ScriptedReply(status=status))
    with pytest.raises(EngineError, match=str(status)) as raised:
        make_embedder(server).embed(["a"])
    assert raised.value.permanent is permanent


def test_a_slow_endpoint_times_out_and_may_be_retried(server: OpenAIServer) -> None:
    server.script_embeddings(ScriptedReply(delay=1.0))
    with pytest.raises(EngineError) as raised:
        make_embedder(server, timeout=0.1).embed(["a"])
    assert (raised.value.code, raised.value.permanent) == ("timeout", False)


def test_no_server_is_unreachable_and_may_be_retried() -> None:
    with pytest.raises(EngineError) as raised:
        OpenAIEmbedder("http://127.0.0.1:9/v1", "", "tiny", 8).embed(["a"])
    assert (raised.value.code, raised.value.permanent) == ("unreachable", False)


def _render_rows(*rows: Any) -> str:
    data = [{"object": "embedding", "index": i, "embedding": row} for i, row in enumerate(rows)]
    return json.dumps({"object": "list", "data": data, "model": "tiny"})


@pytest.mark.parametrize(
    "raw",
    [
        "<html>gateway</html>",
        "{}",
        "",
        _render_rows(),
        _render_rows([1.0] * 8, [1.0] * 8),
        _render_rows([float("nan")] * 8),
    ],
)
def test_an_unusable_reply_is_a_failure_not_a_vector(server: OpenAIServer, raw: str) -> None:
    server.script_embeddings(ScriptedReply(raw=raw))
    with pytest.raises(EngineError) as raised:
        make_embedder(server).embed(["a"])
    assert not raised.value.permanent


def test_empty_and_long_texts_are_made_sendable(server: OpenAIServer) -> None:
    make_embedder(server, max_tokens=10).embed(["  ", "word " * 100])
    empty, long = server.requests[0].body["input"]
    assert empty == "-"
    assert 5 <= len(long.split()) <= 10


def test_without_an_address_nothing_is_called() -> None:
    with pytest.raises(EngineError, match="OPENAI_BASE_URL"):
        OpenAIEmbedder("", "", "tiny", 8)


def test_vectors_of_different_sizes_have_different_names(server: OpenAIServer) -> None:
    assert make_embedder(server).name != make_embedder(server, dimension=4).name
