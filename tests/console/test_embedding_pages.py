"""From one embedder to another, on the console's pages (E17)."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from memoryhub.engines import registry
from memoryhub.errors import EngineError
from memoryhub.golden.models import ReplayRun
from memoryhub.pipeline.jobs import runner
from memoryhub.pipeline.models import EmbeddingMigration, Job
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes.index import indexer
from tests.console.conftest import ConsoleWorld
from tests.support.factories import MAY, make_recall, make_space
from tests.support.hub import TableEmbedder

FRAME = 13  # as in test_pages
OLD, NEW = TableEmbedder("old-8", 8), TableEmbedder("new-16", 16)


@pytest.fixture(autouse=True)
def two(monkeypatch: pytest.MonkeyPatch, world: ConsoleWorld) -> None:
    """The old one is in use; the new one can be made by its name. What the world holds is
    embedded by the old one."""
    known = {"old-8": OLD, "new-16": NEW}
    monkeypatch.setattr(registry, "get_embedder", lambda settings: OLD)
    monkeypatch.setattr(registry, "find_embedder", lambda name, settings: known.get(name))
    monkeypatch.setattr("memoryhub.pipeline.ingest.services.ring_worker", lambda *ids: None)
    with tenant_scope(world.tenant.id):
        entries = indexer.build_turn_entries([world.turn], world.space.speakers)
        indexer.write_entries(world.space, OLD.name, entries, indexer.embed_entries(entries, OLD))
        Job.objects.filter(space=world.space).delete()


def get_page(browser: Client, name: str, *args: object, **query: Any) -> str:
    answer = browser.get(reverse(name, args=args), query)
    assert answer.status_code == 200
    return str(answer.content.decode())


def get_embedding_page(browser: Client, world: ConsoleWorld) -> str:
    return get_page(browser, "embedding", world.space.id)


def post_migration(browser: Client, world: ConsoleWorld, **form: str) -> str:
    form = {"to": "new-16", "flips": "no"} | form
    where = reverse("embedding-begin", args=[world.space.id])
    return browser.post(where, form, follow=True).content.decode()


def post_decision(browser: Client, world: ConsoleWorld, decision: str) -> str:
    where = reverse("embedding-decide", args=[world.space.id])
    return browser.post(where, {"decision": decision}, follow=True).content.decode()


def run_due_steps(world: ConsoleWorld) -> None:
    runner.run_space(world.tenant.id, world.space.id)


def get_search_model(world: ConsoleWorld) -> str:
    with tenant_scope(world.tenant.id):
        return Space.objects.get(id=world.space.id).embedding_model


def test_the_list_says_by_whom_each_space_is_searched(browser: Client, world: ConsoleWorld) -> None:
    listed = get_page(browser, "embeddings")
    assert "1 of 1 space uses it" in listed
    assert "old-8" in listed
    assert world.space.subject in listed
    assert "Nothing matches" in get_page(browser, "embeddings", q="nobody")
    assert "Nothing matches" in get_page(browser, "embeddings", state="open")
    post_migration(browser, world)
    assert world.space.subject in get_page(browser, "embeddings", state="open")
    assert "every 3s" in get_page(browser, "embeddings")


def test_E17_filled_compared_cut_over_and_rolled_back(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        make_recall(world.space, "What of the bees?", world.fact)
    said = post_migration(browser, world)
    assert "Started." in said
    assert "every 2s" in said
    assert "0 of 1 memories embedded" in said
    run_due_steps(world)
    filled = get_embedding_page(browser, world)
    assert "1 of 1 memories embedded" in filled
    assert "Filled, ready to compare" in filled
    assert "every 2s" not in filled
    assert "Comparison started" in post_decision(browser, world, "compare")
    assert "A worker is querying both" in get_embedding_page(browser, world)
    run_due_steps(world)
    compared = get_embedding_page(browser, world)
    # The golden question, and what was asked lately: the logged one that is no golden one.
    assert "2 questions, 1 of them test questions" in compared
    assert "Expected memories in the top 10" in compared
    assert get_search_model(world) == "old-8"
    post_decision(browser, world, "cut-over")
    assert get_search_model(world) == "new-16"
    assert "Switch over" in get_embedding_page(browser, world)
    post_decision(browser, world, "roll-back")
    assert get_search_model(world) == "old-8"
    assert "Rolled back" in get_embedding_page(browser, world)
    post_decision(browser, world, "drop")
    assert 'aria-label="Actions"' not in get_embedding_page(browser, world)  # it is over


def test_E17_paused_gone_on_with_and_called_off(browser: Client, world: ConsoleWorld) -> None:
    post_migration(browser, world)
    assert "Paused" in post_decision(browser, world, "pause")
    run_due_steps(world)
    assert "0 of 1 memories embedded" in get_embedding_page(browser, world)
    assert "It continues where it stopped" in post_decision(browser, world, "resume")
    run_due_steps(world)
    assert "1 of 1 memories embedded" in get_embedding_page(browser, world)
    assert "the new vectors were deleted" in post_decision(browser, world, "cancel")
    assert (
        "new-16"
        not in get_embedding_page(browser, world)
        .split("Switch to another embedder")[0]
        .split("Vectors")[1]
        .split("Migration")[0]
    )


def test_E17_forced_it_is_searched_at_once(browser: Client, world: ConsoleWorld) -> None:
    post_migration(browser, world)
    post_decision(browser, world, "force")
    assert get_search_model(world) == "new-16"


def test_it_cuts_over_by_itself_when_told_so(browser: Client, world: ConsoleWorld) -> None:
    assert "It switches over when the last vector is ready" in post_migration(
        browser, world, flips="yes"
    )
    run_due_steps(world)
    assert get_search_model(world) == "new-16"


@pytest.mark.parametrize("to", ["", "nobody-9", "old-8", "x" * 500, "new\0-16\0?"])
def test_what_can_not_be_begun_is_said(browser: Client, world: ConsoleWorld, to: str) -> None:
    assert "Not done" in post_migration(browser, world, to=to)
    with tenant_scope(world.tenant.id):
        assert not EmbeddingMigration.objects.exists()


@pytest.mark.parametrize("decision", ["cut-over", "roll-back", "drop", "pause", "compare"])
def test_decisions_need_a_migration_in_the_right_state(
    browser: Client, world: ConsoleWorld, decision: str
) -> None:
    assert "Not done" in post_decision(browser, world, decision)


def test_an_unknown_decision_is_not_found(browser: Client, world: ConsoleWorld) -> None:
    where = reverse("embedding-decide", args=[world.space.id])
    assert browser.post(where, {"decision": "explode"}).status_code == 404


def test_one_at_a_time(browser: Client, world: ConsoleWorld) -> None:
    post_migration(browser, world)
    assert "under way" in post_migration(browser, world)


def test_all_spaces_are_begun_at_once(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        make_space(world.tenant, "empty")  # nothing is embedded there
    where, form = reverse("embeddings-begin"), {"to": "new-16", "flips": "no"}
    answer = browser.post(where, form, follow=True)
    assert b"Started in 1 space." in answer.content
    assert b"Nothing to start" in browser.post(where, form, follow=True).content
    assert b"there is no embedder" in browser.post(where, {"to": "?"}, follow=True).content
    only = browser.post(where, form | {"q": "nobody"}, follow=True)
    assert b"Nothing to start" in only.content


def test_it_is_tried_question_by_question(browser: Client, world: ConsoleWorld) -> None:
    post_migration(browser, world)
    run_due_steps(world)
    said = post_decision(browser, world, "try")
    with tenant_scope(world.tenant.id):
        replay = ReplayRun.objects.get(embedder="new-16")
    assert "Embedder new-16 on 1 test question" in said
    run_due_steps(world)
    done = get_page(browser, "replay", replay.id)
    assert reverse("embedding", args=[world.space.id]) in done


def test_the_polling_browser_loads_anew_once_it_is_filled(
    browser: Client, world: ConsoleWorld
) -> None:
    post_migration(browser, world)
    where = reverse("embedding", args=[world.space.id])
    part = browser.get(where, headers={"HX-Request": "true"})
    assert b"<h1>" not in part.content
    assert "HX-Refresh" not in part
    run_due_steps(world)
    assert browser.get(where, headers={"HX-Request": "true"})["HX-Refresh"] == "true"


def test_a_failing_embedder_is_told(
    browser: Client, world: ConsoleWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    post_migration(browser, world)

    def fails(*of: object) -> None:
        raise EngineError("the endpoint is closed")

    monkeypatch.setattr(indexer, "embed_entries", fails)
    run_due_steps(world)
    told = get_embedding_page(browser, world)
    assert "1 failed attempt" in told
    assert "the endpoint is closed" in told
    assert "Resume" in told
    assert EmbeddingMigration.OPEN_STATES


def test_an_embedder_that_can_not_be_made_is_told(
    browser: Client, world: ConsoleWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*of: object) -> None:
        raise EngineError("MEMORYHUB_EMBEDDING_MODEL is not set", permanent=True)

    monkeypatch.setattr(registry, "get_embedder", fails)
    assert "MEMORYHUB_EMBEDDING_MODEL is not set" in get_page(browser, "embeddings")
    assert "MEMORYHUB_EMBEDDING_MODEL is not set" in get_embedding_page(browser, world)


@pytest.mark.parametrize(("name", "most"), [("embeddings", 9), ("embedding", 9)])
def test_statements_do_not_grow_with_the_rows(
    browser: Client,
    world: ConsoleWorld,
    name: str,
    most: int,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    with tenant_scope(world.tenant.id):
        for number in range(20):
            space = make_space(world.tenant)
            Space.objects.filter(id=space.id).update(embedding_model="old-8")
            for row in (space, world.space):
                EmbeddingMigration.objects.create(
                    tenant=world.tenant,
                    space=row,
                    old="old-8",
                    new=f"new-{number}",
                    configured="old-8",
                    state="done",
                    actor="ida",
                    created_at=MAY,
                    changed_at=MAY,
                )
    ids = [world.space.id] if name == "embedding" else []
    with django_assert_max_num_queries(most + FRAME):
        assert browser.get(reverse(name, args=ids)).status_code == 200
