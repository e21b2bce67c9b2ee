"""Subjects, and what there is about each."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db.models import QuerySet
from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from api.columns import ID, LIST, TEXT, TIME, Resource
from api.fields import FlagField
from api.listing import shown_row, wanted
from api.resources.base import ResourceView, TenantListView, space_at, tagged
from api.resources.writing import Deed, WriteView
from api.schema import ROW_PARAMETERS
from memoryhub.pipeline.counting import KINDS, with_counts
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import go_on, pause

SPACES = Resource(
    "subject",
    "A subject with its space: everything that is remembered about it.",
    Space,
    {
        "id": ID,
        "subject": TEXT,
        "name": TEXT,
        "timezone": TEXT,
        "speakers": LIST,
        "created_at": TIME,
        "last_activity_at": TIME,
        "paused_at": TIME,
    },
    order=("subject", "id"),
)


class SpacesView(TenantListView):
    resource = SPACES


class SpaceView(ResourceView):
    """One subject, with how many memories of each kind there are."""

    resource = SPACES
    parameters: ClassVar = ROW_PARAMETERS

    def get(self, request: Request, subject: str) -> Response:
        space = space_at(request, subject)
        with tenant_scope(space.tenant_id):
            shown = shown_row(SPACES, SPACES.rows(), space.id, wanted(request, SPACES))
            if "fields" not in request.query_params:
                shown["counts"] = _counts(space)
        return tagged(request, SPACES, shown)

    def answers(self) -> dict[str, Any]:
        schema = SPACES.schema()
        counts = {name: {"type": "integer"} for name in (*KINDS, "waiting", "failed")}
        schema["properties"]["counts"] = {"type": "object", "properties": counts}
        return schema


class PauseSerializer(serializers.Serializer[Any]):
    """`paused` false: go on."""

    paused = FlagField(required=False, default=True)


class PauseView(WriteView):
    """Keep nothing of what is said, from now on or no longer. What is remembered stays."""

    serializer_class = PauseSerializer
    keeps = True
    example: ClassVar = {"paused": False}

    def work(self, deed: Deed, **ids: Any) -> dict[str, Any]:
        if deed.given["paused"]:
            pause(deed.space, deed.actor, deed.now)
        else:
            go_on(deed.space)
        with tenant_scope(deed.space.tenant_id):
            return {"space": shown_row(SPACES, SPACES.rows(), deed.space.id)}

    def answers(self) -> dict[str, Any]:
        return {"type": "object", "properties": {"space": SPACES.schema()}}


def _counts(space: Space) -> dict[str, int]:
    rows: QuerySet[Any] = with_counts(Space.objects.filter(id=space.id), timezone.now())
    found: dict[str, int] = rows.values(*KINDS, "waiting", "failed").get()
    return found
