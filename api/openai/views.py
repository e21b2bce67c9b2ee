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
from api.openai.errors import handled
from api.openai.exchange import begin
from api.openai.memory import headers_of
from api.openai.streaming import response_of
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

    def post(self, request: Request) -> HttpResponseBase:
        body, key = self.body(request), key_of(request)
        wishes, once = wishes_of(request.headers, body), key_given(request)
        if _streams(body):
            return response_of(begin(key, wishes, body, once))
        answer, replayed = once_apart(
            key.tenant_id,
            request,
            _route(wishes, str(key.id)),
            lambda: begin(key, wishes, body, once).completed(),
        )
        response = Response(answer, headers=headers_of(answer["memoryhub"]))
        if replayed:
            response["Idempotent-Replayed"] = "true"
        return response


def _streams(body: dict[str, Any]) -> bool:
    given = body.get("stream")
    if given not in (None, True, False):
        raise InvalidInput("true or false", field="stream")
    return bool(given)


def _route(wishes: Wishes, key: str) -> str:
    """Wishes stand beside the body, which alone is compared: other wishes are another request."""
    return f"openai-chat-{sha256(f'{key}{wishes}'.encode(errors='replace')).hexdigest()[:32]}"


class NotFoundView(OpenAIView):
    """Paths of this protocol that the hub does not have."""

    authentication_classes = ()
    permission_classes = ()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        raise NotFound("There is no such path: see docs/reference/openai.md.")
