"""Signing in, one's own account, and how little somebody else can do about either."""

from __future__ import annotations

import re
import threading
from typing import Any

import pytest
from django.contrib.auth.hashers import make_password
from django.core import mail
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from memoryhub.console.pages.account.browsers import name_browser
from memoryhub.tenants.models import (
    AccountEvent,
    AuditEntry,
    BrowserSession,
    Membership,
    Tenant,
    User,
)
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import add_member
from memoryhub.tenants.sign_in import attempts
from tests.console.conftest import ConsoleWorld
from tests.support.factories import make_member, make_tenant

RIGHT, WRONG = "correct horse", "wrong"


def try_sign_in(client: Client, name: str, password: str, address: str = "10.0.0.1") -> bool:
    form = {"username": name, "password": password}
    return client.post(reverse("sign-in"), form, REMOTE_ADDR=address).status_code == 302


def list_kinds(account: User) -> list[str]:
    rows = AccountEvent.objects.filter(account_id=account.pk).order_by("at", "id")
    return list(rows.values_list("kind", flat=True))


def test_passwords_are_kept_by_argon2(settings: Any) -> None:
    from memoryhub import settings as own

    settings.PASSWORD_HASHERS = own.PASSWORD_HASHERS
    assert make_password("x").startswith("argon2$argon2id$v=19$m=19456,t=2,p=1$")


def test_guessing_is_held_back_and_written_down(client: Client, world: ConsoleWorld) -> None:
    name = world.admin.username
    for _ in range(attempts.MOST_AT_ADDRESS_BY_NAME):
        assert not try_sign_in(client, name, WRONG)
    assert not try_sign_in(client, name, RIGHT)
    assert list_kinds(world.admin) == ["sign_in.failed"] * attempts.MOST_AT_ADDRESS_BY_NAME
    assert try_sign_in(Client(), name, RIGHT, "10.0.0.2")


def test_who_guesses_anothers_password_does_not_lock_them_out(
    client: Client, world: ConsoleWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the same address or all the world: a browser that was signed in before is let in."""
    name = world.admin.username
    assert try_sign_in(client, name, RIGHT)
    client.post(reverse("sign-out"))
    monkeypatch.setattr(attempts, "MOST_BY_NAME", 12)
    for place in range(12):
        assert not try_sign_in(Client(), name, WRONG, f"10.0.{place % 3}.1")
    assert not try_sign_in(Client(), name, RIGHT, "10.0.9.9")
    assert try_sign_in(client, name, RIGHT)


def test_a_known_browser_guesses_no_further_either(client: Client, world: ConsoleWorld) -> None:
    name, other = world.admin.username, make_member(world.tenant)
    assert try_sign_in(client, name, RIGHT)
    client.post(reverse("sign-out"))
    for _ in range(attempts.MOST_BY_DEVICE):
        assert not try_sign_in(client, name, WRONG)
    assert not try_sign_in(client, name, RIGHT)
    # To another account it is a browser like any.
    for _ in range(attempts.MOST_AT_ADDRESS_BY_NAME):
        try_sign_in(client, other.username, WRONG, "10.0.0.7")
    assert not try_sign_in(client, other.username, RIGHT, "10.0.0.7")


def test_an_address_that_tries_many_names_is_held_back(
    world: ConsoleWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "MOST_AT_ADDRESS", 6)
    for number in range(6):
        assert not try_sign_in(Client(), f"nobody-{number}", WRONG)
    assert not try_sign_in(Client(), world.admin.username, RIGHT)
    assert try_sign_in(Client(), world.admin.username, RIGHT, "10.0.0.2")


def test_a_name_that_nobody_has_is_not_kept(client: Client, world: ConsoleWorld) -> None:
    try_sign_in(client, "my secret password", WRONG)
    assert not AccountEvent.objects.exclude(name="").exists()


@pytest.mark.parametrize(
    ("proxies", "passed", "told"),
    [
        (0, "10.9.9.9", "127.0.0.1"),
        (1, "", "127.0.0.1"),
        (1, "10.9.9.9, 10.1.1.1", "10.1.1.1"),
        (2, "10.9.9.9, 10.1.1.1", "10.9.9.9"),
        (1, "2001:db8:1:2:3::4", "2001:db8:1:2::"),
        (1, "nonsense", ""),
    ],
)
def test_the_address_is_what_a_trusted_proxy_says(
    rf: Any, settings: Any, proxies: int, passed: str, told: str
) -> None:
    settings.PROXIES = proxies
    assert attempts.read_address(rf.get("/", headers={"X-Forwarded-For": passed})) == told


def test_no_more_passwords_are_compared_at_once_than_the_hub_bears(
    client: Client, world: ConsoleWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "_TURNS", threading.BoundedSemaphore(1))
    monkeypatch.setattr(attempts, "_TURN_SECONDS", 0.01)
    with attempts.take_turn() as has_turn:
        assert has_turn
        assert not try_sign_in(client, world.admin.username, RIGHT)
    assert try_sign_in(client, world.admin.username, RIGHT)


def test_sign_ins_and_outs_are_told_of_on_the_account(client: Client, world: ConsoleWorld) -> None:
    try_sign_in(client, world.admin.username, WRONG)
    try_sign_in(client, world.admin.username, RIGHT)
    page = client.get(reverse("account")).content.decode()
    assert "Wrong password" in page
    assert "10.0.0.1" in page
    client.post(reverse("sign-out"))
    assert list_kinds(world.admin) == ["sign_in.failed", "sign_in.done", "sign_out.done"]


def test_a_changed_password_ends_every_other_session(client: Client, world: ConsoleWorld) -> None:
    other = Client()
    for each in (client, other):
        assert try_sign_in(each, world.admin.username, RIGHT)
    new = "three green boats"
    form = {"old_password": WRONG, "new_password1": new, "new_password2": new}
    assert client.post(reverse("account"), form).status_code == 200
    form["old_password"] = RIGHT
    assert client.post(reverse("account"), form).status_code == 302
    assert client.get(reverse("overview")).status_code == 200
    assert other.get(reverse("overview")).status_code == 302
    assert try_sign_in(other, world.admin.username, new)


def test_who_guesses_an_old_password_is_told_nothing_once_they_have_to_wait(
    client: Client, world: ConsoleWorld
) -> None:
    """In a browser that was signed in with it, as somebody finds one left open."""
    assert try_sign_in(client, world.admin.username, RIGHT)
    new = "three green boats"
    form = {"old_password": WRONG, "new_password1": new, "new_password2": new}
    for _ in range(attempts.MOST_BY_DEVICE):
        assert "entered incorrectly" in client.post(reverse("account"), form).content.decode()
    for guess in (WRONG, RIGHT):
        page = client.post(reverse("account"), form | {"old_password": guess}).content.decode()
        assert "Try again in 15 minutes" in page
        assert "entered incorrectly" not in page


def test_sessions_are_listed_and_ended(client: Client, world: ConsoleWorld) -> None:
    other, stranger = Client(), Client()
    for each in (client, other):
        try_sign_in(each, world.admin.username, RIGHT)
    try_sign_in(stranger, make_member(world.tenant).username, RIGHT)
    page = client.get(reverse("account")).content.decode()
    (name,) = re.findall(r'name="session" value="(\w+)"', page)
    assert BrowserSession.objects.filter(session_key=name).count() == 0  # it opens nothing
    assert stranger.post(reverse("account-end"), {"session": name}).status_code == 404
    assert client.post(reverse("account-end"), {"session": name}).status_code == 302
    assert other.get(reverse("overview")).status_code == 302
    assert client.get(reverse("overview")).status_code == 200


def find_member(tenant: Tenant, person: User) -> Membership:
    with tenant_scope(tenant.id):
        return Membership.objects.get(user=person)


def test_an_admin_signs_a_member_out(client: Client, world: ConsoleWorld) -> None:
    """Everywhere, in the person's other tenants too, which are not told who did it."""
    person, browser = make_member(world.tenant), Client()
    add_member(make_tenant("Elsewhere"), person, "viewer")
    for each, name in ((client, world.admin.username), (browser, person.username)):
        assert try_sign_in(each, name, RIGHT)
    member = find_member(world.tenant, person)
    page = client.post(reverse("person-sign-out", args=[member.id]), follow=True).content.decode()
    assert f"{person.username} has been signed out everywhere" in page
    assert "Elsewhere" not in page
    assert browser.get(reverse("overview")).status_code == 302
    assert client.get(reverse("overview")).status_code == 200
    with tenant_scope(world.tenant.id):
        entry = AuditEntry.objects.get(action="person.signed_out")
    assert (entry.actor, entry.about) == (world.admin.username, person.username)
    event = AccountEvent.objects.get(kind="sessions.ended", account_id=person.pk)
    assert event.actor == "an admin"
    assert try_sign_in(browser, person.username, RIGHT)


def test_an_admin_signs_out_members_of_the_tenant_alone(
    client: Client, world: ConsoleWorld
) -> None:
    elsewhere, browser = make_tenant("Elsewhere"), Client()
    person = make_member(elsewhere)
    assert try_sign_in(browser, person.username, RIGHT)
    assert try_sign_in(client, world.admin.username, RIGHT)
    where = reverse("person-sign-out", args=[find_member(elsewhere, person).id])
    assert client.post(where).status_code == 404
    assert browser.get(reverse("overview")).status_code == 200
    assert not AccountEvent.objects.filter(kind="sessions.ended").exists()


def test_a_new_password_by_command_ends_all_sessions(client: Client, world: ConsoleWorld) -> None:
    import io

    out = io.StringIO()
    try_sign_in(client, world.admin.username, RIGHT)
    call_command("account", "sessions", world.admin.username, stdout=out)
    assert "10.0.0.1" in out.getvalue()
    out = io.StringIO()
    call_command("account", "password", world.admin.username, stdout=out)
    assert client.get(reverse("overview")).status_code == 302
    assert try_sign_in(client, world.admin.username, out.getvalue().split()[-1])


@pytest.fixture
def mailing(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.EMAIL_HOST = "localhost"
    monkeypatch.setattr(threading.Thread, "start", threading.Thread.run)


def test_a_new_password_by_mail(client: Client, world: ConsoleWorld, mailing: None) -> None:
    User.objects.filter(id=world.admin.id).update(email="eva@example.org")
    other = Client()
    try_sign_in(other, world.admin.username, RIGHT)
    asked = [
        client.post(reverse("password-reset"), {"email": email})
        for email in ("eva@example.org", "nobody@example.org")
    ]
    assert asked[0].content == asked[1].content
    (sent,) = mail.outbox
    (link,) = re.findall(r"http://testserver(\S+)", str(sent.body))
    where = client.get(link)["Location"]
    new = {"new_password1": "three green boats", "new_password2": "three green boats"}
    assert client.post(where, new).status_code == 302
    assert other.get(reverse("overview")).status_code == 302
    assert try_sign_in(client, world.admin.username, "three green boats")
    assert b"This link is no longer valid" in Client().get(link, follow=True).content


def test_resets_are_bounded_and_need_a_mail_server(
    client: Client, world: ConsoleWorld, mailing: None, settings: Any
) -> None:
    User.objects.filter(id=world.admin.id).update(email="eva@example.org")
    for _ in range(attempts.MOST_RESETS + 3):
        client.post(reverse("password-reset"), {"email": "eva@example.org"})
    assert len(mail.outbox) == attempts.MOST_RESETS
    settings.EMAIL_HOST = ""
    assert client.get(reverse("password-reset")).status_code == 404


def test_what_is_written_down_is_neither_changed_nor_taken_out(world: ConsoleWorld) -> None:
    attempts.record_account_event(AccountEvent.Kind.SIGNED_IN, world.admin, "ida")
    with tenant_scope(world.tenant.id):
        assert AuditEntry.objects.exists()
    for model in (AuditEntry, AccountEvent):
        with tenant_scope(world.tenant.id):
            with pytest.raises(DatabaseError, match="denied"), transaction.atomic():
                model._base_manager.update(actor="nobody")
            before = model._base_manager.count()
            with connection.cursor() as cursor:
                cursor.execute(f"DELETE FROM {model._meta.db_table}")
            kept = model._base_manager.filter(space=None) if model is AuditEntry else None
            assert (kept.count() if kept is not None else before) > 0
    assert AccountEvent.objects.all().delete()[0] == 0
    assert AccountEvent.objects.exists()


def test_what_is_older_than_a_year_goes(world: ConsoleWorld) -> None:
    old = timezone.now() - attempts.KEPT * 2
    AccountEvent.objects.create(at=old, kind="sign_in.done", account_id=world.admin.pk)
    attempts.record_account_event(AccountEvent.Kind.SIGNED_IN, world.admin, "ida")
    assert list_kinds(world.admin) == ["sign_in.done"]


@pytest.mark.parametrize(
    ("agent", "named"),
    [
        (
            "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
            "Firefox · Linux",
        ),
        (
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
            "Chrome/126.0.0.0 Safari/537.36 Edg/126.0.0.0",
            "Edge · Windows",
        ),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 "
            "(KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
            "Safari · iOS",
        ),
        ("curl/8.5.0", "curl/8.5.0"),
    ],
)
def test_a_browser_is_called_by_its_name(agent: str, named: str) -> None:
    assert name_browser(agent) == named
