"""A question put to the hub itself, in place of the agent that would search and answer."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.core.authentication import get_request_key
from api.core.views import HubView, get_session_id, get_space_by_subject
from api.v1.memories.serializers import AnswerRequestSerializer, validate_body
from memoryhub.dialogues.messages import check_text, to_utc


class AnswerView(HubView):
    """Answer a question from what is remembered, and say what the answer rests on."""

    scopes: ClassVar = {"POST": "read"}
    example: ClassVar = {"subject": "ana", "question": "where does she play chess"}

    @extend_schema(request=AnswerRequestSerializer, responses={200: dict[str, Any]})
    def post(self, request: Request) -> Response:
        from memoryhub.recall.answers import answer_question  # loads the engines
        from memoryhub.recall.question.prepare import SearchCaller

        wanted = validate_body(AnswerRequestSerializer, self.read_body(request))
        question = check_text(wanted.pop("question"), field="question")
        space = get_space_by_subject(request, wanted.pop("subject"))
        session_id = get_session_id(space, wanted.pop("session"))
        if wanted["as_of"]:
            wanted["as_of"] = to_utc(wanted["as_of"], space.timezone, field="as_of")
        wanted["asked_by"] = SearchCaller("api", str(get_request_key(request).id))
        started = time.perf_counter()
        given = asdict(answer_question(space, question, session_id=session_id, **wanted))
        return Response(given | {"ms": round((time.perf_counter() - started) * 1000, 1)})
