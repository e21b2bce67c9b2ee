"""The page of a request that failed: what went wrong, as far as it is known, and where to look."""

from __future__ import annotations

import sys

import structlog
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from memoryhub.disk import is_disk_full_error

# Of PostgreSQL's classes of errors: no connection, and a server that goes down or comes up.
_AWAY = ("08", "57P")


def show_failure(request: HttpRequest) -> HttpResponse:
    """Without the request's context: what it is made of may be what failed."""
    error = sys.exc_info()[1]
    what, status = "", 500
    if is_disk_full_error(error):
        what, status = "disk", 507
    elif is_database_away(error):
        what, status = "database", 503
    context = {
        "what": what,
        "request_id": structlog.contextvars.get_contextvars().get("request_id", ""),
        "can_reload": request.method == "GET",
        "is_console": not request.path.startswith("/me/"),
    }
    return HttpResponse(render_to_string("500.html", context), status=status)


def is_database_away(error: BaseException | None) -> bool:
    """Whether nobody answered, and not that a statement was refused."""
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    code = getattr(error.__cause__, "sqlstate", None)
    return code is None or code.startswith(_AWAY)
