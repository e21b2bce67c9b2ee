"""A second factor beside the password: what it takes to have one, to sign in with it, and to lose
it."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from html import unescape
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA1, SHA256
from cryptography.hazmat.primitives.twofactor.totp import TOTP
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from fido2.cose import ES256
from fido2.utils import websafe_encode
from fido2.webauthn import (
    Aaguid,
    AttestationObject,
    AttestedCredentialData,
    AuthenticatorData,
    CollectedClientData,
)

from memoryhub.tenants.models import (
    AccountEvent,
    AuditEntry,
    BrowserSession,
    RecoveryCode,
    SecondFactor,
    User,
)
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import add_member
from memoryhub.tenants.sign_in import attempts, second_factor
from tests.console.conftest import ConsoleWorld
from tests.console.test_account import RIGHT, list_kinds, try_sign_in
from tests.support.factories import make_member, make_tenant

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


class Clock:
    """What the hub takes the time to be."""

    def __init__(self) -> None:
        self.now = timezone.now()

    def pass_seconds(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(timezone, "now", lambda: found.now)
    return found


def show_code(now: datetime, secret: str = SECRET) -> str:
    return TOTP(base64.b32decode(secret), 6, SHA1(), 30).generate(int(now.timestamp())).decode()


def give_app(account: User, clock: Clock) -> list[str]:
    """The app's secret is SECRET; the recovery codes. The code of now is taken by it."""
    assert second_factor.add_app(account, SECRET, show_code(clock.now), clock.now)
    clock.pass_seconds(60)
    return second_factor.make_recovery_codes(account)


def give_password(client: Client, account: User) -> None:
    form = {"username": account.username, "password": RIGHT}
    answer = client.post(reverse("sign-in"), form, REMOTE_ADDR="10.0.0.1")
    assert answer["Location"] == reverse("sign-in-second")


def try_code(client: Client, code: str, address: str = "10.0.0.1") -> bool:
    answer = client.post(reverse("sign-in-second"), {"code": code}, REMOTE_ADDR=address)
    return answer.status_code == 302


def is_signed_in(client: Client) -> bool:
    return client.get(reverse("overview")).status_code == 200


def test_an_app_is_set_up_and_asked_for(client: Client, world: ConsoleWorld, clock: Clock) -> None:
    """Through the pages, from the picture to the next sign-in."""
    other = Client()
    for each in (client, other):
        assert try_sign_in(each, world.admin.username, RIGHT)
    page = client.get(reverse("account-second-app")).content.decode()
    assert '<svg width="' in page
    (secret,) = re.findall(r"<code>([A-Z2-7]{32})</code>", page)
    wrong = client.post(reverse("account-second-app"), {"code": "000000"}).content.decode()
    assert "That is not the app" in wrong
    assert secret in wrong  # the same picture, as the app has read it already
    code = show_code(clock.now, secret)
    page = client.post(reverse("account-second-app"), {"code": code}, follow=True).content.decode()
    codes = re.findall(r"<code>([A-Z2-7]{4}(?:-[A-Z2-7]{4}){3})</code>", page)
    assert len(codes) == second_factor.RECOVERY_CODES
    assert codes[0] not in client.get(reverse("account-second")).content.decode()
    assert is_signed_in(client)
    assert not is_signed_in(other)  # who came in by the password alone is out
    client.post(reverse("sign-out"))
    give_password(client, world.admin)
    assert not is_signed_in(client)
    clock.pass_seconds(30)
    assert try_code(client, show_code(clock.now, secret))
    assert is_signed_in(client)
    assert {"second.added", "second.codes"} <= set(list_kinds(world.admin))


def test_the_way_one_was_going_is_kept(client: Client, world: ConsoleWorld, clock: Clock) -> None:
    give_app(world.admin, clock)
    for wanted, led in (("/people/", "/people/"), ("https://evil.example/", reverse("overview"))):
        form = {"username": world.admin.username, "password": RIGHT, "next": wanted}
        client.post(reverse("sign-in"), form)
        answer = client.post(reverse("sign-in-second"), {"code": show_code(clock.now)})
        assert answer["Location"] == led
        client.post(reverse("sign-out"))
        clock.pass_seconds(60)


def test_who_has_none_signs_in_as_before(client: Client, world: ConsoleWorld) -> None:
    assert try_sign_in(client, world.admin.username, RIGHT)
    assert is_signed_in(client)


def test_a_code_is_of_now_and_taken_once(client: Client, world: ConsoleWorld, clock: Clock) -> None:
    give_app(world.admin, clock)
    code, old = show_code(clock.now), show_code(clock.now - timedelta(minutes=2))
    give_password(client, world.admin)
    assert not try_code(client, old)
    assert not try_code(client, show_code(clock.now, SECRET[::-1]))
    assert not try_code(client, "")
    assert try_code(client, f"{code[:3]} {code[3:]}")
    other = Client()
    give_password(other, world.admin)
    assert not try_code(other, code)
    assert not try_code(other, show_code(clock.now - timedelta(seconds=30)))  # before that one
    assert not is_signed_in(other)
    clock.pass_seconds(30)
    assert try_code(other, show_code(clock.now))


def test_a_recovery_code_signs_in_once(client: Client, world: ConsoleWorld, clock: Clock) -> None:
    first, second, *_ = give_app(world.admin, clock)
    give_password(client, world.admin)
    assert try_code(client, first.lower().replace("-", " "))
    assert is_signed_in(client)
    assert "second.code_used" in list_kinds(world.admin)
    again = Client()
    give_password(again, world.admin)
    assert not try_code(again, first)
    assert try_code(again, second)
    assert RecoveryCode.objects.filter(account=world.admin).count() == 8


def test_what_is_anothers_is_nothing_here(
    client: Client, world: ConsoleWorld, clock: Clock
) -> None:
    """Another person's app and recovery codes, however they were come by."""
    other = make_member(world.tenant)
    give_app(other, clock)
    SecondFactor.objects.create(account=world.admin, kind="passkey", name="Key", host="hub.example")
    foreign = second_factor.make_recovery_codes(other)
    give_password(client, world.admin)
    assert not try_code(client, show_code(clock.now))
    assert not try_code(client, foreign[0])
    factor = SecondFactor.objects.get(account=other)
    client.force_login(world.admin)
    sign_in_anew(client)
    client.post(reverse("account-second-remove"), {"factor": str(factor.id)})
    assert SecondFactor.objects.filter(account=other).exists()


def sign_in_anew(client: Client) -> None:
    client.post(reverse("account-second-confirm"), {"password": RIGHT})


def test_the_second_page_is_for_who_gave_the_password_a_moment_ago(
    client: Client, world: ConsoleWorld, clock: Clock
) -> None:
    give_app(world.admin, clock)
    where = reverse("sign-in-second")
    assert client.get(where)["Location"] == reverse("sign-in")
    give_password(client, world.admin)
    assert client.get(where).status_code == 200
    assert client.get(reverse("account"))["Location"].startswith(reverse("sign-in"))
    clock.pass_seconds(601)
    assert client.post(where, {"code": show_code(clock.now)})["Location"] == reverse("sign-in")
    give_password(client, world.admin)
    world.admin.set_password("three green boats")
    world.admin.save()
    assert client.post(where, {"code": show_code(clock.now)})["Location"] == reverse("sign-in")
    assert not is_signed_in(client)


def test_codes_are_guessed_no_faster_than_passwords(
    client: Client, world: ConsoleWorld, clock: Clock
) -> None:
    """From wherever: who guesses them has the password. What can't be guessed goes on working."""
    recovery = give_app(world.admin, clock)
    give_password(client, world.admin)
    for place in range(attempts.MOST_CODES):
        assert not try_code(client, "000000", f"10.0.{place}.1")
    assert not try_code(client, show_code(clock.now), "10.1.1.1")
    page = client.get(reverse("sign-in-second")).content
    assert b"Code from your app" in page
    clock.pass_seconds(901)
    give_password(client, world.admin)
    for _ in range(2):
        for place in range(attempts.MOST_CODES):
            try_code(client, "000000", f"10.2.{place}.1")
        clock.pass_seconds(901)
        give_password(client, world.admin)
    assert not try_code(client, show_code(clock.now), "10.3.1.1")  # enough for a day
    assert try_code(client, recovery[0], "10.3.1.1")


def test_a_browser_that_was_signed_in_before_is_not_kept_out_by_others(
    client: Client, world: ConsoleWorld, clock: Clock
) -> None:
    give_app(world.admin, clock)
    give_password(client, world.admin)
    assert try_code(client, show_code(clock.now))
    client.post(reverse("sign-out"))
    guesser = Client()
    give_password(guesser, world.admin)
    for _ in range(attempts.MOST_CODES):
        assert not try_code(guesser, "000000", "10.9.9.9")
    clock.pass_seconds(60)
    give_password(client, world.admin)
    assert try_code(client, show_code(clock.now))


def test_it_is_changed_only_by_who_gave_the_password_lately(
    client: Client, world: ConsoleWorld, clock: Clock
) -> None:
    """A browser that was left open adds nothing and takes nothing away."""
    give_app(world.admin, clock)
    give_password(client, world.admin)
    assert try_code(client, show_code(clock.now))
    clock.pass_seconds(901)
    factor = SecondFactor.objects.get(account=world.admin)
    for name, form in (
        ("account-second-remove", {"factor": str(factor.id)}),
        ("account-second-codes", {}),
        ("account-second-app", {"code": "000000"}),
        ("account-second-passkey", {"credential": "{}"}),
    ):
        page = client.post(reverse(name), form, follow=True).content.decode()
        assert "Enter your password first" in page, name
    assert "second.codes" not in list_kinds(world.admin)[-1]
    wrong = client.post(reverse("account-second-confirm"), {"password": "wrong"}, follow=True)
    assert "That is not your password" in wrong.content.decode()
    client.post(reverse("account-second-remove"), {"factor": str(factor.id)})
    assert SecondFactor.objects.filter(id=factor.id).exists()
    sign_in_anew(client)
    renewed = client.post(reverse("account-second-codes"), follow=True).content
    assert b"Save these recovery codes" in renewed
    client.post(reverse("account-second-remove"), {"factor": str(factor.id)})
    assert not SecondFactor.objects.filter(id=factor.id).exists()
    assert not RecoveryCode.objects.filter(account=world.admin).exists()
    client.post(reverse("sign-out"))
    assert try_sign_in(client, world.admin.username, RIGHT)
    assert is_signed_in(client)


def test_the_password_asked_for_again_is_guessed_no_faster(
    client: Client, world: ConsoleWorld, clock: Clock
) -> None:
    client.force_login(world.admin)
    for _ in range(attempts.MOST_AT_ADDRESS_BY_NAME):
        client.post(reverse("account-second-confirm"), {"password": "wrong"})
    page = client.post(reverse("account-second-confirm"), {"password": RIGHT}, follow=True)
    assert "Try again in 15 minutes" in page.content.decode()


def test_a_second_app_is_refused(world: ConsoleWorld, client: Client, clock: Clock) -> None:
    client.force_login(world.admin)
    sign_in_anew(client)
    page = client.get(reverse("account-second-app")).content.decode()
    (secret,) = re.findall(r"<code>([A-Z2-7]{32})</code>", page)
    give_app(world.admin, clock)
    form = {"code": show_code(clock.now, secret)}
    page = client.post(reverse("account-second-app"), form, follow=True).content.decode()
    assert "there is an app already" in page


@pytest.mark.parametrize("answer", ["", "{}", "[]", "nonsense", '{"id": "a", "rawId": 7}'])
def test_made_up_passkeys_are_refused(
    client: Client, world: ConsoleWorld, clock: Clock, answer: str
) -> None:
    client.force_login(world.admin)
    sign_in_anew(client)
    for _ in range(2):  # with a challenge and without
        form = {"credential": answer, "name": "Key"}
        page = client.post(reverse("account-second-passkey"), form, follow=True).content.decode()
        assert "The browser provided no passkey" in page
        client.get(reverse("account-second-passkey"))
    give_app(world.admin, clock)
    client.post(reverse("sign-out"))
    give_password(client, world.admin)
    client.get(reverse("sign-in-second"))
    told = client.post(reverse("sign-in-second"), {"credential": answer or "{}"})
    assert told.status_code == 200
    assert not is_signed_in(client)


@dataclass
class SoftKey:
    """An authenticator that signs whatever it is told to."""

    key: ec.EllipticCurvePrivateKey
    name: bytes

    def make(self, options: Mapping[str, Any], origin: str) -> str:
        public = AttestedCredentialData.create(
            Aaguid.NONE,
            self.name,
            ES256.from_cryptography_key(self.key.public_key()),  # type: ignore[no-untyped-call]  # theirs
        )
        data = AuthenticatorData.create(
            hash_host(options["rp"]["id"]), FLAG.UP | FLAG.AT, 0, bytes(public)
        )
        told = CollectedClientData.create("webauthn.create", options["challenge"], origin)
        made = AttestationObject.create("none", data, {})
        return self.wrap(told, attestationObject=websafe_encode(made))

    def sign(self, options: Mapping[str, Any], origin: str) -> str:
        data = AuthenticatorData.create(hash_host(options["rpId"]), FLAG.UP, 0)
        told = CollectedClientData.create("webauthn.get", options["challenge"], origin)
        signature = self.key.sign(data + told.hash, ec.ECDSA(SHA256()))
        return self.wrap(
            told,
            authenticatorData=websafe_encode(data),
            signature=websafe_encode(signature),
        )

    def wrap(self, told: CollectedClientData, **rest: str) -> str:
        name = websafe_encode(self.name)
        answer = {"clientDataJSON": websafe_encode(told), **rest}
        return json.dumps({"id": name, "rawId": name, "type": "public-key", "response": answer})


FLAG = AuthenticatorData.FLAG


def hash_host(host: str) -> bytes:
    return hashlib.sha256(host.encode()).digest()


def make_soft_key() -> SoftKey:
    return SoftKey(ec.generate_private_key(ec.SECP256R1()), secrets.token_bytes(16))


def read_options(page: bytes) -> dict[str, Any]:
    (found,) = re.findall(r'data-options="([^"]+)"', page.decode())
    options: dict[str, Any] = json.loads(unescape(found))
    return options


def give_passkey(account: User, host: str = "testserver") -> SoftKey:
    client, key, there = (
        Client(headers={"Host": host}),
        make_soft_key(),
        reverse("account-second-passkey"),
    )
    client.force_login(account)
    sign_in_anew(client)
    options = read_options(client.get(there).content)
    client.post(there, {"credential": key.make(options, f"http://{host}"), "name": "Key"})
    return key


def try_passkey(client: Client, answer: str) -> bool:
    return client.post(reverse("sign-in-second"), {"credential": answer}).status_code == 302


def ask_second_step(client: Client) -> dict[str, Any]:
    return read_options(client.get(reverse("sign-in-second")).content)


def test_a_passkey_signs_what_it_is_asked_to_and_once(client: Client, world: ConsoleWorld) -> None:
    key, other = give_passkey(world.admin), give_passkey(make_member(world.tenant))
    give_password(client, world.admin)
    assert not try_passkey(client, other.sign(ask_second_step(client), "http://testserver"))
    assert not try_passkey(client, key.sign(ask_second_step(client), "http://evil.example"))
    old = ask_second_step(client)
    ask_second_step(client)
    assert not try_passkey(client, key.sign(old, "http://testserver"))
    right = key.sign(ask_second_step(client), "http://testserver")
    assert try_passkey(client, right)
    assert is_signed_in(client)
    again = Client()
    give_password(again, world.admin)
    ask_second_step(again)
    assert not try_passkey(again, right)
    # Its own name on what another signed.
    stolen = SoftKey(make_soft_key().key, key.name)
    assert not try_passkey(again, stolen.sign(ask_second_step(again), "http://testserver"))
    assert not is_signed_in(again)
    assert list_kinds(world.admin).count("second.failed") == 5


def test_a_passkey_is_asked_for_where_it_was_made(
    client: Client, world: ConsoleWorld, settings: Any
) -> None:
    settings.ALLOWED_HOSTS = ["hub.example", "testserver"]
    give_passkey(world.admin, "hub.example")
    assert SecondFactor.objects.get(account=world.admin).host == "hub.example"
    give_password(client, world.admin)
    page = client.get(reverse("sign-in-second")).content
    assert b"Use a passkey" not in page
    assert b"A recovery code" in page


def test_djangos_admin_is_no_way_around(client: Client, world: ConsoleWorld, clock: Clock) -> None:
    give_app(world.admin, clock)
    give_password(client, world.admin)
    assert client.get(reverse("admin:index")).status_code == 302
    form = {"username": world.admin.username, "password": RIGHT}
    client.post(reverse("admin:login"), form)
    assert client.get(reverse("admin:index")).status_code == 302
    assert not BrowserSession.objects.filter(account=world.admin).exists()


def test_nothing_in_the_database_gives_a_code_away(world: ConsoleWorld, clock: Clock) -> None:
    codes = give_app(world.admin, clock)
    with connection.cursor() as cursor:
        cursor.execute("SELECT row_to_json(t)::text FROM tenants_secondfactor t")
        rows = [row[0] for row in cursor.fetchall()]
        cursor.execute("SELECT row_to_json(t)::text FROM tenants_recoverycode t")
        rows += [row[0] for row in cursor.fetchall()]
    words = " ".join(rows)
    assert SECRET not in words
    assert not [code for code in codes if second_factor.clean_code(code) in words]


def test_the_hubs_key_is_rotated(
    client: Client, world: ConsoleWorld, clock: Clock, settings: Any
) -> None:
    give_app(world.admin, clock)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "b" * 60, [settings.SECRET_KEY]
    out = io.StringIO()
    call_command("rotate_secrets", stdout=out)
    assert "1 apps of people" in out.getvalue()
    settings.SECRET_KEY_FALLBACKS = []
    give_password(client, world.admin)
    assert try_code(client, show_code(clock.now))
    settings.SECRET_KEY = "c" * 60
    trouble = io.StringIO()
    call_command("rotate_secrets", stdout=io.StringIO(), stderr=trouble)
    assert world.admin.username in trouble.getvalue()
    again = Client()
    give_password(again, world.admin)
    clock.pass_seconds(60)
    assert not try_code(again, show_code(clock.now))


def test_a_lost_phone_is_the_operators_to_mend(
    client: Client, world: ConsoleWorld, clock: Clock
) -> None:
    give_app(world.admin, clock)
    give_password(client, world.admin)
    assert try_code(client, show_code(clock.now))
    out = io.StringIO()
    call_command("account", "second-factor", world.admin.username, stdout=out)
    assert "10 recovery codes left" in out.getvalue()
    assert SECRET not in out.getvalue()
    call_command("account", "second-factor", world.admin.username, "--remove", stdout=out)
    assert not is_signed_in(client)
    assert try_sign_in(client, world.admin.username, RIGHT)
    assert is_signed_in(client)
    event = AccountEvent.objects.get(kind="second.removed", account_id=world.admin.pk)
    assert event.actor == "the hub"


def test_a_tenant_asks_its_people_for_one(
    client: Client, world: ConsoleWorld, clock: Clock
) -> None:
    """Without it they see their own account, where they add one, and nothing of the tenant: not
    behind the pages either. Another tenant of theirs does not ask."""
    person, browser = make_member(world.tenant, "admin"), Client()
    assert try_sign_in(client, world.admin.username, RIGHT)
    assert try_sign_in(browser, person.username, RIGHT)
    refused = client.post(reverse("people-second-factor"), {"required": "on"}, follow=True)
    assert b"First sign in with a second factor yourself" in refused.content
    assert is_signed_in(browser)
    give_app(world.admin, clock)
    client.post(reverse("sign-out"))
    give_password(client, world.admin)
    assert try_code(client, show_code(clock.now))
    client.post(reverse("people-second-factor"), {"required": "on"})
    assert is_signed_in(client)
    for name in ("overview", "spaces", "keys", "admin:index", "admin:tenants_user_changelist"):
        assert browser.get(reverse(name)).headers.get("Location") == reverse("account-second"), name
    assert browser.get(reverse("account")).status_code == 200
    elsewhere = make_tenant("Elsewhere")
    add_member(elsewhere, person, "viewer")
    browser.post(reverse("choose-tenant"), {"tenant": str(elsewhere.id)})
    assert is_signed_in(browser)
    browser.post(reverse("choose-tenant"), {"tenant": str(world.tenant.id)})
    page = browser.get(reverse("account-second")).content.decode()
    assert "requires a second factor" in page
    sign_in_anew(browser)
    page = browser.get(reverse("account-second-app")).content.decode()
    (secret,) = re.findall(r"<code>([A-Z2-7]{32})</code>", page)
    browser.post(reverse("account-second-app"), {"code": show_code(clock.now, secret)})
    assert is_signed_in(browser)
    factor = SecondFactor.objects.get(account=person)
    browser.post(reverse("account-second-remove"), {"factor": str(factor.id)})
    assert not is_signed_in(browser)
    client.post(reverse("people-second-factor"), {"required": "off"})
    assert is_signed_in(browser)
    with tenant_scope(world.tenant.id):
        entries = AuditEntry.objects.filter(about="second factor").values_list("detail", flat=True)
        assert set(entries) == {"now required", "now everybody's own choice"}
