"""What all views of this protocol have in common, and the chat."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any, ClassVar

from django.http.response import HttpResponseBase
from rest_framework.request import Request
from rest_framework.response import Response

from api.core.authentication import get_request_key
from api.core.idempotency import mark_replayed, read_idempotency_key, run_once_in_own_transactions
from api.core.server_events import AnyAcceptNegotiation
from api.core.views import HubView, NoSuchPath
from api.openai import responses_answer
from api.openai.errors import handle_error
from api.openai.exchange import start_exchange
from api.openai.memory import build_headers
from api.openai.options import read_options
from api.openai.responses_request import build_chat_request
from api.openai.stream import ChatEventWriter, EventWriter, build_stream_response
from memoryhub.errors import InvalidInput


class OpenAIView(HubView):
    """`scopes` maps a method to the scope it needs; others are answered with 405."""

    content_negotiation_class = AnyAcceptNegotiation
    takes_any_parameters = True
    schema = None  # described in docs/reference/openai.md; the hub's own description leaves it out

    def get_exception_handler(self) -> Callable[[Exception, dict[str, Any]], Response]:
        return handle_error


class ChatView(OpenAIView):
    """A chat completion of the tenant's model, with memory. Learning needs the scope `write`."""

    scopes: ClassVar = {"POST": "read"}
    route = "openai-chat"

    def post(self, request: Request) -> HttpResponseBase:
        body, key = self.read_body(request), get_request_key(request)
        chat, once = self.read_chat(body), read_idempotency_key(request)
        wishes = read_options(request.headers, chat)
        if _read_stream_flag(body):
            return build_stream_response(
                start_exchange(key, wishes, chat, once), self.build_event_writer(body)
            )

        def ask() -> dict[str, Any]:
            answer = start_exchange(key, wishes, chat, once).complete_answer()
            return self.render_answer(body, answer)

        # Wishes stand beside the body, which alone is compared: other wishes are another request.
        told = sha256(f"{key.id}{wishes}".encode(errors="replace")).hexdigest()[:32]
        answer, replayed = run_once_in_own_transactions(
            key.tenant_id, request, f"{self.route}-{told}", ask
        )
        headers = build_headers(answer["memoryhub"]) | mark_replayed(replayed)
        return Response(answer, headers=headers)

    def read_chat(self, body: dict[str, Any]) -> dict[str, Any]:
        """What is asked, as a chat completion."""
        return body

    def render_answer(self, body: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
        """The answer of a chat completion, as this path tells it."""
        return answer

    def build_event_writer(self, body: dict[str, Any]) -> EventWriter:
        return ChatEventWriter(body)


class ResponsesView(ChatView):
    """The same as a response: what is asked goes to the model as a chat, and nothing is kept."""

    route = "openai-responses"

    def read_chat(self, body: dict[str, Any]) -> dict[str, Any]:
        return build_chat_request(body)

    def render_answer(self, body: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
        return responses_answer.build_response(body, answer)

    def build_event_writer(self, body: dict[str, Any]) -> EventWriter:
        return responses_answer.ResponseEventWriter(body)


def _read_stream_flag(body: dict[str, Any]) -> bool:
    given = body.get("stream")
    if given not in (None, True, False):
        raise InvalidInput("true or false", field="stream")
    return bool(given)


class OpenAINotFoundView(NoSuchPath, OpenAIView):
    """Paths of this protocol that the hub does not have."""

    refusal = "There is no such path: see docs/reference/openai.md."
