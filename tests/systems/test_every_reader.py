"""What every system keeps reaches each of its readers, from `POST /memories` on.

A model that does as a strong one would stands behind the endpoint. For each preset: what must
arrive at whoever searches, takes a context, asks a question, chats, talks through the proxy or
calls a tool.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from memoryhub.console.pages.chat.exchanges import ChatInput, start_exchange
from memoryhub.engines import registry
from memoryhub.pipeline.jobs.runner import drain_space
from memoryhub.policies.presets import PRESETS
from memoryhub.policies.services import set_policy
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_key, create_tenant
from tests.support.embedders import BagOfWords
from tests.support.strong_model import StrongModel

pytestmark = pytest.mark.django_db

QUESTION = "What does Ana bake?"
IN_SHORT = "Which EPISODE is there of Ana, in short?"
OF_A_DAY = "Summarise the DIGEST of a day of Ana."
EXACTLY = "What exactly was said of the oven, the gift of my aunt?"
OF_LIFE = "What is a life with sourdough, evolved?"
ONE_THING = "Name one thing that Ana bakes."
OF_RUI = "What does the boss there, called Rui, lead?"
# Two sessions on two days: what Ana says, and what she is answered.
SAID = [
    [
        ("I bake sourdough every Sunday.", "Lovely."),
        ("The oven is a gift of my aunt.", "A sturdy oven, no doubt."),
        ("I bake sourdough with rye flour now.", "I see."),
        ("I bake for the neighbours too.", "I see."),
        ("I bake crackers in winter.", "I see."),
        ("I bake rusks of what is left.", "I see."),
        ("I bake pizza when Rui comes.", "I see."),
        ("I bake malt loaves for the ferry.", "I see."),
        ("I work at the harbour office.", "I see."),
        ("My boss there is called Rui.", "I see."),
        ("The ferry leaves at dawn.", "I see."),
        ("The office moves to Porto in May.", "I see."),
    ],
    [
        ("I bake buns for the harbour feast.", "I see."),
        ("The oven broke, so I bake in a pan.", "I see."),
        ("I bake flat bread on Mondays.", "I see."),
        ("I bake the sourdough of Rui, too.", "I see."),
        ("I bake with my aunt on Fridays.", "I see."),
        ("I bake no cakes, ever.", "I see."),
        ("I bake rolls for the office.", "I see."),
        ("Rui likes my sourdough.", "No wonder."),
    ],
]
# Small enough that a short dialogue fills what holds the latest, and warms a topic.
SMALL = {"stm.pages": 3, "heat.tau": 0.5}
OVERRIDES: dict[str, dict[str, Any]] = {
    "balanced": SMALL,
    "memoryos": SMALL,
    "memgpt": {"window.context_limit": 200},
}
# Under these an answer is this much longer, so that a window of 200 words fills in either session.
FILLER = {"memgpt": " Well then." * 12}
BLOCK = "No raisins, ever."


@dataclass
class System:
    """A space of a preset that has lived through the dialogue, and the model behind it."""

    tenant: Tenant
    space: Space
    model: StrongModel
    client: APIClient

    def search(self, question: str) -> str:
        found = self._post("/api/v1/search", query=question)
        items = [*found["items"], *(i for part in found["unasked"] for i in part["items"])]
        # A memory is told by itself, and not by the turns that it rests on.
        return json.dumps([item | {"sources": []} for item in items], ensure_ascii=False)

    def take_context(self, question: str) -> str:
        return str(self._post("/api/v1/context", query=question, session="s2")["text"])

    def ask_question(self, question: str) -> str:
        """What the model is given to answer from."""
        self._post("/api/v1/answer", question=question, session="s2")
        return json.dumps(self.model.list_calls("answer")[-1])

    def chat(self, question: str) -> str:
        """What the model is sent when it is asked to speak, and nothing that it was sent before."""
        operator = SimpleNamespace(id=1, get_username=lambda: "operator")
        request = cast("Any", SimpleNamespace(tenant=self.tenant, user=operator))
        asked = start_exchange(request, self.space, ChatInput(question), timezone.now())
        list(asked.stream_events())
        assert [side.text for side in asked.sides] == ["Understood."]
        return self._read_last_request()

    def talk_through_proxy(self, question: str) -> str:
        body = {
            "model": "strong",
            "user": "ana",
            "messages": [{"role": "user", "content": question}],
        }
        answer = self.client.post(
            "/openai/v1/chat/completions",
            body,
            format="json",
            headers={"X-MemoryHub-Session": "s2"},
        )
        assert answer.status_code == 200, answer.content
        return self._read_last_request()

    def call_tool(self, question: str) -> str:
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "search", "arguments": {"subject": "ana", "query": question}},
        }
        answer = self.client.post(
            "/mcp",
            message,
            format="json",
            headers={"accept": "application/json, text/event-stream"},
        )
        return str(answer.json()["result"]["content"][0]["text"])

    def _read_last_request(self) -> str:
        last = self.model.requests[-1]
        shape = last.body.get("response_format", {}).get("json_schema", {})
        assert shape.get("name", "agent_step") == "agent_step"
        return last.text

    def _post(self, path: str, **body: Any) -> dict[str, Any]:
        answer = self.client.post(path, {"subject": "ana"} | body, format="json")
        assert answer.status_code == 200, answer.content
        return dict(answer.json())


READERS: dict[str, Callable[[System, str], str]] = {
    "search": System.search,
    "context": System.take_context,
    "answer": System.ask_question,
    "mcp": System.call_tool,
    # These two add what is asked to the dialogue.
    "chat": System.chat,
    "proxy": System.talk_through_proxy,
}
# Why a reader by its nature does not get a part.
RANKED_TOGETHER = dict.fromkeys(
    ("search", "mcp"),
    "where all channels are ranked together, a search lists what bears on the question",
)
LISTED = RANKED_TOGETHER | dict.fromkeys(
    ("answer", "chat"),
    "an answer and the chat take what a search lists and what is at hand",
)
READ_WITH = dict.fromkeys(
    READERS, "the summary so far is what messages are read with; episodes and digests tell who asks"
)


@dataclass(frozen=True)
class Part:
    """Something of a system: `words` that are of it and of nothing else, all of which have to
    arrive. `lacking`: readers that do not get it, and why."""

    words: tuple[str, ...]
    question: str = QUESTION
    lacking: Mapping[str, str] = field(default_factory=dict)


def list_all_that_was_said() -> tuple[str, ...]:
    return tuple(text for session in SAID for exchange in session for text in exchange)


# What of each system has to arrive, whoever reads. `docs/reference/papers.md` shows it as a table.
ARRIVES: dict[str, dict[str, Part]] = {
    "balanced": {
        "facts": Part(("Ana said: I bake",)),
        "notes": Part(("Evolved: a life with sourdough.",), OF_LIFE),
        "the latest exchanges": Part(("Rui likes my sourdough.",), lacking=RANKED_TOGETHER),
        "pages of topics": Part(("A sturdy oven, no doubt.",), EXACTLY),
        "digests of days": Part(("DIGEST day of Ana",), OF_A_DAY),
        "traits": Part(("curious about the new",), lacking=RANKED_TOGETHER),
        "the profile": Part(("Ana, lives in: Porto",), lacking=RANKED_TOGETHER),
        "the shelf": Part(("SHELVED secret",), lacking=RANKED_TOGETHER),
        "the shelf of the agent": Part(("PROMISED a starter",), lacking=RANKED_TOGETHER),
        "blocks": Part((BLOCK,), lacking=RANKED_TOGETHER),
        "episodes of topics": Part(("EPISODE of Ana.",), IN_SHORT),
        "titles of episodes": Part(("TITLE of it",), IN_SHORT),
        "the summary of the chain": Part(("CHAIN so far.",), IN_SHORT),
        "notes linked to those that were found": Part(("(linked)",), IN_SHORT, LISTED),
        "relations that a fact's words do not say": Part(
            ("Rui leads harbour office",), OF_RUI, LISTED
        ),
        "the summary so far": Part(("SUMMARY.",), IN_SHORT, READ_WITH),
    },
    "full_context": {"everything said": Part(list_all_that_was_said())},
    "rag": {"what was said": Part(("A sturdy oven, no doubt.",), EXACTLY)},
    "memorybank": {
        "what was said": Part(("A sturdy oven, no doubt.",), EXACTLY),
        "digests of days": Part(("DIGEST day of Ana",), OF_A_DAY),
        "digest of all days": Part(("DIGEST global of Ana",)),
        "portrait": Part(("DIGEST global_persona",)),
    },
    "memgpt": {
        "the summary in the agent's person": Part(("I am MemoryHub: FOLDED.",)),
        "the queue's newest turns": Part(("Rui likes my sourdough.", "No wonder.")),
        "blocks": Part((BLOCK,)),
    },
    "amem": {
        "notes": Part(("I bake sourdough",)),
        "notes linked to the ten that were found": Part(("The ferry leaves at dawn.",)),
        "context as evolved": Part(("Evolved: a life with sourdough.",)),
        "keywords as evolved": Part(("ana about life",)),
        "tags as evolved": Part(("life about ana",)),
    },
    "mem0": {"facts": Part(("Ana said: I bake sourdough",))},
    "mem0g": {
        "facts": Part(("Ana said: I bake sourdough",)),
        "relations of entities": Part(("Ana bakes sourdough",)),
    },
    "ama": {
        "facts": Part(("Ana said: I bake sourdough",)),
        "episodes": Part(("EPISODE of Ana.",), IN_SHORT),
        "titles of episodes": Part(("TITLE of it",), IN_SHORT),
        "what was said": Part(("A sturdy oven, no doubt.",), EXACTLY),
    },
    "memoryos": {
        "the latest exchanges": Part(("Rui likes my sourdough.",)),
        "pages of topics": Part(("A sturdy oven, no doubt.",), EXACTLY),
        "the summary of the chain": Part(("CHAIN so far.",), EXACTLY),
        "traits": Part(("curious about the new",)),
        "the profile": Part(("Ana, lives in: Porto",)),
        "the shelf": Part(("SHELVED secret",)),
        "the shelf of the agent": Part(("PROMISED a starter",)),
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
def live(model: StrongModel, monkeypatch: pytest.MonkeyPatch) -> Callable[..., System]:
    """A preset's space after the dialogue: two sessions on two days, and a night behind each."""
    monkeypatch.setattr("memoryhub.pipeline.ingest.services.ring_worker", lambda *ids: None)
    monkeypatch.setattr(registry, "get_embedder", lambda settings: BagOfWords())

    def build(preset: str, filler: str = "", **overrides: Any) -> System:
        tenant = create_tenant("One", "one", engine=Tenant.Engine.LLM)
        own = {name.replace("__", "."): value for name, value in overrides.items()}
        own = own or OVERRIDES.get(preset, {})
        set_policy(tenant.id, actor="test", preset=preset, overrides=own)
        _, key = create_key(tenant, "reader", ["read", "write"])
        client = APIClient(headers={"Authorization": f"Bearer {key}"})
        start = timezone.now().replace(hour=9) - timedelta(days=5)
        for number, exchanges in enumerate(SAID):
            at = start + timedelta(days=number)
            for minute, exchange in enumerate(exchanges):
                said = at + timedelta(minutes=10 * minute)
                _add_exchange(
                    client, f"s{number + 1}", exchange, said, filler or FILLER.get(preset, "")
                )
                with tenant_scope(tenant.id):
                    space = Space.objects.get(subject="ana")
                drain_space(tenant.id, space.id, said + timedelta(minutes=5))
            drain_space(tenant.id, space.id, at + timedelta(hours=20))
        block = {"label": "kitchen", "value": BLOCK}
        made = client.post("/api/v1/spaces/ana/blocks/new", block, format="json")
        assert made.status_code == 200, made.content
        drain_space(tenant.id, space.id, datetime.now(UTC) + timedelta(hours=1))
        return System(tenant, space, model, client)

    return build


def _add_exchange(
    client: APIClient, session: str, exchange: tuple[str, str], at: datetime, filler: str
) -> None:
    said = {"role": "user", "content": exchange[0], "speaker": "Ana", "timestamp": at.isoformat()}
    answered = {"role": "assistant", "content": exchange[1] + filler, "timestamp": at.isoformat()}
    body = {"subject": "ana", "session": session, "messages": [said, answered]}
    answer = client.post("/api/v1/memories", body, format="json")
    assert answer.status_code == 202, answer.content


def test_every_preset_is_in_the_table() -> None:
    assert set(ARRIVES) == set(PRESETS)


@pytest.mark.parametrize("preset", ARRIVES)
def test_what_a_system_keeps_reaches_every_reader(live: Callable[..., System], preset: str) -> None:
    system, parts = live(preset), ARRIVES[preset]
    questions = dict.fromkeys(part.question for part in parts.values())
    lost: dict[str, set[str]] = {part: set() for part in parts}
    for reader, read in READERS.items():
        told = {question: read(system, question) for question in questions}
        for name, part in parts.items():
            if not all(words in told[part.question] for words in part.words):
                lost[name].add(reader)
    lacking = {name: set(part.lacking) for name, part in parts.items()}
    differ = {name: lost[name] for name in parts if lost[name] != lacking[name]}
    assert differ == {}


@pytest.mark.parametrize(("question", "wanted"), [(QUESTION, 14), (ONE_THING, 5)])
def test_ama_s_router_says_how_many_for_every_reader(
    live: Callable[..., System], question: str, wanted: int
) -> None:
    """K is what the question wants, and at least K_m, where no limit is given."""
    system = live("ama")
    told = {reader: read(system, question) for reader, read in READERS.items()}
    assert {reader: text.count("Ana said: ") for reader, text in told.items()} == dict.fromkeys(
        READERS, wanted
    )


def test_amem_finds_ten_notes_and_what_is_linked_to_them(live: Callable[..., System]) -> None:
    items = json.loads(live("amem").search(QUESTION))
    linked = [item["text"] for item in items if item["linked"]]
    assert len(items) - len(linked) == 10
    assert any("The ferry leaves at dawn." in text for text in linked)


@pytest.mark.parametrize(
    ("preset", "wide"),
    [("memoryos", {"stm__pages": 30}), ("memgpt", {"window__context_limit": 6000})],
)
def test_where_not_everything_fits_the_newest_reaches_every_reader(
    live: Callable[..., System], preset: str, wide: dict[str, Any]
) -> None:
    """What is at hand is more than the budget of an answer, and of what an agent is told."""
    system = live(preset, " Well then." * 40, **wide)
    told = {reader: read(system, "How is the weather?") for reader, read in READERS.items()}
    assert [name for name, text in told.items() if "Rui likes my sourdough." not in text] == []
