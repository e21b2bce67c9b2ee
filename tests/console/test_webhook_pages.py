"""The pages of webhooks: made, tested, looked at, sent again."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from memoryhub.tenants.scope import tenant_scope
from memoryhub.webhooks import dispatch
from memoryhub.webhooks.models import Delivery, Webhook
from memoryhub.webhooks.services import DISABLED_BY_HAND
from tests.console.conftest import ConsoleWorld
from tests.support.factories import make_delivery, make_webhook
from tests.support.receiver import ScriptedAnswer, WebhookReceiver

FAILING = {"state": "failing"}
FORM: dict[str, object] = {
    "name": "CRM 2",
    "url": "https://hooks.example.org/",
    "events": ["fact.added"],
}


@pytest.fixture
def receiver(settings: Settings) -> Iterator[WebhookReceiver]:
    settings.WEBHOOK_ALLOW_HTTP = True
    settings.WEBHOOK_PRIVATE_NETWORKS = (ip_network("127.0.0.1/32"),)
    with WebhookReceiver() as one:
        yield one


def read_content(answer: object) -> str:
    return str(answer.content.decode())  # type: ignore[attr-defined]


def reload_webhook(world: ConsoleWorld) -> Webhook:
    with tenant_scope(world.tenant.id):
        return Webhook.objects.get(id=world.hook.id)


def test_the_secret_is_shown_once(browser: Client, world: ConsoleWorld) -> None:
    sent = browser.post(reverse("webhook-new"), FORM | {"content": "text"})
    with tenant_scope(world.tenant.id):
        hook = Webhook.objects.get(name="CRM 2")
    assert sent["Location"] == reverse("webhook", args=[hook.id])
    other = browser.get(reverse("webhook", args=[world.hook.id]))
    assert "whsec_" not in read_content(other)
    made = browser.get(sent["Location"])
    assert "no-store" in made["Cache-Control"]
    assert dispatch.derive_webhook_secret(hook, 1) in read_content(made)
    assert (hook.content, hook.created_by) == ("text", world.admin.get_username())
    assert "whsec_" not in read_content(browser.get(reverse("webhook", args=[hook.id])))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"url": "https://10.0.0.1/"}, "private or reserved"),
        ({"url": "http://hooks.example.org/"}, "Address: it has to begin with https://"),
        ({"name": " "}, "1 to 120 characters"),
        ({"events": []}, "at least one event"),
        ({"subject": "nobody"}, "no space with this subject"),
    ],
)
def test_a_refused_form_says_why_and_keeps_what_was_typed(
    browser: Client, world: ConsoleWorld, given: dict[str, object], said: str
) -> None:
    answer = browser.post(reverse("webhook-new"), FORM | given)
    assert answer.status_code == 422
    assert said in read_content(answer)
    assert 'value="fact.added" checked' in read_content(answer) or not given.get("events", True)


def test_the_list_is_searched_and_filtered(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        make_webhook(world.tenant, name="Ledger", is_active=False)
    every = read_content(browser.get(reverse("webhooks")))
    assert "CRM" in every
    assert "Ledger" in every
    off = read_content(browser.get(reverse("webhooks"), {"state": "off"}))
    assert "Ledger" in off
    assert ">CRM<" not in off
    assert "Nothing matches" in read_content(browser.get(reverse("webhooks"), {"q": "zzz"}))


def test_an_admin_sees_at_once_that_a_webhook_fails(browser: Client, world: ConsoleWorld) -> None:
    def set_hook(**values: object) -> None:
        with tenant_scope(world.tenant.id):
            Webhook.objects.filter(id=world.hook.id).update(**values)

    def told() -> tuple[bool, bool]:
        said = "1 webhook can&#x27;t be reached" in read_content(browser.get(reverse("overview")))
        listed = "Nothing matches" not in read_content(browser.get(reverse("webhooks"), FAILING))
        return said, listed

    assert told() == (False, False)
    set_hook(failures=3)
    assert told() == (True, True)
    set_hook(is_active=False, disabled_because="It answered 410: the receiver is gone.")
    assert told() == (True, True)
    set_hook(disabled_because=DISABLED_BY_HAND)
    assert told() == (False, False)


def test_what_went_wrong_is_told_in_the_readers_language(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        log = [
            {"at": "2026-05-12T09:30:00Z", "status": None, "ms": 1, "error": "no answer in time"}
        ]
        sent = make_delivery(world.hook, error="no answer in time", log=log)
    for page in (
        reverse("webhook", args=[world.hook.id]),
        reverse("webhook-delivery", args=[world.hook.id, sent.id]),
    ):
        assert "2026-05-12T09:30:00Z" not in read_content(browser.get(page))
        told = read_content(browser.get(page, headers={"Accept-Language": "zh-CN"}))
        assert "未及时响应" in told
        assert "no answer in time" not in told


def test_the_log_is_searched_filtered_and_paged(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        for number in range(30):
            make_delivery(world.hook, world.space, state="delivered", error=f"no {number}.")
    where = reverse("webhook", args=[world.hook.id])
    assert "1 to 25 of 31" in read_content(browser.get(where))
    assert "26 to 31 of 31" in read_content(browser.get(where, {"page": "2"}))
    assert "1 to 1 of 1" in read_content(browser.get(where, {"state": "dead"}))
    assert "1 to 1 of 1" in read_content(browser.get(where, {"q": "29."}))
    assert "1 to 25 of 31" in read_content(browser.get(where, {"event": "fact.added"}))


def test_a_test_that_arrives_and_one_that_does_not(
    browser: Client, world: ConsoleWorld, receiver: WebhookReceiver
) -> None:
    with tenant_scope(world.tenant.id):
        Webhook.objects.filter(id=world.hook.id).update(url=receiver.url)
    where = reverse("webhook-ping", args=[world.hook.id])
    receiver.script(ScriptedAnswer(200, b"thanks"), ScriptedAnswer(500))
    well = read_content(browser.post(where, follow=True))
    assert "The test was delivered: response 200." in well
    assert "thanks" in well
    assert "The test was not delivered: answered 500." in read_content(
        browser.post(where, follow=True)
    )


def test_a_delivery_is_sent_again(browser: Client, world: ConsoleWorld) -> None:
    args = [world.hook.id, world.delivery.id]
    page = read_content(browser.get(reverse("webhook-delivery", args=args)))
    assert "Send it again" in page
    assert "fact.added" in page
    again = read_content(browser.post(reverse("webhook-replay", args=args), follow=True))
    assert "sent again" in again
    refused = read_content(browser.post(reverse("webhook-replay", args=args), follow=True))
    assert "Not sent again: it has not ended yet." in refused
    with tenant_scope(world.tenant.id):
        assert Delivery.objects.get(id=world.delivery.id).state == "waiting"


def test_it_is_switched_off_on_changed_and_deleted(browser: Client, world: ConsoleWorld) -> None:
    def go(name: str, form: dict[str, object] | None = None) -> str:
        where = reverse(name, args=[world.hook.id])
        return read_content(browser.post(where, form or {}, follow=True))

    assert "Switched off by hand." in go("webhook-switch", {"on": "0"})
    assert not reload_webhook(world).is_active
    assert "Switched on" in go("webhook-switch", {"on": "1"})
    assert "Changed." in go("webhook", FORM)
    assert (reload_webhook(world).name, reload_webhook(world).events) == ("CRM 2", ["fact.added"])
    assert "private or reserved" in go("webhook", FORM | {"url": "https://10.0.0.1/"})
    assert "whsec_" in go("webhook-rotate", {"now": "1"})
    assert reload_webhook(world).generation == 2
    assert "Deleted: CRM 2" in go("webhook-delete")
