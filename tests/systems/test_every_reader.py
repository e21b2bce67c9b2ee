"""What every system keeps reaches each of its readers, from `POST /memories` on.

A model that does as a strong one would stands behind the endpoint. For each preset: what must
arrive at whoever searches, takes a context, asks a question, chats, talks through the proxy or
calls a tool.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from memoryhub.console.pages.chat.exchanges import ChatInput, start_exchange
from memoryhub.engines import registry
from memoryhub.pipeline.jobs.runner import drain_space
from memoryhub.policies.services import set_policy
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_key, create_tenant
from tests.support.embedders import BagOfWords
from tests.support.strong_model import StrongModel

pytestmark = pytest.mark.django_db

QUESTION = "What does Ana bake?"
SAID = [
    "I bake sourdough every Sunday.",
    "The oven is a gift of my aunt.",
    "I work at the harbour office.",
    "My boss there is called Rui.",
    "I bake sourdough with rye flour now.",
    "The office moves to Porto in May.",
    "I bake for the neighbours too.",
    "The oven broke, so I bake in a pan.",
    "My desk looks at the river.",
    "Rui likes my sourdough.",
]
# Small enough that a short dialogue fills what holds the latest, and warms a topic.
SMALL = {"stm.pages": 3, "heat.tau": 0.5}
OVERRIDES: dict[str, dict[str, Any]] = {"memoryos": SMALL, "memgpt": {"window.context_limit": 400}}


@dataclass
class System:
    """A space of a preset that has lived through the dialogue, and the model behind it."""

    tenant: Tenant
    space: Space
    model: StrongModel
    client: APIClient
    now: datetime

    def search(self) -> str:
        return self._post("/api/v1/search", query=QUESTION)

    def take_context(self) -> str:
        return self._post("/api/v1/context", query=QUESTION, session="s2")

    def ask_question(self) -> str:
        """What the model is given to answer from."""
        self._post("/api/v1/answer", question=QUESTION, session="s2")
        return json.dumps(self.model.list_calls("answer")[-1])

    def chat(self) -> str:
        """What the model is sent before it speaks."""
        before = len(self.model.requests)
        operator = SimpleNamespace(id=1, get_username=lambda: "operator")
        request = cast("Any", SimpleNamespace(tenant=self.tenant, user=operator))
        asked = start_exchange(request, self.space, ChatInput(QUESTION), timezone.now())
        list(asked.stream_events())
        sent = self.model.requests[before:]
        return "\n".join(request.text for request in sent)

    def talk_through_proxy(self) -> str:
        body = {
            "model": "strong",
            "user": "ana",
            "messages": [{"role": "user", "content": QUESTION}],
        }
        answer = self.client.post(
            "/openai/v1/chat/completions",
            body,
            format="json",
            headers={"X-MemoryHub-Session": "s2"},
        )
        assert answer.status_code == 200, answer.content
        return self.model.requests[-1].text

    def call_tool(self) -> str:
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "search", "arguments": {"subject": "ana", "query": QUESTION}},
        }
        answer = self.client.post(
            "/mcp",
            message,
            format="json",
            headers={"accept": "application/json, text/event-stream"},
        )
        return str(answer.json()["result"]["content"][0]["text"])

    def _post(self, path: str, **body: Any) -> str:
        answer = self.client.post(path, {"subject": "ana"} | body, format="json")
        assert answer.status_code == 200, answer.content
        return json.dumps(answer.json(), ensure_ascii=False)


READERS: dict[str, Callable[[System], str]] = {
    "search": System.search,
    "context": System.take_context,
    "answer": System.ask_question,
    "chat": System.chat,
    "proxy": System.talk_through_proxy,
    "mcp": System.call_tool,
}
# What of each system has to arrive, whoever reads, in words that are part of it; of what "|" parts,
# either. `docs/reference/papers.md` shows it as a table.
ARRIVES: dict[str, dict[str, str]] = {
    "balanced": {"facts": "Ana said: I bake sourdough"},
    "memorybank": {
        "what was said": "I bake sourdough",
        "digest of all days": "DIGEST global of Ana",
        "portrait": "DIGEST global_persona",
    },
    "memgpt": {"the window": "I bake sourdough|Rui likes my sourdough"},
    "amem": {
        "notes": "I bake sourdough",
        "context as evolved": "evolved: a life with sourdough",
        "tags as evolved": "about cooking",
    },
    "mem0": {"facts": "Ana said: I bake sourdough"},
    "mem0g": {"facts": "Ana said: I bake sourdough"},
    "ama": {"facts": "Ana said: I bake sourdough"},
    "memoryos": {
        "the latest exchanges": "Rui likes my sourdough",
        "pages of topics": "I bake sourdough every Sunday",
        "traits": "curious about the new",
        "the shelf": "SHELVED secret",
    },
}


@pytest.fixture
def model(settings: Any) -> Iterator[StrongModel]:
    running = StrongModel()
    with running:
        settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = running.url, "k"
        settings.LLM_MODEL, settings.PROXY_MODELS = "strong", ["strong"]
        yield running


@pytest.fixture
def live(model: StrongModel, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], System]:
    """A preset's space after the dialogue: two sessions on two days, and a night behind each."""
    monkeypatch.setattr("memoryhub.pipeline.ingest.services.ring_worker", lambda *ids: None)
    monkeypatch.setattr(registry, "get_embedder", lambda settings: BagOfWords())

    def build(preset: str) -> System:
        tenant = create_tenant("One", "one", engine=Tenant.Engine.LLM)
        set_policy(tenant.id, actor="test", preset=preset, overrides=OVERRIDES.get(preset, {}))
        _, key = create_key(tenant, "reader", ["read", "write"])
        client = APIClient(headers={"Authorization": f"Bearer {key}"})
        start = timezone.now().replace(hour=9) - timedelta(days=5)
        for number, texts in enumerate((SAID[:5], SAID[5:])):
            at = start + timedelta(days=number)
            for minute, text in enumerate(texts):
                said = at + timedelta(minutes=10 * minute)
                messages = [
                    {
                        "role": "user",
                        "content": text,
                        "speaker": "Ana",
                        "timestamp": said.isoformat(),
                    },
                    {"role": "assistant", "content": "I see.", "timestamp": said.isoformat()},
                ]
                body = {"subject": "ana", "session": f"s{number + 1}", "messages": messages}
                answer = client.post("/api/v1/memories", body, format="json")
                assert answer.status_code == 202, answer.content
                with tenant_scope(tenant.id):
                    space = Space.objects.get(subject="ana")
                drain_space(tenant.id, space.id, said + timedelta(minutes=5))
            drain_space(tenant.id, space.id, at + timedelta(hours=20))
        drain_space(tenant.id, space.id, datetime.now(UTC) + timedelta(hours=1))
        return System(tenant, space, model, client, datetime.now(UTC))

    return build


@pytest.mark.parametrize("preset", ARRIVES)
def test_what_a_system_keeps_reaches_every_reader(
    live: Callable[[str], System], preset: str
) -> None:
    system = live(preset)
    missing = {}
    for reader, read in READERS.items():
        told = read(system)
        lost = [
            part
            for part, words in ARRIVES[preset].items()
            if not any(w in told for w in words.split("|"))
        ]
        if lost:
            missing[reader] = lost
    assert missing == {}
