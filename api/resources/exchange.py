"""A subject, or all of a tenant, as a file: out, and in again."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from typing import IO, Any, ClassVar
from uuid import UUID

from django.conf import settings
from django.http import FileResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from api.authentication import key_of
from api.idempotency import once_apart
from api.listing import flag_of
from api.progress import AnyType
from api.resources.base import space_at
from api.resources.writing import answered
from api.schema import WRITE_PARAMETERS
from api.views import HubView
from memoryhub.errors import InvalidInput, NotFound, TooLarge
from memoryhub.exchange import exporting, importing
from memoryhub.exchange.downloads import MEDIA_TYPE, as_download
from memoryhub.exchange.importing import Wanted
from memoryhub.tenants import audit
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope

_PIECE = 1024 * 1024
_EMBEDDINGS = OpenApiParameter(
    "embeddings", bool, description="Also the vectors it is searched by; else they are made anew."
)


class _ExportView(HubView):
    parameters: ClassVar = [_EMBEDDINGS]
    content_negotiation_class = AnyType
    answer_type = MEDIA_TYPE

    def answers(self) -> dict[str, Any]:
        return {"type": "string", "description": "One JSON object a line."}


class ExportView(_ExportView):
    """Everything there is of a subject, as JSON lines: to be kept, or imported elsewhere."""

    scopes: ClassVar = {"GET": "read"}

    def get(self, request: Request, subject: str) -> FileResponse:
        space, now, embeddings = space_at(request, subject), timezone.now(), _wanted(request)
        _noted(request, "one space", space)
        return as_download(
            space.subject,
            lambda file: exporting.write_space(
                space.tenant_id, space.id, file, now, embeddings=embeddings
            ),
        )


class TenantExportView(_ExportView):
    """Every subject of the tenant with all there is, its policy and its shared blocks."""

    scopes: ClassVar = {"GET": "admin"}

    def get(self, request: Request) -> FileResponse:
        tenant_id, now, embeddings = whole_tenant(request), timezone.now(), _wanted(request)
        _noted(request, "everything")
        return as_download(
            "tenant",
            lambda file: exporting.write_tenant(tenant_id, file, now, embeddings=embeddings),
        )


def _noted(request: Request, what: str, space: Space | None = None) -> None:
    key = key_of(request)
    with tenant_scope(key.tenant_id):
        audit.note(key.tenant_id, audit.Action.EXPORTED, key.actor, what, space=space)


def _wanted(request: Request) -> bool:
    return flag_of(request, "embeddings")


def whole_tenant(request: Request) -> UUID:
    """Raises NotFound for a key of one subject: for it there is nothing else (E30)."""
    key = key_of(request)
    if key.space_id is not None:
        raise NotFound("There is no such resource.")
    return key.tenant_id


class Spooled(dict[str, Any]):
    """A body that lies in a file; as a value, for `Idempotency-Key`, it is its digest."""

    file: IO[bytes]


class LinesParser(BaseParser):
    """JSON lines of any number, written to disk as they come."""

    media_type = MEDIA_TYPE

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Spooled:
        file, digest, size = tempfile.TemporaryFile(), hashlib.sha256(), 0  # noqa: SIM115  # held
        while piece := stream.read(_PIECE):
            size += len(piece)
            if size > settings.MAX_IMPORT_BYTES:
                file.close()
                raise TooLarge(f"a file has at most {settings.MAX_IMPORT_BYTES:,} bytes")
            digest.update(piece)
            file.write(piece)
        spooled = Spooled(sha256=digest.hexdigest())
        spooled.file = file
        return spooled


class ImportView(HubView):
    """Brings a file of an export into this tenant: all of it or nothing. `dry_run` says what
    would come in."""

    scopes: ClassVar = {"POST": "admin"}
    parser_classes = (LinesParser,)
    request_body: ClassVar = {MEDIA_TYPE: OpenApiTypes.BINARY}
    parameters: ClassVar = [
        OpenApiParameter("dry_run", bool, description="Only says what would come in."),
        OpenApiParameter("subject", str, description="Another name than that in the file."),
        OpenApiParameter("restore_erased", bool, description="Also what was erased here since."),
        *WRITE_PARAMETERS,
    ]

    def post(self, request: Request) -> Response:
        tenant_id = whole_tenant(request)
        wanted = Wanted(
            subject=request.query_params.get("subject", ""),
            dry_run=flag_of(request, "dry_run"),
            restore_erased=flag_of(request, "restore_erased"),
        )
        body = self.body(request)
        if not isinstance(body, Spooled):
            raise InvalidInput("a file of an export", field="body")
        body |= asdict(wanted)
        with body.file as file:
            actor, now = key_of(request).actor, timezone.now()
            answer, replayed = once_apart(
                tenant_id,
                request,
                type(self).__name__,
                lambda: asdict(importing.bring_in(tenant_id, file, actor, now, wanted)),
            )
        return answered(answer, replayed=replayed)

    def answers(self) -> dict[str, Any]:
        return REPORT


_COUNTS = {"type": "object", "additionalProperties": {"type": "integer"}}
_SPACE = {
    "id": {"type": "string", "format": "uuid"},
    "subject": {"type": "string"},
    "existed": {"type": "boolean"},
}
REPORT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "dry_run": {"type": "boolean"},
        "version": {"type": "string"},
        "scope": {"type": "string", "enum": ["space", "tenant"]},
        "ids": {"type": "string", "enum": ["kept", "new"]},
        "spaces": {"type": "array", "items": {"type": "object", "properties": _SPACE}},
        "counts": _COUNTS,
        "ignored": _COUNTS,
        "left_out": _COUNTS,
        "vectors": _COUNTS,
    },
}
