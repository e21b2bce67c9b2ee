"""Every error as problem+json (RFC 9457), with a stable code and the field at fault."""

from __future__ import annotations

from typing import Any

import structlog
from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.db import OperationalError
from django.http import Http404
from rest_framework import exceptions
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response
from rest_framework.views import exception_handler as drf_handler
from rest_framework.views import set_rollback

from memoryhub.errors import MemoryHubError, TooLarge

log = structlog.get_logger()
CONTENT_TYPE = "application/problem+json"


def exception_handler(error: Exception, context: dict[str, Any]) -> Response:
    """DRF's hook. What nobody foresaw is logged whole, and answered without a word of it."""
    # Problems are JSON also where the view renders pages.
    context["request"].accepted_renderer = JSONRenderer()
    context["request"].accepted_media_type = JSONRenderer.media_type
    response = _answered(error, context)
    context["request"]._request.problem_code = response.data["code"]  # for the request log
    return response


def _answered(error: Exception, context: dict[str, Any]) -> Response:
    if isinstance(error, MemoryHubError):
        return _ours(error)
    if isinstance(error, RequestDataTooBig):
        return problem(413, TooLarge.code, "The body is too large.")
    if isinstance(error, OperationalError) and _unreachable(error):
        log.error("database.unreachable", error=str(error))
        return problem(503, "database_unreachable", "The database can't be reached.")
    if isinstance(error, Http404):
        return problem(404, "not_found", "Not found.")
    if isinstance(error, PermissionDenied):
        return problem(403, "forbidden", str(error) or "Not allowed.")
    return _drf(error, context) or _unforeseen(error)


def _unforeseen(error: Exception) -> Response:
    set_rollback()
    log.error("request.failed", exc_info=error)
    return problem(500, "internal_error", "Something went wrong here; the log says what.")


def _unreachable(error: OperationalError) -> bool:
    """Whether the connection failed, not a statement (SQLSTATE classes 08 and 57P)."""
    state = getattr(error.__cause__, "sqlstate", None)
    return state is None or state.startswith(("08", "57P"))


def problem(status: int, code: str, detail: str, **extra: Any) -> Response:
    body = {"type": f"urn:memoryhub:{code}", "status": status, "code": code, "detail": detail}
    return Response(_encodable(body | extra), status=status, content_type=CONTENT_TYPE)


def _encodable(value: Any) -> Any:
    """What a caller sent comes back in messages, and may be no valid text."""
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    if isinstance(value, dict):
        return {_encodable(key): _encodable(inner) for key, inner in value.items()}
    return [_encodable(inner) for inner in value] if isinstance(value, list) else value


def _ours(error: MemoryHubError) -> Response:
    set_rollback()
    errors = [{"field": error.field, "message": error.message}] if error.field else []
    extra = dict(error.extra, **({"errors": errors} if errors else {}))
    return problem(error.status, error.code, error.message, **extra)


def _drf(error: Exception, context: dict[str, Any]) -> Response | None:
    response = drf_handler(error, context)
    if response is None or not isinstance(error, exceptions.APIException):
        return response
    if isinstance(error, exceptions.ValidationError):
        errors = list(_fields(error.detail, ""))
        made = problem(422, "invalid", _sentence(errors), errors=errors)
    else:
        made = problem(response.status_code, _code(error), str(error.detail))
    for header in ("WWW-Authenticate", "Retry-After", "Allow"):
        if header in response:
            made[header] = response[header]
    return made


def _code(error: exceptions.APIException) -> str:
    return str(error.default_code)


def _sentence(errors: list[dict[str, str]]) -> str:
    return "; ".join(
        f"{e['field']}: {e['message']}" if e["field"] else e["message"] for e in errors
    )


def _fields(detail: Any, path: str) -> list[dict[str, str]]:
    """DRF's nested errors as a flat list: {"field": "messages[2].role", "message": …}."""
    if isinstance(detail, dict):
        return [f for name, inner in detail.items() for f in _fields(inner, _join(path, name))]
    if isinstance(detail, list) and any(isinstance(inner, (dict, list)) for inner in detail):
        return [f for at, inner in enumerate(detail) for f in _fields(inner, f"{path}[{at}]")]
    messages = detail if isinstance(detail, list) else [detail]
    return [{"field": path, "message": str(message)} for message in messages]


def _join(path: str, name: object) -> str:
    if name == "non_field_errors":
        return path
    if isinstance(name, int):
        return f"{path}[{name}]"
    return f"{path}.{name}" if path else str(name)
