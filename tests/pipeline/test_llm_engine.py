"""A tenant whose dialogue is read by a model, through the real client and a scripted server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from memoryhub.dialogues.messages import Message
from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.ingest.services import IngestRequest
from memoryhub.pipeline.models import Job
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant
from notes.models import Fact
from tests.support.ingest import ingest_and_wait
from tests.support.openai_server import OpenAIServer, ScriptedReply

pytestmark = pytest.mark.django_db

AT = datetime(2026, 3, 4, 18, tzinfo=UTC)
READING = {
    "changes": [
        {
            "do": "add",
            "targets": [],
            "source": "t1",
            "quote": "I live in Porto",
            "owner": "Ana",
            "text": "Ana lives in Porto.",
            "relation": "lives_in",
            "value": "Porto",
            "state": "now",
            "from": "",
            "to": "",
            "one_at_a_time": True,
        }
    ],
    "entities": [],
    "relations": [],
    "note": {"keywords": ["home"], "tags": ["living"], "context": "Where Ana lives."},
}


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running


@pytest.fixture
def tenant(server: OpenAIServer, settings: Any) -> Tenant:
    settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = server.url, "k"
    settings.LLM_MODEL = "scripted"
    return create_tenant("One", "one", engine=Tenant.Engine.LLM)


def ingest_text(tenant: Tenant, text: str) -> Job:
    done = ingest_and_wait(tenant.id, IngestRequest("ana", [Message("user", text, "Ana", AT)]), 5)
    assert done.job is not None
    return done.job


def test_the_models_facts_are_kept_with_its_name(tenant: Tenant, server: OpenAIServer) -> None:
    server.script_chat(json.dumps(READING), json.dumps({"summary": "Ana lives in Porto."}))
    job = ingest_text(tenant, "I live in Porto.")
    assert job.state == Job.State.DONE, job.error
    with tenant_scope(tenant.id):
        fact = Fact.objects.get()
    assert fact.text == "Ana lives in Porto."
    assert fact.engine.startswith("llm")
    assert "I live in Porto." in server.requests[0].text


def test_M7_E12_prose_fails_the_job_and_is_never_no_facts(
    tenant: Tenant, server: OpenAIServer
) -> None:
    server.script_chat("Sure! Here are the facts.", "I'm sorry, I can't do that.")
    job = ingest_text(tenant, "I live in Porto.")
    assert job.state == Job.State.RETRY
    with tenant_scope(tenant.id):
        assert Fact.objects.count() == 0
        assert Turn.objects.get().state == Turn.State.PENDING


def test_X14_a_provider_that_is_down_delays_and_loses_nothing(
    tenant: Tenant, server: OpenAIServer
) -> None:
    server.script_chat(*[ScriptedReply(status=503)] * 8)
    assert ingest_text(tenant, "I live in Porto.").state == Job.State.RETRY
    with tenant_scope(tenant.id):
        assert Turn.objects.count() == 1


def test_a_wrong_key_is_given_up_and_says_why(tenant: Tenant, server: OpenAIServer) -> None:
    server.script_chat(ScriptedReply(status=401))
    job = ingest_text(tenant, "I live in Porto.")
    assert job.state == Job.State.DEAD
    assert "401" in job.error or "key" in job.error
