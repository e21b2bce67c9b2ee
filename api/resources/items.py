"""Items: what applications keep under names of their own, read and written many at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import Q
from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from api.authentication import key_of
from api.columns import LIST, NUMBER, OBJECT, TEXT, TIME, Resource, identified
from api.fields import (
    SAID,
    FlagField,
    KeyField,
    MetadataField,
    NameField,
    NumberField,
    OneOfSerializer,
    TextField,
    WholeField,
)
from api.idempotency import once_apart
from api.resources.writing import answered
from api.schema import WRITE_PARAMETERS
from api.views import HubView
from memoryhub.errors import NotFound
from memoryhub.items import queries
from memoryhub.items.models import Item
from memoryhub.items.services import MOST_TEXTS, Put, write
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import clean_subject

MOST = 100
LONGEST_TTL = 60.0 * 24 * 366 * 10
ITEMS = Resource(
    "item",
    "A value that an application keeps under a namespace and a key of its own.",
    Item,
    identified(
        namespace=LIST,
        key=TEXT,
        value=OBJECT,
        version=NUMBER,
        created_at=TIME,
        updated_at=TIME,
        expires_at=TIME,
    ),
    order=("-updated_at", "-id"),
    version="version",
    held=lambda now: Q(expires_at=None) | Q(expires_at__gt=now),
)


class _Labels(serializers.ListField):
    child = KeyField(max_length=200)


class _PlaceSerializer(serializers.Serializer[Any]):
    subject = TextField(max_length=200)
    namespace = _Labels(allow_empty=False, max_length=20)
    key = KeyField(max_length=500)


class ItemSerializer(_PlaceSerializer):
    """`value` null takes it away. `texts`: what it is found by; null: all that is in the value."""

    subject = TextField(max_length=200, shape=SAID)
    value = MetadataField(allow_null=True)
    texts = serializers.ListField(
        child=NameField(max_length=100_000),
        required=False,
        allow_null=True,
        default=None,
        max_length=MOST_TEXTS,
    )
    ttl_minutes = NumberField(
        required=False, allow_null=True, default=None, min_value=0.001, max_value=LONGEST_TTL
    )


class WriteItemsSerializer(serializers.Serializer[Any]):
    items = serializers.ListField(child=ItemSerializer(), allow_empty=False, max_length=MOST)


class GetItemSerializer(_PlaceSerializer):
    refresh_ttl = FlagField(required=False, default=True)


class SearchItemsSerializer(serializers.Serializer[Any]):
    prefix = _Labels(required=False, default=list, max_length=20)
    subject = TextField(required=False, allow_null=True, default=None, max_length=200)
    query = TextField(required=False, default="", max_length=100_000)
    filter = MetadataField(required=False, default=dict)
    limit = WholeField(required=False, default=10, min_value=1, max_value=1000)
    offset = WholeField(required=False, default=0, min_value=0, max_value=1_000_000)
    refresh_ttl = FlagField(required=False, default=True)


class NamespacesSerializer(serializers.Serializer[Any]):
    prefix = _Labels(required=False, default=list, max_length=20)
    suffix = _Labels(required=False, default=list, max_length=20)
    subject = TextField(required=False, allow_null=True, default=None, max_length=200)
    max_depth = WholeField(required=False, allow_null=True, default=None, min_value=1, max_value=20)
    limit = WholeField(required=False, default=100, min_value=1, max_value=1000)
    offset = WholeField(required=False, default=0, min_value=0, max_value=1_000_000)


class ItemOperationSerializer(OneOfSerializer):
    """One of the three."""

    get = GetItemSerializer(required=False)
    search = SearchItemsSerializer(required=False)
    namespaces = NamespacesSerializer(required=False)


class ReadItemsSerializer(serializers.Serializer[Any]):
    ops = serializers.ListField(child=ItemOperationSerializer(), allow_empty=False, max_length=MOST)


class ReadItemsView(HubView):
    """Read items: by key, by what is in them and what they are about, and where there are any."""

    scopes: ClassVar = {"POST": "read"}
    serializer_class = ReadItemsSerializer
    example: ClassVar = {
        "ops": [
            {"get": {"subject": "ana", "namespace": ["memories", "ana"], "key": "diet"}},
            {"search": {"prefix": ["memories"], "query": "what does she eat", "limit": 3}},
        ]
    }

    def post(self, request: Request) -> Response:
        body = ReadItemsSerializer(data=self.body(request))
        body.is_valid(raise_exception=True)
        return Response({"results": _Reading(request).results(body.validated_data["ops"])})

    def answers(self) -> dict[str, Any]:
        return {"type": "object", "properties": {"results": {"type": "array", "items": {}}}}


class _Reading:
    """Carries out operations that read, as far as the key sees."""

    def __init__(self, request: Request) -> None:
        self._key = key_of(request)
        self._now = timezone.now()
        self._touched: list[UUID] = []

    def results(self, ops: Sequence[dict[str, Any]]) -> list[Any]:
        given = [next(iter(op.items())) for op in ops]
        spaces = self._spaces({str(each.get("subject")) for _, each in given})
        got = self._got([each for name, each in given if name == "get"], spaces)
        results = [
            next(got) if name == "get" else getattr(self, f"_{name}")(each, spaces)
            for name, each in given
        ]
        if self._touched:
            with tenant_scope(self._key.tenant_id):
                queries.refresh(self._touched, self._now)
        return results

    def _spaces(self, subjects: set[str]) -> dict[str, Space]:
        """By the name they were asked for by."""
        names = {subject: clean_subject(subject) for subject in subjects if subject.strip()}
        with tenant_scope(self._key.tenant_id):
            rows = Space.objects.filter(subject__in=set(names.values()))
            if self._key.space_id:
                rows = rows.filter(id=self._key.space_id)
            found = {space.subject: space for space in rows}
        return {asked: found[name] for asked, name in names.items() if name in found}

    def _got(self, asked: Sequence[dict[str, Any]], spaces: dict[str, Space]) -> Any:
        """One statement for all."""
        with tenant_scope(self._key.tenant_id):
            found = queries.get_many(
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
            yield _shown(item, space.subject) if item and space else None

    def _search(self, asked: dict[str, Any], spaces: dict[str, Space]) -> list[Any]:
        space_id, known = self._place(asked["subject"], spaces)
        if not known:
            return []
        wanted = queries.Asked(
            tuple(asked["prefix"]),
            space_id,
            asked["query"],
            asked["filter"],
            asked["limit"],
            asked["offset"],
        )
        hits = queries.search(self._key.tenant_id, wanted, self._now)
        if asked["refresh_ttl"]:
            self._touched += [hit.item.id for hit in hits]
        return [_shown(h.item, h.item.space.subject) | {"score": h.score} for h in hits]

    def _namespaces(self, asked: dict[str, Any], spaces: dict[str, Space]) -> list[Any]:
        space_id, known = self._place(asked["subject"], spaces)
        if not known:
            return []
        return queries.namespaces(
            self._key.tenant_id,
            space_id,
            asked["prefix"],
            asked["suffix"],
            self._now,
            max_depth=asked["max_depth"],
            limit=asked["limit"],
            offset=asked["offset"],
        )

    def _place(self, subject: str | None, spaces: dict[str, Space]) -> tuple[UUID | None, bool]:
        """(the space to look in, None for all; whether there is anything to look in)."""
        if subject is None:
            return self._key.space_id, True
        space = spaces.get(subject)
        return (space.id, True) if space else (None, False)


def _shown(item: Item, subject: str) -> dict[str, Any]:
    columns = {name: getattr(item, name) for name in ITEMS.columns}
    return columns | {"subject": subject}


class WriteItemsView(HubView):
    """Keep items and take others away, all or none; what is there is written over."""

    scopes: ClassVar = {"POST": "write"}
    serializer_class = WriteItemsSerializer
    parameters: ClassVar = WRITE_PARAMETERS
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
        body = WriteItemsSerializer(data=self.body(request))
        body.is_valid(raise_exception=True)
        puts = [_put(each) for each in body.validated_data["items"]]
        key = key_of(request)
        _allowed(key.tenant_id, key.space_id, {put.subject for put in puts})
        answer, replayed = once_apart(
            key.tenant_id,
            request,
            "items-write",
            lambda: {"changed": write(key.tenant_id, puts, timezone.now())},
            keeps=True,
        )
        return answered(answer, replayed=replayed)

    def answers(self) -> dict[str, Any]:
        return {"type": "object", "properties": {"changed": {"type": "integer"}}}


def _put(given: dict[str, Any]) -> Put:
    return Put(
        clean_subject(given["subject"]),
        tuple(given["namespace"]),
        given["key"],
        given["value"],
        given["texts"],
        given["ttl_minutes"],
    )


def _allowed(tenant_id: UUID, bound: UUID | None, subjects: set[str]) -> None:
    """A key of one subject writes there only: for it, the others do not exist (E30)."""
    if bound is None:
        return
    with tenant_scope(tenant_id):
        own = Space.objects.get(id=bound).subject
    if subjects != {own}:
        raise NotFound("There is no such subject.")
