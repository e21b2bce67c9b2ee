"""Is the hub up? For load balancers and the launcher; says nothing a stranger may not know."""

from __future__ import annotations

from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse


def healthz(request: HttpRequest) -> JsonResponse:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return JsonResponse({"status": "down", "database": "unreachable"}, status=503)
    return JsonResponse({"status": "ok"})
