"""An OpenAI-compatible server on loopback that answers from a script.

    with OpenAIServer() as server:
        server.chat('{"facts": []}', Reply(status=500))
        ...
        assert server.requests[0].body["model"] == "any"

Replies are taken in order, from the queue of the first marker found in the request's text
(`server.chat(..., marker="construct")`), else from the endpoint's common queue. A request
without a scripted reply gets a 500 that says so. Embeddings not scripted are made up from
the text: equal texts get equal vectors; a reranker not scripted counts shared words. A request
for a stream gets a reply word by word.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

CHAT, EMBEDDINGS, RERANK = "/chat/completions", "/embeddings", "/rerank"
USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


@dataclass(frozen=True)
class ScriptedReply:
    """One scripted answer. `raw` replaces the whole body; `delay` is in seconds.

    `message` are further members of the message. `error`: the error object of a refusal. `events`
    replace what a stream sends, each an object or bare text; `is_cut`: the connection then breaks.
    `counts`: whether a stream tells tokens.
    """

    content: str | None = ""
    status: int = 200
    finish_reason: str = "stop"
    refusal: str | None = None
    delay: float = 0.0
    raw: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    message: Mapping[str, Any] = field(default_factory=dict)
    error: Mapping[str, Any] | None = None
    events: Sequence[Mapping[str, Any] | str] | None = None
    is_cut: bool = False
    counts: bool = True


@dataclass(frozen=True)
class OpenAIRequest:
    path: str
    body: dict[str, Any]
    authorization: str

    @property
    def text(self) -> str:
        """All message contents, one after the other."""
        return "\n".join(str(each["content"]) for each in self.body.get("messages", []))


@dataclass(frozen=True)
class WireAnswer:
    """What goes back over the wire. `status` 0: the connection ends without a word. `delay` comes
    before it, and `drip` between one piece of some bytes and the next, in seconds."""

    status: int
    text: str
    headers: Mapping[str, str] = field(default_factory=dict)
    kind: str = "application/json"
    is_cut: bool = False
    delay: float = 0.0
    drip: float = 0.0


@dataclass
class OpenAIServer:
    """`dimension` and `honours_dimensions` shape the embeddings; `refused_formats` are
    `response_format` types answered with 400, as servers without grammar support do."""

    dimension: int = 8
    honours_dimensions: bool = True
    refuses_dimensions: bool = False
    refused_formats: frozenset[str] = frozenset()
    reranks_as_tei: bool = False
    requests: list[OpenAIRequest] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._queues: dict[str, deque[ScriptedReply]] = defaultdict(deque)
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _build_handler(self))
        self._http.daemon_threads = True

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def script_chat(self, *replies: str | ScriptedReply, marker: str = CHAT) -> None:
        """Scripts chat replies; a string is the content of a good one."""
        made = [ScriptedReply(content=each) if isinstance(each, str) else each for each in replies]
        self._queues[marker].extend(made)

    def script_embeddings(self, *replies: ScriptedReply) -> None:
        self._queues[EMBEDDINGS].extend(replies)

    def script_rerank(self, *replies: ScriptedReply) -> None:
        self._queues[RERANK].extend(replies)

    def __enter__(self) -> Self:
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._http.shutdown()
        self._http.server_close()

    def answer_request(self, request: OpenAIRequest) -> WireAnswer:
        """What a request gets; waits as its reply says."""
        with self._lock:
            self.requests.append(request)
            unfit = self._refuse_unfit(request)
            reply = unfit or self._take_scripted(request)
        if reply is None:
            return WireAnswer(*self._answer_unscripted(request))
        time.sleep(reply.delay)
        if reply.status == 200 and reply.raw is None and request.body.get("stream"):
            return WireAnswer(
                200,
                _render_events(reply, request),
                reply.headers,
                "text/event-stream",
                reply.is_cut,
            )
        return WireAnswer(reply.status, _render_body(reply), reply.headers)

    def _refuse_unfit(self, request: OpenAIRequest) -> ScriptedReply | None:
        shape = request.body.get("response_format", {}).get("type", "")
        if shape in self.refused_formats:
            return ScriptedReply(status=400, content=f"response_format {shape} is not supported")
        if self.refuses_dimensions and "dimensions" in request.body:
            return ScriptedReply(status=400, content="this model has no dimensions parameter")
        return None

    def _take_scripted(self, request: OpenAIRequest) -> ScriptedReply | None:
        known = (CHAT, EMBEDDINGS, RERANK)
        endpoint = next((name for name in known if request.path.endswith(name)), "")
        named = [name for name in self._queues if name in request.text]
        queues = [self._queues[name] for name in (*named, endpoint)]
        return next((queue.popleft() for queue in queues if queue), None)

    def _answer_rerank(self, body: Mapping[str, Any]) -> tuple[int, str]:
        """Best first, as Jina and vLLM answer; or TEI, which refuses what it does not know."""
        if self.reranks_as_tei and "texts" not in body:
            return 422, "Failed to deserialize the JSON body: missing field `texts`"
        name = "score" if self.reranks_as_tei else "relevance_score"
        texts = body["texts" if self.reranks_as_tei else "documents"]
        scores = enumerate(make_scores(body["query"], texts))
        results = [
            {"index": at, name: score} for at, score in sorted(scores, key=lambda pair: -pair[1])
        ]
        if self.reranks_as_tei:
            return 200, json.dumps(results)
        return 200, json.dumps({"results": results, "usage": {"total_tokens": 7}})

    def _answer_unscripted(self, request: OpenAIRequest) -> tuple[int, str]:
        if request.path.endswith(RERANK):
            return self._answer_rerank(request.body)
        if not request.path.endswith(EMBEDDINGS):
            return 500, json.dumps({"error": {"message": "nothing scripted for this request"}})
        asked = request.body.get("dimensions") if self.honours_dimensions else None
        size = int(asked or self.dimension)
        data = [
            {"object": "embedding", "index": index, "embedding": make_vector(text, size)}
            for index, text in enumerate(request.body["input"])
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        body = {"object": "list", "data": data, "model": request.body["model"], "usage": usage}
        return 200, json.dumps(body)


def make_scores(question: str, texts: Sequence[str]) -> list[float]:
    """How many of the question's words each text has."""
    asked = set(question.casefold().split())
    return [float(len(asked & set(text.casefold().split()))) for text in texts]


def make_vector(text: str, size: int) -> list[float]:
    """A made-up vector; a longer one begins with the shorter one's components."""
    digests = (hashlib.sha256(f"{text}{part}".encode()).digest() for part in range(size // 32 + 1))
    return [byte / 128 - 1 for digest in digests for byte in digest][:size]


def _render_body(reply: ScriptedReply) -> str:
    if reply.raw is not None:
        return reply.raw
    if reply.status != 200:
        return json.dumps(
            {"error": reply.error or {"message": reply.content or "scripted failure"}}
        )
    message = {"role": "assistant", "content": reply.content, "refusal": reply.refusal}
    message |= reply.message
    choice = {"index": 0, "message": message, "finish_reason": reply.finish_reason}
    return json.dumps(
        {"id": "1", "object": "chat.completion", "created": 0, "model": "scripted",
         "choices": [choice], "usage": USAGE}
    )  # fmt: skip


def _render_events(reply: ScriptedReply, request: OpenAIRequest) -> str:
    """The reply as server-sent events: a word each, the end, and the tokens if asked for."""
    events: list[Mapping[str, Any] | str] = list(reply.events or [])
    if reply.events is None:
        words = [f"{word} " for word in (reply.content or "").split(" ")]
        words[-1] = words[-1].rstrip()
        events = [make_chunk({"role": "assistant", "content": ""})]
        events += [make_chunk({"content": word}) for word in words]
        events += [make_chunk({}, reply.finish_reason)]
        if reply.counts and (request.body.get("stream_options") or {}).get("include_usage"):
            events.append({**make_chunk({}), "choices": [], "usage": USAGE})
        events.append("[DONE]")
    told = [each if isinstance(each, str) else json.dumps(each) for each in events]
    return "".join(f"data: {each}\n\n" for each in told)


def make_chunk(
    delta: Mapping[str, Any], finish_reason: str | None = None, index: int = 0
) -> dict[str, Any]:
    """One piece of a streamed answer."""
    choice = {"index": index, "delta": dict(delta), "finish_reason": finish_reason}
    return {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "scripted",
            "choices": [choice]}  # fmt: skip


def _build_handler(server: OpenAIServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            body = json.loads(self.rfile.read(length))
            request = OpenAIRequest(self.path, body, self.headers.get("Authorization", ""))
            sent = server.answer_request(request)
            time.sleep(sent.delay)
            if not sent.status:
                self.close_connection = True
                return
            payload = sent.text.encode()
            self.send_response(sent.status)
            self.send_header("Content-Type", sent.kind)
            # A cut answer is one that promised more.
            self.send_header("Content-Length", str(len(payload) + sent.is_cut))
            for name, value in sent.headers.items():
                self.send_header(name, value)
            self.end_headers()
            # The client may have stopped waiting.
            with suppress(ConnectionError):
                self._send_payload(payload, sent.drip)

        def _send_payload(self, payload: bytes, drip: float) -> None:
            if not drip:
                self.wfile.write(payload)
                return
            for at in range(0, len(payload), 16):
                self.wfile.write(payload[at : at + 16])
                time.sleep(drip)

        def log_message(self, *args: Any) -> None:
            pass

    return Handler
