"""A passkey is made and signed in with, by a browser's authenticator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import CDPSession, Page, expect

from memoryhub.tenants.models import Membership, SecondFactor, Tenant, User
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.sign_in.second_factor import remove_all_factors
from tests.e2e.test_accessibility import list_findings
from tests.support.browser import Visitor

pytestmark = [pytest.mark.e2e, pytest.mark.writes]


@dataclass
class Authenticator:
    """What stands for a fingerprint reader or a key."""

    session: CDPSession
    name: str

    def empty(self) -> None:
        self.session.send("WebAuthn.clearCredentials", {"authenticatorId": self.name})


@pytest.fixture
def authenticator(visitor: Visitor) -> Iterator[Authenticator]:
    session = visitor.page.context.new_cdp_session(visitor.page)
    session.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    made = session.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    yield Authenticator(session, made["authenticatorId"])
    session.detach()


@pytest.fixture
def person(tenant: Tenant) -> User:
    with tenant_scope(tenant.id):
        return Membership.objects.filter(role=Membership.Role.ADMIN).earliest("id").user


def make_passkey(visitor: Visitor) -> list[str]:
    """The recovery codes shown."""
    page = visitor.open("account-second")
    page.get_by_role("textbox", name="Password").fill("correct horse")
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("link", name="Add a passkey").click()
    page.get_by_label("Name").fill("Laptop")
    page.get_by_role("button", name="Create passkey").click()
    expect(page.get_by_text("Save these recovery codes")).to_be_visible()
    return page.locator(".codes code").all_text_contents()


def give_password(visitor: Visitor, person: User) -> Page:
    visitor.page.context.clear_cookies()
    visitor.sign_in(person.username)
    expect(visitor.page.get_by_role("button", name="Use a passkey")).to_be_visible()
    return visitor.page


def test_a_passkey_signs_in(visitor: Visitor, authenticator: Authenticator, person: User) -> None:
    codes = make_passkey(visitor)
    assert len(codes) == 10
    page = give_password(visitor, person)
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    assert SecondFactor.objects.get(account=person).last_used_at is not None


def test_a_lost_passkey_is_stood_in_for_by_a_recovery_code(
    visitor: Visitor, authenticator: Authenticator, person: User
) -> None:
    codes = make_passkey(visitor)
    authenticator.empty()
    page = give_password(visitor, person)
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_text("The browser provided no passkey")).to_be_visible()
    page.get_by_label("A recovery code").fill(codes[0])
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("link", name="Skip to content")).to_be_attached()
    expect(page.get_by_label("A recovery code")).to_have_count(0)
    remove_all_factors(person)


@pytest.mark.parametrize("width", [1280], indirect=True)
def test_every_step_can_be_used_by_everybody(
    visitor: Visitor, authenticator: Authenticator, person: User
) -> None:
    make_passkey(visitor)
    found = list_findings(visitor.page)
    for name in ("account-second", "account-second-app", "account-second-passkey", "people"):
        found += list_findings(visitor.open(name))
    found += list_findings(give_password(visitor, person))
    remove_all_factors(person)
    assert not found, "\n".join(found)
