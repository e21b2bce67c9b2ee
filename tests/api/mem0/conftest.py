from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from memoryhub.tenants.models import Tenant
from memoryhub.tenants.services import create_key

Add = Callable[..., str]


@pytest.fixture
def mem0(tenant: Tenant) -> APIClient:
    """As mem0's clients send their key."""
    _, key = create_key(tenant, "mem0", ["read", "write", "admin"])
    return APIClient(headers={"Authorization": f"Token {key}"})


@pytest.fixture
def keep(mem0: APIClient) -> Add:
    """Keep a memory word by word, of "ana" unless told otherwise; its id."""

    def make(text: str, **values: Any) -> str:
        whose = {} if {"agent_id", "app_id", "run_id"} & values.keys() else {"user_id": "ana"}
        body = {"messages": text, "infer": False} | whose | values
        answer = mem0.post("/v3/memories/add/", body, format="json")
        assert answer.status_code == 200, answer.content
        return str(answer.json()["results"][0]["id"])

    return make


@pytest.fixture
def texts(mem0: APIClient) -> Callable[..., list[str]]:
    """The memories that a filter lets through."""

    def found(filters: dict[str, Any], **more: Any) -> list[str]:
        answer = mem0.post("/v3/memories/", {"filters": filters, **more}, format="json")
        assert answer.status_code == 200, answer.content
        return sorted(item["memory"] for item in answer.json()["results"])

    return found
