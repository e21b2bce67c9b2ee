"""Windows: what of a session is in front of an agent, what it appends there, and its turns."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any, ClassVar, Literal, NotRequired
from uuid import UUID

from django.conf import settings
from rest_framework import serializers
from typing_extensions import TypedDict

from api.core.fields import (
    NOT_BLANK,
    NULL,
    AtLeastOneSerializer,
    IntegerField,
    ListField,
    MetadataField,
    NameField,
    StrictSerializer,
    TextField,
    TimestampField,
)
from api.rows.answers import build_named_type, define_answer
from api.rows.columns import Resource, pick_columns
from api.rows.write_views import SpaceWriteRequest, SpaceWriteView
from api.v1.memories import AddedTurn, MessageSerializer, render_ingest
from memoryhub.dialogues.messages import Message, to_utc
from memoryhub.dialogues.models import Turn
from memoryhub.dialogues.tool_calls import ToolCall, build_call_message, build_result_message
from memoryhub.errors import InvalidInput
from memoryhub.inference.selection import get_configured_embedder
from memoryhub.policies.services import load_effective_policy
from memoryhub.tenants.scope import tenant_scope
from personas.agent.executor import StepOutcome, TurnEnding
from personas.models import Window
from personas.window import read_agent_context

MAX_BEAT_MINUTES = 60 * 24 * 7
_MAX_CALLS = 64  # tool calls of one message


class WindowMessage(TypedDict):
    """A message as the agent's model is shown it: blocks and summary first, as the system's. A call
    of a tool and its result name each other by `call_id`."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    call_id: NotRequired[str]
    tool: NotRequired[str]
    arguments: NotRequired[str]


class WindowDetails(TypedDict):
    """What is in the window as it stands: `tokens` of `messages`, and the summary of what left."""

    summary: str
    tokens: int
    messages: list[WindowMessage]


def _load_window_details(row_id: UUID) -> WindowDetails:
    window = Window.objects.select_related("session__space").get(id=row_id)
    policy = load_effective_policy(window.session.space).policy
    count = get_configured_embedder().count_tokens
    shown = read_agent_context(window.session, policy, count, agent=window.agent_name)
    messages: list[Any] = [
        {name: value for name, value in asdict(each).items() if value or name == "content"}
        for each in shown.messages
    ]
    return {"summary": shown.summary, "tokens": shown.tokens, "messages": messages}


WINDOWS = Resource(
    "window",
    "What of a session is in front of an agent: the messages from `head_seq` on, behind the "
    "summary of those that left. `alerted`: it was told that its window is nearly full. `hidden` "
    "messages have left and wait to be summed up. Timers wake it every `beat_minutes`, next at "
    "`beats_at`, and once at `alarm_at`.",
    Window,
    pick_columns(
        Window,
        "id session_id session=session__external_id session_ordinal=session__ordinal agent "
        "context_limit head_seq alerted hidden beat_minutes beats_at alarm_at version",
    ),
    order=("-session_ordinal", "-id"),
    load_details=_load_window_details,
)


class OpenWindowSerializer(StrictSerializer):
    """`session`: by name, begun where there is none. `agent`: who sits at it, for its own
    blocks."""

    session = NameField(max_length=200, shape=NOT_BLANK)
    agent = NameField(default="", max_length=120)


class OpenWindowView(SpaceWriteView):
    """Open the window of a session, and put an agent's first blocks in front of it. One that is
    open stays as it is."""

    serializer_class = OpenWindowSerializer
    answer: ClassVar = build_named_type(WINDOWS)
    example: ClassVar = {"session": "monday", "agent": "tutor"}

    def run_write(self, deed: SpaceWriteRequest, **ids: Any) -> dict[str, Any]:
        from memoryhub.agents.sessions import open_agent_session

        name, agent = deed.given["session"], deed.given["agent"]
        opened = open_agent_session(deed.space, name, agent, deed.now)
        return deed.render_named_row(WINDOWS, opened.window.id)


class ToolCallOfMessageSerializer(StrictSerializer):
    """A call that an agent of yours has made. `id` is what its result names."""

    id = NameField(max_length=120, shape=NOT_BLANK)
    name = NameField(max_length=120, shape=NOT_BLANK)
    arguments = MetadataField(default=dict)


class WindowMessageSerializer(MessageSerializer):
    """A message of the dialogue; of an agent of yours also the tools that it calls, and what they
    answer (`role` tool, with the `tool_call_id`)."""

    content = TextField(default="")
    tool_calls = ListField(ToolCallOfMessageSerializer(), default=list, max_length=_MAX_CALLS)
    tool_call_id = NameField(default="", max_length=120)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        role, calls = attrs["role"], attrs["tool_calls"]
        if calls and role != Turn.Role.ASSISTANT:
            raise serializers.ValidationError({"tool_calls": "of an assistant's message alone"})
        if attrs["tool_call_id"] and role != Turn.Role.TOOL:
            raise serializers.ValidationError({"tool_call_id": "of a tool's message alone"})
        if not calls and not attrs["content"].strip():
            raise serializers.ValidationError({"content": "words, or the tools that are called"})
        return attrs

    @staticmethod
    def build_message(data: Mapping[str, Any]) -> Message:
        told = dict(data)
        calls, answered = told.pop("tool_calls"), told.pop("tool_call_id")
        if answered:
            text = told.pop("content")
            return build_result_message(answered, text, **_without_role(told))
        if not calls:
            return Message(**told)
        made = [
            ToolCall(c["id"], c["name"], json.dumps(c["arguments"], ensure_ascii=False))
            for c in calls
        ]
        text = told.pop("content")
        if not text.strip():  # nothing is said in it that could be read
            told["metadata"] = told["metadata"] | {"quoted": True}
        return build_call_message(made, text, **_without_role(told))


def _without_role(told: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in told.items() if name != "role"}


class AppendToWindowSerializer(StrictSerializer):
    """Messages behind what is there, oldest first."""

    messages = ListField(
        WindowMessageSerializer(), allow_empty=False, max_length=settings.MAX_MESSAGES
    )


class StepWindowSerializer(StrictSerializer):
    """`messages` are appended first; the last of the user's is what the agent answers. Without
    any it acts on what is there. `max_steps`: at most as many as the policy has it."""

    messages = ListField(WindowMessageSerializer(), default=list, max_length=settings.MAX_MESSAGES)
    max_steps = IntegerField(**NULL, min_value=1, max_value=500)


class _WindowWriteView(SpaceWriteView):
    """A write at one window of the subject's."""

    def run_write(self, deed: SpaceWriteRequest, **ids: Any) -> dict[str, Any]:
        from memoryhub.agents.sessions import load_agent_session  # loads the engines

        seat = load_agent_session(deed.space, ids["row_id"])
        answer = self.act(seat, deed)
        return answer | deed.render_named_row(WINDOWS, seat.window.id)

    def act(self, seat: Any, deed: SpaceWriteRequest) -> dict[str, Any]:
        """What is done at it (an `AgentSession`), and answered beside the window."""
        raise NotImplementedError


_APPENDED = {"turns": list[AddedTurn], "job_id": UUID | None}


class AppendToWindowView(_WindowWriteView):
    """Append to a window. A worker reads the messages as any others; at its limits the window is
    warned of, and flushed by a worker."""

    serializer_class = AppendToWindowSerializer
    answer: ClassVar = define_answer(
        "WindowAppended",
        "What was stored, the job that reads it, and the window as it is then.",
        **_APPENDED,
        window=WINDOWS,
    )
    example: ClassVar = {"messages": [{"role": "user", "content": "I play chess in Porto."}]}

    def act(self, seat: Any, deed: SpaceWriteRequest) -> dict[str, Any]:
        done = seat.append_messages(_build_messages(deed), deed.now)
        return {name: render_ingest(done)[name] for name in _APPENDED}


def _build_messages(deed: SpaceWriteRequest) -> list[Message]:
    return [WindowMessageSerializer.build_message(each) for each in deed.given["messages"]]


class StepWindowView(_WindowWriteView):
    """Let the hub's agent act at a window until it yields: it speaks, searches, edits its blocks.
    The window is looked at before every step, warned of and flushed where that is due."""

    serializer_class = StepWindowSerializer
    answer: ClassVar = define_answer(
        "WindowTurn",
        "What the agent said and did, why it stopped, and the window as it is then. `trouble` says "
        "what broke where it did.",
        said=list[str],
        steps=list[StepOutcome],
        ending=TurnEnding,
        trouble=str,
        paused_minutes=int,
        turn_ids=list[UUID],
        window=WINDOWS,
    )
    example: ClassVar = {"messages": [{"role": "user", "content": "Where do I play chess?"}]}

    def act(self, seat: Any, deed: SpaceWriteRequest) -> dict[str, Any]:
        from memoryhub.agents.turn import take_agent_turn

        seat.check_acts()
        made = take_agent_turn(
            seat, deed.now, messages=_build_messages(deed), max_steps=deed.given["max_steps"]
        )
        return {
            "said": made.turned.messages,
            "steps": [asdict(step) for step in made.turned.steps],
            "ending": made.turned.ending,
            "trouble": made.turned.trouble,
            "paused_minutes": made.turned.paused_minutes,
            "turn_ids": [str(turn.id) for turn in made.replies],
        }


class ScheduleWindowSerializer(AtLeastOneSerializer):
    """`every_minutes`: a heartbeat so often, 0: no more. `alarm_at`: once, null: not at all. What
    is left out stays as it is."""

    every_minutes = IntegerField(required=False, min_value=0, max_value=MAX_BEAT_MINUTES)
    alarm_at = TimestampField(required=False, allow_null=True)


class ScheduleWindowView(_WindowWriteView):
    """Have the agent woken by the clock, whether or not anybody writes."""

    serializer_class = ScheduleWindowSerializer
    answer: ClassVar = build_named_type(WINDOWS)
    example: ClassVar = {"every_minutes": 60}

    def act(self, seat: Any, deed: SpaceWriteRequest) -> dict[str, Any]:
        from memoryhub.agents.wake import set_timers

        values: dict[str, Any] = dict(deed.given)
        if any(values.values()):  # timers that were set before can be stopped all the same
            seat.check_acts()
            seat.check_named()
        if values.get("alarm_at") is not None:
            values["alarm_at"] = _read_alarm(values["alarm_at"], deed)
        with tenant_scope(deed.tenant_id):
            set_timers(seat.window, deed.now, **values)
        return {}


def _read_alarm(given: datetime, deed: SpaceWriteRequest) -> datetime:
    found = to_utc(given, deed.space.timezone, field="alarm_at")
    if found <= deed.now:
        raise InvalidInput("a time that is to come", field="alarm_at")
    return found
