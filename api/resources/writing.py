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

from api.authentication import key_of
from api.columns import Resource
from api.fields import REASON, NameField
from api.idempotency import once_apart
from api.listing import shown_row, tag
from api.resources.base import space_at
from api.schema import IF_MATCH, VERSION_TAG, VERSIONED_PARAMETERS, WRITE_PARAMETERS
from api.views import HubView
from memoryhub.errors import InvalidInput, NotFound
from memoryhub.pipeline import restoring
from memoryhub.tenants.keys import KeyRow
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.models import Revision

NO_RESOURCE: Any = None


class ReasonSerializer(serializers.Serializer[Any]):
    """`reason` stands in the history beside the change."""

    reason = NameField(required=False, default="", max_length=500)


class EmptySerializer(serializers.Serializer[Any]):
    """Nothing is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantDeed:
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
        return str(self.given.get(REASON, ""))

    @property
    def values(self) -> dict[str, Any]:
        """What is given but for the reason."""
        return {name: value for name, value in self.given.items() if name != REASON}


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed(TenantDeed):
    """A write on a subject."""

    space: Space


class AnyWriteView(HubView):
    """What writes have in common: a body that is read, a version, and being done once.

    `secret`: the name under which a write answers with what is shown once, in the answer that made
    it. It is kept nowhere: a repetition is answered without it.
    """

    scopes: ClassVar = {"POST": "write"}
    serializer_class: type[serializers.Serializer[Any]] = ReasonSerializer
    parameters: ClassVar = WRITE_PARAMETERS
    # The answer tells nothing that could be erased.
    keeps = False
    secret = ""

    def asked(self, request: Request) -> dict[str, Any]:
        """What a deed is made of. Raises ValidationError, InvalidInput."""
        body = self.serializer_class(data=self.body(request))
        body.is_valid(raise_exception=True)
        version = version_of(request)
        if version is not None and IF_MATCH not in self.parameters:
            raise InvalidInput("none: what this writes has no version", field="If-Match")
        given = dict(body.validated_data)
        return {"given": given, "key": key_of(request), "now": timezone.now(), "version": version}

    def once(self, request: Request, write: Callable[[], dict[str, Any]]) -> Response:
        name, tenant_id = type(self).__name__, key_of(request).tenant_id
        told: dict[str, Any] = {}

        def made() -> dict[str, Any]:
            answer = write()
            if self.secret in answer:
                told[self.secret] = answer.pop(self.secret)
            return answer

        answer, replayed = once_apart(tenant_id, request, name, made, keeps=self.keeps)
        response = answered(answer, replayed=replayed)
        if self.secret:
            response.data[self.secret] = told.get(self.secret)
            response["Cache-Control"] = "no-store"
        return response


class WriteView(AnyWriteView):
    """A write on a subject. `work` opens its own scopes; what it returns is the answer."""

    # Whether claims may have changed by other means than reading.
    settles = False

    def post(self, request: Request, subject: str, **ids: Any) -> Response:
        space = space_at(request, subject)
        deed = Deed(space=space, **self.asked(request))
        return self.once(request, lambda: self._done(deed, **ids))

    def _done(self, deed: Deed, **ids: Any) -> dict[str, Any]:
        answer = self.work(deed, **ids)
        if self.settles:
            key = f"{deed.key.id}-{deed.now.isoformat()}"
            restoring.settle(deed.space.id, deed.space.tenant_id, key, deed.now)
        return answer

    def work(self, deed: Deed, **ids: Any) -> dict[str, Any]:
        raise NotImplementedError


class TenantWriteView(AnyWriteView):
    """A write on what belongs to the tenant as a whole: for a key of one subject there is none."""

    scopes: ClassVar = {"POST": "admin"}
    keeps = True

    def post(self, request: Request, **ids: Any) -> Response:
        whole_tenant(request)
        deed = TenantDeed(**self.asked(request))
        return self.once(request, lambda: self.work(deed, **ids))

    def work(self, deed: TenantDeed, **ids: Any) -> dict[str, Any]:
        raise NotImplementedError


def whole_tenant(request: Request) -> UUID:
    """The key's tenant. Raises NotFound for a key of one subject."""
    key = key_of(request)
    if key.space_id is not None:
        raise NotFound("A key of one subject sees nothing of the tenant.")
    return key.tenant_id


class RowWriteView(WriteView):
    """A write on one row, answered with the row as it is then and the event that changed it."""

    resource: Resource = NO_RESOURCE
    parameters: ClassVar = VERSIONED_PARAMETERS
    settles = True

    def work(self, deed: Deed, **ids: Any) -> dict[str, Any]:
        row_id = self.change(deed, ids["row_id"]) or ids["row_id"]
        return changed(deed.space, self.resource, row_id)

    def change(self, deed: Deed, row_id: UUID) -> UUID | None:
        """Carry it out. Returns the row that stands for it now, if it is another."""
        raise NotImplementedError

    def answers(self) -> dict[str, Any]:
        return changed_schema(self.resource)


def said(deed: Deed) -> dict[str, Any]:
    """What services take of any write on a row: its reason, and the version that was read."""
    return {"reason": deed.reason, "version": deed.version}


def changed(space: Space, resource: Resource, row_id: UUID) -> dict[str, Any]:
    """A row after a write: {"event_id", its name: the row}."""
    kind = str(resource.model._meta.model_name)
    with tenant_scope(space.tenant_id):
        rows = Revision.objects.filter(row_type=kind, row_id=row_id)
        event = rows.order_by("-version_after", "-id").values_list("event_id", flat=True).first()
        row = shown_row(resource, resource.rows(), row_id)
    return {"event_id": event, resource.name.replace(" ", "_"): row}


def changed_schema(resource: Resource) -> dict[str, Any]:
    event = {"type": ["string", "null"], "format": "uuid"}
    shown = {"event_id": event, resource.name.replace(" ", "_"): resource.schema()}
    return {"type": "object", "properties": shown}


def answered(answer: dict[str, Any], *, replayed: bool = False) -> Response:
    """With the ETag of the row that is in it."""
    response = Response(answer)
    for row in answer.values():
        if isinstance(row, dict) and "version" in row and "id" in row:
            response["ETag"] = tag(row["version"], row)
    if replayed:
        response["Idempotent-Replayed"] = "true"
    return response


def version_of(request: Request) -> int | None:
    """The version that `If-Match` names: an ETag, or the number alone. Raises InvalidInput."""
    given = request.headers.get("If-Match", "*").strip()
    if given == "*":
        return None
    found = re.fullmatch(VERSION_TAG, given)
    if found is None:
        raise InvalidInput("the ETag of the row as it was read", field="If-Match")
    return int(found[1])


Change = Callable[[Deed, UUID], UUID | None]
