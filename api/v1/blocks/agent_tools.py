"""The tools by which an agent edits its own memory, and calls of them."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any, ClassVar

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from api.core.fields import (
    MetadataField,
    NameField,
)
from api.rows.answers import extend_answer
from api.rows.read_views import get_space_at_path
from api.rows.write_views import (
    SpaceWriteRequest,
    SpaceWriteView,
)
from memoryhub.engines.types import AgentTool
from personas.agent import executor, tools


class ToolCallSerializer(serializers.Serializer[Any]):
    """One call, as a model made it. `agent`: who calls, for its own blocks."""

    tool = NameField(max_length=60)
    arguments = MetadataField(required=False, default=dict)
    agent = NameField(required=False, default="", max_length=120)


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
        return Response({"tools": [asdict(tool) for tool in tools.list_offered_tools()]})

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
