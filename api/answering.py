"""A question put to the hub itself, in place of the agent that would search and answer."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.authentication import key_of
from api.serializers import AnswerSerializer, checked
from api.views import HubView, session_of, space_of
from memoryhub.dialogues.messages import checked_text, in_zone


class AnswerView(HubView):
    """Answer a question from what is remembered, and say what the answer rests on."""

    scopes: ClassVar = {"POST": "read"}
    example: ClassVar = {"subject": "ana", "question": "where does she play chess"}

    @extend_schema(request=AnswerSerializer, responses={200: dict[str, Any]})
    def post(self, request: Request) -> Response:
        from memoryhub.recall.answering import answer  # loads the engines
        from memoryhub.recall.asking import Asker

        wanted = checked(AnswerSerializer, self.body(request))
        question = checked_text(wanted.pop("question"), field="question")
        space = space_of(request, wanted.pop("subject"))
        session_id = session_of(space, wanted.pop("session"))
        if wanted["as_of"]:
            wanted["as_of"] = in_zone(wanted["as_of"], space.timezone, field="as_of")
        wanted["asked_by"] = Asker("api", str(key_of(request).id))
        started = time.perf_counter()
        given = asdict(answer(space, question, session_id=session_id, **wanted))
        return Response(given | {"ms": round((time.perf_counter() - started) * 1000, 1)})
