"""The tools of mem0's servers, by their names and arguments: calls of its wire.

`user_id` is a subject. Where nobody is named, the subject of the key or the address is meant, as
their servers mean their default user: also beside an agent, so that what was added is found again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from api.mcp.arguments import Arguments, Text
from api.mcp.calling import Caller
from api.mcp.hub_tools import DATA
from api.mcp.telling import as_json
from api.mcp.tools import TEXT, Told, Tool, listed, made_of
from api.mem0.ids import KINDS, LIMITS, NAMES
from memoryhub.errors import InvalidInput

Id = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[^/]+$")]
Filters = dict[str, Any]


class Scoped(Arguments):
    """mem0's four ids."""

    user_id: str = Field("", max_length=LIMITS["user_id"], description="Whose memory.")
    agent_id: str = Field("", max_length=LIMITS["agent_id"], description="With which agent.")
    app_id: str = Field("", max_length=LIMITS["app_id"], description="In which app.")
    run_id: str = Field("", max_length=LIMITS["run_id"], description="In which session.")

    def ids(self, caller: Caller) -> dict[str, str]:
        """Those that are named; whose memory it is, as far as that is known."""
        named = {name: getattr(self, name) for name in NAMES if getattr(self, name)}
        return ({"user_id": caller.default} if caller.default else {}) | named


class Message(Arguments):
    role: str = Field("user", max_length=20)
    content: Text
    name: str = Field("", max_length=120)


class AddMemory(Scoped):
    text: str = Field("", description="What to store; or send `messages`.")
    messages: list[Message] = Field([], max_length=500, description="A dialogue, oldest first.")
    metadata: dict[str, Any] = Field({}, description="Kept with the memory.")
    infer: bool = Field(True, description="false: keep it word by word, at once.")
    immutable: bool = False
    expiration_date: str | SkipJsonSchema[None] = Field(None, max_length=40)
    enable_graph: bool | SkipJsonSchema[None] = Field(None, description="Changes nothing.")


class Narrowed(Scoped):
    filters: Filters = Field(
        {},
        description='mem0\'s filters, as {"AND": [{"user_id": "ana"}, {"created_at": '
        '{"gte": "2026-01-01"}}]}. Whose memory is added where it is not named.',
    )
    show_expired: bool = False
    enable_graph: bool | SkipJsonSchema[None] = Field(None, description="Changes nothing.")

    def wanted(self, caller: Caller) -> Filters:
        ids = self.ids(caller)
        if _names_user(self.filters) and not self.user_id:
            ids.pop("user_id", None)
        both = [each for each in (self.filters, ids) if each]
        return {"AND": both} if len(both) > 1 else (both[0] if both else {})


def _names_user(filters: object) -> bool:
    if isinstance(filters, dict):
        return any(k == "user_id" or _names_user(v) for k, v in filters.items())
    return isinstance(filters, list) and any(_names_user(each) for each in filters)


class SearchMemories(Narrowed):
    query: Text
    limit: int | SkipJsonSchema[None] = Field(None, ge=1, le=100)
    top_k: int | SkipJsonSchema[None] = Field(None, ge=1, le=100)
    threshold: float | SkipJsonSchema[None] = Field(None, ge=0, le=1)


class GetMemories(Narrowed):
    page: int = Field(1, ge=1)
    page_size: int = Field(50, ge=1, le=200)


class OneMemory(Arguments):
    memory_id: Id


class UpdateMemory(OneMemory):
    text: str | SkipJsonSchema[None] = Field(None, description="Its new words.")
    metadata: dict[str, Any] | SkipJsonSchema[None] = None
    expiration_date: str | SkipJsonSchema[None] = Field(None, max_length=40)


class ManyMemories(Arguments):
    memory_ids: list[Id] = Field(min_length=1, max_length=1000)


class EntityArguments(Scoped):
    entity_type: Literal["user", "agent", "app", "run", ""] = ""
    entity_id: str = Field("", max_length=200)


class Page(Arguments):
    page: int = Field(1, ge=1)
    page_size: int = Field(50, ge=1, le=200)


class OneEvent(Arguments):
    event_id: Id


def _add(caller: Caller, asked: AddMemory) -> Told:
    if not asked.messages and not asked.text:
        raise InvalidInput("a text, or messages", field="text")
    sent = ("metadata", "infer", "immutable", "expiration_date", "enable_graph")
    messages = asked.sent("messages").get("messages") or [{"role": "user", "content": asked.text}]
    body = asked.sent(*sent) | asked.ids(caller) | {"messages": messages}
    return as_json(caller.post("/v3/memories/add/", body))


def _search(caller: Caller, asked: SearchMemories) -> Told:
    body = asked.sent("query", "threshold", "show_expired") | {"filters": asked.wanted(caller)}
    if most := asked.limit or asked.top_k:
        body["top_k"] = most
    return as_json(caller.post("/v3/memories/search/", body))


def _list(caller: Caller, asked: GetMemories) -> Told:
    body = asked.sent("show_expired") | {"filters": asked.wanted(caller)}
    page = caller.post("/v3/memories/", body, page=asked.page, page_size=asked.page_size)
    return as_json(_without_links(page))


def _without_links(page: dict[str, Any]) -> dict[str, Any]:
    """Pages are asked for by number here; a link would lead past the tools."""
    shown = {name: value for name, value in page.items() if name not in ("next", "previous")}
    return shown | {"has_more": bool(page["next"])}


def _one(method: str) -> Callable[[Caller, Any], Told]:
    def work(caller: Caller, asked: OneMemory) -> Told:
        return as_json(caller.call(method, f"/v1/memories/{asked.memory_id}/"))

    return work


def _update(caller: Caller, asked: UpdateMemory) -> Told:
    body = asked.sent("text", "metadata", "expiration_date")
    return as_json(caller.call("PUT", f"/v1/memories/{asked.memory_id}/", body))


def _delete_many(caller: Caller, asked: ManyMemories) -> Told:
    body = {"memories": [{"memory_id": each} for each in asked.memory_ids]}
    return as_json(caller.call("DELETE", "/v1/batch/", body))


def _delete_all(caller: Caller, asked: Scoped) -> Told:
    return as_json(caller.call("DELETE", "/v1/memories/", query=asked.ids(caller)))


def _entities(caller: Caller, asked: Page) -> Told:
    return as_json(_without_links(caller.get("/v1/entities/", **asked.model_dump())))


def _delete_entities(caller: Caller, asked: EntityArguments) -> Told:
    """Nobody is erased who was not named."""
    named = [(kind, getattr(asked, f"{kind}_id")) for kind in KINDS]
    named = [(asked.entity_type, asked.entity_id), *named]
    chosen = [(kind, name) for kind, name in named if kind and name]
    if len(chosen) != 1:
        raise InvalidInput("exactly one entity: its type and its id", field="entity_id")
    kind, name = chosen[0]
    return as_json(caller.call("DELETE", f"/v2/entities/{kind}/{name}/"))


def _events(caller: Caller, asked: Page) -> Told:
    return as_json(_without_links(caller.get("/v1/events/", **asked.model_dump())))


def _event(caller: Caller, asked: OneEvent) -> Told:
    return as_json(caller.get(f"/v1/event/{asked.event_id}/"))


_RESULTS = made_of({"results": listed(made_of({}))})
_SAID = made_of({"message": TEXT})

MEM0 = (
    Tool(
        "add_memory",
        "Add a memory",
        "Store a preference, a fact or a conversation. Read in the background: the event tells "
        "what became of it.",
        AddMemory,
        _add,
        made_of({"status": TEXT}),
        scope="write",
    ),
    Tool(
        "search_memories",
        "Search memories",
        "Find memories by meaning, narrowed by filters." + DATA,
        SearchMemories,
        _search,
        _RESULTS,
    ),
    Tool(
        "get_memories",
        "List memories",
        "List memories page by page, narrowed by filters." + DATA,
        GetMemories,
        _list,
        _RESULTS,
    ),
    Tool(
        "get_memory",
        "One memory",
        "One memory by its id." + DATA,
        OneMemory,
        _one("GET"),
        made_of({"id": TEXT, "memory": TEXT}),
    ),
    Tool(
        "update_memory",
        "Update a memory",
        "Overwrite a memory's words or metadata.",
        UpdateMemory,
        _update,
        made_of({"id": TEXT, "memory": TEXT}),
        scope="write",
        destroys=True,
        repeatable=True,
    ),
    Tool(
        "delete_memory",
        "Delete a memory",
        "Delete one memory by its id.",
        OneMemory,
        _one("DELETE"),
        _SAID,
        scope="write",
        destroys=True,
    ),
    Tool(
        "delete_all_memories",
        "Delete all memories",
        "Delete every memory of a user, agent, app or run, and keep the entity. Can be undone in "
        "the console.",
        Scoped,
        _delete_all,
        _SAID,
        scope="write",
        destroys=True,
        repeatable=True,
    ),
    Tool(
        "delete_entities",
        "Erase an entity",
        "Erase a user, agent, app or run with all that was said, for good.",
        EntityArguments,
        _delete_entities,
        _SAID,
        scope="admin",
        destroys=True,
    ),
    Tool(
        "list_entities",
        "List entities",
        "The users, agents, apps and runs that hold memories." + DATA,
        Page,
        _entities,
        _RESULTS,
    ),
    Tool(
        "list_events",
        "List adds",
        "What was added, the latest first." + DATA,
        Page,
        _events,
        _RESULTS,
    ),
    Tool(
        "get_event_status",
        "State of an add",
        "What became of an add." + DATA,
        OneEvent,
        _event,
        made_of({"status": TEXT}),
    ),
)
_BY_NAME = {tool.name: tool for tool in MEM0}
# As the server for one user's own machine calls them.
OPENMEMORY = (
    replace(_BY_NAME["add_memory"], name="add_memories"),
    replace(_BY_NAME["search_memories"], name="search_memory"),
    replace(_BY_NAME["get_memories"], name="list_memories"),
    Tool(
        "delete_memories",
        "Delete memories",
        "Delete memories by their ids.",
        ManyMemories,
        _delete_many,
        _SAID,
        scope="write",
        destroys=True,
    ),
    _BY_NAME["delete_all_memories"],
)
