"""Bringing memories over in the console: tried first, then taken in."""

from __future__ import annotations

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from memoryhub.importers import runs
from memoryhub.importers.models import ImportRun
from memoryhub.tenants.scope import tenant_scope
from notes.models import Fact
from tests.console.conftest import ConsoleWorld
from tests.importers.samples import MEM0


def upload_file(browser: Client, content: str, **more: object) -> str:
    file = SimpleUploadedFile("all.json", content.encode())
    answer = browser.post(reverse("import-new"), {"source": "mem0", "file": file, **more})
    assert answer.status_code == 302
    return str(answer["Location"])


def test_a_file_is_tried_and_its_report_shown_before_it_is_taken(
    browser: Client, world: ConsoleWorld
) -> None:
    address = upload_file(browser, json.dumps(MEM0))
    page = browser.get(address).content.decode()
    assert "What would be imported" in page
    assert "Import" in page
    assert "results[2]" in page
    assert "no memory or text or data" in page
    assert "mood" in page
    with tenant_scope(world.tenant.id):
        tried = ImportRun.objects.get(file_name="all.json")
        assert not Fact.objects.filter(text="Lives in Lisbon").exists()
    answer = browser.post(reverse("import-take", args=[tried.id]))
    page = browser.get(answer["Location"]).content.decode()
    assert "What was imported" in page
    assert '<button class="button first">' not in page
    with tenant_scope(world.tenant.id):
        assert Fact.objects.filter(text="Lives in Lisbon").exists()


def test_a_broken_file_says_where(browser: Client, world: ConsoleWorld) -> None:
    page = browser.get(upload_file(browser, "[1")).content.decode()
    assert "the file breaks off at [0]" in page
    assert "Nothing was imported." in page


def test_nothing_sent_is_told(browser: Client, world: ConsoleWorld) -> None:
    answer = browser.post(reverse("import-new"), {"source": "mem0"}, follow=True)
    assert "No file selected" in answer.content.decode()
    file = SimpleUploadedFile("all.json", b"[]")
    answer = browser.post(reverse("import-new"), {"source": "x", "file": file}, follow=True)
    assert "Not read: use one of mem0" in answer.content.decode()


def test_the_list_is_searched_filtered_and_polled_while_one_goes_on(
    browser: Client, world: ConsoleWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = reverse("imports")
    assert "boats" in browser.get(address, {"q": "boats", "how": "tried"}).content.decode()
    assert "boats" not in browser.get(address, {"source": "zep"}).content.decode().split("form")[0]
    assert "hx-get" not in browser.get(address).content.decode()
    monkeypatch.setattr(runs, "AT_ONCE_TRIED", 1)
    run = upload_file(browser, json.dumps(MEM0))
    assert "hx-get" in browser.get(address).content.decode()
    part = browser.get(run, headers={"HX-Request": "true"})
    assert "Waiting for a worker" in part.content.decode()
    with tenant_scope(world.tenant.id):
        ImportRun.objects.update(state="done")
    assert browser.get(run, headers={"HX-Request": "true"})["HX-Refresh"] == "true"
