"""What is told to those who look after the hub: health, readiness, metrics, and a full disk."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.management import call_command
from django.db import OperationalError
from django.test import Client
from psycopg.errors import DiskFull
from rest_framework.test import APIClient

from memoryhub import disk, health
from memoryhub.tenants.services import create_key, create_tenant

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "_full_since", None)
    monkeypatch.setattr(disk, "_probed_at", 0.0)
    monkeypatch.setattr(disk, "_PROBE_SECONDS", 0.0)


@pytest.fixture
def api() -> APIClient:
    _, key = create_key(create_tenant("One", "one"), "test", ["read", "write"])
    return APIClient(headers={"Authorization": f"Bearer {key}"})


def fail_for_want_of_room(*_args: Any, **_more: Any) -> None:
    raise OperationalError("could not extend file") from DiskFull()


def test_what_cant_be_kept_is_refused_with_the_reason_and_health_says_so_until_there_is_room(
    api: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as full:
        full.setattr("memoryhub.pipeline.ingest.services.append_turns", fail_for_want_of_room)
        full.setattr(disk, "_can_write", lambda: False)
        told = {"subject": "ana", "messages": [{"role": "user", "content": "I live in Porto."}]}
        refused = api.post("/api/v1/memories", told, format="json")
        assert (refused.status_code, refused.json()["code"]) == (507, "disk_full")
        sick = Client().get("/healthz")
        assert (sick.status_code, sick.json()["disk"]) == (503, "full")
    assert Client().get("/healthz").json() == {"status": "ok"}


def test_little_room_is_told_before_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "read_free_bytes", lambda: disk.LEAST_FREE_BYTES - 1)
    assert Client().get("/healthz").status_code == 503


def test_readiness_names_what_is_not_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_check_broker", lambda: "ok")
    assert Client().get("/readyz").json()["status"] == "ready"
    lag = [health.LaneLag("A", 3, health.MAX_LAG_SECONDS)]
    monkeypatch.setattr(health, "load_queue_lag", lambda: lag)
    answer = Client().get("/readyz")
    assert (answer.status_code, answer.json()["checks"]["worker"]) == (503, "behind by 300 s")


def test_metrics_are_for_who_has_the_token_and_name_no_tenant(settings: LazySettings) -> None:
    tenant = create_tenant("Swordfish Ltd", "swordfish")
    _, key = create_key(tenant, "harpoon", ["read"])
    api = APIClient(headers={"Authorization": f"Bearer {key}"})
    assert Client().get("/metrics").status_code == 404
    settings.METRICS_TOKEN = "let me see"
    assert Client().get("/metrics").status_code == 404
    assert api.get("/api/v1/spaces").status_code == 200
    told = Client().get("/metrics", headers={"Authorization": "Bearer let me see"}).content.decode()
    assert 'memoryhub_requests_total{method="GET",route="api/v1/spaces",status="200"}' in told
    assert "memoryhub_database_up 1.0" in told
    assert not {"swordfish", "harpoon", str(tenant.id)} & set(re.findall(r"[\w-]+", told.lower()))


def test_the_doctor_names_what_is_wrong_and_what_to_do(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "memoryhub.management.commands.doctor.read_free_bytes", lambda: 5 * 1024 * 1024
    )
    with pytest.raises(SystemExit):
        call_command("doctor")
    told = capsys.readouterr().out
    assert "WRONG disk" in told
    assert "Free some space" in told
    assert "ok    queue" in told
