"""Endpoints, keys and prices as people set them: tested first, never shown again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from memoryhub.console.pages.models import endpoint_check
from memoryhub.console.pages.models.endpoint_check import ModelProbe, describe_problem
from memoryhub.engines.llm.client.probe import ModelCapabilities
from memoryhub.errors import EngineError
from memoryhub.inference.connections import load_hub_models, load_prices
from memoryhub.inference.selection import get_configured_embedder
from memoryhub.tenants.models import AuditEntry, Membership, Tenant, User
from memoryhub.tenants.scope import tenant_scope
from tests.console.conftest import ConsoleWorld
from tests.support.factories import make_member

KEY = "sk-very-secret-1234"
FORM = {"url": "https://models.example/v1", "model": "large", "key": KEY, "action": "save"}


@pytest.fixture(autouse=True)
def endpoint(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> dict[str, Any]:
    """What was asked of it; `error` is what it says."""
    settings.DATA_DIR, settings.TENANT_ENDPOINTS = tmp_path, []
    settings.OPENAI_BASE_URL = settings.OPENAI_API_KEY = settings.LLM_MODEL = ""
    told: dict[str, Any] = {"asked": [], "error": None}

    def probe(url: str, key: str, model: str, **options: Any) -> ModelCapabilities:
        told["asked"].append((url, key, model))
        if told["error"]:
            raise told["error"]
        return ModelCapabilities(url, model, shapes=["text"], troubles={"tools": f"no, {key}"})

    monkeypatch.setattr("memoryhub.engines.llm.client.probe.probe_model", probe)
    monkeypatch.setattr(
        endpoint_check, "probe_embedding_model", lambda *_: ModelProbe("Embedder", None, [])
    )
    return told


@pytest.fixture
def operator(browser: Client, world: ConsoleWorld) -> Client:
    User.objects.filter(id=world.admin.id).update(is_superuser=True)
    return browser


def send(browser: Client, **form: str) -> str:
    return browser.post(reverse("models-connection"), FORM | form, follow=True).content.decode()


def read_tenant(world: ConsoleWorld) -> Tenant:
    with tenant_scope(world.tenant.id):
        return Tenant.objects.get(id=world.tenant.id)


def test_an_endpoint_is_asked_before_it_is_kept_and_its_key_is_never_shown(
    operator: Client, world: ConsoleWorld, endpoint: dict[str, Any], tmp_path: Path
) -> None:
    page = send(operator, level="tenant")
    assert "Saved. It applies from the next request on." in page
    assert endpoint["asked"] == [("https://models.example/v1", KEY, "large")]
    kept = read_tenant(world)
    assert (kept.endpoint, kept.model) == ("https://models.example/v1", "large")
    assert "here, for this tenant only" in page
    pages = ("models", "changes", "settings", "admin:index", "admin:tenants_tenant_changelist")
    shown = [operator.get(reverse(name)).content.decode() for name in pages]
    row = reverse("admin:tenants_tenant_change", args=[world.tenant.id])
    shown += [page, operator.get(row).content.decode(), (tmp_path / "models.json").read_text()]
    assert [text for text in shown if KEY in text or kept.sealed_key in text] == []
    assert "Models changed" in shown[1]


def test_what_does_not_answer_is_not_kept_unless_it_is_wanted_so(
    operator: Client, world: ConsoleWorld, endpoint: dict[str, Any]
) -> None:
    endpoint["error"] = EngineError(f"The model endpoint answered 401: {KEY[:9]}*", code="x")
    page = send(operator, level="tenant")
    assert "Not saved: the test failed." in page
    assert "refused the hub&#x27;s key" in page
    assert 'value="https://models.example/v1"' in page  # what was typed stays, but for the key
    assert "<details open><summary>Endpoint for this tenant only" in page
    assert KEY[:9] not in page
    assert read_tenant(world).endpoint == ""
    assert "Saved" in send(operator, level="tenant", anyway="on")
    assert read_tenant(world).endpoint == "https://models.example/v1"


def test_a_test_alone_keeps_nothing(operator: Client, world: ConsoleWorld) -> None:
    page = send(operator, level="hub", action="test")
    assert "works" in page
    assert KEY not in page
    assert load_hub_models().endpoint == read_tenant(world).endpoint == ""


def test_a_key_is_kept_for_its_host_alone(
    operator: Client, world: ConsoleWorld, endpoint: dict[str, Any]
) -> None:
    send(operator, level="tenant")
    send(operator, level="tenant", key="", model="small")
    assert endpoint["asked"][-1] == ("https://models.example/v1", KEY, "small")
    page = send(operator, level="tenant", key="", url="https://evil.example/v1")
    assert "Another host: enter its key." in page
    assert len(endpoint["asked"]) == 2
    send(operator, level="tenant", key="", no_key="on")
    assert read_tenant(world).sealed_key == ""


def test_the_hubs_serves_all_until_it_is_taken_away(operator: Client, world: ConsoleWorld) -> None:
    assert "by the operator, for the whole hub" in send(operator, level="hub")
    operator.post(reverse("models-engine"), {"engine": "llm"})
    assert read_tenant(world).engine == "llm"
    assert "Removed" in send(operator, level="hub", action="clear")
    assert (load_hub_models().endpoint, load_hub_models().sealed_key) == ("", "")


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("url", "models.example/v1", "An address that begins with https:// or http://"),
        ("url", "the models page", "without spaces"),
        ("model", " ", "1 to 120 characters"),
        ("key", "schlüssel", "printable ASCII"),
    ],
)
def test_what_can_not_be_taken_is_said_at_its_field(
    operator: Client, endpoint: dict[str, Any], name: str, given: str, said: str
) -> None:
    form = FORM | {"level": "hub", name: given}
    page = operator.post(reverse("models-connection"), form).content.decode()
    field, at = f'id="{name}-hub"', f'id="{name}-hub-wrong"'
    assert said in page.partition(at)[2].partition("</span>")[0]
    assert 'aria-invalid="true"' in page.partition(field)[2].partition(">")[0]
    assert page.count("aria-invalid") == 1
    assert endpoint["asked"] == []


def test_admins_name_only_what_the_operator_allows(
    browser: Client, world: ConsoleWorld, endpoint: dict[str, Any], settings: Any
) -> None:
    where = reverse("models-connection")
    assert browser.post(where, FORM | {"level": "tenant"}).status_code == 403
    assert where not in browser.get(reverse("models")).content.decode()
    settings.TENANT_ENDPOINTS = ["https://models.example"]
    assert browser.post(where, FORM | {"level": "hub"}).status_code == 403
    assert "https://models.example" in browser.get(reverse("models")).content.decode()
    for url in ("http://169.254.169.254/v1", "https://models.example@evil.example/v1"):
        assert browser.post(where, FORM | {"level": "tenant", "url": url}).status_code == 422
    assert endpoint["asked"] == []
    assert "Saved" in send(browser, level="tenant")
    editor = Client()
    editor.force_login(make_member(world.tenant, Membership.Role.EDITOR))
    assert editor.post(where, FORM | {"level": "tenant"}).status_code == 403
    assert where not in editor.get(reverse("models")).content.decode()


def test_prices_are_a_list_that_is_sent_whole(operator: Client, world: ConsoleWorld) -> None:
    where = reverse("models-prices")
    lines = {"name": ["small", " ", "large"], "prompt": ["0.15", "", "2"]}
    operator.post(where, lines | {"completion": ["0.6", "", "8"]})
    assert {name: float(p.completion) for name, p in load_prices().items()} == {
        "small": 0.6,
        "large": 8,
    }
    assert 'value="0.15"' in operator.get(reverse("models")).content.decode()
    wrong = operator.post(where, {"name": "x", "prompt": "dear", "completion": "1"}, follow=True)
    assert "Not saved: x needs the numbers" in wrong.content.decode()
    assert 'name="name" value="x"' in wrong.content.decode()
    assert 'value="dear"' in wrong.content.decode()
    operator.post(where, {"name": "", "prompt": "", "completion": ""})
    assert load_prices() == {}
    with tenant_scope(world.tenant.id):
        assert AuditEntry.objects.filter(about="prices of the hub").count() == 2


def test_settings_are_named_in_plain_words(browser: Client, world: ConsoleWorld) -> None:
    page = browser.get(reverse("models")).content.decode()
    assert "<b>Cost per day</b>" in page
    assert "<b>Answer questions</b>" in page
    assert "Changing it re-embeds" in page


def choose_embedder(browser: Client, name: str) -> str:
    return browser.post(
        reverse("models-embedder"), {"embedder": name}, follow=True
    ).content.decode()


def test_an_embedder_is_chosen_once_it_works(
    operator: Client, world: ConsoleWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = get_configured_embedder().name
    page = choose_embedder(operator, usual)
    assert "Saved. Spaces switch over one after the other." in page
    assert f'value="{usual}"' in page
    assert load_hub_models().embedder == usual
    refused = choose_embedder(operator, "unheard-of")
    assert "Not saved: no embedder here has this name" in refused
    wrong = describe_problem("it answered 500", "engine_failed")
    monkeypatch.setattr(
        endpoint_check, "probe_embedding_model", lambda *_: ModelProbe("Embedder", wrong)
    )
    failed = choose_embedder(operator, usual)
    assert "Not saved: the test failed." in failed
    assert "it answered 500" in failed
    assert load_hub_models().embedder == usual
    choose_embedder(operator, "")
    assert load_hub_models().embedder == ""


def test_only_the_operator_chooses_an_embedder(browser: Client, world: ConsoleWorld) -> None:
    usual = get_configured_embedder().name
    assert browser.post(reverse("models-embedder"), {"embedder": usual}).status_code in (403, 404)
    assert reverse("models-embedder") not in browser.get(reverse("models")).content.decode()
    assert load_hub_models().embedder == ""
