"""`/metrics`, for who has the token."""

from __future__ import annotations

import os
from collections.abc import Iterator
from secrets import compare_digest

from django.conf import settings
from django.db import DatabaseError
from django.http import Http404, HttpRequest, HttpResponse
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import REGISTRY, GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from memoryhub.disk import read_free_bytes
from memoryhub.health import load_queue_lag


class HubState(Collector):
    """What the database and the disk tell when they are asked."""

    def collect(self) -> Iterator[GaugeMetricFamily]:
        waiting = GaugeMetricFamily("memoryhub_jobs_due", "Steps due, not begun", labels=["lane"])
        lag = GaugeMetricFamily(
            "memoryhub_lag_seconds", "Since the first of them was due", labels=["lane"]
        )
        up = GaugeMetricFamily("memoryhub_database_up", "Whether the database answers")
        try:
            for lane in load_queue_lag():
                waiting.add_metric([lane.lane], lane.waiting)
                lag.add_metric([lane.lane], lane.seconds)
            up.add_metric([], 1)
        except DatabaseError:
            up.add_metric([], 0)
        yield from (waiting, lag, up)
        if settings.EMBEDDED:
            free = GaugeMetricFamily("memoryhub_disk_free_bytes", "Room for the database")
            free.add_metric([], read_free_bytes())
            yield free


def show_metrics(request: HttpRequest) -> HttpResponse:
    """Without the token there is nothing here. Raises Http404."""
    token = settings.METRICS_TOKEN
    given = request.headers.get("Authorization", "").removeprefix("Bearer ")
    if not token or not compare_digest(given.encode(), token.encode()):
        raise Http404
    return HttpResponse(build_metrics(), content_type=CONTENT_TYPE_LATEST)


def build_metrics() -> bytes:
    """Counts of all processes that share a folder, or else of this one; and the hub's state."""
    state = CollectorRegistry()
    state.register(HubState())
    counted = REGISTRY
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        counted = CollectorRegistry()
        MultiProcessCollector(counted)  # type: ignore[no-untyped-call]  # prometheus_client
    return generate_latest(counted) + generate_latest(state)
