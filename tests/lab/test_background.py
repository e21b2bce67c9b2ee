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
from memoryhub.lab import background, runs, shelf, tasks
from memoryhub.lab.locks import Locks
from memoryhub.lab.models import LabOutcome, LabRun
from memoryhub.lab.running import Options
from memoryhub.lab.throwaway import kept_tenant, new_slug
from memoryhub.pipeline import queue
from memoryhub.pipeline import tasks as pipeline_tasks
from memoryhub.pipeline.services import IngestRequest, ingest
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant
from tests.lab.test_datasets import written
from tests.lab.test_running import TALK

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path: Path, settings: Settings) -> Path:
    settings.LAB_DATA = tmp_path / "lab"
    settings.LAB_DATA.mkdir()
    written(settings.LAB_DATA, "boats.json", TALK)
    return Path(settings.LAB_DATA)


@pytest.fixture
def owner(db: None) -> Tenant:
    return create_tenant("Owner", "owner")


@pytest.fixture(autouse=True)
def rung(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    heard: list[Any] = []
    monkeypatch.setattr(background, "ring", lambda *ids: heard.append(ids))
    return heard


def waits(owner: Tenant, *presets: str) -> LabRun:
    return background.begin(owner, Options(presets or ("rag_turns",)), "boats.json", "ida")


def again(run: LabRun) -> LabRun:
    with tenant_scope(run.tenant_id):
        found: LabRun = LabRun.objects.get(id=run.id)
    return found


def test_a_worker_carries_out_what_was_asked_for(owner: Tenant, folder: Path) -> None:
    run = waits(owner)
    assert (run.state, run.file, run.actor, run.total) == ("queued", "boats.json", "ida", 3)
    assert (owner.id, run.id) in background.waiting()
    tasks.carry_out(str(owner.id), str(run.id))
    done = again(run)
    assert (done.state, done.done) == ("done", 3)
    assert done.report is not None
    assert background.waiting() == []
    assert not background.work(owner.id, run.id)  # heard twice, done once


def test_what_was_handed_over_is_kept_to_be_read(owner: Tenant, folder: Path) -> None:
    run = waits(owner)
    background.work(owner.id, run.id)
    with tenant_scope(owner.id):
        row = LabOutcome.objects.get(run=run, number=0)
    met = [item for item in row.shown if item["evidence"] == ["D2:1"]]
    assert [item["place"] for item in met] == [row.places["D2:1"][0]]
    assert met[0]["text"]


def test_one_that_waits_is_called_off_at_once(owner: Tenant, folder: Path) -> None:
    run = waits(owner)
    background.stop(run, "ben")
    assert (again(run).state, again(run).error) == ("interrupted", "stopped by ben")
    assert not background.work(owner.id, run.id)
    with pytest.raises(Conflict):
        background.stop(run, "ben")


def test_one_under_way_ends_before_its_next_question_and_goes_on_from_there(
    owner: Tenant, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, keep = waits(owner, "rag_turns", "mem0"), runs.keep

    def and_stop(*of: Any) -> None:
        keep(*of)
        if again(run).done == 2:
            background.stop(run, "ben")

    monkeypatch.setattr(runs, "keep", and_stop)
    background.work(owner.id, run.id)
    stopped = again(run)
    assert (stopped.state, stopped.done, stopped.error) == ("interrupted", 2, "stopped by ben")
    background.resume(stopped)
    assert again(run).state == "queued"
    background.work(owner.id, run.id)
    assert (again(run).state, again(run).done, again(run).total) == ("done", 6, 6)
    with pytest.raises(Conflict):
        background.resume(run)


def test_a_worker_that_is_to_end_leaves_the_run_to_another(
    owner: Tenant, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, keep = waits(owner), runs.keep
    monkeypatch.setattr(runs, "CLOSING", threading.Event())

    def and_close(*of: Any) -> None:
        keep(*of)
        tasks.put_off()

    monkeypatch.setattr(runs, "keep", and_close)
    tasks.carry_out(str(owner.id), str(run.id))
    assert (again(run).state, again(run).done, again(run).error) == ("queued", 1, "")
    monkeypatch.setattr(runs, "CLOSING", threading.Event())
    background.work(owner.id, run.id)
    assert (again(run).state, again(run).done) == ("queued", 2)
    monkeypatch.setattr(runs, "CLOSING", threading.Event())
    monkeypatch.setattr(runs, "keep", keep)
    background.work(owner.id, run.id)
    assert (again(run).state, again(run).done) == ("done", 3)


def test_a_run_whose_worker_died_is_found_by_the_sweep(
    owner: Tenant, folder: Path, rung: list[Any]
) -> None:
    run = waits(owner)
    with tenant_scope(owner.id):
        LabRun.objects.filter(id=run.id).update(state="running")
    pipeline_tasks.sweep()
    assert rung == [(owner.id, run.id)]
    background.work(owner.id, run.id)
    assert again(run).state == "done"


def test_while_one_is_under_way_the_next_one_waits(
    owner: Tenant, folder: Path, rung: list[Any]
) -> None:
    run, other = waits(owner), Locks()
    assert other.take(background.ONE_AT_A_TIME)
    try:
        assert not background.work(owner.id, run.id)
        background.ring_for_the_next()
        assert rung == []
    finally:
        other.give(background.ONE_AT_A_TIME)
    background.ring_for_the_next()
    assert rung == [(owner.id, run.id)]


def test_what_goes_wrong_is_kept_on_the_run(owner: Tenant, folder: Path) -> None:
    run = waits(owner)
    (folder / "boats.json").unlink()
    background.work(owner.id, run.id)
    assert again(run).state == "failed"
    assert "no such file" in again(run).error
    with pytest.raises(InvalidInput):
        background.resume(again(run))


def test_a_run_of_the_command_line_is_not_for_workers(owner: Tenant, folder: Path) -> None:
    run = waits(owner)
    with tenant_scope(owner.id):
        LabRun.objects.filter(id=run.id).update(file="", state="interrupted")
    with pytest.raises(Conflict, match="command line"):
        background.resume(again(run))
    assert not background.work(owner.id, run.id)
    assert background.waiting() == []


@pytest.mark.parametrize(
    "name", ["", "../boats.json", "/etc/passwd", "boats", "BOATS.json", "a\0.json", "x" * 5000]
)
def test_only_what_lies_in_the_folder_can_be_named(folder: Path, name: str) -> None:
    (folder.parent / "boats.json").write_text("[]")
    with pytest.raises(InvalidInput):
        shelf.path_of(name)


def test_the_folder_lists_its_own_json_files(folder: Path, settings: Settings) -> None:
    (folder / "notes.txt").write_text("x")
    (folder / "deeper").mkdir()
    written(folder / "deeper", "hidden.json", TALK)
    assert [file.name for file in shelf.files()] == ["boats.json"]
    settings.LAB_DATA = folder / "gone"
    assert shelf.files() == []


def test_too_large_a_file_is_for_the_command_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shelf, "LARGEST", 10)
    with pytest.raises(InvalidInput, match="command line"):
        shelf.path_of("boats.json")


@pytest.mark.parametrize(
    "options", [Options(("nonsense",)), Options(("mem0",), categories=(9,))], ids=["preset", "none"]
)
def test_what_can_not_be_run_is_refused_before_anything_is_written(
    owner: Tenant, folder: Path, options: Options
) -> None:
    with pytest.raises(MemoryHubError):
        background.begin(owner, options, "boats.json", "ida")
    assert background.waiting() == []


def test_workers_leave_replayed_dialogue_alone() -> None:
    with kept_tenant(new_slug()) as tenant, pipeline_tasks.unheard():
        said = IngestRequest("ana", [Message("user", "I bought a boat.")], "s")
        ingest(tenant.id, said)
        later = timezone.now() + timedelta(hours=1)
        assert tenant.id not in {each for each, _ in queue.due_spaces(later)}
        assert pipeline_tasks.ring(tenant.id, tenant.id)  # nobody is rung for


def test_workers_threads_share_the_locks() -> None:
    locks, taken = Locks(), list[bool]()
    assert locks.take("one")
    thread = threading.Thread(target=lambda: taken.append(locks.take("two")))
    thread.start()
    thread.join()
    assert taken == [True]
    for name in ("one", "two"):
        locks.give(name)
