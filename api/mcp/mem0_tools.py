"""The tools of mem0's servers, by their names and arguments: calls of its wire.

`user_id` is a subject. Where nobody is named, the subject of the key or the address is meant, as
their servers mean their default user: also beside an agent, so that what was added is found again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field

from api.mcp.arguments import Text, TimeText, ToolArguments
from api.mcp.caller import Caller, name_arguments
from api.mcp.hub_tools import DATA_NOTICE
from api.mcp.render import render_json
from api.mcp.tool import DESTROYS, TEXT, Tool, ToolResult, build_array_schema, build_object_schema
from api.mem0.ids import ID_KINDS, ID_LIMITS, ID_NAMES
from memoryhub.errors import InvalidInput

MemoryIdText = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[^/]+$")]
Mem0Filters = dict[str, Any]
Most = Annotated[int, Field(ge=1, le=100)]


class ScopedArguments(ToolArguments):
    """mem0's four ids."""

    user_id: str = Field("", max_length=ID_LIMITS["user_id"], description="Whose memory.")
    agent_id: str = Field("", max_length=ID_LIMITS["agent_id"], description="With which agent.")
    app_id: str = Field("", max_length=ID_LIMITS["app_id"], description="In which app.")
    run_id: str = Field("", max_length=ID_LIMITS["run_id"], description="In which session.")

    def build_ids(self, caller: Caller) -> dict[str, str]:
        """Those that are named; whose memory it is, as far as that is known."""
        named = {name: getattr(self, name) for name in ID_NAMES if getattr(self, name)}
        return ({"user_id": caller.default_subject} if caller.default_subject else {}) | named


class Mem0MessageArguments(ToolArguments):
    role: str = Field("user", max_length=20)
    content: Text
    name: str = Field("", max_length=120)


class AddMemoryArguments(ScopedArguments):
    text: str = Field("", description="What to store; or send `messages`.")
    messages: list[Mem0MessageArguments] = Field(
        [], max_length=500, description="A dialogue, oldest first."
    )
    metadata: dict[str, Any] = Field({}, description="Kept with the memory.")
    infer: bool = Field(True, description="false: keep it word by word, at once.")
    immutable: bool = False
    expiration_date: TimeText | None = None
    enable_graph: bool | None = Field(None, description="Changes nothing.")


class FilteredArguments(ScopedArguments):
    filters: Mem0Filters = Field(
        {},
        description='mem0\'s filters, as {"AND": [{"user_id": "ana"}, {"created_at": '
        '{"gte": "2026-01-01"}}]}. Whose memory is added where it is not named.',
    )
    show_expired: bool = False
    enable_graph: bool | None = Field(None, description="Changes nothing.")

    def build_filters(self, caller: Caller) -> dict[str, Any]:
        """The filters, and the ids beside them."""
        ids = self.build_ids(caller)
        if _has_user_filter(self.filters) and not self.user_id:
            ids.pop("user_id", None)
        return {"filters": self.filters, **ids}


def _has_user_filter(filters: object) -> bool:
    if isinstance(filters, dict):
        return any(k == "user_id" or _has_user_filter(v) for k, v in filters.items())
    return isinstance(filters, list) and any(_has_user_filter(each) for each in filters)


class SearchMemoriesArguments(FilteredArguments):
    query: Text
    limit: Most | None = None
    top_k: Most | None = None
    threshold: Annotated[float, Field(ge=0, le=1)] | None = None


class GetMemoriesArguments(FilteredArguments):
    page: int = Field(1, ge=1)
    page_size: int = Field(50, ge=1, le=200)


class MemoryArguments(ToolArguments):
    memory_id: MemoryIdText


class UpdateMemoryArguments(MemoryArguments):
    text: str | None = Field(None, description="Its new words.")
    metadata: dict[str, Any] | None = None
    expiration_date: TimeText | None = None


class MemoriesArguments(ToolArguments):
    memory_ids: list[MemoryIdText] = Field(min_length=1, max_length=1000)


class EntityArguments(ScopedArguments):
    entity_type: Literal["user", "agent", "app", "run", ""] = ""
    entity_id: str = Field("", max_length=200)


class PageArguments(ToolArguments):
    page: int = Field(1, ge=1)
    page_size: int = Field(50, ge=1, le=200)


class EventArguments(ToolArguments):
    event_id: MemoryIdText


def _run_add(caller: Caller, asked: AddMemoryArguments) -> ToolResult:
    if bool(asked.text) == bool(asked.messages):
        raise InvalidInput("either a text, or messages", field="text")
    sent = ("metadata", "infer", "immutable", "expiration_date", "enable_graph")
    messages = asked.dump_set_fields("messages").get("messages") or [
        {"role": "user", "content": asked.text}
    ]
    body = asked.dump_set_fields(*sent) | asked.build_ids(caller) | {"messages": messages}
    return render_json(caller.post("/v3/memories/add/", body))


def _run_search(caller: Caller, asked: SearchMemoriesArguments) -> ToolResult:
    body = asked.dump_set_fields("query", "threshold", "show_expired")
    body |= asked.build_filters(caller)
    if most := asked.limit or asked.top_k:
        body["top_k"] = most
    return render_json(caller.post("/v3/memories/search/", body))


def _run_list(caller: Caller, asked: GetMemoriesArguments) -> ToolResult:
    body = asked.dump_set_fields("show_expired") | asked.build_filters(caller)
    page = caller.post("/v3/memories/", body, page=asked.page, page_size=asked.page_size)
    return render_json(_replace_page_links(page))


def _replace_page_links(page: dict[str, Any]) -> dict[str, Any]:
    """Pages are asked for by number here; a link would lead past the tools."""
    shown = {name: value for name, value in page.items() if name not in ("next", "previous")}
    return shown | {"has_more": bool(page["next"])}


def _build_memory_runner(method: str) -> Callable[[Caller, Any], ToolResult]:
    def run_on_memory(caller: Caller, asked: MemoryArguments) -> ToolResult:
        return render_json(caller.call_route(method, f"/v1/memories/{asked.memory_id}/"))

    return run_on_memory


def _run_update(caller: Caller, asked: UpdateMemoryArguments) -> ToolResult:
    body = asked.dump_set_fields("text", "metadata", "expiration_date")
    return render_json(caller.call_route("PUT", f"/v1/memories/{asked.memory_id}/", body))


def _run_delete_many(caller: Caller, asked: MemoriesArguments) -> ToolResult:
    body = {"memories": [{"memory_id": each} for each in asked.memory_ids]}
    with name_arguments(_name_memory_id):
        return render_json(caller.call_route("DELETE", "/v1/batch/", body))


def _name_memory_id(field: str) -> str:
    """memories[1].memory_id as memory_ids[1]."""
    return field.replace("memories", "memory_ids").removesuffix(".memory_id")


def _run_delete_all(caller: Caller, asked: ScopedArguments) -> ToolResult:
    return render_json(caller.call_route("DELETE", "/v1/memories/", query=asked.build_ids(caller)))


def _run_list_entities(caller: Caller, asked: PageArguments) -> ToolResult:
    return render_json(_replace_page_links(caller.get("/v1/entities/", **asked.model_dump())))


def _run_delete_entities(caller: Caller, asked: EntityArguments) -> ToolResult:
    """Nobody is erased who was not named."""
    named = [(kind, getattr(asked, f"{kind}_id")) for kind in ID_KINDS]
    named = [(asked.entity_type, asked.entity_id), *named]
    chosen = [(kind, name) for kind, name in named if kind and name]
    if len(chosen) != 1:
        raise InvalidInput("exactly one entity: its type and its id", field="entity_id")
    kind, name = chosen[0]
    return render_json(caller.call_route("DELETE", f"/v2/entities/{kind}/{name}/"))


def _run_list_events(caller: Caller, asked: PageArguments) -> ToolResult:
    return render_json(_replace_page_links(caller.get("/v1/events/", **asked.model_dump())))


def _run_get_event(caller: Caller, asked: EventArguments) -> ToolResult:
    return render_json(caller.get(f"/v1/event/{asked.event_id}/"))


_RESULTS_SCHEMA = build_object_schema({"results": build_array_schema(build_object_schema({}))})
_MESSAGE_SCHEMA = build_object_schema({"message": TEXT})

MEM0_TOOLS = (
    Tool(
        "add_memory",
        "Add a memory",
        "Store a preference, a fact or a conversation. Read in the background: the event tells "
        "what became of it.",
        _run_add,
        build_object_schema({"status": TEXT}),
        scope="write",
    ),
    Tool(
        "search_memories",
        "Search memories",
        "Find memories by meaning, narrowed by filters." + DATA_NOTICE,
        _run_search,
        _RESULTS_SCHEMA,
    ),
    Tool(
        "get_memories",
        "List memories",
        "List memories page by page, narrowed by filters." + DATA_NOTICE,
        _run_list,
        _RESULTS_SCHEMA,
    ),
    Tool(
        "get_memory",
        "One memory",
        "One memory by its id." + DATA_NOTICE,
        _build_memory_runner("GET"),
        build_object_schema({"id": TEXT, "memory": TEXT}),
    ),
    Tool(
        "update_memory",
        "Update a memory",
        "Overwrite a memory's words or metadata.",
        _run_update,
        build_object_schema({"id": TEXT, "memory": TEXT}),
        **DESTROYS,
        repeatable=True,
    ),
    Tool(
        "delete_memory",
        "Delete a memory",
        "Delete one memory by its id.",
        _build_memory_runner("DELETE"),
        _MESSAGE_SCHEMA,
        **DESTROYS,
    ),
    Tool(
        "delete_all_memories",
        "Delete all memories",
        "Delete every memory of a user, agent, app or run, and keep the entity. Can be undone in "
        "the console.",
        _run_delete_all,
        _MESSAGE_SCHEMA,
        **DESTROYS,
        repeatable=True,
    ),
    Tool(
        "delete_entities",
        "Erase an entity",
        "Erase a user, agent, app or run with all that was said, for good.",
        _run_delete_entities,
        _MESSAGE_SCHEMA,
        scope="admin",
        destroys=True,
    ),
    Tool(
        "list_entities",
        "List entities",
        "The users, agents, apps and runs that hold memories." + DATA_NOTICE,
        _run_list_entities,
        _RESULTS_SCHEMA,
    ),
    Tool(
        "list_events",
        "List adds",
        "What was added, the latest first." + DATA_NOTICE,
        _run_list_events,
        _RESULTS_SCHEMA,
    ),
    Tool(
        "get_event_status",
        "State of an add",
        "What became of an add." + DATA_NOTICE,
        _run_get_event,
        build_object_schema({"status": TEXT}),
    ),
)
_TOOL_BY_NAME = {tool.name: tool for tool in MEM0_TOOLS}
# As the server for one user's own machine calls them.
OPENMEMORY_TOOLS = (
    replace(_TOOL_BY_NAME["add_memory"], name="add_memories"),
    replace(_TOOL_BY_NAME["search_memories"], name="search_memory"),
    replace(_TOOL_BY_NAME["get_memories"], name="list_memories"),
    Tool(
        "delete_memories",
        "Delete memories",
        "Delete memories by their ids.",
        _run_delete_many,
        _MESSAGE_SCHEMA,
        **DESTROYS,
    ),
    _TOOL_BY_NAME["delete_all_memories"],
)
