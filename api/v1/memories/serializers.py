"""What the native API takes and gives."""

from __future__ import annotations

from functools import cache
from typing import Any, get_args

from django.conf import settings
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from api.core.fields import (
    NOT_BLANK,
    IntegerField,
    MetadataField,
    NameField,
    StrictBooleanField,
    TextField,
    TimestampField,
)
from memoryhub.dialogues.messages import Message
from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.ingest.services import IngestRequest
from memoryhub.policies.schema import Channel, SelectMode
from memoryhub.recall.render.pack import LEAST_TOKENS, MOST_TOKENS
from memoryhub.recall.render.results import MemoryKind


def validate_body(kind: type[serializers.Serializer[Any]], sent: Any) -> dict[str, Any]:
    """What was sent, as `kind` reads it. Raises ValidationError that names the fields.

    One serializer serves all requests, since making its fields takes longer than what they check.
    Only faults are told by one of their own: messages are put into words once, in one language.
    """
    try:
        return dict(_build_serializer(kind).run_validation(sent))
    except serializers.ValidationError:
        told = kind(data=sent)
        told.is_valid(raise_exception=True)
        return dict(told.validated_data)


@cache
def _build_serializer(kind: type[serializers.Serializer[Any]]) -> serializers.Serializer[Any]:
    return kind()


class MessageSerializer(serializers.Serializer[Message]):
    role = serializers.ChoiceField(choices=Turn.Role.values, default=Turn.Role.USER)
    content = TextField(shape=NOT_BLANK)
    speaker = TextField(required=False, default="", max_length=120)
    timestamp = TimestampField(required=False, allow_null=True, default=None)
    external_id = TextField(required=False, default="", max_length=200)
    metadata = MetadataField(required=False, default=dict)


class AddSerializer(serializers.Serializer[IngestRequest]):
    """Messages about a subject, oldest first."""

    subject = TextField(max_length=200, shape=NOT_BLANK)
    messages = serializers.ListField(
        child=MessageSerializer(), allow_empty=False, max_length=settings.MAX_MESSAGES
    )
    session = NameField(required=False, default="", max_length=200)
    agent = NameField(required=False, default="", max_length=120)
    metadata = MetadataField(required=False, default=dict)
    wait = StrictBooleanField(required=False, default=False)
    dry_run = StrictBooleanField(required=False, default=False)

    @staticmethod
    def build_ingest_request(data: dict[str, Any]) -> IngestRequest:
        shared = data["metadata"]
        return IngestRequest(
            subject=data["subject"],
            messages=[
                Message(**{**message, "metadata": {**shared, **message["metadata"]}})
                for message in data["messages"]
            ],
            session=data["session"],
            agent=data["agent"],
        )


@extend_schema_field({"type": "boolean", "const": False})
class NotInBatchField(StrictBooleanField):
    """What only makes sense for one add."""

    default_error_messages = {"together": "not in a batch"}

    def to_internal_value(self, data: Any) -> bool:
        if super().to_internal_value(data):
            self.fail("together")
        return False


class AddBatchItemSerializer(AddSerializer):
    wait = NotInBatchField(required=False, default=False)
    dry_run = NotInBatchField(required=False, default=False)


class AddBatchSerializer(serializers.Serializer[Any]):
    """Several adds, of one subject or of many: stored all or none."""

    items = serializers.ListField(child=AddBatchItemSerializer(), allow_empty=False, max_length=100)


class RecallSerializer(serializers.Serializer[Any]):
    """What every question may say, however it is answered."""

    subject = TextField(max_length=200, shape=NOT_BLANK)
    query = TextField(shape=NOT_BLANK)
    session = NameField(required=False, default="", max_length=200)
    channels = serializers.ListField(
        child=serializers.ChoiceField(choices=get_args(Channel)),
        required=False,
        allow_null=True,
        default=None,
        allow_empty=False,
    )
    select = serializers.ChoiceField(
        choices=get_args(SelectMode), required=False, allow_null=True, default=None
    )
    as_of = TimestampField(required=False, allow_null=True, default=None)
    include_past = StrictBooleanField(required=False, default=False)
    deep = StrictBooleanField(required=False, default=False)
    explain = StrictBooleanField(required=False, default=False)


class SearchSerializer(RecallSerializer):
    limit = IntegerField(required=False, allow_null=True, default=10, min_value=1, max_value=100)
    kinds = serializers.ListField(
        child=serializers.ChoiceField(choices=get_args(MemoryKind)),
        required=False,
        allow_null=True,
        default=None,
        allow_empty=False,
    )
    budget_tokens = IntegerField(
        required=False,
        allow_null=True,
        default=None,
        min_value=LEAST_TOKENS,
        max_value=MOST_TOKENS,
    )


class ContextSerializer(RecallSerializer):
    agent = NameField(required=False, default="", max_length=120)
    budget_tokens = IntegerField(
        required=False, default=2000, min_value=LEAST_TOKENS, max_value=MOST_TOKENS
    )


class AnswerRequestSerializer(serializers.Serializer[Any]):
    """A question about a subject. `session`: the conversation it is asked in, by name."""

    subject = TextField(max_length=200, shape=NOT_BLANK)
    question = TextField(shape=NOT_BLANK)
    session = NameField(required=False, default="", max_length=200)
    as_of = TimestampField(required=False, allow_null=True, default=None)
    include_past = StrictBooleanField(required=False, default=False)
    deep = StrictBooleanField(required=False, default=False)
    limit = IntegerField(required=False, allow_null=True, default=10, min_value=1, max_value=100)
    budget_tokens = IntegerField(required=False, default=2000, min_value=100, max_value=1_000_000)
    explain = StrictBooleanField(required=False, default=False)
