"""An agent's session with a scripted model, over the API alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from memoryhub.pipeline.jobs import runner
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_key
from tests.support.contract import ContractClient
from tests.support.hub import ScriptedHub


@dataclass
class RestAgent:
    """Ana's agent, whose answers are held to the OpenAPI description."""

    hub: ScriptedHub
    client: APIClient
    window_id: str = ""

    @property
    def path(self) -> str:
        return f"/api/v1/spaces/{self.hub.subject}/windows"

    def post(self, verb: str, status: int = 200, **body: Any) -> dict[str, Any]:
        answer = self.client.post(f"{self.path}/{verb}", body, format="json")
        assert answer.status_code == status, answer.content
        return dict(answer.json())

    def open(self, session: str = "talk", agent: str = "tutor") -> dict[str, Any]:
        opened = dict(self.post("open", session=session, agent=agent)["window"])
        self.window_id = opened["id"]
        return opened

    def append(self, *messages: dict[str, Any]) -> dict[str, Any]:
        return self.post(f"{self.window_id}/append", messages=list(messages))

    def step(self, *texts: str, **more: Any) -> dict[str, Any]:
        messages = [{"content": text} for text in texts]
        return self.post(f"{self.window_id}/step", messages=messages, **more)

    def read(self) -> dict[str, Any]:
        answer = self.client.get(f"{self.path}/{self.window_id}")
        assert answer.status_code == 200, answer.content
        return dict(answer.json())

    def run_due_jobs(self, **later: float) -> int:
        hub = self.hub
        return runner.drain_space(hub.tenant.id, hub.space.id, timezone.now() + timedelta(**later))


@pytest.fixture
def rest(hub: ScriptedHub) -> RestAgent:
    hub.tenant.engine = Tenant.Engine.LLM
    with tenant_scope(hub.tenant.id):
        hub.tenant.save()
    hub.set_policy("memgpt")
    assert hub.space.subject == hub.subject
    _, key = create_key(hub.tenant, "agent", ["read", "write", "admin"])
    return RestAgent(hub, ContractClient(headers={"Authorization": f"Bearer {key}"}))


@pytest.fixture
def call() -> Callable[..., dict[str, Any]]:
    """A model's reply that calls a tool."""

    def make(tool: str, /, **arguments: Any) -> dict[str, Any]:
        return {"tool": tool, "arguments": arguments, "text": ""}

    return make
