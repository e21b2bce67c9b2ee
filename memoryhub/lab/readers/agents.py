"""Agents that keep memories by tools (`memoryhub.lab.writers.tools`): LangMem searches them in its
turn, OpenAI's saved memories are all handed over."""

from __future__ import annotations

from datetime import datetime

from memoryhub.lab.readers.base import ReaderInputs, ReaderResult, build_result
from memoryhub.lab.writers.tools import load_saved, search_by_tool
from memoryhub.recall.render.hydrate import FoundMemory, hydrate_memories, load_source_links
from memoryhub.tenants.scope import tenant_scope


class ToolReader:
    """What the agent's own searches find for the question: nothing where it does not search."""

    def __init__(self, place: ReaderInputs) -> None:
        self._place = place

    def recall(self, question: str, now: datetime) -> ReaderResult:
        return build_result(search_by_tool(self._place.space, self._place.engine, question, now))


class SavedReader:
    """Every saved memory in the order of time, whatever is asked."""

    def __init__(self, place: ReaderInputs) -> None:
        self._space = place.space

    def recall(self, question: str, now: datetime) -> ReaderResult:
        saved = load_saved(self._space, now)
        with tenant_scope(self._space.tenant_id):
            found = [FoundMemory("fact", fact.id, 0.0) for fact in saved]
            items = hydrate_memories(found, load_source_links(fact.id for fact in saved))
        return build_result(items)
