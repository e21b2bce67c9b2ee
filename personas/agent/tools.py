"""The tools of an agent that looks after its own memory: what they take, and what they tell
(MemGPT, spec §3.3). Their schemas are what a model is offered; `executor` runs them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from math import ceil
from typing import Annotated, Any, Literal, Protocol
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from memoryhub.engines.types import AgentTool

PAGE_SIZE = 5
MAX_RESULT_CHARS = 3000
MAX_PAUSE_MINUTES = 360  # minutes
MAX_ALARM_MINUTES = 60 * 24 * 30  # minutes


def _parse_flag(value: Any) -> Any:
    """Pydantic knows the words for yes and no; nothing said is no."""
    return (value.strip() or False) if isinstance(value, str) else value


def _parse_list(value: Any) -> Any:
    if value is None:
        return []
    return [each.strip() for each in value.split(",")] if isinstance(value, str) else value


def _parse_day(value: Any) -> Any:
    return value[:10] if isinstance(value, str) else value


NonEmptyText = Annotated[str, Field(min_length=1)]
Flag = Annotated[bool, BeforeValidator(_parse_flag)]
Day = Annotated[date, BeforeValidator(_parse_day)]


class AgentToolArguments(BaseModel):
    """What every tool may be told: `heartbeat` asks for another step afterwards."""

    model_config = ConfigDict(extra="forbid", coerce_numbers_to_str=True)

    heartbeat: Flag = Field(False, description="true: you get another step after this one")


class SendMessage(AgentToolArguments):
    text: NonEmptyText = Field(description="what the person reads, in their language")


class CoreAppend(AgentToolArguments):
    label: NonEmptyText = Field(description="the block's label")
    text: NonEmptyText = Field(description="the line to add at its end")


class CoreReplace(AgentToolArguments):
    label: NonEmptyText = Field(description="the block's label")
    old: str = Field(description="words of the block, copied exactly; they occur once")
    new: str = Field(description="what stands there instead; empty deletes")


class CoreInsert(AgentToolArguments):
    label: NonEmptyText = Field(description="the block's label")
    text: NonEmptyText = Field(description="the line to insert")
    line: int = Field(-1, description="before which line, from 0; -1 is the end")


class CoreRethink(AgentToolArguments):
    label: NonEmptyText = Field(description="the block's label")
    text: str = Field(description="the whole block, written anew")


class RecallSearch(AgentToolArguments):
    query: NonEmptyText = Field(description="words to look for in all that was said")
    page: int = Field(1, ge=1, description="page of the results, from 1")


class RecallSearchDates(AgentToolArguments):
    start: Day = Field(description="first day, as 2024-05-17")
    end: Day = Field(description="last day, as 2024-05-17")
    page: int = Field(1, ge=1, description="page of the results, from 1")


class ArchivalInsert(AgentToolArguments):
    text: NonEmptyText = Field(
        description="what to keep; it must be understood without its context"
    )
    tags: Annotated[list[str], BeforeValidator(_parse_list)] = Field([], description="a few words")


class ArchivalSearch(AgentToolArguments):
    query: NonEmptyText = Field(description="what to look for in archival memory")
    page: int = Field(1, ge=1, description="page of the results, from 1")
    tags: Annotated[list[str], BeforeValidator(_parse_list)] = Field([], description="only these")
    tag_mode: Literal["any", "all"] = Field("any", description="any or all of the tags")
    start: Day | None = Field(None, description="first day, as 2024-05-17")
    end: Day | None = Field(None, description="last day, as 2024-05-17")


class PauseHeartbeats(AgentToolArguments):
    minutes: int = Field(
        ge=1, le=MAX_PAUSE_MINUTES, description="how long you do not wake by yourself"
    )


class WakeLater(AgentToolArguments):
    minutes: int = Field(ge=1, le=MAX_ALARM_MINUTES, description="in how many minutes")
    about: str = Field("", description="what you want to be reminded of")


TOOLS: dict[str, tuple[type[AgentToolArguments], str]] = {
    "send_message": (SendMessage, "Say something to the person."),
    "core_append": (CoreAppend, "Add a line to a memory block, which you always see."),
    "core_replace": (CoreReplace, "Change words in a memory block."),
    "core_insert": (CoreInsert, "Insert a line into a memory block."),
    "core_rethink": (CoreRethink, "Write a memory block anew, to put it in order or shorten it."),
    "recall_search": (RecallSearch, "Look through everything that was ever said."),
    "recall_search_dates": (RecallSearchDates, "Read what was said on certain days."),
    "archival_insert": (ArchivalInsert, "Keep a longer text in archival memory."),
    "archival_search": (ArchivalSearch, "Look through archival memory."),
    "pause_heartbeats": (PauseHeartbeats, "Rest: let no timed heartbeat wake you for a while."),
    "wake_later": (WakeLater, "Have a timer wake you once, whether or not anybody writes."),
}
# Only where there is a clock to wake the agent.
TIMER_TOOLS = frozenset({"wake_later"})
# Nobody but the agent reads what these find, so it gets another step to do so.
SEARCH_TOOLS = frozenset({"recall_search", "recall_search_dates", "archival_search"})
# Not while the person has paused their memory.
WRITE_TOOLS = frozenset(
    {"core_append", "core_replace", "core_insert", "core_rethink", "archival_insert"}
)


def list_offered_tools(*, without: Collection[str] = ()) -> list[AgentTool]:
    """The tools as an engine is given them."""
    return [
        AgentTool(name, description, _build_schema(shape))
        for name, (shape, description) in TOOLS.items()
        if name not in without
    ]


def _build_schema(shape: type[AgentToolArguments]) -> dict[str, Any]:
    made = shape.model_json_schema()
    properties = {name: _simplify_schema(about) for name, about in made["properties"].items()}
    properties["heartbeat"] = properties.pop("heartbeat")  # last: it is the least of it
    return {"type": "object", "properties": properties, "required": made.get("required", [])}


def _simplify_schema(about: dict[str, Any]) -> dict[str, Any]:
    kinds = [each for each in about.get("anyOf", []) if each.get("type") != "null"]
    about = (kinds[0] | about) if kinds else about
    return {name: about[name] for name in ("type", "items", "enum", "description") if name in about}


@dataclass(frozen=True, slots=True)
class MemoryHit:
    """One thing found: when, whose word, what; and the turns that it rests on."""

    at: datetime
    who: str
    text: str
    turn_ids: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True)
class MemoryHitPage:
    """One page of what a search found, and how much there is in all."""

    hits: Sequence[MemoryHit]
    total: int
    page: int
    size: int = PAGE_SIZE

    @property
    def pages(self) -> int:
        return ceil(self.total / self.size)


def build_hit_page(hits: Sequence[MemoryHit], page: int, size: int = PAGE_SIZE) -> MemoryHitPage:
    """That page of all hits; empty past the last one, with the totals all the same (MG4)."""
    first = (page - 1) * size
    return MemoryHitPage(hits[first : first + size], len(hits), page, size)


class AgentMemory(Protocol):
    """Where tools look and keep things; made by layers that know how. Each opens its own scope.

    Raises MemoryHubError with words that an agent can act on.
    """

    def search_turns(self, query: str, page: int) -> MemoryHitPage: ...

    def list_turns_by_date(self, start: date, end: date, page: int) -> MemoryHitPage: ...

    def archive_text(self, text: str, tags: Sequence[str]) -> None: ...

    def search_archive(
        self,
        query: str,
        page: int,
        tags: Sequence[str],
        tag_mode: Literal["any", "all"],
        start: date | None,
        end: date | None,
    ) -> MemoryHitPage: ...


def format_hit_page(found: MemoryHitPage, most: int = MAX_RESULT_CHARS) -> str:
    """A page of results in words: "12 of 12" are all, and a page says which it is."""
    head = f"{found.total} found, page {found.page} of {found.pages}."
    if found.hits:
        first = (found.page - 1) * found.size + 1
        last = first + len(found.hits) - 1
        which = f"{first}" if first == last else f"{first} to {last}"
        head = f"{which} of {found.total}, page {found.page} of {found.pages}:"
    room = max(80, (most - len(head)) // max(1, len(found.hits)) - 2)
    return cap_text("\n".join([head, *(f"- {_format_hit(hit, room)}" for hit in found.hits)]), most)


def _format_hit(hit: MemoryHit, room: int) -> str:
    who = f" {hit.who}:" if hit.who else ""
    text = f"[{hit.at:%Y-%m-%d %H:%M}]{who} {' '.join(hit.text.split())}"
    return text if len(text) <= room else f"{text[: room - 2]} …"


def cap_text(text: str, most: int = MAX_RESULT_CHARS) -> str:
    """A result no longer than a tool may give."""
    note = f" … [{len(text) - most} more characters]"
    return text if len(text) <= most else f"{text[: most - len(note)]}{note}"
