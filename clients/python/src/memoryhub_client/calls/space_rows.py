"""The kinds of rows of a subject, with what can be done to each.

Every write takes `reason`, which the history keeps; `version`, the one that was read (it then
fails with `Outdated` if somebody wrote meanwhile); and `key`, an Idempotency-Key of your own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from memoryhub_client.calls.base import SEND_NULL, CallGroup, Filter, ListCalls, RowCalls, Time
from memoryhub_client.calls.methods import Listing, M, Runner, call, pages
from memoryhub_client.flows import Flow
from memoryhub_client.rows.base import R, Written
from memoryhub_client.rows.models import (
    Block,
    BlockVersion,
    ConflictDecisions,
    Entity,
    Event,
    Fact,
    GoldenQuestion,
    MemoryFeedback,
    Note,
    OpenConflict,
    ProfileAttribute,
    Trait,
    UndoResult,
    Window,
    WindowAppended,
    WindowTurn,
)


class MergedRows(RowCalls[M, R]):
    """Rows of which two may say the same."""

    @call
    def merge(
        self,
        id: str,
        other: str,
        *,
        reason: str = "",
        version: int | None = None,
        key: str | None = None,
    ) -> Flow[Written[R]]:
        """`other` says the same: it is taken out, and what it rests on supports this one. Of
        entities its name is one more of this one from now on."""
        return self._write_on_row(id, "merge", {"other": other, "reason": reason}, key, version)


class Facts(MergedRows[M, Fact]):
    _row = Fact

    @pages
    def held_at(self, at: Time, *, filter: Filter | None = None) -> Listing[Fact]:
        """The facts that held at a moment in the world."""
        return self._build_listing(Fact, as_of=at, filter=filter)

    @pages
    def versions(self, id: str) -> Listing[Fact]:
        """Every wording and successor of a fact, the newest first."""
        return self._build_listing(Fact, f"{id}/versions")

    @call
    def correct(
        self,
        id: str,
        text: str,
        *,
        reason: str = "",
        version: int | None = None,
        key: str | None = None,
    ) -> Flow[Written[Fact]]:
        """The same claim in better words, as a new version."""
        return self._write_on_row(id, "correct", {"text": text, "reason": reason}, key, version)

    @call
    def end(
        self,
        id: str,
        at: Time | None = None,
        *,
        reason: str = "",
        version: int | None = None,
        key: str | None = None,
    ) -> Flow[Written[Fact]]:
        """It is no longer so: it held until `at`, or until now."""
        return self._write_on_row(id, "end", {"at": at, "reason": reason}, key, version)

    @call
    def retract(
        self, id: str, *, reason: str = "", version: int | None = None, key: str | None = None
    ) -> Flow[Written[Fact]]:
        """It was never so."""
        return self._write_on_row(id, "retract", {"reason": reason}, key, version)

    @call
    def forget(
        self, id: str, *, reason: str = "", version: int | None = None, key: str | None = None
    ) -> Flow[Written[Fact]]:
        """It is held no longer; `restore` or undo bring it back, which an erasure rules out."""
        return self._write_on_row(id, "forget", {"reason": reason}, key, version)

    @call
    def restore(
        self, id: str, *, reason: str = "", version: int | None = None, key: str | None = None
    ) -> Flow[Written[Fact]]:
        """It is so after all, and still."""
        return self._write_on_row(id, "restore", {"reason": reason}, key, version)

    @call
    def pin(
        self,
        id: str,
        *,
        pinned: bool = True,
        reason: str = "",
        version: int | None = None,
        key: str | None = None,
    ) -> Flow[Written[Fact]]:
        """What is pinned does not fade, and the pipeline does not change it."""
        return self._write_on_row(id, "pin", {"pinned": pinned, "reason": reason}, key, version)


class FactLike(Protocol):
    """A row of a fact, or what a search found."""

    id: str


class OneFact(CallGroup[M]):
    """One fact, in whatever version: `ana.fact(found.items[0]).correct("Ana lives in Faro.")`.

    Who wants to be told of what others wrote meanwhile gives `facts.correct` a `version`.
    """

    def __init__(self, runner: Runner, path: str, fact: str | FactLike) -> None:
        self.id = fact if isinstance(fact, str) else fact.id
        super().__init__(runner, f"{path}/{self.id}")

    @call
    def get(self) -> Flow[Fact]:
        """As it is now."""
        return self._fetch_row(Fact)

    @pages
    def versions(self) -> Listing[Fact]:
        """Every wording and successor of it, the newest first."""
        return self._build_listing(Fact, "versions")

    @call
    def correct(
        self, text: str, *, reason: str = "", key: str | None = None
    ) -> Flow[Written[Fact]]:
        """The same claim in better words, as a new version."""
        return self._write("correct", {"text": text, "reason": reason}, key)

    @call
    def end(
        self, at: Time | None = None, *, reason: str = "", key: str | None = None
    ) -> Flow[Written[Fact]]:
        """It is no longer so: it held until `at`, or until now."""
        return self._write("end", {"at": at, "reason": reason}, key)

    @call
    def retract(self, *, reason: str = "", key: str | None = None) -> Flow[Written[Fact]]:
        """It was never so."""
        return self._write("retract", {"reason": reason}, key)

    @call
    def forget(self, *, reason: str = "", key: str | None = None) -> Flow[Written[Fact]]:
        """It is held no longer; `restore` or undo bring it back, which an erasure rules out."""
        return self._write("forget", {"reason": reason}, key)

    @call
    def restore(self, *, reason: str = "", key: str | None = None) -> Flow[Written[Fact]]:
        """It is so after all, and still."""
        return self._write("restore", {"reason": reason}, key)

    @call
    def pin(
        self, *, pinned: bool = True, reason: str = "", key: str | None = None
    ) -> Flow[Written[Fact]]:
        """What is pinned does not fade, and the pipeline does not change it."""
        return self._write("pin", {"pinned": pinned, "reason": reason}, key)

    def _write(self, verb: str, body: Mapping[str, Any], key: str | None) -> Flow[Written[Fact]]:
        return self._write_with_event(Fact, verb, body, key)


class Notes(MergedRows[M, Note]):
    _row = Note

    @call
    def describe(
        self,
        id: str,
        *,
        context: str | None = None,
        keywords: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        category: str | None = None,
        reason: str = "",
        version: int | None = None,
        key: str | None = None,
    ) -> Flow[Written[Note]]:
        """Other descriptors; what is left out stays. The content of a note never changes."""
        body = {"context": context, "keywords": keywords, "tags": tags, "category": category}
        return self._write_on_row(id, "describe", {**body, "reason": reason}, key, version)

    @call
    def pin(
        self,
        id: str,
        *,
        pinned: bool = True,
        reason: str = "",
        version: int | None = None,
        key: str | None = None,
    ) -> Flow[Written[Note]]:
        """What is pinned does not fade, and the pipeline does not change it."""
        return self._write_on_row(id, "pin", {"pinned": pinned, "reason": reason}, key, version)

    @call
    def forget(
        self, id: str, *, reason: str = "", version: int | None = None, key: str | None = None
    ) -> Flow[Written[Note]]:
        """Take it out, with its links. It can be undone."""
        return self._write_on_row(id, "forget", {"reason": reason}, key, version)

    @call
    def restore(
        self, id: str, *, reason: str = "", version: int | None = None, key: str | None = None
    ) -> Flow[Written[Note]]:
        """Hold it again. Undoing the forgetting brings its links back as well."""
        return self._write_on_row(id, "restore", {"reason": reason}, key, version)

    delete = forget  # its former name


class Entities(MergedRows[M, Entity]):
    _row = Entity

    @call
    def split(self, id: str, *, reason: str = "", key: str | None = None) -> Flow[Written[Entity]]:
        """Take back the merge that made another stand for it."""
        return self._write_on_row(id, "split", {"reason": reason}, key)


class Traits(RowCalls[M, Trait]):
    _row = Trait

    @call
    def set(self, trait: str, level: str, *, reason: str = "", key: str | None = None) -> Flow[str]:
        """ "high", "medium" or "low"; an empty level withdraws it. Gives the trait's key."""
        body = {"key": trait, "level": level, "reason": reason}
        told = yield from self._write_for_json("set", body, key=key)
        return str(told["key"])


class Profile(ListCalls[M, ProfileAttribute]):
    _row = ProfileAttribute

    @call
    def set(
        self, attribute: str, value: str, *, reason: str = "", key: str | None = None
    ) -> Flow[str]:
        """An empty value takes the attribute away, if no fact says it. Gives its key."""
        body = {"key": attribute, "value": value, "reason": reason}
        told = yield from self._write_for_json("set", body, key=key)
        return str(told["key"])


class Blocks(RowCalls[M, Block]):
    _row = Block

    @pages
    def versions(self, id: str) -> Listing[BlockVersion]:
        """What it said, the newest first."""
        return self._build_listing(BlockVersion, f"{id}/versions")

    @call
    def new(
        self,
        label: str,
        value: str = "",
        *,
        description: str = "",
        char_limit: int | None = None,
        agent: str = "",
        read_only: bool = False,
        shared: bool = False,
        reason: str = "",
        key: str | None = None,
    ) -> Flow[Written[Block]]:
        """A block in front of the subject's agents; `shared`: it belongs to no subject."""
        body = {
            "label": label,
            "value": value,
            "description": description,
            "char_limit": char_limit,
            "agent": agent,
            "read_only": read_only,
            "shared": shared,
            "reason": reason,
        }
        return self._write_with_event(Block, "new", body, key)

    @call
    def revise(
        self,
        id: str,
        *,
        value: str | None = None,
        label: str | None = None,
        char_limit: int | None = None,
        reason: str = "",
        version: int | None = None,
        key: str | None = None,
    ) -> Flow[Written[Block]]:
        """All at once; what is left out stays."""
        body = {"value": value, "label": label, "char_limit": char_limit, "reason": reason}
        return self._write_on_row(id, "revise", body, key, version)

    @call
    def delete(
        self, id: str, *, reason: str = "", version: int | None = None, key: str | None = None
    ) -> Flow[Written[Block]]:
        """Out of every agent's sight; its versions stay."""
        return self._write_on_row(id, "delete", {"reason": reason}, key, version)

    @call
    def attach(self, id: str, *, reason: str = "", key: str | None = None) -> Flow[Written[Block]]:
        """Put a shared block in front of this subject's agents."""
        return self._write_on_row(id, "attach", {"reason": reason}, key)

    @call
    def detach(self, id: str, *, reason: str = "", key: str | None = None) -> Flow[Written[Block]]:
        """Take a shared block out of their sight."""
        return self._write_on_row(id, "detach", {"reason": reason}, key)


class Windows(RowCalls[M, Window]):
    """Sessions of agents: what is in front of them, what they append, and their turns."""

    _row = Window

    @call
    def open(self, session: str, *, agent: str = "", key: str | None = None) -> Flow[Window]:
        """The window of the session of this name, which is begun where there is none."""
        return self._write_named(Window, "open", {"session": session, "agent": agent}, key)

    @call
    def append(
        self, id: str, messages: Sequence[Mapping[str, Any]], *, key: str | None = None
    ) -> Flow[WindowAppended]:
        """Messages behind what is there; of an agent of yours with its `tool_calls`, and their
        results with the `tool_call_id`."""
        body = {"messages": messages}
        return self._write_for_row(WindowAppended, f"{id}/append", body, key=key)

    @call
    def step(
        self,
        id: str,
        messages: Sequence[Mapping[str, Any]] = (),
        *,
        max_steps: int | None = None,
        key: str | None = None,
    ) -> Flow[WindowTurn]:
        """Have the hub's agent act until it yields, on these messages or on what is there."""
        body = {"messages": messages, "max_steps": max_steps}
        return self._write_for_row(WindowTurn, f"{id}/step", body, key=key)

    @call
    def schedule(
        self,
        id: str,
        *,
        every_minutes: int | None = None,
        alarm_at: Time | None = None,
        no_alarm: bool = False,
        key: str | None = None,
    ) -> Flow[Window]:
        """Have the agent woken so often (0: no more), and once. What is left out stays."""
        alarm = SEND_NULL if no_alarm else alarm_at
        body = {"every_minutes": every_minutes, "alarm_at": alarm}
        return self._write_named(Window, f"{id}/schedule", body, key)


class Events(RowCalls[M, Event]):
    _row = Event

    @call
    def undo(
        self,
        id: str,
        *,
        cascade: bool = False,
        dry_run: bool = False,
        reason: str = "",
        key: str | None = None,
    ) -> Flow[UndoResult]:
        """Take an event back; of an undo, that is redo. `cascade`: later ones before it."""
        body = {"cascade": cascade, "dry_run": dry_run, "reason": reason}
        return self._write_for_row(UndoResult, f"{id}/undo", body, key=key)


class Conflicts(RowCalls[M, OpenConflict]):
    _row = OpenConflict

    @call
    def decide(
        self, id: str, answer: str, *, text: str = "", reason: str = "", key: str | None = None
    ) -> Flow[Written[OpenConflict]]:
        """One of the `answers` that `get` shows, or accept, keep_both or reject. `text`: what is
        new in other words."""
        body = {"answer": answer, "text": text, "reason": reason}
        return self._write_on_row(id, "decide", body, key)

    @call
    def decide_many(
        self, ids: Sequence[str], answer: str, *, reason: str = "", key: str | None = None
    ) -> Flow[ConflictDecisions]:
        """Accept, keep_both or reject each of them; one that can't be leaves the others alone."""
        body = {"ids": list(ids), "answer": answer, "reason": reason}
        told = yield from self._write_for_json("decide-many", body, key=key)
        return ConflictDecisions.read(told)

    @call
    def take_back(
        self, id: str, *, reason: str = "", key: str | None = None
    ) -> Flow[Written[OpenConflict]]:
        """Undo what its answer did, and open it again."""
        return self._write_on_row(id, "take-back", {"reason": reason}, key)


class Golden(RowCalls[M, GoldenQuestion]):
    """`expected`: the memories that should be found, each {"kind": …, "id": …}."""

    _row = GoldenQuestion

    @call
    def new(
        self,
        text: str,
        expected: Sequence[Mapping[str, str]],
        *,
        tags: Sequence[str] = (),
        reason: str = "",
        key: str | None = None,
    ) -> Flow[Written[GoldenQuestion]]:
        """A question that is to find these memories, whatever changes."""
        body = {"text": text, "expected": expected, "tags": tags, "reason": reason}
        return self._write_with_event(GoldenQuestion, "new", body, key)

    @call
    def change(
        self,
        id: str,
        text: str,
        expected: Sequence[Mapping[str, str]],
        *,
        tags: Sequence[str] = (),
        reason: str = "",
        version: int | None = None,
        key: str | None = None,
    ) -> Flow[Written[GoldenQuestion]]:
        """In place of what it has."""
        body = {"text": text, "expected": expected, "tags": tags, "reason": reason}
        return self._write_on_row(id, "change", body, key, version)

    @call
    def remove(
        self, id: str, *, reason: str = "", version: int | None = None, key: str | None = None
    ) -> Flow[Written[GoldenQuestion]]:
        """It is asked no more; undo brings it back."""
        return self._write_on_row(id, "remove", {"reason": reason}, key, version)


class Feedback(ListCalls[M, MemoryFeedback]):
    _row = MemoryFeedback

    @call
    def set(
        self,
        kind: str,
        memory_id: str,
        verdict: str | None,
        *,
        recall_id: str | None = None,
        comment: str = "",
        key: str | None = None,
    ) -> Flow[MemoryFeedback | None]:
        """ "positive", "negative", "very_negative" or "wrong"; None takes the word back."""
        body: dict[str, Any] = {
            "kind": kind,
            "memory_id": memory_id,
            "recall_id": recall_id,
            "comment": comment,
        }
        body["verdict"] = verdict or SEND_NULL
        told = yield from self._write_for_json("set", body, key=key)
        return MemoryFeedback.read(told["feedback"]) if told.get("feedback") else None
