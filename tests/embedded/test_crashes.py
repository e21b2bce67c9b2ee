"""Processes that die, race, or leave things behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest

from memoryhub.embedded import EmbeddedError, EmbeddedPostgres, locks
from memoryhub.embedded import server as module
from memoryhub.embedded.server import THROWAWAY_SETTINGS
from tests.embedded.helpers import PROJECT, execute_statement, query_value


def kill_server(server: EmbeddedPostgres) -> int:
    pid = server.read_pid()
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    return pid


def test_what_was_committed_survives_kill_9(folder: Path) -> None:
    server = EmbeddedPostgres(folder / "var")  # fsync as in earnest
    server.start()
    execute_statement(
        server.dsn("owner"), "CREATE TABLE kept AS SELECT generate_series(1, 1000) AS n"
    )
    unfinished = psycopg.connect(server.dsn("owner"))
    unfinished.execute("INSERT INTO kept VALUES (0)")
    kill_server(server)
    assert server.start()
    unfinished.close()
    assert query_value(server.dsn("app"), "SELECT count(*) FROM kept") == 1000


def test_a_pid_file_that_names_a_stranger_is_stale(server: EmbeddedPostgres) -> None:
    server.start()
    kill_server(server)
    assert server.stop_with_signal(signal.SIGCONT, 10)
    account = server.places.account
    stranger = subprocess.Popen(["sleep", "60"], **account.options)
    try:
        pid_file = server.places.cluster / "postmaster.pid"
        lines = pid_file.read_text().split("\n")
        pid_file.write_text("\n".join([str(stranger.pid), *lines[1:]]))
        assert server.start()
        assert server.stop()
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_an_initdb_that_was_cut_short_is_done_again(server: EmbeddedPostgres) -> None:
    server.places.create_home()
    (server.places.home / "making").mkdir()
    (server.places.home / "making" / "PG_VERSION").write_text("18")
    assert server.start()
    assert not (server.places.home / "making").exists()


RACER = """
import sys
from pathlib import Path
from memoryhub.embedded import EmbeddedPostgres
from memoryhub.embedded.server import THROWAWAY_SETTINGS
import psycopg
server = EmbeddedPostgres(Path(sys.argv[1]), settings=THROWAWAY_SETTINGS)
sys.stdin.readline()
print(server.start(), flush=True)
psycopg.connect(server.dsn("app")).close()
sys.stdin.readline()
server.close()
"""


SLOW_TO_GIVE_AWAY = """
import time
from memoryhub.embedded.software import ServerAccount
owns = ServerAccount.take_ownership
ServerAccount.take_ownership = lambda account, path: (time.sleep(0.3), owns(account, path))[1]
"""


def start_racer(folder: Path, *, before: str = "") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", before + RACER, str(folder)],
        cwd=PROJECT,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def send_line(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def read_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    line: str = process.stdout.readline()
    return line.strip()


def test_of_four_racers_one_makes_it_and_the_last_to_leave_stops_it(folder: Path) -> None:
    racers = [start_racer(folder / "var") for _ in range(4)]
    for process in racers:
        send_line(process)
    assert sorted(read_line(process) for process in racers) == ["False", "False", "False", "True"]
    server = EmbeddedPostgres(folder / "var")
    log = server.places.log.read_text()
    assert log.count("starting PostgreSQL") == 1
    for number, process in enumerate(racers):
        assert server.is_running(), f"gone after {number} left"
        process.communicate("\n", timeout=30)
        assert process.returncode == 0
    assert not server.is_running()


def test_racers_wait_for_a_folder_that_still_has_to_be_given_to_the_server(folder: Path) -> None:
    racers = [start_racer(folder / "var", before=SLOW_TO_GIVE_AWAY) for _ in range(2)]
    for process in racers:
        send_line(process)
    assert sorted(read_line(process) for process in racers) == ["False", "True"]
    for process in racers:
        process.communicate("\n", timeout=30)


def test_a_user_killed_does_not_keep_it_up(folder: Path) -> None:
    starter = start_racer(folder / "var")
    send_line(starter)
    assert read_line(starter) == "True"
    server = EmbeddedPostgres(folder / "var")
    assert not server.start()
    starter.kill()
    starter.communicate()
    assert server.is_running()
    server.close()
    assert not server.is_running()


def test_a_server_started_to_stay_stays(server: EmbeddedPostgres) -> None:
    server.start(keep=True)
    server.close()
    assert server.is_running()
    other = EmbeddedPostgres(server.data_dir)
    assert not other.start()
    other.close()
    assert server.is_running()
    assert server.stop()
    assert server.start()
    server.close()
    assert not server.is_running()


def test_on_demand_starts_once_and_comes_back(folder: Path) -> None:
    first = module.ensure_running(folder / "var")
    assert module.ensure_running(folder / "var") is first
    kill_server(first)
    assert module.ensure_running(folder / "var").is_running()
    module.close_in_process(os.getpid() + 1, first)  # what a forked child would do
    assert first.is_running()
    module.close_in_process(os.getpid(), first)
    assert not first.is_running()


def test_leaving_after_the_data_is_gone_is_quiet(server: EmbeddedPostgres) -> None:
    server.start()
    EmbeddedPostgres(server.data_dir).erase()
    server.close()
    assert not server.is_running()


def test_a_lock_held_too_long_is_named(folder: Path) -> None:
    held = locks.try_lock(folder / "x.lock")
    assert held is not None
    with (
        pytest.raises(EmbeddedError, match=r"x\.lock"),
        locks.hold_lock(folder / "x.lock", seconds=0),
    ):
        pass
    os.close(held)
    assert not locks.is_locked(folder / "x.lock")


def test_a_long_log_is_put_aside(server: EmbeddedPostgres, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_LOG_BYTES", 10)
    server.places.create_home()
    server.places.log.write_text("old and long enough")
    server.start()
    assert server.places.log.with_suffix(".log.1").read_text() == "old and long enough"


def test_a_setting_postgres_refuses_is_quoted(folder: Path) -> None:
    server = EmbeddedPostgres(folder / "var", settings={**THROWAWAY_SETTINGS, "no_such": "1"})
    began = time.monotonic()
    with pytest.raises(EmbeddedError, match="no_such"):
        server.start()
    assert (
        time.monotonic() - began < module.START_PATIENCE_SECONDS
    )  # it did not wait for what is dead
