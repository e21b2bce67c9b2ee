from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from ipaddress import ip_network
from typing import Any
from uuid import UUID

import pytest
from pytest_django import Settings

from memoryhub.tenants.models import Tenant
from memoryhub.tenants.services import create_tenant
from memoryhub.webhooks.models import Webhook
from memoryhub.webhooks.services import WebhookDraft, create_webhook
from tests.support.receiver import WebhookReceiver

NOW = datetime(2026, 5, 12, 9, 30, tzinfo=UTC)
Make = Callable[..., Webhook]


@pytest.fixture
def tenant(db: None) -> Tenant:
    return create_tenant("One", "one")


@pytest.fixture
def loopback(settings: Settings) -> None:
    """As an operator allows it who has a receiver on the same machine."""
    settings.WEBHOOK_ALLOW_HTTP = True
    settings.WEBHOOK_PRIVATE_NETWORKS = (ip_network("127.0.0.1/32"),)


@pytest.fixture
def receiver(loopback: None) -> Iterator[WebhookReceiver]:
    with WebhookReceiver() as one:
        yield one


@pytest.fixture
def rung(monkeypatch: pytest.MonkeyPatch) -> list[tuple[UUID, UUID]]:
    """Who was rung for, instead of ringing."""
    heard: list[tuple[UUID, UUID]] = []

    def ring(tenant_id: UUID, webhook_id: UUID) -> bool:
        heard.append((tenant_id, webhook_id))
        return True

    monkeypatch.setattr("memoryhub.webhooks.outbox.ring_worker", ring)
    return heard


@pytest.fixture
def hook_to(tenant: Tenant, receiver: WebhookReceiver, rung: list[Any]) -> Make:
    """A webhook of the tenant to the receiver: `hook_to("fact.added", content="text")`."""

    def make(*events: str, **more: Any) -> Webhook:
        values = {"name": "mine", "url": receiver.url, "events": events or ("turns.added",)}
        return create_webhook(tenant.id, WebhookDraft(**(values | more)), "test", NOW)[0]

    return make
