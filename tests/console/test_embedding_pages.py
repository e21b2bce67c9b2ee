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
from memoryhub.pipeline import reembedding, runner
from memoryhub.pipeline.models import EmbeddingMigration, Job
from memoryhub.tenants.models import Space
from memoryhub.tenants.scope import tenant_scope
from notes import indexing
from tests.console.conftest import World
from tests.support.factories import MAY, make_recall, make_space
from tests.support.hub import TableEmbedder

FRAME = 13  # as in test_pages
OLD, NEW = TableEmbedder("old-8", 8), TableEmbedder("new-16", 16)


@pytest.fixture(autouse=True)
def two(monkeypatch: pytest.MonkeyPatch, world: World) -> None:
    """The old one is in use; the new one can be made by its name. What the world holds is
    embedded by the old one."""
    known = {"old-8": OLD, "new-16": NEW}
    monkeypatch.setattr(registry, "get_embedder", lambda settings: OLD)
    monkeypatch.setattr(registry, "embedder_named", lambda name, settings: known.get(name))
    monkeypatch.setattr("memoryhub.pipeline.services.ring", lambda *ids: None)
    with tenant_scope(world.tenant.id):
        entries = indexing.turn_entries([world.turn], world.space.speakers)
        indexing.write_entries(world.space, OLD.name, entries, indexing.embed_entries(entries, OLD))
        Job.objects.filter(space=world.space).delete()


def shown(browser: Client, name: str, *args: object, **query: Any) -> str:
    answer = browser.get(reverse(name, args=args), query)
    assert answer.status_code == 200
    return str(answer.content.decode())


def page(browser: Client, world: World) -> str:
    return shown(browser, "embedding", world.space.id)


def begun(browser: Client, world: World, **form: str) -> str:
    form = {"to": "new-16", "flips": "no"} | form
    where = reverse("embedding-begin", args=[world.space.id])
    return browser.post(where, form, follow=True).content.decode()


def decided(browser: Client, world: World, decision: str) -> str:
    where = reverse("embedding-decide", args=[world.space.id])
    return browser.post(where, {"decision": decision}, follow=True).content.decode()


def worked(world: World) -> None:
    runner.run_space(world.tenant.id, world.space.id)


def searched_by(world: World) -> str:
    with tenant_scope(world.tenant.id):
        return Space.objects.get(id=world.space.id).embedding_model


def test_the_list_says_by_whom_each_space_is_searched(browser: Client, world: World) -> None:
    listed = shown(browser, "embeddings")
    assert "1 of 1 space is searched by it" in listed
    assert "old-8" in listed
    assert world.space.subject in listed
    assert "Nothing matches" in shown(browser, "embeddings", q="nobody")
    assert "Nothing matches" in shown(browser, "embeddings", state="open")
    begun(browser, world)
    assert world.space.subject in shown(browser, "embeddings", state="open")
    assert "every 3s" in shown(browser, "embeddings")


def test_E17_filled_compared_cut_over_and_rolled_back(browser: Client, world: World) -> None:
    with tenant_scope(world.tenant.id):
        make_recall(world.space, "What of the bees?", world.fact)
    said = begun(browser, world)
    assert "Begun." in said
    assert "every 2s" in said
    assert "0 of 1 memories embedded" in said
    worked(world)
    filled = page(browser, world)
    assert "1 of 1 memories embedded" in filled
    assert "Filled: to be compared" in filled
    assert "every 2s" not in filled
    assert "A worker compares them" in decided(browser, world, "compare")
    assert "A worker asks both" in page(browser, world)
    worked(world)
    compared = page(browser, world)
    # The golden question, and what was asked lately: the logged one that is no golden one.
    assert "2 questions, 1 of them golden" in compared
    assert "Expected memories among the first 10" in compared
    assert searched_by(world) == "old-8"
    decided(browser, world, "cut-over")
    assert searched_by(world) == "new-16"
    assert "Cut over" in page(browser, world)
    decided(browser, world, "roll-back")
    assert searched_by(world) == "old-8"
    assert "Rolled back" in page(browser, world)
    decided(browser, world, "drop")
    assert "What to do" not in page(browser, world)  # it is over


def test_E17_paused_gone_on_with_and_called_off(browser: Client, world: World) -> None:
    begun(browser, world)
    assert "Paused" in decided(browser, world, "pause")
    worked(world)
    assert "0 of 1 memories embedded" in page(browser, world)
    assert "It goes on where it stopped" in decided(browser, world, "resume")
    worked(world)
    assert "1 of 1 memories embedded" in page(browser, world)
    assert "the new vectors are gone" in decided(browser, world, "cancel")
    assert (
        "new-16"
        not in page(browser, world)
        .split("Fill another embedder")[0]
        .split("Vectors")[1]
        .split("Migration")[0]
    )


def test_E17_forced_it_is_searched_at_once(browser: Client, world: World) -> None:
    begun(browser, world)
    decided(browser, world, "force")
    assert searched_by(world) == "new-16"


def test_it_cuts_over_by_itself_when_told_so(browser: Client, world: World) -> None:
    assert "It cuts over with the last vector" in begun(browser, world, flips="yes")
    worked(world)
    assert searched_by(world) == "new-16"


@pytest.mark.parametrize("to", ["", "nobody-9", "old-8", "x" * 500, "new\0-16\0?"])
def test_what_can_not_be_begun_is_said(browser: Client, world: World, to: str) -> None:
    assert "Not done" in begun(browser, world, to=to)
    with tenant_scope(world.tenant.id):
        assert not EmbeddingMigration.objects.exists()


@pytest.mark.parametrize("decision", ["cut-over", "roll-back", "drop", "pause", "compare"])
def test_decisions_need_a_migration_in_the_right_state(
    browser: Client, world: World, decision: str
) -> None:
    assert "Not done" in decided(browser, world, decision)


def test_an_unknown_decision_is_not_found(browser: Client, world: World) -> None:
    where = reverse("embedding-decide", args=[world.space.id])
    assert browser.post(where, {"decision": "explode"}).status_code == 404


def test_one_at_a_time(browser: Client, world: World) -> None:
    begun(browser, world)
    assert "under way" in begun(browser, world)


def test_all_spaces_are_begun_at_once(browser: Client, world: World) -> None:
    with tenant_scope(world.tenant.id):
        make_space(world.tenant, "empty")  # nothing is embedded there
    where, form = reverse("embeddings-begin"), {"to": "new-16", "flips": "no"}
    answer = browser.post(where, form, follow=True)
    assert b"Begun in 1 space." in answer.content
    assert b"Nothing to begin" in browser.post(where, form, follow=True).content
    assert b"there is no embedder" in browser.post(where, {"to": "?"}, follow=True).content
    only = browser.post(where, form | {"q": "nobody"}, follow=True)
    assert b"Nothing to begin" in only.content


def test_it_is_tried_question_by_question(browser: Client, world: World) -> None:
    begun(browser, world)
    worked(world)
    said = decided(browser, world, "try")
    with tenant_scope(world.tenant.id):
        replay = ReplayRun.objects.get(embedder="new-16")
    assert "Embedder new-16 on 1 golden question" in said
    worked(world)
    done = shown(browser, "replay", replay.id)
    assert reverse("embedding", args=[world.space.id]) in done


def test_the_polling_browser_loads_anew_once_it_is_filled(browser: Client, world: World) -> None:
    begun(browser, world)
    where = reverse("embedding", args=[world.space.id])
    part = browser.get(where, headers={"HX-Request": "true"})
    assert b"<h1>" not in part.content
    assert "HX-Refresh" not in part
    worked(world)
    assert browser.get(where, headers={"HX-Request": "true"})["HX-Refresh"] == "true"


def test_a_failing_embedder_is_told(
    browser: Client, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(browser, world)

    def fails(*of: object) -> None:
        raise EngineError("the endpoint is closed")

    monkeypatch.setattr(indexing, "embed_entries", fails)
    worked(world)
    told = page(browser, world)
    assert "1 attempt failed" in told
    assert "the endpoint is closed" in told
    assert "Go on" in told
    assert reembedding.OPEN


def test_an_embedder_that_can_not_be_made_is_told(
    browser: Client, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*of: object) -> None:
        raise EngineError("MEMORYHUB_EMBEDDING_MODEL is not set", permanent=True)

    monkeypatch.setattr(registry, "get_embedder", fails)
    assert "MEMORYHUB_EMBEDDING_MODEL is not set" in shown(browser, "embeddings")
    assert "MEMORYHUB_EMBEDDING_MODEL is not set" in page(browser, world)


@pytest.mark.parametrize(("name", "most"), [("embeddings", 5), ("embedding", 9)])
def test_statements_do_not_grow_with_the_rows(
    browser: Client,
    world: World,
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
