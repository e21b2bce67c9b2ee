"""Dialogues with the reading of a careful person, from JSON files (docs/reference/truth.md).

A change says what a message does to what is known: add, same, refine, replace, end, wrong, forget.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

# Who wrote the dialogues that are read while rules are made, and those that are only run.
HALVES: Mapping[str, tuple[str, ...]] = {
    "development": (
        *("a", "c", "e", "f", "g", "j", "s", "t", "w", "x", "y"),
        *("za", "zb", "zc", "zd", "ze", "zf", "zg", "zh", "zi", "zj", "zk", "zl"),
        *("zm", "zn", "zo", "zp", "zr", "zs", "zt"),
        *("zu", "zv", "zw", "ya", "yb", "yc", "yd", "yf", "yg"),
    ),
    "test": ("b", "d", "h", "i", "k", "u", "v", "zq", "zy", "ye"),
}
# A sentence matches if it has one word of every group.
Match = tuple[tuple[str, ...], ...]


def is_matching(match: Match, text: str) -> bool:
    told = text.casefold()
    return all(any(word in told for word in group) for group in match)


@dataclass(frozen=True, slots=True)
class TruthTurn:
    ref: str
    speaker: str
    role: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class TruthChange:
    """`id` is that of the claim it makes, "" for none; `targets` are ids of earlier claims."""

    ref: str
    do: str
    quote: str
    id: str = ""
    targets: tuple[str, ...] = ()
    owner: str = ""
    text: str = ""
    relation: str = ""
    value: str = ""
    state: str = "now"
    first: str = ""
    last: str = ""
    one_at_a_time: bool | None = None
    match: Match = ()


@dataclass(frozen=True, slots=True)
class NotAsserted:
    """Something said and not claimed: a plan, a joke, a quotation."""

    ref: str
    kind: str
    match: Match


@dataclass(frozen=True, slots=True)
class AsOf:
    at: datetime
    holds: tuple[str, ...]
    excludes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EverydayQuestion:
    """`kind`: current, past or unknown. An answer is right if it matches `right`."""

    text: str
    kind: str
    right: Match
    outdated: Match


@dataclass(frozen=True, slots=True)
class TruthDialogue:
    """`subject`: the space's id; `name`: what the application calls the person, "" for nothing.
    `current`, `past`, `gone`: ids of claims, by what is true of them in the end."""

    id: str
    author: str
    language: str
    subject: str
    name: str
    sessions: Sequence[tuple[str, Sequence[TruthTurn]]]
    changes: Mapping[str, Sequence[TruthChange]]
    current: frozenset[str]
    past: frozenset[str]
    gone: frozenset[str]
    not_asserted: Sequence[NotAsserted]
    as_of: Sequence[AsOf]
    questions: Sequence[EverydayQuestion]

    @property
    def claims(self) -> dict[str, TruthChange]:
        return {each.id: each for told in self.changes.values() for each in told if each.id}

    @property
    def turns(self) -> Iterator[TruthTurn]:
        return (turn for _, turns in self.sessions for turn in turns)


def load_dialogues(folder: Path, authors: Sequence[str] = ()) -> list[TruthDialogue]:
    """The dialogues of all JSON files below `folder`, of some authors or all, by their ids."""
    found = (
        read_dialogue(json.loads(file.read_text(encoding="utf-8")))
        for file in sorted(folder.rglob("*.json"))
    )
    return [each for each in found if not authors or each.author in authors]


def read_dialogue(given: Mapping[str, Any]) -> TruthDialogue:
    truth, subject = given["truth"], given["subject"]
    return TruthDialogue(
        id=given["id"],
        author=given["author"],
        language=given["language"],
        subject=subject["id"],
        name=subject.get("name") or "",
        sessions=[(s["id"], [_read_turn(turn) for turn in s["turns"]]) for s in given["sessions"]],
        changes={
            ref: [_read_change(ref, change) for change in told]
            for ref, told in given["reading"].items()
        },
        current=frozenset(truth["current"]),
        past=frozenset(truth["past"]),
        gone=frozenset(truth["gone"]),
        not_asserted=[
            NotAsserted(each["ref"], each["kind"], _read_match(each["match"]))
            for each in truth["not_asserted"]
        ],
        as_of=[
            AsOf(_read_time(each["at"]), tuple(each["holds"]), tuple(each["not"]))
            for each in truth["as_of"]
        ],
        questions=[
            EverydayQuestion(
                each["ask"],
                each["kind"],
                _read_match(each["right"]),
                _read_match(each["outdated"]),
            )
            for each in given["questions"]
        ],
    )


def _read_turn(given: Mapping[str, Any]) -> TruthTurn:
    return TruthTurn(
        given["ref"], given["speaker"], given["role"], given["text"], _read_time(given["at"])
    )


def _read_change(ref: str, given: Mapping[str, Any]) -> TruthChange:
    words = ("quote", "id", "owner", "text", "relation", "value")
    return TruthChange(
        ref=ref,
        do=given["do"],
        targets=tuple(given.get("targets", ())),
        state=given.get("state") or "now",
        first=given.get("from") or "",
        last=given.get("to") or "",
        one_at_a_time=given.get("one_at_a_time"),
        match=_read_match(given.get("match", ())),
        **{word: given.get(word) or "" for word in words},
    )


def _read_match(groups: Sequence[Sequence[str]]) -> Match:
    return tuple(tuple(word.casefold() for word in group) for group in groups)


def _read_time(given: str) -> datetime:
    return datetime.fromisoformat(given if "T" in given else f"{given}T00:00:00+00:00")
