"""Every error as problem+json (RFC 9457), with a stable code and the field at fault."""

from __future__ import annotations

from typing import Any

import structlog
from django.core.exceptions import PermissionDenied
from django.db import OperationalError
from django.http import Http404
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import exception_handler as drf_handler
from rest_framework.views import set_rollback

from memoryhub.errors import MemoryHubError

log = structlog.get_logger()
CONTENT_TYPE = "application/problem+json"


def exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's hook. None lets Django answer 500, which is logged."""
    if isinstance(error, MemoryHubError):
        return _ours(error)
    if isinstance(error, OperationalError):
        log.error("database.unreachable", error=str(error))
        return problem(503, "database_unreachable", "The database can't be reached.")
    if isinstance(error, Http404):
        return problem(404, "not_found", "Not found.")
    if isinstance(error, PermissionDenied):
        return problem(403, "forbidden", str(error) or "Not allowed.")
    return _drf(error, context)


def problem(status: int, code: str, detail: str, **extra: Any) -> Response:
    body = {"type": f"urn:memoryhub:{code}", "status": status, "code": code, "detail": detail}
    return Response(body | extra, status=status, content_type=CONTENT_TYPE)


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
