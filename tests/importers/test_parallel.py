"""Imports of one subject at the same time."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from threading import Barrier
from typing import Any

import pytest
from django.db import connections

from memoryhub.importers.execute import ImportRequest, import_file
from memoryhub.importers.report import ImportReport
from memoryhub.importers.sources import SOURCES
from memoryhub.tenants.models import Space, Tenant
from memoryhub.tenants.scope import tenant_scope
from notes.index import indexer
from notes.models import Entity, Fact, Relation
from tests.importers.file_contents import make_open_file
from tests.support.factories import make_entity, make_tenant

pytestmark = pytest.mark.django_db(transaction=True)
NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
TOWNS = ("Lisbon", "Porto", "Faro", "Braga")


def build_file(number: int) -> str:
    """A fact of its own about each of the same towns."""
    lines = [
        {
            "subject": "ana",
            "id": f"{number}-{town}",
            "fact": f"Ana visited {town} in {2000 + number}",
            "relation": {"source": "Ana", "label": "visited", "target": town},
        }
        for town in (TOWNS if number % 2 else reversed(TOWNS))
    ]
    return "\n".join(json.dumps(line) for line in lines)


def import_together(tenant: Tenant, files: list[str]) -> list[ImportReport]:
    """Each by a worker of its own, begun at the same moment."""
    start = Barrier(len(files))

    def bring(content: str) -> ImportReport:
        try:
            wanted = ImportRequest(SOURCES["jsonl"], make_open_file(content), "lines.jsonl", "eva")
            start.wait()
            return import_file(tenant.id, wanted, NOW)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(files)) as workers:
        return list(workers.map(bring, files))


def test_files_that_name_the_same_things_are_taken_in_side_by_side() -> None:
    tenant = make_tenant()
    reports = import_together(tenant, [build_file(number) for number in range(8)])
    assert [report.taken["fact"] for report in reports] == [4] * 8
    with tenant_scope(tenant.id):
        assert Fact.objects.count() == Relation.objects.count() == 32
        names = sorted(Entity.objects.values_list("canonical_key", flat=True))
        assert names == ["ana", "braga", "faro", "lisbon", "porto"]
        assert Entity.objects.get(canonical_key="ana").mention_count == 32


def test_a_file_that_is_brought_several_times_at_once_is_taken_in_once() -> None:
    tenant = make_tenant()
    reports = import_together(tenant, [build_file(1)] * 4)
    assert sum(report.taken["fact"] for report in reports) == 4
    assert sum(report.already["fact"] for report in reports) == 12
    with tenant_scope(tenant.id):
        assert Fact.objects.count() == 4


def test_an_entity_that_somebody_makes_meanwhile_is_taken_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As the pipeline may, which waits for no import."""
    tenant = make_tenant()
    embed = indexer.embed_entries_or_none

    def embed_late(*args: Any) -> Any:
        with tenant_scope(tenant.id):
            space = Space.objects.get(subject="ana")
            if not Entity.objects.filter(canonical_key="lisbon").exists():
                make_entity(space, "Lisbon")
        return embed(*args)

    monkeypatch.setattr(indexer, "embed_entries_or_none", embed_late)
    (report,) = import_together(tenant, [build_file(1)])
    assert report.taken["fact"] == 4
    with tenant_scope(tenant.id):
        assert Entity.objects.filter(canonical_key="lisbon").count() == 1
