"""A request for a response, as the chat completion that asks for the same. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from api.core.fields import list_names
from memoryhub.errors import InvalidInput

Body = Mapping[str, Any]
_COPIED_FIELDS = list_names("model user metadata stream temperature top_p parallel_tool_calls")
# What decides nothing about the words of the answer. The hub keeps no responses.
IGNORED_FIELDS = list_names(
    "store include prompt_cache_key safety_identifier service_tier stream_options truncation"
)
_MAPPED_FIELDS = list_names("input instructions max_output_tokens reasoning text tools tool_choice")
_ROLE_BY_NAME = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
}
_TEXT_TYPES = ("input_text", "output_text", "text")


def build_chat_request(body: Body) -> dict[str, Any]:
    """Raises InvalidInput naming what can't be asked of a chat."""
    known = {*_COPIED_FIELDS, *IGNORED_FIELDS, *_MAPPED_FIELDS}
    for name, value in body.items():
        if name not in known and value not in (None, False):
            raise InvalidInput(
                "not supported here; what was said before goes into `input`", field=name
            )
    chat = {name: body[name] for name in _COPIED_FIELDS if body.get(name) is not None}
    chat["messages"] = [
        *_build_instructions(body.get("instructions")),
        *_build_messages(body.get("input")),
    ]
    mapped = {
        "max_tokens": body.get("max_output_tokens"),
        "reasoning_effort": _read_member(body, "reasoning").get("effort"),
        "response_format": _build_format(_read_member(_read_member(body, "text"), "format")),
        "tools": _build_tools(body.get("tools")),
        "tool_choice": _build_tool_choice(body.get("tool_choice")),
    }
    return chat | {name: value for name, value in mapped.items() if value}


def _read_member(body: Body, name: str) -> Body:
    given = body.get(name) or {}
    if not isinstance(given, dict):
        raise InvalidInput("must be an object", field=name)
    return given


def _build_instructions(given: Any) -> list[dict[str, Any]]:
    if given in (None, ""):
        return []
    if not isinstance(given, str):
        raise InvalidInput("must be text", field="instructions")
    return [{"role": "system", "content": given}]


def _build_messages(given: Any) -> list[dict[str, Any]]:
    """Calls that follow each other are of one message: their results are looked for behind it."""
    if isinstance(given, str) and given:
        return [{"role": "user", "content": given}]
    if not isinstance(given, list) or not given:
        raise InvalidInput("text, or a list of at least one item", field="input")
    made: list[dict[str, Any]] = []
    for at, item in enumerate(given):
        for message in _build_item_messages(item, f"input[{at}]"):
            if "tool_calls" in message and made and "tool_calls" in made[-1]:
                made[-1]["tool_calls"] += message["tool_calls"]
            else:
                made.append(message)
    return made


def _build_item_messages(item: Any, place: str) -> Iterator[dict[str, Any]]:
    kind = item.get("type", "message") if isinstance(item, dict) else None
    match kind:
        case "message" if item.get("role") in tuple(_ROLE_BY_NAME):
            content = _build_content(item.get("content"), f"{place}.content")
            yield {"role": _ROLE_BY_NAME[item["role"]], "content": content}
        case "function_call":
            called = {"name": item.get("name"), "arguments": item.get("arguments", "")}
            call = {"id": item.get("call_id"), "type": "function", "function": called}
            yield {"role": "assistant", "content": None, "tool_calls": [call]}
        case "function_call_output":
            told = _build_content(item.get("output"), f"{place}.output")
            yield {"role": "tool", "tool_call_id": item.get("call_id"), "content": told}
        case "reasoning":
            return  # of the model that had it, which reads it from nobody else
        case _:
            raise InvalidInput("not an item that a chat has", field=place)


def _build_content(given: Any, place: str) -> str | list[dict[str, Any]]:
    """Words alone as text: not every endpoint reads lists of parts."""
    if isinstance(given, str):
        return given
    if not isinstance(given, list):
        raise InvalidInput("text, or a list of parts", field=place)
    parts = [_build_part(part, f"{place}[{at}]") for at, part in enumerate(given)]
    if all(part["type"] == "text" for part in parts):
        return "\n".join(part["text"] for part in parts)
    return parts


def _build_part(part: Any, place: str) -> dict[str, Any]:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind in _TEXT_TYPES and isinstance(part.get("text"), str):
        return {"type": "text", "text": part["text"]}
    if kind == "refusal" and isinstance(part.get("refusal"), str):
        return {"type": "text", "text": part["refusal"]}
    if kind == "input_image" and isinstance(part.get("image_url"), str):
        return {"type": "image_url", "image_url": {"url": part["image_url"]}}
    raise InvalidInput("not a part that a chat has", field=place)


def _build_format(given: Body) -> dict[str, Any] | None:
    if given.get("type") != "json_schema":
        return dict(given) if given.get("type") == "json_object" else None
    members = ("name", "description", "schema", "strict")
    schema = {name: given[name] for name in members if given.get(name) is not None}
    return {"type": "json_schema", "json_schema": schema}


def _build_tools(given: Any) -> Sequence[dict[str, Any]]:
    if given is not None and not isinstance(given, list):
        raise InvalidInput("must be a list", field="tools")
    return [_build_function(tool, f"tools[{at}]") for at, tool in enumerate(given or [])]


def _build_function(tool: Any, place: str) -> dict[str, Any]:
    if not isinstance(tool, dict) or tool.get("type") != "function":
        raise InvalidInput("only functions: the hub has no tools of its own here", field=place)
    told = {name: value for name, value in tool.items() if name != "type" and value is not None}
    return {"type": "function", "function": told}


def _build_tool_choice(given: Any) -> Any:
    if isinstance(given, dict) and given.get("type") == "function":
        return {"type": "function", "function": {"name": given.get("name")}}
    if given is None or isinstance(given, str):
        return given
    raise InvalidInput("a word, or a function", field="tool_choice")
