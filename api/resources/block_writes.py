"""Blocks by hand, and the tools by which an agent edits its own memory."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any, ClassVar
from uuid import UUID

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from api.fields import SAID, FlagField, MetadataField, NameField, SomeOfSerializer, WholeField
from api.resources.base import space_at
from api.resources.blocks import BLOCKS, blocks_of
from api.resources.writing import (
    Deed,
    ReasonSerializer,
    RowWriteView,
    WriteView,
    changed,
    changed_schema,
)
from memoryhub.errors import NotFound
from memoryhub.tenants.scope import tenant_scope
from personas import blocks, executor, tools
from personas.blocks import MAX_LABEL, MAX_LIMIT, Writer
from personas.models import CoreBlock


class NewBlockSerializer(ReasonSerializer):
    """`shared`: it belongs to no subject, and this one's agents see it."""

    label = NameField(max_length=MAX_LABEL, shape=SAID)  # type: ignore[assignment]  # a field here
    value = NameField(required=False, default="", max_length=MAX_LIMIT)
    description = NameField(required=False, default="", max_length=500)
    char_limit = WholeField(required=False, default=2000, min_value=1, max_value=MAX_LIMIT)
    agent = NameField(required=False, default="", max_length=120)
    read_only = FlagField(required=False, default=False)  # type: ignore[assignment]  # a field here
    shared = FlagField(required=False, default=False)


class ReviseSerializer(SomeOfSerializer, ReasonSerializer):
    """What is left out stays as it is."""

    value = NameField(required=False, max_length=MAX_LIMIT)
    label = NameField(required=False, max_length=MAX_LABEL, shape=SAID)  # type: ignore[assignment]  # a field here
    char_limit = WholeField(required=False, min_value=1, max_value=MAX_LIMIT)


def _writer(deed: Deed) -> Writer:
    return Writer(deed.actor, "person", deed.now, deed.space, reason=deed.reason)


class NewBlockView(WriteView):
    """A new block in front of the subject's agents."""

    serializer_class = NewBlockSerializer
    example: ClassVar = {"label": "human", "value": "Plays chess.", "char_limit": 2000}

    def work(self, deed: Deed, **ids: Any) -> dict[str, Any]:
        return _created(deed)

    def answers(self) -> dict[str, Any]:
        return changed_schema(BLOCKS)


def _created(deed: Deed) -> dict[str, Any]:
    """Raises NotFound for a shared one by a key of one subject: for it there are no others."""
    given = {name: value for name, value in deed.values.items() if name != "shared"}
    shared = deed.given["shared"]
    if shared and deed.key.space_id is not None:
        raise NotFound("A key of one subject makes no shared blocks.")
    with tenant_scope(deed.space.tenant_id):
        made = blocks.create(
            _writer(deed),
            given.pop("label"),
            tenant_id=deed.space.tenant_id,
            space=None if shared else deed.space,
            **given,
        )
        if shared:
            blocks.attach(made, deed.space)
        return changed(deed.space, BLOCKS, made.id)


class BlockWriteView(RowWriteView):
    resource = BLOCKS
    settles = False

    def work(self, deed: Deed, **ids: Any) -> dict[str, Any]:
        with tenant_scope(deed.space.tenant_id):
            if not blocks_of(deed.space).filter(id=ids["row_id"], retired_at=None).exists():
                raise NotFound("There is no such block.")
            return super().work(deed, **ids)


class ReviseBlockView(BlockWriteView):
    """Other text, label or limit, all at once."""

    serializer_class = ReviseSerializer
    example: ClassVar = {"value": "Lives in Lisbon.", "reason": "moved"}

    def change(self, deed: Deed, row_id: UUID) -> None:
        blocks.revise(_writer(deed), row_id, deed.version, **deed.values)


class DeleteBlockView(BlockWriteView):
    """Take it out of every agent's sight. Its versions stay."""

    def change(self, deed: Deed, row_id: UUID) -> None:
        blocks.delete(_writer(deed), row_id, deed.version)


class AttachBlockView(WriteView):
    """Put a shared block in front of the agents of a subject."""

    def work(self, deed: Deed, **ids: Any) -> dict[str, Any]:
        with tenant_scope(deed.space.tenant_id):
            rows = CoreBlock.objects.filter(id=ids["row_id"], space=None, retired_at=None)
            block = rows.first() if deed.key.space_id is None else None
            if block is None:
                raise NotFound("There is no such shared block.")
            blocks.attach(block, deed.space)
            return changed(deed.space, BLOCKS, block.id)

    def answers(self) -> dict[str, Any]:
        return changed_schema(BLOCKS)


class DetachBlockView(WriteView):
    """Take a shared block out of the sight of this subject's agents."""

    def work(self, deed: Deed, **ids: Any) -> dict[str, Any]:
        with tenant_scope(deed.space.tenant_id):
            block = blocks_of(deed.space).filter(id=ids["row_id"], space=None).first()
            if block is None:
                raise NotFound("There is no such shared block.")
            blocks.detach(block, deed.space)
            return changed(deed.space, BLOCKS, block.id)

    def answers(self) -> dict[str, Any]:
        return changed_schema(BLOCKS)


class ToolSerializer(serializers.Serializer[Any]):
    """One call, as a model made it. `agent`: who calls, for its own blocks."""

    tool = NameField(max_length=60)
    arguments = MetadataField(required=False, default=dict)
    agent = NameField(required=False, default="", max_length=120)


_STEP = {
    "type": "object",
    "properties": {
        "tool": {"type": "string"},
        "arguments": {"type": ["object", "string"]},
        "thought": {"type": "string"},
        "ok": {"type": "boolean"},
        "result": {"type": "string"},
        "paused_minutes": {"type": "integer"},
    },
}


class ToolsView(WriteView):
    """The tools of an agent that looks after its own memory; sent a call, it is carried out."""

    scopes: ClassVar = {"GET": "read", "POST": "write"}
    serializer_class = ToolSerializer
    example: ClassVar = {
        "tool": "core_append",
        "arguments": {"label": "human", "text": "Plays chess."},
    }

    def get(self, request: Request, subject: str) -> Response:
        space_at(request, subject)
        return Response({"tools": [asdict(tool) for tool in tools.offered()]})

    def work(self, deed: Deed, **ids: Any) -> dict[str, Any]:
        from memoryhub.recall.lookups import SpaceMemory  # loads the embedder

        agent, now = deed.given["agent"], timezone.now()
        box = executor.Toolbox(deed.space, agent, SpaceMemory(deed.space, agent, now), now)
        arguments = json.dumps(deed.given["arguments"])
        step, turned = executor.perform(box, deed.given["tool"], arguments)
        return asdict(step) | {"paused_minutes": turned.paused_minutes}

    def answers(self) -> dict[str, Any]:
        if self.request is not None and self.request.method == "GET":
            return {"type": "object", "properties": {"tools": {"type": "array", "items": {}}}}
        return _STEP
