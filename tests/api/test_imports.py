"""Imports over HTTP."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from memoryhub.importers import runs
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import ensure_space
from notes.models import Fact
from tests.importers.samples import MEM0, MEM0_ID

PATH = "/api/v1/imports"


def test_a_file_is_tried_and_then_taken_in(api: APIClient, tenant: Tenant) -> None:
    file = SimpleUploadedFile("all.json", json.dumps(MEM0).encode())
    tried = api.post(PATH, {"source": "mem0", "file": file, "dry_run": "true"}, "multipart").json()
    assert (tried["state"], tried["file_name"]) == ("done", "all.json")
    assert tried["report"]["taken"]["fact"] == 3
    assert tried["report"]["skipped_total"] == 2
    assert api.get(f"{PATH}/{tried['id']}").json()["report"] == tried["report"]
    done = api.post(f"{PATH}/{tried['id']}/take")
    assert (done.status_code, done.json()["report"]["taken"]["fact"]) == (200, 3)
    assert api.get("/api/v1/spaces/ana/facts").json()["total"] == 2  # one is over
    assert api.get(PATH).json()["total"] == 2
    again = api.post(f"{PATH}/{tried['id']}/take")
    assert (again.status_code, again.json()["code"]) == (409, "import_file_gone")


def test_a_small_file_comes_as_text(api: APIClient, tenant: Tenant) -> None:
    body = {"source": "mem0", "content": json.dumps(MEM0), "only": ["fact"]}
    answer = api.post(PATH, body, "json")
    assert answer.json()["report"]["taken"]["fact"] == 3
    with tenant_scope(tenant.id):
        assert Fact.objects.filter(lineage=MEM0_ID).exists()


def test_large_files_are_left_to_a_worker(api: APIClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "AT_ONCE", 10)
    answer = api.post(PATH, {"source": "mem0", "content": json.dumps(MEM0)}, "json")
    assert (answer.status_code, answer.json()["state"]) == (202, "queued")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"source": "mem0"}, "file"),
        ({"source": "evernote", "content": "[]"}, "source"),
        ({"content": "[]"}, "source"),
        ({"source": "mem0", "content": "[1"}, "content"),
        ({"source": "mem0", "content": '["\ud800"]'}, "content"),
        ({"source": "chatgpt", "content": '[{"id": "c", "mapping": {}}]'}, "content"),
        ({"source": "jsonl", "content": '{"note": "Whose?"}'}, "subject"),
        ({"source": "mem0", "content": "[]", "only": ["dream"]}, "only"),
        ({"source": "mem0", "content": "[]", "subject": "x" * 201}, "subject"),
        ({"source": "mem0", "content": "[]", "dry_run": "perhaps"}, "dry_run"),
        ({"source": "mem0", "content": "[]", "dry_run": "true"}, "dry_run"),
        ({"source": "mem0", "content": 7}, "content"),
    ],
)
def test_what_can_not_be_read_is_refused_by_field(
    api: APIClient, body: dict[str, Any], field: str
) -> None:
    answer = api.post(PATH, json.dumps(body), content_type="application/json")
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"].split("[")[0] == field


def test_E30_a_key_of_one_subject_brings_memories_to_no_other(
    api: APIClient, tenant: Tenant, client_of: Any
) -> None:
    with tenant_scope(tenant.id):
        rui = ensure_space(tenant.id, "rui")
    bound = client_of(tenant, "read", "write", space=rui)
    body = {"source": "mem0", "content": json.dumps(MEM0)}
    assert bound.post(PATH, body | {"subject": "ana"}, "json").status_code == 404
    done = bound.post(PATH, body, "json").json()
    assert (done["subject"], done["report"]["subjects"]) == ("rui", {"rui": 3})
    with tenant_scope(tenant.id):
        assert set(Fact.objects.values_list("space__subject", flat=True)) == {"rui"}
    # It sees its own imports, and no others.
    other = api.post(PATH, body | {"dry_run": True}, "json").json()
    assert [each["id"] for each in bound.get(PATH).json()["items"]] == [done["id"]]
    assert bound.post(f"{PATH}/{other['id']}/take").status_code == 404


def test_an_import_that_is_not_there_is_not_found(api: APIClient) -> None:
    assert api.get(f"{PATH}/{uuid4()}").status_code == 404
    assert api.post(f"{PATH}/{uuid4()}/take").status_code == 404


def test_X5_an_import_sent_twice_is_carried_out_once(api: APIClient) -> None:
    def sent(*, key: str, text: str = json.dumps(MEM0), name: str = "all.json") -> Any:
        form = {"source": "mem0", "file": SimpleUploadedFile(name, text.encode())}
        return api.post(PATH, form, "multipart", headers={"Idempotency-Key": key})

    first, again = sent(key="k"), sent(key="k")
    assert (first.status_code, again.status_code) == (200, 200)
    assert (again.json(), again["Idempotent-Replayed"]) == (first.json(), "true")
    assert api.get(PATH).json()["total"] == 1
    for other in (sent(key="k", text="[]"), sent(key="k", name="other.json")):
        assert (other.status_code, other.json()["code"]) == (409, "idempotency_key_reused")
    # What could not be read was not done: the key is free.
    assert sent(key="l", text="[1").status_code == 422
    assert sent(key="l").status_code == 200


def test_X5_what_was_tried_is_taken_in_once(api: APIClient) -> None:
    body = {"source": "mem0", "content": json.dumps(MEM0), "dry_run": True}
    tried = api.post(PATH, body, "json", headers={"Idempotency-Key": "k"}).json()
    path, headers = f"{PATH}/{tried['id']}/take", {"Idempotency-Key": "k"}
    first, again = api.post(path, headers=headers), api.post(path, headers=headers)
    assert (first.status_code, again.status_code) == (200, 200)
    assert again.json() == first.json()
    assert api.get(PATH).json()["total"] == 2


def test_a_repetition_tells_how_far_the_import_is(
    api: APIClient, monkeypatch: pytest.MonkeyPatch, tenant: Tenant
) -> None:
    monkeypatch.setattr(runs, "AT_ONCE", 10)
    body, headers = {"source": "mem0", "content": json.dumps(MEM0)}, {"Idempotency-Key": "k"}
    waiting = api.post(PATH, body, "json", headers=headers)
    assert waiting.status_code == 202
    runs.work_on_run(tenant.id, UUID(waiting.json()["id"]))
    done = api.post(PATH, body, "json", headers=headers)
    assert (done.status_code, done.json()["state"]) == (200, "done")
