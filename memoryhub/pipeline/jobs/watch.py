"""Who waits for a job hears of its changes: one thread of the process looks for all of them.

However many wait, a look is a few statements a tenant, and nobody who waits holds a connection.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future
from typing import Generic, TypeVar
from uuid import UUID

import structlog
from django.db import connection

log = structlog.get_logger()
V = TypeVar("V")
# The tenant, and ids of jobs; what there is to see of each, and nothing of one that is gone.
Look = Callable[[UUID, Collection[UUID]], Mapping[UUID, V]]


class JobWatcher(Generic[V]):
    """`look` opens its own scope, and is called every `seconds` while anybody waits."""

    def __init__(self, look: Look[V], seconds: float) -> None:
        self._look, self._seconds = look, seconds
        self._waiting: dict[tuple[UUID, UUID], list[tuple[V | None, Future[V | None]]]] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def wait_for_change(self, tenant_id: UUID, job_id: UUID, seen: V | None) -> Future[V | None]:
        """What there is to see once it is not `seen` any more; None once the job is gone. Cancel
        it when you wait no longer."""
        change: Future[V | None] = Future()
        with self._lock:
            self._waiting.setdefault((tenant_id, job_id), []).append((seen, change))
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, name="jobs", daemon=True)
                self._thread.start()
        return change

    def _watch(self) -> None:
        """Until nobody waits."""
        pause = threading.Event()
        while by_tenant := self._list_watched():
            for tenant_id, job_ids in by_tenant.items():
                try:
                    self._tell(tenant_id, job_ids, self._look(tenant_id, job_ids))
                except Exception:
                    log.exception("jobs.unwatched", tenant=str(tenant_id))  # looked at again
                finally:
                    connection.close()
            pause.wait(self._seconds)

    def _list_watched(self) -> Mapping[UUID, Collection[UUID]]:
        by_tenant: dict[UUID, list[UUID]] = defaultdict(list)
        with self._lock:
            for name, waiting in list(self._waiting.items()):
                self._waiting[name] = [each for each in waiting if not each[1].cancelled()]
                if self._waiting[name]:
                    by_tenant[name[0]].append(name[1])
                else:
                    del self._waiting[name]
            if not by_tenant:
                self._thread = None
        return by_tenant

    def _tell(self, tenant_id: UUID, job_ids: Collection[UUID], found: Mapping[UUID, V]) -> None:
        changes = []
        with self._lock:
            for job_id in job_ids:
                now = found.get(job_id)
                waiting = self._waiting.get((tenant_id, job_id), [])
                self._waiting[tenant_id, job_id] = [each for each in waiting if each[0] == now]
                changes += [(change, now) for seen, change in waiting if seen != now]
        for change, now in changes:
            if change.set_running_or_notify_cancel():
                change.set_result(now)
