"""The answer of a chat completion, as a response: whole, or event by event. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from api.core.server_events import format_event
from memoryhub.engines.llm.client.stream import AccumulatedAnswer, list_choices

Body = Mapping[str, Any]
# What a response repeats of its request, with what stands there when nothing was asked for.
_REPEATED_FIELDS: Body = {
    "instructions": None,
    "max_output_tokens": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "temperature": None,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "top_p": None,
    "user": None,
}


class ResponseBuilder:
    """What one answer has said so far. `add_answer` gives the events that a piece of it makes."""

    def __init__(self, asked: Body) -> None:
        self._asked = asked
        self._first: Body = {}
        self._items: dict[str, dict[str, Any]] = {}
        self._cut = False
        self._count = 0

    def add_answer(self, answer: Body) -> Iterator[dict[str, Any]]:
        """Of a whole answer, or of one chunk."""
        if not self._first:
            self._first = answer
            for kind in ("created", "in_progress"):
                yield self._build_event(
                    f"response.{kind}", response=self.render_response("in_progress", None)
                )
        for choice in list_choices(answer):
            if choice.get("index", 0) == 0:
                self._cut = self._cut or choice.get("finish_reason") == "length"
                yield from self._add_message(
                    _read_object(choice.get("delta") or choice.get("message"))
                )

    def finish_response(self, said: AccumulatedAnswer, memoryhub: Body) -> Iterator[dict[str, Any]]:
        for at, item in enumerate(self._items.values()):
            item["status"] = "completed"
            yield from self._close_item(at, item)
        status = "incomplete" if self._cut else "completed"
        whole = self.render_response(status, said.usage) | {"memoryhub": memoryhub}
        yield self._build_event(f"response.{status}", response=whole)

    def fail_response(self, error: Body, memoryhub: Body) -> Iterator[dict[str, Any]]:
        told = {"code": "server_error", "message": error["message"]}
        whole = self.render_response("failed", None) | {"error": told, "memoryhub": memoryhub}
        yield self._build_event("response.failed", response=whole)

    def render_response(self, status: str, usage: tuple[int, int] | None) -> dict[str, Any]:
        """The response as it is now."""
        asked = {name: value for name, value in self._asked.items() if value is not None}
        return {name: asked.get(name, usual) for name, usual in _REPEATED_FIELDS.items()} | {
            "id": f"resp_{self._first.get('id', '')}",
            "object": "response",
            "created_at": self._first.get("created", 0),
            "model": self._first.get("model", ""),
            "status": status,
            "error": None,
            "incomplete_details": {"reason": "max_output_tokens"} if self._cut else None,
            "output": [dict(item) for item in self._items.values()],
            "previous_response_id": None,
            "store": False,
            "usage": _render_usage(usage),
        }

    def _add_message(self, said: Body) -> Iterator[dict[str, Any]]:
        if isinstance(said.get("content"), str) and said["content"]:
            yield from self._add_text(said["content"])
        calls = said.get("tool_calls")
        for call in calls if isinstance(calls, list) else []:
            yield from self._add_tool_call(_read_object(call))

    def _add_text(self, words: str) -> Iterator[dict[str, Any]]:
        if "message" not in self._items:
            part = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
            head = {"id": f"msg_{self._first.get('id', '')}", "role": "assistant"}
            yield from self._open_item("message", head | {"content": []})
            self._items["message"]["content"] = [part]
            yield self._build_text_event("response.content_part.added", part=dict(part))
        self._items["message"]["content"][0]["text"] += words
        yield self._build_text_event("response.output_text.delta", delta=words, logprobs=[])

    def _add_tool_call(self, call: Body) -> Iterator[dict[str, Any]]:
        """A call, or a piece of one: the first has its name."""
        key = f"call {call.get('index', call.get('id'))}"
        function = _read_object(call.get("function"))
        if key not in self._items:
            named = {"call_id": call.get("id", ""), "name": function.get("name", "")}
            head = {"id": f"fc_{call.get('id', '')}", **named, "arguments": ""}
            yield from self._open_item(key, head, "function_call")
        words = function.get("arguments")
        if isinstance(words, str) and words:
            item = self._items[key]
            item["arguments"] += words
            yield self._build_event(
                "response.function_call_arguments.delta",
                item_id=item["id"],
                output_index=list(self._items).index(key),
                delta=words,
            )

    def _open_item(self, key: str, head: Body, kind: str = "message") -> Iterator[dict[str, Any]]:
        self._items[key] = {"type": kind, "status": "in_progress", **head}
        at, item = len(self._items) - 1, dict(self._items[key])
        yield self._build_event("response.output_item.added", output_index=at, item=item)

    def _close_item(self, at: int, item: dict[str, Any]) -> Iterator[dict[str, Any]]:
        if item["type"] == "message":
            (part,) = item["content"]
            yield self._build_text_event(
                "response.output_text.done", text=part["text"], logprobs=[]
            )
            yield self._build_text_event("response.content_part.done", part=part)
        else:
            told = {"item_id": item["id"], "name": item["name"], "arguments": item["arguments"]}
            yield self._build_event(
                "response.function_call_arguments.done", output_index=at, **told
            )
        yield self._build_event("response.output_item.done", output_index=at, item=item)

    def _build_text_event(self, kind: str, **more: Any) -> dict[str, Any]:
        at = list(self._items).index("message")
        where = {"item_id": self._items["message"]["id"], "output_index": at, "content_index": 0}
        return self._build_event(kind, **where, **more)

    def _build_event(self, kind: str, **more: Any) -> dict[str, Any]:
        self._count += 1
        return {"type": kind, "sequence_number": self._count - 1, **more}


def build_response(asked: Body, answer: Body) -> dict[str, Any]:
    """The whole response of a whole answer, with what the hub did."""
    made, said = ResponseBuilder(asked), AccumulatedAnswer()
    said.add_chunk(answer)
    for _ in made.add_answer(answer):
        pass
    *_, last = made.finish_response(said, answer["memoryhub"])
    whole: dict[str, Any] = last["response"]
    return whole


class ResponseEventWriter:
    """As a response is told: events that build it, and in the last one all of it."""

    includes_usage = False

    def __init__(self, asked: Body) -> None:
        self._response = ResponseBuilder(asked)

    def format_chunk(self, chunk: Body) -> Iterator[str]:
        return map(_format_event, self._response.add_answer(chunk))

    def format_end(self, last: Body, said: AccumulatedAnswer, memoryhub: Body) -> Iterator[str]:
        yield from self.format_chunk(last)
        yield from map(_format_event, self._response.finish_response(said, memoryhub))

    def format_failure(self, error: Body, memoryhub: Body) -> Iterator[str]:
        return map(_format_event, self._response.fail_response(error, memoryhub))


def _format_event(event: Body) -> str:
    return format_event(event, name=event["type"])


def _read_object(given: Any) -> Body:
    """What is not as the protocol has it says nothing."""
    return given if isinstance(given, dict) else {}


def _render_usage(counted: tuple[int, int] | None) -> dict[str, Any] | None:
    if counted is None:
        return None
    prompt, completion = counted
    return {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": completion,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": prompt + completion,
    }
