"""Pages of a list, with the total and a link to the next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from rest_framework.request import Request

from memoryhub.errors import InvalidInput

M = TypeVar("M", bound=Model)
MOST = 200


def page_of(
    request: Request, rows: QuerySet[M], show: Callable[[M], dict[str, Any]]
) -> dict[str, Any]:
    """{"items", "total", "offset", "limit"}: two queries. Raises InvalidInput."""
    offset, limit = _number(request, "offset", 0, 10**9), _number(request, "limit", 50, MOST)
    items = [show(row) for row in rows[offset : offset + limit]]
    return {"items": items, "total": rows.count(), "offset": offset, "limit": limit}


def _number(request: Request, name: str, default: int, most: int) -> int:
    raw = request.query_params.get(name)
    if raw is None:
        return default
    if not (raw.isascii() and raw.isdecimal() and len(raw) < 12 and int(raw) <= most):
        raise InvalidInput(f"a whole number from 0 to {most}", field=name)
    return int(raw)
