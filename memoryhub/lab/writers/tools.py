"""Agents that keep memories by tools of their own while they talk: LangMem's, and OpenAI's saved
memories.

LangMem (its documentation, "Hot path": create_manage_memory_tool, create_search_memory_tool) gives
the agent one tool that creates, updates and deletes by id, and one that searches; its manager in
the background (create_memory_store_manager) reads a conversation that is over, beside the memories
near it. OpenAI ("Memory and new controls for ChatGPT", 2024, saved memories) keeps what the model
saves when it is asked to, or finds worth saving; nothing is searched: the model is shown all of it.
Either's memories are facts of the hub, in the agent's words, resting on the exchange in which it
saved them, or on the whole conversation.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memoryhub.dialogues.models import Turn
from memoryhub.engines.types import AgentContext, AgentMessage, AgentTool, Engine
from memoryhub.errors import MemoryHubError
from memoryhub.lab.writers.base import ACTOR, WriterInputs, add_statement, build_statement
from memoryhub.pipeline import corrections
from memoryhub.pipeline.corrections import UnitOfWork
from memoryhub.pipeline.steps.passages import format_page_text
from memoryhub.recall.render.results import MemoryItem
from memoryhub.recall.services import search_memories
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.facts.validity import build_current_q
from notes.history.change_set import ChangeSet, TurnEvidence, filter_supports
from notes.models import Fact, Page
from notes.topics.pages import load_page_turns

MAX_STEPS = 10  # of one turn
_MOST_NEAR = 10  # memories that the manager in the background is shown
_LANGMEM_INSTRUCTIONS = (
    "You listen to a conversation and look after a memory of the people in it. When something is "
    "said that will matter in later conversations, search whether it is there already, then create "
    "it, or update or delete by its id what it changes. Each memory is one sentence that stands "
    "alone, with names and days. You say nothing to them: when nothing is left to be kept, use no "
    "tool and answer with 'done'."
)
_BACKGROUND_INSTRUCTIONS = (
    "You read a conversation that is over and look after a memory of the people in it. Create what "
    "will matter in later conversations and is not there yet; update or delete by its id what the "
    "conversation changes. Each memory is one sentence that stands alone, with names and days. "
    "When nothing is left to be kept, use no tool and answer with 'done'."
)
_SEARCH_INSTRUCTIONS = (
    "Somebody asks you a question. Search your memory for what answers it, in other words too if "
    "need be. When you have found it, or there is nothing, use no tool and answer with 'done'."
)
_OPENAI_INSTRUCTIONS = (
    "You listen to a conversation and keep saved memories of the person. Save what they ask you to "
    "remember, and what about them will clearly help in later conversations; forget by its id what "
    "they ask you to forget or what is not so any more. Each memory is one sentence that stands "
    "alone, with names and days. You say nothing to them: when nothing is left to be kept, use no "
    "tool and answer with 'done'."
)


class _Arguments(BaseModel):
    model_config = ConfigDict(coerce_numbers_to_str=True)


class ManageMemory(_Arguments):
    action: Literal["create", "update", "delete"] = Field("create", description="what to do")
    content: str = Field("", description="the memory; to create and to update")
    id: str = Field("", description="of the memory to update or delete, as a search showed it")


class SearchMemory(_Arguments):
    query: str = Field(min_length=1, description="what to look for")
    limit: int = Field(10, ge=1, le=50, description="how many at most")


class SaveMemory(_Arguments):
    text: str = Field(min_length=1, description="what to remember of the person")


class ForgetMemory(_Arguments):
    id: str = Field(description="of the saved memory to forget")


_TOOLS: Mapping[str, tuple[type[_Arguments], str]] = {
    "manage_memory": (ManageMemory, "Create, update or delete a memory."),
    "search_memory": (SearchMemory, "Look through your memories."),
    "save_memory": (SaveMemory, "Save a memory of the person."),
    "forget_memory": (ForgetMemory, "Forget a saved memory."),
}


@dataclass
class MemoryTools:
    """The tools of these names over a space's facts, for one turn of an agent. `found` is what was
    shown to it, in that order. `place` and `turns` where it may write: what a memory rests on."""

    space: Space
    now: datetime
    names: Sequence[str]
    place: WriterInputs | None = None
    turns: Sequence[Turn] = ()
    found: dict[UUID, MemoryItem] = field(default_factory=dict)
    _shown: dict[str, UUID] = field(default_factory=dict)  # facts by the ids that it knows

    def list_offered(self) -> list[AgentTool]:
        return [
            AgentTool(name, about, shape.model_json_schema())
            for name, (shape, about) in _TOOLS.items()
            if name in self.names
        ]

    def show(self, fact: UUID) -> str:
        """The id under which the agent knows a fact."""
        known = next((handle for handle, held in self._shown.items() if held == fact), "")
        handle = known or f"m{len(self._shown) + 1}"
        self._shown[handle] = fact
        return handle

    def run_tool(self, name: str, arguments: str) -> str:
        """What the agent is told. Raises nothing that is the call's own fault."""
        if name not in self.names:
            return f"Failed: no such tool; there are: {', '.join(self.names)}"
        try:
            given = _TOOLS[name][0].model_validate(json.loads(arguments or "{}"))
            match given:
                case SearchMemory():
                    return self._search(given.query, given.limit)
                case SaveMemory(text=text) | ManageMemory(action="create", content=text):
                    return self._create(text)
                case ManageMemory(action="update"):
                    return self._update(given.id, given.content)
                case ManageMemory(id=handle) | ForgetMemory(id=handle):
                    corrections.forget_facts(self.space, [self._shown[handle]], ACTOR, self.now)
                    del self._shown[handle]
                    return f"deleted {handle}"
        except (ValidationError, json.JSONDecodeError, MemoryHubError) as error:
            return f"Failed: {getattr(error, 'message', error)}"
        except KeyError as error:
            return f"Failed: there is no memory {error}"
        raise AssertionError(name)

    def _search(self, query: str, most: int) -> str:
        searched = search_memories(
            self.space, query, limit=most, kinds=("fact",), now=self.now, reinforce=False
        )
        self.found |= {item.id: item for item in searched.items if item.id not in self.found}
        lines = [f"{self.show(i.id)} {i.occurred_at:%Y-%m-%d} {i.text}" for i in searched.items]
        return "\n".join(lines) or "nothing found"

    def _create(self, text: str) -> str:
        if self.place is None or not text.strip():
            return "Failed: nothing to keep"
        fact = build_statement(self.place, text.strip(), self.turns, self.now)
        edit = add_statement(fact, self.turns)
        corrections.edit_rows(self.space, edit, ACTOR, self.now, reason="saved by the agent")
        return f"created {self.show(fact.id)}"

    def _update(self, handle: str, text: str) -> str:
        """A new version in other words, of which the exchange is a source too."""
        wanted = {self._shown[handle]: corrections.FactCorrection(text, said_at=self.now)}
        made = corrections.correct_facts(self.space, wanted, ACTOR, self.now, protects=False)
        new = made.row.id
        self._shown[handle] = new

        def support(bench: UnitOfWork, changes: ChangeSet) -> None:
            row = bench.get_row("fact", new)
            bench.edit_row(changes, row, mention_count=row.mention_count + 1)
            changes.record_support(row, [TurnEvidence(turn.id) for turn in self.turns])

        corrections.edit_rows(self.space, support, ACTOR, self.now, reason="updated by the agent")
        return f"updated {handle}"


def run_turn(engine: Engine, tools: MemoryTools, instructions: str, said: str) -> None:
    """Let the agent use its tools until it uses none. Raises EngineError."""
    messages = [AgentMessage("system", instructions), AgentMessage("user", said)]
    for number in range(MAX_STEPS):
        seen = AgentContext(messages, tools.list_offered(), "keep_memories")
        step = engine.choose_agent_step(seen)
        if not step.tool:
            return
        call, told = f"call-{number}", tools.run_tool(step.tool, step.arguments)
        messages.append(AgentMessage("assistant", step.text, call, step.tool, step.arguments))
        messages.append(AgentMessage("tool", told, call, step.tool))


def search_by_tool(space: Space, engine: Engine, question: str, now: datetime) -> list[MemoryItem]:
    """What an agent with LangMem's search finds for a question, in the order in which it did."""
    tools = MemoryTools(space, now, ("search_memory",))
    run_turn(engine, tools, _SEARCH_INSTRUCTIONS, question)
    return list(tools.found.values())


def _write_by_tools(place: WriterInputs, names: Sequence[str], instructions: str) -> None:
    """An agent's turn an exchange. One from which something was saved already is over: of one that
    a process died over, what it had not yet saved is lost."""
    said, done = _load_said(place)
    for mine in said:
        if any(turn.id in done for turn in mine):
            continue
        at = mine[-1].occurred_at
        tools = MemoryTools(place.space, at, names, place, mine)
        saved = _format_saved(tools) if "save_memory" in names else ""
        when = f"It is {at:%Y-%m-%d %H:%M}.\n{format_page_text(mine)}"
        run_turn(place.engine, tools, instructions + saved, when)


def keep_in_background(place: WriterInputs) -> None:
    """One turn a session, once it is over. One from which something was saved already is over."""
    said, done = _load_said(place)
    turns = [turn for mine in said for turn in mine]
    if not turns or done:
        return
    text = "\n".join(format_page_text(mine) for mine in said)
    at = turns[-1].occurred_at
    tools = MemoryTools(place.space, at, ("manage_memory",), place, turns)
    near = search_memories(
        place.space, text, limit=_MOST_NEAR, kinds=("fact",), now=at, reinforce=False
    )
    known = _format_memories(tools, [(i.id, i.occurred_at, i.text) for i in near.items])
    when = f"It is {at:%Y-%m-%d %H:%M}.\n{text}"
    run_turn(place.engine, tools, _BACKGROUND_INSTRUCTIONS + known, when)


def _load_said(place: WriterInputs) -> tuple[list[list[Turn]], set[UUID]]:
    """(the turns of each exchange of the session, those from which something was saved)."""
    with tenant_scope(place.space.tenant_id):
        pages = list(Page.objects.filter(session=place.session).order_by("first_seq"))
        found = load_page_turns(pages)
        said = [list(found[page.id]) for page in pages if found[page.id]]
        turns = [turn.id for mine in said for turn in mine]
        done = set(filter_supports("fact", turn__in=turns).values_list("turn_id", flat=True))
    return said, done


def _format_saved(tools: MemoryTools) -> str:
    """Everything saved."""
    saved = load_saved(tools.space, tools.now)
    return _format_memories(tools, [(fact.id, fact.asserted_at, fact.text) for fact in saved])


def _format_memories(tools: MemoryTools, rows: Iterable[tuple[UUID, datetime, str]]) -> str:
    """Each with its id."""
    lines = [f"{tools.show(row)} {at:%Y-%m-%d} {text}" for row, at, text in rows]
    return "\n".join(["\nSaved memories:", *(lines or ["none"])])


def load_saved(space: Space, now: datetime) -> list[Fact]:
    """What an agent has saved and holds, in the order of time."""
    with tenant_scope(space.tenant_id):
        facts = Fact.objects.filter(build_current_q(now), space=space)
        return list(facts.order_by("asserted_at", "id"))


keep_in_hot_path = partial(
    _write_by_tools, names=("manage_memory", "search_memory"), instructions=_LANGMEM_INSTRUCTIONS
)
keep_saved_memories = partial(
    _write_by_tools, names=("save_memory", "forget_memory"), instructions=_OPENAI_INSTRUCTIONS
)
