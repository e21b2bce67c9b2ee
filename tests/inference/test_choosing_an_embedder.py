"""Which embedder the operator chose in the console: what new spaces use and others change to."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from memoryhub.engines.embedding.openai import OpenAIEmbedder
from memoryhub.errors import EngineError, InvalidInput
from memoryhub.inference import connections
from memoryhub.inference.connections import ModelConnection
from memoryhub.inference.models import HubModels
from memoryhub.inference.selection import (
    find_embedder,
    get_configured_embedder,
    get_current_embedder,
    list_known_embedders,
    offer_embedder,
)
from memoryhub.tenants.models import AuditEntry, Tenant
from memoryhub.tenants.scope import tenant_scope
from tests.support.factories import make_tenant

pytestmark = pytest.mark.django_db
KEY = "sk-very-secret-1234"
HERE = ModelConnection("https://models.example/v1", "large", KEY)
ELSEWHERE = ModelConnection("https://elsewhere.example/v1", "large", "sk-another")
NAME = "small-vectors-256"


@pytest.fixture
def tenant(settings: Any) -> Tenant:
    settings.OPENAI_BASE_URL = settings.OPENAI_API_KEY = ""
    return make_tenant("Quarry")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, str]]:
    """(url, key, model) of every embedder of an endpoint that was made."""
    found: list[tuple[str, str, str]] = []
    make = OpenAIEmbedder.__init__

    def note(self: Any, url: str, key: str, model: str, *rest: Any, **options: Any) -> None:
        found.append((url, key, model))
        make(self, url, key, model, *rest, **options)

    monkeypatch.setattr(OpenAIEmbedder, "__init__", note)
    return found


def choose(tenant: Tenant, name: str) -> None:
    offer = offer_embedder(name)
    connections.save_embedder(offer.embedder.name, offer.url, offer.key, tenant.id, "eva")


def test_the_environments_and_the_packaged_one_need_no_endpoint(tenant: Tenant) -> None:
    usual = get_configured_embedder()
    assert get_current_embedder() is usual
    assert (offer_embedder(usual.name).url, offer_embedder(usual.name).key) == ("", "")
    choose(tenant, usual.name)
    assert get_current_embedder() is usual
    assert list_known_embedders(usual.name) == [usual.name]


@pytest.mark.parametrize("name", ["unheard-of", "small-vectors-256", "", f"{'x' * 500}-256"])
def test_what_nobody_makes_is_refused(tenant: Tenant, name: str) -> None:
    if name != NAME:
        connections.save_connection("hub", tenant.id, HERE, "eva")
    with pytest.raises(InvalidInput) as refused:
        offer_embedder(name)
    assert refused.value.field == "embedder"


def test_a_model_of_the_endpoint_keeps_the_endpoint_it_was_chosen_with(
    tenant: Tenant, asked: list[tuple[str, str, str]]
) -> None:
    """Another endpoint's vectors might be others under the same name."""
    connections.save_connection("hub", tenant.id, HERE, "eva")
    choose(tenant, NAME)
    assert get_current_embedder().name == NAME
    assert list_known_embedders(NAME) == [NAME, get_configured_embedder().name]
    connections.save_connection("hub", tenant.id, ELSEWHERE, "eva")
    found = find_embedder(NAME)
    assert found is not None
    assert found.name == NAME
    assert set(asked) == {(HERE.url, KEY, "small-vectors")}


def test_back_to_the_environments_its_key_is_gone(tenant: Tenant) -> None:
    connections.save_connection("hub", tenant.id, HERE, "eva")
    choose(tenant, NAME)
    kept = HubModels.objects.get().sealed_embedder_key
    assert kept
    assert KEY not in kept
    connections.save_embedder("", "", "", tenant.id, "eva")
    assert get_current_embedder() is get_configured_embedder()
    assert HubModels.objects.get().sealed_embedder_key == ""
    with tenant_scope(tenant.id):
        told = AuditEntry.objects.filter(about="embedder of the hub").order_by("at")
        assert list(told.values_list("detail", flat=True)) == [
            f"{NAME}, {HERE.url}",
            "the environment's",
        ]


def test_its_key_is_sealed_anew_and_says_so_when_it_cannot_be_read(
    tenant: Tenant, settings: Any
) -> None:
    settings.SECRET_KEY = "one"
    connections.save_connection("hub", tenant.id, HERE, "eva")
    choose(tenant, NAME)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "two", ["one"]
    call_command("rotate_secrets", stdout=StringIO())
    settings.SECRET_KEY_FALLBACKS = []
    assert get_current_embedder().name == NAME
    settings.SECRET_KEY = "three"
    with pytest.raises(EngineError, match="enter it again") as caught:
        get_current_embedder()
    assert caught.value.permanent


def test_a_chosen_one_that_is_gone_is_an_error_and_no_change_of_all_vectors(
    tenant: Tenant,
) -> None:
    connections.save_embedder("gone-with-an-upgrade", "", "", tenant.id, "eva")
    with pytest.raises(EngineError, match="gone-with-an-upgrade") as caught:
        get_current_embedder()
    assert caught.value.code == "engine_not_configured"


def test_a_space_is_searched_without_asking_what_was_chosen(
    tenant: Tenant, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(0):
        assert find_embedder(get_configured_embedder().name) is get_configured_embedder()
