from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from rest_framework.test import APIClient

from memoryhub.dialogues.messages import Message
from memoryhub.engines import registry
from memoryhub.pipeline.ingest.services import IngestRequest, ingest_messages
from memoryhub.pipeline.jobs.runner import drain_space
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_key, create_tenant
from tests.support.embedders import BagOfWords
from tests.support.openai_server import OpenAIServer

CHAT = "/openai/v1/chat/completions"
Ask = Callable[..., Any]


@pytest.fixture
def upstream(settings: Any) -> Iterator[OpenAIServer]:
    """The endpoint that the hub is configured with; tenants read dialogue by rules all the same."""
    with OpenAIServer() as running:
        settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = running.url, "sk-upstream"
        settings.PROXY_MODELS = ["large", "small"]
        yield running


@pytest.fixture(scope="module")
def quiet() -> Iterator[None]:
    """No worker, and vectors at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("memoryhub.pipeline.ingest.services.ring_worker", lambda *ids: None)
        patch.setattr(registry, "get_embedder", lambda settings: BagOfWords())
        yield


@pytest.fixture(scope="module")
def scene(kept_for_module: None, quiet: None) -> tuple[Tenant, Space]:
    """Ana's, who has said where she lives: it takes longer to derive than a question to answer."""
    tenant = create_tenant("One", "one")
    said = Message("user", "I live in Porto.", timestamp=datetime(2026, 5, 12, tzinfo=UTC))
    done = ingest_messages(tenant.id, IngestRequest("ana", [said]))
    drain_space(tenant.id, done.space.id, datetime.now(UTC) + timedelta(hours=1))
    return tenant, done.space


@pytest.fixture
def space(db: None, scene: tuple[Tenant, Space]) -> Space:
    return deepcopy(scene[1])


@pytest.fixture
def tenant(request: pytest.FixtureRequest, db: None, scene: tuple[Tenant, Space]) -> Tenant:
    """With Ana in it for tests that ask for her space, and with nobody for the others."""
    if "space" in request.fixturenames:
        return deepcopy(scene[0])
    return create_tenant("Two", "two")


@pytest.fixture
def client(tenant: Tenant) -> APIClient:
    _, key = create_key(tenant, "chat", ["read", "write"])
    return APIClient(headers={"Authorization": f"Bearer {key}"})


@pytest.fixture
def ask(client: APIClient) -> Ask:
    """Ask as Ana: `ask("Where do I live?", **body)`; headers by `headers=`."""

    def send(text: str | list[dict[str, Any]], headers: Any = None, **body: Any) -> Any:
        messages = [{"role": "user", "content": text}] if isinstance(text, str) else text
        sent = {"model": "gpt-x", "user": "ana", "messages": messages} | body
        return client.post(CHAT, sent, format="json", headers=headers or {})

    return send


def list_turns(space: Space) -> list[tuple[str, str]]:
    """(role, words) of all that was said in the space, but for the first sentence."""
    from memoryhub.dialogues.models import Turn

    with tenant_scope(space.tenant_id):
        rows = Turn.objects.filter(space=space).order_by("seq")
        return [(turn.role, turn.text) for turn in rows][1:]
