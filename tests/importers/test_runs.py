"""Imports that are asked for: files kept and dropped, workers, what an erasure leaves."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from django.utils.translation import override

from memoryhub.errors import Conflict, InvalidInput, TooLarge
from memoryhub.importers import runs, storage
from memoryhub.importers.models import ImportFile, ImportPart, ImportRun
from memoryhub.importers.runs import ImportUpload, import_tried_file, start_import, work_on_run
from memoryhub.pipeline.erasure.erase_targets import ErasureTarget, execute_erasure
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from notes.models import Fact
from tests.importers.file_contents import dump_lines
from tests.support.factories import make_tenant

TEA = dump_lines({"subject": "ana", "fact": "Ana likes tea", "colour": "green"}).encode()
NOW = timezone.now()


@pytest.fixture
def tenant(db: None) -> Tenant:
    return make_tenant()


@pytest.fixture
def rung(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Workers that were rung for."""
    heard: list[Any] = []
    monkeypatch.setattr(runs, "ring_worker", lambda tenant, run: heard.append(run))
    return heard


def make_upload(content: bytes = TEA, **values: Any) -> ImportUpload:
    return ImportUpload(
        **{"source": "jsonl", "name": "t.jsonl", "chunks": [content], "actor": "eva"} | values
    )


def count_rows(model: Any, tenant: Tenant) -> int:
    with tenant_scope(tenant.id):
        return int(model.objects.count())


def test_what_was_tried_is_taken_in_without_being_sent_again(tenant: Tenant) -> None:
    tried = start_import(tenant.id, make_upload(dry_run=True), NOW)
    assert (tried.state, tried.report["taken"]["fact"], tried.total) == ("done", 1, 1)
    assert tried.report["unknown_fields"] == {"colour": 1}
    assert (count_rows(Fact, tenant), count_rows(ImportFile, tenant)) == (0, 1)
    done = import_tried_file(tried, "rui", NOW)
    assert (done.state, done.done, done.actor) == ("done", 1, "rui")
    assert (
        count_rows(Fact, tenant),
        count_rows(ImportFile, tenant),
        count_rows(ImportPart, tenant),
    ) == (1, 0, 0)
    with pytest.raises(Conflict):
        import_tried_file(tried, "rui", NOW)


def test_a_file_in_many_parts_is_read_as_one(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "PART_BYTES", 7)
    facts = [{"subject": "ana", "fact": f"Ana likes tea {n}"} for n in range(20)]
    done = start_import(tenant.id, make_upload(dump_lines(*facts).encode()), NOW)
    assert done.report["taken"]["fact"] == 20


def test_large_files_are_left_to_a_worker(
    tenant: Tenant,
    monkeypatch: pytest.MonkeyPatch,
    rung: list[Any],
    django_capture_on_commit_callbacks: Any,
) -> None:
    monkeypatch.setattr(runs, "AT_ONCE", 10)
    with django_capture_on_commit_callbacks(execute=True):
        run = start_import(tenant.id, make_upload(), NOW)
    assert (run.state, rung) == ("queued", [run.id])
    assert work_on_run(tenant.id, run.id)
    with tenant_scope(tenant.id):
        run.refresh_from_db()
    assert (run.state, run.report["taken"]["fact"]) == ("done", 1)
    assert not work_on_run(tenant.id, run.id)
    assert count_rows(Fact, tenant) == 1


def test_one_worker_has_a_run_until_its_lease_is_over(
    tenant: Tenant, rung: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "AT_ONCE", 10)
    run = start_import(tenant.id, make_upload(), NOW)
    with tenant_scope(tenant.id):
        ImportRun.objects.update(state="running", lease_until=timezone.now() + timedelta(minutes=1))
    assert not work_on_run(tenant.id, run.id)
    runs.ring_for_waiting_runs()
    assert rung == []
    with tenant_scope(tenant.id):
        ImportRun.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    runs.ring_for_waiting_runs()
    assert rung == [run.id]
    assert work_on_run(tenant.id, run.id)


def test_a_run_whose_workers_all_die_is_given_up(
    tenant: Tenant, rung: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "AT_ONCE", 10)
    run = start_import(tenant.id, make_upload(), NOW)
    with tenant_scope(tenant.id):
        ImportRun.objects.update(attempts=runs.MOST_TRIES)
    assert not work_on_run(tenant.id, run.id)
    with tenant_scope(tenant.id):
        run.refresh_from_db()
    assert (run.state, run.error) == ("failed", "its worker died every time")


def test_a_broken_file_is_told_with_its_place_and_not_kept(tenant: Tenant) -> None:
    run = start_import(tenant.id, make_upload(TEA + b"{", dry_run=True), NOW)
    assert run.state == "failed"
    assert run.error.startswith("file: line 2 is no JSON")
    assert count_rows(ImportFile, tenant) == 0


def test_what_a_run_keeps_is_in_one_language_whoever_asked(tenant: Tenant) -> None:
    with override("zh-hans"):
        run = start_import(tenant.id, make_upload(TEA + b"{", dry_run=True), NOW)
    assert run.error.startswith("file: line 2 is no JSON")


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"source": "evernote"}, "source"),
        ({"chunks": []}, "file"),
        ({"only": ["dream"]}, "only"),
        ({"subject": "x" * 201}, "subject"),
    ],
)
def test_what_can_not_be_begun_is_refused(
    tenant: Tenant, wrong: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        start_import(tenant.id, make_upload(**wrong), NOW)
    assert refused.value.field == field
    assert count_rows(ImportRun, tenant) == count_rows(ImportFile, tenant) == 0


def test_a_file_that_is_too_large_is_not_kept(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "MOST_FILE_BYTES", 10)
    with pytest.raises(TooLarge):
        start_import(tenant.id, make_upload(), NOW)
    assert count_rows(ImportFile, tenant) == count_rows(ImportPart, tenant) == 0


def test_tried_files_are_kept_for_a_day_and_no_more_than_a_few(tenant: Tenant) -> None:
    for _ in range(runs.MOST_KEPT_FILES + 2):
        start_import(tenant.id, make_upload(dry_run=True), NOW)
    runs.delete_old_files(tenant.id, NOW)
    assert count_rows(ImportFile, tenant) == runs.MOST_KEPT_FILES
    runs.delete_old_files(tenant.id, NOW + runs.KEPT_FILE_TIME + timedelta(seconds=1))
    assert count_rows(ImportFile, tenant) == 0
    assert count_rows(ImportRun, tenant) == runs.MOST_KEPT_FILES + 2


def test_an_erasure_leaves_neither_files_nor_names(tenant: Tenant) -> None:
    start_import(tenant.id, make_upload(), NOW)
    tried = start_import(tenant.id, make_upload(TEA + b'{"subject": "ana"}', dry_run=True), NOW)
    assert tried.report["skipped"]
    with tenant_scope(tenant.id):
        space = Space.objects.get()
    execute_erasure(space, ErasureTarget("subject"), "eva", NOW)
    assert count_rows(ImportFile, tenant) == 0
    with tenant_scope(tenant.id):
        for run in ImportRun.objects.all():
            assert (run.report["subjects"], run.report["skipped"]) == ({}, [])


def test_the_command_reports_and_brings(tenant: Tenant, tmp_path: Any, capsys: Any) -> None:
    path = tmp_path / "tea.jsonl"
    path.write_bytes(TEA + b'{"subject": "ana"}\n')
    call_command("bring", "jsonl", str(path), tenant=tenant.slug, dry_run=True)
    told = capsys.readouterr().out
    assert "fact   1 found, 1 would be taken, 0 there already" in told
    assert "line 2" in told
    assert "unknown fields: colour" in told
    assert count_rows(Fact, tenant) == 0
    call_command("bring", "jsonl", str(path), tenant=tenant.slug)
    assert count_rows(Fact, tenant) == 1
    for wrong in ("nowhere.json", str(tmp_path)):
        with pytest.raises(CommandError):
            call_command("bring", "jsonl", wrong, tenant=tenant.slug)
    with pytest.raises(CommandError, match="no tenant"):
        call_command("bring", "jsonl", str(path), tenant="nobody")
