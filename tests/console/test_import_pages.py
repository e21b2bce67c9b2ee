"""Bringing memories over in the console: tried first, then taken in."""

from __future__ import annotations

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from memoryhub.importers import runs
from memoryhub.importers.models import ImportFile, ImportRun
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
    assert "The file breaks off at [0]." in page
    assert "Nothing was imported." in page


def test_a_file_named_as_another_systems_is_tried_again_without_a_second_upload(
    browser: Client, world: ConsoleWorld
) -> None:
    address = upload_file(browser, json.dumps(MEM0), source="zep", only=["fact"])
    page = browser.get(address).content.decode()
    assert "This is a file of mem0, not of Zep and Graphiti." in page
    assert '<option value="zep" selected>' in page
    assert 'value="note" checked' not in page
    with tenant_scope(world.tenant.id):
        tried = ImportRun.objects.get(file_name="all.json")
    again = browser.post(reverse("import-again", args=[tried.id]), {"source": "mem0"})
    assert again["Location"] != address
    page = browser.get(again["Location"]).content.decode()
    assert "What would be imported" in page
    assert "all.json" in page


def test_a_file_that_names_nobody_is_tried_again_for_somebody(
    browser: Client, world: ConsoleWorld
) -> None:
    address = upload_file(browser, json.dumps([{"memory": "Rows on Sundays"}]))
    page = browser.get(address).content.decode()
    assert "The file does not say whose memories these are: name a subject." in page
    again = browser.post(f"{address}again", {"source": "mem0", "subject": "petra"})
    page = browser.get(again["Location"]).content.decode()
    assert "All of it for petra." in page
    assert 'value="petra"' in page


def test_a_choice_that_cannot_be_tried_is_refused_on_the_same_page(
    browser: Client, world: ConsoleWorld
) -> None:
    address = upload_file(browser, json.dumps(MEM0), source="zep")
    answer = browser.post(f"{address}again", {"source": "evernote"}, follow=True)
    assert answer.redirect_chain == [(address, 302)]
    assert "Not read: use one of mem0" in answer.content.decode()
    with tenant_scope(world.tenant.id):
        ImportFile.objects.all().delete()
    answer = browser.post(f"{address}again", {"source": "mem0"}, follow=True)
    assert "Not read: the file is not kept any more" in answer.content.decode()
    assert f"{address}again" not in answer.content.decode()


def test_a_file_with_nothing_to_take_says_so(browser: Client, world: ConsoleWorld) -> None:
    page = browser.get(upload_file(browser, '{"mood": 1}')).content.decode()
    assert "Nothing of this file would be imported" in page


def test_an_export_of_a_hub_is_led_to_its_own_form(browser: Client, world: ConsoleWorld) -> None:
    export = b"".join(browser.get(reverse("space-export", args=[world.space.id])))
    for source in ("mem0", "jsonl"):
        address = upload_file(browser, export.decode(), source=source)
        page = browser.get(address).content.decode()
        assert "This is an export of MemoryHub" in page
        assert reverse("spaces-import") in page
        assert f"{address}again" not in page


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
