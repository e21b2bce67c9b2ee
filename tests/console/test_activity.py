"""Requests, jobs and calls as pages show them, and what people may do with them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from memoryhub.dialogues.models import Turn
from memoryhub.inference.models import ModelCall
from memoryhub.pipeline.models import Job
from memoryhub.tenants.models import Membership
from memoryhub.tenants.scope import tenant_scope
from tests.console.conftest import ConsoleWorld, make_world
from tests.support.factories import make_call, make_event, make_job, make_member, make_request


def get_list_page(browser: Client, name: str = "requests", **query: str) -> str:
    return browser.get(reverse(name), query).content.decode()


def test_requests_are_found_by_route_error_id_outcome_time_and_key(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        make_request(world.tenant, key_id=world.key.id, route="api/v1/search", milliseconds=1234.5)
        make_request(world.tenant, route="api/v1/notes", status=404, error="not_found")
        make_request(world.tenant, route="api/v1/facts", status=500, request_id="deadbeef")
        make_request(world.tenant, route="api/v1/old", at=timezone.now() - timedelta(days=3))

    def routes(**query: str) -> set[str]:
        page = get_list_page(browser, **query)
        return {name for name in ("search", "notes", "facts", "old") if f"/api/v1/{name}" in page}

    assert routes() == {"search", "notes", "facts"}
    assert routes(days="7") == {"search", "notes", "facts", "old"}
    assert routes(q="not_found") == {"notes"}
    assert routes(q="deadbeef") == {"facts"}
    assert routes(outcome="4") == {"notes"}
    assert routes(outcome="5") == {"facts"}
    assert routes(outcome="good") == {"search"}
    assert routes(slow="1000") == {"search"}
    assert routes(key=str(world.key.id)) == {"search"}
    page = get_list_page(browser)
    assert "1,234.5" in page
    assert f">{world.key.name}</a>" in page
    assert "a deleted key" in page
    assert "3 requests" in page
    assert "Nothing matches" in get_list_page(browser, q="nothing like it")


@pytest.mark.parametrize(
    ("route", "shown"),
    [
        ("^mcp/?$", "POST /mcp<"),
        (r"api/v1/^[\s\S]*$", "POST /api/v1/…<"),
        ("api/v1/spaces/<uuid:space_id>", "POST /api/v1/spaces/{space_id}<"),
        ("api/v1/spaces/<path:subject>/facts", "POST /api/v1/spaces/{subject}/facts<"),
    ],
)
def test_a_route_is_shown_as_an_address(
    browser: Client, world: ConsoleWorld, route: str, shown: str
) -> None:
    with tenant_scope(world.tenant.id):
        make_request(world.tenant, method="POST", route=route)
    assert shown in get_list_page(browser)


def test_without_requests_the_page_says_what_would_be_there(
    browser: Client, world: ConsoleWorld, settings: object
) -> None:
    assert "No requests in the last day" in get_list_page(browser)
    settings.REQUEST_LOG_DAYS = 0  # type: ignore[attr-defined]  # Django's
    assert "MEMORYHUB_REQUEST_LOG_DAYS is 0" in get_list_page(browser)


@pytest.mark.parametrize("count", [1, 20])
def test_the_statements_of_the_log_do_not_grow_with_it(
    browser: Client,
    world: ConsoleWorld,
    count: int,
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    with tenant_scope(world.tenant.id):
        for _ in range(count):
            make_request(world.tenant)
    with django_assert_num_queries(15):
        get_list_page(browser)


def test_jobs_are_found_by_words_and_step_with_counts_of_those(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        make_job(world.space, "done", step="episode")
        make_job(world.space, "dead", step="episode", error="no wasps")
    page = get_list_page(browser, "jobs", step="episode")
    assert 'Given up <span class="count">1</span>' in page
    assert "the endpoint is closed" not in page
    assert 'Given up <span class="count">0</span>' in get_list_page(browser, "jobs", q="otters")


def test_a_job_tells_how_it_went_and_what_it_made(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        made = {"text": "Keeps bees", "op": "add", "reason": "new"}
        job = make_job(world.space, "done", result={"decisions": [made]})
        call = make_call(world.space, job=job)
        event = make_event(world.space, job_id=job.id)
    page = browser.get(reverse("job", args=[job.id])).content.decode()
    assert "Keeps bees" in page
    assert reverse("usage-call", args=[call.id]) in page
    assert reverse("space-event", args=[world.space.id, event.id]) in page
    assert "Cancel" not in page.partition("<main")[2]
    assert reverse("usage-call", args=[world.call.id]) not in page


def test_a_job_can_be_cancelled_and_taken_up_again(browser: Client, world: ConsoleWorld) -> None:
    where = reverse("job-cancel", args=[world.job.id])
    page = browser.post(where, {"from": "job"}, follow=True).content.decode()
    assert "Cancelled: turns" in page
    assert f"Cancelled by {world.admin.username}" in page
    assert f"Cancelled by {world.admin.username}" in get_list_page(
        browser, "jobs", state="cancelled"
    )
    again = browser.post(where, {"from": "job"}, follow=True).content.decode()
    assert "Not cancelled: this job has ended" in again
    browser.post(reverse("job-retry", args=[world.job.id]))
    with tenant_scope(world.tenant.id):
        assert Job.objects.get(id=world.job.id).state == "queued"


def test_what_other_work_waits_for_is_not_cancelled(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        job = make_job(world.space, "queued", step="rederive")
    page = browser.get(reverse("job", args=[job.id])).content.decode()
    assert reverse("job-cancel", args=[job.id]) not in page
    refused = browser.post(reverse("job-cancel", args=[job.id]), follow=True).content.decode()
    assert "Not cancelled: other work waits for this step" in refused
    with tenant_scope(world.tenant.id):
        assert Job.objects.get(id=job.id).state == "queued"
        assert not Turn.objects.filter(state="failed").exists()


def test_words_of_one_call_are_taken_out_and_its_figures_stay(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        call = make_call(world.space, error="unusable: it said bees", output="bees", cost=2)
    where = reverse("usage-redact", args=[call.id])
    page = browser.post(where, follow=True).content.decode()
    assert "Prompts and answers are not kept" in page
    with tenant_scope(world.tenant.id):
        call.refresh_from_db()
        kept = ModelCall.objects.get(id=world.call.id)
    assert (call.input, call.output, call.error) == (None, "", "unusable")
    assert call.prompt_tokens == 1200
    assert int(call.cost) == 2
    assert kept.output


def test_words_of_all_calls_that_the_filters_leave_are_taken_out(
    browser: Client, world: ConsoleWorld
) -> None:
    other = make_world("Other")
    with tenant_scope(world.tenant.id):
        make_call(world.space, "resolve", output="bees")
    answer = browser.post(reverse("usage-redact-all") + "?purpose=resolve", follow=True)
    assert "Content of 1 call deleted" in answer.content.decode()
    with tenant_scope(world.tenant.id):
        assert ModelCall.objects.exclude(output="").get().id == world.call.id
    browser.post(reverse("usage-redact-all") + "?days=30")
    with tenant_scope(other.tenant.id):
        assert ModelCall.objects.get().output


def test_who_may_not_administer_is_offered_no_words(client: Client, world: ConsoleWorld) -> None:
    client.force_login(make_member(world.tenant, Membership.Role.EDITOR))
    page = get_list_page(client, "usage")
    assert "words=1" not in page
    assert reverse("usage-redact-all") not in page
