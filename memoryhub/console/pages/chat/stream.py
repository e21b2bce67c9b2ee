"""An exchange of the chat as server-sent events: pieces of the page, and words for one of them.

`put`: a list of [id of an element, how, HTML], rendered and escaped here; `word`: [id, text].
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from contextlib import closing
from typing import Any

from django.template.loader import render_to_string
from django.utils.translation import get_language, override

from memoryhub.console.frame.requests import ConsoleRequest
from memoryhub.console.pages.chat.exchanges import ChatEvent, MessageExchange
from memoryhub.errors import MemoryHubError


def stream_exchange(request: ConsoleRequest, exchange: MessageExchange) -> Iterator[str]:
    """All of it, as it comes, in the language of the request: a server may take it in another
    thread. Closed early, the exchange is closed too."""
    return _iterate_in_language(get_language(), _stream_page_events(request, exchange))


def _iterate_in_language(language: str, events: Generator[str]) -> Iterator[str]:
    with closing(events):
        while True:
            with override(language):
                event = next(events, None)
            if event is None:
                return
            yield event


def _stream_page_events(request: ConsoleRequest, exchange: MessageExchange) -> Generator[str]:
    context = {"exchange": exchange, "turn": exchange.turn, "space": exchange.space}
    yield _format_put_event(
        ["turns", "beforeend", _render_part(request, "exchange", context)],
        ["strip", "afterbegin", _render_part(request, "strip", context)],
        ["alerts", "inner", ""],
    )
    with closing(exchange.stream_events()) as events:  # type: ignore[type-var]  # a generator
        for event in events:
            yield _render_chat_event(request, context | {"side": event.side}, event)
    yield _format_server_event("done", [])


def _render_chat_event(request: ConsoleRequest, context: dict[str, Any], event: ChatEvent) -> str:
    side = event.side.name
    at = f"{context['turn'].id}-{side}"
    if event.what == "word":
        return _format_server_event("word", [f"words-{at}", event.text])
    recalled = [f"recalled-{at}", "outer", _render_part(request, "recalled", context)]
    if event.what == "recalled":
        return _format_put_event(recalled)
    return _format_put_event(
        [f"reply-{at}", "outer", _render_part(request, "reply", context)],
        recalled,
        [f"took-{at}", "outer", _render_part(request, "took", context)],
    )


def render_refusal(request: ConsoleRequest, error: MemoryHubError) -> str:
    """Nothing was stored: the words stay in the field."""
    return _format_server_event(
        "refused", ["alerts", "inner", _render_part(request, "refused", {"error": error})]
    )


def _render_part(request: ConsoleRequest, part: str, context: dict[str, Any]) -> str:
    return render_to_string(f"chat/parts/{part}.html", context, request)


def _format_put_event(*puts: list[str]) -> str:
    return _format_server_event("put", list(puts))


def _format_server_event(name: str, data: Any) -> str:
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"
