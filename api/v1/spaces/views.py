"""Subjects, and what there is about each."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db.models import QuerySet
from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from api.core.fields import StrictBooleanField
from api.rows.columns import ID, LIST, TEXT, TIME, Resource
from api.rows.lists import read_fields_parameter, render_row
from api.rows.read_views import ResourceView, TenantListView, build_row_response, get_space_at_path
from api.rows.write_views import SpaceWriteRequest, SpaceWriteView
from api.schema.openapi import ROW_PARAMETERS
from memoryhub.pipeline.counts import COUNTED_KINDS, annotate_counts
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import pause_space, resume_space

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
        space = get_space_at_path(request, subject)
        with tenant_scope(space.tenant_id):
            shown = render_row(
                SPACES, SPACES.select_rows(), space.id, read_fields_parameter(request, SPACES)
            )
            if "fields" not in request.query_params:
                shown["counts"] = _count_memories(space)
        return build_row_response(request, SPACES, shown)

    def build_response_schema(self) -> dict[str, Any]:
        schema = SPACES.build_schema()
        counts = {name: {"type": "integer"} for name in (*COUNTED_KINDS, "waiting", "failed")}
        schema["properties"]["counts"] = {"type": "object", "properties": counts}
        return schema


class PauseSpaceSerializer(serializers.Serializer[Any]):
    """`paused` false: go on."""

    paused = StrictBooleanField(required=False, default=True)


class PauseSpaceView(SpaceWriteView):
    """Keep nothing of what is said, from now on or no longer. What is remembered stays."""

    serializer_class = PauseSpaceSerializer
    answer_outlives_erasure = True
    example: ClassVar = {"paused": False}

    def run_write(self, deed: SpaceWriteRequest, **ids: Any) -> dict[str, Any]:
        if deed.given["paused"]:
            pause_space(deed.space, deed.actor, deed.now)
        else:
            resume_space(deed.space)
        with tenant_scope(deed.space.tenant_id):
            return {"space": render_row(SPACES, SPACES.select_rows(), deed.space.id)}

    def build_response_schema(self) -> dict[str, Any]:
        return {"type": "object", "properties": {"space": SPACES.build_schema()}}


def _count_memories(space: Space) -> dict[str, int]:
    rows: QuerySet[Any] = annotate_counts(Space.objects.filter(id=space.id), timezone.now())
    found: dict[str, int] = rows.values(*COUNTED_KINDS, "waiting", "failed").get()
    return found
