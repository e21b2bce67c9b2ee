"""One subject: its rows of every kind, and what is done to it as a whole."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from memoryhub_client.calls.base import ListCalls, RowCalls, Time
from memoryhub_client.calls.methods import Listing, M, Runner, call, pages
from memoryhub_client.calls.shared import SharedCalls
from memoryhub_client.calls.space_rows import (
    Blocks,
    Conflicts,
    Entities,
    Events,
    FactLike,
    Facts,
    Feedback,
    Golden,
    Notes,
    OneFact,
    Profile,
    Traits,
    Windows,
)
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
        at = self._path
        self.sessions: RowCalls[M, models.Session] = RowCalls(
            runner, f"{at}/sessions", models.Session
        )
        self.turns: RowCalls[M, models.Turn] = RowCalls(runner, f"{at}/turns", models.Turn)
        self.facts: Facts[M] = Facts(runner, f"{at}/facts")
        self.notes: Notes[M] = Notes(runner, f"{at}/notes")
        self.links: RowCalls[M, models.Link] = RowCalls(runner, f"{at}/links", models.Link)
        self.entities: Entities[M] = Entities(runner, f"{at}/entities")
        self.relations: RowCalls[M, models.Relation] = RowCalls(
            runner, f"{at}/relations", models.Relation
        )
        self.segments: RowCalls[M, models.Segment] = RowCalls(
            runner, f"{at}/segments", models.Segment
        )
        self.episodes: RowCalls[M, models.Episode] = RowCalls(
            runner, f"{at}/episodes", models.Episode
        )
        self.traits: Traits[M] = Traits(runner, f"{at}/traits")
        self.profile: Profile[M] = Profile(runner, f"{at}/profile")
        self.blocks: Blocks[M] = Blocks(runner, f"{at}/blocks")
        self.windows: Windows[M] = Windows(runner, f"{at}/windows")
        self.events: Events[M] = Events(runner, f"{at}/events")
        # What applications keep of the subject; it is written with `hub.items`.
        self.items: RowCalls[M, models.Item] = RowCalls(runner, f"{at}/items", models.Item)
        # Changes of single rows; of one with `filter={"row_id": …}`.
        self.history: ListCalls[M, models.Change] = ListCalls(
            runner, f"{at}/history", models.Change
        )
        self.conflicts: Conflicts[M] = Conflicts(runner, f"{at}/conflicts")
        self.quality: ListCalls[M, models.QualityReading] = ListCalls(
            runner, f"{at}/quality", models.QualityReading
        )
        self.golden: Golden[M] = Golden(runner, f"{at}/golden")
        self.person_links: PersonLinks[M] = PersonLinks(runner, f"{at}/person-links")
        self.feedback: Feedback[M] = Feedback(runner, f"{at}/feedback")

    def __repr__(self) -> str:
        return f"<space {self.subject!r} of {self._runner!r}>"

    def fact(self, fact: str | FactLike) -> OneFact[M]:
        """One fact and what is done to it, by its id or as it was read or found. Asks for nothing
        yet."""
        return OneFact(self._runner, f"{self._path}/facts", fact)

    @call
    def get(self) -> Flow[models.Space]:
        """The subject, with how many memories of each kind there are."""
        return self._fetch_row(models.Space)

    @call
    def set_name(self, name: str, *, key: str | None = None) -> Flow[models.Space]:
        """What the subject is called in what is written, "" for not known. What was written
        follows."""
        return self._write_named(models.Space, "name", {"subject_name": name}, key)

    @call
    def pause(self, *, paused: bool = True, key: str | None = None) -> Flow[models.Space]:
        """Keep nothing of what is said, from now on or no longer. What is remembered stays."""
        return self._write_named(models.Space, "pause", {"paused": paused}, key)

    @pages
    def as_of(self, at: Time, *, kind: str | None = None) -> Listing[HeldRow]:
        """What was held at a moment, with the values of then."""
        return self._build_listing(HeldRow, "as-of", at=at, kind=kind)

    @pages
    def changes(self, since: Time, *, kind: str | None = None) -> Listing[Difference]:
        """What is different now from what was held at a moment."""
        return self._build_listing(Difference, "changes", since=since, kind=kind)

    @call
    def roll_back(
        self, to: Time, *, dry_run: bool = False, reason: str = "", key: str | None = None
    ) -> Flow[UndoResult]:
        """Undo every event after `to`, all or none. Takes a key with the scope admin."""
        body = {"to": to, "dry_run": dry_run, "reason": reason}
        return self._write_for_row(UndoResult, "roll-back", body, key=key)

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
        return self._write_for_row(Erasure, "erase", body, key=key)

    @call
    def tools(self) -> Flow[builtins.list[AgentTool]]:
        """The tools by which an agent looks after its own memory, as functions for a model."""
        told = yield from self._fetch_json("tools")
        return [AgentTool.read(each) for each in told["tools"]]

    @call
    def use_tool(
        self, tool: str, arguments: Mapping[str, Any], *, agent: str = "", key: str | None = None
    ) -> Flow[ToolStep]:
        """Carry out one call as a model made it."""
        body = {"tool": tool, "arguments": arguments, "agent": agent}
        return self._write_for_row(ToolStep, "tools", body, key=key)
