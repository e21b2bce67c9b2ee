"""Calls of mem0's clients about the same memories at the same time."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from rest_framework.test import APIClient

from api.mem0.change import MAX_RIVALS
from memoryhub.errors import Conflict
from memoryhub.pipeline import corrections
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.services import create_key, create_tenant
from tests.api.mem0.conftest import Add
from tests.support.threads import run_in_threads

pytestmark = pytest.mark.django_db(transaction=True)
WRITERS = 8


@pytest.fixture
def tenant() -> Tenant:
    return create_tenant("One", "one")


@pytest.fixture
def call(tenant: Tenant) -> Callable[..., int]:
    """The status of a call that others make at the same time."""
    _, key = create_key(tenant, "mem0", ["read", "write"])

    def send(method: str, path: str, body: object = None) -> int:
        client = APIClient(headers={"Authorization": f"Token {key}"})
        return int(getattr(client, method)(path, body, format="json").status_code)

    return send


def test_of_updates_at_the_same_time_the_last_one_stands(
    mem0: APIClient, keep: Add, call: Callable[..., int]
) -> None:
    path = f"/v1/memories/{keep('Ana lives in Porto.')}/"
    sent = [{"text": f"Ana lives in house {n}.", "metadata": {"n": n}} for n in range(WRITERS)]
    assert run_in_threads(WRITERS, lambda n: call("put", path, sent[n])) == [200] * WRITERS
    memory = mem0.get(path).json()
    assert memory["memory"] == f"Ana lives in house {memory['metadata']['n']}."
    history = mem0.get(f"{path}history/").json()
    assert [each["event"] for each in history] == ["ADD", *["UPDATE"] * WRITERS]
    assert history[-1]["new_memory"] == memory["memory"]


def test_updates_and_a_deletion_at_the_same_time_are_done_or_find_nothing(
    mem0: APIClient, keep: Add, call: Callable[..., int]
) -> None:
    path = f"/v1/memories/{keep('Ana lives in Porto.')}/"

    def act(number: int) -> int:
        if number % 4 == 3:
            return call("delete", path)
        return call("put", path, {"metadata": {"n": number}})

    assert set(run_in_threads(WRITERS, act)) <= {200, 404}
    assert mem0.get(path).status_code == 404


def test_what_stands_in_the_way_for_good_is_told_at_once(
    mem0: APIClient, keep: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, tries = f"/v1/memories/{keep('Ana lives in Porto.')}/", []

    def refuse(*given: object, **more: object) -> None:
        tries.append(given)
        raise Conflict("something else holds", code="another_holds")

    monkeypatch.setattr(corrections, "correct_facts", refuse)
    answer = mem0.put(path, {"text": "Ana lives in Braga."}, format="json")
    assert (answer.status_code, answer.json()["code"]) == (409, "another_holds")
    assert len(tries) == 1 < MAX_RIVALS
