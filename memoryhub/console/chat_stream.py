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

from memoryhub.console.chatting import Event, Exchange, Recalled, Word
from memoryhub.console.requests import ConsoleRequest
from memoryhub.errors import MemoryHubError


def told(request: ConsoleRequest, exchange: Exchange) -> Iterator[str]:
    """All of it, as it comes, in the language of the request: a server may take it in another
    thread. Closed early, the exchange is closed too."""
    return _in_language(get_language(), _told_of(request, exchange))


def _in_language(language: str, events: Generator[str]) -> Iterator[str]:
    with closing(events):
        while True:
            with override(language):
                event = next(events, None)
            if event is None:
                return
            yield event


def _told_of(request: ConsoleRequest, exchange: Exchange) -> Generator[str]:
    context = {"exchange": exchange, "turn": exchange.turn, "space": exchange.space}
    yield _put(
        ["turns", "beforeend", _html(request, "chat_exchange", context)],
        ["strip", "afterbegin", _html(request, "chat_strip", context)],
        ["alerts", "inner", ""],
    )
    with closing(exchange.events()) as events:  # type: ignore[type-var]  # a generator
        for event in events:
            yield _told(request, context | {"side": event.side}, event)
    yield _event("done", [])


def _told(request: ConsoleRequest, context: dict[str, Any], event: Event) -> str:
    side = event.side.name
    at = f"{context['turn'].id}-{side}"
    if isinstance(event, Word):
        return _event("word", [f"words-{at}", event.text])
    recalled = [f"recalled-{at}", "outer", _html(request, "chat_recalled", context)]
    if isinstance(event, Recalled):
        return _put(recalled)
    return _put(
        [f"reply-{at}", "outer", _html(request, "chat_reply", context)],
        recalled,
        [f"took-{at}", "outer", _html(request, "chat_took", context)],
    )


def refused(request: ConsoleRequest, error: MemoryHubError) -> str:
    """Nothing was stored: the words stay in the field."""
    return _event("refused", ["alerts", "inner", _html(request, "chat_refused", {"error": error})])


def _html(request: ConsoleRequest, part: str, context: dict[str, Any]) -> str:
    return render_to_string(f"parts/{part}.html", context, request)


def _put(*puts: list[str]) -> str:
    return _event("put", list(puts))


def _event(name: str, data: Any) -> str:
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"
