"""What the rule engine ends, and what it only suspects (spec §11.7, E19, E24)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memoryhub.dialogues.messages import Message
from memoryhub.pipeline.services import IngestRequest, ingest, run_space
from memoryhub.policies.services import set_policy
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant
from notes.models import Fact, Proposal

pytestmark = pytest.mark.django_db

AT = datetime(2026, 3, 4, 18, tzinfo=UTC)


@pytest.fixture
def tenant() -> Tenant:
    return create_tenant("One", "one")


def talk(tenant: Tenant, *lines: str) -> None:
    """One line a day, each derived before the next."""
    for day, line in enumerate(lines):
        message = Message("user", line, "Ana", AT + timedelta(days=day))
        job = ingest(tenant.id, IngestRequest("ana", [message], "s")).job
        assert job is not None
        run_space(tenant.id, job.space_id)


def status_of(tenant: Tenant, words: str) -> str:
    with tenant_scope(tenant.id):
        return Fact.objects.get(text__icontains=words, polarity="holds").status


def proposed(tenant: Tenant) -> list[Proposal]:
    with tenant_scope(tenant.id):
        return list(Proposal.objects.all())


def test_quitting_ends_what_it_denies(tenant: Tenant) -> None:
    talk(tenant, "I smoke cigarettes.", "I drink coffee every day.", "I quit smoking cigarettes.")
    assert status_of(tenant, "smokes cigarettes") == "superseded"
    assert status_of(tenant, "coffee") == "active"


def test_moving_out_ends_an_address(tenant: Tenant) -> None:
    talk(tenant, "I live at 12 Elm Street.", "I moved out of 12 Elm Street.")
    assert status_of(tenant, "lives at 12 Elm") == "superseded"


def test_moving_out_of_a_flat_ends_the_address_it_does_not_name(tenant: Tenant) -> None:
    talk(tenant, "I live at 12 Elm Street.", "I moved out of my flat.")
    assert status_of(tenant, "lives at 12 Elm") == "superseded"


def test_E19_what_was_never_said_was_never_so(tenant: Tenant) -> None:
    talk(tenant, "I live in Porto.", "I never said that I live in Porto.")
    assert status_of(tenant, "lives in Porto") == "retracted"


def test_a_like_and_a_dislike_are_reviewed_and_nothing_is_ended(tenant: Tenant) -> None:
    talk(tenant, "I love cheese pizza.", "I hate cheese pizza.")
    assert status_of(tenant, "loves cheese pizza") == "active"
    assert status_of(tenant, "hates cheese pizza") == "active"
    (asked,) = proposed(tenant)
    assert (asked.kind, asked.payload["op"]) == ("conflict", "supersede")
    assert asked.payload["fact_id"]


def test_two_likes_are_no_conflict(tenant: Tenant) -> None:
    talk(tenant, "I love cheese pizza.", "I love veggie burgers.", "I hate cold coffee.")
    assert proposed(tenant) == []


def test_AA7_E20_an_address_to_be_forgotten_is_found_by_its_predicate(tenant: Tenant) -> None:
    set_policy(tenant.id, actor="test", overrides={"erase.on_request": "confirm"})
    talk(tenant, "I live at 12 Elm Street.", "I like tea.", "Please forget my address.")
    (asked,) = proposed(tenant)
    with tenant_scope(tenant.id):
        address = Fact.objects.get(predicate_key="address")
    assert (asked.kind, asked.row_id) == ("erase", address.id)
