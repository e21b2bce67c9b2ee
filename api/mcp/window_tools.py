"""Tools for an agent whose session the hub holds: its window, by the session's name.

Shown where the address asks for them: a host that only remembers has no use for them.
"""

from __future__ import annotations

import json

from django.db import transaction

from api.mcp import arguments as given
from api.mcp.caller import Caller
from api.mcp.hub_tools import DATA_NOTICE, build_space_path
from api.mcp.render import render_json, select_filled_fields
from api.mcp.tool import NUMBER, TEXT, Tool, ToolResult, build_array_schema, build_object_schema
from memoryhub.errors import NotFound

_STEP_FIELDS = ("tool", "arguments", "ok", "result")


def _run_read(caller: Caller, asked: given.WindowArguments) -> ToolResult:
    named = json.dumps({"session": asked.session})
    windows = build_space_path(caller, asked, "windows")
    found = caller.get(windows, filter=named, limit=1)["items"]
    if not found:
        raise NotFound("This session has no window: one is opened by what is appended to it.")
    shown = caller.get(f"{windows}/{found[0]['id']}")
    return render_json({name: shown[name] for name in ("summary", "tokens", "messages")})


def _run_append(caller: Caller, asked: given.AppendToWindowArguments) -> ToolResult:
    with transaction.atomic():  # what is refused has opened nothing
        path = _open_window(caller, asked)
        answer = caller.post(f"{path}/append", asked.dump_set_fields("messages"))
    turns = [select_filled_fields(turn, ("id", "duplicate")) for turn in answer["turns"]]
    return render_json({"job_id": answer["job_id"], "turns": turns})


def _run_step(caller: Caller, asked: given.StepWindowArguments) -> ToolResult:
    path = _open_window(caller, asked)
    body = asked.dump_set_fields("max_steps")
    body |= {"messages": [{"content": asked.text}]} if asked.text else {}
    answer = caller.post(f"{path}/step", body)
    steps = [{name: step[name] for name in _STEP_FIELDS} for step in answer["steps"]]
    told = {name: answer[name] for name in ("said", "ending", "trouble")}
    return render_json(told | {"steps": steps})


def _open_window(caller: Caller, asked: given.OpenWindowArguments) -> str:
    """Its path in the API."""
    windows = build_space_path(caller, asked, "windows")
    opened = caller.post(f"{windows}/open", {"session": asked.session, "agent": asked.agent})
    return f"{windows}/{opened['window']['id']}"


_MESSAGES_SCHEMA = build_array_schema(build_object_schema({"role": TEXT, "content": TEXT}))

WINDOW_TOOLS = (
    Tool(
        "read_window",
        "What is in the window",
        "The messages to go to an agent's model for a session, within its window of tokens: its "
        "memory blocks and the summary of what has left first." + DATA_NOTICE,
        _run_read,
        build_object_schema({"summary": TEXT, "tokens": NUMBER, "messages": _MESSAGES_SCHEMA}),
    ),
    Tool(
        "append_to_window",
        "Append to the window",
        "Put what was said in a session, and which tools were called with what result, behind what "
        "is in its window; it is opened where there is none. The memory reads it as with `add`.",
        _run_append,
        build_object_schema({"turns": build_array_schema(build_object_schema({"id": TEXT}))}),
        scope="write",
    ),
    Tool(
        "step_window",
        "Have the hub's agent take its turn",
        "Have the hub's own agent answer in a session, with its memory and its tools; without a "
        "text it acts on what is in the window." + DATA_NOTICE,
        _run_step,
        build_object_schema(
            {
                "said": build_array_schema(TEXT),
                "ending": TEXT,
                "steps": build_array_schema(build_object_schema({"tool": TEXT})),
            },
            trouble=TEXT,
        ),
        scope="write",
    ),
)
