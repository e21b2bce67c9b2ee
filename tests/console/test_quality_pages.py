"""The quality centre: rates of a tenant, evidence of a space, and one click to put it right."""

from __future__ import annotations

from typing import Any

from django.test import Client
from django.urls import reverse

from memoryhub.tenants.models import Membership
from memoryhub.tenants.scope import tenant_scope
from notes.models import EvolutionEvent, Fact
from tests.console.conftest import ConsoleWorld, make_world
from tests.support.factories import make_fact, make_member, make_reading, make_space


def make_duplicate_pair(world: ConsoleWorld) -> tuple[Fact, Fact]:
    with tenant_scope(world.tenant.id):
        older = make_fact(world.space, "Nora keeps bees", world.turn)
        newer = make_fact(world.space, "Nora is keeping bees", world.turn)
        sample = {"fact": str(newer.id), "other": str(older.id), "cosine": 0.97}
        make_reading(world.space, samples=[sample])
    return older, newer


def request_page(client: Client, name: str, *ids: Any, query: str = "", **sent: Any) -> str:
    where = reverse(name, args=ids) + query
    answer = client.post(where, sent, follow=True) if sent else client.get(where)
    return answer.content.decode()


def test_the_tenant_sees_rates_and_the_worst_spaces_first(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        other = make_space(world.tenant)
        make_reading(world.space, found=1, of=4)
        make_reading(other, found=3, of=4)
        make_reading(other, signal="stale", found=0, of=4)
    shown = request_page(browser, "quality")
    assert "4 of 8" in shown
    assert "50 %" in shown
    assert "2 spaces measured" in shown
    assert shown.index(f"/spaces/{other.id}/quality") < shown.index(
        f"/spaces/{world.space.id}/quality"
    )
    assert "at least 0.95 similar" in shown
    assert "None found" in request_page(browser, "quality", query="?signal=stale")


def test_before_anything_was_measured_the_page_says_so(
    browser: Client, world: ConsoleWorld
) -> None:
    page = request_page(browser, "quality")
    assert "Not measured yet." in page
    assert "None found" not in page
    assert "Not measured yet" in request_page(browser, "space-quality", world.space.id)


def test_readings_of_another_tenant_do_not_count(browser: Client, world: ConsoleWorld) -> None:
    other = make_world("Other")
    make_duplicate_pair(other)
    assert "Not measured yet." in request_page(browser, "quality")


def test_a_pair_is_shown_with_its_words_and_merged(browser: Client, world: ConsoleWorld) -> None:
    older, newer = make_duplicate_pair(world)
    shown = request_page(browser, "space-quality", world.space.id)
    for words in ("Nora keeps bees", "Nora is keeping bees", "similarity 97 %", "1 of 4 facts"):
        assert words in shown
    sent = {"action": "merge", "other": str(older.id), "signal": "duplicates"}
    done = request_page(browser, "space-quality-act", world.space.id, newer.id, **sent)
    assert "Merged into the other one." in done
    assert "Undo" in done
    with tenant_scope(world.tenant.id):
        event = EvolutionEvent.objects.get(reason="quality: duplicates")
        assert event.actor == world.admin.username
        assert Fact.objects.get(id=newer.id).retired_at is not None
        assert Fact.objects.get(id=older.id).mention_count == 2
    assert "Nora is keeping bees" not in request_page(browser, "space-quality", world.space.id)
    browser.post(reverse("space-event", args=[world.space.id, event.id]))
    with tenant_scope(world.tenant.id):
        assert Fact.objects.get(id=newer.id).retired_at is None
    assert "Nora is keeping bees" in request_page(browser, "space-quality", world.space.id)


def test_a_fact_is_retired_under_the_editors_name(client: Client, world: ConsoleWorld) -> None:
    older, _ = make_duplicate_pair(world)
    editor = make_member(world.tenant, Membership.Role.EDITOR)
    client.force_login(editor)
    sent = {"action": "retire", "signal": "stale"}
    assert "Hidden" in request_page(client, "space-quality-act", world.space.id, older.id, **sent)
    with tenant_scope(world.tenant.id):
        assert Fact.objects.get(id=older.id).retired_at is not None
        assert EvolutionEvent.objects.get(reason="quality: stale").actor == editor.username
    again = request_page(client, "space-quality-act", world.space.id, older.id, **sent)
    assert "Nothing was changed: this is not held any more" in again


def test_a_fact_is_merged_with_another_one_of_its_space_only(
    browser: Client, world: ConsoleWorld
) -> None:
    older, newer = make_duplicate_pair(world)
    theirs = make_world("Other").fact
    for other in ("", "x", str(newer.id), str(theirs.id)):
        sent = {"action": "merge", "other": other, "signal": "duplicates"}
        shown = request_page(browser, "space-quality-act", world.space.id, newer.id, **sent)
        assert "Nothing was changed" in shown
    with tenant_scope(world.tenant.id):
        assert Fact.objects.get(id=older.id).mention_count == 1


def test_an_editor_measures_now(browser: Client, world: ConsoleWorld) -> None:
    shown = request_page(browser, "space-quality-measure", world.space.id, signal="unrecalled")
    assert "Measured." in shown
    assert 'href="?signal=unrecalled" aria-current="page"' in shown
    assert "of 1 facts" in shown


def test_a_viewer_looks_and_touches_nothing(client: Client, world: ConsoleWorld) -> None:
    make_duplicate_pair(world)
    client.force_login(make_member(world.tenant, Membership.Role.VIEWER))
    shown = request_page(client, "space-quality", world.space.id)
    assert "Nora keeps bees" in shown
    assert "Hide" not in shown
    assert "Measure now" not in shown
