"""Items: what applications keep under names of their own, read and written many at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NotRequired
from uuid import UUID

from django.db.models import Q
from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from api.core.authentication import get_request_key
from api.core.fields import (
    NO_NULS,
    NULL,
    ExactlyOneSerializer,
    IntegerField,
    ListField,
    MetadataField,
    NameField,
    NewSubjectField,
    StrictBooleanField,
    StrictNumberField,
    StrictSerializer,
    SubjectField,
    TextField,
    VerbatimKeyField,
    validate_body,
)
from api.core.views import HubView, check_subjects_visible
from api.rows.answers import define_answer, extend_answer
from api.rows.columns import Resource, pick_columns
from api.rows.write_views import BaseWriteView
from memoryhub.items import queries
from memoryhub.items.models import Item
from memoryhub.items.services import MAX_TEXTS, ItemWrite, write_items
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import clean_subject

MAX_OPERATIONS = 100
MAX_TTL_MINUTES = 60.0 * 24 * 366 * 10
ITEMS = Resource(
    "item",
    "A value that an application keeps under a namespace and a key of its own.",
    Item,
    pick_columns(Item, "id namespace key value version created_at updated_at expires_at"),
    order=("-updated_at", "-id"),
    version="version",
    current_condition=lambda now: Q(expires_at=None) | Q(expires_at__gt=now),
)


class _LabelsField(serializers.ListField):
    child = VerbatimKeyField(max_length=200)


class _ItemPlaceSerializer(StrictSerializer):
    subject = SubjectField(shape=NO_NULS)
    namespace = _LabelsField(allow_empty=False, max_length=20)
    key = VerbatimKeyField(max_length=500)


class ItemSerializer(_ItemPlaceSerializer):
    """`value` null takes it away. `texts`: what it is found by; null: all that is in the value."""

    subject = NewSubjectField()
    value = MetadataField(allow_null=True)
    texts = ListField(NameField(max_length=100_000), **NULL, max_length=MAX_TEXTS)
    ttl_minutes = StrictNumberField(**NULL, min_value=0.001, max_value=MAX_TTL_MINUTES)


class WriteItemsSerializer(StrictSerializer):
    items = ListField(ItemSerializer(), allow_empty=False, max_length=MAX_OPERATIONS)


class GetItemSerializer(_ItemPlaceSerializer):
    refresh_ttl = StrictBooleanField(default=True)


class SearchItemsSerializer(StrictSerializer):
    prefix = _LabelsField(default=list, max_length=20)
    subject = SubjectField(**NULL, shape=NO_NULS)
    query = TextField(default="", max_length=100_000)
    filter = MetadataField(default=dict)
    limit = IntegerField(default=10, min_value=1, max_value=1000)
    offset = IntegerField(default=0, min_value=0, max_value=1_000_000)
    refresh_ttl = StrictBooleanField(default=True)


class NamespacesSerializer(StrictSerializer):
    prefix = _LabelsField(default=list, max_length=20)
    suffix = _LabelsField(default=list, max_length=20)
    subject = SubjectField(**NULL, shape=NO_NULS)
    max_depth = IntegerField(**NULL, min_value=1, max_value=20)
    limit = IntegerField(default=100, min_value=1, max_value=1000)
    offset = IntegerField(default=0, min_value=0, max_value=1_000_000)


class ItemOperationSerializer(ExactlyOneSerializer):
    """One of the three."""

    get = GetItemSerializer(required=False)
    search = SearchItemsSerializer(required=False)
    namespaces = NamespacesSerializer(required=False)


class ReadItemsSerializer(StrictSerializer):
    ops = ListField(ItemOperationSerializer(), allow_empty=False, max_length=MAX_OPERATIONS)


StoredItem: Any = extend_answer(
    ITEMS,
    "StoredItem",
    "A value with its subject; `score` where it was searched for.",
    subject=str,
    score=NotRequired[float | None],
)
ItemResults = define_answer(
    "ItemResults",
    "By operation: an item or null, the items found, or namespaces.",
    results=list[StoredItem | list[StoredItem | list[str]] | None],
)


class ItemChanges(TypedDict):
    """`changed`: how many items are other than before."""

    changed: int


class ReadItemsView(HubView):
    """Read items: by key, by what is in them and what they are about, and where there are any."""

    scopes: ClassVar = {"POST": "read"}
    serializer_class = ReadItemsSerializer
    answer: ClassVar = ItemResults
    example: ClassVar = {
        "ops": [
            {"get": {"subject": "ana", "namespace": ["memories", "ana"], "key": "diet"}},
            {"search": {"prefix": ["memories"], "query": "what does she eat", "limit": 3}},
        ]
    }

    def post(self, request: Request) -> Response:
        ops = validate_body(ReadItemsSerializer, self.read_body(request))["ops"]
        return Response({"results": _ItemReader(request).run_operations(ops)})


class _ItemReader:
    """Carries out operations that read, as far as the key sees."""

    def __init__(self, request: Request) -> None:
        self._key = get_request_key(request)
        self._now = timezone.now()
        self._touched: list[UUID] = []

    def run_operations(self, ops: Sequence[dict[str, Any]]) -> list[Any]:
        readers = {"search": self._search_items, "namespaces": self._list_namespaces}
        given = [next(iter(op.items())) for op in ops]
        spaces = self._load_spaces({str(each.get("subject")) for _, each in given})
        got = self._load_items([each for name, each in given if name == "get"], spaces)
        results = [
            next(got) if name == "get" else readers[name](each, spaces) for name, each in given
        ]
        if self._touched:
            with tenant_scope(self._key.tenant_id):
                queries.extend_lifetimes(self._touched, self._now)
        return results

    def _load_spaces(self, subjects: set[str]) -> dict[str, Space]:
        """By the name they were asked for by."""
        names = {subject: clean_subject(subject) for subject in subjects if subject.strip()}
        with tenant_scope(self._key.tenant_id):
            rows = Space.objects.filter(subject__in=set(names.values()))
            if self._key.space_id:
                rows = rows.filter(id=self._key.space_id)
            found = {space.subject: space for space in rows}
        return {asked: found[name] for asked, name in names.items() if name in found}

    def _load_items(self, asked: Sequence[dict[str, Any]], spaces: dict[str, Space]) -> Any:
        """One statement for all."""
        with tenant_scope(self._key.tenant_id):
            found = queries.load_items(
                [
                    (spaces[each["subject"]].id, tuple(each["namespace"]), each["key"])
                    for each in asked
                    if each["subject"] in spaces
                ],
                self._now,
            )
        for each in asked:
            space = spaces.get(each["subject"])
            item = found.get((space.id, tuple(each["namespace"]), each["key"])) if space else None
            if item and each["refresh_ttl"]:
                self._touched.append(item.id)
            yield _render_item(item, space.subject) if item and space else None

    def _search_items(self, asked: dict[str, Any], spaces: dict[str, Space]) -> list[Any]:
        space_id, known = self._find_search_space(asked["subject"], spaces)
        if not known:
            return []
        given = {name: asked[name] for name in ("query", "filter", "limit", "offset")}
        wanted = queries.ItemSearch(tuple(asked["prefix"]), space_id, **given)
        hits = queries.search_items(self._key.tenant_id, wanted, self._now)
        if asked["refresh_ttl"]:
            self._touched += [hit.item.id for hit in hits]
        return [_render_item(h.item, h.item.space.subject) | {"score": h.score} for h in hits]

    def _list_namespaces(self, asked: dict[str, Any], spaces: dict[str, Space]) -> list[Any]:
        space_id, known = self._find_search_space(asked["subject"], spaces)
        if not known:
            return []
        ends = asked["prefix"], asked["suffix"]
        window = {name: asked[name] for name in ("max_depth", "limit", "offset")}
        return queries.list_namespaces(self._key.tenant_id, space_id, *ends, self._now, **window)

    def _find_search_space(
        self, subject: str | None, spaces: dict[str, Space]
    ) -> tuple[UUID | None, bool]:
        """(the space to look in, None for all; whether there is anything to look in)."""
        if subject is None:
            return self._key.space_id, True
        space = spaces.get(subject)
        return (space.id, True) if space else (None, False)


def _render_item(item: Item, subject: str) -> dict[str, Any]:
    return {name: getattr(item, name) for name in ITEMS.columns} | {"subject": subject}


class WriteItemsView(BaseWriteView):
    """Keep items and take others away, all or none; what is there is written over."""

    serializer_class = WriteItemsSerializer
    answer: ClassVar = ItemChanges
    answer_outlives_erasure = True
    repetition_route = "items-write"
    example: ClassVar = {
        "items": [
            {
                "subject": "ana",
                "namespace": ["memories", "ana"],
                "key": "diet",
                "value": {"text": "Ana eats no meat.", "since": 2024},
            }
        ]
    }

    def post(self, request: Request) -> Response:
        given = validate_body(WriteItemsSerializer, self.read_body(request))["items"]
        puts = [_build_put(each) for each in given]
        key = get_request_key(request)
        check_subjects_visible(request, *{put.subject for put in puts})
        return self.run_once(
            request, lambda: {"changed": write_items(key.tenant_id, puts, timezone.now())}
        )


def _build_put(given: dict[str, Any]) -> ItemWrite:
    place = {"subject": clean_subject(given["subject"]), "namespace": tuple(given["namespace"])}
    return ItemWrite(**given | place)
