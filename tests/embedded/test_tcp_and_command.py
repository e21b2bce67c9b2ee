from __future__ import annotations

import socket
from pathlib import Path

import psycopg
import pytest

from memoryhub.embedded import EmbeddedError, EmbeddedPostgres
from memoryhub.embedded.__main__ import main
from memoryhub.embedded.server import THROWAWAY_SETTINGS
from tests.embedded.helpers import query_value


@pytest.fixture
def taken() -> socket.socket:
    """A listening socket; its port is free once it is closed."""
    listener = socket.create_server(("127.0.0.1", 0))
    return listener


def get_port(listener: socket.socket) -> int:
    number: int = listener.getsockname()[1]
    return number


def test_a_port_asked_for_is_known_everywhere(folder: Path, taken: socket.socket) -> None:
    port = get_port(taken)
    taken.close()
    server = EmbeddedPostgres(folder / "var", settings=THROWAWAY_SETTINGS, port=port)
    server.start()
    later = EmbeddedPostgres(folder / "var", settings=THROWAWAY_SETTINGS)
    assert later.tcp_port == port
    assert later.is_running()
    for dsn in (later.dsn("app"), later.dsn("app", tcp=True)):
        assert f"{port}" in dsn
        assert query_value(dsn, "SELECT current_user") == "memoryhub_app"
    assert query_value(later.dsn("app", tcp=True), "SELECT host(inet_server_addr())") == "127.0.0.1"
    later.stop()
    later.start()
    assert query_value(later.dsn("owner", tcp=True), "SELECT 1") == 1
    later.stop()
    assert EmbeddedPostgres(folder / "var", settings=THROWAWAY_SETTINGS, port=0).start()
    assert EmbeddedPostgres(folder / "var").tcp_port == 0


def test_tcp_wants_the_password_and_no_superuser(folder: Path, taken: socket.socket) -> None:
    port = get_port(taken)
    taken.close()
    server = EmbeddedPostgres(folder / "var", settings=THROWAWAY_SETTINGS, port=port)
    server.start()
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(f"postgresql://memoryhub_app:guess@127.0.0.1:{port}/memoryhub")
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(f"postgresql://postgres:guess@127.0.0.1:{port}/memoryhub")
    with pytest.raises(EmbeddedError, match="superuser"):
        server.dsn("superuser", tcp=True)


def test_without_a_port_there_is_no_tcp(server: EmbeddedPostgres) -> None:
    with pytest.raises(EmbeddedError, match="port"):
        server.dsn("app", tcp=True)


def test_a_port_that_is_taken_is_said(folder: Path, taken: socket.socket) -> None:
    with taken:
        server = EmbeddedPostgres(folder / "var", settings=THROWAWAY_SETTINGS, port=get_port(taken))
        with pytest.raises(EmbeddedError, match="port asked for is taken"):
            server.start()


def test_the_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = ["--data-dir", str(folder / "var")]
    assert main(["status", *data]) == 3
    assert main(["start", *data]) == 0
    assert "started\npostgresql://memoryhub_app@/memoryhub?host=" in capsys.readouterr().out
    assert main(["start", *data]) == 0
    assert main(["status", *data]) == 0
    assert "already running" in capsys.readouterr().out
    assert main(["stop", *data]) == 0
    assert main(["stop", *data]) == 0
    assert capsys.readouterr().out == "stopped\nnot running\n"


def test_the_command_says_what_is_wrong(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "var").write_text("")
    assert main(["start", "--data-dir", str(folder / "var")]) == 1
    assert "Cannot use" in capsys.readouterr().err
