"""Core blocks: text always in front of an agent, by version."""

from __future__ import annotations

from typing import Any

from django.db.models import Q, QuerySet
from rest_framework.request import Request

from api.rows.columns import Resource, build_columns, build_unretired_condition
from api.rows.read_views import SpaceListView, SpaceRowView
from memoryhub.errors import NotFound
from memoryhub.tenants.models import Space
from personas.models import BlockAttachment, BlockVersion, CoreBlock

BLOCKS = Resource(
    "block",
    "Text always in front of an agent. Without a `space_id` it is shared.",
    CoreBlock,
    build_columns(CoreBlock),
    order=("label", "id"),
    current_condition=build_unretired_condition,
    version="version",
)
BLOCK_VERSIONS = Resource(
    "block version",
    "What a block said in one of its versions, and who wrote it.",
    BlockVersion,
    build_columns(BlockVersion),
    order=("-version", "-id"),
)


def select_visible_blocks(space: Space) -> QuerySet[Any]:
    """The space's own, of every agent, and the shared ones attached to it."""
    attached = BlockAttachment.objects.filter(space=space).values("block_id")
    return BLOCKS.select_rows().filter(Q(space=space) | Q(space=None, id__in=attached))


class BlocksView(SpaceListView):
    resource = BLOCKS

    def select_rows(self, request: Request, space: Space) -> QuerySet[Any]:
        return select_visible_blocks(space)


class BlockView(SpaceRowView):
    resource = BLOCKS

    def select_rows(self, space: Space) -> QuerySet[Any]:
        return select_visible_blocks(space)


class BlockVersionsView(SpaceListView):
    resource = BLOCK_VERSIONS

    def select_rows(self, request: Request, space: Space) -> QuerySet[Any]:
        """Without those that another subject's dialogue wrote into a shared block."""
        if not select_visible_blocks(space).filter(id=self.kwargs["row_id"]).exists():
            raise NotFound("There is no such block.")
        mine = Q(space=space) | Q(space=None)
        return BLOCK_VERSIONS.select_rows().filter(mine, block=self.kwargs["row_id"])
