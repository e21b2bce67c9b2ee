"""One subject: its rows of every kind, and what is done to it as a whole."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from memoryhub_client import memories, writes
from memoryhub_client.flows import Flow, segment
from memoryhub_client.lists import Time
from memoryhub_client.memories import (
    Difference,
    Held,
    Tool,
    ToolStep,
    Undone,
)
from memoryhub_client.methods import Listing, M, Runner, call, pages
from memoryhub_client.shared import Shared
from memoryhub_client.tenancy import Erasure
from memoryhub_client.tenant import PersonLinks

Target = Literal["turns", "session", "facts", "subject"]


class SpaceCalls(Shared[M]):
    """What is remembered of one subject: `hub.space("ana")`."""

    def __init__(self, runner: Runner, subject: str) -> None:
        super().__init__(runner, f"spaces/{segment(subject)}")
        self.subject = subject
        self.sessions: writes.Sessions[M] = writes.Sessions(runner, f"{self._path}/sessions")
        self.turns: writes.Turns[M] = writes.Turns(runner, f"{self._path}/turns")
        self.facts: writes.Facts[M] = writes.Facts(runner, f"{self._path}/facts")
        self.notes: writes.Notes[M] = writes.Notes(runner, f"{self._path}/notes")
        self.links: writes.Links[M] = writes.Links(runner, f"{self._path}/links")
        self.entities: writes.Entities[M] = writes.Entities(runner, f"{self._path}/entities")
        self.relations: writes.Relations[M] = writes.Relations(runner, f"{self._path}/relations")
        self.segments: writes.Segments[M] = writes.Segments(runner, f"{self._path}/segments")
        self.episodes: writes.Episodes[M] = writes.Episodes(runner, f"{self._path}/episodes")
        self.traits: writes.Traits[M] = writes.Traits(runner, f"{self._path}/traits")
        self.profile: writes.Profile[M] = writes.Profile(runner, f"{self._path}/profile")
        self.blocks: writes.Blocks[M] = writes.Blocks(runner, f"{self._path}/blocks")
        self.events: writes.Events[M] = writes.Events(runner, f"{self._path}/events")
        self.items: writes.Items[M] = writes.Items(runner, f"{self._path}/items")
        self.history: writes.History[M] = writes.History(runner, f"{self._path}/history")
        self.conflicts: writes.Conflicts[M] = writes.Conflicts(runner, f"{self._path}/conflicts")
        self.quality: writes.Quality[M] = writes.Quality(runner, f"{self._path}/quality")
        self.golden: writes.Golden[M] = writes.Golden(runner, f"{self._path}/golden")
        self.person_links: PersonLinks[M] = PersonLinks(runner, f"{self._path}/person-links")
        self.feedback: writes.Feedback[M] = writes.Feedback(runner, f"{self._path}/feedback")

    @call
    def get(self) -> Flow[memories.Space]:
        """The subject, with how many memories of each kind there are."""
        return self._one(memories.Space, self._path)

    @call
    def pause(self, *, paused: bool = True, key: str | None = None) -> Flow[memories.Space]:
        """Keep nothing of what is said, from now on or no longer. What is remembered stays."""
        return self._changed(memories.Space, f"{self._path}/pause", {"paused": paused}, key)

    @pages
    def as_of(self, at: Time, *, kind: str | None = None) -> Listing[Held]:
        """What was held at a moment, with the values of then."""
        return self._listing(Held, f"{self._path}/as-of", at=at, kind=kind)

    @pages
    def changes(self, since: Time, *, kind: str | None = None) -> Listing[Difference]:
        """What is different now from what was held at a moment."""
        return self._listing(Difference, f"{self._path}/changes", since=since, kind=kind)

    @call
    def roll_back(
        self, to: Time, *, dry_run: bool = False, reason: str = "", key: str | None = None
    ) -> Flow[Undone]:
        """Undo every event after `to`, all or none. Takes a key with the scope admin."""
        body = {"to": to, "dry_run": dry_run, "reason": reason}
        return self._as(Undone, self._write(f"{self._path}/roll-back", body, key=key))

    @call
    def erase(
        self,
        target: Target,
        ids: Sequence[str] = (),
        *,
        sources: bool = False,
        confirm: str = "",
        dry_run: bool = False,
        reason: str = "",
        key: str | None = None,
    ) -> Flow[Erasure]:
        """Erase for good; a dry run says what would go. Takes a key with the scope admin.

        `sources`: with facts also the turns that say them. `confirm`: the subject once more,
        where all of it is to go.
        """
        body = {
            "target": target,
            "ids": ids,
            "sources": sources,
            "confirm": confirm,
            "dry_run": dry_run,
            "reason": reason,
        }
        return self._as(Erasure, self._write(f"{self._path}/erase", body, key=key))

    @call
    def tools(self) -> Flow[builtins.list[Tool]]:
        """The tools by which an agent looks after its own memory, as functions for a model."""
        told = yield from self._get(f"{self._path}/tools")
        return [Tool.read(each) for each in told["tools"]]

    @call
    def use_tool(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        agent: str = "",
        key: str | None = None,
    ) -> Flow[ToolStep]:
        """Carry out one call as a model made it."""
        body = {"tool": tool, "arguments": arguments, "agent": agent}
        return self._as(ToolStep, self._write(f"{self._path}/tools", body, key=key))
