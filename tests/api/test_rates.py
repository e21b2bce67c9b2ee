"""Limits of requests a minute, by key."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from api.core import rate_limit
from api.core.rate_limit import count_request
from memoryhub.tenants import keys
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_key

SPACES = "/api/v1/spaces"


@pytest.fixture
def row(tenant: Tenant) -> keys.KeyRow:
    from django.utils import timezone

    _, key = create_key(tenant, "test", ["read"])
    found = keys.find_live_key(key, timezone.now())
    assert found is not None
    return found


def test_a_new_minute_begins_at_one(row: keys.KeyRow) -> None:
    assert [count_request(row, 5, 600 + second).used for second in (0, 1, 59)] == [1, 2, 3]
    assert count_request(row, 5, 659.9).build_headers() == {
        "RateLimit-Limit": "5",
        "RateLimit-Remaining": "1",
        "RateLimit-Reset": "1",
    }
    assert count_request(row, 5, 660).used == 1


def test_what_is_over_the_limit_is_refused_with_the_time_to_wait(
    api: APIClient, settings: Any, one_long_minute: None
) -> None:
    settings.RATE_LIMIT_PER_MINUTE = 2
    left = [api.get(SPACES)["RateLimit-Remaining"] for _ in range(2)]
    assert left == ["1", "0"]
    refused = api.get(SPACES)
    assert (refused.status_code, refused.json()["code"]) == (429, "throttled")
    assert refused["RateLimit-Remaining"] == "0"
    assert int(refused["Retry-After"]) > 0


def test_keys_are_counted_each_by_itself(
    tenant: Tenant, client_of: Any, settings: Any, one_long_minute: None
) -> None:
    settings.RATE_LIMIT_PER_MINUTE = 1
    one, other = client_of(tenant), client_of(tenant)
    assert [one.get(SPACES).status_code for _ in range(2)] == [200, 429]
    assert other.get(SPACES).status_code == 200


def test_without_a_limit_nothing_is_counted(api: APIClient, settings: Any) -> None:
    settings.RATE_LIMIT_PER_MINUTE = 0
    assert "RateLimit-Limit" not in api.get(SPACES)


def test_a_large_limit_is_counted_by_the_handful(
    row: keys.KeyRow, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    assert count_request(row, 500, 600).used == 1
    with django_assert_num_queries(0):
        assert [count_request(row, 500, 601).used for _ in range(4)] == [2, 3, 4, 5]
    assert count_request(row, 500, 602).used == 6
    rate_limit._handfuls.clear()  # another process takes what comes next
    assert count_request(row, 500, 603).used == 11


def test_of_handfuls_taken_at_once_nothing_is_lost(
    row: keys.KeyRow, monkeypatch: pytest.MonkeyPatch
) -> None:
    others: list[int] = []

    def ask_meanwhile(tenant_id: Any) -> Any:
        if not others:
            others.append(0)
            others[0] = count_request(row, 500, 600).used
        return tenant_scope(tenant_id)

    monkeypatch.setattr(rate_limit, "tenant_scope", ask_meanwhile)
    used = [count_request(row, 500, 600).used for _ in range(9)]
    assert sorted([*others, *used]) == list(range(1, 11))
