"""A subject, or all of a tenant, as a file: out, and in again."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from typing import IO, Any, ClassVar

from django.conf import settings
from django.http import FileResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from api.core.authentication import get_request_key
from api.core.server_events import AnyAcceptNegotiation
from api.core.views import HubView, get_whole_tenant_id
from api.rows.lists import read_flag
from api.rows.read_views import get_space_at_path
from api.rows.write_views import BaseWriteView
from api.schema.openapi import WRITE_PARAMETERS
from memoryhub.errors import InvalidInput, TooLarge
from memoryhub.exchange import exporter, importer
from memoryhub.exchange.downloads import MEDIA_TYPE, build_download
from memoryhub.exchange.importer import SpaceImportOptions
from memoryhub.tenants import audit
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope

_CHUNK_BYTES = 1024 * 1024
_EMBEDDINGS_PARAMETER = OpenApiParameter(
    "embeddings", bool, description="Also the vectors it is searched by; else they are made anew."
)


class _ExportFileView(HubView):
    parameters: ClassVar = [_EMBEDDINGS_PARAMETER]
    content_negotiation_class = AnyAcceptNegotiation
    answer_media_type = MEDIA_TYPE
    answer: ClassVar = {"type": "string", "description": "One JSON object a line."}


class ExportSpaceView(_ExportFileView):
    """Everything there is of a subject, as JSON lines: to be kept, or imported elsewhere."""

    scopes: ClassVar = {"GET": "read"}

    def get(self, request: Request, subject: str) -> FileResponse:
        space, vectors = get_space_at_path(request, subject), read_flag(request, "embeddings")
        ids, now = (space.tenant_id, space.id), timezone.now()
        _record_export(request, "one space", space)
        return build_download(
            space.subject, lambda file: exporter.export_space(*ids, file, now, embeddings=vectors)
        )


class ExportTenantView(_ExportFileView):
    """Every subject of the tenant with all there is, its policy and its shared blocks."""

    scopes: ClassVar = {"GET": "admin"}

    def get(self, request: Request) -> FileResponse:
        tenant_id, vectors = get_whole_tenant_id(request), read_flag(request, "embeddings")
        now = timezone.now()
        _record_export(request, "everything")
        return build_download(
            "tenant", lambda file: exporter.export_tenant(tenant_id, file, now, embeddings=vectors)
        )


def _record_export(request: Request, what: str, space: Space | None = None) -> None:
    key = get_request_key(request)
    with tenant_scope(key.tenant_id):
        audit.record_audit_entry(key.tenant_id, audit.Action.EXPORTED, key.actor, what, space=space)


class SpooledBody(dict[str, Any]):
    """A body that lies in a file; as a value, for `Idempotency-Key`, it is its digest."""

    file: IO[bytes]


class JSONLinesParser(BaseParser):
    """JSON lines of any number, written to disk as they come."""

    media_type = MEDIA_TYPE

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> SpooledBody:
        file, digest, size = tempfile.TemporaryFile(), hashlib.sha256(), 0  # noqa: SIM115  # held
        while piece := stream.read(_CHUNK_BYTES):
            size += len(piece)
            if size > settings.MAX_IMPORT_BYTES:
                file.close()
                raise TooLarge(f"a file has at most {settings.MAX_IMPORT_BYTES:,} bytes")
            digest.update(piece)
            file.write(piece)
        spooled = SpooledBody(sha256=digest.hexdigest())
        spooled.file = file
        return spooled


class ImportFileView(BaseWriteView):
    """Brings a file of an export into this tenant: all of it or nothing. `dry_run` says what
    would come in."""

    scopes: ClassVar = {"POST": "admin"}
    parser_classes = (JSONLinesParser,)
    answer: ClassVar = importer.SpaceImportReport
    request_body: ClassVar = {MEDIA_TYPE: OpenApiTypes.BINARY}
    parameters: ClassVar = [
        OpenApiParameter("dry_run", bool, description="Only says what would come in."),
        OpenApiParameter("subject", str, description="Another name than that in the file."),
        OpenApiParameter("restore_erased", bool, description="Also what was erased here since."),
        *WRITE_PARAMETERS,
    ]

    def post(self, request: Request) -> Response:
        tenant_id = get_whole_tenant_id(request)
        wanted = SpaceImportOptions(
            subject=request.query_params.get("subject", ""),
            dry_run=read_flag(request, "dry_run"),
            restore_erased=read_flag(request, "restore_erased"),
        )
        body = self.read_body(request)
        if not isinstance(body, SpooledBody):
            raise InvalidInput("send the file of an export", field="body")
        body |= asdict(wanted)
        with body.file as file:
            actor, now = get_request_key(request).actor, timezone.now()
            return self.run_once(
                request, lambda: asdict(importer.import_file(tenant_id, file, actor, now, wanted))
            )
