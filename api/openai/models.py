"""Which models can be named: the tenant's, those the operator lists, and the embedder."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, ClassVar

from rest_framework.request import Request
from rest_framework.response import Response

from api.authentication import key_of
from api.openai.exchange import policy_for
from api.openai.views import OpenAIView
from memoryhub import models_in_use
from memoryhub.errors import EngineError, NotFound
from memoryhub.tenants.keys import KeyRow
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope


class ModelsView(OpenAIView):
    scopes: ClassVar = {"GET": "read"}

    def get(self, request: Request) -> Response:
        names = _names(key_of(request))
        return Response({"object": "list", "data": [_model(name) for name in names]})


class ModelView(OpenAIView):
    scopes: ClassVar = {"GET": "read"}

    def get(self, request: Request, name: str) -> Response:
        if name not in _names(key_of(request)):
            raise NotFound("There is no such model.", field="model")
        return Response(_model(name))


def _names(key: KeyRow) -> list[str]:
    """What can be used now: without an endpoint or an embedder there is none of it."""
    with tenant_scope(key.tenant_id):
        tenant = Tenant.objects.get(id=key.tenant_id)
        space = Space.objects.filter(id=key.space_id).first() if key.space_id else None
        policy = policy_for(key, space)
    names = list[str]()
    with suppress(EngineError):
        names += models_in_use.proxied_models(tenant, policy)
    with suppress(EngineError):
        names.append(models_in_use.embedder().name)
    return names


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "memoryhub"}
