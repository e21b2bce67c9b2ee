"""The traps of the demo dialogues (memoryhub/demo/README.md), turn by turn."""

from __future__ import annotations

import json
from collections import defaultdict
from datetime import date, datetime
from functools import cache
from pathlib import Path

import pytest

import memoryhub.demo
from memoryhub.engines.types import Exchange, FactCandidate, Utterance
from tests.engines.local.dialogue import ENGINE

FOLDER = Path(next(iter(memoryhub.demo.__path__))) / "dialogues"


def read_sessions(subject: str) -> list[list[Utterance]]:
    found: dict[str, list[Utterance]] = defaultdict(list)
    for line in (FOLDER / f"{subject}.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        at = datetime.fromisoformat(row["timestamp"])
        said = Utterance(row["external_id"], row["speaker"], row["role"], row["content"], at)
        found[row["session"]].append(said)
    return list(found.values())


def build_exchanges(turns: list[Utterance]) -> list[Exchange]:
    """A user turn and the reply, with ten turns of history."""
    starts = [i for i, turn in enumerate(turns) if turn.role == "user"]
    ends = [*starts[1:], len(turns)]
    people = tuple(dict.fromkeys(turn.speaker for turn in turns))
    return [
        Exchange(turns[a:b], turns[max(0, a - 10) : a], people, people[0])
        for a, b in zip(starts, ends, strict=True)
    ]


@cache
def facts_by_turn(subject: str) -> dict[str, list[FactCandidate]]:
    found: dict[str, list[FactCandidate]] = defaultdict(list)
    todo = [exchange for turns in read_sessions(subject) for exchange in build_exchanges(turns)]
    for made in ENGINE.extract_memories(todo):
        for fact in made.facts:
            found[fact.sources[0].handle].append(fact)
    return found


def get_facts_of_turn(turn: str) -> list[FactCandidate]:
    return facts_by_turn(turn.split("-")[0])[turn]


def get_values_by_predicate(turn: str) -> dict[str, str]:
    return {
        f.predicate_key: f.object or f.complement
        for f in get_facts_of_turn(turn)
        if f.predicate_key
    }


@pytest.mark.parametrize(
    ("turn", "key", "value"),
    [
        ("ana-01-05", "lives_in", "Porto"),
        ("ana-09-01", "lives_in", "Madrid"),
        ("ana-12-01", "works_as", "teacher"),
        ("ana-12-01", "works_at", "Escuela Las Moreras"),
        ("ana-03-07", "favourite_glaze", "cobalt blue"),
        ("ana-10-05", "favourite_glaze", "celadon"),
        ("marcus-01-03", "lives_in", "Pittsburgh"),
        ("marcus-01-03", "works_at", "Harlow Freight"),
        ("marcus-02-03", "address", "418 Alder Court"),
        ("marcus-07-01", "works_as", "data analyst"),
        ("marcus-07-01", "works_at", "Kestrel Foods"),
        ("marcus-11-01", "marital_status", "divorced"),
        ("lin-01-03", "lives_in", "上海"),
        ("lin-08-01", "lives_in", "成都"),
        ("lin-01-05", "works_as", "界面设计师"),
        ("lin-09-01", "works_as", "产品经理"),
        ("lin-09-01", "works_at", "青禾教育"),
    ],
)
def test_states_and_what_replaces_them(turn: str, key: str, value: str) -> None:
    assert get_values_by_predicate(turn)[key] == value


@pytest.mark.parametrize(
    ("before", "after"), [("ana-10-01", "ana-06-04"), ("marcus-01-09", "marcus-09-03")]
)
def test_what_ended_has_the_key_of_what_held(before: str, after: str) -> None:
    ended = next(f for f in get_facts_of_turn(after) if f.polarity == "ended")
    assert ended.predicate_key in get_values_by_predicate(before)


def test_an_allergy_outgrown_names_the_same_thing() -> None:
    assert (
        get_values_by_predicate("marcus-01-07")
        == get_values_by_predicate("marcus-04-03")
        == {"allergic_to": "penicillin"}
    )
    (over,) = get_facts_of_turn("marcus-10-07")
    assert (over.predicate_key, over.complement, over.polarity) == (
        "allergic_to",
        "penicillin",
        "ended",
    )


@pytest.mark.parametrize(
    ("turn", "day"),
    [
        ("ana-01-11", date(2026, 4, 26)),
        ("ana-11-07", date(2026, 12, 6)),
        ("ana-09-01", date(2026, 6, 6)),
        ("marcus-09-03", date(2026, 2, 1)),
        ("lin-08-01", date(2026, 5, 30)),
    ],
)
def test_days(turn: str, day: date) -> None:
    assert day in {f.event.start.date() for f in get_facts_of_turn(turn) if f.event}


@pytest.mark.parametrize("turn", ["ana-06-02", "lin-07-01"])
def test_corrections(turn: str) -> None:
    (fact,) = [f for f in get_facts_of_turn(turn) if f.correction]
    assert (fact.polarity, fact.event) == ("holds", None)
    assert (fact.object or fact.complement) in ("Tuesday", "周四")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("ana-01-07", "ana-05-09"),
        ("marcus-01-07", "marcus-04-03"),
        ("marcus-02-07", "marcus-07-09"),
    ],
)
def test_said_twice_is_the_same_text(first: str, second: str) -> None:
    assert {f.text for f in get_facts_of_turn(first)} & {f.text for f in get_facts_of_turn(second)}


@pytest.mark.parametrize(
    "turn",
    ["ana-02-09", "marcus-04-09", "lin-02-09", "lin-05-05", "marcus-08-09", "lin-06-05"],
)
def test_questions_and_hypotheses_are_no_facts(turn: str) -> None:
    assert get_facts_of_turn(turn) == []


@pytest.mark.parametrize(
    ("turn", "owner"),
    [
        ("ana-02-05", "Rita"),
        ("ana-10-09", "Rita"),
        ("marcus-02-05", "Calvin"),
        ("marcus-11-07", "Calvin"),
        ("lin-02-03", "林晓峰"),
        ("lin-04-07", "周然"),
    ],
)
def test_facts_about_others_are_theirs(turn: str, owner: str) -> None:
    # What a turn says of its speaker as well ("with my brother") stays the speaker's.
    facts = get_facts_of_turn(turn)
    assert {f.owner for f in facts} - {f.speaker for f in facts} == {owner}


@pytest.mark.parametrize("subject", ["ana", "marcus", "lin"])
def test_the_assistant_is_nobodys_life(subject: str) -> None:
    said = [fact for found in facts_by_turn(subject).values() for fact in found]
    assert said
    assert all(fact.speaker != "Hub" for fact in said)


def test_the_address_stands_in_one_turn_only() -> None:
    told = [
        t for t, found in facts_by_turn("marcus").items() if any("418" in f.text for f in found)
    ]
    assert told == ["marcus-02-03"]
