"""Questions about a subject: search, what to put into a prompt, and answers."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from rest_framework.request import Request
from rest_framework.response import Response

from api.core.authentication import get_request_key
from api.core.fields import validate_body
from api.core.views import HubView, get_session_id, get_space_by_subject
from api.rows.answers import extend_answer
from api.v1.search.render import render_recall
from api.v1.search.serializers import (
    AnswerSerializer,
    ContextSerializer,
    RecallSerializer,
    SearchSerializer,
)
from memoryhub.dialogues.messages import check_text, to_utc
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope


@dataclass(frozen=True, slots=True)
class SpaceQuestion:
    """A question as it was sent: of which space, in which words, under which options."""

    space: Space
    query: str
    options: dict[str, Any]


class QuestionView(HubView):
    """Answers a question about a subject."""

    scopes: ClassVar = {"POST": "read"}
    example: ClassVar = {"subject": "ana", "query": "where does she play chess"}

    def read_question(self, request: Request, kind: type[RecallSerializer]) -> SpaceQuestion:
        """Raises InvalidInput that names the field, NotFound for a subject that is not there."""
        from memoryhub.recall.question.caller import SearchCaller
        from memoryhub.recall.question.prepare import load_space_state

        wanted = validate_body(kind, self.read_body(request))
        query = check_text(wanted.pop("query"), field="query")
        with tenant_scope(get_request_key(request).tenant_id):
            space = get_space_by_subject(request, wanted.pop("subject"))
            wanted["session_id"] = get_session_id(space, wanted.pop("session"))
            wanted["standing"] = load_space_state(space)
        if wanted["as_of"]:
            wanted["as_of"] = to_utc(wanted["as_of"], space.timezone, field="as_of")
        wanted["asked_by"] = SearchCaller("api", str(get_request_key(request).id))
        return SpaceQuestion(space, query, wanted)

    def build_answer_response(self, ask: Callable[..., Any], asked: SpaceQuestion) -> Response:
        started = time.perf_counter()
        found = render_recall(ask(asked.space, asked.query, **asked.options))
        return Response(found | {"ms": round((time.perf_counter() - started) * 1000, 1)})


class SearchView(QuestionView):
    """Find what matters now."""

    serializer_class = SearchSerializer

    def get_answer_type(self, method: str, status: int) -> Any:
        from memoryhub.recall.render.results import SearchResult

        return extend_answer(SearchResult, "SearchResult", ms=float)

    def post(self, request: Request) -> Response:
        from memoryhub.recall.services import search_memories

        asked = self.read_question(request, SearchSerializer)
        return self.build_answer_response(search_memories, asked)


class ContextView(QuestionView):
    """What to put in front of a model that is to answer."""

    serializer_class = ContextSerializer

    def get_answer_type(self, method: str, status: int) -> Any:
        from memoryhub.recall.context import MemoryContext

        return extend_answer(MemoryContext, "Context", ms=float)

    def post(self, request: Request) -> Response:
        from memoryhub.recall.context import build_context

        asked = self.read_question(request, ContextSerializer)
        return self.build_answer_response(build_context, asked)


class AnswerView(HubView):
    """Answer a question from what is remembered, and say what the answer rests on."""

    scopes: ClassVar = {"POST": "read"}
    example: ClassVar = {"subject": "ana", "question": "where does she play chess"}

    serializer_class = AnswerSerializer

    def get_answer_type(self, method: str, status: int) -> Any:
        from memoryhub.recall.render.citations import AnswerResult

        return extend_answer(AnswerResult, "Answer", ms=float)

    def post(self, request: Request) -> Response:
        from memoryhub.recall.answers import answer_question  # loads the engines
        from memoryhub.recall.question.caller import SearchCaller

        wanted = validate_body(AnswerSerializer, self.read_body(request))
        question = check_text(wanted.pop("question"), field="question")
        space = get_space_by_subject(request, wanted.pop("subject"))
        session_id = get_session_id(space, wanted.pop("session"))
        if wanted["as_of"]:
            wanted["as_of"] = to_utc(wanted["as_of"], space.timezone, field="as_of")
        wanted["asked_by"] = SearchCaller("api", str(get_request_key(request).id))
        started = time.perf_counter()
        given = asdict(answer_question(space, question, session_id=session_id, **wanted))
        return Response(given | {"ms": round((time.perf_counter() - started) * 1000, 1)})
