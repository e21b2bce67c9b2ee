"""What tools tell models: memories as data in a block that says so, everything else as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from api.mcp.tool import ToolResult
from memoryhub.errors import MemoryHubError
from memoryhub.recall.render.prompt import choose_prompt_words, escape_as_data, format_frame
from memoryhub.recall.render.results import format_description

NOTHING_REMEMBERED = "Nothing that is remembered bears on this."


def render_json(answer: Mapping[str, Any]) -> ToolResult:
    return ToolResult(dict(answer), json.dumps(answer, ensure_ascii=False))


def render_memories(memories: Sequence[Mapping[str, Any]]) -> str:
    """A line each, with kind and id, between the marks that every context has (spec X11)."""
    if not memories:
        return NOTHING_REMEMBERED
    opening, closing = format_frame(choose_prompt_words(str(each["text"]) for each in memories))
    return "\n".join([opening, *(_render_memory_line(each) for each in memories), closing])


def _render_memory_line(memory: Mapping[str, Any]) -> str:
    day = str(memory.get("occurred_at") or "")[:10]
    said_by = f"{memory['speaker']}: " if memory["kind"] == "turn" and memory["speaker"] else ""
    until = memory.get("valid_to")
    held = f" (until {until[:10]})" if until else ""
    named = f"{memory['kind']} {memory['id']}"
    about = (memory.get("keywords") or (), memory.get("tags") or ())
    relations = memory.get("relations") or ()
    told = format_description(memory.get("context") or "", *about, relations)
    described = f" ({told})" if told else ""
    aside = "" if memory["relevant"] else " (hardly bears on it)"
    return escape_as_data(f"- [{named}] {day} {said_by}{memory['text']}{described}{held}{aside}")


def select_filled_fields(row: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """These of its fields, as far as they say something."""
    return {name: row[name] for name in names if row.get(name) not in (None, "", [], {}, False)}


def render_problem(error: ValidationError | MemoryHubError) -> dict[str, Any]:
    """As the API's own problem documents are, without their type."""
    if isinstance(error, MemoryHubError):
        fields = [{"field": error.field, "message": error.message}] if error.field else []
        status, code = error.status, error.code
        detail = f"{error.field}: {error.message}" if error.field else error.message
    else:
        fields = [
            {"field": _format_path(each["loc"]), "message": each["msg"]} for each in error.errors()
        ]
        status, code = 422, "invalid"
        detail = "; ".join(f"{each['field']}: {each['message']}" for each in fields)
    return {"status": status, "code": code, "detail": detail, "errors": fields}


def _format_path(location: Sequence[int | str]) -> str:
    """("messages", 0, "content") as messages[0].content."""
    path = "".join(f"[{at}]" if isinstance(at, int) else f".{at}" for at in location)
    return path.removeprefix(".")


def format_problem(problem: Mapping[str, Any]) -> str:
    """A problem for a model to read: which field, what is wrong, and the code."""
    fields = [each for each in problem.get("errors", []) if each.get("field")]
    told = "; ".join(f"{each['field']}: {each['message']}" for each in fields)
    return f"{told or problem.get('detail', '')} ({problem.get('status')} {problem.get('code')})"
