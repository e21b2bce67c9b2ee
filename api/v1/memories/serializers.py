"""What adding takes."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from api.core.fields import (
    NOT_BLANK,
    MetadataField,
    NameField,
    StrictBooleanField,
    TextField,
    TimestampField,
)
from memoryhub.dialogues.messages import Message
from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.ingest.services import IngestRequest


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
