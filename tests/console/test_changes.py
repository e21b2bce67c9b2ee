"""The audit: what people and keys changed, whichever table tells of it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from memoryhub.errors import NotFound
from memoryhub.pipeline.erasure.erase_targets import ErasureTarget, execute_erasure
from memoryhub.tenants.audit import HUB_ACTOR
from memoryhub.tenants.models import AuditEntry
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import add_member, create_key, rotate_key, set_tenant_engine
from memoryhub.webhooks import services as webhooks
from tests.console.conftest import ConsoleWorld
from tests.support.database_scan import find_tables_with_word
from tests.support.factories import MAY, make_event, make_receipt


def get_list_page(browser: Client, **query: str) -> str:
    return browser.get(reverse("changes"), query).content.decode()


def list_audit_entries(world: ConsoleWorld) -> list[tuple[str, str, str, str]]:
    with tenant_scope(world.tenant.id):
        rows = AuditEntry.objects.filter(actor=world.admin.username).order_by("id")
        return [(row.action, row.actor, row.about, row.detail) for row in rows]


def test_what_an_admin_does_with_keys_people_and_webhooks_is_noted(
    browser: Client, world: ConsoleWorld
) -> None:
    form = {"name": "shop", "scopes": ["read"], "subject": world.space.subject}
    secret = browser.post(reverse("keys"), form, follow=True).context["secret"]
    browser.post(reverse("key-revoke", args=[world.key.id]))
    browser.post(reverse("people"), {"username": "ida", "role": "editor"})
    member = world.collect_ids()["member_id"]
    browser.post(reverse("person-role", args=[member]), {"role": "viewer"})  # the last admin
    browser.post(reverse("webhook-switch", args=[world.hook.id]), {"on": "0"})
    browser.post(reverse("webhook-rotate", args=[world.hook.id]))
    browser.post(reverse("webhook-delete", args=[world.hook.id]))
    browser.get(reverse("spaces-export"))
    browser.post(reverse("usage-redact", args=[world.call.id]))
    found = list_audit_entries(world)
    assert [each[0] for each in found] == [
        "key.made",
        "key.revoked",
        "person.added",
        "webhook.changed",
        "webhook.rotated",
        "webhook.deleted",
        "data.exported",
        "data.redacted",
    ]
    assert {each[1] for each in found} == {world.admin.username}
    assert found[0][3] == "read; one space"
    assert found[2][2:] == ("ida", "as editor")
    with tenant_scope(world.tenant.id):
        assert "public.tenants_auditentry" not in find_tables_with_word(secret[-20:])
    page = get_list_page(browser)
    for words in ("Key created", "Key revoked", "Person added", "Webhook deleted", "Exported as"):
        assert words in page


def test_what_a_key_does_is_noted_under_the_key(browser: Client, world: ConsoleWorld) -> None:
    _, secret = create_key(world.tenant, "boss", ["read", "admin"])
    api = APIClient(headers={"Authorization": f"Bearer {secret}"})
    api.post("/api/v1/keys/new", {"name": "bot", "scopes": ["read"]}, format="json")
    api.post("/api/v1/members/new", {"username": "eve", "role": "viewer"}, format="json")
    api.get(f"/api/v1/spaces/{world.space.subject}/export")
    with tenant_scope(world.tenant.id):
        rows = AuditEntry.objects.filter(actor__startswith="key mh_").order_by("id")
        assert [row.action for row in rows] == ["key.made", "person.added", "data.exported"]
        assert [row.space_id for row in rows] == [None, None, world.space.id]


def test_it_takes_from_every_source_the_newest_first(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        now = timezone.now()
        hand = make_event(world.space, kind="manual", created_at=now, actor="ida", reason="a typo")
        make_event(world.space, kind="resolve", created_at=now, reason="read by the pipeline")
        own = {"actor": HUB_ACTOR, "reason": "put right by itself"}
        make_event(world.space, kind="manual", created_at=now, **own)
        receipt = make_receipt(world.tenant, created_at=now - timedelta(hours=1), actor="bob")
    key, _ = create_key(world.tenant, "shop", ["read"])
    rotate_key(key, timezone.now(), timedelta(hours=1))
    set_tenant_engine(world.tenant.id, "llm")
    page = get_list_page(browser)
    assert reverse("space-event", args=[world.space.id, hand.id]) in page
    assert reverse("receipt", args=[receipt.id]) in page
    assert "Policy changed" in page
    assert "Key rotated" in page
    assert f"in place of {key}" in page
    assert "now llm" in page
    assert "read by the pipeline" not in page
    assert "put right by itself" not in page
    assert page.index("Tenant changed") < page.index("a typo") < page.index(">bob<")


@pytest.mark.parametrize(
    ("query", "there", "not_there"),
    [
        ({"area": "memory"}, "a typo", "Key created"),
        ({"area": "key"}, "Key created", "a typo"),
        ({"area": "policy"}, "Policy changed", "Key created"),
        ({"area": "erasure"}, "Erased", "a typo"),
        ({"area": "person"}, "Person added", "Key created"),
        ({"q": "typo"}, "a typo", "Key created"),
        ({"q": "backend"}, "Key created", "a typo"),
        ({"q": "nothing is like it"}, "Nothing matches", "Key created"),
        ({"days": "all"}, "long ago", "nobody"),
        ({"days": "1"}, "a typo", "long ago"),
    ],
)
def test_it_is_narrowed_by_area_words_and_days(
    browser: Client, world: ConsoleWorld, query: dict[str, str], there: str, not_there: str
) -> None:
    with tenant_scope(world.tenant.id):
        make_event(world.space, kind="manual", created_at=timezone.now(), reason="a typo")
        make_event(world.space, kind="undo", created_at=MAY, reason="long ago")
        make_receipt(world.tenant, created_at=timezone.now())
    page = get_list_page(browser, **query)
    assert there in page
    assert not_there not in page


@pytest.mark.parametrize("count", [1, 20])
def test_its_statements_do_not_grow_with_it(
    browser: Client,
    world: ConsoleWorld,
    count: int,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    with tenant_scope(world.tenant.id):
        for _ in range(count):
            make_event(world.space, kind="manual", created_at=timezone.now())
    with django_assert_num_queries(14):
        get_list_page(browser)


def test_X6_with_a_subject_what_was_noted_of_its_space_goes(
    browser: Client, world: ConsoleWorld
) -> None:
    form = {"name": "shop", "scopes": ["read"], "subject": world.space.subject}
    browser.post(reverse("keys"), form)
    browser.get(reverse("space-export", args=[world.space.id]))
    execute_erasure(world.space, ErasureTarget("subject"), "ida", timezone.now())
    with tenant_scope(world.tenant.id):
        assert not AuditEntry.objects.filter(about="one space").exists()
        assert find_tables_with_word(world.space.subject) == []
    assert "Erased" in get_list_page(browser)


def test_a_refused_change_is_not_noted(browser: Client, world: ConsoleWorld) -> None:
    browser.post(reverse("people"), {"username": world.admin.username, "role": "viewer"})
    browser.post(reverse("person-remove", args=[world.collect_ids()["member_id"]]))
    with pytest.raises(NotFound):
        webhooks.delete_webhook(world.tenant.id, world.key.id, actor=world.admin.username)
    assert list_audit_entries(world) == []


def test_who_belongs_already_is_not_added_once_more(world: ConsoleWorld) -> None:
    def list_entries() -> list[str]:
        with tenant_scope(world.tenant.id):
            about = AuditEntry.objects.filter(about=world.admin.username)
            return list(about.order_by("at").values_list("action", flat=True))

    before = list_entries()
    add_member(world.tenant, world.admin, "admin")
    assert list_entries() == before
    add_member(world.tenant, world.admin, "editor")
    assert list_entries() == [*before, AuditEntry.Action.PERSON_CHANGED]
