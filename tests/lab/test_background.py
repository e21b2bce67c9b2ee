"""Runs that workers carry out: one at a time, stopped and gone on with, never lost."""

from __future__ import annotations

import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from memoryhub.dialogues.messages import Message
from memoryhub.errors import Conflict, InvalidInput, MemoryHubError
from memoryhub.lab import tasks
from memoryhub.lab.datasets import folder as datasets_folder
from memoryhub.lab.locks import ProcessLocks
from memoryhub.lab.models import LabOutcome, LabRun
from memoryhub.lab.runs import background, services
from memoryhub.lab.runs.plan import RunOptions
from memoryhub.lab.throwaway.tenants import build_tenant_slug, open_kept_tenant
from memoryhub.pipeline import tasks as pipeline_tasks
from memoryhub.pipeline.ingest.services import IngestRequest, ingest_messages
from memoryhub.pipeline.jobs import queue
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant
from tests.lab.test_datasets import write_data_file
from tests.lab.test_running import TALK

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path: Path, settings: Settings) -> Path:
    settings.LAB_DATA = tmp_path / "lab"
    settings.LAB_DATA.mkdir()
    write_data_file(settings.LAB_DATA, "boats.json", TALK)
    return Path(settings.LAB_DATA)


@pytest.fixture
def owner(db: None) -> Tenant:
    return create_tenant("Owner", "owner")


@pytest.fixture(autouse=True)
def rung(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    heard: list[Any] = []
    monkeypatch.setattr(background, "ring_worker", lambda *ids: heard.append(ids))
    return heard


def queue_rag_run(owner: Tenant, *presets: str) -> LabRun:
    return background.queue_run(owner, RunOptions(presets or ("rag_turns",)), "boats.json", "ida")


def reload_run(run: LabRun) -> LabRun:
    with tenant_scope(run.tenant_id):
        found: LabRun = LabRun.objects.get(id=run.id)
    return found


def test_a_worker_carries_out_what_was_asked_for(owner: Tenant, folder: Path) -> None:
    run = queue_rag_run(owner)
    assert (run.state, run.file, run.actor, run.total) == ("queued", "boats.json", "ida", 3)
    assert (owner.id, run.id) in background.list_waiting_runs()
    tasks.carry_out_run(str(owner.id), str(run.id))
    done = reload_run(run)
    assert (done.state, done.done) == ("done", 3)
    assert done.report is not None
    assert background.list_waiting_runs() == []
    assert not background.work_on_run(owner.id, run.id)  # heard twice, done once


def test_what_was_handed_over_is_kept_to_be_read(owner: Tenant, folder: Path) -> None:
    run = queue_rag_run(owner)
    background.work_on_run(owner.id, run.id)
    with tenant_scope(owner.id):
        row = LabOutcome.objects.get(run=run, number=0)
    met = [item for item in row.shown if item["evidence"] == ["D2:1"]]
    assert [item["place"] for item in met] == [row.places["D2:1"][0]]
    assert met[0]["text"]


def test_one_that_waits_is_called_off_at_once(owner: Tenant, folder: Path) -> None:
    run = queue_rag_run(owner)
    background.stop_run(run, "ben")
    assert (reload_run(run).state, reload_run(run).error) == ("interrupted", "stopped by ben")
    assert not background.work_on_run(owner.id, run.id)
    with pytest.raises(Conflict):
        background.stop_run(run, "ben")


def test_one_under_way_ends_before_its_next_question_and_goes_on_from_there(
    owner: Tenant, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, keep = queue_rag_run(owner, "rag_turns", "mem0"), services.save_outcome

    def and_stop(*of: Any) -> None:
        keep(*of)
        if reload_run(run).done == 2:
            background.stop_run(run, "ben")

    monkeypatch.setattr(services, "save_outcome", and_stop)
    background.work_on_run(owner.id, run.id)
    stopped = reload_run(run)
    assert (stopped.state, stopped.done, stopped.error) == ("interrupted", 2, "stopped by ben")
    background.queue_run_again(stopped)
    assert reload_run(run).state == "queued"
    background.work_on_run(owner.id, run.id)
    assert (reload_run(run).state, reload_run(run).done, reload_run(run).total) == ("done", 6, 6)
    with pytest.raises(Conflict):
        background.queue_run_again(run)


def test_a_worker_that_is_to_end_leaves_the_run_to_another(
    owner: Tenant, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, keep = queue_rag_run(owner), services.save_outcome
    monkeypatch.setattr(services, "WORKER_IS_ENDING", threading.Event())

    def and_close(*of: Any) -> None:
        keep(*of)
        tasks.postpone_runs()

    monkeypatch.setattr(services, "save_outcome", and_close)
    tasks.carry_out_run(str(owner.id), str(run.id))
    assert (reload_run(run).state, reload_run(run).done, reload_run(run).error) == ("queued", 1, "")
    monkeypatch.setattr(services, "WORKER_IS_ENDING", threading.Event())
    background.work_on_run(owner.id, run.id)
    assert (reload_run(run).state, reload_run(run).done) == ("queued", 2)
    monkeypatch.setattr(services, "WORKER_IS_ENDING", threading.Event())
    monkeypatch.setattr(services, "save_outcome", keep)
    background.work_on_run(owner.id, run.id)
    assert (reload_run(run).state, reload_run(run).done) == ("done", 3)


def test_a_run_whose_worker_died_is_found_by_the_sweep(
    owner: Tenant, folder: Path, rung: list[Any]
) -> None:
    run = queue_rag_run(owner)
    with tenant_scope(owner.id):
        LabRun.objects.filter(id=run.id).update(state="running")
    pipeline_tasks.ring_due_spaces()
    assert rung == [(owner.id, run.id)]
    background.work_on_run(owner.id, run.id)
    assert reload_run(run).state == "done"


def test_while_one_is_under_way_the_next_one_waits(
    owner: Tenant, folder: Path, rung: list[Any]
) -> None:
    run, other = queue_rag_run(owner), ProcessLocks()
    assert other.acquire(background.BACKGROUND_LOCK)
    try:
        assert not background.work_on_run(owner.id, run.id)
        background.ring_for_next_run()
        assert rung == []
    finally:
        other.release(background.BACKGROUND_LOCK)
    background.ring_for_next_run()
    assert rung == [(owner.id, run.id)]


def test_what_goes_wrong_is_kept_on_the_run(owner: Tenant, folder: Path) -> None:
    run = queue_rag_run(owner)
    (folder / "boats.json").unlink()
    background.work_on_run(owner.id, run.id)
    assert reload_run(run).state == "failed"
    assert "no such file" in reload_run(run).error
    with pytest.raises(InvalidInput):
        background.queue_run_again(reload_run(run))


def test_a_run_of_the_command_line_is_not_for_workers(owner: Tenant, folder: Path) -> None:
    run = queue_rag_run(owner)
    with tenant_scope(owner.id):
        LabRun.objects.filter(id=run.id).update(file="", state="interrupted")
    with pytest.raises(Conflict, match="command line"):
        background.queue_run_again(reload_run(run))
    assert not background.work_on_run(owner.id, run.id)
    assert background.list_waiting_runs() == []


@pytest.mark.parametrize(
    "name", ["", "../boats.json", "/etc/passwd", "boats", "BOATS.json", "a\0.json", "x" * 5000]
)
def test_only_what_lies_in_the_folder_can_be_named(folder: Path, name: str) -> None:
    (folder.parent / "boats.json").write_text("[]")
    with pytest.raises(InvalidInput):
        datasets_folder.get_file_path(name)


def test_the_folder_lists_its_own_json_files(folder: Path, settings: Settings) -> None:
    (folder / "notes.txt").write_text("x")
    (folder / "deeper").mkdir()
    write_data_file(folder / "deeper", "hidden.json", TALK)
    assert [file.name for file in datasets_folder.list_files()] == ["boats.json"]
    settings.LAB_DATA = folder / "gone"
    assert datasets_folder.list_files() == []


def test_too_large_a_file_is_for_the_command_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(datasets_folder, "LARGEST_CONSOLE_FILE", 10)
    with pytest.raises(InvalidInput, match="command line"):
        datasets_folder.get_file_path("boats.json")


@pytest.mark.parametrize(
    "options",
    [RunOptions(("nonsense",)), RunOptions(("mem0",), categories=(9,))],
    ids=["preset", "none"],
)
def test_what_can_not_be_run_is_refused_before_anything_is_written(
    owner: Tenant, folder: Path, options: RunOptions
) -> None:
    with pytest.raises(MemoryHubError):
        background.queue_run(owner, options, "boats.json", "ida")
    assert background.list_waiting_runs() == []


def test_workers_leave_replayed_dialogue_alone() -> None:
    with open_kept_tenant(build_tenant_slug()) as tenant, pipeline_tasks.silence_doorbell():
        said = IngestRequest("ana", [Message("user", "I bought a boat.")], "s")
        ingest_messages(tenant.id, said)
        later = timezone.now() + timedelta(hours=1)
        assert tenant.id not in {each for each, _ in queue.list_due_spaces(later)}
        assert pipeline_tasks.ring_worker(tenant.id, tenant.id)  # nobody is rung for


def test_workers_threads_share_the_locks() -> None:
    locks, taken = ProcessLocks(), list[bool]()
    assert locks.acquire("one")
    thread = threading.Thread(target=lambda: taken.append(locks.acquire("two")))
    thread.start()
    thread.join()
    assert taken == [True]
    for name in ("one", "two"):
        locks.release(name)
