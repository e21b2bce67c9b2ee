"""What these clients send, read and checked."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.utils import timezone
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
from api.mem0.ids import ID_NAMES, Mem0Ids, read_ids
from memoryhub.dialogues.messages import Message, check_text, check_time, clean_text, to_utc
from memoryhub.dialogues.models import Turn
from memoryhub.errors import InvalidInput, MemoryHubError
from memoryhub.pipeline.corrections import UNSET, FactCorrection, Unset
from memoryhub.pipeline.ingest.services import IngestRequest
from notes.models import Fact

# What each call follows; whatever else was sent with it is named as passed over. That of several
# wordings the latest is given, and that words count in a search, is so whatever they say of it.
_TENANT_FIELDS = ("org_id", "project_id")  # sent by older clients with everything
ADD_FIELDS = list_names(
    "messages metadata timestamp infer immutable expiration_date async_mode output_format filters"
)
_NARROWING_FIELDS = list_names("filters categories metadata start_date end_date keywords fields")
SEARCH_FIELDS = (
    *list_names("query top_k limit threshold reference_date show_expired"),
    *list_names("latest_only keyword_search output_format"),
    *_NARROWING_FIELDS,
)
LIST_FIELDS = (
    *list_names("show_expired latest_only page page_size output_format"),
    *_NARROWING_FIELDS,
)
UPDATE_FIELDS = list_names("text metadata timestamp expiration_date memory_id")
DELETE_FIELDS = list_names("metadata filters")
_MESSAGE_FIELDS = list_names("role content name")


def list_ignored(body: Mapping[str, Any], followed: Iterable[str]) -> list[str]:
    """What was sent and changes nothing, in the order of the alphabet."""
    known = {*followed, *ID_NAMES, *_TENANT_FIELDS}
    return sorted(name for name, value in body.items() if name not in known and value)


def name_ignored(answer: dict[str, Any], ignored: Iterable[str]) -> dict[str, Any]:
    """The answer, with `ignored` where something was."""
    named = list(ignored)
    return answer | {"ignored": named} if named else answer


@dataclass(frozen=True, slots=True)
class AddRequest:
    ids: Mem0Ids
    request: IngestRequest
    infer: bool
    wait: bool
    is_list: bool  # the oldest format answers with a bare list
    ignored_fields: list[str]


class ContentField(TextField):
    """Text, or a list of parts of which the text is kept."""

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, (dict, list)):
            return super().to_internal_value(data)
        texts = [part.get("text", "") for part in _list_parts(data) if _is_text_part(part)]
        if not texts:
            raise serializers.ValidationError("only text can be kept")
        return super().to_internal_value("\n".join(map(str, texts)))


def _list_parts(content: object) -> list[Any]:
    return content if isinstance(content, list) else [content] if isinstance(content, dict) else []


def _is_text_part(part: object) -> bool:
    return isinstance(part, dict) and part.get("type") == "text"


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
    ids = read_ids(_merge_filter_ids(body))
    data = validate_body(AddMemoriesSerializer, body)
    terms: dict[str, Any] = {"app": ids.app} if ids.app else {}
    if data["immutable"]:
        terms["pinned"] = True
    at = data["timestamp"] and to_utc(data["timestamp"], "UTC", field="timestamp")
    if until := read_expiration(body.get("expiration_date")):
        _check_end(at or timezone.now(), until, field="expiration_date")
        terms["until"] = until.isoformat()
    messages, left_out = _pass_over_wordless(_list_messages(body.get("messages")))
    request = IngestRequest(
        subject=ids.subject,
        messages=_read_messages(messages, at, data["metadata"] or {}),
        session=ids.run,
        agent=ids.agent,
        channel="mem0",
        terms=terms,
    )
    passed_over = [*list_ignored(body, ADD_FIELDS), *left_out]
    is_list = data["output_format"] == "v1.0"
    return AddRequest(ids, request, data["infer"], not data["async_mode"], is_list, passed_over)


def _merge_filter_ids(body: Mapping[str, Any]) -> dict[str, Any]:
    """The body with the ids that typed options carry in `filters`. Raises InvalidInput for
    anything else there, and for an id that is told otherwise beside it."""
    told: dict[str, Any] = {}
    for part in _list_conjuncts(body.get("filters")):
        for name, value in part.items():
            if name not in ID_NAMES:
                raise InvalidInput(f"of an add, only {', '.join(ID_NAMES)}", field="filters")
            if told.setdefault(name, value) != value or (body.get(name) or value) != value:
                raise InvalidInput("another id than beside it", field=f"filters.{name}")
    return {**body, **told}


def _list_conjuncts(filters: object) -> list[dict[str, Any]]:
    """What all has to hold, of a filter without other connectives."""
    if filters is None:
        return []
    parts = filters.get("AND", [filters]) if isinstance(filters, dict) else None
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        raise InvalidInput("an object of ids", field="filters")
    return parts


def _list_messages(given: object) -> list[Any]:
    """A text, a message or a list of messages."""
    listed = [{"content": given}] if isinstance(given, str) else given
    listed = [listed] if isinstance(listed, dict) else listed
    if not isinstance(listed, list):
        raise InvalidInput("a text, a message, or a list of messages", field="messages")
    return listed


def _pass_over_wordless(listed: list[Any]) -> tuple[dict[int, Any], list[str]]:
    """(by place, the messages that say something; names of what is passed over). Where none says
    anything, all of them, to be refused."""
    kept: dict[int, Any] = {}
    passed_over: list[str] = []
    for at, message in enumerate(listed):
        names = list(_list_passed_over(message)) if isinstance(message, dict) else []
        passed_over += [f"messages[{at}].{name}" for name in names]
        if not {"role", "content"} & set(names):
            kept[at] = message
    return kept or dict(enumerate(listed)), passed_over


def _list_passed_over(message: Mapping[str, Any]) -> Iterator[str]:
    """The members of a message, or parts of its content, that are not kept. With its role, or its
    content as a whole, the message itself is not."""
    yield from sorted(n for n in set(message) - set(_MESSAGE_FIELDS) if message[n])
    role, content = message.get("role"), message.get("content")
    if isinstance(role, str) and role not in Turn.Role.values:
        yield "role"
    if not _has_words(content):
        yield "content"
    elif isinstance(content, list):
        for place, part in enumerate(content):
            if not _is_text_part(part):
                yield f"content[{place}]"


def _has_words(content: object) -> bool:
    """Whether there is a text to keep; also what is none, and to be refused."""
    if isinstance(content, (dict, list)):
        texts = [part.get("text") for part in _list_parts(content) if _is_text_part(part)]
    else:
        texts = [] if content is None else [content]
    return any(not isinstance(text, str) or clean_text(text).strip() for text in texts)


def _read_messages(
    listed: Mapping[int, Any], at: datetime | None, metadata: dict[str, Any]
) -> list[Message]:
    """`listed`: by the place at which each was sent, by which a fault is told."""
    read = Mem0MessageSerializer(data=list(listed.values()), many=True)
    if not read.is_valid():
        places = list(listed)
        told: Any = {places[at]: fault for at, fault in dict(read.errors).items()}
        raise serializers.ValidationError({"messages": told})
    return [
        Message(
            each["role"],
            check_text(each["content"], field=f"messages[{place}].content"),
            each["name"] or "",
            at,
            metadata=metadata,
        )
        for place, each in zip(listed, read.validated_data, strict=True)
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


def _check_end(start: datetime, end: datetime | None, *, field: str) -> None:
    if end is not None and end < start:
        raise InvalidInput("it would be over before it was said", field=field)


def _compute_day_end(day: date) -> datetime:
    if day == date.max:
        raise InvalidInput("a day that can come", field="expiration_date")
    return datetime.combine(day + timedelta(days=1), time(), UTC)


class UpdateMemorySerializer(serializers.Serializer[Any]):
    text = TextField(**NULL)
    metadata = MetadataField(**NULL)
    timestamp = TimestampField(**NULL)


def read_deletion(query: Mapping[str, list[str]]) -> dict[str, Any]:
    """Which memories to delete: filters, by the parameters of a query.

    Raises InvalidInput for what is not known, empty or no filter: a deletion that passed
    something over would take more than was asked for.
    """
    if unknown := sorted(set(query) - {*ID_NAMES, *DELETE_FIELDS, *_TENANT_FIELDS}):
        known = ", ".join((*ID_NAMES, *DELETE_FIELDS))
        raise InvalidInput(f"nothing is chosen by {unknown[0]}; known: {known}", field=unknown[0])
    wanted: dict[str, Any] = {}
    for name in (*ID_NAMES, *DELETE_FIELDS):
        texts = query.get(name, [])
        if not all(text.strip() for text in texts):
            raise InvalidInput("not empty: leave it out, or say whose", field=name)
        if texts:
            is_id = name in ID_NAMES
            parts = [{name: text} if is_id else _read_object(text, name) for text in texts]
            wanted[name] = {"AND": parts} if len(parts) > 1 else parts[0]
    return wanted


def _read_object(text: str, name: str) -> dict[str, Any]:
    """An object as JSON, or as Python's clients write one into a query."""
    for read in (json.loads, ast.literal_eval):
        try:
            found = read(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        if isinstance(found, dict) and found:
            return found if name == "filters" else {name: found}
    raise InvalidInput("an object, as JSON", field=name)


@contextmanager
def name_place(where: str) -> Iterator[None]:
    """What is refused inside is told of a field there, as memories[1].text."""
    try:
        yield
    except MemoryHubError as error:
        error.field = f"{where}.{error.field}" if error.field else where
        raise
    except serializers.ValidationError as error:
        raise serializers.ValidationError({where: error.detail}) from None


def read_update(body: Mapping[str, Any], fact: Fact) -> FactCorrection:
    """What is to become of the memory. Raises InvalidInput and TooLarge, also where nothing is to
    change."""
    data = validate_body(UpdateMemorySerializer, body)
    if data["text"] is not None:
        check_text(data["text"], field="text")
    at = data["timestamp"] and to_utc(data["timestamp"], "UTC", field="timestamp")
    until: datetime | Unset | None = UNSET
    if "expiration_date" in body:
        until = read_expiration(body["expiration_date"])
        _check_end(at or fact.valid_from, until, field="expiration_date")
    elif at:
        _check_end(at, fact.valid_to, field="timestamp")
    amendment = FactCorrection(data["text"], metadata=data["metadata"], said_at=at, until=until)
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
