"""What is wrong is said, and nothing is changed that need not be."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from memoryhub.embedded import EmbeddedPostgres
from memoryhub.launcher import LauncherError, LaunchPlan, is_data_dir_in_use
from memoryhub.launcher.children import RESTART_PAUSES, Interrupts
from memoryhub.launcher.hub import build_lock_path, check_port, describe_port_problem, is_healthy
from tests.launcher.conftest import HubProcess, is_gone

Start = Callable[..., HubProcess]


def test_a_second_hub_is_told_who_holds_the_data(hub: Start) -> None:
    first = hub().wait_until_ready()
    second = hub()
    assert second.wait_for_exit() == 1
    assert f"already runs with {first.folder}: process {first.process.pid}, http" in second.heard
    assert is_data_dir_in_use(first.folder)
    assert first.process.poll() is None


def test_a_port_that_is_taken_is_said_before_anything_else(hub: Start, free_port: int) -> None:
    with socket.create_server(("127.0.0.1", free_port)):
        running = hub("postgres")
        assert running.wait_for_exit() == 1
    assert f"Port {free_port} on 127.0.0.1 is taken" in running.heard
    assert f"MEMORYHUB_PORT={free_port + 1}" in running.heard
    assert not (running.folder / "postgres").exists()


def test_other_reasons_a_port_cannot_be_had() -> None:
    assert "above 1023" in describe_port_problem("127.0.0.1", 80, PermissionError(13, "denied"))
    with pytest.raises(LauncherError, match="MEMORYHUB_HOST"):
        check_port("192.0.2.1", 8000)


def test_a_child_that_dies_is_started_again(hub: Start) -> None:
    running = hub().wait_until_ready()
    (first,) = running.wait_for_pids("worker", 1)
    os.kill(first, signal.SIGKILL)
    said = running.wait_for("ended (signal SIGKILL)")
    assert "starting it again in 0.5 s" in said
    second = running.wait_for_pids("worker", 2)[1]
    assert not is_gone(second)
    assert running.end_with_signal(signal.SIGTERM) == 0
    assert is_gone(second)


def test_a_child_that_keeps_dying_stops_the_hub(hub: Start) -> None:
    running = hub("worker-broken", "postgres")
    assert running.wait_for_exit() == 1
    assert "worker-broken keeps failing (exit status 7)" in running.heard
    assert len(running.read_pids("worker")) == len(RESTART_PAUSES) + 1
    assert not EmbeddedPostgres(running.folder).is_running()


def test_a_preparation_that_fails_is_said_without_a_traceback(hub: Start) -> None:
    running = hub("failing-preparation", "postgres")
    assert running.wait_for_exit() == 1
    assert "The migration cannot be done." in running.heard
    assert "Traceback" not in running.heard
    assert not EmbeddedPostgres(running.folder).is_running()


def test_a_data_folder_that_cannot_be_is_named(hub: Start, folder: Path) -> None:
    (folder / "postgres").write_text("in the way")
    running = hub("postgres")
    assert running.wait_for_exit() == 1
    (folder / "postgres").unlink()
    assert "Cannot use" in running.heard
    assert "Traceback" not in running.heard


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("0.0.0.0", "http://127.0.0.1:8000"),
        ("::", "http://[::1]:8000"),
        ("hub.example", "http://hub.example:8000"),
    ],
)
def test_the_address_to_look_at(host: str, url: str) -> None:
    assert LaunchPlan(data_dir=Path("/data"), host=host, port=8000, programs=[]).url == url


def test_nobody_there_is_not_healthy(free_port: int) -> None:
    plan = LaunchPlan(data_dir=Path("/data"), host="127.0.0.1", port=free_port, programs=[])
    assert not is_healthy(plan)


def test_what_a_lock_says_counts_for_nothing_without_its_holder(folder: Path) -> None:
    assert not is_data_dir_in_use(folder)
    build_lock_path(folder).write_text("process 1, somewhere")
    assert not is_data_dir_in_use(folder)


def test_an_interrupt_waits_until_it_is_convenient() -> None:
    interrupts = Interrupts()
    reached = []
    with pytest.raises(KeyboardInterrupt), interrupts.hold_interrupts():  # noqa: PT012
        interrupts.handle_signal(signal.SIGINT, None)
        reached.append(True)
    assert reached
    with pytest.raises(KeyboardInterrupt):
        interrupts.raise_pending()
    interrupts.ending = True
    interrupts.handle_signal(signal.SIGTERM, None)


def test_a_database_whose_start_fails_is_tried_again(hub: Start) -> None:
    running = hub("postgres").wait_until_ready()
    database = EmbeddedPostgres(running.folder)
    wrong = database.places.cluster / "postgresql.auto.conf"
    right, pid = wrong.read_text(), database.read_pid()
    assert pid is not None
    wrong.write_text("shared_buffers = 'nonsense'\n")
    os.kill(pid, signal.SIGKILL)
    running.wait_for("Trying again in 1 s")
    wrong.write_text(right)
    running.wait_for("The database is up again.")
    assert running.process.poll() is None
    wrong.write_text("shared_buffers = 'nonsense'\n")
    pid = database.read_pid()
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    assert running.wait_for_exit() == 1
    assert running.heard.count("Trying again in 0.5 s") == 2
