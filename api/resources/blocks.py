"""Core blocks: text always in front of an agent, by version."""

from __future__ import annotations

from typing import Any

from django.db.models import Q, QuerySet
from rest_framework.request import Request

from api.columns import FLAG, ID, NUMBER, TEXT, TIME, Resource, unretired
from api.resources.base import ListView, RowView
from memoryhub.errors import NotFound
from memoryhub.tenants.models import Space
from personas.models import BlockAttachment, BlockVersion, CoreBlock

BLOCKS = Resource(
    "block",
    "Text always in front of an agent. Without a `space_id` it is shared.",
    CoreBlock,
    {
        "id": ID,
        "space_id": ID,
        "agent": TEXT,
        "label": TEXT,
        "value": TEXT,
        "description": TEXT,
        "char_limit": NUMBER,
        "read_only": FLAG,
        "generated": FLAG,
        "version": NUMBER,
        "updated_at": TIME,
        "retired_at": TIME,
    },
    order=("label", "id"),
    held=unretired,
    version="version",
)
VERSIONS = Resource(
    "block version",
    "What a block said in one of its versions, and who wrote it.",
    BlockVersion,
    {
        "id": ID,
        "version": NUMBER,
        "value": TEXT,
        "actor": TEXT,
        "reason": TEXT,
        "space_id": ID,
        "turn_id": ID,
        "created_at": TIME,
    },
    order=("-version", "-id"),
)


def blocks_of(space: Space) -> QuerySet[Any]:
    """The space's own, of every agent, and the shared ones attached to it."""
    attached = BlockAttachment.objects.filter(space=space).values("block_id")
    return BLOCKS.rows().filter(Q(space=space) | Q(space=None, id__in=attached))


class BlocksView(ListView):
    resource = BLOCKS

    def rows(self, request: Request, space: Space) -> QuerySet[Any]:
        return blocks_of(space)


class BlockView(RowView):
    resource = BLOCKS

    def rows(self, space: Space) -> QuerySet[Any]:
        return blocks_of(space)


class BlockVersionsView(ListView):
    resource = VERSIONS

    def rows(self, request: Request, space: Space) -> QuerySet[Any]:
        """Without those that another subject's dialogue wrote into a shared block."""
        if not blocks_of(space).filter(id=self.kwargs["row_id"]).exists():
            raise NotFound("There is no such block.")
        mine = Q(space=space) | Q(space=None)
        return VERSIONS.rows().filter(mine, block=self.kwargs["row_id"])
