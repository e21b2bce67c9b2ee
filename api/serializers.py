"""What the native API takes and gives."""

from __future__ import annotations

from functools import cache
from typing import Any, get_args

from django.conf import settings
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from api.fields import (
    SAID,
    FlagField,
    MetadataField,
    NameField,
    TextField,
    TimestampField,
    WholeField,
)
from memoryhub.dialogues.messages import Message
from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.services import IngestRequest
from memoryhub.policies.schema import Channel, Select
from memoryhub.recall.packing import LEAST_TOKENS, MOST_TOKENS
from memoryhub.recall.results import Kind


def checked(kind: type[serializers.Serializer[Any]], sent: Any) -> dict[str, Any]:
    """What was sent, as `kind` reads it. Raises ValidationError that names the fields.

    One serializer serves all requests, since making its fields takes longer than what they check.
    Only faults are told by one of their own: messages are put into words once, in one language.
    """
    try:
        return dict(_kept(kind).run_validation(sent))
    except serializers.ValidationError:
        told = kind(data=sent)
        told.is_valid(raise_exception=True)
        return dict(told.validated_data)


@cache
def _kept(kind: type[serializers.Serializer[Any]]) -> serializers.Serializer[Any]:
    return kind()


class MessageSerializer(serializers.Serializer[Message]):
    role = serializers.ChoiceField(choices=Turn.Role.values, default=Turn.Role.USER)
    content = TextField(shape=SAID)
    speaker = TextField(required=False, default="", max_length=120)
    timestamp = TimestampField(required=False, allow_null=True, default=None)
    external_id = TextField(required=False, default="", max_length=200)
    metadata = MetadataField(required=False, default=dict)


class AddSerializer(serializers.Serializer[IngestRequest]):
    """Messages about a subject, oldest first."""

    subject = TextField(max_length=200, shape=SAID)
    messages = serializers.ListField(
        child=MessageSerializer(), allow_empty=False, max_length=settings.MAX_MESSAGES
    )
    session = NameField(required=False, default="", max_length=200)
    agent = NameField(required=False, default="", max_length=120)
    metadata = MetadataField(required=False, default=dict)
    wait = FlagField(required=False, default=False)
    dry_run = FlagField(required=False, default=False)

    @staticmethod
    def asked(data: dict[str, Any]) -> IngestRequest:
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
class NotTogetherField(FlagField):
    """What only makes sense for one add."""

    default_error_messages = {"together": "not in a batch"}

    def to_internal_value(self, data: Any) -> bool:
        if super().to_internal_value(data):
            self.fail("together")
        return False


class BatchItemSerializer(AddSerializer):
    wait = NotTogetherField(required=False, default=False)
    dry_run = NotTogetherField(required=False, default=False)


class BatchSerializer(serializers.Serializer[Any]):
    """Several adds, of one subject or of many: stored all or none."""

    items = serializers.ListField(child=BatchItemSerializer(), allow_empty=False, max_length=100)


class QuestionSerializer(serializers.Serializer[Any]):
    """What every question may say, however it is answered."""

    subject = TextField(max_length=200, shape=SAID)
    query = TextField(shape=SAID)
    session = NameField(required=False, default="", max_length=200)
    channels = serializers.ListField(
        child=serializers.ChoiceField(choices=get_args(Channel)),
        required=False,
        allow_null=True,
        default=None,
        allow_empty=False,
    )
    select = serializers.ChoiceField(
        choices=get_args(Select), required=False, allow_null=True, default=None
    )
    as_of = TimestampField(required=False, allow_null=True, default=None)
    include_past = FlagField(required=False, default=False)
    deep = FlagField(required=False, default=False)
    explain = FlagField(required=False, default=False)


class SearchSerializer(QuestionSerializer):
    limit = WholeField(required=False, allow_null=True, default=10, min_value=1, max_value=100)
    kinds = serializers.ListField(
        child=serializers.ChoiceField(choices=get_args(Kind)),
        required=False,
        allow_null=True,
        default=None,
        allow_empty=False,
    )
    budget_tokens = WholeField(
        required=False,
        allow_null=True,
        default=None,
        min_value=LEAST_TOKENS,
        max_value=MOST_TOKENS,
    )


class ContextSerializer(QuestionSerializer):
    agent = NameField(required=False, default="", max_length=120)
    budget_tokens = WholeField(
        required=False, default=2000, min_value=LEAST_TOKENS, max_value=MOST_TOKENS
    )


class AnswerSerializer(serializers.Serializer[Any]):
    """A question about a subject. `session`: the conversation it is asked in, by name."""

    subject = TextField(max_length=200, shape=SAID)
    question = TextField(shape=SAID)
    session = NameField(required=False, default="", max_length=200)
    as_of = TimestampField(required=False, allow_null=True, default=None)
    include_past = FlagField(required=False, default=False)
    deep = FlagField(required=False, default=False)
    limit = WholeField(required=False, allow_null=True, default=10, min_value=1, max_value=100)
    budget_tokens = WholeField(required=False, default=2000, min_value=100, max_value=1_000_000)
    explain = FlagField(required=False, default=False)
