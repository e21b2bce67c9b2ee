"""The way from a tool into the API: an inner request with the outer one's key."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any
from urllib.parse import urlencode

from django.core.handlers.wsgi import WSGIRequest
from django.urls import Resolver404, resolve
from rest_framework.request import Request

from api.authentication import key_of
from api.rates import COUNTED
from memoryhub.errors import InvalidInput, NotFound
from memoryhub.tenants.keys import KeyRow
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import clean_subject

# Of the outer request, what says who calls, from where and under which name.
_KEPT = (
    "HTTP_AUTHORIZATION",
    "HTTP_HOST",
    "HTTP_X_REQUEST_ID",
    "REMOTE_ADDR",
    "SERVER_NAME",
    "SERVER_PORT",
    "SERVER_PROTOCOL",
    "wsgi.url_scheme",
)


class Refused(Exception):
    """The API's answer was a problem document."""

    def __init__(self, problem: dict[str, Any]) -> None:
        super().__init__(problem.get("detail", ""))
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls a tool. `default`: the subject meant where none is named, or empty."""

    outer: Mapping[str, Any]
    key: KeyRow
    default: str

    def subject(self, given: str, field: str = "subject") -> str:
        """Raises InvalidInput where nobody is named."""
        named = given.strip() or self.default
        if not named:
            raise InvalidInput(
                "needed: neither the key nor the server's address names one", field=field
            )
        return clean_subject(named)

    def get(self, path: str, **query: Any) -> dict[str, Any]:
        return self.call("GET", path, query=query)

    def post(self, path: str, body: Mapping[str, Any], **query: Any) -> dict[str, Any]:
        return self.call("POST", path, body, query)

    def call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """What the route answers. Raises Refused with its problem, NotFound without a route."""
        request = self._request(method, path, body, query or {})
        try:
            view, args, kwargs = resolve(request.path_info)
        except Resolver404:  # a name with a line break, say
            raise NotFound("There is no such resource.") from None
        response = view(request, *args, **kwargs)
        response.render()
        answer: Any = json.loads(response.content or b"{}")
        if response.status_code >= 400:
            raise Refused(answer)
        return answer if isinstance(answer, dict) else {"results": answer}

    def _request(
        self, method: str, path: str, body: Mapping[str, Any] | None, query: Mapping[str, Any]
    ) -> WSGIRequest:
        data = b"" if body is None else json.dumps(body).encode()
        kept = {name: self.outer[name] for name in _KEPT if name in self.outer}
        return WSGIRequest(
            {
                **kept,
                COUNTED: True,
                "REQUEST_METHOD": method,
                "PATH_INFO": path.encode(errors="surrogatepass").decode("latin-1"),
                "QUERY_STRING": urlencode(query, errors="surrogatepass"),
                "CONTENT_TYPE": "application/json",
                "CONTENT_LENGTH": str(len(data)),
                "wsgi.input": BytesIO(data),
            }
        )


def caller_of(request: Request) -> Caller:
    """Of an authenticated request: its key, and the subject that its address or its key names."""
    key = key_of(request)
    named = request.query_params.get("subject") or request.query_params.get("user_id") or ""
    return Caller(request.META, key, named.strip() or _bound(key))


def _bound(key: KeyRow) -> str:
    if key.space_id is None:
        return ""
    with tenant_scope(key.tenant_id):
        return Space.objects.values_list("subject", flat=True).get(id=key.space_id)
