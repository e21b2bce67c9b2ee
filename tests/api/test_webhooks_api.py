"""Webhooks over the API: made with a secret told once, changed, tested, replayed."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network
from typing import Any

import pytest
from pytest_django import Settings
from rest_framework.test import APIClient

from memoryhub.background.news import NEWS_KINDS
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.webhooks import dispatch
from memoryhub.webhooks.models import Delivery, Webhook
from tests.support.factories import make_delivery, make_space, make_webhook
from tests.support.receiver import WebhookReceiver

HOOKS = "/api/v1/webhooks"
BODY = {"name": "CRM", "url": "https://hooks.example.org/in", "events": ["fact.added"]}


@pytest.fixture
def admin(tenant: Tenant, client_of: Any) -> APIClient:
    made: APIClient = client_of(tenant, "admin")
    return made


def post_webhooks(client: APIClient, path: str, body: Any = None, **headers: str) -> Any:
    return client.post(f"{HOOKS}/{path}", body or {}, format="json", headers=headers)


def test_one_is_made_with_a_secret_that_no_other_answer_has(
    admin: APIClient, tenant: Tenant
) -> None:
    made = post_webhooks(admin, "new", BODY)
    assert (made.status_code, made["Cache-Control"]) == (200, "no-store")
    secret, hook = made.json()["secret"], made.json()["webhook"]
    assert secret.startswith("whsec_")
    assert (hook["events"], hook["content"], hook["is_active"]) == (["fact.added"], "ids", True)
    assert hook["created_by"].startswith("key mh_")
    for path in (HOOKS, f"{HOOKS}/{hook['id']}", f"{HOOKS}/{hook['id']}/deliveries"):
        answer = admin.get(path)
        assert answer.status_code == 200
        assert secret not in answer.content.decode()
    with tenant_scope(tenant.id):
        assert dispatch.derive_webhook_secret(Webhook.objects.get(), 1) == secret


def test_a_repeated_request_makes_one_and_tells_its_secret_once(
    admin: APIClient, tenant: Tenant
) -> None:
    first = post_webhooks(admin, "new", BODY, **{"Idempotency-Key": "k1"})
    again = post_webhooks(admin, "new", BODY, **{"Idempotency-Key": "k1"})
    assert again["Idempotent-Replayed"] == "true"
    assert again.json() == {"webhook": first.json()["webhook"]}
    assert admin.get(HOOKS).json()["total"] == 1


@pytest.mark.parametrize("kind", NEWS_KINDS)
def test_every_kind_of_event_can_be_asked_for(admin: APIClient, kind: str) -> None:
    assert post_webhooks(admin, "new", BODY | {"events": [kind]}).status_code == 200


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "\0"}, "name"),
        ({"name": "x" * 121}, "name"),
        ({"name": 7}, "name"),
        ({"url": "http://hooks.example.org/"}, "url"),
        ({"url": "https://127.0.0.1/"}, "url"),
        ({"url": "https://hooks.example.org/\0"}, "url"),
        ({"url": "https://hooks.example.org/" + "x" * 2000}, "url"),
        ({"url": None}, "url"),
        ({"events": []}, "events"),
        ({"events": ["fact.eaten"]}, "events"),
        ({"events": "fact.added"}, "events"),
        ({"events": ["fact.added"] * 101}, "events"),
        ({"events": ["memory_add"]}, "events"),
        ({"style": "zep"}, "style"),
        ({"content": "all"}, "content"),
    ],
)
def test_what_can_not_be_is_refused_by_name(
    admin: APIClient, given: dict[str, Any], field: str
) -> None:
    answer = post_webhooks(admin, "new", BODY | given)
    assert answer.status_code == 422, answer.content
    assert answer.json()["errors"][0]["field"] == field
    assert admin.get(HOOKS).json()["total"] == 0


def test_a_webhook_of_a_subject(admin: APIClient, tenant: Tenant, client_of: Any) -> None:
    with tenant_scope(tenant.id):
        ana = make_space(tenant, "ana")
    made = post_webhooks(admin, "new", BODY | {"subject": "ana"})
    assert made.json()["webhook"]["subject"] == "ana"
    assert post_webhooks(admin, "new", BODY | {"subject": "nobody"}).status_code == 404
    bound = client_of(tenant, "admin", space=ana)
    own = post_webhooks(bound, "new", BODY).json()["webhook"]
    assert own["subject"] == "ana"
    post_webhooks(admin, "new", BODY)
    assert bound.get(HOOKS).json()["total"] == 2
    assert admin.get(HOOKS).json()["total"] == 3


def test_it_is_changed_in_the_version_that_was_read(admin: APIClient) -> None:
    made = post_webhooks(admin, "new", BODY)
    path = f"{made.json()['webhook']['id']}/change"
    changed = post_webhooks(admin, path, {"content": "text"}, **{"If-Match": made["ETag"]})
    assert changed.json()["webhook"]["content"] == "text"
    stale = post_webhooks(admin, path, {"name": "x"}, **{"If-Match": made["ETag"]})
    assert (stale.status_code, stale.json()["code"]) == (412, "precondition_failed")
    off = post_webhooks(admin, path, {"is_active": False}).json()["webhook"]
    assert (off["is_active"], off["disabled_because"]) == (False, "Switched off by hand.")
    assert post_webhooks(admin, path, {}).status_code == 422
    assert post_webhooks(admin, path, {"events": []}).status_code == 422
    assert post_webhooks(admin, path, {"is_active": "no"}).status_code == 422


def test_another_secret(admin: APIClient) -> None:
    made = post_webhooks(admin, "new", BODY).json()
    path = f"{made['webhook']['id']}/rotate"
    rotated = post_webhooks(admin, path, {"overlap_hours": 1}).json()
    assert rotated["secret"] != made["secret"]
    assert rotated["webhook"]["previous_until"]
    for hours in (-1, 721, "x", "2"):
        assert post_webhooks(admin, path, {"overlap_hours": hours}).status_code == 422


def test_it_goes_with_its_log(admin: APIClient, tenant: Tenant) -> None:
    with tenant_scope(tenant.id):
        hook = make_webhook(tenant)
        make_delivery(hook)
    assert post_webhooks(admin, f"{hook.id}/delete").json() == {"id": str(hook.id), "deleted": True}
    assert admin.get(f"{HOOKS}/{hook.id}").status_code == 404
    with tenant_scope(tenant.id):
        assert not Delivery.objects.exists()


def test_the_log_is_listed_filtered_and_replayed(admin: APIClient, tenant: Tenant) -> None:
    with tenant_scope(tenant.id):
        hook = make_webhook(tenant)
        dead = make_delivery(hook)
        make_delivery(hook, state="delivered", status=200, error="")
    path = f"{HOOKS}/{hook.id}/deliveries"
    assert admin.get(path, {"state": ""}).status_code == 422
    assert admin.get(path).json()["total"] == 2
    (shown,) = admin.get(f"{path}?state=dead").json()["items"]
    assert (shown["id"], shown["status"], shown["error"]) == (str(dead.id), 500, "answered 500")
    by_filter = admin.get(path, {"filter": '{"status": {"gte": 500}}'}).json()
    assert [each["id"] for each in by_filter["items"]] == [str(dead.id)]
    assert admin.get(f"{path}?state=lost").status_code == 422
    one = f"/api/v1/deliveries/{dead.id}"
    assert admin.get(one).json()["data"] == {"id": "0", "version": 1}
    again = admin.post(f"{one}/replay", {}, format="json")
    assert again.json()["delivery"]["state"] == "waiting"
    refused = admin.post(f"{one}/replay", {}, format="json")
    assert (refused.status_code, refused.json()["code"]) == (409, "delivery_under_way")
    with tenant_scope(tenant.id):
        Webhook.objects.update(is_active=False)
    refused = admin.post(f"{one}/replay", {}, format="json")
    assert (refused.status_code, refused.json()["code"]) == (409, "webhook_off")


@pytest.fixture
def receiver(settings: Settings) -> Iterator[WebhookReceiver]:
    settings.WEBHOOK_ALLOW_HTTP = True
    settings.WEBHOOK_PRIVATE_NETWORKS = (ip_network("127.0.0.1/32"),)
    with WebhookReceiver() as one:
        yield one


def test_a_ping_answers_with_what_came_of_it(admin: APIClient, receiver: WebhookReceiver) -> None:
    hook = post_webhooks(admin, "new", BODY | {"url": receiver.url}).json()["webhook"]
    sent = post_webhooks(admin, f"{hook['id']}/ping").json()["delivery"]
    assert (sent["state"], sent["status"], sent["type"]) == ("delivered", 200, "webhook.test")
    assert receiver.requests[0].json["data"] == {"webhook_id": hook["id"]}
