"""Which models can be named, and vectors of the one that makes them."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from contextlib import suppress
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from rest_framework.request import Request
from rest_framework.response import Response

from api.core.authentication import get_request_key
from api.openai.exchange import load_policy
from api.openai.views import OpenAIView
from memoryhub.dialogues.messages import check_text
from memoryhub.engines.types import Embedder
from memoryhub.errors import EngineError, InvalidInput, NotFound, TooLarge
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


MAX_INPUTS = 2048

Vector = NDArray[np.float32]
_ENCODER_BY_FORMAT: dict[str, Callable[[Vector], Any]] = {
    "float": lambda row: row.tolist(),
    "base64": lambda row: b64encode(row.astype("<f4").tobytes()).decode(),
}


class EmbeddingsView(OpenAIView):
    """One vector a text, whatever model is named: the answer says which one made them."""

    scopes: ClassVar = {"POST": "read"}

    def post(self, request: Request) -> Response:
        body = self.read_body(request)
        texts, shown = read_texts(body.get("input")), _read_encoder(body.get("encoding_format"))
        embedder = selection.get_current_embedder()
        _check_dimensions(body.get("dimensions"), embedder)
        rows = embedder.embed(texts)
        data = [
            {"object": "embedding", "index": at, "embedding": shown(row)}
            for at, row in enumerate(rows)
        ]
        tokens = sum(embedder.count_tokens(texts))
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return Response({"object": "list", "data": data, "model": embedder.name, "usage": usage})


def read_texts(given: Any) -> list[str]:
    """A text, or a list of texts. Raises InvalidInput for tokens, and TooLarge."""
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not texts:
        raise InvalidInput("a text, or a list of at least one text", field="input")
    if len(texts) > MAX_INPUTS:
        raise TooLarge(f"at most {MAX_INPUTS} texts", field="input")
    for at, text in enumerate(texts):
        if not isinstance(text, str):
            raise InvalidInput(
                "must be text: tokens of other models mean nothing here", field=f"input[{at}]"
            )
    return [check_text(text, field=f"input[{at}]") for at, text in enumerate(texts)]


def _read_encoder(given: Any) -> Callable[[Vector], Any]:
    if given is None:
        return _ENCODER_BY_FORMAT["float"]
    if not isinstance(given, str) or given not in _ENCODER_BY_FORMAT:
        raise InvalidInput("float or base64", field="encoding_format")
    return _ENCODER_BY_FORMAT[given]


def _check_dimensions(given: Any, embedder: Embedder) -> None:
    if given is not None and (isinstance(given, bool) or given != embedder.dimension):
        raise InvalidInput(f"this embedder makes {embedder.dimension}", field="dimensions")
