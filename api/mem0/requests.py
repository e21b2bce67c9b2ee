"""What these clients send, read and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.utils.dateparse import parse_date
from rest_framework import serializers

from api.core.fields import (
    NULL,
    MetadataField,
    NameField,
    TextField,
    TimestampField,
    list_names,
    validate_body,
)
from api.mem0.ids import Mem0Ids, read_ids
from memoryhub.dialogues.messages import Message, check_time, to_utc
from memoryhub.dialogues.models import Turn
from memoryhub.errors import InvalidInput
from memoryhub.pipeline.corrections import UNSET, FactCorrection, Unset
from memoryhub.pipeline.ingest.services import IngestRequest

# Told to a model that extracts: this hub has its own policy for that, and says what it passed over.
IGNORED_FIELDS = list_names(
    "custom_instructions agent_custom_instructions custom_categories structured_data_schema "
    "includes excludes enable_graph"
)


@dataclass(frozen=True, slots=True)
class AddRequest:
    ids: Mem0Ids
    request: IngestRequest
    infer: bool
    wait: bool
    is_list: bool  # the oldest format answers with a bare list
    ignored_fields: list[str]


class ContentField(TextField):
    """Text, or a list of parts of which only text can be kept."""

    def to_internal_value(self, data: Any) -> str:
        if isinstance(data, dict):
            data = [data]
        if not isinstance(data, list):
            return super().to_internal_value(data)
        kinds = {part.get("type") if isinstance(part, dict) else None for part in data}
        if kinds != {"text"}:
            raise serializers.ValidationError("only text can be kept")
        return super().to_internal_value("\n".join(str(part.get("text", "")) for part in data))


class Mem0MessageSerializer(serializers.Serializer[Message]):
    role = serializers.ChoiceField(choices=Turn.Role.values, default=Turn.Role.USER)
    content = ContentField()
    name = NameField(allow_null=True, default="", max_length=120)


class AddMemoriesSerializer(serializers.Serializer[Any]):
    metadata = MetadataField(allow_null=True, default=dict)
    timestamp = TimestampField(**NULL)
    infer = serializers.BooleanField(default=True)
    immutable = serializers.BooleanField(allow_null=True, default=False)
    async_mode = serializers.BooleanField(default=True)
    output_format = serializers.CharField(allow_null=True, default="v1.1")


def read_add(body: Mapping[str, Any]) -> AddRequest:
    """Raises InvalidInput and DRF's ValidationError, which name the field."""
    ids = read_ids(body)
    data = validate_body(AddMemoriesSerializer, body)
    terms: dict[str, Any] = {"app": ids.app} if ids.app else {}
    if data["immutable"]:
        terms["pinned"] = True
    if until := read_expiration(body.get("expiration_date")):
        terms["until"] = until.isoformat()
    at = data["timestamp"] and to_utc(data["timestamp"], "UTC", field="timestamp")
    request = IngestRequest(
        subject=ids.subject,
        messages=_read_messages(body.get("messages"), at, data["metadata"] or {}),
        session=ids.run,
        agent=ids.agent,
        channel="mem0",
        terms=terms,
    )
    passed_over = [name for name in IGNORED_FIELDS if body.get(name)]
    is_list = data["output_format"] == "v1.0"
    return AddRequest(ids, request, data["infer"], not data["async_mode"], is_list, passed_over)


def _read_messages(given: object, at: datetime | None, metadata: dict[str, Any]) -> list[Message]:
    """A text, a message or a list of messages."""
    listed = [{"content": given}] if isinstance(given, str) else given
    listed = [listed] if isinstance(listed, dict) else listed
    if not isinstance(listed, list):
        raise InvalidInput("a text, a message, or a list of messages", field="messages")
    read = Mem0MessageSerializer(data=listed, many=True)
    if not read.is_valid():
        raise serializers.ValidationError({"messages": read.errors})
    return [
        Message(each["role"], each["content"], each["name"] or "", at, metadata=metadata)
        for each in read.validated_data
    ]


def read_expiration(value: object) -> datetime | None:
    """The end of the last day on which it holds, or the moment given."""
    if value in (None, ""):
        return None
    try:
        day = parse_date(value) if isinstance(value, str) else None
    except ValueError:
        day = None
    if day is not None:
        return check_time(_compute_day_end(day), field="expiration_date")
    field = TimestampField()
    try:
        return to_utc(field.to_internal_value(value), "UTC", field="expiration_date")
    except serializers.ValidationError:
        wanted = "a day, as 2030-01-31, or a time"
        raise InvalidInput(wanted, field="expiration_date") from None


def _compute_day_end(day: date) -> datetime:
    if day == date.max:
        raise InvalidInput("a day that can come", field="expiration_date")
    return datetime.combine(day + timedelta(days=1), time(), UTC)


class UpdateMemorySerializer(serializers.Serializer[Any]):
    text = TextField(**NULL)
    metadata = MetadataField(**NULL)
    timestamp = TimestampField(**NULL)


def read_update(body: Mapping[str, Any]) -> FactCorrection:
    """Raises InvalidInput where nothing is to change."""
    data = validate_body(UpdateMemorySerializer, body)
    until: datetime | Unset | None = UNSET
    if "expiration_date" in body:
        until = read_expiration(body["expiration_date"])
    at = data["timestamp"] and to_utc(data["timestamp"], "UTC", field="timestamp")
    amendment = FactCorrection(data["text"], data["metadata"], at, until)
    if amendment == FactCorrection():
        wanted = "one of text, metadata, timestamp, expiration_date is needed"
        raise InvalidInput(wanted, field="text")
    return amendment


class SearchMemoriesSerializer(serializers.Serializer[Any]):
    query = TextField()
    top_k = serializers.IntegerField(allow_null=True, default=10, min_value=1)
    limit = serializers.IntegerField(**NULL, min_value=1)
    threshold = serializers.FloatField(**NULL, min_value=0, max_value=1)
    reference_date = TimestampField(**NULL)
    show_expired = serializers.BooleanField(allow_null=True, default=False)


class ListMemoriesSerializer(serializers.Serializer[Any]):
    show_expired = serializers.BooleanField(allow_null=True, default=False)


def build_extra_filters(body: Mapping[str, Any]) -> dict[str, object]:
    """Parameters beside the filters that narrow them, each as a filter of its own."""
    more: dict[str, object] = {
        "categories": {"categories": {"in": body.get("categories")}},
        "metadata": {"metadata": body.get("metadata")},
        "start_date": {"created_at": {"gte": body.get("start_date")}},
        "end_date": {"created_at": {"lte": body.get("end_date")}},
        "keywords": {"text": {"icontains": body.get("keywords")}},
    }
    return {name: narrowed for name, narrowed in more.items() if body.get(name)}


def select_fields(items: list[dict[str, Any]], fields: object) -> list[dict[str, Any]]:
    """The fields asked for, the id always among them."""
    if not fields:
        return items
    if not (isinstance(fields, list) and all(isinstance(each, str) for each in fields)):
        raise InvalidInput("a list of names", field="fields")
    return [{k: v for k, v in item.items() if k in {"id", *fields}} for item in items]
