"""What was said of memories, as the activity lists it."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from memoryhub.tenants.scope import tenant_scope
from notes.feedback import judge
from notes.models import Page
from tests.console.conftest import World, make_world


def listed(browser: Client, **query: str) -> str:
    return browser.get(reverse("feedback"), query).content.decode()


@pytest.fixture
def judged(world: World) -> World:
    now = timezone.now()
    with tenant_scope(world.tenant.id):
        judge(world.fact, "wrong", "ida", now, reason="She sold them.", recall_id=uuid4())
        judge(world.fact, "positive", "backend", now)
        judge(world.note, "negative", "ida", now - timedelta(days=3), reason="Too short.")
        judge(world.turn, "very_negative", "ida", now - timedelta(days=40))
        judge(world.episode, "positive", "ida", now)
    return world


def test_words_on_memories_are_listed_searched_and_filtered(browser: Client, judged: World) -> None:
    everything = listed(browser)
    assert "5 verdicts" in everything
    for name in ("fact", "note", "turn", "episode"):
        memory = getattr(judged, name)
        where = reverse(f"space-{name}", args=[judged.space.id, memory.id])
        assert f'href="{where}"' in everything
    for query, count in (
        ({"verdict": "unfit"}, 3),
        ({"verdict": "unfit", "days": "30"}, 2),
        ({"verdict": "unfit", "days": "1"}, 1),
        ({"verdict": "positive"}, 2),
        ({"q": "sold"}, 1),
        ({"q": "backend"}, 1),
        ({"days": "x", "verdict": "x", "page": "99"}, 5),
    ):
        assert f"{count} verdict{'s' * (count > 1)}<" in listed(browser, **query)
    assert "No verdict fits these filters" in listed(browser, q="elephants")
    assert f"{reverse('recalls')}?space={judged.space.id}&amp;memory={judged.fact.id}" in everything


def test_a_word_outlives_the_memory_and_an_exchange_has_no_page(
    browser: Client, judged: World
) -> None:
    with tenant_scope(judged.tenant.id):
        judge(Page.objects.filter(space=judged.space)[0], "negative", "ida", timezone.now())
        judged.note.delete()
    shown = listed(browser)
    assert '<span class="title">' in shown
    assert "gone since" in shown
    assert str(judged.note.id) not in shown


def test_another_tenants_words_are_not_listed(browser: Client, world: World) -> None:
    other = make_world("Other")
    with tenant_scope(other.tenant.id):
        judge(other.fact, "wrong", "ida", timezone.now())
    assert "Nobody has said anything of a memory" in listed(browser)
