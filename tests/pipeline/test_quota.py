"""A tenant keeps so many messages and no more; nothing else of it stops."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from memoryhub.dialogues import quota
from memoryhub.dialogues.messages import Message
from memoryhub.dialogues.models import Turn
from memoryhub.errors import QuotaReached
from memoryhub.pipeline.ingest.services import IngestRequest, ingest_messages
from memoryhub.pipeline.ingest.verbatim import store_read_turns
from memoryhub.tenants.models import AuditEntry, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_key, create_tenant, set_quota
from tests.support.contract import ContractClient
from tests.support.export_files import import_export_file, make_export_file
from tests.support.factories import make_member


@pytest.fixture
def tenant(db: None) -> Tenant:
    return create_tenant("One", "one")


def say(tenant: Tenant, *texts: str) -> None:
    ingest_messages(tenant.id, IngestRequest("ana", [Message("user", text) for text in texts]))


def count_turns(tenant: Tenant) -> int:
    with tenant_scope(tenant.id):
        return Turn.objects.count()


@pytest.mark.django_db(transaction=True)  # what was taken in counts once it is committed
def test_what_is_over_the_quota_is_refused_and_stores_nothing(
    tenant: Tenant, settings: LazySettings
) -> None:
    settings.MAX_TURNS = 3
    say(tenant, "I live in Porto.", "I have a dog.")
    with pytest.raises(QuotaReached, match="may keep 3 messages and has 2"):
        say(tenant, "I work as a nurse.", "I ride a bike.")
    assert count_turns(tenant) == 2
    say(tenant, "I work as a nurse.")
    with pytest.raises(QuotaReached):
        say(tenant, "I ride a bike.")
    other = create_tenant("Other", "other")
    say(other, "I ride a bike.")


def test_what_is_sent_again_is_no_new_message(tenant: Tenant, settings: LazySettings) -> None:
    settings.MAX_TURNS = 1
    said = [Message("user", "I live in Porto.", external_id="1")]
    for _ in range(2):
        ingest_messages(tenant.id, IngestRequest("ana", said))


def test_a_quota_of_its_own_goes_before_the_settings(
    tenant: Tenant, settings: LazySettings
) -> None:
    settings.MAX_TURNS = 1
    set_quota(tenant.id, 0, actor="ida")
    say(tenant, "I live in Porto.", "I have a dog.")
    set_quota(tenant.id, 2, actor="ida")
    with pytest.raises(QuotaReached):
        say(tenant, "I ride a bike.")
    with tenant_scope(tenant.id):
        told = list(AuditEntry.objects.order_by("at").values_list("about", "detail", "actor"))
    assert told == [("quota", "now any number", "ida"), ("quota", "now 2", "ida")]


@pytest.mark.django_db(transaction=True)
def test_erased_messages_make_room_within_a_minute(
    tenant: Tenant, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MAX_TURNS = 1
    say(tenant, "I live in Porto.")
    with tenant_scope(tenant.id):
        Turn.objects.update(state=Turn.State.REDACTED)
    with pytest.raises(QuotaReached):
        say(tenant, "I ride a bike.")
    monkeypatch.setattr(quota, "_RECOUNT_SECONDS", -1.0)
    say(tenant, "I ride a bike.")


def test_many_messages_are_counted_by_one_statement(
    tenant: Tenant, settings: LazySettings, django_assert_num_queries: Any
) -> None:
    settings.MAX_TURNS = 9
    say(tenant, "I live in Porto.")
    with tenant_scope(tenant.id), django_assert_num_queries(0):
        quota.check_quota(tenant, 2)


def test_what_is_kept_word_by_word_counts_too(tenant: Tenant, settings: LazySettings) -> None:
    settings.MAX_TURNS = 1
    said = [Message("user", text) for text in ("I live in Porto.", "I have a dog.")]
    with pytest.raises(QuotaReached):
        store_read_turns(tenant.id, IngestRequest("ana", said), timezone.now())
    assert not count_turns(tenant)


def test_a_file_that_brings_too_much_leaves_nothing(tenant: Tenant, settings: LazySettings) -> None:
    say(tenant, "I live in Porto.", "I have a dog.")
    data, other = make_export_file(tenant, "ana"), create_tenant("Other", "other")
    settings.MAX_TURNS = 1
    with pytest.raises(QuotaReached, match="may keep 1 messages and has 0"):
        import_export_file(other, data)
    assert not count_turns(other)
    settings.MAX_TURNS = 2
    import_export_file(other, data)
    assert count_turns(other) == 2


def test_the_api_says_what_to_do(tenant: Tenant, settings: LazySettings) -> None:
    settings.MAX_TURNS = 1
    _, key = create_key(tenant, "test", ["read", "write"])
    api = ContractClient(headers={"Authorization": f"Bearer {key}"})
    body = {"subject": "ana", "messages": [{"content": "Hello."}, {"content": "I am Ana."}]}
    refused = api.post("/api/v1/memories", body, format="json")
    assert (refused.status_code, refused.json()["code"]) == (403, "quota_reached")
    assert "raise its quota" in refused.json()["detail"]
    search = {"subject": "ana", "query": "who"}
    assert api.post("/api/v1/search", search, format="json").status_code in (200, 404)


def test_an_operator_sees_and_sets_it_by_a_command(tenant: Tenant) -> None:
    say(tenant, "I live in Porto.", "I have a dog.")

    def run(*arguments: str) -> str:
        out = StringIO()
        call_command("tenant", "quota", tenant.slug, *arguments, stdout=out)
        return out.getvalue().strip()

    assert run() == "2 messages of any number."
    assert run("--messages", "5000") == "2 messages of 5,000."
    assert run("--default") == "2 messages of any number."
    for wrong in ("-1", str(2**31)):
        with pytest.raises(CommandError, match="between 0 and"):
            run("--messages", wrong)


def test_the_page_of_growth_shows_it(tenant: Tenant, client: Any) -> None:
    say(tenant, "I live in Porto.")
    set_quota(tenant.id, 5000)
    client.force_login(make_member(tenant))
    page = client.get(reverse("growth")).content.decode()
    assert "1 of the 5,000 messages that this tenant may keep" in page
