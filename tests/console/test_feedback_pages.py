"""What was said of memories, as the activity lists it."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from memoryhub.tenants.scope import tenant_scope
from notes.models import Page
from notes.quality.feedback import set_feedback
from tests.console.conftest import ConsoleWorld, make_world


def get_list_page(browser: Client, **query: str) -> str:
    return browser.get(reverse("feedback"), query).content.decode()


@pytest.fixture
def judged(world: ConsoleWorld) -> ConsoleWorld:
    now = timezone.now()
    with tenant_scope(world.tenant.id):
        set_feedback(world.fact, "wrong", "ida", now, reason="She sold them.", recall_id=uuid4())
        set_feedback(world.fact, "positive", "backend", now)
        set_feedback(world.note, "negative", "ida", now - timedelta(days=3), reason="Too short.")
        set_feedback(world.turn, "very_negative", "ida", now - timedelta(days=40))
        set_feedback(world.episode, "positive", "ida", now)
    return world


def test_words_on_memories_are_listed_searched_and_filtered(
    browser: Client, judged: ConsoleWorld
) -> None:
    everything = get_list_page(browser)
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
        assert f"{count} verdict{'s' * (count > 1)}<" in get_list_page(browser, **query)
    assert "No verdict fits these filters" in get_list_page(browser, q="elephants")
    assert f"{reverse('recalls')}?space={judged.space.id}&amp;memory={judged.fact.id}" in everything


def test_a_word_outlives_the_memory_and_an_exchange_has_no_page(
    browser: Client, judged: ConsoleWorld
) -> None:
    with tenant_scope(judged.tenant.id):
        set_feedback(Page.objects.filter(space=judged.space)[0], "negative", "ida", timezone.now())
        judged.note.delete()
    shown = get_list_page(browser)
    assert '<span class="title">' in shown
    assert "no longer exists" in shown
    assert str(judged.note.id) not in shown


def test_another_tenants_words_are_not_listed(browser: Client, world: ConsoleWorld) -> None:
    other = make_world("Other")
    with tenant_scope(other.tenant.id):
        set_feedback(other.fact, "wrong", "ida", timezone.now())
    assert "No feedback yet" in get_list_page(browser)
