"""Which model is asked for which purpose, and that the chat's questions are accounted for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from memoryhub.engines.types import Quote
from memoryhub.models_in_use import engine_for
from memoryhub.policies.services import policy_of, set_policy
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant, ensure_space
from tests.support.openai_server import OpenAIServer

pytestmark = pytest.mark.django_db


@pytest.fixture
def server(settings: Any) -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        settings.OPENAI_BASE_URL, settings.LLM_MODEL = running.url, "large"
        yield running


def test_a_purpose_is_asked_of_the_model_that_the_policy_names(server: OpenAIServer) -> None:
    tenant = create_tenant("One", "one", engine=Tenant.Engine.LLM)
    set_policy(tenant.id, actor="ana", overrides={"llm.model.answer": "small"})
    with tenant_scope(tenant.id):
        policy = policy_of(ensure_space(tenant.id, "Ana")).policy
    engine = engine_for(tenant, policy)
    server.chat(
        json.dumps({"answer": "Porto.", "used": ["m1"], "known": True}),
        json.dumps({"summary": "Ana lives in Porto."}),
    )
    engine.answer("Where?", [Quote("Ana lives in Porto.", None)])
    engine.summarise(["Ana lives in Porto."])
    assert [request.body["model"] for request in server.requests] == ["small", "large"]
    assert engine_for(tenant, policy) is engine


def test_a_local_tenant_asks_no_model_whatever_the_policy_names() -> None:
    tenant = create_tenant("One", "one")
    set_policy(tenant.id, actor="ana", overrides={"llm.model.answer": "small"})
    with tenant_scope(tenant.id):
        policy = policy_of(ensure_space(tenant.id, "Ana")).policy
    assert engine_for(tenant, policy).name == "local"
