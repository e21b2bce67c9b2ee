"""`manage.py doctor`: what is wrong with this hub, and how to mend it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from celery import current_app
from django.conf import settings
from django.core import checks
from django.core.management.base import BaseCommand

from memoryhub.disk import LEAST_FREE_BYTES, read_free_bytes
from memoryhub.errors import MemoryHubError
from memoryhub.health import (
    MAX_LAG_SECONDS,
    count_pending_migrations,
    is_database_answering,
    load_queue_lag,
)
from memoryhub.inference.selection import get_current_embedder

_PLENTY_BYTES = 1024**3
_READ_CHECKS = "See docs/reference/checks.md."


class Finding(NamedTuple):
    """`advice` is empty where all is well."""

    part: str
    state: str
    advice: str = ""


class Command(BaseCommand):
    help = "Look at the database, the disk, the broker, the queue, the models and the settings."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        found = list(examine_hub())
        for each in found:
            self.stdout.write(f"{'WRONG' if each.advice else 'ok':<6}{each.part:<10} {each.state}")
            if each.advice:
                self.stdout.write(f"{'':<17}{each.advice}")
        if any(each.advice for each in found):
            sys.exit(1)


def examine_hub() -> Iterator[Finding]:
    """Part by part; without a database only what can be told without it."""
    yield _examine_disk()
    if not is_database_answering():
        log = settings.DATA_DIR / "postgres" / "postgres.log"
        advice = f"Its log says why: {log}" if settings.EMBEDDED else "Look at DATABASE_URL."
        yield Finding("database", "can't be reached", advice)
        return
    pending = count_pending_migrations()
    advice = "Run manage.py migrate --database owner." if pending else ""
    yield Finding("database", f"answers, {pending} migrations to come", advice)
    if not pending:
        yield _examine_queue()
    yield _examine_broker()
    yield _examine_embedder()
    yield from _examine_settings()


def _examine_disk() -> Finding:
    free = read_free_bytes()
    if free == float("inf"):
        return Finding("disk", "the database's is elsewhere")
    state = f"{free / 1024**3:,.1f} GiB free for the database"
    if free < LEAST_FREE_BYTES:
        return Finding("disk", state, "Free some space: nothing can be kept.")
    return Finding("disk", state, "" if free > _PLENTY_BYTES else "Free some space soon.")


def _examine_queue() -> Finding:
    lag = load_queue_lag()
    waiting, longest = (
        sum(each.waiting for each in lag),
        max((each.seconds for each in lag), default=0.0),
    )
    state = f"{waiting:,} steps are due, the first for {longest:,.0f} s"
    behind = longest >= MAX_LAG_SECONDS
    advice = "Is a worker running? Start more, or give it more MEMORYHUB_WORKER_THREADS."
    return Finding("queue", state, advice if behind else "")


def _examine_broker() -> Finding:
    try:
        with current_app.connection_for_write() as broker:
            broker.ensure_connection(max_retries=1, timeout=2)
    except Exception as error:  # each transport has its own
        advice = "Look at CELERY_BROKER_URL. Until then work begins some seconds later."
        return Finding("broker", f"can't be reached: {error}", advice)
    return Finding("broker", "answers")


def _examine_embedder() -> Finding:
    try:
        embedder = get_current_embedder()
    except MemoryHubError as error:
        advice = "Run manage.py models, or look at MEMORYHUB_EMBEDDER."
        return Finding("embedder", error.message, advice)
    return Finding("embedder", embedder.name)


def _examine_settings() -> Iterator[Finding]:
    """What the hub's own checks say, those for deployment included where it serves HTTPS."""
    found = checks.run_checks(include_deployment_checks=settings.HTTPS, databases=["default"])
    for each in found:
        if not each.is_silenced():
            yield Finding(
                "settings", f"{each.id}: {each.msg}", each.hint or "See the page on checks."
            )
    if not found:
        yield Finding("settings", "are sound")
