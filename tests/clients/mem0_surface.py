"""Run with a released `mem0ai` 2 on the path: what its callers lean on beyond the plain calls.

Arguments: `sync` or `async`, then the parts to run."""

from __future__ import annotations

import json
import sys
from typing import Any

from mem0 import MemoryClient
from mem0.client.types import (
    AddMemoryOptions,
    DeleteAllMemoryOptions,
    GetAllMemoryOptions,
    SearchMemoryOptions,
    UpdateMemoryOptions,
)
from mem0_twins import make_client

MINE = {"user_id": "ana"}
PROFILE = {
    "type": "object",
    "properties": {
        "home_city": {"type": "string", "description": "Where they live"},
        "age": {"type": "integer", "description": "How old they are"},
        "shoe_size": {"type": "number", "description": "Their size"},
        "memories": {"type": "array", "items": {"type": "string"}, "description": "All of them"},
    },
}


def catch_error(call: Any, *args: Any, **kwargs: Any) -> list[str]:
    """The name of the client's own error, and its words; nothing where it passes."""
    try:
        call(*args, **kwargs)
    except Exception as error:
        return [type(error).__name__, str(error)]
    return []


def list_texts(client: MemoryClient, **filters: Any) -> list[str]:
    found = client.get_all(filters=filters or {"user_id": "*"})["results"]
    return sorted(item["memory"] for item in found)


def keep(client: MemoryClient, text: str, **whose: Any) -> str:
    return str(client.add(text, infer=False, **whose)["results"][0]["id"])


def use_typed_options(client: MemoryClient) -> dict[str, Any]:
    """Each call takes an object of options in place of keywords."""
    options = AddMemoryOptions(filters=MINE, infer=False, expiration_date="2090-01-31")
    made = client.add("The blue key opens the shed.", options=options)["results"][0]["id"]
    told = {"kept": client.get(made)}
    client.update(made, options=UpdateMemoryOptions(timestamp="2026-05-01T08:00:00Z"))
    told["dated"] = client.get(made)
    wanted = SearchMemoryOptions(filters=MINE, top_k=1, rerank=True, reference_date=1_900_000_000)
    told["found"] = client.search("what opens the shed", options=wanted)
    told["listed"] = client.get_all(options=GetAllMemoryOptions(filters=MINE, page_size=1))
    client.delete_all(options=DeleteAllMemoryOptions(filters=MINE))
    told["left"] = list_texts(client)
    return told


def delete_narrowly(client: MemoryClient) -> dict[str, Any]:
    """What is deleted is what was asked for, and nothing else."""
    keep(client, "Red.", user_id="ana", metadata={"team": "red"})
    keep(client, "Blue.", user_id="ana", metadata={"team": "blue"})
    keep(client, "Run.", user_id="ana", run_id="r1")
    keep(client, "Agent.", agent_id="bot")
    keep(client, "Other.", user_id="rui")
    told = {"unknown": catch_error(client.delete_all, user_id="ana", colour="red")}
    told["both"] = catch_error(client.delete_all, user_id="ana", filters={"run_id": "r1"})
    told["after_run"] = list_texts(client)
    client.delete_all(user_id="ana", metadata=json.dumps({"team": "red"}))
    told["after_metadata"] = list_texts(client)
    told["empty"] = catch_error(client.delete_all, user_id="")
    told["nothing"] = catch_error(client.delete_all)
    client.delete_all(user_id="*")
    told["after_users"] = list_texts(client, agent_id="*")
    client.delete_all(user_id="*", agent_id="*", app_id="*", run_id="*")
    told["after_all"] = list_texts(client, agent_id="*")
    return told


def send_pictures(client: MemoryClient) -> dict[str, Any]:
    picture = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    words = {"type": "text", "text": "The gate is green."}
    beside = client.add([{"role": "user", "content": [words, picture]}], user_id="eva", infer=False)
    apart = client.add(
        [{"role": "user", "content": "The roof is red."}, {"role": "user", "content": picture}],
        user_id="eva",
        infer=False,
    )
    alone = catch_error(client.add, [{"role": "user", "content": picture}], user_id="eva")
    texts = list_texts(client, user_id="eva")
    return {"beside": beside, "apart": apart, "alone": alone, "texts": texts}


def read_as_schema(client: MemoryClient) -> dict[str, Any]:
    """Exports, summaries and profiles."""
    said = [{"role": "user", "content": "I live in Lisbon. I am 34 years old."}]
    client.client.post(
        "/v1/memories/", json={"messages": said, "user_id": "mia", "async_mode": False}
    )
    made = client.create_memory_export(schema=json.dumps(PROFILE), filters={"user_id": "mia"})
    told = {"export": client.get_memory_export(memory_export_id=made["id"])}
    told["summary"] = client.get_summary(filters={"user_id": "mia"})
    told["narrow"] = client.get_summary(filters={"AND": [{"user_id": "mia"}, {"run_id": "r"}]})
    told["everybody"] = client.get_summary()
    told["settings"] = client.get_profile_settings()
    told["set"] = client.update_profile_settings(schema=PROFILE)
    told["steered"] = catch_error(client.update_profile_settings, custom_instructions="Be brief.")
    told["profile"] = client.get_profile("mia")
    told["nobody"] = catch_error(client.get_profile, "nobody")
    job = client.generate_profile("mia")
    told["job"], told["done"] = job, client.get_profile_job(job["status_url"])
    told["by_id"] = client.get_profile_job(job["job_id"])
    told["sampled"] = client.sample_profiles(limit=1)
    return told


def use_project(client: MemoryClient) -> dict[str, Any]:
    project = client.project
    told: dict[str, Any] = {"first": project.add_member("ida@example.org", "OWNER")}
    told["added"] = project.add_member("eva@example.org", "READER")
    told["again"] = catch_error(project.add_member, "eva@example.org")
    told["after"] = project.get_members()
    told["raised"] = project.update_member("eva@example.org", "OWNER")
    told["removed"] = project.remove_member("eva@example.org")
    told["stranger"] = catch_error(project.remove_member, "eva@example.org")
    told["last"] = catch_error(project.remove_member, "ida@example.org")
    told["left"] = project.get_members()
    told["steered"] = catch_error(project.update, custom_instructions="Only food.")
    told["sorted"] = catch_error(project.update, custom_categories=[{"food": "Meals"}])
    told["followed"] = catch_error(project.update, multilingual=True)
    told["made"] = catch_error(project.create, "Another")
    told["ended"] = catch_error(project.delete)
    return told


def name_what_is_ignored(client: MemoryClient) -> dict[str, Any]:
    asked = {"includes": "food", "custom_instructions": "x", "colour": "red"}
    return {
        "add": client.add("It rains.", user_id="zoe", infer=False, **asked)["ignored"],
        "search": client.search("rain", filters={"user_id": "zoe"}, rerank=True, mood=1)["ignored"],
        "list": client.get_all(filters={"user_id": "zoe"}, mood=1)["ignored"],
        "plain": "ignored" in client.search("rain", filters={"user_id": "zoe"}, latest_only=True),
    }


def main() -> None:
    client = make_client(sys.argv[1] == "async")
    parts: dict[str, Any] = {
        "options": use_typed_options,
        "deletes": delete_narrowly,
        "pictures": send_pictures,
        "schema": read_as_schema,
        "project": use_project,
        "ignored": name_what_is_ignored,
    }
    told = {name: parts[name](client) for name in sys.argv[2:]}
    json.dump(told, sys.stdout)


main()
