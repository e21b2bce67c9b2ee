"""Blocks by hand."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from api.core.fields import (
    NOT_BLANK,
    AtLeastOneSerializer,
    IntegerField,
    NameField,
    StrictBooleanField,
)
from api.rows.answers import build_written_type
from api.rows.write_views import (
    ReasonSerializer,
    RowWriteView,
    SpaceWriteRequest,
    SpaceWriteView,
    render_written_row,
)
from api.v1.blocks.reads import BLOCKS, select_visible_blocks
from memoryhub.errors import NotFound
from memoryhub.tenants.scope import tenant_scope
from personas import blocks
from personas.blocks import MAX_CHAR_LIMIT, MAX_LABEL_LENGTH, BlockWriter
from personas.models import CoreBlock


class NewBlockSerializer(ReasonSerializer):
    """`shared`: it belongs to no subject, and this one's agents see it."""

    label = NameField(max_length=MAX_LABEL_LENGTH, shape=NOT_BLANK)  # type: ignore[assignment]  # a field here
    value = NameField(required=False, default="", max_length=MAX_CHAR_LIMIT)
    description = NameField(required=False, default="", max_length=500)
    char_limit = IntegerField(required=False, default=2000, min_value=1, max_value=MAX_CHAR_LIMIT)
    agent = NameField(required=False, default="", max_length=120)
    read_only = StrictBooleanField(required=False, default=False)  # type: ignore[assignment]  # a field here
    shared = StrictBooleanField(required=False, default=False)


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
    example: ClassVar = {"label": "human", "value": "Plays chess.", "char_limit": 2000}

    def run_write(self, deed: SpaceWriteRequest, **ids: Any) -> dict[str, Any]:
        return _create_block(deed)

    def get_answer_type(self, method: str, status: int) -> Any:
        return build_written_type(BLOCKS)


def _create_block(deed: SpaceWriteRequest) -> dict[str, Any]:
    """Raises NotFound for a shared one by a key of one subject: for it there are no others."""
    given = {name: value for name, value in deed.change_values.items() if name != "shared"}
    shared = deed.given["shared"]
    if shared and deed.key.space_id is not None:
        raise NotFound("A key of one subject makes no shared blocks.")
    with tenant_scope(deed.space.tenant_id):
        made = blocks.create_block(
            _build_writer(deed),
            given.pop("label"),
            tenant_id=deed.space.tenant_id,
            space=None if shared else deed.space,
            **given,
        )
        if shared:
            blocks.attach_block(made, deed.space)
        return render_written_row(deed.space, BLOCKS, made.id)


class BlockWriteView(RowWriteView):
    resource = BLOCKS

    def run_write(self, deed: SpaceWriteRequest, **ids: Any) -> dict[str, Any]:
        with tenant_scope(deed.space.tenant_id):
            if (
                not select_visible_blocks(deed.space)
                .filter(id=ids["row_id"], retired_at=None)
                .exists()
            ):
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

    def run_write(self, deed: SpaceWriteRequest, **ids: Any) -> dict[str, Any]:
        with tenant_scope(deed.space.tenant_id):
            rows = CoreBlock.objects.filter(id=ids["row_id"], space=None, retired_at=None)
            block = rows.first() if deed.key.space_id is None else None
            if block is None:
                raise NotFound("There is no such shared block.")
            blocks.attach_block(block, deed.space)
            return render_written_row(deed.space, BLOCKS, block.id)

    def get_answer_type(self, method: str, status: int) -> Any:
        return build_written_type(BLOCKS)


class DetachBlockView(SpaceWriteView):
    """Take a shared block out of the sight of this subject's agents."""

    def run_write(self, deed: SpaceWriteRequest, **ids: Any) -> dict[str, Any]:
        with tenant_scope(deed.space.tenant_id):
            block = select_visible_blocks(deed.space).filter(id=ids["row_id"], space=None).first()
            if block is None:
                raise NotFound("There is no such shared block.")
            blocks.detach_block(block, deed.space)
            return render_written_row(deed.space, BLOCKS, block.id)

    def get_answer_type(self, method: str, status: int) -> Any:
        return build_written_type(BLOCKS)
