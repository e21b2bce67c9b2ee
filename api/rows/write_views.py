"""The views of writes: done once per Idempotency-Key, by the key, for a reason."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from api.core.authentication import get_request_key
from api.core.fields import REASON_FIELD, NameField, StrictSerializer, validate_body
from api.core.idempotency import mark_replayed, run_once_in_own_transactions
from api.core.views import HubView, get_whole_tenant_id
from api.rows.answers import build_written_type, get_answer_key
from api.rows.columns import Resource
from api.rows.lists import build_etag, render_row
from api.rows.read_views import NO_RESOURCE, get_space_at_path
from api.schema.openapi import (
    IF_MATCH_PARAMETER,
    VERSION_TAG_PATTERN,
    VERSIONED_PARAMETERS,
    WRITE_PARAMETERS,
)
from memoryhub.errors import InvalidInput
from memoryhub.pipeline.corrections import Correction
from memoryhub.tenants.keys import KeyRow
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.models import Revision


class ReasonSerializer(StrictSerializer):
    """`reason` stands in the history beside the change."""

    reason = NameField(default="", max_length=500)


class EmptySerializer(StrictSerializer):
    """Nothing is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantWriteRequest:
    """A write as it was asked for. `version`: the one that `If-Match` names, if it names one."""

    given: dict[str, Any]
    key: KeyRow
    now: datetime
    version: int | None = None

    @property
    def tenant_id(self) -> UUID:
        return self.key.tenant_id

    @property
    def actor(self) -> str:
        return self.key.actor

    @property
    def reason(self) -> str:
        return str(self.given.get(REASON_FIELD, ""))

    @property
    def change_values(self) -> dict[str, Any]:
        """What is given but for the reason."""
        return {name: value for name, value in self.given.items() if name != REASON_FIELD}

    def render_row(self, resource: Resource, row_id: UUID) -> dict[str, Any]:
        """The row as it is now."""
        with tenant_scope(self.tenant_id):
            return render_row(resource, resource.select_rows(), row_id)

    def render_named_row(self, resource: Resource, row_id: UUID) -> dict[str, Any]:
        """The same under its name."""
        return {get_answer_key(resource): self.render_row(resource, row_id)}


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceWriteRequest(TenantWriteRequest):
    """A write on a subject."""

    space: Space

    def correct(
        self, operation: Callable[..., Correction[Any]], *about: Any, **values: Any
    ) -> Correction[Any]:
        """Carry out an operation on a row, as all of them are told of: where, by whom and when,
        for which reason, and of which version."""
        told = {"reason": self.reason, "version": self.version}
        return operation(self.space, *about, self.actor, self.now, **values, **told)


class BaseWriteView(HubView):
    """What writes have in common: a body that is read, a version, and being done once.

    `secret`: the name under which a write answers with what is shown once, in the answer that made
    it. It is kept nowhere: a repetition is answered without it.
    """

    scopes: ClassVar = {"POST": "write"}
    serializer_class: type[serializers.Serializer[Any]] = ReasonSerializer
    parameters: ClassVar = WRITE_PARAMETERS
    # The answer tells nothing that could be erased.
    answer_outlives_erasure = False
    secret_field = ""
    # What a repetition is looked for by; "": the view's own name.
    repetition_route = ""

    def read_write_fields(self, request: Request) -> dict[str, Any]:
        """What a deed is made of. Raises ValidationError, InvalidInput."""
        given = validate_body(self.serializer_class, self.read_body(request))
        version = read_if_match_version(request)
        if version is not None and IF_MATCH_PARAMETER not in self.parameters:
            raise InvalidInput("none: what this writes has no version", field="If-Match")
        key = get_request_key(request)
        return {"given": given, "key": key, "now": timezone.now(), "version": version}

    def read_deed(self, request: Request) -> TenantWriteRequest:
        return TenantWriteRequest(**self.read_write_fields(request))

    def run_once(self, request: Request, write: Callable[[], dict[str, Any]]) -> Response:
        name = self.repetition_route or type(self).__name__
        tenant_id = get_request_key(request).tenant_id
        told: dict[str, Any] = {}

        def write_without_secret() -> dict[str, Any]:
            answer = write()
            if self.secret_field in answer:
                told[self.secret_field] = answer.pop(self.secret_field)
            return answer

        answer, replayed = run_once_in_own_transactions(
            tenant_id, request, name, write_without_secret, keeps=self.answer_outlives_erasure
        )
        response = build_write_response(answer, replayed=replayed)
        if self.secret_field:
            response.data[self.secret_field] = told.get(self.secret_field)
            response["Cache-Control"] = "no-store"
        return response


class SpaceWriteView(BaseWriteView):
    """A write on a subject. `work` opens its own scopes; what it returns is the answer."""

    def post(self, request: Request, subject: str, **ids: Any) -> Response:
        space = get_space_at_path(request, subject)
        deed = SpaceWriteRequest(space=space, **self.read_write_fields(request))
        return self.run_once(request, lambda: self.run_write(deed, **ids))

    def run_write(self, deed: SpaceWriteRequest, **ids: Any) -> dict[str, Any]:
        raise NotImplementedError


class TenantWriteView(BaseWriteView):
    """A write on what belongs to the tenant as a whole: for a key of one subject there is none,
    unless `of_whole_tenant` says otherwise."""

    scopes: ClassVar = {"POST": "admin"}
    answer_outlives_erasure = True
    of_whole_tenant = True

    def post(self, request: Request, **ids: Any) -> Response:
        if self.of_whole_tenant:
            get_whole_tenant_id(request)
        deed = self.read_deed(request)
        return self.run_once(request, lambda: self.run_write(deed, **ids))

    def run_write(self, deed: TenantWriteRequest, **ids: Any) -> dict[str, Any]:
        raise NotImplementedError


class RowWriteView(SpaceWriteView):
    """A write on one row, answered with the row as it is then and the event that changed it."""

    resource: Resource = NO_RESOURCE
    parameters: ClassVar = VERSIONED_PARAMETERS

    def run_write(self, deed: SpaceWriteRequest, **ids: Any) -> dict[str, Any]:
        made = self.change_row(deed, ids["row_id"])
        if made is None:
            return render_written_row(deed.space, self.resource, ids["row_id"])
        return render_written_row(deed.space, self.resource, made.row.id, made.event.id)

    def change_row(self, deed: SpaceWriteRequest, row_id: UUID) -> Correction[Any] | None:
        """Carry it out. Returns what was done; None for a row whose history tells it."""
        raise NotImplementedError

    def get_answer_type(self, method: str, status: int) -> Any:
        return build_written_type(self.resource)


def render_written_row(
    space: Space, resource: Resource, row_id: UUID, event_id: UUID | None = None
) -> dict[str, Any]:
    """A row after a write: {"event_id", its name: the row}. Without an event, the row's last."""
    with tenant_scope(space.tenant_id):
        row = render_row(resource, resource.select_rows(), row_id)
        if event_id is None:
            rows = Revision.objects.filter(row_type=resource.model._meta.model_name, row_id=row_id)
            newest = rows.order_by("-version_after", "-id")
            event_id = newest.values_list("event_id", flat=True).first()
    return {"event_id": event_id, get_answer_key(resource): row}


def build_write_response(answer: dict[str, Any], *, replayed: bool = False) -> Response:
    """With the ETag of the row that is in it."""
    response = Response(answer, headers=mark_replayed(replayed))
    for row in answer.values():
        if isinstance(row, dict) and "version" in row and "id" in row:
            response["ETag"] = build_etag(row["version"], row)
    return response


def read_if_match_version(request: Request) -> int | None:
    """The version that `If-Match` names: an ETag, or the number alone. Raises InvalidInput."""
    given = request.headers.get("If-Match", "*").strip()
    if given == "*":
        return None
    found = re.fullmatch(VERSION_TAG_PATTERN, given)
    if found is None:
        raise InvalidInput("the ETag of the row as it was read", field="If-Match")
    return int(found[1])
