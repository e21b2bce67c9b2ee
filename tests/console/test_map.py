"""The embedding map: drawn in the background, kept, marked when memories change."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from memoryhub.errors import Conflict
from memoryhub.pipeline.embeddings import embedding_map
from memoryhub.pipeline.erasure import erase_targets
from memoryhub.pipeline.ingest.services import run_space
from memoryhub.pipeline.models import Job, SpaceMap
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.models import IndexEntry, Note
from tests.console.conftest import ConsoleWorld
from tests.support.factories import make_fact, make_note

EMBEDDER = "table/3"


@pytest.fixture(autouse=True)
def unrung(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "memoryhub.pipeline.ingest.services.ring_worker", lambda tenant_id, space_id: None
    )


@pytest.fixture
def drawn(world: ConsoleWorld) -> ConsoleWorld:
    """With vectors of seven memories, and a map of them."""
    with tenant_scope(world.tenant.id):
        Job.objects.all().delete()
        SpaceMap.objects.all().delete()
        Space.objects.filter(id=world.space.id).update(embedding_model=EMBEDDER)
        world.space.refresh_from_db()
        for number in range(5):
            make_index_entry(make_fact(world.space, f"hive {number}"), "fact", [1, number / 9, 0])
        make_index_entry(world.note, "note", [0, 1, 0])
        make_index_entry(world.segment, "segment", [0, 1, 0.1])
        embedding_map.begin_map(world.space, "ida", timezone.now())
    run_space(world.tenant.id, world.space.id)
    return world


def make_index_entry(row: Any, kind: str, vector: list[float]) -> IndexEntry:
    return IndexEntry.objects.create(
        tenant_id=row.tenant_id,
        space_id=row.space_id,
        kind=kind,
        owner_id=row.id,
        model=EMBEDDER,
        embedding=vector,
        words="",
        text_hash="",
    )


def get_map_page(browser: Client, world: ConsoleWorld, query: str = "", **headers: str) -> str:
    where = reverse("space-map", args=[world.space.id]) + query
    return browser.get(where, headers=headers).content.decode()


def get_map_data(browser: Client, world: ConsoleWorld) -> dict[str, Any]:
    found: dict[str, Any] = browser.get(reverse("space-map-data", args=[world.space.id])).json()
    return found


def get_space_map(world: ConsoleWorld) -> SpaceMap:
    with tenant_scope(world.tenant.id):
        found: SpaceMap = SpaceMap.objects.get(space=world.space)
    return found


def test_it_is_drawn_by_a_job_and_kept(browser: Client, drawn: ConsoleWorld) -> None:
    row = get_space_map(drawn)
    assert len(row.points) == 7
    assert row.done == row.total > 0
    assert row.embedder == EMBEDDER
    assert all(-1 <= part <= 1 for _, _, *place in row.points for part in place)
    page = get_map_page(browser, drawn)
    assert "7 memories, created" in page
    assert "by ida" in page


def test_points_have_kind_topic_and_tag(browser: Client, drawn: ConsoleWorld) -> None:
    with tenant_scope(drawn.tenant.id):
        page = drawn.segment.memberships.first()
        assert page
        Note.objects.filter(id=drawn.note.id).update(page=page.page)
    found = get_map_data(browser, drawn)
    rows = {row[2]: row for row in found["nodes"]}
    assert len(rows) == 7
    assert found["groups"] == {"segment": ["Keeping bees"], "tag": ["hobby"]}
    assert rows["Bees in Ghent"][7:] == [0, 0]
    assert rows["Keeping bees"][7:] == [0, -1]
    assert rows["hive 1"][7:] == [-1, -1]
    assert found["placed"] is True
    assert found["edges"] == []


def test_what_is_gone_is_not_on_the_map(browser: Client, drawn: ConsoleWorld) -> None:
    with tenant_scope(drawn.tenant.id):
        Note.objects.filter(id=drawn.note.id).update(retired_at=timezone.now())
    assert "Bees in Ghent" not in {row[2] for row in get_map_data(browser, drawn)["nodes"]}


def test_a_map_says_when_memories_have_changed(browser: Client, drawn: ConsoleWorld) -> None:
    assert "Memories have changed" not in get_map_page(browser, drawn)
    with tenant_scope(drawn.tenant.id):
        make_index_entry(make_note(drawn.space, "another hive"), "note", [1, 1, 0])
    page = get_map_page(browser, drawn)
    assert "Memories have changed" in page
    assert "Update the map" in page
    browser.post(reverse("space-map-begin", args=[drawn.space.id]))
    run_space(drawn.tenant.id, drawn.space.id)
    assert "Memories have changed" not in get_map_page(browser, drawn)
    assert len(get_space_map(drawn).points) == 8


def test_progress_is_shown_until_it_is_drawn(browser: Client, drawn: ConsoleWorld) -> None:
    browser.post(reverse("space-map-begin", args=[drawn.space.id]))
    part = get_map_page(browser, drawn, **{"HX-Request": "true"})
    assert "Creating the map: waiting for a worker" in part
    assert "<html" not in part
    run_space(drawn.tenant.id, drawn.space.id)
    where = reverse("space-map", args=[drawn.space.id])
    assert browser.get(where, headers={"HX-Request": "true"})["HX-Refresh"] == "true"


def test_it_is_not_drawn_twice_at_once(browser: Client, drawn: ConsoleWorld) -> None:
    with tenant_scope(drawn.tenant.id):
        embedding_map.begin_map(drawn.space, "ida", timezone.now())
        with pytest.raises(Conflict):
            embedding_map.begin_map(drawn.space, "ida", timezone.now() + timedelta(seconds=1))
    where = reverse("space-map-begin", args=[drawn.space.id])
    assert "is being drawn already" in browser.post(where, follow=True).content.decode()


def test_a_failure_is_told_with_its_reason(browser: Client, drawn: ConsoleWorld) -> None:
    with tenant_scope(drawn.tenant.id):
        Job.objects.filter(step=Job.Step.MAP).update(state="dead", error="MemoryError: too many")
    page = get_map_page(browser, drawn)
    assert "could not be created" in page
    assert "MemoryError: too many" in page


def test_a_space_without_vectors_has_an_empty_map(browser: Client, drawn: ConsoleWorld) -> None:
    with tenant_scope(drawn.tenant.id):
        IndexEntry.objects.all().delete()
        embedding_map.begin_map(drawn.space, "ida", timezone.now())
    run_space(drawn.tenant.id, drawn.space.id)
    assert get_space_map(drawn).points == []
    assert get_map_data(browser, drawn)["nodes"] == []


def test_what_is_erased_leaves_no_id_behind(drawn: ConsoleWorld) -> None:
    with tenant_scope(drawn.tenant.id):
        fact = make_fact(drawn.space, "to be erased", drawn.turn)
        row = SpaceMap.objects.get(space=drawn.space)
        row.points = [*row.points, ["fact", str(fact.id), 0, 0]]
        row.save()
    erase_targets.execute_erasure(
        drawn.space, erase_targets.ErasureTarget("turns", (drawn.turn.id,)), "ida", timezone.now()
    )
    assert str(fact.id) not in {point[1] for point in get_space_map(drawn).points}


def test_an_erasure_and_a_map_being_written_wait_for_each_other(drawn: ConsoleWorld) -> None:
    with tenant_scope(drawn.tenant.id), CaptureQueriesContext(connection) as said:
        embedding_map.remove_erased_points(drawn.space, [])
        embedding_map.begin_map(drawn.space, "ida", timezone.now())
    forgotten = next(each["sql"] for each in said if "spacemap" in each["sql"])
    assert "FOR UPDATE" in forgotten
    with CaptureQueriesContext(connection) as said:
        run_space(drawn.tenant.id, drawn.space.id)
    about = [each["sql"] for each in said if "spacemap" in each["sql"]]
    written = next(at for at, sql in enumerate(about) if '"points" = ' in sql)
    assert "FOR UPDATE" in about[written - 1]


def test_a_memory_erased_while_its_map_is_drawn_is_not_on_it(
    drawn: ConsoleWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    def project(vectors: Any, told: Any) -> Any:
        with tenant_scope(drawn.tenant.id):
            IndexEntry.objects.filter(owner_id=drawn.note.id).delete()
        return [(0.0, 0.0)] * len(vectors)

    with tenant_scope(drawn.tenant.id):
        embedding_map.begin_map(drawn.space, "ida", timezone.now())
    monkeypatch.setattr("memoryhub.pipeline.embeddings.embedding_map.project_to_plane", project)
    run_space(drawn.tenant.id, drawn.space.id)
    assert len(get_space_map(drawn).points) == 6
    assert str(drawn.note.id) not in {point[1] for point in get_space_map(drawn).points}


def test_the_table_shows_what_the_map_shows(browser: Client, drawn: ConsoleWorld) -> None:
    page = get_map_page(browser, drawn, "?view=table")
    assert "1 to 7 of 7" in page
    assert "Keeping bees" in page
    assert reverse("space-note", args=[drawn.space.id, drawn.note.id]) in page
    assert "1 to 1 of 1" in get_map_page(browser, drawn, "?view=table&q=hive+3")
    assert "1 to 5 of 5" in get_map_page(browser, drawn, "?view=table&kind=fact")
    assert "Nothing matches" in get_map_page(browser, drawn, "?view=table&q=nobody")


def test_without_a_map_it_says_how_to_have_one(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        SpaceMap.objects.all().delete()
    page = get_map_page(browser, world)
    assert "No map yet" in page
    assert "Create map" in page
    assert get_map_data(browser, world)["nodes"] == []
