"""What of a change-set is news."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from notes.history.news import build_news

AT = datetime(2026, 5, 12, 9, 30, tzinfo=UTC)
OPEN: dict[str, Any] = {
    "lineage": str(uuid4()),
    "lineage_version": 1,
    "status": "active",
    "retired_at": None,
    "valid_to": None,
    "supersedes_id": None,
    "text": "Ana lives in Porto",
    "mention_count": 1,
}
LATER, AHEAD = "2026-05-12T09:30:00Z", "2027-01-01T00:00:00Z"


@dataclass
class Change:
    row_type: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    row_id: UUID
    version_after: int = 2


def make_change(before: Any, after: Any, kind: str = "fact", row_id: UUID | None = None) -> Change:
    return Change(kind, before, after, row_id or uuid4())


def list_news_kinds(*changes: Change) -> list[str]:
    ids: dict[str, Any] = {"space_id": uuid4(), "event_id": uuid4(), "job_id": None}
    return [news.kind for news in build_news(changes, AT, **ids)]


@pytest.mark.parametrize(
    ("before", "after", "kinds"),
    [
        (None, OPEN, ["fact.added"]),
        (None, OPEN | {"retired_at": LATER}, []),
        (OPEN, OPEN | {"mention_count": 2}, []),
        (OPEN, OPEN | {"text": "Ana lives in Faro"}, ["fact.changed"]),
        (OPEN, OPEN | {"pinned": True}, ["fact.changed"]),
        (OPEN, OPEN | {"status": "superseded", "valid_to": LATER}, ["fact.ended"]),
        (OPEN, OPEN | {"status": "superseded", "valid_to": AHEAD}, ["fact.changed"]),
        (OPEN | {"status": "superseded", "valid_to": AHEAD}, OPEN, ["fact.changed"]),
        (OPEN, OPEN | {"status": "retracted"}, ["fact.retracted"]),
        (OPEN, OPEN | {"status": "retracted", "retired_at": LATER}, ["fact.retracted"]),
        (OPEN, OPEN | {"retired_at": LATER}, ["fact.deleted"]),
        (OPEN | {"retired_at": LATER}, OPEN, ["fact.restored"]),
        (OPEN | {"status": "superseded"}, OPEN, ["fact.restored"]),
        (None, None, ["fact.deleted"]),
        (OPEN, None, ["fact.deleted"]),
    ],
)
def test_one_fact(before: Any, after: Any, kinds: list[str]) -> None:
    assert list_news_kinds(make_change(before, after)) == kinds


def test_a_successor_says_what_became_of_the_one_before() -> None:
    old = uuid4()
    new = OPEN | {"lineage_version": 2, "supersedes_id": str(old)}
    ends = make_change(OPEN, OPEN | {"status": "superseded", "valid_to": LATER}, row_id=old)
    assert list_news_kinds(ends, make_change(None, new)) == ["fact.superseded", "fact.added"]


def test_other_words_are_one_piece_of_news() -> None:
    reworded = OPEN | {"lineage_version": 2, "text": "Ana lives in the Alfama"}
    both = make_change(OPEN, OPEN | {"retired_at": LATER}), make_change(None, reworded)
    assert list_news_kinds(*both) == ["fact.changed"]


def test_a_correction_withdraws_and_adds() -> None:
    never = OPEN | {"status": "retracted", "retired_at": LATER}
    assert list_news_kinds(
        make_change(OPEN, never), make_change(None, OPEN | {"lineage_version": 2})
    ) == [
        "fact.retracted",
        "fact.added",
    ]


@pytest.mark.parametrize(
    ("kind", "values", "other", "name"),
    [
        ("note", {"content": "x", "tags": []}, {"tags": ["a"]}, "note.evolved"),
        ("episode", {"text": "x"}, {"text": "y"}, "episode.changed"),
        ("trait", {"level": "low"}, {"level": "high"}, "trait.changed"),
        ("coreblock", {"value": "x"}, {"value": "y"}, "block.changed"),
    ],
)
def test_rows_of_other_kinds(kind: str, values: Any, other: Any, name: str) -> None:
    thing = name.partition(".")[0]
    held, gone = values | {"retired_at": None}, values | {"retired_at": LATER}
    assert list_news_kinds(make_change(None, held, kind)) == [f"{thing}.added"]
    assert list_news_kinds(make_change(held, held | other, kind)) == [name]
    assert list_news_kinds(make_change(held, held | {"strength": 2}, kind)) == []
    assert list_news_kinds(make_change(held, gone, kind)) == [f"{thing}.deleted"]
    assert list_news_kinds(make_change(gone, held, kind)) == [f"{thing}.restored"]


def test_what_nobody_asked_to_hear_of_is_none() -> None:
    assert (
        list_news_kinds(
            make_change(None, {"weight": 1}, "link"), make_change(None, {}, "segmentpage")
        )
        == []
    )


def test_news_carry_ids_and_no_words() -> None:
    ids = {"space_id": uuid4(), "event_id": uuid4(), "job_id": uuid4()}
    row = uuid4()
    (news,) = build_news([make_change(None, OPEN, row_id=row)], AT, **ids)
    assert news.space_id == ids["space_id"]
    assert news.data == {
        "id": str(row),
        "version": 2,
        "lineage": OPEN["lineage"],
        "lineage_version": 1,
        "event_id": str(ids["event_id"]),
        "job_id": str(ids["job_id"]),
    }
