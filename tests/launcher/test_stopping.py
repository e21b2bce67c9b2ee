"""However the hub ends, nothing of it is left."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import psutil
import psycopg
import pytest

from memoryhub.embedded import EmbeddedPostgres
from memoryhub.launcher import is_data_dir_in_use
from tests.launcher.conftest import HubProcess, is_gone, wait_until

Start = Callable[..., HubProcess]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_stops_everything_and_is_no_failure(hub: Start, number: int) -> None:
    running = hub().wait_until_ready()
    (worker,) = running.wait_for_pids("worker", 1)
    assert running.end_with_signal(number) == 0
    assert is_gone(worker)
    assert not is_data_dir_in_use(running.folder)
    assert "Stopping." in running.heard


def test_it_says_where_it_is(hub: Start) -> None:
    running = hub().wait_until_ready()
    assert f"MemoryHub is ready at http://127.0.0.1:{running.port}\n" in running.heard
    assert f"http://127.0.0.1:{running.port}/pages\n" in running.heard


@pytest.mark.parametrize("behaviour", ["worker-stubborn", "worker-parent"])
def test_children_that_do_not_listen_are_killed_with_their_children(
    hub: Start, behaviour: str
) -> None:
    running = hub(behaviour).wait_until_ready()
    pids = running.wait_for_pids("worker", 1)
    if behaviour == "worker-parent":
        pids += running.wait_for_pids("grandchild", 1)
    assert running.end_with_signal(signal.SIGTERM) == 0
    assert all(is_gone(pid) for pid in pids)


@pytest.mark.parametrize("behaviour", ["slow-preparation", "torn-preparation"])
def test_a_signal_while_preparing_stops_the_preparation(hub: Start, behaviour: str) -> None:
    running = hub(behaviour, "postgres")
    running.wait_for("preparing")
    assert running.end_with_signal(signal.SIGINT) == 0
    assert not EmbeddedPostgres(running.folder).is_running()


def test_kill_9_leaves_nothing_either(hub: Start) -> None:
    running = hub("worker-parent", "postgres").wait_until_ready()
    server = EmbeddedPostgres(running.folder)
    with psycopg.connect(server.dsn("owner"), autocommit=True) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 1 AS n")
    left = running.wait_for_pids("worker", 1) + running.wait_for_pids("grandchild", 1)
    running.process.kill()
    wait_until(lambda: all(is_gone(pid) for pid in left))
    wait_until(lambda: not is_data_dir_in_use(running.folder))
    assert not server.is_running()
    again = hub("postgres").wait_until_ready()
    with psycopg.connect(server.dsn("app"), autocommit=True) as connection:
        found = connection.execute("SELECT count(*) FROM pg_tables WHERE tablename = 'kept'")
        assert found.fetchone() == (1,)
    assert again.end_with_signal(signal.SIGTERM) == 0
    assert not server.is_running()


def test_a_guard_that_was_killed_is_followed_by_one_that_knows_as_much(hub: Start) -> None:
    running = hub("worker-parent", "postgres").wait_until_ready()
    left = running.wait_for_pids("worker", 1) + running.wait_for_pids("grandchild", 1)
    find_guard(running.process.pid).kill()
    running.wait_for("another was started")
    running.process.kill()
    wait_until(lambda: all(is_gone(pid) for pid in left))
    wait_until(lambda: not is_data_dir_in_use(running.folder))
    assert not EmbeddedPostgres(running.folder).is_running()


def find_guard(launcher: int) -> psutil.Process:
    children = psutil.Process(launcher).children()
    return next(each for each in children if "guard.py" in " ".join(each.cmdline()))


def test_a_hub_that_was_killed_is_waited_for(hub: Start) -> None:
    first = hub("worker-stubborn").wait_until_ready()
    first.wait_for_pids("worker", 1)
    first.process.kill()
    second = hub().wait_until_ready()  # the guard needs its grace for the stubborn worker first
    assert is_gone(first.read_pids("worker")[0])
    assert second.end_with_signal(signal.SIGTERM) == 0


def test_a_database_somebody_else_started_is_left_to_them(hub: Start, folder: Path) -> None:
    server = EmbeddedPostgres(folder)
    server.start()
    assert hub("postgres").wait_until_ready().end_with_signal(signal.SIGTERM) == 0
    assert server.is_running()
    server.close()
    assert not server.is_running()


def test_the_database_is_stopped_with_clients_in_it(hub: Start) -> None:
    running = hub("postgres").wait_until_ready()
    client = psycopg.connect(EmbeddedPostgres(running.folder).dsn("app"))
    assert running.end_with_signal(signal.SIGTERM) == 0
    assert not EmbeddedPostgres(running.folder).is_running()
    client.close()


def test_a_database_that_dies_is_started_again(hub: Start) -> None:
    running = hub("postgres").wait_until_ready()
    server = EmbeddedPostgres(running.folder)
    former = server.read_pid()
    assert former is not None
    os.kill(former, signal.SIGKILL)
    running.wait_for("starting it again")
    wait_until(server.is_running)
    assert running.end_with_signal(signal.SIGTERM) == 0
    assert not server.is_running()
