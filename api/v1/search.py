"""Questions about a subject: search, context, answers; and what callers think of them."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache
from typing import Any, ClassVar, get_args
from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from api.core.authentication import get_request_key
from api.core.fields import (
    NOT_BLANK,
    NULL,
    IntegerField,
    ListField,
    NameField,
    StrictBooleanField,
    StrictIdField,
    StrictNumberField,
    StrictSerializer,
    SubjectField,
    TextField,
    TimestampField,
    validate_body,
)
from api.core.views import HubView, get_session_id, get_space_by_subject
from api.rows.answers import build_row_type, define_answer, extend_answer
from api.rows.columns import Resource, pick_columns
from api.rows.write_views import SpaceWriteRequest, SpaceWriteView
from api.schema.components import EXPLAINED_FIELDS
from memoryhub.dialogues.messages import check_text, to_utc
from memoryhub.policies.schema import Channel, SelectMode
from memoryhub.recall.log.feedback import save_feedback
from memoryhub.recall.render.pack import LEAST_TOKENS, MOST_TOKENS
from memoryhub.recall.render.results import MemoryKind
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import reading_scope, tenant_scope
from notes.models import Feedback
from notes.quality.feedback import MAX_REASON_LENGTH, RATED_MODELS


class RecallSerializer(StrictSerializer):
    """What every question may say, however it is answered."""

    subject = SubjectField()
    query = TextField(shape=NOT_BLANK)
    session = NameField(default="", max_length=200)
    channels = ListField(
        serializers.ChoiceField(choices=get_args(Channel)), **NULL, allow_empty=False
    )
    select = serializers.ChoiceField(choices=get_args(SelectMode), **NULL)
    as_of = TimestampField(**NULL)
    include_past = StrictBooleanField(default=False)
    deep = StrictBooleanField(default=False)
    explain = StrictBooleanField(default=False)


class SearchSerializer(RecallSerializer):
    """`limit` left out: as many as the policy has it, which is ten or what the router thinks.
    `min_relevance`: only what is like the query by so much; left out: the nearest, and each says
    whether it bears on the query."""

    limit = IntegerField(allow_null=True, required=False, min_value=1, max_value=100)
    kinds = ListField(
        serializers.ChoiceField(choices=get_args(MemoryKind)), **NULL, allow_empty=False
    )
    budget_tokens = IntegerField(**NULL, min_value=LEAST_TOKENS, max_value=MOST_TOKENS)
    min_relevance = StrictNumberField(**NULL, min_value=0, max_value=1)


class ContextSerializer(RecallSerializer):
    agent = NameField(default="", max_length=120)
    budget_tokens = IntegerField(default=2000, min_value=LEAST_TOKENS, max_value=MOST_TOKENS)


class AnswerSerializer(StrictSerializer):
    """A question about a subject. `session`: the conversation it is asked in, by name."""

    subject = SubjectField()
    question = TextField(shape=NOT_BLANK)
    session = NameField(default="", max_length=200)
    as_of = TimestampField(**NULL)
    include_past = StrictBooleanField(default=False)
    deep = StrictBooleanField(default=False)
    limit = IntegerField(allow_null=True, required=False, min_value=1, max_value=100)
    budget_tokens = IntegerField(default=2000, min_value=100, max_value=1_000_000)
    explain = StrictBooleanField(default=False)


# Most of what an answer holds is none of what is looked for below: told by its type, at once.
_LEAF_TYPES = frozenset({str, int, float, bool, type(None), UUID, datetime})


def to_plain_values(value: Any, left_out: Collection[str]) -> Any:
    """As `dataclasses.asdict`, but without a copy of what holds no dataclass, which takes longer
    than a search; and without the fields `left_out`, at any depth."""
    if type(value) in _LEAF_TYPES:
        return value
    if isinstance(value, Mapping):
        return {name: to_plain_values(each, left_out) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain_values(each, left_out) for each in value]
    if not is_dataclass(value) or isinstance(value, type):
        return value
    names = [name for name in _list_field_names(type(value)) if name not in left_out]
    return {name: to_plain_values(getattr(value, name), left_out) for name in names}


@cache
def _list_field_names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def render_recall(answer: Any) -> dict[str, Any]:
    """A search's or a context's answer. By what a memory was found is told with the explanation."""
    left_out = EXPLAINED_FIELDS if answer.explain is None else ()
    shown: dict[str, Any] = to_plain_values(answer, left_out)
    return shown


class QuestionView(HubView):
    """Answers a question about a subject. Raises InvalidInput that names the field, NotFound for a
    subject that is not there."""

    scopes: ClassVar = {"POST": "read"}
    serializer_class: type[serializers.Serializer[Any]]
    question_field = "query"

    def post(self, request: Request) -> Response:
        from memoryhub.recall.question.caller import SearchCaller

        wanted = validate_body(self.serializer_class, self.read_body(request))
        name = self.question_field
        question, key = check_text(wanted.pop(name), field=name), get_request_key(request)
        with reading_scope(key.tenant_id):
            space = get_space_by_subject(request, wanted.pop("subject"))
            wanted["session_id"] = get_session_id(space, wanted.pop("session"))
            wanted |= self.load_options(space)
        if wanted["as_of"]:
            wanted["as_of"] = to_utc(wanted["as_of"], space.timezone, field="as_of")
        wanted["asked_by"] = SearchCaller("api", str(key.id))
        started = time.perf_counter()
        found = render_recall(self.ask(space, question, **wanted))
        return Response(found | {"ms": round((time.perf_counter() - started) * 1000, 1)})

    def load_options(self, space: Space) -> dict[str, Any]:
        """What is looked up beside the space, inside the tenant's scope."""
        from memoryhub.recall.question.prepare import load_space_state

        return {"standing": load_space_state(space)}

    def ask(self, space: Space, question: str, **options: Any) -> Any:
        raise NotImplementedError


class SearchView(QuestionView):
    """Find what matters now."""

    serializer_class = SearchSerializer
    example: ClassVar = {"subject": "ana", "query": "where does she play chess"}

    def get_answer_type(self, method: str, status: int) -> Any:
        from memoryhub.recall.render.results import SearchResult

        return extend_answer(SearchResult, "SearchResult", ms=float)

    def ask(self, space: Space, question: str, **options: Any) -> Any:
        from memoryhub.recall.services import search_memories

        nearest = options["min_relevance"] is None
        return search_memories(space, question, nearest=nearest, **options)


class ContextView(QuestionView):
    """What to put in front of a model that is to answer."""

    serializer_class = ContextSerializer
    example: ClassVar = SearchView.example

    def get_answer_type(self, method: str, status: int) -> Any:
        from memoryhub.recall.context import MemoryContext

        return extend_answer(MemoryContext, "Context", ms=float)

    def ask(self, space: Space, question: str, **options: Any) -> Any:
        from memoryhub.recall.context import build_context

        return build_context(space, question, **options)


class AnswerView(QuestionView):
    """Answer a question from what is remembered, and say what the answer rests on."""

    serializer_class = AnswerSerializer
    question_field = "question"
    example: ClassVar = {"subject": "ana", "question": "where does she play chess"}

    def get_answer_type(self, method: str, status: int) -> Any:
        from memoryhub.recall.render.citations import AnswerResult

        return extend_answer(AnswerResult, "Answer", ms=float)

    def load_options(self, space: Space) -> dict[str, Any]:
        return {}

    def ask(self, space: Space, question: str, **options: Any) -> Any:
        from memoryhub.recall.answers import answer_question  # loads the engines

        return answer_question(space, question, **options)


FEEDBACK = Resource(
    "feedback",
    "What somebody thinks of a memory: it helped, it did not, it harmed, or it is not true.",
    Feedback,
    pick_columns(
        Feedback,
        "id kind=row_type memory_id=row_id recall_id verdict comment=reason actor created_at",
    ),
    order=("-created_at", "-id"),
    component="MemoryFeedback",
)


class SetFeedbackSerializer(StrictSerializer):
    """`recall_id`: that of the search it was shown by. `verdict` null takes the word back."""

    kind = serializers.ChoiceField(choices=tuple(RATED_MODELS))
    memory_id = StrictIdField()
    recall_id = StrictIdField(**NULL)
    verdict = serializers.ChoiceField(choices=tuple(Feedback.Verdict.values), allow_null=True)
    comment = NameField(default="", max_length=MAX_REASON_LENGTH)


class SetFeedbackView(SpaceWriteView):
    """The key's word on a memory, in place of an earlier one. It changes no memory by itself."""

    serializer_class = SetFeedbackSerializer
    answer: ClassVar = define_answer(
        "SavedFeedback",
        "The word as it is kept; null where it was taken back.",
        feedback=build_row_type(FEEDBACK) | None,
    )
    example: ClassVar = {
        "kind": "fact",
        "memory_id": "0197a0de-0000-7000-8000-000000000000",
        "recall_id": "0197a0de-0000-7000-8000-000000000001",
        "verdict": "wrong",
        "comment": "She moved in May.",
    }

    def run_write(self, deed: SpaceWriteRequest, **ids: Any) -> dict[str, Any]:
        given = dict(deed.given)
        of, verdict = (given.pop("kind"), given.pop("memory_id")), given.pop("verdict")
        with tenant_scope(deed.tenant_id):
            kept = save_feedback(deed.space, of, verdict, deed.actor, deed.now, **given)
            return {"feedback": deed.render_row(FEEDBACK, kept.id) if kept else None}
