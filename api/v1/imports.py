"""Memories brought over from other systems: a file in, a report out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar
from uuid import UUID

from django.utils import timezone
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils import html

from api.core.authentication import get_request_key, get_request_tenant_id
from api.core.fields import (
    NO_NULS,
    NULL,
    ListField,
    NameField,
    StrictSerializer,
    SubjectField,
    TextField,
)
from api.core.idempotency import mark_replayed, run_once_in_own_transactions
from api.core.parsers import StrictJSONParser
from api.core.views import check_subjects_visible
from api.rows.answers import build_page_type, build_row_type
from api.rows.columns import Resource, pick_columns
from api.rows.lists import render_row
from api.rows.read_views import ResourceView, TenantListView
from api.schema.openapi import PAGE_PARAMETERS, WRITE_PARAMETERS
from memoryhub.dialogues.messages import encode_text
from memoryhub.errors import InvalidInput
from memoryhub.importers import runs
from memoryhub.importers.models import ImportRun
from memoryhub.importers.records import RECORD_KINDS
from memoryhub.importers.runs import ImportUpload
from memoryhub.importers.sources import SOURCES
from memoryhub.tenants.scope import tenant_scope

IMPORTS = Resource(
    "import",
    "An import from another system, tried or done, with its report.",
    ImportRun,
    pick_columns(
        ImportRun,
        "id source file_name size subject only dry_run state done total error report created_at "
        "finished_at",
    ),
    order=("-created_at", "-id"),
)


class _FormFlagField(serializers.BooleanField):
    """True or false; in a form, where all is text, by their names."""

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool) and not html.is_html_input(self.root.initial_data):
            self.fail("invalid", input=data)
        return super().to_internal_value(data)


class NewImportSerializer(StrictSerializer):
    """`file` as a form has it, or `content`: the same as text in JSON."""

    source = serializers.ChoiceField(choices=tuple(SOURCES))  # type: ignore[assignment]  # a field here
    file = serializers.FileField(**NULL)
    content = TextField(default="")
    name = NameField(default="", max_length=200)
    subject = SubjectField(default="", shape=NO_NULS)
    only = ListField(serializers.ChoiceField(choices=RECORD_KINDS), default=list, max_length=8)
    dry_run = _FormFlagField(default=False)


class _ImportRunView(ResourceView):
    resource = IMPORTS
    answer_statuses = (200, 202)

    def start_import_once(
        self, request: Request, begin: Callable[[], ImportRun], sent_as: str = "file"
    ) -> Response:
        """202 while a worker is at it. Raises InvalidInput for what could not be read, under the
        name it was `sent_as`.

        What is kept for a repetition is which import it was, and it is told as it stands then:
        so it holds nothing that could be erased.
        """
        tenant_id, name = get_request_tenant_id(request), type(self).__name__

        def begin_readable() -> dict[str, str]:
            return {"id": str(_check_readable(begin(), sent_as).id)}

        begun, replayed = run_once_in_own_transactions(
            tenant_id, request, name, begin_readable, keeps=True
        )
        with tenant_scope(tenant_id):
            shown = render_row(IMPORTS, IMPORTS.select_rows(), UUID(begun["id"]))
        waits = shown["state"] in ImportRun.ACTIVE_STATES
        headers = mark_replayed(replayed)
        return Response(shown, status=202 if waits else 200, headers=headers)

    def get_answer_type(self, method: str, status: int) -> Any:
        return build_page_type(IMPORTS) if method == "GET" else build_row_type(IMPORTS)


class ImportsView(_ImportRunView, TenantListView):
    """Imports so far; and a new one. The answer is the import with its report, or, for large
    files, how far a worker is with it."""

    parameters: ClassVar = [*PAGE_PARAMETERS, *WRITE_PARAMETERS]
    scopes: ClassVar = {"GET": "read", "POST": "write"}
    parser_classes = (StrictJSONParser, MultiPartParser)
    serializer_class = NewImportSerializer
    example: ClassVar = {
        "source": "jsonl",
        "content": '{"subject": "ana", "fact": "Ana lives in Lisbon"}\n',
        "dry_run": True,
    }

    def post(self, request: Request) -> Response:
        body = NewImportSerializer(data=self.read_body(request))
        body.is_valid(raise_exception=True)
        given = body.validated_data
        name, chunks = _read_file(given)
        key, subject = get_request_key(request), given["subject"]
        sent = ImportUpload(
            name=name,
            chunks=chunks,
            actor=key.actor,
            space=check_subjects_visible(request, *filter(None, [subject])),
            **{name: given[name] for name in ("source", "subject", "only", "dry_run")},
        )
        return self.start_import_once(
            request,
            lambda: runs.start_import(key.tenant_id, sent, timezone.now()),
            sent_as="content" if given["file"] is None else "file",
        )


def _read_file(given: dict[str, Any]) -> tuple[str, Iterable[bytes]]:
    """Its name and its bytes. Raises InvalidInput."""
    if given["file"] is not None:
        return given["name"] or given["file"].name, given["file"].chunks()
    content = encode_text(given["content"], "content")
    if not content:
        raise InvalidInput("send a file, or its text as `content`", field="file")
    return given["name"], [content]


def _check_readable(run: ImportRun, sent_as: str) -> ImportRun:
    """Raises InvalidInput for what could not be read."""
    if run.state == ImportRun.State.FAILED:
        field, _, message = run.error.partition(": ")
        if field not in ("file", "subject"):
            field, message = "file", run.error
        at_fault = sent_as if field == "file" else field
        raise InvalidInput(message, field=at_fault, import_id=str(run.id))
    return run


class TakeImportView(_ImportRunView):
    """Take in the file that was tried, without sending it again. It is kept for a day."""

    about = "Take in the file of a dry run, without sending it again. It is kept for a day."
    scopes: ClassVar = {"POST": "write"}
    parameters: ClassVar = WRITE_PARAMETERS

    def post(self, request: Request, row_id: UUID) -> Response:
        key = get_request_key(request)
        run = IMPORTS.get_visible_row(key, row_id)
        return self.start_import_once(
            request, lambda: runs.import_tried_file(run, key.actor, timezone.now())
        )
