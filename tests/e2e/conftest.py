"""A real Chromium against a live server. Skipped where there is none.

A module has a database of its own, whose rows are committed and left: tests are kept apart by
their tenants. Those that change rows say so (`writes`) and have a tenant to themselves; the others
of a module look at one that is made once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser
from pytest_django.live_server_helper import LiveServer

from memoryhub.embedded import EmbeddedPostgres
from memoryhub.tenants.models import Membership, Tenant
from memoryhub.tenants.scope import tenant_scope
from tests.conftest import copy_template, use_database
from tests.support.browser import Visitor, launched, visiting
from tests.support.factories import make_member, make_tenant


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Open no longer than its module: its event loop would count as the running one in other tests,
    whose requests would then be refused a loop of their own."""
    with launched() as browser:
        yield browser


@pytest.fixture(scope="module")
def database(
    postgres: EmbeddedPostgres, django_db_setup: None, django_db_blocker: Any, worker_id: str
) -> Iterator[None]:
    """What is committed here is never emptied, and never seen by tests elsewhere."""
    name = f"e2e_{worker_id}"
    with django_db_blocker.unblock():
        copy_template(postgres, name)
        use_database(name)
        yield
        use_database(f"test_{worker_id}")


@pytest.fixture(scope="session")
def served(django_db_setup: None) -> Iterator[str]:
    """Where the hub answers, whichever database is in use."""
    server = LiveServer("localhost")
    yield server.url
    server.stop()


@pytest.fixture(autouse=True)
def unrung(monkeypatch: pytest.MonkeyPatch) -> None:
    """No worker listens: tests run the jobs themselves, at the moment they choose."""
    monkeypatch.setattr(
        "memoryhub.pipeline.ingest.services.ring_worker", lambda tenant_id, space_id: None
    )


@pytest.fixture(scope="module")
def hive(database: None) -> Tenant:
    """What the tests of a module look at that only read."""
    return make_hive()


def make_hive() -> Tenant:
    made = make_tenant("Hive")
    make_member(made, Membership.Role.ADMIN)
    return made


@pytest.fixture
def tenant(request: pytest.FixtureRequest, hive: Tenant) -> Tenant:
    return make_hive() if request.node.get_closest_marker("writes") else hive


@pytest.fixture(params=[1280, 390])
def width(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def visitor(chromium: Browser, served: str, tenant: Tenant, width: int) -> Iterator[Visitor]:
    """An admin of the tenant."""
    with tenant_scope(tenant.id):
        admin = Membership.objects.filter(role=Membership.Role.ADMIN).earliest("id").user
    with visiting(chromium, served, admin, width) as found:
        yield found
