"""Every error as problem+json (RFC 9457), with a stable code and the field at fault."""

from __future__ import annotations

from typing import Any

import structlog
from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.db import OperationalError
from django.http import Http404, UnreadablePostError
from rest_framework import exceptions
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response
from rest_framework.views import exception_handler as drf_handler
from rest_framework.views import set_rollback

from memoryhub.disk import is_disk_full_error
from memoryhub.errors import MemoryHubError, QueueFull, TenantMoved, TooLarge
from memoryhub.tenants.database.contention import is_deadlock

log = structlog.get_logger()
_PATIENCE_SECONDS = {QueueFull: 30, TenantMoved: 1}
PROBLEM_CONTENT_TYPE = "application/problem+json"


def exception_handler(error: Exception, context: dict[str, Any]) -> Response:
    """DRF's hook. What nobody foresaw is logged whole, and answered without a word of it."""
    # Problems are JSON also where the view renders pages.
    context["request"].accepted_renderer = JSONRenderer()
    context["request"].accepted_media_type = JSONRenderer.media_type
    response = _build_problem_response(error, context)
    context["request"]._request.problem_code = response.data["code"]  # for the request log
    return response


def _build_problem_response(error: Exception, context: dict[str, Any]) -> Response:
    if isinstance(error, MemoryHubError):
        return _build_hub_problem(error)
    if isinstance(error, RequestDataTooBig):
        return build_problem(413, TooLarge.code, "The body is too large.")
    if isinstance(error, UnreadablePostError):
        return build_problem(408, "body_incomplete", "The body did not come whole, or in time.")
    if is_disk_full_error(error):
        set_rollback()
        log.error("disk.full", error=str(error))
        return build_problem(507, "disk_full", "The hub's disk is full: nothing can be kept now.")
    if isinstance(error, OperationalError) and _is_unreachable(error):
        log.error("database.unreachable", error=str(error))
        return build_problem(503, "database_unreachable", "The database can't be reached.")
    if isinstance(error, OperationalError) and is_deadlock(error):
        set_rollback()
        log.warning("database.deadlock", error=str(error))
        return build_problem(409, "busy", "These memories are being changed: try again.")
    if isinstance(error, Http404):
        return build_problem(404, "not_found", "Not found.")
    if isinstance(error, PermissionDenied):
        return build_problem(403, "forbidden", str(error) or "Not allowed.")
    if known := _build_drf_problem(error, context):
        return known
    set_rollback()
    log.error("request.failed", exc_info=error)
    return build_problem(500, "internal_error", "Something went wrong here; the log says what.")


def _is_unreachable(error: OperationalError) -> bool:
    """Whether the connection failed, not a statement (SQLSTATE classes 08 and 57P)."""
    state = getattr(error.__cause__, "sqlstate", None)
    return state is None or state.startswith(("08", "57P"))


def build_problem(status: int, code: str, detail: str, **extra: Any) -> Response:
    body = {"type": f"urn:memoryhub:{code}", "status": status, "code": code, "detail": detail}
    return Response(
        _replace_unencodable(body | extra), status=status, content_type=PROBLEM_CONTENT_TYPE
    )


def _replace_unencodable(value: Any) -> Any:
    """What a caller sent comes back in messages, and may be no valid text."""
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    if isinstance(value, dict):
        return {
            _replace_unencodable(key): _replace_unencodable(inner) for key, inner in value.items()
        }
    return [_replace_unencodable(inner) for inner in value] if isinstance(value, list) else value


def _build_hub_problem(error: MemoryHubError) -> Response:
    set_rollback()
    errors = [{"field": error.field, "message": error.message}] if error.field else []
    extra = dict(error.extra, **({"errors": errors} if errors else {}))
    made = build_problem(error.status, error.code, error.message, **extra)
    if patience := _PATIENCE_SECONDS.get(type(error)):
        made["Retry-After"] = str(patience)
    return made


def _build_drf_problem(error: Exception, context: dict[str, Any]) -> Response | None:
    response = drf_handler(error, context)
    if response is None or not isinstance(error, exceptions.APIException):
        return response
    if isinstance(error, exceptions.ValidationError):
        errors = list(_flatten_field_errors(error.detail, ""))
        told = (f"{e['field']}: {e['message']}" if e["field"] else e["message"] for e in errors)
        made = build_problem(422, "invalid", "; ".join(told), errors=errors)
    else:
        made = build_problem(response.status_code, str(error.default_code), str(error.detail))
    for header in ("WWW-Authenticate", "Retry-After", "Allow"):
        if header in response:
            made[header] = response[header]
    return made


def _flatten_field_errors(detail: Any, path: str) -> list[dict[str, str]]:
    """DRF's nested errors as a flat list: {"field": "messages[2].role", "message": …}."""
    if isinstance(detail, dict):
        return [
            f
            for name, inner in detail.items()
            for f in _flatten_field_errors(inner, _join_field_path(path, name))
        ]
    if isinstance(detail, list) and any(isinstance(inner, (dict, list)) for inner in detail):
        return [
            f
            for at, inner in enumerate(detail)
            for f in _flatten_field_errors(inner, f"{path}[{at}]")
        ]
    messages = detail if isinstance(detail, list) else [detail]
    return [{"field": path, "message": str(message)} for message in messages]


def _join_field_path(path: str, name: object) -> str:
    if name == "non_field_errors":
        return path
    if isinstance(name, int):
        return f"{path}[{name}]"
    return f"{path}.{name}" if path else str(name)
