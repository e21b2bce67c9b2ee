"""Where a tenant's model is asked, whose key goes along, and what is written down of it."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from memoryhub.errors import EngineError, InvalidInput
from memoryhub.inference import connections
from memoryhub.inference.connections import ConnectionDraft, ModelConnection
from memoryhub.inference.endpoint_addresses import parse_origin, parse_origins
from memoryhub.inference.models import HubModels
from memoryhub.inference.prices import compute_call_cost, parse_prices
from memoryhub.inference.selection import build_engine_settings, select_engine
from memoryhub.policies.schema import Policy
from memoryhub.tenants.models import AuditEntry, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant
from tests.support.factories import make_tenant

pytestmark = pytest.mark.django_db
KEY, OTHER_KEY = "sk-very-secret-1234", "sk-another-5678"
HERE = ModelConnection("https://models.example/v1", "large", KEY)


@pytest.fixture
def tenant(settings: Any) -> Tenant:
    settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = "http://127.0.0.1:9/v1", "sk-environment"
    settings.LLM_MODEL = "small"
    return create_tenant("Quarry", "quarry", engine=Tenant.Engine.LLM)


def read(tenant: Tenant) -> Tenant:
    with tenant_scope(tenant.id):
        return Tenant.objects.get(id=tenant.id)


def list_told(tenant: Tenant) -> list[tuple[str, str]]:
    with tenant_scope(tenant.id):
        rows = AuditEntry.objects.filter(action="models.changed").order_by("at")
        return list(rows.values_list("about", "detail"))


def test_each_level_is_taken_whole(tenant: Tenant) -> None:
    """The key of one endpoint is never sent to another, also where that one has none."""
    found = connections.find_connection(tenant)
    assert (found.url, found.key, found.source) == (
        "http://127.0.0.1:9/v1",
        "sk-environment",
        "environment",
    )
    connections.save_connection("hub", tenant.id, HERE, "eva")
    hubs = connections.find_connection(tenant)
    assert (hubs.url, hubs.model, hubs.key, hubs.source) == (HERE.url, "large", KEY, "hub")
    own = ModelConnection("https://own.example/v1", "tiny")
    connections.save_connection("tenant", tenant.id, own, "eva")
    mine = connections.find_connection(read(tenant))
    assert (mine.url, mine.model, mine.key, mine.source) == (own.url, "tiny", "", "tenant")
    assert connections.find_connection(make_tenant("Other")).source == "hub"
    connections.clear_connection("tenant", tenant.id, "eva")
    connections.clear_connection("hub", tenant.id, "eva")
    assert connections.find_connection(read(tenant)).source == "environment"
    with tenant_scope(tenant.id):  # inside a scope, too
        assert connections.find_connection(tenant).source == "environment"


def test_the_engine_asks_there_and_the_embedder_where_it_did(tenant: Tenant) -> None:
    connections.save_connection("tenant", tenant.id, HERE, "eva")
    engine = select_engine(read(tenant), Policy())
    assert engine.version.startswith("large/")
    assert build_engine_settings().openai_base_url == "http://127.0.0.1:9/v1"


def test_the_key_is_sealed_and_never_told(tenant: Tenant) -> None:
    connections.save_connection("hub", tenant.id, HERE, "eva")
    connections.save_connection("tenant", tenant.id, HERE, "eva")
    kept = [read(tenant).sealed_key, HubModels.objects.get().sealed_key]
    assert all(kept)
    told = [*list_told(tenant), *kept, repr(connections.find_connection(read(tenant)))]
    assert KEY not in str(told)
    assert list_told(tenant) == [
        ("endpoint of the hub", "https://models.example/v1, large, with a key"),
        ("endpoint", "https://models.example/v1, large, with a key"),
    ]


def test_a_key_that_is_kept_stays_with_its_host(tenant: Tenant) -> None:
    connections.save_connection("tenant", tenant.id, HERE, "eva")
    kept = read(tenant)

    def check(url: str, key: str | None = None) -> str:
        return connections.check_draft(ConnectionDraft(url, "m", key), kept, operates=True).key

    assert check("https://models.example:443/other") == KEY
    assert check("https://models.example/v1", OTHER_KEY) == OTHER_KEY
    assert check("https://models.example/v1", "") == ""
    for url in ("https://evil.example/v1", "http://models.example/v1", "https://models.example:8/"):
        with pytest.raises(InvalidInput, match="enter its key"):
            check(url)
        assert check(url, "") == ""


def test_admins_name_the_hosts_that_the_operator_allows(tenant: Tenant, settings: Any) -> None:
    def check(url: str) -> str:
        draft = ConnectionDraft(url, "m")
        return connections.check_draft(draft, tenant, operates=False).url

    for url in ("https://api.example/v1", "http://127.0.0.1:5432/"):
        with pytest.raises(InvalidInput, match="allows these hosts: none"):
            check(url)
    settings.TENANT_ENDPOINTS = parse_origins("https://api.example, http://models:8080/v1")
    assert check("https://API.example/v1") == "https://API.example/v1"
    assert check("http://models:8080/other") == "http://models:8080/other"
    for url in (
        "http://api.example/v1",
        "https://api.example:8443/v1",
        "https://api.example.evil.example/v1",
        "https://evil.example/https://api.example",
        "http://169.254.169.254/v1",
    ):
        with pytest.raises(InvalidInput, match="allows these hosts"):
            check(url)


@pytest.mark.parametrize(
    "url",
    [
        *("", "models.example", "ftp://a/v1", "file:///etc/passwd", "https://", "https://a:x/"),
        *("https://ana:pw@a.example/v1", "https://a.example/v1?key=1", "https://a.example/#x"),
        *("https://a.example\\@b.example/v1 ", "https://ä.example/v1", "https://a.example/\n"),
    ],
)
def test_what_is_no_address_of_an_endpoint_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput):
        parse_origin(url)


def test_keys_are_sealed_anew_under_another_key_of_the_hub(tenant: Tenant, settings: Any) -> None:
    settings.SECRET_KEY = "one"
    other = make_tenant("Other")
    connections.save_connection("hub", tenant.id, HERE, "eva")
    connections.save_connection("tenant", tenant.id, HERE, "eva")
    connections.save_connection(
        "tenant", other.id, ModelConnection(HERE.url, "m", OTHER_KEY), "eva"
    )
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "two", ["one"]
    said = StringIO()
    call_command("rotate_secrets", stdout=said)
    assert "3 keys of models" in said.getvalue()
    settings.SECRET_KEY_FALLBACKS = []
    assert connections.find_connection(read(other)).key == OTHER_KEY
    assert connections.find_connection(make_tenant("Third")).key == KEY
    settings.SECRET_KEY = "three"
    with pytest.raises(CommandError, match="the hub, "):
        call_command("rotate_secrets", stdout=StringIO())
    with pytest.raises(EngineError, match="enter it again") as caught:
        connections.find_connection(read(tenant))
    assert caught.value.permanent
    assert connections.is_connected(read(tenant))  # what is set may be shown


def test_prices_of_the_console_stand_before_the_environments(tenant: Tenant, settings: Any) -> None:
    settings.MODEL_PRICES = parse_prices(
        '{"small": {"prompt": 1, "completion": 1}, "old": {"prompt": 2, "completion": 2}}'
    )
    listed = {"small": {"prompt": "10", "completion": "20.5"}}
    connections.save_prices(listed, tenant.id, "eva")
    prices = connections.load_prices()
    assert float(compute_call_cost(prices, "small", 1_000_000, 1_000_000)) == 30.5
    assert prices["old"].prompt == 2
    assert list_told(tenant) == [("prices of the hub", "small 10/20.5")]
    for odd in ("-1", "dear", "NaN", "1e12"):
        with pytest.raises(InvalidInput):
            connections.save_prices({"m": {"prompt": odd, "completion": "1"}}, tenant.id, "eva")
