"""Golden questions and replays in the console."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from memoryhub.engines import registry
from memoryhub.golden.models import GoldenQuestion, ReplayAnswer, ReplayRun
from memoryhub.pipeline.jobs import runner
from memoryhub.policies.services import load_effective_policy
from memoryhub.policies.switches import SWITCHES
from memoryhub.tenants.scope import tenant_scope
from tests.console.conftest import ConsoleWorld, make_world
from tests.support.factories import make_fact, make_question
from tests.support.hub import TableEmbedder


@pytest.fixture(autouse=True)
def table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "get_embedder", lambda settings: TableEmbedder())


def get_page(browser: Client, name: str, *args: object, **query: Any) -> str:
    answer = browser.get(reverse(name, args=args), query)
    assert answer.status_code == 200
    return str(answer.content.decode())


def list_questions(world: ConsoleWorld) -> list[GoldenQuestion]:
    with tenant_scope(world.tenant.id):
        return list(GoldenQuestion.objects.filter(retired_at=None))


def test_the_list_shows_what_each_should_find_and_is_filtered(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        make_question(world.space, "Who sings?", world.note, tags=["music"])
    page = get_page(browser, "space-golden", world.space.id)
    assert "Where are the bees?" in page
    assert world.fact.text in page
    assert "2 questions" in page
    assert "Who sings?" not in get_page(browser, "space-golden", world.space.id, q="bees")
    tagged = get_page(browser, "golden", tag="music")
    assert "Who sings?" in tagged
    assert "Where are the bees?" not in tagged
    assert "No question fits" in get_page(browser, "golden", q="zebra")


def test_a_list_of_many_has_pages(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        for number in range(30):
            make_question(world.space, f"Question {number}?", world.fact)
    page = get_page(browser, "space-golden", world.space.id, page=2)
    assert "26 to 31 of 31" in page


def test_without_questions_it_says_what_would_be_there(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        GoldenQuestion.objects.all().delete()
    assert "Write the first one" in get_page(browser, "space-golden", world.space.id)
    assert "Choose a space" in get_page(browser, "golden")


def test_a_memory_leads_to_a_question_that_should_find_it(
    browser: Client, world: ConsoleWorld
) -> None:
    for name, row in (("fact", world.fact), ("note", world.note)):
        page = get_page(browser, f"space-{name}", world.space.id, row.id)
        where = f"{reverse('space-golden-new', args=[world.space.id])}?expected={name}:{row.id}"
        assert where in page
    ticked = get_page(browser, "space-golden-new", world.space.id, expected=f"fact:{world.fact.id}")
    assert f'value="fact:{world.fact.id}" checked' in ticked


def test_looking_sends_no_token_in_an_address_and_saves_nothing(
    browser: Client, world: ConsoleWorld
) -> None:
    where = reverse("space-golden-new", args=[world.space.id])
    assert "formmethod" not in get_page(browser, "space-golden-new", world.space.id)
    before = len(list_questions(world))
    ticked = f"fact:{world.fact.id}"
    found = browser.post(where, {"text": "bees in Ghent", "find": "1", "expected": ticked})
    assert found.status_code == 200
    assert "Current results" in found.content.decode()
    assert f'value="{ticked}" checked' in found.content.decode()
    assert len(list_questions(world)) == before


def test_looked_for_ticked_and_saved(browser: Client, world: ConsoleWorld) -> None:
    found = get_page(browser, "space-golden-new", world.space.id, text="bees in Ghent", find="1")
    assert "Current results" in found
    form = {
        "text": "Where does Nora keep bees?",
        "tags": "bees, home",
        "expected": [f"fact:{world.fact.id}", f"turn:{world.turn.id}"],
    }
    answer = browser.post(reverse("space-golden-new", args=[world.space.id]), form)
    assert answer.status_code == 302
    newest = max(list_questions(world), key=lambda q: q.created_at)
    assert (newest.text, newest.tags) == ("Where does Nora keep bees?", ["bees", "home"])
    assert [each["kind"] for each in newest.expected] == ["fact", "turn"]


def test_what_is_wrong_is_said_and_what_was_typed_stays(
    browser: Client, world: ConsoleWorld
) -> None:
    where = reverse("space-golden-new", args=[world.space.id])
    answer = browser.post(where, {"text": "Where do they sing?", "tags": "choir"})
    assert answer.status_code == 422
    page = answer.content.decode()
    assert "name 1 to 20 memories" in page
    assert "Where do they sing?" in page
    assert "choir" in page
    unknown = browser.post(where, {"text": "Who?", "expected": [f"fact:{uuid4()}", "junk", "a:b"]})
    assert unknown.status_code == 422
    assert len(list_questions(world)) == 1


def test_what_was_found_stays_when_nothing_is_ticked(browser: Client, world: ConsoleWorld) -> None:
    where = reverse("space-golden-new", args=[world.space.id])
    found = browser.post(where, {"text": "bees in Ghent", "find": "1"}).content.decode()
    assert "Current results" in found
    sent = dict(re.findall(r'<input type="hidden" name="(looked)" value="(\w+)"', found))
    refused = browser.post(where, {"text": "bees in Ghent", **sent})
    assert refused.status_code == 422
    assert "Not saved: name 1 to" in refused.content.decode()
    assert "Current results" in refused.content.decode()


def test_memories_of_other_spaces_are_neither_shown_nor_saved(
    browser: Client, world: ConsoleWorld
) -> None:
    other = make_world("Other")
    where = reverse("space-golden-new", args=[world.space.id])
    named = f"fact:{other.fact.id}"
    assert 'name="expected"' not in browser.get(where, {"expected": named}).content.decode()
    assert browser.post(where, {"text": "Theirs?", "expected": [named]}).status_code == 422


def test_changed_and_taken_away(browser: Client, world: ConsoleWorld) -> None:
    where = reverse("space-golden-question", args=[world.space.id, world.question.id])
    form = {"text": "And the hives?", "tags": "", "expected": [f"fact:{world.fact.id}"]}
    assert browser.post(where, form).status_code == 302
    (changed,) = list_questions(world)
    assert (changed.text, changed.tags, changed.version) == ("And the hives?", [], 2)
    assert "version 2" in browser.get(where).content.decode()
    assert browser.post(where, {"action": "remove"}).status_code == 302
    assert list_questions(world) == []
    assert browser.get(where).status_code == 404
    assert "golden question taken away" in get_page(browser, "space-history", world.space.id)


def test_a_memory_that_is_gone_is_shown_by_its_source(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        fact = make_fact(world.space, "Two hives", world.turn)
        stored = {"kind": "fact", "id": str(fact.id), "lineage": "", "turns": [str(world.turn.id)]}
        make_question(world.space, "How many?", fact, expected=[stored])
        fact.delete()
    page = get_page(browser, "space-golden", world.space.id, q="How many")
    assert "by source" in page
    assert "Listen, I keep bees" in page


def test_a_replay_says_what_got_worse(browser: Client, world: ConsoleWorld) -> None:
    page = get_page(browser, "replay", world.run.id)
    assert "1 worse" in page
    assert "not found" in page
    assert "recall.k_min" in page
    assert "hx-get" not in page  # it is done
    assert "Where are the bees?" in get_page(browser, "replay", world.run.id, verdict="worse")
    assert "No question fits" in get_page(browser, "replay", world.run.id, verdict="better")
    assert "Where are the bees?" in get_page(browser, "replay", world.run.id, verdict="missed")
    assert "ida" in get_page(browser, "replays")


@pytest.fixture
def drained(world: ConsoleWorld) -> Callable[[], None]:
    """Run what waits in the space, but for the job of the world, which was given up."""
    return lambda: _run_due_steps(world)


def _run_due_steps(world: ConsoleWorld) -> None:
    while runner.run_next_job(world.tenant.id, world.space.id):
        pass


def test_a_changed_switch_is_tried_first_and_then_made_live(
    browser: Client, world: ConsoleWorld, drained: Callable[[], None]
) -> None:
    begun = browser.post(reverse("policy-try"), {"recall.k_min": "7", "version": "1"})
    assert begun.status_code == 302
    page = browser.get(begun["Location"]).content.decode()
    assert "0 of 2 answers" in page
    assert "hx-get" in page
    drained()
    assert "Apply" in browser.get(begun["Location"]).content.decode()
    run = begun["Location"].rstrip("/").rpartition("/")[2]
    browser.post(reverse("replay-decide", args=[run]), {"decision": "live"})
    with tenant_scope(world.tenant.id):
        policy = load_effective_policy(world.space).policy
        # What was changed by hand before stays changed.
        assert (policy.recall.k_min, policy.stm.pages) == (7, 9)
    assert "Applied by" in browser.get(begun["Location"]).content.decode()


def test_a_preset_is_tried_for_a_space_alone(
    browser: Client, world: ConsoleWorld, drained: Callable[[], None]
) -> None:
    where = reverse("space-policy-try", args=[world.space.id])
    begun = browser.post(where, {"preset": "memgpt", "version": "0"}, follow=True)
    assert "Preset MemGPT" in get_page(browser, "space-golden", world.space.id)
    page = begun.content.decode()
    assert "Preset MemGPT on 1 test question" in page
    assert "only affect messages read from now on" in page  # switches of the write side
    drained()
    with tenant_scope(world.tenant.id):
        run = ReplayRun.objects.filter(space=world.space).get()
    browser.post(reverse("replay-decide", args=[run.id]), {"decision": "dropped"})
    with tenant_scope(world.tenant.id):
        assert load_effective_policy(world.space).policy.preset == "mem0"


def test_what_can_not_be_tried_is_said_where_it_was_asked(
    browser: Client, world: ConsoleWorld
) -> None:
    wrong = browser.post(reverse("policy-try"), {"recall.k_min": "999"}, follow=True)
    assert "Not tried" in wrong.content.decode()
    same = browser.post(reverse("replay-start"), {"engine": "local"}, follow=True)
    assert "in force already" in same.content.decode()
    nobody = browser.post(reverse("replay-start"), {"engine": "llm", "tag": "zebra"}, follow=True)
    assert "no test questions" in nobody.content.decode()


def test_a_model_that_is_not_configured_is_no_candidate(
    browser: Client, world: ConsoleWorld, settings: Any
) -> None:
    settings.LLM_MODEL = ""
    assert "Try another engine" not in get_page(browser, "replays")
    settings.OPENAI_BASE_URL, settings.LLM_MODEL = "http://127.0.0.1:9/v1", "small"
    assert "Try another engine" in get_page(browser, "replays")


def test_switches_read_as_on_the_policy_page(browser: Client, world: ConsoleWorld) -> None:
    where = reverse("space-policy-try", args=[world.space.id])
    begun = browser.post(where, {"preset": "memgpt", "version": "0"}, follow=True)
    page = begun.content.decode()
    assert "<b>off</b>" in page
    assert "<b>false</b>" not in page


def test_switches_stand_in_the_order_of_the_policy_page(
    browser: Client, world: ConsoleWorld
) -> None:
    where = reverse("space-policy-try", args=[world.space.id])
    begun = browser.post(where, {"preset": "memgpt", "version": "0"}, follow=True)
    named = re.findall(r"<tr><td><code>([\w.]+)</code>", begun.content.decode())
    assert len(named) > 5
    assert named == [name for name in SWITCHES if name in named]


def test_called_off(browser: Client, world: ConsoleWorld) -> None:
    begun = browser.post(reverse("replay-start"), {"engine": "llm"})
    run = begun["Location"].rstrip("/").rpartition("/")[2]
    browser.post(reverse("replay-cancel", args=[run]))
    assert "No questions were asked" in browser.get(begun["Location"]).content.decode()


def test_a_replay_shows_what_each_side_found_first(browser: Client, world: ConsoleWorld) -> None:
    page = get_page(browser, "replay", world.run.id)
    now, candidate = page.split("Top results of each")[1].split('<p class="small muted">')[1:3]
    assert world.fact.text in now
    assert "only here" in now
    assert "nothing" in candidate


def test_before_it_goes_live_it_says_what_follows(browser: Client, world: ConsoleWorld) -> None:
    page = get_page(browser, "replay", world.run.id)
    assert "gets a new version with 1 changed setting." in page
    assert "1 question got worse" in page


def test_a_logged_question_becomes_a_golden_one(browser: Client, world: ConsoleWorld) -> None:
    page = get_page(browser, "recall", world.recall.id)
    where = reverse("space-golden-new", args=[world.space.id])
    assert f"{where}?text=Where%20are%20the%20bees%3F&amp;find=1" in page


def test_statements_of_a_replay_do_not_grow_with_its_questions(
    browser: Client, world: ConsoleWorld, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    with tenant_scope(world.tenant.id):
        for number in range(12):
            question = make_question(world.space, f"Question {number}?", world.fact)
            for side in ("current", "candidate"):
                ReplayAnswer.objects.create(
                    tenant=world.tenant,
                    space=world.space,
                    run=world.run,
                    question=question,
                    side=side,
                    ranks=[1],
                    shown=[["fact", str(world.fact.id)], ["note", str(world.note.id)]],
                )
    with django_assert_max_num_queries(13 + 13):  # the frame's, as in test_pages
        assert "Top results of each" in get_page(browser, "replay", world.run.id)
