"""Many cases answered at once over the API."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from memoryhub.tenants.models import Tenant
from tests.support import api_scene


@pytest.mark.parametrize("ids", [[], [7], ["7"], [None], "x"])
def test_many_are_named_by_their_ids(api: APIClient, tenant: Tenant, ids: Any) -> None:
    api_scene.make_row_of_every_kind(tenant)
    body = {"ids": ids, "answer": "reject"}
    answer = api.post("/api/v1/spaces/ana/conflicts/decide-many", body, "json")
    assert answer.status_code == 422, answer.content
    assert answer.json()["errors"][0]["field"].startswith("ids")
