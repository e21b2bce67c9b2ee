"""What all views of this wire have in common: scopes, errors as its clients read them, paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from api.core.authentication import get_request_key
from api.core.problems import exception_handler
from api.core.views import NoSuchPath, read_body
from memoryhub.errors import InvalidInput, NotFound
from memoryhub.tenants.keys import KeyRow

MAX_PAGE_SIZE = 200


class Mem0View(APIView):
    """`scopes` maps a method to the scope it needs; others are answered with 405."""

    http_method_names = ("get", "head", "post", "put", "patch", "delete")
    scopes: ClassVar[dict[str, str]] = {}
    schema = None  # described in docs/reference/mem0.md; the hub's own description leaves it out

    def get_exception_handler(self) -> Callable[[Exception, dict[str, Any]], Response]:
        return _handle_error

    def read_body(self, request: Request) -> dict[str, Any]:
        """The JSON object sent; an empty one where nothing was. Raises MemoryHubError 411."""
        return dict(read_body(request))


def _handle_error(error: Exception, context: dict[str, Any]) -> Response:
    """A problem as ever, but of the type these clients look at; wrong input is 400 here."""
    response = exception_handler(error, context)
    response.content_type = "application/json"
    if response.status_code == InvalidInput.status:
        response.status_code = 400
        response.data["status"] = 400
    return response


def format_actor(request: Request) -> str:
    """The key, as the author of what it changes."""
    return f"key:{get_request_key(request).id}"


def get_own_key(request: Request, *ids: str) -> KeyRow:
    """The key, if these ids of organisation and project are its own. Raises NotFound."""
    key = get_request_key(request)
    if any(each != str(key.tenant_id) for each in ids):
        raise NotFound("There is no such organization or project.")
    return key


def check_own_project(request: Request) -> None:
    """Older clients name organization and project in the query. Raises NotFound for others'."""
    named = (request.query_params.getlist(name) for name in ("org_id", "project_id"))
    get_own_key(request, *(each for ids in named for each in ids if each))


def build_page(
    request: Request,
    rows: Any,
    show: Callable[[list[Any]], list[Any]],
    body: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """{"count", "next", "previous", "results"} of a queryset or a list. What is not in the query
    may be in the body."""
    asked = {**(body or {}), **request.query_params.dict()}
    page = _read_number(asked, "page", 1, 1_000_000)
    size = min(_read_number(asked, "page_size", 100, None), MAX_PAGE_SIZE)
    count = len(rows) if isinstance(rows, list) else rows.count()
    start = (page - 1) * size
    return {
        "count": count,
        "next": _build_page_link(request, page + 1, size) if start + size < count else None,
        "previous": _build_page_link(request, page - 1, size) if page > 1 else None,
        "results": show(list(rows[start : start + size])),
    }


def _read_number(asked: Mapping[str, Any], name: str, default: int, most: int | None) -> int:
    given = asked.get(name)
    raw = str(default if given is None else given)
    if not (raw.isascii() and raw.isdecimal() and len(raw) < 10 and int(raw) >= 1):
        raise InvalidInput("a whole number from 1", field=name)
    if most is not None and int(raw) > most:
        raise InvalidInput(f"at most {most}", field=name)
    return int(raw)


def _build_page_link(request: Request, page: int, size: int) -> str:
    query = request.query_params.copy()  # what narrows the list narrows its other pages
    query["page"], query["page_size"] = str(page), str(size)
    return request.build_absolute_uri(f"{request.path}?{query.urlencode()}")


class Mem0NotFoundView(NoSuchPath, Mem0View):
    """Paths of these versions that do not exist."""
