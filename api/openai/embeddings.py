"""Vectors of the hub's own embedder, for who would otherwise call an endpoint for them."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from rest_framework.request import Request
from rest_framework.response import Response

from api.openai.views import OpenAIView
from memoryhub import models_in_use
from memoryhub.dialogues.messages import checked_text
from memoryhub.engines.types import Embedder
from memoryhub.errors import InvalidInput, TooLarge

MOST_INPUTS = 2048

Row = NDArray[np.float32]
_FORMATS: dict[str, Callable[[Row], Any]] = {
    "float": lambda row: row.tolist(),
    "base64": lambda row: b64encode(row.astype("<f4").tobytes()).decode(),
}


class EmbeddingsView(OpenAIView):
    """One vector a text, whatever model is named: the answer says which one made them."""

    scopes: ClassVar = {"POST": "read"}

    def post(self, request: Request) -> Response:
        body = self.body(request)
        texts, shown = texts_of(body.get("input")), _format(body.get("encoding_format"))
        embedder = models_in_use.embedder()
        _check_dimensions(body.get("dimensions"), embedder)
        rows = embedder.embed(texts)
        data = [
            {"object": "embedding", "index": at, "embedding": shown(row)}
            for at, row in enumerate(rows)
        ]
        tokens = sum(embedder.count_tokens(texts))
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return Response({"object": "list", "data": data, "model": embedder.name, "usage": usage})


def texts_of(given: Any) -> list[str]:
    """A text, or a list of texts. Raises InvalidInput for tokens, and TooLarge."""
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not texts:
        raise InvalidInput("a text, or a list of at least one text", field="input")
    if len(texts) > MOST_INPUTS:
        raise TooLarge(f"at most {MOST_INPUTS} texts", field="input")
    for at, text in enumerate(texts):
        if not isinstance(text, str):
            raise InvalidInput(
                "must be text: tokens of other models mean nothing here", field=f"input[{at}]"
            )
    return [checked_text(text, field=f"input[{at}]") for at, text in enumerate(texts)]


def _format(given: Any) -> Callable[[Row], Any]:
    if given is None:
        return _FORMATS["float"]
    if not isinstance(given, str) or given not in _FORMATS:
        raise InvalidInput("float or base64", field="encoding_format")
    return _FORMATS[given]


def _check_dimensions(given: Any, embedder: Embedder) -> None:
    if given is not None and (isinstance(given, bool) or given != embedder.dimension):
        raise InvalidInput(f"this embedder makes {embedder.dimension}", field="dimensions")
