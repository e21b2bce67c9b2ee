"""Celery: the doorbell. What is to be done is in Job rows; losing a message loses nothing."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from celery import Celery
from celery.signals import worker_init
from psycopg.conninfo import conninfo_to_dict, make_conninfo

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryhub.settings")

_PGMQ_KEPT_PARAMETERS = ("host", "port", "dbname", "user", "password")
# Redelivery of a message whose worker died. Short, because a job's own lease decides who works.
VISIBILITY_SECONDS = 60
# Of a worker's processor time beside that of requests (nice's scale: about a tenth where both
# want all of it, and all of it where nobody else does).
WORKER_NICENESS = 10


def build_transport_options(broker_url: str, dsn: str) -> dict[str, Any]:
    """Options of the broker: kombu's queue in our own Postgres needs tuning to be quick."""
    if not broker_url.startswith("pgmq:"):
        return {
            "visibility_timeout": VISIBILITY_SECONDS,
            "socket_timeout": 5,
            "socket_connect_timeout": 1,
        }
    return {
        "conn_string": build_pgmq_dsn(dsn),
        "init_extension": False,  # installed as plain SQL by a migration
        "use_notify": True,
        "notify_throttle_interval_ms": 0,
        "wait_time_seconds": 0,
        "visibility_timeout": VISIBILITY_SECONDS,
        "pool_size": 3,
        "pool_timeout": 2,
    }


def build_pgmq_dsn(dsn: str) -> str:
    """`dsn` for pgmq, which takes a host, a port, names and a password out of it, and puts them
    together again unquoted and without the rest. So each value carries its quotes, and the
    last one the parameters that would be lost (TLS, for one).
    """
    parts = {name: str(value) for name, value in conninfo_to_dict(dsn).items()}
    main = {name: _quote_value(parts.pop(name)) for name in _PGMQ_KEPT_PARAMETERS if name in parts}
    main["password"] = (
        f"{main.get('password', _quote_value(''))} {make_conninfo('', **parts)}".strip()
    )
    return make_conninfo("", **main)


def _quote_value(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def patch_redis_channel() -> None:
    """Keep two defects of kombu 5.7's Redis channel from ending the worker when Redis goes away.

    It hands unread messages back over the broken connection: they come back by themselves after
    the visibility timeout, and the sweeper is quicker still. And a task that ends after its
    channel was closed acknowledges over no connection, which is an AttributeError; as a broken
    connection it is one that Celery knows to survive.
    """
    from kombu.transport import redis

    class Channel(redis.Channel):
        do_restore = False

        def _connparams(self, asynchronous: bool = False) -> Any:
            if self.connection is None:
                raise ConnectionError("the broker's channel is closed")
            return super()._connparams(asynchronous)  # type: ignore[no-untyped-call]  # kombu

    redis.Transport.Channel = Channel


def patch_pgmq_transport() -> None:
    """Keep kombu's transport in PostgreSQL from two things: making its queue and trigger anew
    whenever a process begins (each time that locks the table against all others, and those that
    write to it at the moment may be told of a deadlock), and leaving behind, at each try to reach
    a database that is gone, a pool whose threads go on trying."""
    from kombu.transport import pgmq

    class Channel(pgmq.Channel):
        def _new_queue(self, queue: str, **kwargs: Any) -> None:
            if not self._has_queue(queue):  # type: ignore[no-untyped-call]  # kombu
                super()._new_queue(queue, **kwargs)  # type: ignore[no-untyped-call]  # kombu

        def _maybe_enable_notify(self, queue: str, queue_name: str | None = None) -> None:
            name = queue_name or self._queue_name(queue)
            wanted = (name, self.notify_throttle_interval_ms)
            known = self.pgmq.list_notify_throttles()
            if wanted not in {(each.queue_name, each.throttle_interval_ms) for each in known}:
                super()._maybe_enable_notify(queue, name)  # type: ignore[no-untyped-call]  # kombu
            elif self.use_notify:
                self.connection._register_notify_queue(name)

    class Transport(pgmq.Transport):
        def establish_connection(self) -> Any:
            try:
                return super().establish_connection()  # type: ignore[no-untyped-call]  # kombu
            except BaseException:
                # kombu closes only what was once connected.
                self.close_connection(None)
                raise

    pgmq.Transport = Transport  # type: ignore[misc]  # kombu looks it up by this name
    Transport.Channel = Channel


def create_app() -> Celery:
    from django.conf import settings

    patch_redis_channel()
    patch_pgmq_transport()
    hub = Celery("memoryhub")
    hub.conf.update(
        broker_url=settings.CELERY_BROKER_URL,
        broker_transport_options=build_transport_options(
            settings.CELERY_BROKER_URL, settings.BROKER_DSN
        ),
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        task_serializer="json",
        accept_content=["json"],
        task_ignore_result=True,
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        # A request must not wait for a broker that is gone: the sweeper rings again.
        task_publish_retry=False,
        worker_prefetch_multiplier=1,
        worker_enable_remote_control=False,
        worker_send_task_events=False,
        worker_hijack_root_logger=False,
        beat_schedule={
            "sweep": {
                "task": "memoryhub.pipeline.tasks.ring_due_spaces",
                "schedule": settings.SWEEP_SECONDS,
            }
        },
        timezone="UTC",
    )
    hub.autodiscover_tasks(
        ["memoryhub.pipeline", "memoryhub.importers", "memoryhub.webhooks", "memoryhub.lab"]
    )
    return hub


app = create_app()


@worker_init.connect
def give_way_to_requests(sender: Any, **kwargs: Any) -> None:
    """Somebody waits for an answer; reading what was said can wait a moment."""
    os.nice(WORKER_NICENESS)
    # Linux weighs whole sessions against each other where autogroup is on, and a worker that the
    # hub starts is a session of its own: within it, niceness alone would say nothing.
    with suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(WORKER_NICENESS), "ascii")


@worker_init.connect
def begin_worker_tracing(sender: Any, **kwargs: Any) -> None:
    from memoryhub.observability.tracing import begin_tracing

    begin_tracing("worker")


@worker_init.connect
def start_sweeper(sender: Any, **kwargs: Any) -> None:
    """Each worker sweeps for itself, so that none depends on beat being alive."""
    from django.conf import settings

    from memoryhub.pipeline.jobs.sweeper import Sweeper
    from memoryhub.pipeline.tasks import ring_due_spaces

    Sweeper(ring_due_spaces, settings.SWEEP_SECONDS).start()
