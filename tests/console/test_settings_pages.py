"""The tenant's settings: people, models with their test, budgets, and its data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from memoryhub.console.pages.models import endpoint_check
from memoryhub.console.pages.models.endpoint_check import ModelProbe, format_endpoint_address
from memoryhub.engines.llm.client.probe import ModelCapabilities
from memoryhub.errors import EngineError
from memoryhub.policies.services import load_tenant_policy
from memoryhub.tenants.models import Membership, Space, Tenant, User
from memoryhub.tenants.scope import tenant_scope
from notes.models import Receipt
from tests.console.conftest import ConsoleWorld
from tests.support.factories import make_member, make_space

KEY = "sk-very-secret-1234"
ADMIN, EDITOR = Membership.Role.ADMIN, Membership.Role.EDITOR


def get_page(browser: Client, name: str, **query: str) -> str:
    return browser.get(reverse(name), query).content.decode()


def rename_user(user: User, name: str) -> User:
    User.objects.filter(id=user.id).update(username=name)
    return user


def get_role(world: ConsoleWorld, name: str) -> str:
    with tenant_scope(world.tenant.id):
        return Membership.objects.get(user__username=name).role


def test_a_new_person_signs_in_with_the_password_shown_once(
    browser: Client, world: ConsoleWorld
) -> None:
    sent = browser.post(reverse("people"), {"username": "ida", "role": "editor"})
    made = browser.get(sent["Location"])
    password = made.context["password"]
    assert password in made.content.decode()
    assert "no-store" in made["Cache-Control"]
    assert password not in get_page(browser, "people")
    form = {"username": "ida", "password": password}
    assert Client().post(reverse("sign-in"), form)["Location"] == reverse("overview")
    assert get_role(world, "ida") == "editor"


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"username": "taken", "role": "viewer"}, "this name is taken"),
        ({"username": "", "role": "viewer"}, "This field is required"),
        ({"username": "a b", "role": "viewer"}, "Enter a valid username"),
        ({"username": "a\0b", "role": "viewer"}, "Null characters are not allowed"),
        ({"username": "x" * 151, "role": "viewer"}, "at most 150 characters"),
        ({"username": "eve", "role": "owner"}, "Select a valid choice"),
        ({"username": "eve", "role": "viewer", "email": "no"}, "Enter a valid email address"),
    ],
)
def test_a_refused_person_is_told_why(
    browser: Client, world: ConsoleWorld, form: dict[str, str], said: str
) -> None:
    User.objects.create_user("taken")
    page = browser.post(reverse("people"), form).content.decode()
    assert said in page
    with tenant_scope(world.tenant.id):
        assert Membership.objects.count() == 1


def test_roles_are_changed_and_people_removed(browser: Client, world: ConsoleWorld) -> None:
    ida = rename_user(make_member(world.tenant, EDITOR), "ida")
    with tenant_scope(world.tenant.id):
        member = Membership.objects.get(user=ida)
    changed = browser.post(
        reverse("person-role", args=[member.id]), {"role": "viewer"}, follow=True
    )
    assert "ida is now viewer" in changed.content.decode()
    assert get_role(world, "ida") == "viewer"
    browser.post(reverse("person-role", args=[member.id]), {"role": "emperor"})
    assert get_role(world, "ida") == "viewer"
    gone = browser.post(reverse("person-remove", args=[member.id]), follow=True)
    assert "ida is no longer a member" in gone.content.decode()
    assert not User.objects.filter(username="ida").exists()


@pytest.mark.parametrize("name", ["person-role", "person-remove"])
def test_the_last_admin_stays(browser: Client, world: ConsoleWorld, name: str) -> None:
    where = reverse(name, args=[world.collect_ids()["member_id"]])
    page = browser.post(where, {"role": "viewer"}, follow=True).content.decode()
    assert "the last admin stays" in page
    assert get_role(world, world.admin.username) == "admin"


def test_people_are_found_by_name_and_role(browser: Client, world: ConsoleWorld) -> None:
    rename_user(make_member(world.tenant, EDITOR, email="ida@example.org"), "ida")
    rename_user(make_member(world.tenant, ADMIN), "bob")
    assert "3 people" in get_page(browser, "people")
    assert ">ida<" in get_page(browser, "people", q="example.org")
    assert ">bob<" not in get_page(browser, "people", q="example.org")
    assert ">ida<" not in get_page(browser, "people", role="admin")
    assert "Nothing matches" in get_page(browser, "people", q="nobody")


def test_the_tenant_is_renamed_by_admins(client: Client, world: ConsoleWorld) -> None:
    client.force_login(make_member(world.tenant, EDITOR))
    assert client.post(reverse("settings"), {"name": "Mine"}).status_code == 403
    client.force_login(world.admin)
    renamed = client.post(reverse("settings"), {"name": " A\0piary  "}, follow=True)
    assert "Renamed" in renamed.content.decode()
    assert "Apiary" in get_page(client, "settings")
    refused = client.post(reverse("settings"), {"name": " "}, follow=True).content.decode()
    assert "Not renamed: 1 to 120 characters" in refused
    assert "Apiary" in refused


@pytest.fixture
def operator(browser: Client, world: ConsoleWorld, settings: Any, tmp_path: Path) -> Client:
    User.objects.filter(id=world.admin.id).update(is_superuser=True)
    settings.OPENAI_BASE_URL = f"http://ana:{KEY}@models.example:8080/v1?key={KEY}"
    settings.OPENAI_API_KEY, settings.LLM_MODEL = KEY, "small"
    settings.DATA_DIR = tmp_path
    return browser


@pytest.fixture(autouse=True)
def no_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its model takes long to load."""
    tested = ModelProbe("Embedder", None, [("Dimensions", "384")])
    monkeypatch.setattr(endpoint_check, "probe_embedding_model", lambda *_: tested)


def patch_probe(monkeypatch: pytest.MonkeyPatch, found: Any) -> None:
    def probe(*args: Any, **kwargs: Any) -> Any:
        if isinstance(found, Exception):
            raise found
        return found

    monkeypatch.setattr("memoryhub.engines.llm.client.probe.probe_model", probe)


def test_a_test_shows_latency_and_abilities_and_remembers_them(
    operator: Client, world: ConsoleWorld, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    patch_probe(
        monkeypatch,
        ModelCapabilities(
            settings.OPENAI_BASE_URL,
            "small",
            shapes=["json_schema", "text"],
            tools=True,
            milliseconds=1234.0,
            troubles={"json_object": f"The model endpoint answered 400: no, {KEY}"},
        ),
    )
    page = operator.post(reverse("models-test")).content.decode()
    assert "works" in page
    assert "1.2 s" in page
    assert "json_schema, text" in page
    assert "answered 400: no, …" in page
    assert KEY not in page
    assert "http://models.example:8080/v1" in page
    later = get_page(operator, "models")
    assert "json_schema, text" in later
    assert KEY not in later


@pytest.mark.parametrize(
    ("error", "said", "todo"),
    [
        (
            EngineError(f"The model endpoint answered 401: Incorrect key: {KEY[:9]}*", code="x"),
            "refused the hub&#x27;s key",
            "update OPENAI_API_KEY",
        ),
        (EngineError("The model endpoint answered 404: none", code="x"), "know this model", "/v1"),
        (EngineError("cannot be reached", code="unreachable"), "cannot be reached", "Is the"),
        (EngineError("not in time", code="timeout"), "not in time", "try again"),
        (EngineError("answered 429: slow", code="rate_limited"), "slow", "credit"),
        (EngineError("unreadable"), "unreadable", "not like OpenAI"),
    ],
)
def test_trouble_is_told_in_words_with_what_to_do_and_never_with_the_key(
    operator: Client,
    world: ConsoleWorld,
    monkeypatch: pytest.MonkeyPatch,
    error: EngineError,
    said: str,
    todo: str,
) -> None:
    patch_probe(monkeypatch, error)
    page = operator.post(reverse("models-test")).content.decode()
    assert "does not work" in page
    assert said in page
    assert todo in page
    assert KEY[:9] not in page


def test_without_an_endpoint_only_the_embedder_is_tested(
    operator: Client, world: ConsoleWorld, settings: Any
) -> None:
    settings.OPENAI_BASE_URL = ""
    page = operator.post(reverse("models-test")).content.decode()
    assert "Test of the embedder" in page
    assert "Test of the language model" not in page
    assert "not set" in page


def test_the_engine_is_the_operators_to_choose(
    operator: Client, world: ConsoleWorld, settings: Any
) -> None:
    operator.post(reverse("models-engine"), {"engine": "llm"})
    with tenant_scope(world.tenant.id):
        assert Tenant.objects.get(id=world.tenant.id).engine == "llm"
    odd = operator.post(reverse("models-engine"), {"engine": "odd"}, follow=True)
    assert "Not changed: there is no engine" in odd.content.decode()
    settings.OPENAI_BASE_URL = ""
    unset = operator.post(reverse("models-engine"), {"engine": "llm"}, follow=True)
    assert "set OPENAI_BASE_URL" in unset.content.decode()


def test_budgets_and_the_age_of_memories_are_set_where_they_are_shown(
    browser: Client, world: ConsoleWorld
) -> None:
    form = {"llm.budget_tokens_per_day": "5000", "llm.budget_money_per_day": "2.5"}
    sent = browser.post(reverse("policy-change"), form | {"version": "1", "back": "models"})
    assert sent["Location"] == reverse("models")
    sent = browser.post(
        reverse("policy-change"), {"retention.max_age_days": "90", "version": "2", "back": "data"}
    )
    assert sent["Location"] == reverse("data")
    with tenant_scope(world.tenant.id):
        policy = load_tenant_policy(world.tenant.id).policy
    assert (policy.llm.budget_tokens_per_day, policy.llm.budget_money_per_day) == (5000, 2.5)
    assert (policy.retention.max_age_days, policy.stm.pages) == (90, 9)  # what was said stays
    assert 'value="5000"' in get_page(browser, "models")
    assert 'value="90"' in get_page(browser, "data")
    elsewhere = browser.post(
        reverse("policy-change"), {"stm.pages": "8", "version": "3", "back": "//evil.example"}
    )
    assert elsewhere["Location"] == reverse("policy")


def test_a_model_for_a_purpose_is_saved_where_it_is_shown(
    browser: Client, world: ConsoleWorld
) -> None:
    form = {"llm.model.answer": "large-model", "version": "1", "back": "models"}
    assert browser.post(reverse("policy-change"), form)["Location"] == reverse("models")
    with tenant_scope(world.tenant.id):
        policy = load_tenant_policy(world.tenant.id).policy
    assert policy.llm.model == {**policy.llm.model, "answer": "large-model"}
    assert 'value="large-model"' in get_page(browser, "models")


def test_viewers_see_budgets_and_change_none(client: Client, world: ConsoleWorld) -> None:
    client.force_login(make_member(world.tenant, Membership.Role.VIEWER))
    page = get_page(client, "models")
    assert "llm.budget_tokens_per_day" in page
    assert reverse("policy-change") not in page
    assert reverse("models-test") not in page
    assert reverse("people") not in page


def test_every_space_is_erased_when_the_short_name_is_typed(
    browser: Client, world: ConsoleWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoryhub.console.pages.data.views.MAX_ERASED_AT_ONCE", 2)
    with tenant_scope(world.tenant.id):
        for name in ("ana", "bea"):
            make_space(world.tenant, name)
        before = Receipt.objects.count()
    where = reverse("data-erase")
    wrong = browser.post(where, {"slug": "other"}, follow=True).content.decode()
    assert "type the short name to confirm" in wrong
    form = {"slug": world.tenant.slug, "reason": "moved away"}
    first = browser.post(where, form, follow=True).content.decode()
    assert "Erased: 2 spaces. There are more" in first
    browser.post(where, form)
    with tenant_scope(world.tenant.id):
        assert not Space.objects.exists()
        assert Receipt.objects.filter(reason="moved away").count() == 3
        assert Receipt.objects.count() == before + 3


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("", ""),
        ("https://user:pw@a.example/v1?key=1#x", "https://a.example/v1"),
        ("http://[::1", "an invalid address"),
        ("http://a:99999/", "an invalid address"),
        ("nonsense", ""),
    ],
)
def test_an_address_is_shown_without_secrets(given: str, shown: str) -> None:
    assert format_endpoint_address(given) == shown
