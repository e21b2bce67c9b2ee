"""However the hub ends, nothing of it is left."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from memoryhub.embedded import EmbeddedPostgres
from memoryhub.launcher import is_used
from tests.launcher.conftest import Running, is_gone, until

Start = Callable[..., Running]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_stops_everything_and_is_no_failure(hub: Start, number: int) -> None:
    running = hub().ready()
    (worker,) = running.wait_for_pids("worker", 1)
    assert running.end(number) == 0
    assert is_gone(worker)
    assert not is_used(running.folder)
    assert "Stopping." in running.heard


def test_it_says_where_it_is(hub: Start) -> None:
    running = hub().ready()
    assert f"MemoryHub is ready at http://127.0.0.1:{running.port}\n" in running.heard
    assert f"http://127.0.0.1:{running.port}/pages\n" in running.heard


@pytest.mark.parametrize("behaviour", ["worker-stubborn", "worker-parent"])
def test_children_that_do_not_listen_are_killed_with_their_children(
    hub: Start, behaviour: str
) -> None:
    running = hub(behaviour).ready()
    pids = running.wait_for_pids("worker", 1)
    if behaviour == "worker-parent":
        pids += running.wait_for_pids("grandchild", 1)
    assert running.end(signal.SIGTERM) == 0
    assert all(is_gone(pid) for pid in pids)


@pytest.mark.parametrize("behaviour", ["slow-preparation", "torn-preparation"])
def test_a_signal_while_preparing_stops_the_preparation(hub: Start, behaviour: str) -> None:
    running = hub(behaviour, "postgres")
    running.wait_for("preparing")
    assert running.end(signal.SIGINT) == 0
    assert not EmbeddedPostgres(running.folder).is_running()


def test_kill_9_leaves_nothing_either(hub: Start) -> None:
    running = hub("worker-parent", "postgres").ready()
    server = EmbeddedPostgres(running.folder)
    with psycopg.connect(server.dsn("owner"), autocommit=True) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 1 AS n")
    left = running.wait_for_pids("worker", 1) + running.wait_for_pids("grandchild", 1)
    running.process.kill()
    until(lambda: all(is_gone(pid) for pid in left))
    until(lambda: not is_used(running.folder))
    assert not server.is_running()
    again = hub("postgres").ready()
    with psycopg.connect(server.dsn("app"), autocommit=True) as connection:
        found = connection.execute("SELECT count(*) FROM pg_tables WHERE tablename = 'kept'")
        assert found.fetchone() == (1,)
    assert again.end(signal.SIGTERM) == 0
    assert not server.is_running()


def test_a_hub_that_was_killed_is_waited_for(hub: Start) -> None:
    first = hub("worker-stubborn").ready()
    first.wait_for_pids("worker", 1)
    first.process.kill()
    second = hub().ready()  # the guard needs its grace for the stubborn worker first
    assert is_gone(first.pids("worker")[0])
    assert second.end(signal.SIGTERM) == 0


def test_a_database_somebody_else_started_is_left_to_them(hub: Start, folder: Path) -> None:
    server = EmbeddedPostgres(folder)
    server.start()
    assert hub("postgres").ready().end(signal.SIGTERM) == 0
    assert server.is_running()
    server.close()
    assert not server.is_running()


def test_the_database_is_stopped_with_clients_in_it(hub: Start) -> None:
    running = hub("postgres").ready()
    client = psycopg.connect(EmbeddedPostgres(running.folder).dsn("app"))
    assert running.end(signal.SIGTERM) == 0
    assert not EmbeddedPostgres(running.folder).is_running()
    client.close()


def test_a_database_that_dies_is_started_again(hub: Start) -> None:
    running = hub("postgres").ready()
    server = EmbeddedPostgres(running.folder)
    former = server.pid()
    assert former is not None
    os.kill(former, signal.SIGKILL)
    running.wait_for("starting it again")
    until(server.is_running)
    assert running.end(signal.SIGTERM) == 0
    assert not server.is_running()
