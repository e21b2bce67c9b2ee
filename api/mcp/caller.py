"""The way from a tool into the API: an inner request with the outer one's key."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import Any
from urllib.parse import urlencode

from django.core.handlers.wsgi import WSGIRequest
from django.urls import Resolver404, resolve
from rest_framework.request import Request

from api.core.authentication import get_request_key
from api.core.fields import list_names
from api.core.rate_limit import COUNTED_MARK
from api.core.views import get_bound_space
from memoryhub.errors import InvalidInput, NotFound
from memoryhub.tenants.keys import KeyRow
from memoryhub.tenants.services import clean_subject

# Of the outer request, what says who calls, from where and under which name.
_FORWARDED_VARIABLES = list_names(
    "HTTP_AUTHORIZATION HTTP_HOST HTTP_X_REQUEST_ID REMOTE_ADDR SERVER_NAME SERVER_PORT "
    "SERVER_PROTOCOL wsgi.url_scheme"
)


class CallRefused(Exception):
    """The API's answer was a problem document."""

    def __init__(self, problem: dict[str, Any]) -> None:
        super().__init__(problem.get("detail", ""))
        self.problem = problem


@contextmanager
def name_arguments(rename: Callable[[str], str]) -> Iterator[None]:
    """What the API refuses inside is told of the tool's arguments, not of the API's fields."""
    try:
        yield
    except CallRefused as refused:
        errors, detail = [], str(refused.problem.get("detail", ""))
        for each in refused.problem.get("errors") or ():
            named = rename(each["field"])
            errors.append(each | {"field": named})
            detail = detail.replace(f"{each['field']}: ", f"{named}: ")
        raise CallRefused(refused.problem | {"detail": detail, "errors": errors}) from None


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls a tool. `default`: the subject meant where none is named, or empty."""

    outer_environ: Mapping[str, Any]
    key: KeyRow
    default_subject: str

    def resolve_subject(self, given: str, field: str = "subject") -> str:
        """Raises InvalidInput where nobody is named."""
        named = given.strip() or self.default_subject
        if not named:
            raise InvalidInput(
                "needed: neither the key nor the server's address names one", field=field
            )
        return clean_subject(named)

    def get(self, path: str, **query: Any) -> dict[str, Any]:
        return self.call_route("GET", path, query=query)

    def post(self, path: str, body: Mapping[str, Any], **query: Any) -> dict[str, Any]:
        return self.call_route("POST", path, body, query)

    def call_route(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """What the route answers. Raises Refused with its problem, NotFound without a route."""
        request = self._build_request(method, path, body, query or {})
        try:
            view, args, kwargs = resolve(request.path_info)
        except Resolver404:  # a name with a line break, say
            raise NotFound("There is no such resource.") from None
        response = view(request, *args, **kwargs)
        response.render()
        answer: Any = json.loads(response.content or b"{}")
        if response.status_code >= 400:
            raise CallRefused(answer)
        return answer if isinstance(answer, dict) else {"results": answer}

    def _build_request(
        self, method: str, path: str, body: Mapping[str, Any] | None, query: Mapping[str, Any]
    ) -> WSGIRequest:
        data = b"" if body is None else json.dumps(body).encode()
        kept = {
            name: self.outer_environ[name]
            for name in _FORWARDED_VARIABLES
            if name in self.outer_environ
        }
        return WSGIRequest(
            {
                **kept,
                COUNTED_MARK: True,
                "REQUEST_METHOD": method,
                "PATH_INFO": path.encode(errors="surrogatepass").decode("latin-1"),
                "QUERY_STRING": urlencode(query, errors="surrogatepass"),
                "CONTENT_TYPE": "application/json",
                "CONTENT_LENGTH": str(len(data)),
                "wsgi.input": BytesIO(data),
            }
        )


def build_caller(request: Request) -> Caller:
    """Of an authenticated request: its key, and the subject that its address or its key names."""
    key = get_request_key(request)
    named = request.query_params.get("subject") or request.query_params.get("user_id") or ""
    default = named.strip()
    if not default and (bound := get_bound_space(request)):
        default = bound.subject
    return Caller(request.META, key, default)
