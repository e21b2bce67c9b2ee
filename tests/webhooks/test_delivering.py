"""From the outbox to a receiver: signed, retried, given up, replayed, and once among workers."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils.translation import override
from pytest_django import Settings

from memoryhub.declarations import load_declarations
from memoryhub.dialogues.messages import Message
from memoryhub.errors import Conflict, InvalidInput, NotFound, VersionOutdated
from memoryhub.pipeline.ingest.services import IngestRequest, ingest_messages
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant
from memoryhub.webhooks import dispatch, queue, services
from memoryhub.webhooks.http_client import ReceiverReply
from memoryhub.webhooks.models import Delivery, Webhook, WebhookEvent
from tests.support.factories import make_fact, make_space
from tests.support.receiver import ScriptedAnswer, WebhookReceiver
from tests.webhooks.conftest import NOW, Make

pytestmark = pytest.mark.django_db
State = Delivery.State


@pytest.fixture(autouse=True)
def _no_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memoryhub.pipeline.ingest.services.ring_worker", lambda *ids: None)
    monkeypatch.setattr("memoryhub.webhooks.queue.random.random", lambda: 0.5)


def ingest_text(tenant: Tenant, text: str = "Hello there.", subject: str = "ana") -> None:
    ingest_messages(tenant.id, IngestRequest(subject, [Message("user", text, "Ana")]))


def list_deliveries(tenant: Tenant) -> list[Delivery]:
    with tenant_scope(tenant.id):
        rows = Delivery.objects.select_related("webhook", "event", "event__space")
        return list(rows.order_by("created_at", "id"))


def reload_webhook(hook: Webhook) -> Webhook:
    with tenant_scope(hook.tenant_id):
        return Webhook.objects.get(id=hook.id)


def get_later_time() -> datetime:
    """Later than whatever was made just now."""
    from django.utils import timezone

    return timezone.now() + timedelta(seconds=1)


def run_deliveries(hook: Webhook, at: datetime | None = None) -> int:
    return dispatch.send_due_deliveries(hook.tenant_id, hook.id, at or get_later_time())


def test_it_arrives_signed_and_with_ids_alone(
    tenant: Tenant, hook_to: Make, receiver: WebhookReceiver
) -> None:
    hook = hook_to("turns.added")
    ingest_text(tenant, "I live in Porto.")
    at = get_later_time()
    assert run_deliveries(hook, at) == 1
    (got,), (one,) = receiver.requests, list_deliveries(tenant)
    assert (one.state, one.status, one.tries, one.error) == (State.DELIVERED, 200, 1, "")
    assert (one.reply, one.finished_at) == ("ok", at)
    assert got.json["type"] == "turns.added"
    assert got.json["id"] == got.headers["webhook-id"] == str(one.event_id)
    assert got.json["space"]["subject"] == "ana"
    assert "Porto" not in got.body.decode()
    assert got.headers["webhook-timestamp"] == str(int(at.timestamp()))
    secret = dispatch.derive_webhook_secret(hook, 1)
    expected = dispatch.sign_body(one.event_id, int(at.timestamp()), got.body, secret)
    assert got.headers["webhook-signature"] == expected
    assert reload_webhook(hook).last_success_at == at
    assert run_deliveries(hook) == 0


def test_words_go_along_where_that_is_chosen(
    tenant: Tenant, hook_to: Make, receiver: WebhookReceiver
) -> None:
    hook = hook_to("turns.added", content="text")
    ingest_text(tenant, "I live in Porto.")
    run_deliveries(hook)
    (turn,) = receiver.requests[0].json["data"]["turns"]
    assert (turn["text"], turn["role"], turn["speaker"]) == ("I live in Porto.", "user", "Ana")


def test_words_are_those_of_the_moment_of_sending(
    tenant: Tenant, hook_to: Make, receiver: WebhookReceiver
) -> None:
    hook = hook_to("fact.added", content="text")
    with tenant_scope(tenant.id):
        space = make_space(tenant)
        held, gone = make_fact(space, "Ana lives in Porto"), make_fact(space, "A secret")
        for fact in (held, gone):
            event = WebhookEvent.objects.create(
                tenant=tenant,
                kind="fact.added",
                space=space,
                data={"id": str(fact.id)},
                occurred_at=NOW,
                created_at=NOW,
            )
            Delivery.objects.create(
                tenant=tenant,
                webhook=hook,
                event=event,
                name="fact.added",
                run_after=NOW,
                created_at=NOW,
            )
        held.text = "Ana lives in Faro"
        held.save()
        gone.delete()
    assert run_deliveries(hook) == 2
    assert [got.json["data"].get("text") for got in receiver.requests] == [
        "Ana lives in Faro",
        None,
    ]


def test_a_failure_is_tried_again_with_backoff_and_the_same_id(
    tenant: Tenant, hook_to: Make, receiver: WebhookReceiver
) -> None:
    hook = hook_to("turns.added")
    receiver.script(ScriptedAnswer(500, b"oops"), ScriptedAnswer(302), ScriptedAnswer(200))
    ingest_text(tenant)
    at = get_later_time()
    run_deliveries(hook, at)
    (one,) = list_deliveries(tenant)
    assert (one.state, one.error, one.reply) == (State.RETRY, "answered 500", "oops")
    assert one.run_after == at + timedelta(seconds=10)
    assert reload_webhook(hook).quiet_until == at + timedelta(seconds=10)
    assert run_deliveries(hook, at + timedelta(seconds=9)) == 0
    at += timedelta(seconds=10)
    assert run_deliveries(hook, at) == 1
    (one,) = list_deliveries(tenant)
    assert one.error == "answered 302: redirects are not followed"
    assert one.run_after == at + timedelta(seconds=40)
    assert run_deliveries(hook, at + timedelta(seconds=40)) == 1
    (one,) = list_deliveries(tenant)
    assert (one.state, one.tries) == (State.DELIVERED, 3)
    assert [line["status"] for line in one.log] == [500, 302, 200]
    assert len({got.headers["webhook-id"] for got in receiver.requests}) == 1
    assert len({got.headers["webhook-timestamp"] for got in receiver.requests}) == 3
    assert reload_webhook(hook).failures == 0


def test_what_a_receiver_asks_for_is_waited(
    tenant: Tenant, hook_to: Make, receiver: WebhookReceiver
) -> None:
    hook = hook_to("turns.added")
    receiver.script(ScriptedAnswer(429, headers={"Retry-After": "120"}))
    ingest_text(tenant)
    at = get_later_time()
    run_deliveries(hook, at)
    assert list_deliveries(tenant)[0].run_after == at + timedelta(seconds=120)


def test_others_wait_while_a_receiver_fails_and_go_in_order(
    tenant: Tenant, hook_to: Make, receiver: WebhookReceiver
) -> None:
    hook = hook_to("turns.added")
    receiver.script(ScriptedAnswer(hangs_up=True))
    for text in ("One.", "Two.", "Three."):
        ingest_text(tenant, text)
    at = get_later_time()
    assert run_deliveries(hook, at) == 1
    assert [one.state for one in list_deliveries(tenant)] == [
        State.RETRY,
        State.WAITING,
        State.WAITING,
    ]
    assert run_deliveries(hook, at + timedelta(seconds=10)) == 3
    assert [got.json["data"]["first_seq"] for got in receiver.requests] == [1, 1, 2, 3]


def test_one_that_is_refused_does_not_hold_others_up(
    tenant: Tenant, hook_to: Make, receiver: WebhookReceiver
) -> None:
    """400 is about this request: the receiver itself is well."""
    hook = hook_to("turns.added")
    receiver.script(ScriptedAnswer(400))
    ingest_text(tenant, "One.")
    ingest_text(tenant, "Two.")
    at = get_later_time()
    run_deliveries(hook, at)
    assert reload_webhook(hook).quiet_until is None
    assert run_deliveries(hook, at) == 1
    assert [one.state for one in list_deliveries(tenant)] == [State.RETRY, State.DELIVERED]


def fail_every_try(
    hook: Webhook, receiver: WebhookReceiver, at: datetime, settings: Settings
) -> datetime:
    """Every try of what waits fails. Returns when the last did."""
    for _ in range(settings.WEBHOOK_MAX_ATTEMPTS):
        receiver.script(ScriptedAnswer(500))
        at += timedelta(hours=7)
        assert run_deliveries(hook, at) == 1
    return at


def test_after_its_tries_it_is_given_up_and_can_be_sent_again(
    tenant: Tenant, hook_to: Make, receiver: WebhookReceiver, rung: list[Any], settings: Settings
) -> None:
    settings.WEBHOOK_MAX_ATTEMPTS = 2
    hook = hook_to("turns.added")
    ingest_text(tenant)
    at = fail_every_try(hook, receiver, get_later_time(), settings)
    (one,) = list_deliveries(tenant)
    assert (one.state, one.tries, one.finished_at) == (State.DEAD, 2, at)
    assert run_deliveries(hook, at + timedelta(days=9)) == 0
    again = services.replay_delivery(tenant.id, one.id, at)
    assert (again.state, again.tries, again.event_id) == (State.WAITING, 0, one.event_id)
    with pytest.raises(Conflict) as refused:
        services.replay_delivery(tenant.id, one.id, at)
    assert refused.value.code == "delivery_under_way"
    assert run_deliveries(hook, at) == 1
    assert [each.state for each in list_deliveries(tenant)] == [State.DELIVERED]
    assert len({got.headers["webhook-id"] for got in receiver.requests}) == 1


def test_a_receiver_that_keeps_failing_is_switched_off_with_words(
    tenant: Tenant, hook_to: Make, receiver: WebhookReceiver, settings: Settings
) -> None:
    settings.WEBHOOK_MAX_ATTEMPTS = 1
    hook = hook_to("turns.added")
    at = get_later_time()
    for number in range(queue.MOST_GIVEN_UP + 1):
        ingest_text(tenant, f"Number {number}.")
    for _ in range(queue.MOST_GIVEN_UP):
        at = fail_every_try(hook, receiver, at, settings)
    off = reload_webhook(hook)
    assert not off.is_active
    assert off.disabled_because == "5 deliveries in a row were given up; the last: answered 500"
    assert run_deliveries(hook, at + timedelta(days=1)) == 0
    ingest_text(tenant, "Not told.")
    on = services.update_webhook(tenant.id, hook.id, at, is_active=True)
    assert (on.is_active, on.disabled_because, on.given_up) == (True, "", 0)
    assert run_deliveries(hook, at) == 1  # what waited
    assert [one.state for one in list_deliveries(tenant)].count(State.DELIVERED) == 1


def test_one_success_in_between_keeps_it_on(
    tenant: Tenant, hook_to: Make, receiver: WebhookReceiver, settings: Settings
) -> None:
    settings.WEBHOOK_MAX_ATTEMPTS = 1
    hook = hook_to("turns.added")
    at = get_later_time()
    for number in range(2 * queue.MOST_GIVEN_UP):
        ingest_text(tenant, f"Number {number}.")
        receiver.script(ScriptedAnswer(200 if number == 4 else 500))
        at += timedelta(hours=1)
        run_deliveries(hook, at)
    assert not reload_webhook(hook).is_active  # five after the success
    assert reload_webhook(hook).given_up == 5


def test_gone_means_gone(tenant: Tenant, hook_to: Make, receiver: WebhookReceiver) -> None:
    hook = hook_to("turns.added")
    receiver.script(ScriptedAnswer(410))
    ingest_text(tenant)
    run_deliveries(hook)
    assert list_deliveries(tenant)[0].state == State.DEAD
    assert reload_webhook(hook).disabled_because == "It answered 410: the receiver is gone."


def test_a_test_is_sent_at_once_and_once_also_while_it_is_off(
    tenant: Tenant, hook_to: Make, receiver: WebhookReceiver
) -> None:
    hook = hook_to("turns.added")
    services.update_webhook(tenant.id, hook.id, NOW, is_active=False)
    receiver.script(ScriptedAnswer(200), ScriptedAnswer(500))
    well = services.ping_webhook(tenant.id, hook.id, NOW)
    assert (well.state, well.status, well.name) == (State.DELIVERED, 200, "webhook.test")
    assert receiver.requests[0].json["type"] == "webhook.test"
    badly = services.ping_webhook(tenant.id, hook.id, NOW)
    assert (badly.state, badly.tries) == (State.DEAD, 1)
    assert (reload_webhook(hook).failures, reload_webhook(hook).given_up) == (0, 0)


def test_the_log_of_a_test_is_in_one_language_whoever_asked(
    tenant: Tenant, hook_to: Make, settings: Settings
) -> None:
    hook = hook_to("turns.added")
    settings.WEBHOOK_PRIVATE_NETWORKS = ()
    with override("zh-hans"):
        refused = services.ping_webhook(tenant.id, hook.id, NOW)
    said = "refused: 127.0.0.1 is this machine itself: nothing is sent there"
    assert (refused.error, refused.log[0]["error"]) == (said, said)


def test_while_another_is_being_sent_a_test_waits(
    tenant: Tenant, hook_to: Make, receiver: WebhookReceiver
) -> None:
    hook = hook_to("turns.added")
    ingest_text(tenant)
    with tenant_scope(tenant.id):
        assert queue.claim_delivery(hook.id, get_later_time()) is not None
    assert services.ping_webhook(tenant.id, hook.id, NOW).state == State.WAITING
    assert receiver.requests == []


def test_a_worker_that_died_is_replaced_and_changes_nothing_later(
    tenant: Tenant, hook_to: Make, receiver: WebhookReceiver
) -> None:
    hook = hook_to("turns.added")
    ingest_text(tenant)
    at = get_later_time()
    with tenant_scope(tenant.id):
        lost = queue.claim_delivery(hook.id, at)
        assert lost is not None
        assert queue.claim_delivery(hook.id, at) is None
    assert run_deliveries(hook, at + timedelta(hours=1)) == 1
    with tenant_scope(tenant.id):
        assert queue.finish_attempt(lost, ReceiverReply(500, error="late"), at) is False
    (one,) = list_deliveries(tenant)
    assert (one.state, one.attempts) == (State.DELIVERED, 2)


def test_a_delivery_whose_workers_die_every_time_is_given_up(
    tenant: Tenant, hook_to: Make, receiver: WebhookReceiver, settings: Settings
) -> None:
    settings.WEBHOOK_MAX_ATTEMPTS = 2
    hook = hook_to("turns.added")
    ingest_text(tenant)
    at = get_later_time()
    for _ in range(2):
        at += timedelta(hours=1)
        with tenant_scope(tenant.id):
            assert queue.claim_delivery(hook.id, at) is not None
    assert run_deliveries(hook, at + timedelta(hours=1)) == 0
    (one,) = list_deliveries(tenant)
    assert (one.state, one.error) == (State.DEAD, "its worker died every time")


def test_the_setting_is_looked_at_with_every_try(
    tenant: Tenant, hook_to: Make, receiver: WebhookReceiver, settings: Settings
) -> None:
    hook = hook_to("turns.added")
    settings.WEBHOOK_PRIVATE_NETWORKS = ()
    ingest_text(tenant)
    run_deliveries(hook)
    (one,) = list_deliveries(tenant)
    assert one.state == State.RETRY
    assert "this machine itself" in one.error
    assert receiver.requests == []


def test_both_secrets_sign_until_the_overlap_is_over(
    tenant: Tenant, hook_to: Make, receiver: WebhookReceiver
) -> None:
    hook = hook_to("turns.added")
    old = dispatch.derive_webhook_secret(hook, 1)
    _, new = services.rotate_secret(tenant.id, hook.id, NOW, timedelta(hours=24))
    assert new != old
    assert dispatch.list_valid_secrets(reload_webhook(hook), NOW) == [new, old]
    assert dispatch.list_valid_secrets(reload_webhook(hook), NOW + timedelta(hours=24)) == [new]
    _, newest = services.rotate_secret(tenant.id, hook.id, NOW, timedelta(0))
    assert dispatch.list_valid_secrets(reload_webhook(hook), NOW) == [newest]


def test_the_secret_is_nowhere_in_the_database(tenant: Tenant, hook_to: Make) -> None:
    hook = hook_to("turns.added")
    secret = dispatch.derive_webhook_secret(hook, 1)
    with tenant_scope(tenant.id):
        stored = Webhook.objects.filter(id=hook.id).values().get()
    assert not [value for value in stored.values() if secret[6:20] in str(value)]


def test_secrets_differ_by_webhook_tenant_generation_and_hub(tenant: Tenant) -> None:
    one, two = tenant.id, create_tenant("Two", "two").id
    made = {
        dispatch.derive_secret(key, owner, hook, generation)
        for key in ("a", "b")
        for owner in (one, two)
        for hook in (one, two)
        for generation in (1, 2)
    }
    assert len(made) == 16
    assert all(each.startswith("whsec_") and len(each) == 50 for each in made)


def test_the_sweep_finds_what_nobody_heard(
    tenant: Tenant, hook_to: Make, receiver: WebhookReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = hook_to("turns.added")
    ingest_text(tenant)
    assert dispatch.sweep_due_webhooks in load_declarations()["webhooks"].hub_sweeps
    assert queue.find_due_webhooks(get_later_time()) == [(tenant.id, hook.id)]
    monkeypatch.setattr("memoryhub.webhooks.outbox.ring_worker", lambda *ids: False)
    dispatch.sweep_due_webhooks()  # there is no broker: it sends by itself
    assert [one.state for one in list_deliveries(tenant)] == [State.DELIVERED]
    assert queue.find_due_webhooks(get_later_time()) == []


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "x" * 121}, "name"),
        ({"url": "http://10.0.0.1/"}, "url"),
        ({"url": "https://"}, "url"),
        ({"events": []}, "events"),
        ({"events": ["fact.eaten"]}, "events"),
    ],
)
def test_what_can_not_be_is_refused_by_name(
    tenant: Tenant, hook_to: Make, given: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        hook_to(**given) if "events" not in given else hook_to("x", **given)
    assert refused.value.field == field
    with pytest.raises(InvalidInput) as refused:
        services.update_webhook(tenant.id, hook_to("turns.added").id, NOW, **given)
    assert refused.value.field == field


def test_there_is_a_most_of_webhooks(
    tenant: Tenant, hook_to: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "MOST_WEBHOOKS", 1)
    hook_to("turns.added")
    with pytest.raises(InvalidInput, match="at most 1 webhooks"):
        hook_to("turns.added")


def test_an_outdated_change_is_refused(tenant: Tenant, hook_to: Make) -> None:
    hook = hook_to("turns.added")
    services.update_webhook(tenant.id, hook.id, NOW, version=1, name="other")
    with pytest.raises(VersionOutdated):
        services.update_webhook(tenant.id, hook.id, NOW, version=1, name="another")


def test_ids_of_others_do_not_exist(tenant: Tenant, hook_to: Make) -> None:
    hook = hook_to("turns.added")
    ingest_text(tenant)
    (one,) = list_deliveries(tenant)
    two = create_tenant("Two", "two").id
    for refused in (
        lambda: services.update_webhook(two, hook.id, NOW, name="x"),
        lambda: services.rotate_secret(two, hook.id, NOW, timedelta(0)),
        lambda: services.delete_webhook(two, hook.id),
        lambda: services.ping_webhook(two, hook.id, NOW),
        lambda: services.replay_delivery(two, one.id, NOW),
    ):
        with pytest.raises(NotFound):
            refused()


@pytest.mark.django_db(transaction=True)
def test_two_workers_deliver_once(hook_to: Make, tenant: Tenant, receiver: WebhookReceiver) -> None:
    hook = hook_to("turns.added")
    for number in range(6):
        ingest_text(tenant, f"Number {number}.")
    at, ready = get_later_time(), threading.Barrier(4)

    def worker() -> None:
        try:
            ready.wait()
            while queue_is_open(hook, at):
                dispatch.send_due_deliveries(tenant.id, hook.id, at)
        finally:
            connection.close()

    threads = [threading.Thread(target=worker) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ids = [got.headers["webhook-id"] for got in receiver.requests]
    assert len(ids) == len(set(ids)) == 6
    assert {one.state for one in list_deliveries(tenant)} == {State.DELIVERED}
    assert {one.attempts for one in list_deliveries(tenant)} == {1}


def queue_is_open(hook: Webhook, at: datetime) -> bool:
    with tenant_scope(hook.tenant_id):
        rows = Delivery.objects.filter(webhook=hook)
        return bool(rows.exclude(state=State.DELIVERED).exists())
