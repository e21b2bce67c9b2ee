"""Every route of OpenAI's clients: who may call it, and what a stranger gets."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import URLPattern
from rest_framework.test import APIClient

from api.openai.urls import urlpatterns
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_key, create_tenant
from tests.api.openai.conftest import CHAT, list_turns
from tests.support.openai_server import OpenAIServer

# Route name -> method -> scope. A new route fails until it is listed here.
ROUTES: dict[str, dict[str, str]] = {
    "chat": {"POST": "read"},
    "responses": {"POST": "read"},
    "models": {"GET": "read"},
    "model": {"GET": "read"},
    "embeddings": {"POST": "read"},
    "not-found": {},
}
BASE = "/openai/v1"
CALLS: list[tuple[str, str, Any]] = [
    ("POST", "chat/completions", {"user": "ana", "messages": [{"role": "user", "content": "Hi."}]}),
    ("POST", "responses", {"user": "ana", "input": "Hi."}),
    ("GET", "models", None),
    ("GET", "models/large", None),
    ("POST", "embeddings", {"input": "Hi."}),
]


def call_as_stranger(client: APIClient, method: str, path: str, body: Any) -> Any:
    if method == "GET":
        return client.get(f"{BASE}/{path}")
    return client.post(f"{BASE}/{path}", body, format="json")


def test_every_route_states_its_scopes() -> None:
    found = {}
    for pattern in urlpatterns:
        assert isinstance(pattern, URLPattern)
        callback: Any = pattern.callback
        found[str(pattern.name)] = dict(callback.view_class.scopes)
    assert found == ROUTES


@pytest.mark.parametrize(("method", "path", "body"), CALLS)
def test_without_a_key_nothing_is_told(
    db: None, upstream: OpenAIServer, method: str, path: str, body: Any
) -> None:
    answer = call_as_stranger(APIClient(), method, path, body)
    assert (answer.status_code, answer["Content-Type"]) == (401, "application/json")
    assert set(answer.json()["error"]) == {"message", "type", "param", "code"}
    assert upstream.requests == []


def test_a_strangers_ana_is_another_ana(space: Space, upstream: OpenAIServer, quiet: None) -> None:
    """Nothing of the one is recalled for the other, and nothing is learned there."""
    other = create_tenant("Two", "two")
    _, key = create_key(other, "test", ["read", "write", "admin"])
    stranger = APIClient(headers={"Authorization": f"Bearer {key}"})
    upstream.script_chat("I do not know.")
    asked = {"user": "ana", "messages": [{"role": "user", "content": "Where do I live?"}]}
    answer = stranger.post(CHAT, asked, format="json")
    assert answer.json()["memoryhub"]["items"] == []
    assert "Porto" not in upstream.requests[-1].text
    assert list_turns(space) == []
    with tenant_scope(other.id):
        assert Space.objects.get().id != space.id


@pytest.mark.parametrize("path", ["", "nowhere", "chat", "files/1", "models/gpt-x", "models/a%00b"])
def test_paths_and_models_that_are_not_there(
    client: APIClient, upstream: OpenAIServer, path: str
) -> None:
    answer = client.get(f"{BASE}/{path}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")


def test_methods_that_a_path_does_not_have_are_refused_in_this_shape(client: APIClient) -> None:
    answer = client.get(CHAT)
    assert (answer.status_code, bool(answer.json()["error"]["message"])) == (405, True)


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({}, "input"),
        ({"input": []}, "input"),
        ({"input": [1, 2]}, "input[0]"),
        ({"input": ["Hi.", ""]}, "input[1]"),
        ({"input": "Hi.", "encoding_format": "hex"}, "encoding_format"),
        ({"input": "Hi.", "encoding_format": []}, "encoding_format"),
        ({"input": "Hi.", "dimensions": 7}, "dimensions"),
        ({"input": "Hi.", "dimensions": True}, "dimensions"),
    ],
)
def test_what_cannot_be_embedded_names_the_field(
    client: APIClient, body: dict[str, Any], param: str
) -> None:
    answer = client.post(f"{BASE}/embeddings", body, format="json")
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, param)


def test_more_than_can_be_embedded_is_too_large(client: APIClient) -> None:
    answer = client.post(f"{BASE}/embeddings", {"input": ["x"] * 2049}, format="json")
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")


def test_models_that_can_be_used_are_listed(
    client: APIClient, tenant: Tenant, upstream: OpenAIServer, settings: Any
) -> None:
    def listed() -> list[str]:
        return [each["id"] for each in client.get(f"{BASE}/models").json()["data"]]

    assert listed() == ["large", "small", "bag-of-words"]
    settings.OPENAI_BASE_URL = ""
    assert listed() == ["bag-of-words"]
