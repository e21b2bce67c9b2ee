from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memoryhub.errors import InvalidInput
from memoryhub.lab.datasets.read import parse_evidence_refs, read_dataset_dialogues

LOCOMO: list[dict[str, Any]] = [
    {
        "sample_id": "boats",
        "conversation": {
            "speaker_a": "Ana",
            "speaker_b": "Ben",
            "session_10_date_time": "1:05 pm on 3 June, 2026",
            "session_10": [{"speaker": "Ben", "dia_id": "D10:1", "text": "The mast broke."}],
            "session_2_date_time": "9:30 am on 8 May, 2026",
            "session_2": [
                {"speaker": "Ana", "dia_id": "D2:1", "text": "I bought a boat."},
                {
                    "speaker": "Ben",
                    "dia_id": "D2:2",
                    "text": "Look!",
                    "blip_caption": "a blue harbour",
                },
            ],
            "session_11_date_time": "1:05 pm on 4 June, 2026",
        },
        "qa": [
            {"question": "Who has a boat?", "category": 4, "evidence": ["D2:1"], "answer": "Ana"},
            {
                "question": "What of the boat and its mast?",
                "category": 1,
                "evidence": ["D2:1; D10:1"],
                "answer": 1,
            },
            {"question": "None?", "category": 5, "evidence": []},
            {"question": "Missing?", "category": 5},
        ],
    }
]
MEMORYBANK = {
    "Mei": {
        "name": "Mei",
        "history": "{'2026-05-02': [{'query': '我喜欢喝茶', 'response': '什么茶？'}], "
        "'2026-05-01': [{'query': '你好', 'response': ''}]}",
    }
}


def write_data_file(folder: Path, name: str, data: object) -> Path:
    path = folder / name
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def test_locomo_sessions_come_in_order_with_their_times(tmp_path: Path) -> None:
    (dialogue,) = read_dataset_dialogues(write_data_file(tmp_path, "l.json", LOCOMO))
    assert dialogue.name == "boats"
    assert [s.name for s in dialogue.conversation.sessions] == ["session_2", "session_10"]
    first, second = dialogue.conversation.sessions[0].messages
    assert (first.external_id, first.speaker) == ("D2:1", "Ana")
    assert first.timestamp == datetime(2026, 5, 8, 9, 30, tzinfo=UTC)
    assert second.content == "Look! [shares a blue harbour]"
    assert dialogue.turn_count == 3


def test_questions_without_evidence_are_kept_apart(tmp_path: Path) -> None:
    (dialogue,) = read_dataset_dialogues(write_data_file(tmp_path, "l.json", LOCOMO))
    assert [len(question.evidence) for question in dialogue.questions] == [1, 2, 0, 0]


@pytest.mark.parametrize(
    ("given", "refs"),
    [
        (["D8:6; D9:17"], {"D8:6", "D9:17"}),
        (["D:11:26"], {"D11:26"}),
        (["D30:05"], {"D30:5"}),
        (["D1:1", "D1:2"], {"D1:1", "D1:2"}),
        ("D4:2", {"D4:2"}),
        (["D"], set()),
        ([], set()),
        (None, set()),
    ],
)
def test_evidence_however_it_is_written(given: object, refs: set[str]) -> None:
    assert parse_evidence_refs(given) == refs


def test_memorybank_days_are_sessions_and_empty_sides_no_turns(tmp_path: Path) -> None:
    questions = tmp_path / "probing_questions_cn.jsonl"
    questions.write_text('{"Mei": ["我喜欢喝什么？"]}\n\n', encoding="utf-8")
    (dialogue,) = read_dataset_dialogues(
        write_data_file(tmp_path, "memory_bank_cn.json", MEMORYBANK)
    )
    (greeting,), (tea, reply) = (s.messages for s in dialogue.conversation.sessions)
    assert greeting.content == "你好"
    assert (tea.role, tea.speaker, reply.role) == ("user", "Mei", "assistant")
    assert [question.text for question in dialogue.questions] == ["我喜欢喝什么？"]


def test_memorybank_history_may_be_plain_json_and_without_questions(tmp_path: Path) -> None:
    data = {"Mei": {"history": {"2026-05-01": [{"query": "Hi", "response": "Hello"}]}}}
    (dialogue,) = read_dataset_dialogues(write_data_file(tmp_path, "memory_bank_en.json", data))
    assert (dialogue.turn_count, dialogue.questions) == (2, [])


@pytest.mark.parametrize("data", [[], {}, [{"a": 1}], {"a": {"b": 1}}, 3, "text"])
def test_other_shapes_are_refused(tmp_path: Path, data: object) -> None:
    with pytest.raises(InvalidInput):
        read_dataset_dialogues(write_data_file(tmp_path, "x.json", data))


def test_what_is_no_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text("{", encoding="utf-8")
    for bad in (path, tmp_path / "absent.json"):
        with pytest.raises(InvalidInput):
            read_dataset_dialogues(bad)
    with pytest.raises(InvalidInput) as unreadable:
        read_dataset_dialogues(path)
    assert str(tmp_path) not in unreadable.value.message  # the console shows it
