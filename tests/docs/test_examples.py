"""What the pages tell people to send is what the API takes."""

from __future__ import annotations

import io
import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from memoryhub.dialogues.formats import read_dialogues
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_key, create_tenant, find_tenant
from notes.models import EvolutionEvent, Fact
from tests.docs.pages import ROOT, list_blocks
from tests.support.factories import make_member

PAGES = [ROOT / "README.md", ROOT / "docs/tutorial/five-minutes.md"]
CURL = re.compile(r"curl -s http://127\.0\.0\.1:8000(\S+) .*?-d '(.*?)'$", re.M | re.S)


def list_curl_requests(page: Path) -> list[tuple[str, dict[str, Any]]]:
    """(path, body) of each curl command of a page, in order."""
    found = [match for block in list_blocks(page, "sh") for match in CURL.findall(block)]
    return [(path, json.loads(body)) for path, body in found]


@pytest.fixture
def tenant(db: None) -> Tenant:
    return create_tenant("Docs", "docs")


@pytest.fixture
def api(tenant: Tenant) -> APIClient:
    _, key = create_key(tenant, "docs", ["read", "write"])
    return APIClient(headers={"Authorization": f"Bearer {key}"})


def test_what_the_readme_remembers_is_what_it_then_finds_and_answers(api: APIClient) -> None:
    (remember, said), (find, asked), (answer, question) = list_curl_requests(PAGES[0])
    api.post(remember, {**said, "wait": True}, format="json")
    found = api.post(find, asked, format="json").json()
    assert "baker" in found["items"][0]["text"]
    told = api.post(answer, question, format="json").json()
    assert "26 October 2026" in told["text"]
    assert told["citations"]


def test_the_tutorial_tells_the_truth_about_last_saturday_and_repetition(
    api: APIClient, tenant: Tenant
) -> None:
    path, body = next(each for each in list_curl_requests(PAGES[1]) if "messages" in each[1])
    first, second = (api.post(path, body, format="json").json() for _ in range(2))
    assert first["job"]["decisions"]
    assert [turn["duplicate"] for turn in second["turns"]] == [True]
    with tenant_scope(tenant.id):
        told = Fact.objects.filter(space=Space.objects.get(subject="ana"))
        fact = told.get(event_from__isnull=False)
    assert fact.event_from == datetime(2026, 10, 10, tzinfo=UTC)


def test_what_the_demo_answers_as_of_a_day_is_what_the_page_says(api: APIClient) -> None:
    """Of the demo, the two conversations in which Ana tells where she lives."""
    dialogue = ROOT / "memoryhub/demo/dialogues/ana.jsonl"
    turns = [json.loads(line) for line in dialogue.read_text(encoding="utf-8").splitlines()]
    telling = ("I live in Porto", "I moved to Madrid")
    told = {turn["session"] for turn in turns if any(each in turn["content"] for each in telling)}
    sent = ("role", "speaker", "content", "timestamp")
    for session in sorted(told):
        said = [{n: turn[n] for n in sent} for turn in turns if turn["session"] == session]
        body = {"subject": "ana", "session": session, "messages": said, "wait": True}
        assert api.post("/api/v1/memories", body, format="json").status_code == 200
    page = ROOT / "docs/how-to/ask-with-sources.md"
    (shown,) = map(json.loads, list_blocks(page, "json"))
    then, now, before = (
        api.post("/api/v1/answer", shown | changed, format="json").json()
        for changed in ({}, {"as_of": None}, {"as_of": "2026-01-01"})
    )
    assert (then["text"], now["text"], before["abstained"]) == ("Porto", "Madrid", True)


def test_what_the_tutorial_puts_right_can_be_undone_and_redone(
    client: Client, api: APIClient, tenant: Tenant
) -> None:
    body = {"subject": "ana", "messages": [{"content": "I moved to Lisbon last week."}]}
    api.post("/api/v1/memories", {**body, "wait": True}, format="json")
    client.force_login(make_member(tenant))
    with tenant_scope(tenant.id):
        fact = Fact.objects.get()
    page = reverse("space-fact", args=[fact.space_id, fact.id])
    assert ">Correct<" in client.get(page).content.decode()
    client.post(page, {"action": "correct", "text": "Ana lives in the Alfama in Lisbon."})
    for offered, now_held in (("Undo", fact.text), ("Redo", "Ana lives in the Alfama in Lisbon.")):
        with tenant_scope(tenant.id):
            event = EvolutionEvent.objects.latest("created_at")
        change = reverse("space-event", args=[fact.space_id, event.id])
        assert f"{offered} this change" in client.get(change).content.decode()
        client.post(change)
        with tenant_scope(tenant.id):
            assert [row.text for row in Fact.objects.filter(retired_at=None)] == [now_held]


def test_the_first_tenant_of_a_deployment_can_be_made_as_shown(db: None) -> None:
    shown = "\n".join(list_blocks(ROOT / "docs/how-to/deploy.md", "sh"))
    (command,) = re.findall(r"manage\.py (create_tenant .*)", shown)
    call_command(*command.split(), stdout=io.StringIO())
    assert find_tenant("example") is not None


def test_the_line_that_shows_the_import_format_can_be_imported(tmp_path: Path) -> None:
    (example,) = list_blocks(ROOT / "docs/how-to/import.md", "json")
    file = tmp_path / "talk.jsonl"
    file.write_text(example)
    (conversation,) = read_dialogues(file, "jsonl")
    assert (conversation.subject, conversation.name) == ("ana", "Ana Ferreira")
    assert conversation.sessions[0].messages[0].external_id == "ana-03-05"


def test_the_problem_that_the_reference_shows_is_the_one_that_is_sent(api: APIClient) -> None:
    shown = json.loads(list_blocks(ROOT / "docs/reference/api.md", "json")[0])
    body = {"subject": "ana", "messages": [{"content": " "}]}
    assert api.post("/api/v1/memories", body, format="json").json() == shown
