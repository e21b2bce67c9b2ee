"""The demo dialogues keep the format their README promises, and the traps they are made for."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import UTC, datetime
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import pytest

import memoryhub

DEMO = Path(memoryhub.__file__).parent / "demo"
PEOPLE = {"ana": "Ana Ferreira", "marcus": "Marcus Webb", "lin": "林晓雨"}
TURN_KEYS = {"subject", "session", "external_id", "role", "speaker", "content", "timestamp"}
QUESTION_KEYS = {"id", "subject", "category", "question", "answer", "evidence"}
CATEGORIES = {"single", "multi", "temporal", "update", "zh"}
CJK = re.compile(r"[\u4e00-\u9fff]")

Row = dict[str, Any]


def read_turns(subject: str) -> list[Row]:
    lines = (DEMO / "dialogues" / f"{subject}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def read_questions() -> list[Row]:
    rows: list[Row] = json.loads((DEMO / "questions.json").read_text(encoding="utf-8"))
    return rows


def list_sessions(subject: str) -> list[list[Row]]:
    return [list(rows) for _, rows in groupby(read_turns(subject), key=lambda row: row["session"])]


def parse_time(row: Row) -> datetime:
    return datetime.fromisoformat(row["timestamp"])


def all_turns() -> dict[str, Row]:
    return {row["external_id"]: row for subject in PEOPLE for row in read_turns(subject)}


def test_there_is_one_file_per_person() -> None:
    assert {path.stem for path in (DEMO / "dialogues").glob("*.jsonl")} == set(PEOPLE)


@pytest.mark.parametrize("subject", PEOPLE)
def test_every_turn_has_exactly_the_promised_fields(subject: str) -> None:
    for row in read_turns(subject):
        assert set(row) == TURN_KEYS
        assert row["subject"] == subject
        assert row["content"] == row["content"].strip() != ""


@pytest.mark.parametrize("subject", PEOPLE)
def test_the_person_is_the_user_and_hub_the_assistant(subject: str) -> None:
    spoken = {(row["role"], row["speaker"]) for row in read_turns(subject)}
    assert spoken == {("user", PEOPLE[subject]), ("assistant", "Hub")}


@pytest.mark.parametrize("subject", PEOPLE)
def test_each_person_has_twelve_sessions_of_eight_to_fourteen_turns(subject: str) -> None:
    sizes = [len(session) for session in list_sessions(subject)]
    assert len(sizes) == 12
    assert all(8 <= size <= 14 for size in sizes)
    assert 110 <= sum(sizes) <= 130


@pytest.mark.parametrize("subject", PEOPLE)
def test_external_ids_number_the_sessions_and_their_turns(subject: str) -> None:
    for number, session in enumerate(list_sessions(subject), start=1):
        name = f"{subject}-{number:02d}"
        assert {row["session"] for row in session} == {name}
        expected = [f"{name}-{turn:02d}" for turn in range(1, len(session) + 1)]
        assert [row["external_id"] for row in session] == expected


def test_external_ids_are_unique_over_all_people() -> None:
    total = sum(len(read_turns(subject)) for subject in PEOPLE)
    assert len(all_turns()) == total


@pytest.mark.parametrize("subject", PEOPLE)
def test_time_only_moves_forward(subject: str) -> None:
    for earlier, later in pairwise(read_turns(subject)):
        assert parse_time(earlier) < parse_time(later), later["external_id"]


@pytest.mark.parametrize("subject", PEOPLE)
def test_dates_lie_in_2026_over_at_least_eight_months(subject: str) -> None:
    turns = read_turns(subject)
    first, last = parse_time(turns[0]), parse_time(turns[-1])
    assert datetime(2026, 1, 1, tzinfo=UTC) <= first
    assert last < datetime(2026, 11, 1, tzinfo=UTC)
    assert (last - first).days >= 240


@pytest.mark.parametrize("subject", PEOPLE)
def test_a_turn_has_the_same_date_at_home_and_in_utc(subject: str) -> None:
    for row in read_turns(subject):
        assert parse_time(row).date() == parse_time(row).astimezone(UTC).date(), row["external_id"]


@pytest.mark.parametrize("subject", PEOPLE)
def test_a_session_lasts_less_than_half_an_hour(subject: str) -> None:
    for session in list_sessions(subject):
        assert (parse_time(session[-1]) - parse_time(session[0])).total_seconds() < 1800


@pytest.mark.parametrize("subject", PEOPLE)
def test_the_person_begins_hub_ends_and_answers_each_message(subject: str) -> None:
    for session in list_sessions(subject):
        roles = [row["role"] for row in session]
        assert (roles[0], roles[-1]) == ("user", "assistant")
        assert all(len(list(run)) <= 2 for role, run in groupby(roles) if role == "user")
        assert all(len(list(run)) == 1 for role, run in groupby(roles) if role == "assistant")


def test_lin_and_hub_speak_chinese_and_the_others_do_not() -> None:
    for row in all_turns().values():
        assert bool(CJK.search(row["content"])) == (row["subject"] == "lin"), row["external_id"]


@pytest.mark.parametrize("subject", PEOPLE)
def test_nothing_is_said_twice_word_for_word(subject: str) -> None:
    counts = Counter(row["content"] for row in read_turns(subject))
    assert [text for text, count in counts.items() if count > 1] == []


def test_lisbon_is_left_for_the_live_demonstration() -> None:
    assert not [row for row in all_turns().values() if "lisbo" in row["content"].lower()]


def test_the_address_to_forget_stands_in_one_turn_only() -> None:
    holders = [key for key, row in all_turns().items() if "Alder" in row["content"]]
    assert holders == ["marcus-02-03"]
    assert "forget my address" in all_turns()["marcus-08-07"]["content"]


def test_a_question_has_exactly_the_promised_fields() -> None:
    for question in read_questions():
        assert set(question) == QUESTION_KEYS
        assert question["category"] in CATEGORIES
        assert question["question"].endswith(("?", "？"))
        assert question["answer"]


def test_question_ids_are_unique_and_start_with_their_subject() -> None:
    questions = read_questions()
    assert len({question["id"] for question in questions}) == len(questions)
    assert all(question["id"].startswith(f"{question['subject']}-q") for question in questions)


def test_there_are_about_forty_questions_with_some_of_every_category() -> None:
    counts = Counter(question["category"] for question in read_questions())
    assert 38 <= counts.total() <= 45
    assert all(counts[category] >= 4 for category in CATEGORIES)


def test_chinese_questions_are_those_about_lin() -> None:
    for question in read_questions():
        assert (question["category"] == "zh") == (question["subject"] == "lin")
        assert bool(CJK.search(question["question"])) == (question["subject"] == "lin")


def test_evidence_is_said_by_the_subject_of_the_question() -> None:
    turns = all_turns()
    for question in read_questions():
        assert question["evidence"] == sorted(set(question["evidence"])) != []
        for external_id in question["evidence"]:
            row = turns[external_id]
            assert (row["subject"], row["role"]) == (question["subject"], "user")


def test_a_multi_question_needs_more_than_one_turn() -> None:
    multi = [row for row in read_questions() if row["category"] == "multi"]
    assert all(len(question["evidence"]) >= 2 for question in multi)


def test_every_turn_the_readme_points_at_exists() -> None:
    readme = (DEMO / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:ana|marcus|lin)-\d\d-\d\d)`", readme))
    assert len(named) > 30
    assert named <= set(all_turns())


def test_the_readme_shows_a_line_as_it_is_in_the_file() -> None:
    readme = (DEMO / "README.md").read_text(encoding="utf-8")
    block = re.search(r"```json\n(.+)\n```", readme)
    assert block is not None
    shown = json.loads(block.group(1))
    kept = all_turns()[shown["external_id"]]
    assert {**kept, "content": shown["content"]} == shown
