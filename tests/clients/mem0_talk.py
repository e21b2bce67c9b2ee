"""Run with a released `mem0ai` on the path: everything its client can do, as JSON;
with the argument `async`, its asynchronous one."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import mem0
from mem0 import MemoryClient
from mem0_twins import HOST, make_client

MINE = {"user_id": "ana"}


def wait_for_event(client: MemoryClient, added: dict[str, Any]) -> dict[str, Any]:
    """The event of an add, once the hub has read it."""
    for _ in range(300):
        event = client.client.get(f"/v1/event/{added['event_id']}/").json()
        if event["status"] in ("SUCCEEDED", "FAILED"):
            return dict(event)
        time.sleep(0.1)
    raise TimeoutError(event)


def catch_error(call: Any, *args: Any, **kwargs: Any) -> list[str]:
    """The name of the client's own error, and its words."""
    try:
        call(*args, **kwargs)
    except Exception as error:
        return [type(error).__name__, str(error)]
    return []


def send_feedback(client: MemoryClient, memory_id: str) -> dict[str, Any]:
    """Version 1.0.11 trips over a call of its own telemetry, once it has the answer."""
    if not mem0.__version__.startswith("1."):
        return dict(client.feedback(memory_id, "POSITIVE", "Right."))
    body = {"memory_id": memory_id, "feedback": "POSITIVE"}
    return dict(client.client.post("/v1/feedback/", json=body).json())


def use_webhooks(client: MemoryClient) -> dict[str, Any]:
    """A webhook is made, listed, changed and deleted."""
    project = client.client.get("/v1/ping/").json()["project_id"]
    made = client.create_webhook("https://hooks.example.org/", "n", project, ["memory_add"])
    changed = client.update_webhook(made["webhook_id"], name="n2")
    listed = client.get_webhooks(project)
    gone = client.delete_webhook(made["webhook_id"])
    private = catch_error(client.create_webhook, "https://10.0.0.1/", "n", project, ["memory_add"])
    return {
        "made": made,
        "changed": changed,
        "listed": listed,
        "gone": gone,
        "left": client.get_webhooks(project),
        "private": private,
    }


def use_client(client: MemoryClient) -> dict[str, Any]:
    said = [{"role": "user", "content": "I live in Lisbon."}]
    told: dict[str, Any] = {}
    added = client.add(said, user_id="ana", agent_id="bot", metadata={"k": 1})
    told["added"], told["event"] = added, wait_for_event(client, added)
    kept = client.add("The blue key opens the shed.", user_id="ana", run_id="r1", infer=False)
    told["kept"] = kept
    memory_id = kept["results"][0]["id"]
    told["search"] = client.search("where does Ana live", filters=MINE)
    narrow = {"AND": [MINE, {"run_id": "r1"}]}
    told["narrow"] = client.search("what opens the shed", filters=narrow, top_k=3)
    told["all"] = client.get_all(filters=MINE, page=1, page_size=10)
    told["get"] = client.get(memory_id)
    told["updated"] = client.update(memory_id, text="The red key opens the shed.")
    told["history"] = client.history(memory_id)
    told["users"] = client.users()
    change = [{"memory_id": memory_id, "text": "The green key opens the shed."}]
    told["batch_update"] = client.batch_update(change)
    told["after_batch"] = client.get(memory_id)
    told["feedback"] = send_feedback(client, memory_id)
    export = client.create_memory_export(schema="{}", filters=MINE)
    told["export"] = client.get_memory_export(memory_export_id=export["id"])
    told["summary"] = client.get_summary(filters=MINE)
    client.project.update(multilingual=True)
    told["steered"] = catch_error(client.project.update, custom_instructions="Only food.")
    client.update_project(multilingual=True)
    told["name"] = client.get_project(fields=["name"])
    told["project"] = client.project.get(fields=["multilingual", "custom_instructions"])
    told["hooks"] = use_webhooks(client)
    told["chat"] = catch_error(client.chat)
    told["deleted"] = client.delete(memory_id)
    told["gone"] = catch_error(client.get, memory_id)
    told["wrong"] = catch_error(client.search, "x", filters={"AND": [MINE, {"colour": "red"}]})
    spare = client.add("A spare one.", user_id="ana", infer=False)["results"][0]["id"]
    told["batch_delete"] = client.batch_delete([{"memory_id": spare}])
    told["delete_all"] = client.delete_all(user_id="ana")
    told["none"] = client.get_all(filters=MINE)
    client.add("The gate is green.", user_id="rui", infer=False)
    told["forgotten"] = client.delete_users(user_id="rui")
    told["reset"] = client.reset()
    told["nobody"] = client.users()
    return told


def main() -> None:
    told = use_client(make_client(sys.argv[1:] == ["async"]))
    told["bad_key"] = catch_error(MemoryClient, api_key="m0-nothing", host=HOST)
    json.dump(told, sys.stdout)


main()
