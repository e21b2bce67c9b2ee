"""What models took, over the API."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from tests.support.factories import make_call, make_space

USAGE = "/api/v1/usage"


@pytest.fixture
def two(tenant: Tenant) -> Any:
    """Calls of two subjects; one of them long ago."""
    with tenant_scope(tenant.id):
        ana, rui = make_space(tenant, "ana"), make_space(tenant, "rui")
        make_call(ana, "construct", prompt_tokens=100, completion_tokens=10, cost=Decimal("0.5"))
        make_call(ana, "resolve", prompt_tokens=20, completion_tokens=0, status="failed")
        make_call(rui, "construct", prompt_tokens=1, completion_tokens=1)
        make_call(rui, created_at=timezone.now() - timedelta(days=90))
    return ana


def test_sums_are_told_by_day_purpose_and_model(api: APIClient, two: Any) -> None:
    shown = api.get(USAGE).json()
    assert (shown["total"]["calls"], shown["total"]["tokens"]) == (3, 132)
    assert shown["total"]["failed"] == 1
    purposes = {each["purpose"]: each["tokens"] for each in shown["purposes"]}
    assert purposes == {"construct": 112, "resolve": 20}
    assert [each["model"] for each in shown["models"]] == ["small"]
    assert len(shown["days"]) == 1
    assert api.get(USAGE, {"days": "120"}).json()["total"]["calls"] == 4


def test_a_key_of_one_subject_sees_what_that_one_took(
    client_of: Any, tenant: Tenant, two: Any
) -> None:
    bound = client_of(tenant, "read", space=two)
    assert bound.get(USAGE).json()["total"]["calls"] == 2
    calls = bound.get(f"{USAGE}/calls").json()
    assert {each["subject"] for each in calls["items"]} == {"ana"}
    assert "output" not in calls["items"][0]


@pytest.mark.parametrize("days", ["0", "367", "x", "-1", "1e9", "9" * 40])
def test_bad_days_are_refused(api: APIClient, days: str) -> None:
    answer = api.get(USAGE, {"days": days})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "days"
