"""Signing in where an OpenID provider says who somebody is: who gets in, as what, and which tokens
are believed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from memoryhub.checks import check_single_sign_on
from memoryhub.tenants.models import AccountEvent, AuditEntry, BrowserSession, Membership, User
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import require_second_factor
from memoryhub.tenants.sign_in import attempts, second_factor
from memoryhub.tenants.sign_in.openid_provider import check_provider_address
from memoryhub.tenants.sign_in.openid_roles import choose_roles, parse_role_rules
from memoryhub.tenants.sign_in.single_sign_on import connect_account
from tests.console.conftest import ConsoleWorld
from tests.console.test_account import list_kinds
from tests.console.test_second_factor import Clock, clock, give_app, show_code
from tests.support.factories import make_member
from tests.support.openid_provider import CLIENT, SECRET, OpenIDProvider, make_key

__all__ = ["clock"]  # a fixture


@pytest.fixture
def provider(world: ConsoleWorld, settings: Any) -> Iterator[OpenIDProvider]:
    with OpenIDProvider() as running:
        settings.OIDC_ISSUER, settings.OIDC_CLIENT_ID = running.issuer, CLIENT
        settings.OIDC_CLIENT_SECRET, settings.OIDC_LABEL = SECRET, "Example"
        settings.OIDC_ADMIT_UNKNOWN = True
        slug = world.tenant.slug
        table = f'{{"staff": "{slug}:viewer", "chiefs": "{slug}:admin"}}'
        settings.OIDC_ROLES = parse_role_rules(table)
        yield running


def sign_on(client: Client, provider: OpenIDProvider, wanted: str = "") -> Any:
    """The whole way; the answer to the return."""
    begun = client.get(reverse("sign-on"), {"next": wanted} if wanted else {})
    assert begun["Location"].startswith(f"{provider.issuer}/authorize?")
    return client.get(reverse("sign-on-return"), provider.consent(begun["Location"]))


def is_signed_in(client: Client) -> bool:
    return client.get(reverse("overview")).status_code == 200


def read_role(world: ConsoleWorld, name: str) -> str | None:
    with tenant_scope(world.tenant.id):
        found = Membership.objects.filter(user__username=name).first()
    return found.role if found else None


def test_nothing_is_offered_or_asked_without_a_provider(client: Client, db: None) -> None:
    assert "sign-in/single" not in client.get(reverse("sign-in")).content.decode()
    for name in ("sign-on", "sign-on-return", "sign-on-end"):
        assert client.get(reverse(name)).status_code == 404


def test_somebody_new_gets_in_as_what_the_provider_says(
    client: Client, world: ConsoleWorld, provider: OpenIDProvider
) -> None:
    provider.claims = {"sub": "u-7", "preferred_username": "mira", "groups": ["x", "staff"]}
    assert "Sign in with Example" in client.get(reverse("sign-in")).content.decode()
    answer = sign_on(client, provider, "/people/")
    assert answer["Location"] == "/people/"
    assert is_signed_in(client)
    account = User.objects.get(username="mira")
    assert not account.has_usable_password()
    assert read_role(world, "mira") == "viewer"
    assert list_kinds(account) == ["sign_on.linked", "sign_on.done"]
    with tenant_scope(world.tenant.id):
        assert AuditEntry.objects.get(about="mira").actor == "single sign-on"
    session = BrowserSession.objects.get(account=account)
    left = session.expire_date - timezone.now()
    assert left.total_seconds() == pytest.approx(12 * 3600, abs=60)
    page = client.get(reverse("account")).content.decode()
    assert "uses single sign-on" in page
    assert "Change the password" not in page


@pytest.mark.parametrize("wanted", ["https://evil.example/", "/people/\n/x", "/people/\r"])
def test_no_way_leads_to_another_host_or_to_no_address(
    client: Client, world: ConsoleWorld, provider: OpenIDProvider, wanted: str
) -> None:
    provider.claims = {"sub": "u-7", "groups": ["staff"]}
    answer = sign_on(client, provider, wanted)
    assert answer["Location"] == reverse("overview")


def test_roles_follow_the_provider_at_each_sign_in(
    client: Client, world: ConsoleWorld, provider: OpenIDProvider
) -> None:
    provider.claims = {"sub": "u-7", "preferred_username": "mira", "groups": ["staff", "chiefs"]}
    sign_on(client, provider)
    assert read_role(world, "mira") == "admin"
    provider.claims["groups"] = "staff"
    sign_on(Client(), provider)
    assert read_role(world, "mira") == "viewer"
    provider.claims["groups"] = []
    other = Client()
    answer = sign_on(other, provider)
    assert answer.status_code == 403
    assert "no access to any tenant here" in answer.content.decode()
    assert read_role(world, "mira") is None
    assert not is_signed_in(other)
    assert User.objects.filter(username="mira").exists()
    provider.claims["groups"] = ["staff"]
    assert sign_on(other, provider).status_code == 302


def test_the_last_admin_stays_and_is_not_let_in(
    client: Client, world: ConsoleWorld, provider: OpenIDProvider
) -> None:
    connect_account(world.admin, "u-1")
    with tenant_scope(world.tenant.id):
        Membership.objects.filter(role="admin").exclude(user=world.admin).update(role="editor")
    assert sign_on(client, provider).status_code == 403
    assert read_role(world, world.admin.username) == "admin"
    assert not is_signed_in(client)


@pytest.mark.parametrize(
    ("admits", "claims", "words"),
    [
        (True, {"groups": ["strangers"]}, "no access to any tenant here"),
        (True, {}, "no access to any tenant here"),
        (False, {"groups": ["staff"]}, "There is no account for you here yet"),
    ],
    ids=["unknown role", "no role", "unknown people stay outside"],
)
def test_who_has_no_place_has_no_account(
    client: Client,
    provider: OpenIDProvider,
    settings: Any,
    admits: bool,
    claims: dict[str, Any],
    words: str,
) -> None:
    settings.OIDC_ADMIT_UNKNOWN = admits
    provider.claims = {"sub": "u-<7>", "preferred_username": "mira"} | claims
    answer = sign_on(client, provider)
    page = answer.content.decode()
    assert answer.status_code == 403
    assert words in page
    assert "u-<7>" not in page
    assert ("u-&lt;7&gt;" in page) is not admits
    assert not User.objects.filter(username="mira").exists()
    assert AccountEvent.objects.filter(kind="sign_on.refused").count() == 1


def test_nobody_gets_an_account_by_having_its_name_elsewhere(
    client: Client, world: ConsoleWorld, provider: OpenIDProvider
) -> None:
    name = world.admin.username
    User.objects.filter(id=world.admin.pk).update(email="ida@example.org")
    provider.claims = {
        "sub": "u-9",
        "preferred_username": name,
        "email": "ida@example.org",
        "email_verified": True,
        "groups": ["chiefs"],
    }
    answer = sign_on(client, provider)
    assert answer.status_code == 403
    assert "u-9" in answer.content.decode()
    assert not is_signed_in(client)
    call_command("account", "sign-on", name, "--subject", "u-9")
    assert sign_on(client, provider).status_code == 302
    assert is_signed_in(client)
    with pytest.raises(CommandError):
        call_command("account", "sign-on", make_member(world.tenant).username, "--subject", "u-9")
    call_command("account", "sign-on", name, "--remove")
    assert not is_signed_in(client)
    assert sign_on(client, provider).status_code == 403


def test_a_closed_account_stays_closed(
    client: Client, world: ConsoleWorld, provider: OpenIDProvider
) -> None:
    provider.claims = {"sub": "u-7", "preferred_username": "mira", "groups": ["staff"]}
    sign_on(client, provider)
    account = User.objects.get(username="mira")
    User.objects.filter(id=account.pk).update(is_active=False)
    other = Client()
    assert "This account is closed" in sign_on(other, provider).content.decode()
    assert not is_signed_in(other)
    assert not is_signed_in(client)
    assert list_kinds(account)[-1] == "sign_on.refused"


def test_no_provider_makes_an_operator(
    client: Client, world: ConsoleWorld, provider: OpenIDProvider
) -> None:
    provider.claims = {"sub": "u-7", "groups": ["chiefs"], "is_superuser": True, "is_staff": True}
    sign_on(client, provider)
    account = User.objects.get(username="u-7")
    assert (account.is_superuser, account.is_staff) == (False, False)


Forger = Callable[[OpenIDProvider, dict[str, Any]], str]
BAD_TOKENS: dict[str, Forger] = {
    "another issuer": lambda p, c: p.sign(c | {"iss": "https://evil.example"}),
    "another audience": lambda p, c: p.sign(c | {"aud": "another"}),
    "another audience with our party": lambda p, c: p.sign(c | {"aud": "another", "azp": CLIENT}),
    "for another party": lambda p, c: p.sign(c | {"aud": [CLIENT, "another"], "azp": "another"}),
    "another nonce": lambda p, c: p.sign(c | {"nonce": "another"}),
    "no nonce": lambda p, c: p.sign({k: v for k, v in c.items() if k != "nonce"}),
    "over": lambda p, c: p.sign(c | {"exp": int(time.time()) - 3600}),
    "no end": lambda p, c: p.sign({k: v for k, v in c.items() if k != "exp"}),
    "of later": lambda p, c: p.sign(c | {"iat": int(time.time()) + 3600}),
    "nobody": lambda p, c: p.sign({k: v for k, v in c.items() if k != "sub"}),
    "an empty name": lambda p, c: p.sign(c | {"sub": ""}),
    "unsigned": lambda p, c: jwt.encode(c, "", "none"),
    "unsigned with a key": lambda p, c: jwt.encode(c, "", "none", headers={"kid": "one"}),
    "our secret": lambda p, c: jwt.encode(c, SECRET * 4, "HS256", headers={"kid": "one"}),
    "another key": lambda p, c: jwt.encode(c, make_key(), "RS256", headers={"kid": "one"}),
    "an unknown key": lambda p, c: jwt.encode(c, make_key(), "RS256", headers={"kid": "two"}),
    "garbage": lambda p, c: "a.b.c",
}


@pytest.mark.parametrize("forge", BAD_TOKENS.values(), ids=BAD_TOKENS.keys())
def test_a_bad_token_lets_nobody_in(
    client: Client, world: ConsoleWorld, provider: OpenIDProvider, forge: Forger
) -> None:
    connect_account(world.admin, "u-1")
    provider.claims = {"sub": "u-1", "groups": ["chiefs"]}
    provider.forge = lambda claims: forge(provider, claims)
    answer = sign_on(client, provider)
    assert answer.status_code == 403
    assert "Single sign-on did not work" in answer.content.decode()
    assert not is_signed_in(client)
    provider.forge = None
    assert sign_on(client, provider).status_code == 302
    assert is_signed_in(client)


@pytest.mark.parametrize(
    "told",
    [
        {"issuer": "https://evil.example"},
        {"token_endpoint": "http://evil.example/token"},
        {"authorization_endpoint": "http://evil.example/"},
        {"issuer": None},
    ],
    ids=["another issuer", "unencrypted token", "unencrypted page", "no issuer"],
)
def test_a_provider_that_is_another_is_not_gone_to(
    client: Client, provider: OpenIDProvider, told: dict[str, Any]
) -> None:
    provider.told = told
    answer = client.get(reverse("sign-on"))
    assert answer.status_code == 502
    assert "Location" not in answer
    provider.told = {}
    assert client.get(reverse("sign-on")).status_code == 302


def test_a_new_key_of_the_provider_is_learned(
    client: Client, world: ConsoleWorld, provider: OpenIDProvider
) -> None:
    connect_account(world.admin, "u-1")
    provider.claims = {"sub": "u-1", "groups": ["chiefs"]}
    assert sign_on(client, provider).status_code == 302
    provider.key = make_key()
    shown = provider.show_keys()["keys"][0] | {"kid": "two"}
    provider.show_keys = lambda: {"keys": [shown]}  # type: ignore[method-assign]
    provider.forge = lambda c: jwt.encode(c, provider.key, "RS256", headers={"kid": "two"})
    assert sign_on(Client(), provider).status_code == 302


def test_what_comes_back_belongs_to_the_browser_that_went(
    client: Client, world: ConsoleWorld, provider: OpenIDProvider
) -> None:
    connect_account(world.admin, "u-1")
    provider.claims = {"sub": "u-1", "groups": ["chiefs"]}
    returned = provider.consent(client.get(reverse("sign-on"))["Location"])

    def come_back(who: Client, **told: str) -> Any:
        return who.get(reverse("sign-on-return"), told)

    assert come_back(Client(), **returned).status_code == 403
    assert come_back(client, code=returned["code"], state="another").status_code == 403
    # The first wrong return ends it.
    assert come_back(client, **returned).status_code == 403
    returned = provider.consent(client.get(reverse("sign-on"))["Location"])
    assert come_back(client, **returned).status_code == 302
    assert come_back(client, **returned).status_code == 403  # twice
    refused = provider.consent(client.get(reverse("sign-on"))["Location"])
    assert come_back(client, error="access_denied", state=refused["state"]).status_code == 403
    assert "/token" in provider.asked


def test_strangers_leave_no_rows_and_are_held_back(
    client: Client, provider: OpenIDProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "MOST_AT_ADDRESS", 3)
    provider.forge = lambda claims: "a.b.c"
    for _ in range(3):
        sign_on(Client(), provider)
    assert not BrowserSession.objects.exists()
    asked = len(provider.asked)
    answer = client.get(reverse("sign-on"))
    assert "Too many failed attempts" in answer.content.decode()
    assert len(provider.asked) == asked


def test_the_own_second_factor_is_asked_for_unless_the_provider_tells_of_one(
    client: Client, world: ConsoleWorld, provider: OpenIDProvider, settings: Any, clock: Clock
) -> None:
    connect_account(world.admin, "u-1")
    give_app(world.admin, clock)
    require_second_factor(world.tenant.id, True)
    provider.claims = {"sub": "u-1", "groups": ["chiefs"], "amr": ["pwd", "otp"], "acr": "gold"}
    # What the operator does not name is not taken for one.
    assert sign_on(client, provider, "/people/")["Location"] == reverse("sign-in-second")
    assert not is_signed_in(client)
    answer = client.post(reverse("sign-in-second"), {"code": show_code(clock.now)})
    assert answer["Location"] == "/people/"
    assert is_signed_in(client)
    assert list_kinds(world.admin)[-1] == "sign_on.done"
    for told in (["otp", "mfa"], ["gold"]):
        settings.OIDC_SECOND_FACTOR = told
        other = Client()
        assert sign_on(other, provider)["Location"] == reverse("overview")
        assert is_signed_in(other)
    settings.OIDC_SECOND_FACTOR = ["hwk"]
    assert sign_on(Client(), provider)["Location"] == reverse("sign-in-second")


def test_a_tenant_that_requires_one_is_shut_to_who_showed_none(
    client: Client, world: ConsoleWorld, provider: OpenIDProvider, settings: Any
) -> None:
    provider.claims = {"sub": "u-7", "groups": ["staff"], "amr": ["pwd"]}
    require_second_factor(world.tenant.id, True)
    assert sign_on(client, provider).status_code == 302
    assert client.get(reverse("overview"))["Location"] == reverse("account-second")
    settings.OIDC_SECOND_FACTOR = ["pwd"]
    other = Client()
    assert sign_on(other, provider).status_code == 302
    assert is_signed_in(other)
    assert not second_factor.has_second_factor(User.objects.get(username="u-7"))


def test_signing_out_there_is_offered(client: Client, provider: OpenIDProvider) -> None:
    provider.claims = {"sub": "u-7", "groups": ["staff"]}
    sign_on(client, provider)
    client.post(reverse("sign-out"))
    assert not is_signed_in(client)
    assert reverse("sign-on-end") in client.get(reverse("sign-in")).content.decode()
    where = urlsplit(client.get(reverse("sign-on-end"))["Location"])
    assert f"{where.scheme}://{where.netloc}{where.path}" == f"{provider.issuer}/end"
    told = parse_qs(where.query)
    assert told["client_id"] == [CLIENT]
    assert told["post_logout_redirect_uri"] == [f"http://testserver{reverse('sign-in')}"]


def test_the_table_of_roles() -> None:
    rules = parse_role_rules('{"cn=a,ou=b": ["acme:viewer", "beta:admin"], "chiefs": "acme:admin"}')
    assert choose_roles({"groups": ["cn=a,ou=b"]}, "groups", rules) == {
        "acme": "viewer",
        "beta": "admin",
    }
    held = {"realm_access": {"roles": ["chiefs", "cn=a,ou=b"]}}
    assert choose_roles(held, "realm_access.roles", rules) == {"acme": "admin", "beta": "admin"}
    assert choose_roles({"https://x.example/r": "chiefs"}, "https://x.example/r", rules) == {
        "acme": "admin",
        "beta": None,
    }
    for odd in ({}, {"groups": None}, {"groups": {"chiefs": 1}}, {"groups": [["chiefs"], 7]}):
        assert choose_roles(odd, "groups", rules) == {"acme": None, "beta": None}


@pytest.mark.parametrize("text", ["[]", "x", '{"a": "acme"}', '{"a": "acme:owner"}', '{"a": 7}'])
def test_a_table_that_cannot_be_used_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  # json's own is one
        parse_role_rules(text)


def test_providers_are_spoken_to_in_secret() -> None:
    for address in ("", "https://id.example.org/realms/x", "http://localhost:8080"):
        assert check_provider_address(address) == address
    for address in ("http://id.example.org", "id.example.org", "https://"):
        with pytest.raises(ValueError, match="https"):
            check_provider_address(address)


def test_an_issuer_without_a_client_is_told_of(settings: Any) -> None:
    settings.OIDC_ISSUER, settings.OIDC_CLIENT_ID = "https://id.example.org", ""
    assert [each.id for each in check_single_sign_on(None)] == ["memoryhub.E012"]
    settings.OIDC_CLIENT_ID = "hub"
    assert check_single_sign_on(None) == []
