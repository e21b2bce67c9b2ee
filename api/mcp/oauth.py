"""What hosts read to learn how to come by a key: OAuth's metadata of a protected resource
(RFC 9728). The hub gives out no keys that way itself; it names who does, where an operator says so.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe
from rest_framework.request import Request

METADATA_ROUTE = ".well-known/oauth-protected-resource"
# What hosts ask for unless people choose otherwise: `admin` erases for good.
_SCOPES = ["read", "write"]


def build_metadata_address(request: Request | HttpRequest) -> str:
    return request.build_absolute_uri(f"/{METADATA_ROUTE}/mcp")


@require_safe
def show_metadata(request: HttpRequest) -> JsonResponse:
    """For anybody, from pages too: there is nothing of a tenant in it."""
    told: dict[str, Any] = {
        "resource": request.build_absolute_uri("/mcp"),
        "resource_name": "MemoryHub",
        "bearer_methods_supported": ["header"],
        "scopes_supported": _SCOPES,
    }
    if settings.OAUTH_ISSUER:
        told["authorization_servers"] = [settings.OAUTH_ISSUER]
    return JsonResponse(told, headers={"Access-Control-Allow-Origin": "*"})
