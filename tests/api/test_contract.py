"""The contract as it stands: a change of the OpenAPI description is a change of this file.

Written anew by `MEMORYHUB_WRITE_CONTRACT=1 python -m pytest tests/api/test_contract.py`.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from drf_spectacular.drainage import GENERATOR_STATS

from api.urls import urlpatterns

CONTRACT = Path(__file__).with_name("openapi.json")


@pytest.fixture
def described(client: Client, db: None) -> dict[str, Any]:
    GENERATOR_STATS.reset()
    return dict(client.get("/api/v1/schema?format=json").json())


def test_the_contract_is_the_one_agreed_on(described: dict[str, Any]) -> None:
    text = json.dumps(described, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    if os.environ.get("MEMORYHUB_WRITE_CONTRACT"):
        CONTRACT.write_text(text, encoding="utf-8")
    assert json.loads(CONTRACT.read_text(encoding="utf-8")) == described


def test_every_route_is_described_without_a_warning(described: dict[str, Any]) -> None:
    assert not GENERATOR_STATS
    names = {"schema", "docs", "not-found"}
    assert len(described["paths"]) == len([p for p in urlpatterns if p.name not in names])


def test_every_operation_says_what_it_takes_and_answers(described: dict[str, Any]) -> None:
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            assert operation["description"], (path, method)
            assert operation["responses"], (path, method)
            names = {parameter["name"] for parameter in operation.get("parameters", ())}
            if method == "post" and path.startswith("/api/v1/spaces/"):
                assert "Idempotency-Key" in names, path
                assert "requestBody" in operation, path


def test_operations_have_names_of_their_own(described: dict[str, Any]) -> None:
    names = [o["operationId"] for each in described["paths"].values() for o in each.values()]
    assert len(names) == len(set(names))
