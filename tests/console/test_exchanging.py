"""Downloading spaces and importing files in the console."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils.html import escape

from memoryhub.console.pages.exchange.views import EXCHANGED_KIND_LABELS
from memoryhub.exchange.tables import SPACE_TABLES, TENANT_TABLES
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from tests.console.conftest import ConsoleWorld
from tests.console.test_escaping import PAYLOADS, strange_tags
from tests.support.export_files import build_export_file, change_export_file, parse_lines
from tests.support.factories import make_member, make_tenant

HTMX = {"HX-Request": "true"}


def download_export(browser: Client, world: ConsoleWorld) -> bytes:
    answer = browser.get(reverse("space-export", args=[world.space.id]))
    assert answer["Content-Disposition"].startswith("attachment")
    return b"".join(answer)


def upload_export(browser: Client, data: bytes, **form: Any) -> str:
    file = SimpleUploadedFile("space.jsonl", data)
    headers = HTMX if form.pop("htmx", True) else {}
    answer = browser.post(reverse("spaces-import"), {"file": file, **form}, headers=headers)
    assert answer.status_code == 200
    return str(answer.content.decode())


def list_subjects(tenant_id: Any) -> set[str]:
    with tenant_scope(tenant_id):
        return set(Space.objects.values_list("subject", flat=True))


@pytest.fixture
def elsewhere(db: None) -> tuple[Client, Any]:
    """A browser of another tenant's admin, and that tenant."""
    tenant, client = make_tenant(), Client()
    client.force_login(make_member(tenant))
    return client, tenant


def test_a_file_is_checked_and_then_comes_in(
    browser: Client, world: ConsoleWorld, elsewhere: tuple[Client, Any]
) -> None:
    data = download_export(browser, world)
    client, tenant = elsewhere
    checked = upload_export(client, data, check="yes")
    assert "Would be imported" in checked
    assert list_subjects(tenant.id) == set()
    done = upload_export(client, data)
    assert "Imported" in done
    assert list_subjects(tenant.id) == {world.space.subject}
    with tenant_scope(tenant.id):
        made = Space.objects.get()
    assert reverse("space-timeline", args=[made.id]) in done
    assert client.get(reverse("space-timeline", args=[made.id])).status_code == 200
    history = client.get(reverse("space-history", args=[made.id])).content.decode()
    assert f"imported from an export of {escape(world.space.subject)} made on" in history
    assert "Imported</a>" in history


def test_without_script_the_whole_page_says_it(
    browser: Client, world: ConsoleWorld, elsewhere: tuple[Client, Any]
) -> None:
    page = upload_export(elsewhere[0], download_export(browser, world), htmx=False)
    assert "<h1>Import an export</h1>" in page
    assert "Imported" in page


def test_what_can_not_come_in_is_told(browser: Client, world: ConsoleWorld) -> None:
    data = download_export(browser, world)
    assert "has memories here already" in upload_export(browser, data)
    assert "line 1: is no JSON" in upload_export(browser, b"hello\n")
    assert "no file selected" in browser.post(reverse("spaces-import"), {}).content.decode()


def test_a_file_of_another_system_is_led_to_its_own_form(
    browser: Client, world: ConsoleWorld
) -> None:
    told = upload_export(browser, b'{"results": [{"memory": "Rows on Sundays"}]}')
    assert "this is a file of mem0, not an export of MemoryHub" in told
    assert "“Import memories”" in told
    page = browser.get(reverse("spaces-import")).content.decode()
    assert f'<a href="{reverse("imports")}">Import memories</a>' in page


def test_a_file_has_its_limit(browser: Client, world: ConsoleWorld, settings: Any) -> None:
    settings.MAX_IMPORT_BYTES = 10
    assert "at most 10 bytes" in upload_export(browser, b"x" * 11)


@pytest.mark.parametrize("evil", PAYLOADS)
def test_nothing_in_a_file_becomes_markup(
    browser: Client, world: ConsoleWorld, elsewhere: tuple[Client, Any], evil: str
) -> None:
    data = change_export_file(
        download_export(browser, world), ("space", {"subject": evil}), ("turn", {evil: 1})
    )
    told = [*parse_lines(data)[:-1], {"row": evil}]
    broken = change_export_file(data, ("turn", {"role": evil}), ("", {"version": evil}))
    for page in (
        upload_export(elsewhere[0], build_export_file(told)),
        upload_export(browser, broken),
    ):
        assert escape(evil)[:20] in page
        assert evil not in page
        assert strange_tags(page) == []


def test_all_of_the_tenant_is_one_file(browser: Client, world: ConsoleWorld) -> None:
    answer = browser.get(reverse("spaces-export"))
    told = parse_lines(b"".join(answer))
    assert told[0]["scope"] == "tenant"
    assert world.space.subject in {line.get("subject") for line in told}
    assert browser.post(reverse("spaces-export")).status_code == 405


def test_only_admins_see_the_buttons(client: Client, world: ConsoleWorld) -> None:
    client.force_login(make_member(world.tenant, "editor"))
    assert reverse("spaces-import") not in client.get(reverse("imports")).content.decode()
    assert reverse("spaces-export") not in client.get(reverse("spaces")).content.decode()
    client.force_login(make_member(world.tenant, "admin"))
    assert reverse("spaces-import") in client.get(reverse("imports")).content.decode()
    assert reverse("spaces-export") in client.get(reverse("spaces")).content.decode()


def test_everything_a_file_can_hold_has_a_name() -> None:
    assert EXCHANGED_KIND_LABELS.keys() == SPACE_TABLES.keys() | TENANT_TABLES.keys()
