"""The released clients of mem0, unchanged, against a live server."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.clients.conftest import ClientRunner


def list_memories(answer: dict[str, Any]) -> list[str]:
    return [item["memory"] for item in answer["results"]]


def list_names(answer: dict[str, Any]) -> set[tuple[str, str]]:
    return {(each["type"], each["name"]) for each in answer["results"]}


@pytest.mark.parametrize("version", ["mem0-1", "mem0-2"])
def test_the_python_client_does_all_it_can(talker: ClientRunner, version: str) -> None:
    told = json.loads(talker.run_python(version))
    assert told["added"]["status"] == "PENDING"
    (made,) = told["event"]["results"]
    assert (told["event"]["status"], made["event"]) == ("SUCCEEDED", "ADD")
    assert told["kept"]["results"][0]["data"] == {"memory": "The blue key opens the shed."}
    best = told["search"]["results"][0]
    assert ("Lisbon" in best["memory"], best["agent_id"], best["metadata"]) == (
        True,
        "bot",
        {"k": 1},
    )
    assert list_memories(told["narrow"]) == ["The blue key opens the shed."]
    assert told["all"]["count"] == 2
    assert (told["get"]["user_id"], told["get"]["run_id"]) == ("ana", "r1")
    assert told["updated"]["memory"] == "The red key opens the shed."
    assert [each["event"] for each in told["history"]] == ["ADD", "UPDATE"]
    assert list_names(told["users"]) == {("user", "ana"), ("agent", "bot"), ("run", "r1")}
    assert told["after_batch"]["memory"] == "The green key opens the shed."
    assert told["feedback"]["feedback"] == "POSITIVE"
    assert len(told["export"]["memories"]) == 2
    assert told["project"] == {"custom_instructions": "Only food."}
    made, (listed,) = told["hooks"]["made"], told["hooks"]["listed"]
    assert (made["event_types"], made["is_active"]) == (["memory_add"], True)
    assert (listed["webhook_id"], listed["name"]) == (made["webhook_id"], "n2")
    assert told["hooks"]["gone"] == {"message": "Webhook deleted successfully"}
    assert told["hooks"]["left"] == []
    assert told["hooks"]["private"][0] == "ValidationError"
    assert told["deleted"]["cascade_count"] == 0
    assert told["gone"][0] == "MemoryNotFoundError"
    assert told["wrong"][0] == "ValidationError"
    assert "no such field" in told["wrong"][1]
    assert list_memories(told["none"]) == []
    assert list_names(told["nobody"]) == set()
    assert list_memories(told["async"]) == ["The gate is green."]
    assert "API key" in told["bad_key"][1]


def test_the_typescript_client_does_all_it_can(talker: ClientRunner) -> None:
    told = json.loads(talker.run_node())
    assert told["added"]["status"] == "PENDING"
    assert told["event"]["status"] == "SUCCEEDED"
    assert told["kept"]["results"][0]["data"] == {"memory": "The blue key opens the shed."}
    best = told["search"]["results"][0]
    assert ("Lisbon" in best["memory"], best["agentId"], best["metadata"]) == (
        True,
        "bot",
        {"k": 1},
    )
    assert list_memories(told["narrow"]) == ["The blue key opens the shed."]
    assert told["all"]["count"] == 2
    assert (told["get"]["userId"], told["get"]["runId"]) == ("ana", "r1")
    assert told["updated"]["memory"] == "The red key opens the shed."
    assert [each["event"] for each in told["history"]] == ["ADD", "UPDATE"]
    assert list_names(told["users"]) == {("user", "ana"), ("agent", "bot"), ("run", "r1")}
    assert told["afterBatch"]["memory"] == "The green key opens the shed."
    assert told["feedback"]["feedback"] == "POSITIVE"
    assert len(told["export"]["memories"]) == 2
    assert told["project"] == {"customInstructions": "Only food."}
    made, (listed,) = told["hooks"]["made"], told["hooks"]["listed"]
    assert (made["eventTypes"], made["isActive"]) == (["memory_add"], True)
    assert (listed["webhookId"], listed["name"]) == (made["webhookId"], "n2")
    assert told["hooks"]["gone"] == {"message": "Webhook deleted successfully"}
    assert told["hooks"]["left"] == []
    assert told["deleted"]["cascadeCount"] == 0
    assert told["gone"][0] == "MemoryNotFoundError"
    assert told["wrong"][0] == "ValidationError"
    assert list_memories(told["none"]) == []
    assert list_names(told["nobody"]) == set()
