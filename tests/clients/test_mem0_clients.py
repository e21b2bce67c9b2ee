"""The released clients of mem0, unchanged, against a live server."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.clients.conftest import HERE, ClientRunner

both_kinds = pytest.mark.parametrize("kind", ["sync", "async"])


def list_memories(answer: dict[str, Any]) -> list[str]:
    return [item["memory"] for item in answer["results"]]


def use_surface(talker: ClientRunner, kind: str, *parts: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(
        talker.run_python("mem0-2", HERE / "mem0_surface.py", kind, *parts)
    )
    return told


def list_names(answer: dict[str, Any]) -> set[tuple[str, str]]:
    return {(each["type"], each["name"]) for each in answer["results"]}


@pytest.mark.parametrize("client", [("mem0-1",), ("mem0-2",), ("mem0-2", "async")])
def test_the_python_client_does_all_it_can(talker: ClientRunner, client: tuple[str, ...]) -> None:
    version, *words = client
    told = json.loads(talker.run_python(version, HERE / "mem0_talk.py", *words))
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
    assert told["steered"][0] == "ValidationError"
    assert told["project"] == {"multilingual": True, "custom_instructions": None}
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
    assert told["chat"][0] == "NotImplementedError"
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
    assert told["steered"][0] == "ValidationError"
    assert told["project"] == {"multilingual": True, "customInstructions": None}
    assert (told["profile"]["status"], told["job"]["job"]["status"]) == ("succeeded", "succeeded")
    assert told["profile"]["profile"]["homeCity"] == "Lisbon"
    assert told["profileSettings"]["entities"]["user"]["schema"] == told["schema"]
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
    assert told["settings"]["enabled"] is True
    assert told["sampled"]["entityIds"] == ["ana"]


@both_kinds
def test_what_callers_lean_on_beyond_the_plain_calls(talker: ClientRunner, kind: str) -> None:
    told = use_surface(talker, kind, "options", "deletes", "pictures", "ignored")
    options = told["options"]
    assert (options["kept"]["lifecycle_state"], options["kept"]["expiration_date"]) == (
        "active",
        "2090-01-31",
    )
    assert options["dated"]["created_at"].startswith("2026-05-01T08:00:00")
    assert list_memories(options["found"]) == ["The blue key opens the shed."]
    assert list_memories(options["listed"]) == ["The blue key opens the shed."]
    assert options["left"] == []
    deletes = told["deletes"]
    assert deletes["unknown"] == [
        "ValidationError",
        "nothing is chosen by colour; known: user_id, agent_id, app_id, run_id, metadata, filters",
    ]
    assert deletes["both"] == []
    assert deletes["after_run"] == ["Blue.", "Other.", "Red."]
    assert deletes["after_metadata"] == ["Blue.", "Other."]
    assert [deletes[name][0] for name in ("empty", "nothing")] == ["ValidationError"] * 2
    assert deletes["after_users"] == ["Agent."]
    assert deletes["after_all"] == []
    pictures = told["pictures"]
    assert pictures["beside"]["ignored"] == ["messages[0].content[1]"]
    assert pictures["apart"]["ignored"] == ["messages[1].content"]
    assert pictures["alone"][0] == "ValidationError"
    assert pictures["texts"] == ["The gate is green.", "The roof is red."]
    assert told["ignored"] == {
        "add": ["colour", "custom_instructions", "includes"],
        "search": ["mood", "rerank"],
        "list": ["mood"],
        "plain": False,
    }


@both_kinds
def test_exports_summaries_and_profiles(talker: ClientRunner, kind: str) -> None:
    told = use_surface(talker, kind, "schema")["schema"]
    export = told["export"]
    assert (export["home_city"], export["age"], export["shoe_size"]) == ("Lisbon", 34, None)
    assert sorted(export["memories"]) == sorted(told["summary"]["summary"].splitlines())
    assert told["narrow"]["summary"] == ""
    assert "mia" in {each["user_id"] for each in told["everybody"]["results"]}
    assert told["settings"]["entities"]["user"]["schema"] is None
    assert "home_city" in told["set"]["entities"]["user"]["schema"]["properties"]
    assert told["steered"][0] == "ValidationError"
    assert told["profile"]["status"] == "succeeded"
    assert told["profile"]["profile"] == export
    assert told["nobody"][0] == "MemoryNotFoundError"
    assert told["done"]["job"]["status"] == "succeeded"
    assert told["done"] == told["by_id"]
    assert (told["sampled"]["sampled"], len(told["sampled"]["entity_ids"])) == (1, 1)


@both_kinds
def test_members_are_the_people_of_the_tenant(talker: ClientRunner, kind: str) -> None:
    told = use_surface(talker, kind, "project")["project"]
    assert told["added"]["password"]
    assert [(each["email"], each["role"]) for each in told["after"]["members"]] == [
        ("eva@example.org", "READER"),
        ("ida@example.org", "OWNER"),
    ]
    assert [each["email"] for each in told["left"]["members"]] == ["ida@example.org"]
    assert told["stranger"][0] == "MemoryNotFoundError"
    assert told["last"][0] == told["again"][0] == "ValidationError"
    assert "custom_instructions" in told["steered"][1]
    assert "custom_categories" in told["sorted"][1]
    assert told["followed"] == []
    assert "create_tenant" in told["made"][1]
    assert told["ended"][0] == "ValidationError"
