"""Real workers, real brokers, kill -9 (spec X3; ground rule 1)."""

from __future__ import annotations

import logging
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from celery import Celery
from django.db import connection
from django.utils import timezone

from memoryhub.celery import WORKER_NICENESS, app, build_transport_options
from memoryhub.dialogues.messages import Message
from memoryhub.pipeline.ingest.services import IngestRequest, ingest_messages, run_space
from memoryhub.pipeline.models import Job
from memoryhub.tenants.models import Tenant
from memoryhub.tenants.scope import tenant_scope
from memoryhub.tenants.services import create_tenant
from notes.models import EvolutionEvent, Fact
from tests.support.processes import (
    REDIS,
    build_environment,
    find_free_port,
    kill_process,
    run_process,
    run_redis,
    run_worker,
    wait_until,
)

pytestmark = pytest.mark.django_db(transaction=True)
needs_redis = pytest.mark.skipif(REDIS is None, reason="no redis-server on this machine")

# Derives as a worker would, and stops where the model has answered and nothing is committed.
STUCK = """
import sys, time
import django; django.setup()
from memoryhub.pipeline.jobs import runner
from memoryhub.pipeline.steps.derive.derive import DeriveStep
def stuck(*args):
    print("reached", flush=True)
    time.sleep(600)
DeriveStep.write = stuck
from uuid import UUID
runner.run_space(UUID(sys.argv[1]), UUID(sys.argv[2]))
"""


@pytest.fixture
def tenant(monkeypatch: pytest.MonkeyPatch) -> Tenant:
    monkeypatch.setattr("memoryhub.pipeline.ingest.services.ring_worker", lambda *ids: None)
    return create_tenant("One", "one")


def ingest_line(tenant: Tenant, subject: str, number: int) -> Job:
    text = f"I bought {number + 2} boats in Porto."
    message = Message("user", text, "Ana", external_id=f"m-{number}")
    job = ingest_messages(tenant.id, IngestRequest(subject, [message], session="s")).job
    assert job is not None
    return job


def all_done(tenant: Tenant) -> bool:
    with tenant_scope(tenant.id):
        due = Job.objects.filter(run_after__lte=timezone.now())
        return not due.exclude(state=Job.State.DONE).exists()


def test_X3_killed_between_the_models_reply_and_the_commit(tenant: Tenant, tmp_path: Path) -> None:
    job = ingest_line(tenant, "ana", 0)
    command = [sys.executable, "-c", STUCK, str(tenant.id), str(job.space_id)]
    log = tmp_path / "log"
    with run_process(command, build_environment(), log) as started:
        wait_until(lambda: "reached" in log.read_text(), 60, log)
        started.send_signal(signal.SIGKILL)
        started.wait()
    with tenant_scope(tenant.id):
        assert Fact.objects.count() == 0
        job.refresh_from_db()
        assert job.state == Job.State.RUNNING
    wait_until(lambda: run_space(tenant.id, job.space_id) >= 1, 30)  # and what follows from it
    with tenant_scope(tenant.id):
        job.refresh_from_db()
        assert (job.state, job.attempts) == ("done", 2)
        assert Fact.objects.count() == 1
        assert EvolutionEvent.objects.filter(kind="resolve").count() == 1


def build_broker_environment(name: str, port: int) -> dict[str, str]:
    return {} if name == "pgmq" else {"CELERY_BROKER_URL": f"redis://127.0.0.1:{port}/0"}


@pytest.mark.parametrize("name", ["pgmq", pytest.param("redis", marks=needs_redis)])
def test_a_worker_killed_at_work_loses_and_doubles_nothing(
    tenant: Tenant, tmp_path: Path, name: str
) -> None:
    port, log = find_free_port(), tmp_path / "worker.log"
    server = run_redis(port, tmp_path) if name == "redis" else None
    if server:
        server.__enter__()
    try:
        jobs = [
            ingest_line(tenant, subject, n) for n in range(4) for subject in ("ana", "rui", "eva")
        ]
        with run_worker(log, tmp_path / "beat", **build_broker_environment(name, port)) as first:
            wait_until(lambda: some_done(tenant), 90, log)
            kill_process(first)
        with run_worker(log, tmp_path / "beat", **build_broker_environment(name, port)):
            wait_until(lambda: all_done(tenant), 90, log)
    finally:
        if server:
            server.__exit__(None, None, None)
    with tenant_scope(tenant.id):
        assert Fact.objects.count() == len(jobs)
        assert Fact.objects.filter(mention_count=1).count() == len(jobs)


def some_done(tenant: Tenant) -> bool:
    with tenant_scope(tenant.id):
        return Job.objects.filter(state=Job.State.DONE).exists()


@needs_redis
def test_a_broker_that_goes_away_loses_nothing(tenant: Tenant, tmp_path: Path) -> None:
    port, log = find_free_port(), tmp_path / "worker.log"
    with run_worker(log, tmp_path / "beat", **build_broker_environment("redis", port)):
        with run_redis(port, tmp_path):
            ingest_line(tenant, "ana", 0)
            wait_until(lambda: all_done(tenant), 90, log)
        # While it is away the worker's own sweep does what is due.
        ingest_line(tenant, "ana", 1)
        wait_until(lambda: all_done(tenant), 90, log)
        with run_redis(port, tmp_path):
            ingest_line(tenant, "rui", 0)
            wait_until(lambda: all_done(tenant), 90, log)
    with tenant_scope(tenant.id):
        assert Fact.objects.count() == 3


@needs_redis
def test_a_task_that_ends_after_its_connection_broke_does_not_end_the_worker(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Its acknowledgement fails as a lost connection, which the worker logs and survives."""
    port = find_free_port()
    with run_redis(port, tmp_path):
        wait_until(lambda: can_connect(port), 10)
        with app.connection_for_read(f"redis://127.0.0.1:{port}/0") as connection:
            queue = connection.SimpleQueue("bells")
            queue.put("ring")
            message = queue.get(timeout=5)
            queue.channel.close()
            message.ack_log_error(logging.getLogger("worker"), connection.connection_errors)
    assert "channel is closed" in caplog.text


def can_connect(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_a_queue_that_is_there_is_not_made_anew_by_who_connects(tenant: Tenant) -> None:
    """That would lock its table against all who write to it."""
    dsn = build_environment()["DATABASE_URL"]
    hub, made = Celery("another", set_as_current=False, broker="pgmq://localhost"), []
    hub.conf.broker_transport_options = build_transport_options("pgmq://localhost", dsn)
    for _ in range(2):
        with hub.connection_for_write() as line, line.channel() as channel:
            hub.amqp.queues["celery"].bind(channel).declare()
        with connection.cursor() as cursor:
            cursor.execute("SELECT oid FROM pg_trigger WHERE tgrelid = 'pgmq.q_celery'::regclass")
            made.append(cursor.fetchall())
    assert len(made[0]) == 1
    assert made[0] == made[1]


def test_a_request_rings_the_default_broker_and_a_worker_hears_it_and_gives_way_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No sweep helps here: it runs once an hour."""
    tenant, log = create_tenant("One", "one"), tmp_path / "worker.log"
    hourly = {"MEMORYHUB_SWEEP_SECONDS": "3600"}
    ingest_elsewhere = (
        "import django, sys; django.setup()\n"
        "from uuid import UUID\n"
        "from memoryhub.dialogues.messages import Message\n"
        "from memoryhub.pipeline.ingest.services import *\n"
        "said = [Message('user', 'I live in Porto.', 'Ana')]\n"
        "ingest_messages(UUID(sys.argv[1]), IngestRequest('ana', said))"
    )
    with run_worker(log, tmp_path / "beat", **hourly) as worker:
        wait_until(lambda: "ready" in log.read_text(), 60, log)
        ours = os.getpriority(os.PRIO_PROCESS, 0)
        assert os.getpriority(os.PRIO_PROCESS, worker.pid) == min(ours + WORKER_NICENESS, 19)
        subprocess.run(
            [sys.executable, "-c", ingest_elsewhere, str(tenant.id)],
            env=build_environment(**hourly),
            check=True,
        )
        wait_until(lambda: all_done(tenant), 60, log)
    with tenant_scope(tenant.id):
        assert Fact.objects.count() == 1
