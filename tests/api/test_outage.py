"""The provider is down: what is said is taken in, questions are answered, and it catches up."""

from __future__ import annotations

from typing import Any

from rest_framework.test import APIClient

from memoryhub.dialogues.models import Turn
from memoryhub.errors import EngineError
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_key
from notes.models import Fact
from tests.support.hub import ScriptedHub

DOWN = EngineError("The model endpoint cannot be reached", code="unreachable")


def make_outage_client(hub: ScriptedHub) -> APIClient:
    _, key = create_key(hub.tenant, "test", ["read", "write"])
    return APIClient(headers={"Authorization": f"Bearer {key}"})


def reply_fact_of_each(data: dict[str, Any]) -> dict[str, Any]:
    """A fact of each message."""
    facts = [
        {
            "text": f"Ana told: {m['text']}",
            "source": m["handle"],
            "owner": "Ana",
            "predicate": "told",
        }
        for m in data["messages"]
    ]
    return {"facts": facts}


def test_X14_E16_an_outage_is_no_outage_of_the_hub(hub: ScriptedHub) -> None:
    hub.set_policy(
        "mem0", episodes__rolling=False, route__mode="llm", judge__mode="llm",
        recall__channels=["facts", "raw"],
    )  # fmt: skip
    hub.model.allow(**dict.fromkeys(("construct", "extract_facts", "route", "judge"), DOWN))
    api = make_outage_client(hub)
    for number in range(3):
        said = {"content": f"I planted fig tree number {number}.", "speaker": "Ana"}
        answer = api.post("/api/v1/memories", {"subject": "Ana", "messages": [said]}, "json")
        assert answer.status_code in (201, 202)
    hub.now = hub.now.now(tz=hub.now.tzinfo)
    hub.run_due_jobs(hours=1)
    found = api.post("/api/v1/search", {"subject": "Ana", "query": "fig tree"}, "json")
    assert found.status_code == 200
    assert found.json()["degraded"] == ["router", "judge"]
    told = [item["text"] for item in found.json()["items"]]
    assert len(told) == 3
    assert all("fig tree" in text for text in told)
    with tenant_scope(hub.tenant.id):
        assert Turn.objects.filter(state=Turn.State.PENDING).count() == 3
        assert not Fact.objects.exists()

    hub.model.allow("resolve", construct=reply_fact_of_each, extract_facts=reply_fact_of_each)
    hub.run_due_jobs(hours=1)
    with tenant_scope(hub.tenant.id):
        assert not Turn.objects.filter(state=Turn.State.PENDING).exists()
        assert Fact.objects.count() == 3
