"""Telling a worker that there is something to do: by a task's name, with the ids that it takes.

What is to be done stands in the database; a sweep rings for what was not heard. By name, so that
what plans work need not import the task that carries it out.
"""

from __future__ import annotations

from uuid import UUID

import psycopg
import structlog
from celery import current_app
from kombu.exceptions import KombuError

log = structlog.get_logger()


def ring_task(name: str, *ids: UUID, after: float = 0.0) -> bool:
    """Have a worker come, in `after` seconds. False when the broker is gone: only a delay."""
    try:
        current_app.send_task(
            name, [str(each) for each in ids], countdown=after or None, ignore_result=True
        )
    except (KombuError, OSError, psycopg.Error) as error:
        log.warning("broker.unreachable", error=str(error))
        return False
    return True
