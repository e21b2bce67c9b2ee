"""Which models can be named: the tenant's, those the operator lists, and the embedder."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, ClassVar

from rest_framework.request import Request
from rest_framework.response import Response

from api.core.authentication import get_request_key
from api.openai.exchange import load_policy
from api.openai.views import OpenAIView
from memoryhub.errors import EngineError, NotFound
from memoryhub.inference import selection
from memoryhub.tenants.keys import KeyRow
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope


class ModelsView(OpenAIView):
    scopes: ClassVar = {"GET": "read"}

    def get(self, request: Request) -> Response:
        names = _list_model_names(get_request_key(request))
        return Response({"object": "list", "data": [_render_model(name) for name in names]})


class ModelView(OpenAIView):
    scopes: ClassVar = {"GET": "read"}

    def get(self, request: Request, name: str) -> Response:
        if name not in _list_model_names(get_request_key(request)):
            raise NotFound("There is no such model.", field="model")
        return Response(_render_model(name))


def _list_model_names(key: KeyRow) -> list[str]:
    """What can be used now: without an endpoint or an embedder there is none of it."""
    with tenant_scope(key.tenant_id):
        tenant = Tenant.objects.get(id=key.tenant_id)
        space = Space.objects.filter(id=key.space_id).first() if key.space_id else None
        policy = load_policy(key, space)
    names = list[str]()
    with suppress(EngineError):
        names += selection.list_proxied_models(tenant, policy)
    with suppress(EngineError):
        names.append(selection.get_current_embedder().name)
    return names


def _render_model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "memoryhub"}
