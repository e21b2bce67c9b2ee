"""Export and import over HTTP."""

from __future__ import annotations

import json
from typing import Any

import pytest
from rest_framework.test import APIClient

from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant
from tests.support.api_scene import make_row_of_every_kind
from tests.support.export_files import change_export_file, normalise_export_file, parse_lines

LINES = "application/x-ndjson"


@pytest.fixture
def admin(tenant: Tenant, client_of: Any) -> APIClient:
    make_row_of_every_kind(tenant)
    made: APIClient = client_of(tenant, "admin")
    return made


@pytest.fixture
def other(db: None, client_of: Any) -> APIClient:
    made: APIClient = client_of(create_tenant("Two", "two"), "admin")
    return made


def download_export(client: APIClient, path: str = "/api/v1/spaces/ana/export") -> bytes:
    answer = client.get(path)
    assert answer.status_code == 200
    assert answer["Content-Type"] == LINES
    return b"".join(answer)


def upload_export(client: APIClient, data: bytes, query: str = "", **headers: str) -> Any:
    raw: Any = data  # its stubs know of text alone
    return client.generic("POST", f"/api/v1/import?{query}", raw, LINES, headers=headers)


def test_a_subject_goes_from_one_tenant_to_another(admin: APIClient, other: APIClient) -> None:
    data = download_export(admin)
    rehearsed = upload_export(other, data, "dry_run=true").json()
    assert other.get("/api/v1/spaces").json()["total"] == 0
    done = upload_export(other, data).json()
    assert done["counts"] == rehearsed["counts"]
    assert (rehearsed["dry_run"], done["dry_run"]) == (True, False)
    assert normalise_export_file(download_export(other))[2:] == normalise_export_file(data)[2:]
    assert upload_export(other, data).json()["code"] == "not_empty"
    assert upload_export(other, data, "subject=eva").json()["spaces"][0]["subject"] == "eva"


def test_all_of_a_tenant_goes_as_well(admin: APIClient, other: APIClient) -> None:
    data = download_export(admin, "/api/v1/export?embeddings=true")
    report = upload_export(other, data).json()
    assert [each["subject"] for each in report["spaces"]] == ["ana"]
    assert report["counts"]["receipt"] == 1


def test_the_download_has_a_name(admin: APIClient, tenant: Tenant) -> None:
    with tenant_scope(tenant.id):
        Space.objects.update(subject='Ana "x"\r\nSet-Cookie: a=b/../')
        space = Space.objects.get()
    answer = admin.get(f"/api/v1/spaces/{space.id}/export")
    name = "memoryhub-ana-x-set-cookie-ab.jsonl"
    assert answer["Content-Disposition"] == f'attachment; filename="{name}"'
    assert int(answer["Content-Length"]) == len(b"".join(answer))


def test_a_bad_line_is_a_problem_that_names_it(admin: APIClient, other: APIClient) -> None:
    file = change_export_file(download_export(admin), ("turn", {"role": "king"}))
    line = next(n for n, each in enumerate(file.splitlines(), 1) if b'"king"' in each)
    answer = upload_export(other, file)
    told = answer.json()
    assert answer.status_code == 422
    assert answer["Content-Type"] == "application/problem+json"
    assert (told["code"], told["line"]) == ("bad_line", line)
    assert told["errors"][0]["field"] == f"line {line}"
    assert other.get("/api/v1/spaces").json()["total"] == 0


@pytest.mark.parametrize("data", [b"", b"\n", b"{}", b"\0", b"\xff\n", b"[1]\n[2]\n", b"7"])
def test_what_is_no_file_of_an_export_is_refused(other: APIClient, data: bytes) -> None:
    answer = upload_export(other, data)
    assert answer.status_code in (411, 422)
    assert answer["Content-Type"] == "application/problem+json"


def test_only_lines_are_taken(other: APIClient) -> None:
    answer = other.post("/api/v1/import", {"format": "memoryhub-export"}, format="json")
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")


@pytest.mark.parametrize("name", ["dry_run", "restore_erased"])
def test_flags_are_true_or_false(other: APIClient, name: str) -> None:
    answer = upload_export(other, b"{}\n", f"{name}=perhaps")
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, name)


def test_a_file_has_its_limit(other: APIClient, settings: Any) -> None:
    settings.MAX_IMPORT_BYTES = 10
    answer = upload_export(other, b'{"format": "memoryhub-export"}\n')
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


def test_a_file_may_be_larger_than_other_bodies(
    admin: APIClient, other: APIClient, settings: Any
) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    assert upload_export(other, download_export(admin)).status_code == 200


def test_a_key_of_one_subject_takes_out_that_one_and_brings_in_nothing(
    admin: APIClient, tenant: Tenant, client_of: Any
) -> None:
    with tenant_scope(tenant.id):
        space = Space.objects.get()
    bound = client_of(tenant, "admin", space=space)
    data = download_export(bound)
    assert parse_lines(data)[1]["subject"] == "ana"
    assert bound.get("/api/v1/export").status_code == 404
    assert upload_export(bound, data, "subject=eva").status_code == 404


def test_sent_twice_with_a_key_it_is_done_once(admin: APIClient, other: APIClient) -> None:
    data = download_export(admin)
    first = upload_export(other, data, **{"Idempotency-Key": "one"})
    again = upload_export(other, data, **{"Idempotency-Key": "one"})
    assert first.json() == again.json()
    assert again["Idempotent-Replayed"] == "true"
    answer = upload_export(other, data, "dry_run=true", **{"Idempotency-Key": "one"})
    assert answer.json()["code"] == "idempotency_key_reused"


def test_names_of_strangers_ids_are_no_oracle(admin: APIClient, other: APIClient) -> None:
    """A subject's name may be an id: another tenant's is not found by it."""
    told = json.loads(download_export(admin).splitlines()[1])
    assert other.get(f"/api/v1/spaces/{told['id']}/export").status_code == 404
