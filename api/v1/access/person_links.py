"""Links by which the person themselves comes to what is remembered about them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from django.urls import reverse
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from api.core.fields import NameField, TimestampField
from api.rows.columns import ID, TEXT, TIME, Resource
from api.rows.lists import render_row
from api.rows.read_views import SpaceListView
from api.rows.write_views import EmptySerializer, SpaceWriteRequest, SpaceWriteView
from memoryhub.dialogues.messages import to_utc
from memoryhub.errors import NotFound
from memoryhub.tenants import person_links
from memoryhub.tenants.models import PersonLink
from memoryhub.tenants.scope import tenant_scope

PERSON_LINKS = Resource(
    "person link",
    "A person's way to the page of their own memories, without its token.",
    PersonLink,
    {
        "id": ID,
        "note": TEXT,
        "created_by": TEXT,
        "created_at": TIME,
        "expires_at": TIME,
        "revoked_at": TIME,
        "last_used_at": TIME,
    },
    order=("-created_at", "-id"),
)


class NewPersonLinkSerializer(serializers.Serializer[Any]):
    """`expires_at`: within ninety days; null for in a week. `note` is for operators."""

    expires_at = TimestampField(required=False, allow_null=True, default=None)
    note = NameField(required=False, default="", max_length=200)


class PersonLinksView(SpaceListView):
    resource = PERSON_LINKS
    scopes: ClassVar = {"GET": "admin"}


class NewPersonLinkView(SpaceWriteView):
    """A link to send to the person. Its address is in this answer and never again: whoever has it
    sees, corrects, exports and may erase what is remembered of them."""

    scopes: ClassVar = {"POST": "admin"}
    serializer_class = NewPersonLinkSerializer
    answer_outlives_erasure = True
    secret_field = "url"  # noqa: S105  # the name of it
    example: ClassVar = {"note": "asked for by mail"}

    def post(self, request: Request, subject: str, **ids: Any) -> Response:
        self.page = request.build_absolute_uri(reverse("me-open"))
        return super().post(request, subject, **ids)

    def run_write(self, deed: SpaceWriteRequest, **ids: Any) -> dict[str, Any]:
        until = _read_expiry(deed, deed.given["expires_at"])
        row, token = person_links.create_person_link(
            deed.space, deed.actor, deed.now, until, note=deed.given["note"]
        )
        return {**_render_person_link(row), "url": f"{self.page}#{token}"}

    def build_response_schema(self) -> dict[str, Any]:
        schema = PERSON_LINKS.build_schema()
        schema["properties"]["url"] = {"type": ["string", "null"]}
        return schema


def _read_expiry(deed: SpaceWriteRequest, at: datetime | None) -> datetime:
    if at is None:
        return deed.now + person_links.DEFAULT_LIFETIME
    return to_utc(at, deed.space.timezone, field="expires_at")


class RevokePersonLinkView(SpaceWriteView):
    """Close a link, also for whoever looks at the page now."""

    scopes: ClassVar = {"POST": "admin"}
    serializer_class = EmptySerializer
    answer_outlives_erasure = True

    def run_write(self, deed: SpaceWriteRequest, **ids: UUID) -> dict[str, Any]:
        with tenant_scope(deed.space.tenant_id):
            rows = PersonLink.objects.filter(space=deed.space, id=ids["row_id"])
            row: PersonLink | None = rows.first()
        if row is None:
            raise NotFound("There is no such link.")
        person_links.revoke_person_link(row, deed.now)
        return _render_person_link(row)

    def build_response_schema(self) -> dict[str, Any]:
        return PERSON_LINKS.build_schema()


def _render_person_link(row: PersonLink) -> dict[str, Any]:
    with tenant_scope(row.tenant_id):
        return render_row(PERSON_LINKS, PERSON_LINKS.select_rows(), row.id)
