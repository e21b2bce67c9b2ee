"""A reranker behind HTTP: `/rerank` as Cohere, Jina and vLLM have it, or as TEI has it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import openai
from pydantic import AliasChoices, BaseModel, Field

from memoryhub.engines.ledger import CallRecord
from memoryhub.engines.llm.client.endpoint import build_client, translate_errors
from memoryhub.engines.llm.client.ladder import account_for_call
from memoryhub.errors import EngineError

_PATH = "/rerank"
# What TEI takes in one request unless it is told otherwise. Others are sent all at once: some
# charge by the request.
_TEI_BATCH_SIZE = 32
# Where tokens are told, if they are.
_TOKEN_PLACES = (
    ("usage", "total_tokens"),
    ("meta", "tokens", "input_tokens"),
    ("meta", "billed_units", "input_tokens"),
)


class _ScoredText(BaseModel):
    """The text at `index` of those sent."""

    index: int
    score: Annotated[float, Field(allow_inf_nan=False)] = Field(
        validation_alias=AliasChoices("relevance_score", "score")
    )


class EndpointReranker:
    """A Reranker over HTTP. Remembers whether the endpoint wants its texts as TEI does."""

    tells_odds = False

    def __init__(self, base_url: str, api_key: str, model: str, *, timeout: float = 5.0) -> None:
        self.name = model or "rerank"
        self._model = model
        self._client = build_client(base_url, api_key, timeout)
        self._is_tei = False

    def score_texts(self, question: str, texts: Sequence[str]) -> list[float]:
        """One score a text, the higher the better; accounted for in the ledger. Raises
        EngineError, also where a text has no score."""
        asked = json.dumps({"query": question, "documents": list(texts)}, ensure_ascii=False)
        sent = [{"role": "user", "content": asked}]
        with account_for_call(CallRecord("rerank", "", self.name, sent)) as call:
            scores: list[float] = []
            for replied in self._request_scores(question, texts, call):
                scores += replied
            call.output = json.dumps([round(score, 4) for score in scores])
        return scores

    def _request_scores(
        self, question: str, texts: Sequence[str], call: CallRecord
    ) -> Iterator[list[float]]:
        size = _TEI_BATCH_SIZE if self._is_tei else len(texts)
        for start in range(0, len(texts), max(1, size)):
            batch = list(texts[start : start + size])
            call.attempts += 1
            with translate_errors():
                reply = self._send(question, batch)
                call.prompt_tokens += _count_tokens(reply)
                yield _read_scores(reply, len(batch))

    def _send(self, question: str, texts: list[str]) -> Any:
        body: dict[str, Any] = {"query": question}
        if self._is_tei:
            return self._post(body | {"texts": texts, "truncate": True})
        named = {"model": self._model} if self._model else {}
        try:
            return self._post(body | named | {"documents": texts})
        except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
            if "texts" not in error.response.text:
                raise
            reply = self._post(body | {"texts": texts, "truncate": True})
            self._is_tei = True
            return reply

    def _post(self, body: dict[str, Any]) -> Any:
        return self._client.post(_PATH, body=body, cast_to=object)


def _read_scores(reply: Any, expected: int) -> list[float]:
    """In the order of the texts. Raises EngineError, or ValueError for what is no such reply."""
    listed = reply.get("results", reply.get("data")) if isinstance(reply, dict) else reply
    if not isinstance(listed, list):
        raise ValueError("a reply without results")
    scores = {each.index: each.score for each in map(_ScoredText.model_validate, listed)}
    if set(scores) != set(range(expected)):
        raise EngineError(
            f"The reranker sent {len(scores)} scores for {expected} texts", code="unreadable_reply"
        )
    return [scores[index] for index in range(expected)]


def _count_tokens(reply: Any) -> int:
    for place in _TOKEN_PLACES:
        found = reply
        for name in place:
            found = found.get(name) if isinstance(found, Mapping) else None
        if isinstance(found, int | float):
            return int(found)
    return 0
