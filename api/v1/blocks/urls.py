"""Routes of core blocks and the tools of agents."""

from __future__ import annotations

from api.rows.routes import build_action_routes, build_space_route
from api.v1.blocks import agent_tools, reads, writes

urlpatterns = [
    build_space_route("blocks", reads.BlocksView, "blocks"),
    build_space_route("blocks/new", writes.NewBlockView, "block-new"),
    build_space_route("blocks/<uuid:row_id>", reads.BlockView, "block"),
    build_space_route("blocks/<uuid:row_id>/versions", reads.BlockVersionsView, "block-versions"),
    *build_action_routes(
        "blocks",
        "block",
        revise=writes.ReviseBlockView,
        delete=writes.DeleteBlockView,
        attach=writes.AttachBlockView,
        detach=writes.DetachBlockView,
    ),
    build_space_route("tools", agent_tools.AgentToolsView, "tools"),
]
