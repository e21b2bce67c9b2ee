"""LongMemEval's published format, as a small file of our own."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from benchmarks.haystacks import build_haystacks
from memoryhub.errors import InvalidInput
from memoryhub.lab.datasets.read import count_by_category, read_dataset, read_dataset_dialogues
from tests.lab.test_datasets import LOCOMO, write_data_file


def make_row(**given: Any) -> dict[str, Any]:
    known: dict[str, Any] = {
        "question_id": "q1",
        "question_type": "multi-session",
        "question": "How many boats do I own?",
        "answer": 2,
        "question_date": "2026/06/10 (Wed) 18:00",
        "haystack_session_ids": ["late", "early"],
        "haystack_dates": ["2026/06/03 (Wed) 13:05", "2026/05/08 (Fri) 09:30"],
        "haystack_sessions": [
            [
                {"role": "user", "content": "I bought a second boat.", "has_answer": True},
                {"role": "assistant", "content": "How nice."},
            ],
            [
                {"role": "user", "content": " "},
                {"role": "user", "content": "I bought a boat.", "has_answer": True},
                {"role": "assistant", "content": "Congratulations!", "has_answer": False},
            ],
        ],
        "answer_session_ids": ["late", "early"],
    }
    return known | given


def test_sessions_come_in_the_order_of_their_dates_with_ids_by_place(tmp_path: Path) -> None:
    (dialogue,) = read_dataset_dialogues(write_data_file(tmp_path, "s.json", [make_row()]))
    first, second = dialogue.conversation.sessions
    assert [first.name, second.name] == ["001-early", "002-late"]
    assert [m.external_id for m in first.messages] == ["D1:2", "D1:3"]
    assert first.messages[0].timestamp == datetime(2026, 5, 8, 9, 30, 2, tzinfo=UTC)
    assert [m.role for m in second.messages] == ["user", "assistant"]


def test_evidence_is_the_turns_that_hold_the_answer(tmp_path: Path) -> None:
    (dialogue,) = read_dataset_dialogues(write_data_file(tmp_path, "s.json", [make_row()]))
    (question,) = dialogue.questions
    assert question.evidence == {"D1:2", "D2:1"}
    assert (question.expected, question.category, question.unanswerable) == ("2", 4, False)
    assert question.asked_at == datetime(2026, 6, 10, 18, tzinfo=UTC)


def test_an_id_that_ends_in_abs_has_no_answer(tmp_path: Path) -> None:
    (dialogue,) = read_dataset_dialogues(
        write_data_file(tmp_path, "s.json", [make_row(question_id="q1_abs")])
    )
    assert dialogue.questions[0].unanswerable


def test_the_set_is_told_by_its_shape_and_counted_by_type(tmp_path: Path) -> None:
    rows = [make_row(), make_row(question_id="q2", question_type="knowledge-update")]
    data = read_dataset(write_data_file(tmp_path, "longmemeval_s.json", rows))
    assert (data.form, data.name, len(data.sha256)) == ("longmemeval", "longmemeval_s.json", 64)
    assert count_by_category(q for d in data.dialogues for q in d.questions) == {4: 1, 6: 1}


def test_haystacks_made_of_locomo_name_the_turns_that_answer(tmp_path: Path) -> None:
    told = read_dataset_dialogues(write_data_file(tmp_path, "l.json", LOCOMO))
    rows = list(build_haystacks(told, questions=9, sessions=1, seed=0))
    found = read_dataset_dialogues(write_data_file(tmp_path, "hay.json", rows))
    assert found
    for dialogue in found:
        (question,) = dialogue.questions
        (asked,) = (q for q in told[0].questions if q.text == question.text)
        said = {
            m.external_id: m.content for s in dialogue.conversation.sessions for m in s.messages
        }
        original = {m.external_id: m for s in told[0].conversation.sessions for m in s.messages}
        assert {said[ref] for ref in question.evidence} == {
            f"{original[ref].speaker}: {original[ref].content}" for ref in asked.evidence
        }


@pytest.mark.parametrize(
    "broken",
    [
        {"question_type": "riddle"},
        {"haystack_dates": ["2026/06/03 (Wed) 13:05"]},
        {"haystack_dates": ["yesterday", "today"]},
        {"haystack_sessions": [[{"role": "user"}], []]},
        {"haystack_sessions": 7},
    ],
)
def test_what_is_not_as_published_is_refused(tmp_path: Path, broken: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="longmemeval"):
        read_dataset_dialogues(write_data_file(tmp_path, "s.json", [make_row(**broken)]))
