"""mem0's webhooks: their events and body, on our rows."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient

from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.webhooks import dispatch
from memoryhub.webhooks.event_names import MEM0_EVENTS
from memoryhub.webhooks.models import Webhook
from tests.support.factories import make_webhook
from tests.support.receiver import WebhookReceiver


@pytest.fixture
def receiver(settings: Settings) -> Iterator[WebhookReceiver]:
    settings.WEBHOOK_ALLOW_HTTP = True
    settings.WEBHOOK_PRIVATE_NETWORKS = (ip_network("127.0.0.1/32"),)
    with WebhookReceiver() as one:
        yield one


@pytest.fixture
def admin(tenant: Tenant, client_of: Any) -> APIClient:
    made: APIClient = client_of(tenant, "admin")
    return made


def post_webhook(admin: APIClient, tenant: Tenant, url: str, *types: str) -> Any:
    body = {"url": url, "name": "mine", "event_types": types or ("memory_add",)}
    return admin.post(f"/api/v1/webhooks/projects/{tenant.id}/", body, format="json")


def test_memories_are_told_as_mem0_tells_them(
    admin: APIClient, tenant: Tenant, receiver: WebhookReceiver
) -> None:
    made = post_webhook(
        admin, tenant, receiver.url, "memory_add", "memory_update", "memory_delete"
    ).json()
    assert made["secret"].startswith("whsec_")
    kept = {"messages": "The blue key opens the shed.", "user_id": "ana", "infer": False}
    answer = admin.post("/v3/memories/add/", kept, format="json").json()
    memory = answer["results"][0]["id"]
    change = {"text": "The red key opens the shed."}
    admin.put(f"/v1/memories/{memory}/", change, format="json")
    admin.delete(f"/v1/memories/{memory}/")
    with tenant_scope(tenant.id):
        hook = Webhook.objects.get()
    dispatch.send_due_deliveries(tenant.id, hook.id, timezone.now())
    told = [got.json["event_details"] for got in receiver.requests]
    assert [(each["event"], each["id"], each["user_id"]) for each in told] == [
        ("ADD", memory, "ana"),
        ("UPDATE", memory, "ana"),
        ("DELETE", memory, "ana"),
    ]
    assert told[1]["data"] == {"memory": "The red key opens the shed."}


def test_what_was_added_is_told_once_it_is_read(
    admin: APIClient, tenant: Tenant, receiver: WebhookReceiver
) -> None:
    post_webhook(admin, tenant, receiver.url, "ingest_job_completed")
    body = {"messages": "I live in Porto.", "user_id": "ana", "async_mode": False}
    admin.post("/v1/memories/", body, format="json")
    with tenant_scope(tenant.id):
        hook = Webhook.objects.get()
    assert dispatch.send_due_deliveries(tenant.id, hook.id, timezone.now()) == 1
    assert receiver.requests[0].json["event_details"]["event"] == "ingest_job_completed"


@pytest.mark.parametrize("name", MEM0_EVENTS)
def test_every_event_of_theirs_can_be_asked_for(
    admin: APIClient, tenant: Tenant, name: str
) -> None:
    assert post_webhook(admin, tenant, "https://hooks.example.org/", name).status_code == 200


def test_they_are_listed_changed_and_deleted(admin: APIClient, tenant: Tenant) -> None:
    with tenant_scope(tenant.id):
        make_webhook(tenant)  # a native one is not theirs
    made = post_webhook(admin, tenant, "https://hooks.example.org/").json()
    path = f"/api/v1/webhooks/{made['webhook_id']}/"
    changed = admin.put(path, {"name": "n2", "event_types": ["memory_delete"]}, format="json")
    assert (changed.json()["name"], changed.json()["message"]) == (
        "n2",
        "Webhook updated successfully",
    )
    (shown,) = admin.get(f"/api/v1/webhooks/projects/{tenant.id}/").json()
    assert (shown["event_types"], shown["url"]) == (
        ["memory_delete"],
        "https://hooks.example.org/",
    )
    assert "secret" not in shown
    assert admin.delete(path).json() == {"message": "Webhook deleted successfully"}
    assert admin.put(path, {"name": "x"}, format="json").status_code == 404
    assert admin.get(f"/api/v1/webhooks/projects/{tenant.id}/").json() == []


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"url": "http://u"}, "url"),
        ({"event_types": ["fact.added"]}, "event_types"),
        ({"event_types": []}, "event_types"),
        ({"name": ""}, "name"),
        ({"name": "a\0"}, ""),
    ],
)
def test_what_can_not_be_is_400_and_named(
    admin: APIClient, tenant: Tenant, given: dict[str, Any], field: str
) -> None:
    body = {"url": "https://h.example.org/", "name": "n", "event_types": ["memory_add"]} | given
    answer = admin.post(f"/api/v1/webhooks/projects/{tenant.id}/", body, format="json")
    if not field:  # a NUL goes, and the rest is a name
        assert answer.json()["name"] == "a"
        return
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] == field
