"""Which model is asked for which purpose, and that the chat's questions are accounted for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from memoryhub.dialogues.messages import Message
from memoryhub.engines.types import Quote
from memoryhub.errors import EngineError
from memoryhub.inference.ledger import open_ledger
from memoryhub.inference.models import ModelCall
from memoryhub.inference.prices import parse_prices
from memoryhub.inference.selection import select_engine
from memoryhub.pipeline.ingest.services import IngestRequest, ingest_messages
from memoryhub.pipeline.jobs.runner import drain_space
from memoryhub.policies.services import load_effective_policy, set_policy
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant, ensure_space
from notes.models import Fact
from tests.support.openai_server import OpenAIServer, ScriptedReply

pytestmark = pytest.mark.django_db

AT = datetime(2026, 5, 12, 9, tzinfo=UTC)


@pytest.fixture
def server(settings: Any) -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        settings.OPENAI_BASE_URL, settings.LLM_MODEL = running.url, "large"
        yield running


def test_a_purpose_is_asked_of_the_model_that_the_policy_names(server: OpenAIServer) -> None:
    tenant = create_tenant("One", "one", engine=Tenant.Engine.LLM)
    set_policy(tenant.id, actor="ana", overrides={"llm.model.answer": "small"})
    with tenant_scope(tenant.id):
        policy = load_effective_policy(ensure_space(tenant.id, "Ana")).policy
    engine = select_engine(tenant, policy)
    server.script_chat(
        json.dumps({"answer": "Porto.", "used": ["m1"], "known": True}),
        json.dumps({"summary": "Ana lives in Porto."}),
    )
    engine.answer_question("Where?", [Quote("Ana lives in Porto.", None)])
    engine.summarise_texts(["Ana lives in Porto."])
    assert [request.body["model"] for request in server.requests] == ["small", "large"]
    assert select_engine(tenant, policy) is engine


def test_a_local_tenant_asks_no_model_whatever_the_policy_names() -> None:
    tenant = create_tenant("One", "one")
    set_policy(tenant.id, actor="ana", overrides={"llm.model.answer": "small"})
    with tenant_scope(tenant.id):
        policy = load_effective_policy(ensure_space(tenant.id, "Ana")).policy
    assert select_engine(tenant, policy).name == "local"


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (ScriptedReply(content='{"summary": "Ana li', finish_reason="length"), "reply_cut"),
        (ScriptedReply(content=None, refusal="I can't help with that."), "refused"),
        (ScriptedReply(content="", finish_reason="content_filter"), "refused"),
    ],
)
def test_E15_what_was_cut_off_or_refused_is_paid_for(
    server: OpenAIServer, settings: Any, reply: ScriptedReply, code: str
) -> None:
    settings.MODEL_PRICES = parse_prices('{"large": {"prompt": 1000, "completion": 2000}}')
    tenant = create_tenant("One", "one", engine=Tenant.Engine.LLM)
    set_policy(tenant.id, actor="ana", overrides={"llm.budget_tokens_per_day": 15})
    with tenant_scope(tenant.id):
        policy = load_effective_policy(ensure_space(tenant.id, "Ana")).policy
    server.script_chat(reply)
    for failure in (code, "budget_spent"):
        with open_ledger(tenant.id), pytest.raises(EngineError) as raised:
            select_engine(tenant, policy).summarise_texts(["Ana lives in Porto."])
        assert raised.value.code == failure
    with tenant_scope(tenant.id):
        (call,) = ModelCall.objects.all()
    assert (call.status, call.prompt_tokens, call.completion_tokens) == ("failed", 10, 5)
    assert (call.cost, call.error.startswith(code)) == (Decimal("0.02"), True)
    assert call.output == (reply.content or reply.refusal or "")


@pytest.mark.parametrize("refused", [[], ["json_schema"], ["json_schema", "json_object"]])
def test_dialogue_is_read_however_little_an_endpoint_can(
    server: OpenAIServer, refused: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoryhub.pipeline.ingest.services.ring_worker", lambda *ids: None)
    server.refused_formats = frozenset(refused)
    tenant = create_tenant("One", "one", engine=Tenant.Engine.LLM)
    narrow = {"episodes.rolling": False, "graph.enabled": False}
    set_policy(tenant.id, actor="ana", preset="mem0", overrides=narrow)
    claim = {"text": "Ana lives in Porto.", "source": "t1", "owner": "I", "quote": "live in Porto"}
    server.script_chat(
        f"Here it is:\n```json\n{json.dumps({'facts': [claim]})}\n```\nAnything else?"
    )
    said = Message("user", "I live in Porto.", "Ana", timestamp=AT)
    space = ingest_messages(tenant.id, IngestRequest("Ana", [said]), AT).space
    drain_space(tenant.id, space.id, AT + timedelta(hours=1))
    shapes = [each.body.get("response_format", {}).get("type") for each in server.requests]
    assert shapes == ["json_schema", "json_object", None][: len(refused) + 1]
    with tenant_scope(tenant.id):
        assert Fact.objects.get().text == "Ana lives in Porto."
        assert ModelCall.objects.get().status == "ok"
