"""Reranking over HTTP: both shapes of the protocol, and what each failure means."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from memoryhub.engines.ledger import CallRecord, use_ledger
from memoryhub.engines.reranking.endpoint import EndpointReranker
from memoryhub.errors import EngineError
from tests.support.openai_server import OpenAIServer, ScriptedReply

TEXTS = ["The ferry leaves at noon", "The dough rises", "When does the ferry leave"]
ASKED = "when does the ferry leave"


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running


def make_reranker(server: OpenAIServer, **options: Any) -> EndpointReranker:
    return EndpointReranker(server.url, "secret", "tiny-rerank", **options)


class NotingLedger:
    """Keeps the calls it is told of, and allows them all."""

    def __init__(self) -> None:
        self.calls: list[CallRecord] = []

    def check_allowed(self, purpose: str, model: str) -> None: ...

    def record_call(self, call: CallRecord) -> None:
        self.calls.append(call)

    def count_rejected_items(self, purpose: str, count: int) -> None: ...


def test_scores_come_in_the_order_of_the_texts(server: OpenAIServer) -> None:
    assert make_reranker(server).score_texts(ASKED, TEXTS) == [2.0, 1.0, 5.0]
    (request,) = server.requests
    assert request.path.endswith("/v1/rerank")
    assert request.authorization == "Bearer secret"
    assert request.body == {"model": "tiny-rerank", "query": ASKED, "documents": TEXTS}


def test_an_endpoint_that_wants_texts_is_asked_its_way_from_then_on(server: OpenAIServer) -> None:
    server.reranks_as_tei = True
    reranker = make_reranker(server)
    assert reranker.score_texts(ASKED, TEXTS) == [2.0, 1.0, 5.0]
    assert reranker.score_texts(ASKED, TEXTS * 20) == [2.0, 1.0, 5.0] * 20
    asked = [len(request.body.get("texts", ())) for request in server.requests]
    assert asked == [0, 3, 32, 28]


def test_the_call_and_its_tokens_are_accounted_for(server: OpenAIServer) -> None:
    ledger = NotingLedger()
    with use_ledger(ledger):
        make_reranker(server).score_texts(ASKED, TEXTS)
    (call,) = ledger.calls
    assert (call.purpose, call.model, call.status) == ("rerank", "tiny-rerank", "ok")
    assert (call.attempts, call.prompt_tokens) == (1, 7)
    assert "ferry" in call.messages[0]["content"]


@pytest.mark.parametrize(
    "told",
    [
        {"meta": {"tokens": {"input_tokens": 9}}},
        {"meta": {"billed_units": {"input_tokens": 9}}},
        {"usage": {"total_tokens": 9}},
    ],
)
def test_tokens_are_read_wherever_they_are_told(server: OpenAIServer, told: dict[str, Any]) -> None:
    reply = {"results": [{"index": 0, "relevance_score": 0.5}], **told}
    server.script_rerank(ScriptedReply(raw=json.dumps(reply)))
    ledger = NotingLedger()
    with use_ledger(ledger):
        assert make_reranker(server).score_texts(ASKED, ["one"]) == [0.5]
    assert ledger.calls[0].prompt_tokens == 9


def test_a_slow_endpoint_is_given_up(server: OpenAIServer) -> None:
    server.script_rerank(ScriptedReply(delay=1.0))
    with pytest.raises(EngineError) as raised:
        make_reranker(server, timeout=0.1).score_texts(ASKED, TEXTS)
    assert raised.value.code == "timeout"


@pytest.mark.parametrize(("status", "permanent"), [(400, True), (401, True), (500, False)])
def test_a_refusal_says_whether_a_retry_can_help(
    server: OpenAIServer, status: int, permanent: bool
) -> None:
    server.script_rerank(ScriptedReply(status=status))
    ledger = NotingLedger()
    with use_ledger(ledger), pytest.raises(EngineError, match=str(status)) as raised:
        make_reranker(server).score_texts(ASKED, TEXTS)
    assert raised.value.permanent is permanent
    assert ledger.calls[0].status == "failed"


def _render_results(*rows: tuple[Any, Any]) -> str:
    return json.dumps({"results": [{"index": at, "relevance_score": s} for at, s in rows]})


@pytest.mark.parametrize(
    "raw",
    [
        "<html>gateway</html>",
        "{}",
        "",
        "[3, 1]",
        _render_results((0, 1.0)),
        _render_results((0, 1.0), (1, 0.5), (3, 0.2)),
        _render_results((0, 1.0), (1, 0.5), (1, 0.2)),
        _render_results((0, 1.0), (1, None), (2, 0.2)),
        _render_results((0, float("nan")), (1, 0.5), (2, 0.2)),
    ],
    ids=["page", "empty object", "nothing", "numbers", "short", "beyond", "twice", "null", "nan"],
)
def test_an_unusable_reply_is_a_failure_and_no_order(server: OpenAIServer, raw: str) -> None:
    server.script_rerank(ScriptedReply(raw=raw))
    with pytest.raises(EngineError) as raised:
        make_reranker(server).score_texts(ASKED, TEXTS)
    assert not raised.value.permanent


def test_no_texts_are_no_request(server: OpenAIServer) -> None:
    assert make_reranker(server).score_texts(ASKED, []) == []
    assert server.requests == []
