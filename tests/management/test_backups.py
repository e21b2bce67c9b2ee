"""A backup of a hub at work, put back into an empty database."""

from __future__ import annotations

import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from django.conf import settings
from django.db import connections

from memoryhub.dialogues.messages import Message
from memoryhub.embedded import EmbeddedPostgres
from memoryhub.management.backups import (
    BackupError,
    build_owner_dsn,
    make_backup,
    restore_backup,
    verify_backup,
)
from memoryhub.pipeline import tasks
from memoryhub.pipeline.ingest.services import IngestRequest, ingest_messages, run_space
from memoryhub.tenants.services import create_tenant

TARGET = "backup_target"


@pytest.fixture
def empty(postgres: EmbeddedPostgres) -> Iterator[str]:
    postgres.create_database(TARGET)
    yield postgres.dsn("owner", TARGET)
    with psycopg.connect(postgres.dsn("superuser", "postgres"), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {TARGET} WITH (FORCE)")


@pytest.mark.django_db(transaction=True, databases=["default", "owner"])
def test_all_of_a_hub_comes_back_also_once_its_queue_ran(empty: str, tmp_path: Path) -> None:
    tenant = create_tenant("One", "one")
    with tasks.silence_doorbell():
        said = [Message("user", "I live in Porto.", "Ana")]
        done = ingest_messages(tenant.id, IngestRequest("ana", said))
    run_space(tenant.id, done.space.id)
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT pgmq.create('made_by_a_worker')")  # the app's, not the owner's
        cursor.execute("SELECT pgmq.enable_notify_insert('made_by_a_worker')")
    file, key = tmp_path / "hub.tar", tmp_path / "secret_key"
    try:
        made = make_backup(file, build_owner_dsn())
    finally:
        with connections["default"].cursor() as cursor:
            cursor.execute("SELECT pgmq.drop_queue('made_by_a_worker')")
    assert (file.stat().st_mode & 0o777, list(tmp_path.iterdir())) == (0o600, [file])
    assert verify_backup(file).rows == made.rows
    assert restore_backup(file, empty, key).rows == made.rows
    assert (made.rows["notes_fact"], key.read_text()) == (1, settings.SECRET_KEY)
    with psycopg.connect(empty) as connection:
        assert connection.execute("SELECT text FROM notes_fact").fetchall() == [
            ("Ana lives in Porto.",)
        ]
    with pytest.raises(BackupError, match="not empty"):
        restore_backup(file, empty, key)


def test_what_is_no_backup_is_told(tmp_path: Path) -> None:
    file = tmp_path / "hub.tar"
    file.write_bytes(b"nothing")
    with pytest.raises(BackupError, match="can't be read"):
        verify_backup(file)


def test_nothing_else_of_a_file_gets_onto_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words, file, work = tmp_path / "words", tmp_path / "hub.tar", tmp_path / "work"
    words.write_text("{}")
    link = tmp_path / "link"
    link.symlink_to(words)
    work.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(work))
    with tarfile.open(file, "w") as archive:
        archive.add(words, "backup.json")
        archive.add(words, "../planted")
        archive.add(link, "secret_key")
    with pytest.raises(BackupError, match="is no backup of a hub: it has no secret_key"):
        verify_backup(file)
    assert not list(tmp_path.rglob("planted"))
