from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.services import create_key, create_tenant
from tests.support.contract import ContractClient

Client = Callable[..., APIClient]


@pytest.fixture
def tenant(db: None) -> Tenant:
    return create_tenant("One", "one")


@pytest.fixture
def client_of() -> Client:
    """A client with a fresh key: `client_of(tenant, "read", space=…)`. It holds every answer to
    the OpenAPI description."""

    def make(tenant: Tenant, *scopes: str, space: Space | None = None, **more: Any) -> APIClient:
        _, key = create_key(tenant, "test", scopes or ("read", "write"), space=space, **more)
        return ContractClient(headers={"Authorization": f"Bearer {key}"})

    return make


@pytest.fixture
def api(tenant: Tenant, client_of: Client) -> APIClient:
    return client_of(tenant)
