from __future__ import annotations

import threading
from uuid import uuid4

import pytest
from celery import current_app
from pgmq.base import PGMQConfig
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import PoolTimeout

from memoryhub.celery import build_transport_options, create_app
from memoryhub.importers import runs
from memoryhub.lab.runs import background
from memoryhub.pipeline import tasks
from memoryhub.webhooks import outbox


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql://hub:p@db.example:6432/memory?sslmode=require&connect_timeout=3",
        "postgresql://hub@/memory?host=/var/my%20data's&port=5432",
        r"postgresql://hub:it's%20a%20\secret@localhost/memory",
    ],
)
def test_the_default_brokers_address_survives_the_queues_own_parsing(dsn: str) -> None:
    given = build_transport_options("pgmq://", dsn)["conn_string"]
    used = conninfo_to_dict(PGMQConfig(conn_string=given).dsn)
    wanted = {"port": "5432", "password": "", **conninfo_to_dict(dsn)}
    assert {name: str(value) for name, value in used.items()} == wanted


def test_another_broker_gets_time_limits_instead() -> None:
    options = build_transport_options("redis://127.0.0.1:6379/0", "")
    assert "conn_string" not in options
    assert options["socket_connect_timeout"] <= 1


def test_a_broker_that_is_gone_leaves_no_thread_behind() -> None:
    nobody = "postgresql://hub@127.0.0.1:1/memory"
    app = create_app()
    app.conf.broker_url = "pgmq://localhost"
    app.conf.broker_transport_options = build_transport_options("pgmq://", nobody) | {
        "pool_timeout": 0.2
    }
    before = {thread.name for thread in threading.enumerate()}
    with pytest.raises(PoolTimeout), app.connection_for_write() as broker:
        broker.transport.establish_connection()
    assert {thread.name for thread in threading.enumerate()} == before


def test_what_is_rung_for_by_name_is_a_task(monkeypatch: pytest.MonkeyPatch) -> None:
    rung: list[str] = []
    monkeypatch.setattr(
        current_app, "send_task", lambda name, *_args, **_options: rung.append(name)
    )
    for module in (runs, background, outbox, tasks):
        module.ring_worker(uuid4(), uuid4())
    current_app.loader.import_default_modules()
    assert len(rung) == 4
    assert set(rung) <= set(current_app.tasks)
