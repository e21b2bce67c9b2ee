"""`POST /mcp`: the protocol's streamable HTTP, without sessions and without streams."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar
from urllib.parse import SplitResult, urlsplit

from django.conf import settings
from django.http import HttpResponse
from django.utils.http import is_same_domain
from mcp_types import INVALID_REQUEST, JSONRPCNotification, jsonrpc_message_adapter
from pydantic import ValidationError
from pydantic_core import from_json
from rest_framework.request import Request
from rest_framework.response import Response

from api.core.problems import exception_handler
from api.core.views import HubView
from api.mcp.caller import build_caller
from api.mcp.oauth import build_metadata_address
from api.mcp.server import build_server, select_tools
from api.mcp.transport import exchange_message
from memoryhub.errors import MemoryHubError


class McpView(HubView):
    """Counts once, whatever a tool asks of the API; each tool asks for its own scope."""

    scopes: ClassVar = {"POST": "read"}
    takes_any_parameters = True
    schema = None  # not REST; described in docs/reference/mcp.md

    def get_exception_handler(self) -> Callable[[Exception, dict[str, Any]], Response]:
        return _handle_error

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        """Whatever is accepted: hosts ask by GET for a stream alone, and go on without one where
        they read that there is no such method; of any other refusal they tell their users."""
        return super().perform_content_negotiation(request, force=True)

    def get_authenticate_header(self, request: Request) -> str:
        """With the place where hosts read how to come by a key."""
        told = super().get_authenticate_header(request)
        return f'{told}, resource_metadata="{build_metadata_address(request)}"'

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        check_origin(request)
        super().initial(request, *args, **kwargs)

    def post(self, request: Request) -> HttpResponse:
        if not request.META.get("CONTENT_LENGTH"):
            raise MemoryHubError("Send a Content-Length.", code="length_required", status=411)
        check_message(request._request.body)
        tools = select_tools(request.query_params.get("tools", ""))
        return exchange_message(build_server(build_caller(request), tools), request._request)


def _handle_error(error: Exception, context: dict[str, Any]) -> Response:
    """A problem as ever, in the envelope in which the protocol's clients look for one."""
    response = exception_handler(error, context)
    told = {"code": INVALID_REQUEST, "message": response.data["detail"], "data": response.data}
    response.data = {"jsonrpc": "2.0", "id": None, "error": told}
    response.content_type = "application/json"
    return response


def check_message(body: bytes) -> None:
    """Raises MemoryHubError for JSON that is no message of the protocol.

    The SDK would tell of its own types, and would leave a request without an answer whose id is
    none. A notification may have such an id: there are hosts that write one.
    """
    try:
        sent = from_json(body)
    except ValueError:
        return  # which the SDK tells in plain words
    try:
        message = jsonrpc_message_adapter.validate_python(sent, by_name=False)
    except ValidationError:
        wanted = 'one message of JSON-RPC 2.0, an object with "jsonrpc": "2.0" and a method'
        raise MemoryHubError(f"The body must be {wanted}.") from None
    is_taken_for_notification = isinstance(message, JSONRPCNotification) and "id" in sent
    if is_taken_for_notification and not sent["method"].startswith("notifications/"):
        raise MemoryHubError("The id of a request must be text or a whole number.")


def check_origin(request: Request) -> None:
    """A page of another host may not use a browser's way to this one (DNS rebinding).

    Programs send no Origin. The Host itself is held to ALLOWED_HOSTS for every request.
    """
    origin = request.headers.get("Origin")
    if origin is None:
        return
    try:
        given = urlsplit(origin)
    except ValueError:
        given = urlsplit("")
    named = (*settings.CSRF_TRUSTED_ORIGINS, *settings.CORS_ALLOWED_ORIGINS)
    trusted = (urlsplit(each) for each in named)
    if given.netloc == request.get_host() or any(_is_trusted_by(each, given) for each in trusted):
        return
    if settings.CORS_ALLOW_ALL_ORIGINS:
        return
    raise MemoryHubError(
        "Pages of this origin may not call the hub: see MEMORYHUB_CORS_ORIGINS.",
        code="origin_refused",
        status=403,
    )


def _is_trusted_by(trusted: SplitResult, origin: SplitResult) -> bool:
    """`trusted`: as https://example.com or https://*.example.com."""
    same = is_same_domain(origin.netloc, trusted.netloc.lstrip("*"))
    return origin.scheme == trusted.scheme and same
