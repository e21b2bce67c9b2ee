"""The recall log's pages: what can be found there, and what one question shows."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import override
from pytest_django import DjangoAssertNumQueries

from memoryhub.console.frame.text.recall_words import format_recall_term
from memoryhub.console.pages.search.explanation import STAGE_ORDER
from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.erasure.erase_targets import ErasureTarget, execute_erasure
from memoryhub.policies.schema import CHANNELS
from memoryhub.recall.models import RecallLog
from memoryhub.recall.ranking.weights import Weights
from memoryhub.tenants.scope import tenant_scope
from tests.console.conftest import ConsoleWorld
from tests.support.factories import make_fact, make_recall, make_space


def get_list_page(browser: Client, **query: str) -> str:
    return browser.get(reverse("recalls"), query).content.decode()


def get_recall_page(browser: Client, log: RecallLog) -> str:
    return browser.get(reverse("recall", args=[log.id])).content.decode()


def test_questions_are_listed_searched_and_filtered(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        make_recall(world.space, "Any wasps?", insufficient=True, via="api")
        make_recall(
            world.space, "Any hornets?", degraded=["router"], form="context", pending_turns=2
        )
    everything = get_list_page(browser)
    for words in ("Where are the bees?", "Any wasps?", "Any hornets?", "without router"):
        assert words in everything
    assert "3 questions" in everything
    for query, found in (
        ({"q": "wasps"}, "Any wasps?"),
        ({"outcome": "insufficient"}, "Any wasps?"),
        ({"outcome": "degraded"}, "Any hornets?"),
        ({"outcome": "pending"}, "Any hornets?"),
        ({"outcome": "good"}, "Where are the bees?"),
        ({"form": "context"}, "Any hornets?"),
        ({"via": "api"}, "Any wasps?"),
        ({"memory": str(world.fact.id)}, "Where are the bees?"),
    ):
        shown = get_list_page(browser, **query)
        assert found in shown
        assert "1 question<" in shown
    assert "0 questions" in get_list_page(browser, q="elephants")
    assert "3 questions" in get_list_page(browser, memory="no id", days="x", page="99")


def test_a_question_shows_its_way_its_results_and_what_was_left(
    browser: Client, world: ConsoleWorld
) -> None:
    gone = str(uuid4())
    with tenant_scope(world.tenant.id):
        other = make_fact(world.space, "Wasps live under the roof", world.turn)
        left = {"kind": "fact", "detail": "", "score": 0.2, "of": None, "found": []}
        log = make_recall(
            world.space,
            "Any wasps?",
            world.fact,
            dropped=[
                {**left, "id": str(other.id), "why": "below_floor"},
                {**left, "id": gone, "why": "duplicate", "of": str(world.fact.id)},
            ],
            took_ms={"pack": 2.0, "route": 1.5, "candidates": 3.0},
            milliseconds=4.5,
            tokens=120,
            options={"budget_tokens": 500},
        )
    shown = get_recall_page(browser, log)
    for words in (
        "the question asks for a fact",
        "I keep bees in Ghent",
        "Wasps live under the roof",
        "not relevant enough",
        "no longer exists",
        "covered by another",
        "120 of 500 tokens",
        "finding candidates 3.0 ms",
        '1.00 <i class="dot tone-1"></i> meaning + 0.50 <i class="dot tone-2"></i> words',
        'class="tone-1"',
        "meaning #1 (0.60)",
    ):
        assert words in shown
    assert reverse("space-fact", args=[world.space.id, world.fact.id]) in shown
    said = ("understanding the question 1.5", "finding candidates 3.0", "packing 2.0")
    stages = [shown.index(f"{stage} ") for stage in said]
    assert stages == sorted(stages)


def test_of_many_things_left_out_the_first_are_in_sight(
    browser: Client, world: ConsoleWorld
) -> None:
    left = {"kind": "fact", "detail": "", "score": 0.2, "of": None, "found": [], "why": "faded"}
    with tenant_scope(world.tenant.id):
        facts = [make_fact(world.space, f"Bee number {n}.", world.turn) for n in range(13)]
        dropped = [{**left, "id": str(fact.id)} for fact in facts]
        log = make_recall(world.space, "Any bees?", dropped=dropped)
    shown = get_recall_page(browser, log)
    assert "<summary>3 more</summary>" in shown
    assert shown.index("Bee number 9.") < shown.index("3 more") < shown.index("Bee number 10.")


def test_core_memory_is_counted_and_no_words_of_it_are_kept(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        log = make_recall(world.space, "bees?", world.fact, world.turn, form="context")
        log.items.filter(place=1).update(section="core", kind="core")
    assert "These were preceded by 1 part of core memory" in get_recall_page(browser, log)


@pytest.mark.parametrize("count", [1, 12])
def test_a_question_takes_as_many_statements_for_one_result_as_for_many(
    browser: Client,
    world: ConsoleWorld,
    count: int,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    with tenant_scope(world.tenant.id):
        facts = [make_fact(world.space, f"Bee {n}", world.turn) for n in range(count)]
        log = make_recall(world.space, "bees", *facts)
    with django_assert_max_num_queries(22):
        get_recall_page(browser, log)


@pytest.mark.parametrize("count", [1, 12])
def test_a_list_takes_as_many_statements_for_one_question_as_for_many(
    browser: Client,
    world: ConsoleWorld,
    count: int,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    with tenant_scope(world.tenant.id):
        for at in range(count):
            make_recall(world.space, f"bees {at}", via="api", asked_by=str(world.key.id))
    with django_assert_num_queries(15):
        get_list_page(browser)


def test_who_asked_is_said_by_the_names_of_keys(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        log = make_recall(world.space, "Any wasps?", via="api", asked_by=str(world.key.id))
        make_recall(world.space, "Any hornets?", via="chat", asked_by="ida")
    assert f"API key {world.key.name}" in get_list_page(browser)
    assert "chat ida" in get_list_page(browser)
    assert f"Search by API key {world.key.name}" in get_recall_page(browser, log)


def test_filters_keep_the_space_and_the_memory_they_are_set_in(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        other = make_space(world.tenant, "Otto")
        make_recall(other, "Any wasps?")
    shown = get_list_page(browser, space=str(world.space.id), memory=str(world.fact.id))
    assert f'name="space" value="{world.space.id}"' in shown
    assert f'name="memory" value="{world.fact.id}"' in shown
    assert "Any wasps?" not in shown
    assert "1 question<" in get_list_page(browser, space=str(other.id))


def test_a_log_of_nothing_says_so_and_when_it_is_off(
    browser: Client, world: ConsoleWorld, settings: Any
) -> None:
    with tenant_scope(world.tenant.id):
        RecallLog.objects.all().delete()
    assert "No questions yet" in get_list_page(browser)
    assert "Nothing matches" in get_list_page(browser, outcome="degraded")
    settings.RECALL_LOG_DAYS = 0
    assert "Logging is off" in get_list_page(browser)


def test_a_context_shows_the_block_in_words_of_today(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        log = make_recall(world.space, "bees?", world.fact, world.turn, form="context", tokens=90)
        for item, section in zip(log.items.all(), ("facts", "raw"), strict=True):
            item.section = section
            item.save()
    shown = get_recall_page(browser, log)
    assert "## Facts" in shown
    assert "- [f1] " in shown
    assert "90 tokens then" in shown


def test_X6_what_was_erased_has_no_words_on_the_page(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        log = make_recall(world.space, "bees?", world.turn, form="context")
        log.items.update(section="raw")
        words = world.turn.text
    assert words in get_recall_page(browser, log)
    with tenant_scope(world.tenant.id):
        world.turn.state = Turn.State.REDACTED
        world.turn.save()
    assert words not in get_recall_page(browser, log)
    assert "no longer exists" in get_recall_page(browser, log)


def test_X6_an_erasure_takes_the_question_too(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        log = make_recall(world.space, "bees?", world.turn)
    execute_erasure(world.space, ErasureTarget("turns", (world.turn.id,)), "test", timezone.now())
    assert browser.get(reverse("recall", args=[log.id])).status_code == 404


@pytest.mark.parametrize("kind", ["fact", "note"])
def test_a_memory_shows_the_latest_questions_and_leads_to_all(
    browser: Client, world: ConsoleWorld, kind: str
) -> None:
    memory = getattr(world, kind)
    with tenant_scope(world.tenant.id):
        for at in range(7):
            make_recall(world.space, f"Question number {at}", memory)
        total = RecallLog.objects.filter(items__memory_id=memory.id).count()
    answer = browser.get(reverse(f"space-{kind}", args=[world.space.id, memory.id]))
    shown = answer.content.decode()
    assert "Question number 6" in shown
    assert "Question number 1" not in shown
    address = f"{reverse('recalls')}?space={world.space.id}&amp;memory={memory.id}"
    assert f'href="{address}">All {total}<' in shown


def test_channels_and_parts_of_a_score_are_said_in_the_readers_language() -> None:
    assert format_recall_term("stm") == "latest exchanges"
    assert format_recall_term("of_another_version") == "of another version"
    with override("zh-hans"):
        parts = (*Weights.model_fields, "kept", "rerank", "source")
        for name in (*CHANNELS, *STAGE_ORDER, *parts, "window", "fused", "limit"):
            assert format_recall_term(name) != name, name
