"""Celery: the doorbell. What is to be done is in Job rows; losing a message loses nothing."""

from __future__ import annotations

import os
from typing import Any

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryhub.settings")

# Redelivery of a message whose worker died. Short, because a job's own lease decides who works.
VISIBILITY_SECONDS = 60


def transport_options(broker_url: str, dsn: str) -> dict[str, Any]:
    """Options of the broker: kombu's queue in our own Postgres needs tuning to be quick."""
    if not broker_url.startswith("pgmq:"):
        return {
            "visibility_timeout": VISIBILITY_SECONDS,
            "socket_timeout": 5,
            "socket_connect_timeout": 1,
        }
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    return {
        # Keywords, not a URL: the transport appends to it.
        "conn_string": make_conninfo("", **{k: str(v) for k, v in conninfo_to_dict(dsn).items()}),
        "init_extension": False,  # installed as plain SQL by a migration
        "use_notify": True,
        "notify_throttle_interval_ms": 0,
        "wait_time_seconds": 0,
        "visibility_timeout": VISIBILITY_SECONDS,
        "pool_size": 3,
        "pool_timeout": 5,
    }


def create_app() -> Celery:
    from django.conf import settings

    hub = Celery("memoryhub")
    hub.conf.update(
        broker_url=settings.CELERY_BROKER_URL,
        broker_transport_options=transport_options(settings.CELERY_BROKER_URL, settings.BROKER_DSN),
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
                "task": "memoryhub.pipeline.tasks.sweep",
                "schedule": settings.SWEEP_SECONDS,
            },
        },
        timezone="UTC",
    )
    hub.autodiscover_tasks(["memoryhub.pipeline"])
    return hub


app = create_app()
