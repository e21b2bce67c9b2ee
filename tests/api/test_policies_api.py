"""Policies over the API: the tenant's and a space's, tried, changed, and version by version."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from memoryhub.policies.presets import PRESETS
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from tests.support.factories import make_space

POLICY, OF_ANA = "/api/v1/policy", "/api/v1/spaces/ana/policy"


@pytest.fixture
def admin(tenant: Tenant, client_of: Any) -> APIClient:
    with tenant_scope(tenant.id):
        make_space(tenant, "ana")
    made: APIClient = client_of(tenant, "admin")
    return made


def post_policy_change(admin: APIClient, path: str, **body: Any) -> Any:
    return admin.post(path, body, format="json")


@pytest.mark.parametrize("path", [POLICY, OF_ANA])
def test_a_policy_is_changed_version_by_version(admin: APIClient, path: str) -> None:
    assert admin.get(path).json()["version"] == 0
    made = post_policy_change(admin, path, overrides={"recall.k_min": 7}, reason="more").json()
    assert (made["version"], made["reason"]) == (1, "more")
    assert made["policy"]["recall"]["k_min"] == 7
    post_policy_change(admin, path, preset="memorybank")
    shown = admin.get(path)
    assert (shown["ETag"], shown.json()["policy"]["preset"]) == ('"2"', "memorybank")
    versions = admin.get(f"{path}/versions").json()
    assert [each["version"] for each in versions["items"]] == [2, 1]
    assert versions["items"][1]["overrides"] == {"recall.k_min": 7}


def test_the_tenants_versions_are_not_those_of_its_spaces(admin: APIClient) -> None:
    post_policy_change(admin, POLICY, overrides={"recall.k_min": 7})
    post_policy_change(admin, OF_ANA, overrides={"recall.k_min": 8})
    assert admin.get(f"{POLICY}/versions").json()["total"] == 1
    assert admin.get(OF_ANA).json()["in_force"] == "t1.s1"


@pytest.mark.parametrize("path", [POLICY, OF_ANA])
def test_a_dry_run_says_what_would_change_and_changes_nothing(admin: APIClient, path: str) -> None:
    told = post_policy_change(admin, path, overrides={"recall.k_min": 7}, dry_run=True).json()
    assert told["changes"] == [{"name": "recall.k_min", "before": 5, "after": 7}]
    assert told["policy"]["recall"]["k_min"] == 7
    assert admin.get(path).json()["version"] == 0
    assert admin.get(f"{path}/versions").json()["total"] == 0
    wrong = post_policy_change(admin, path, overrides={"recall.k_min": -1}, dry_run=True)
    assert wrong.json()["errors"][0]["field"] == "recall.k_min"


@pytest.mark.parametrize("path", [POLICY, OF_ANA])
@pytest.mark.parametrize("dry_run", [True, False])
def test_somebody_elses_change_is_not_written_over(
    admin: APIClient, path: str, dry_run: bool
) -> None:
    post_policy_change(admin, path, overrides={"recall.k_min": 7})
    body = {"overrides": {}, "dry_run": dry_run}
    answer = admin.post(path, body, format="json", headers={"If-Match": '"0"'})
    assert answer.status_code == 412


@pytest.mark.parametrize(
    ("overrides", "field"),
    [
        ({"recall.k_min": "7"}, "overrides.recall.k_min"),
        ({"recall.k_min": True}, "overrides.recall.k_min"),
        ({"recall.k_min": 1.5}, "overrides.recall.k_min"),
        ({"facts.enabled": 1}, "overrides.facts.enabled"),
        ({"recall.channels": "raw"}, "overrides.recall.channels"),
        ({"recall.k_min": 10**30}, "recall.k_min"),
        ({"nosuch.switch": 1}, "nosuch.switch"),
        ([], "overrides"),
    ],
)
def test_a_value_of_another_kind_is_refused(admin: APIClient, overrides: Any, field: str) -> None:
    answer = post_policy_change(admin, POLICY, overrides=overrides)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == field


def test_presets_and_switches_are_told(admin: APIClient) -> None:
    presets = admin.get(f"{POLICY}/presets").json()
    assert [each["name"] for each in presets["items"]] == list(PRESETS)
    switches = admin.get(f"{POLICY}/switches").json()
    told = {each["name"]: each for each in switches["items"]}
    assert told["recall.k_min"]["kind"] == "int"
    assert told["recall.k_min"]["help"]
    assert switches["total"] == len(told)
