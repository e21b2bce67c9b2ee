"""Errors as OpenAI's clients read them: {"error": {"message", "type", "param", "code"}}."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from rest_framework.response import Response

from api.core.problems import exception_handler
from memoryhub.errors import EndpointRefusal, EngineError, InvalidInput, ModelsPaused

# Of the endpoint's statuses that its caller's caller can't mend, and where none came at all.
_GATEWAY_STATUSES = {408: 504, 429: 429, 503: 503, 504: 504}
_KEY_REFUSED = "The model endpoint refused the hub's own key: its operator has to see to it."
_STATUS_BY_CODE = {
    "timeout": 504,
    "unreachable": 502,
    "engine_failed": 502,
    "endpoint_refused": 502,
}
_TYPE_BY_STATUS = {403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}
# Asking again at once ends in the same way, which clients would find out for themselves.
_NO_RETRY = {"x-should-retry": "false"}


def handle_error(error: Exception, context: dict[str, Any]) -> Response:
    """DRF's hook: a problem as ever, told in the other shape."""
    response = exception_handler(error, context)
    told = response.data
    param = next((each["field"] for each in told.get("errors", [])), None)
    response.data = {"error": render_error(error, told["detail"], told["code"], param)}
    response.content_type = "application/json"
    response.status_code = choose_status(error, response.status_code)
    response.data["error"]["type"] = choose_type(error, response.status_code)
    for name, value in _build_retry_headers(error).items():
        response[name] = value
    return response


def render_error(
    error: Exception, message: str, code: str, param: str | None = None
) -> dict[str, Any]:
    """The endpoint's own words where the request was at fault, else the hub's."""
    shown: dict[str, Any] = {"message": message, "type": "", "param": param, "code": code}
    if isinstance(error, EndpointRefusal) and error.is_of_the_request:
        own = {
            name: error.told[name] for name in ("message", "param", "code") if name in error.told
        }
        return shown | own
    if isinstance(error, EndpointRefusal) and error.answered in (401, 403):
        return shown | {"message": _KEY_REFUSED}  # what the endpoint says may quote the key
    return shown | {"code": "insufficient_quota"} if code == "budget_spent" else shown


def render_engine_error(error: EngineError) -> dict[str, Any]:
    """For the middle of a stream, where no status can be sent any more."""
    kind = choose_type(error, choose_status(error, error.status))
    return render_error(error, error.message, error.code) | {"type": kind}


def choose_status(error: Exception, status: int) -> int:
    """`status` is what the native API would answer."""
    if isinstance(error, InvalidInput):
        return 400
    if isinstance(error, EndpointRefusal):
        kept = error.answered if error.is_of_the_request else None
        return kept or _GATEWAY_STATUSES.get(error.answered, 502)
    if isinstance(error, ModelsPaused):
        return 429 if error.code == "budget_spent" else 503
    if isinstance(error, EngineError):
        return _STATUS_BY_CODE.get(error.code, status)
    return 400 if status == 422 else status


def choose_type(error: Exception, status: int) -> str:
    if isinstance(error, EndpointRefusal) and error.is_of_the_request:
        return str(error.told.get("type") or "invalid_request_error")
    if isinstance(error, ModelsPaused) and error.code == "budget_spent":
        return "insufficient_quota"
    return _TYPE_BY_STATUS.get(status, "server_error" if status >= 500 else "invalid_request_error")


def _build_retry_headers(error: Exception) -> dict[str, str]:
    """When to come back."""
    if isinstance(error, ModelsPaused):
        seconds = max(1, round((error.until - timezone.now()).total_seconds()))
        waiting = {"Retry-After": str(seconds)}
        return waiting | (_NO_RETRY if error.code == "budget_spent" else {})
    if isinstance(error, EndpointRefusal):
        return _NO_RETRY if error.permanent else dict(error.waiting)
    return _NO_RETRY if isinstance(error, EngineError) and error.permanent else {}
