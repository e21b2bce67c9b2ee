"""One subject: its rows of every kind, and what is done to it as a whole."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from memoryhub_client.calls import space_rows
from memoryhub_client.calls.base import Time
from memoryhub_client.calls.methods import Listing, M, Runner, call, pages
from memoryhub_client.calls.shared import SharedCalls
from memoryhub_client.calls.tenant import PersonLinks
from memoryhub_client.flows import Flow, quote_path
from memoryhub_client.rows import models
from memoryhub_client.rows.models import (
    AgentTool,
    Difference,
    Erasure,
    HeldRow,
    ToolStep,
    UndoResult,
)

Target = Literal["turns", "session", "facts", "subject"]


class SpaceCalls(SharedCalls[M]):
    """What is remembered of one subject: `hub.space("ana")`."""

    def __init__(self, runner: Runner, subject: str) -> None:
        super().__init__(runner, f"spaces/{quote_path(subject)}")
        self.subject = subject
        self.sessions: space_rows.Sessions[M] = space_rows.Sessions(
            runner, f"{self._path}/sessions"
        )
        self.turns: space_rows.Turns[M] = space_rows.Turns(runner, f"{self._path}/turns")
        self.facts: space_rows.Facts[M] = space_rows.Facts(runner, f"{self._path}/facts")
        self.notes: space_rows.Notes[M] = space_rows.Notes(runner, f"{self._path}/notes")
        self.links: space_rows.Links[M] = space_rows.Links(runner, f"{self._path}/links")
        self.entities: space_rows.Entities[M] = space_rows.Entities(
            runner, f"{self._path}/entities"
        )
        self.relations: space_rows.Relations[M] = space_rows.Relations(
            runner, f"{self._path}/relations"
        )
        self.segments: space_rows.Segments[M] = space_rows.Segments(
            runner, f"{self._path}/segments"
        )
        self.episodes: space_rows.Episodes[M] = space_rows.Episodes(
            runner, f"{self._path}/episodes"
        )
        self.traits: space_rows.Traits[M] = space_rows.Traits(runner, f"{self._path}/traits")
        self.profile: space_rows.Profile[M] = space_rows.Profile(runner, f"{self._path}/profile")
        self.blocks: space_rows.Blocks[M] = space_rows.Blocks(runner, f"{self._path}/blocks")
        self.events: space_rows.Events[M] = space_rows.Events(runner, f"{self._path}/events")
        self.items: space_rows.Items[M] = space_rows.Items(runner, f"{self._path}/items")
        self.history: space_rows.History[M] = space_rows.History(runner, f"{self._path}/history")
        self.conflicts: space_rows.Conflicts[M] = space_rows.Conflicts(
            runner, f"{self._path}/conflicts"
        )
        self.quality: space_rows.Quality[M] = space_rows.Quality(runner, f"{self._path}/quality")
        self.golden: space_rows.Golden[M] = space_rows.Golden(runner, f"{self._path}/golden")
        self.person_links: PersonLinks[M] = PersonLinks(runner, f"{self._path}/person-links")
        self.feedback: space_rows.Feedback[M] = space_rows.Feedback(
            runner, f"{self._path}/feedback"
        )

    @call
    def get(self) -> Flow[models.Space]:
        """The subject, with how many memories of each kind there are."""
        return self._fetch_row(models.Space, self._path)

    @call
    def pause(self, *, paused: bool = True, key: str | None = None) -> Flow[models.Space]:
        """Keep nothing of what is said, from now on or no longer. What is remembered stays."""
        return self._write_row(models.Space, f"{self._path}/pause", {"paused": paused}, key)

    @pages
    def as_of(self, at: Time, *, kind: str | None = None) -> Listing[HeldRow]:
        """What was held at a moment, with the values of then."""
        return self._build_listing(HeldRow, f"{self._path}/as-of", at=at, kind=kind)

    @pages
    def changes(self, since: Time, *, kind: str | None = None) -> Listing[Difference]:
        """What is different now from what was held at a moment."""
        return self._build_listing(Difference, f"{self._path}/changes", since=since, kind=kind)

    @call
    def roll_back(
        self, to: Time, *, dry_run: bool = False, reason: str = "", key: str | None = None
    ) -> Flow[UndoResult]:
        """Undo every event after `to`, all or none. Takes a key with the scope admin."""
        body = {"to": to, "dry_run": dry_run, "reason": reason}
        return self._read_row(
            UndoResult, self._write_for_json(f"{self._path}/roll-back", body, key=key)
        )

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

        `sources`: with facts also the words that say them; turns that say more are cut, and
        counted as `clauses`. `confirm`: the subject once more, where all of it is to go.
        """
        body = {
            "target": target,
            "ids": ids,
            "sources": sources,
            "confirm": confirm,
            "dry_run": dry_run,
            "reason": reason,
        }
        return self._read_row(Erasure, self._write_for_json(f"{self._path}/erase", body, key=key))

    @call
    def tools(self) -> Flow[builtins.list[AgentTool]]:
        """The tools by which an agent looks after its own memory, as functions for a model."""
        told = yield from self._fetch_json(f"{self._path}/tools")
        return [AgentTool.read(each) for each in told["tools"]]

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
        return self._read_row(ToolStep, self._write_for_json(f"{self._path}/tools", body, key=key))
