"""Core blocks: text always in front of an agent; and the tools by which it edits its memory."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from api.core.fields import (
    NOT_BLANK,
    AtLeastOneSerializer,
    IntegerField,
    MetadataField,
    NameField,
    StrictBooleanField,
    StrictSerializer,
)
from api.rows.answers import build_written_type, extend_answer
from api.rows.columns import Resource, build_columns, build_unretired_condition
from api.rows.read_views import SpaceListView, get_space_at_path
from api.rows.write_views import (
    ReasonSerializer,
    RowWriteView,
    SpaceWriteRequest,
    SpaceWriteView,
    render_written_row,
)
from memoryhub.engines.types import AgentTool
from memoryhub.errors import NotFound
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from personas import blocks
from personas.agent import executor, tools
from personas.blocks import MAX_CHAR_LIMIT, MAX_LABEL_LENGTH, BlockWriter
from personas.models import BlockAttachment, BlockVersion, CoreBlock


def select_visible_blocks(space: Space) -> QuerySet[Any]:
    """The space's own, of every agent, and the shared ones attached to it."""
    attached = BlockAttachment.objects.filter(space=space).values("block_id")
    return CoreBlock.objects.filter(Q(space=space) | Q(space=None, id__in=attached))


BLOCKS = Resource(
    "block",
    "Text always in front of an agent. Without a `space_id` it is shared.",
    CoreBlock,
    build_columns(CoreBlock),
    order=("label", "id"),
    current_condition=build_unretired_condition,
    version="version",
    select_in_space=select_visible_blocks,
)
BLOCK_VERSIONS = Resource(
    "block version",
    "What a block said in one of its versions, and who wrote it.",
    BlockVersion,
    build_columns(BlockVersion),
    order=("-version", "-id"),
)


class BlockVersionsView(SpaceListView):
    resource = BLOCK_VERSIONS

    def select_rows(self, space: Space) -> QuerySet[Any]:
        """Without those that another subject's dialogue wrote into a shared block."""
        if not select_visible_blocks(space).filter(id=self.kwargs["row_id"]).exists():
            raise NotFound("There is no such block.")
        mine = Q(space=space) | Q(space=None)
        return BlockVersion.objects.filter(mine, block=self.kwargs["row_id"])


class NewBlockSerializer(ReasonSerializer):
    """`shared`: it belongs to no subject, and this one's agents see it."""

    label = NameField(max_length=MAX_LABEL_LENGTH, shape=NOT_BLANK)  # type: ignore[assignment]  # a field here
    value = NameField(default="", max_length=MAX_CHAR_LIMIT)
    description = NameField(default="", max_length=500)
    char_limit = IntegerField(default=2000, min_value=1, max_value=MAX_CHAR_LIMIT)
    agent = NameField(default="", max_length=120)
    read_only = StrictBooleanField(default=False)  # type: ignore[assignment]  # a field here
    shared = StrictBooleanField(default=False)


class ReviseBlockSerializer(AtLeastOneSerializer, ReasonSerializer):
    """What is left out stays as it is."""

    value = NameField(required=False, max_length=MAX_CHAR_LIMIT)
    label = NameField(required=False, max_length=MAX_LABEL_LENGTH, shape=NOT_BLANK)  # type: ignore[assignment]  # a field here
    char_limit = IntegerField(required=False, min_value=1, max_value=MAX_CHAR_LIMIT)


def _build_writer(deed: SpaceWriteRequest) -> BlockWriter:
    return BlockWriter(deed.actor, "person", deed.now, deed.space, reason=deed.reason)


class NewBlockView(SpaceWriteView):
    """A new block in front of the subject's agents."""

    serializer_class = NewBlockSerializer
    answer: ClassVar = build_written_type(BLOCKS)
    example: ClassVar = {"label": "human", "value": "Plays chess.", "char_limit": 2000}

    def run_write(self, deed: SpaceWriteRequest, **ids: Any) -> dict[str, Any]:
        """Raises NotFound for a shared one by a key of one subject: for it there are no others."""
        given = deed.change_values
        label, shared = given.pop("label"), given.pop("shared")
        if shared and deed.key.space_id is not None:
            raise NotFound("A key of one subject makes no shared blocks.")
        space = None if shared else deed.space
        with tenant_scope(deed.tenant_id):
            made = blocks.create_block(
                _build_writer(deed), label, tenant_id=deed.tenant_id, space=space, **given
            )
            if shared:
                blocks.attach_block(made, deed.space)
            return render_written_row(deed.space, BLOCKS, made.id)


class BlockWriteView(RowWriteView):
    resource = BLOCKS

    def run_write(self, deed: SpaceWriteRequest, **ids: Any) -> dict[str, Any]:
        with tenant_scope(deed.tenant_id):
            held = select_visible_blocks(deed.space).filter(retired_at=None)
            if not held.filter(id=ids["row_id"]).exists():
                raise NotFound("There is no such block.")
            return super().run_write(deed, **ids)


class ReviseBlockView(BlockWriteView):
    """Other text, label or limit, all at once."""

    serializer_class = ReviseBlockSerializer
    example: ClassVar = {"value": "Lives in Lisbon.", "reason": "moved"}

    def change_row(self, deed: SpaceWriteRequest, row_id: UUID) -> None:
        blocks.revise_block(_build_writer(deed), row_id, deed.version, **deed.change_values)


class DeleteBlockView(BlockWriteView):
    """Take it out of every agent's sight. Its versions stay."""

    def change_row(self, deed: SpaceWriteRequest, row_id: UUID) -> None:
        blocks.delete_block(_build_writer(deed), row_id, deed.version)


class AttachBlockView(SpaceWriteView):
    """Put a shared block in front of the agents of a subject."""

    answer: ClassVar = build_written_type(BLOCKS)
    move_block: Callable[[CoreBlock, Space], object] = staticmethod(blocks.attach_block)

    def run_write(self, deed: SpaceWriteRequest, **ids: Any) -> dict[str, Any]:
        with tenant_scope(deed.tenant_id):
            block = self.select_shared(deed).filter(id=ids["row_id"], space=None).first()
            if block is None:
                raise NotFound("There is no such shared block.")
            self.move_block(block, deed.space)
            return render_written_row(deed.space, BLOCKS, block.id)

    def select_shared(self, deed: SpaceWriteRequest) -> QuerySet[Any]:
        """A key of one subject sees no blocks of others."""
        held = CoreBlock.objects.filter(retired_at=None)
        return held if deed.key.space_id is None else held.none()


class DetachBlockView(AttachBlockView):
    """Take a shared block out of the sight of this subject's agents."""

    move_block = staticmethod(blocks.detach_block)

    def select_shared(self, deed: SpaceWriteRequest) -> QuerySet[Any]:
        return select_visible_blocks(deed.space)


class ToolCallSerializer(StrictSerializer):
    """One call, as a model made it. `agent`: who calls, for its own blocks."""

    tool = NameField(max_length=60)
    arguments = MetadataField(default=dict)
    agent = NameField(default="", max_length=120)


class OfferedTools(TypedDict):
    tools: list[AgentTool]


class AgentToolsView(SpaceWriteView):
    """The tools of an agent that looks after its own memory; sent a call, it is carried out."""

    scopes: ClassVar = {"GET": "read", "POST": "write"}
    serializer_class = ToolCallSerializer
    example: ClassVar = {
        "tool": "core_append",
        "arguments": {"label": "human", "text": "Plays chess."},
    }

    def get(self, request: Request, subject: str) -> Response:
        get_space_at_path(request, subject)
        offered = tools.list_offered_tools(without=tools.TIMER_TOOLS)
        return Response({"tools": [asdict(tool) for tool in offered]})

    def run_write(self, deed: SpaceWriteRequest, **ids: Any) -> dict[str, Any]:
        from memoryhub.recall.agent_memory import SpaceMemory  # loads the embedder

        agent, now = deed.given["agent"], timezone.now()
        box = executor.Toolbox(deed.space, agent, SpaceMemory(deed.space, agent, now), now)
        arguments = json.dumps(deed.given["arguments"])
        step, turned = executor.run_tool_call(box, deed.given["tool"], arguments)
        return asdict(step) | {"paused_minutes": turned.paused_minutes}

    def get_answer_type(self, method: str, status: int) -> Any:
        if method == "GET":
            return OfferedTools
        return extend_answer(executor.StepOutcome, "ToolStep", paused_minutes=int)
