"""What all views of this protocol have in common, and the chat."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any, ClassVar

from django.http.response import HttpResponseBase
from rest_framework.request import Request
from rest_framework.response import Response

from api.authentication import key_of
from api.idempotency import key_given, once_apart
from api.openai import responding
from api.openai.asking import chat_of
from api.openai.errors import handled
from api.openai.exchange import begin
from api.openai.memory import headers_of
from api.openai.streaming import ChatTelling, Telling, response_of
from api.openai.wishes import Wishes, wishes_of
from api.progress import AnyType
from api.views import HubView
from memoryhub.errors import InvalidInput, NotFound


class OpenAIView(HubView):
    """`scopes` maps a method to the scope it needs; others are answered with 405."""

    content_negotiation_class = AnyType
    any_parameters = True
    schema = None  # described in docs/reference/openai.md; the hub's own description leaves it out

    def get_exception_handler(self) -> Callable[[Exception, dict[str, Any]], Response]:
        return handled


class ChatView(OpenAIView):
    """A chat completion of the tenant's model, with memory. Learning needs the scope `write`."""

    scopes: ClassVar = {"POST": "read"}
    route = "openai-chat"

    def post(self, request: Request) -> HttpResponseBase:
        body, key = self.body(request), key_of(request)
        chat, once = self.chat(body), key_given(request)
        wishes = wishes_of(request.headers, chat)
        if _streams(body):
            return response_of(begin(key, wishes, chat, once), self.telling(body))
        answer, replayed = once_apart(
            key.tenant_id,
            request,
            _route(self.route, wishes, str(key.id)),
            lambda: self.whole(body, begin(key, wishes, chat, once).completed()),
        )
        response = Response(answer, headers=headers_of(answer["memoryhub"]))
        if replayed:
            response["Idempotent-Replayed"] = "true"
        return response

    def chat(self, body: dict[str, Any]) -> dict[str, Any]:
        """What is asked, as a chat completion."""
        return body

    def whole(self, body: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
        """The answer of a chat completion, as this path tells it."""
        return answer

    def telling(self, body: dict[str, Any]) -> Telling:
        return ChatTelling(body)


class ResponsesView(ChatView):
    """The same as a response: what is asked goes to the model as a chat, and nothing is kept."""

    route = "openai-responses"

    def chat(self, body: dict[str, Any]) -> dict[str, Any]:
        return chat_of(body)

    def whole(self, body: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
        return responding.response_of(body, answer)

    def telling(self, body: dict[str, Any]) -> Telling:
        return responding.Telling(body)


def _streams(body: dict[str, Any]) -> bool:
    given = body.get("stream")
    if given not in (None, True, False):
        raise InvalidInput("true or false", field="stream")
    return bool(given)


def _route(path: str, wishes: Wishes, key: str) -> str:
    """Wishes stand beside the body, which alone is compared: other wishes are another request."""
    return f"{path}-{sha256(f'{key}{wishes}'.encode(errors='replace')).hexdigest()[:32]}"


class NotFoundView(OpenAIView):
    """Paths of this protocol that the hub does not have."""

    authentication_classes = ()
    permission_classes = ()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        raise NotFound("There is no such path: see docs/reference/openai.md.")
