"""What models were asked, as pages show it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from memoryhub.inference.models import ModelCall
from memoryhub.inference.prices import parse_prices
from memoryhub.policies.services import set_policy
from memoryhub.tenants.models import Membership
from memoryhub.tenants.scope import tenant_scope
from tests.console.conftest import ConsoleWorld
from tests.support.factories import make_call, make_event, make_job, make_member


def test_calls_are_summed_and_listed(browser: Client, world: ConsoleWorld, settings: Any) -> None:
    settings.MODEL_PRICES = parse_prices('{"small": {"prompt": 1, "completion": 1}}')
    with tenant_scope(world.tenant.id):
        make_call(world.space, "resolve", model="large", prompt_tokens=5000, cost=1.5)
        make_call(
            world.space, "chain", status="failed", error="timeout: it slept", rejected=3,
            created_at=timezone.now() - timedelta(days=3),
        )  # fmt: skip
    page = browser.get(reverse("usage")).content.decode()
    assert "5,000 + 80" in page
    assert "1.50" in page
    assert "timeout: it slept" in page
    assert "3 dropped" in page
    assert "No price is set for large" in page
    assert "More filters" not in page
    today = browser.get(reverse("usage") + "?days=1").content.decode()
    assert "it slept" not in today
    failed = browser.get(reverse("usage") + "?status=failed").content.decode()
    assert "it slept" in failed
    assert "5,000 + 80" not in failed


def test_numbers_are_grouped_by_thousands_in_chinese_too(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        make_call(world.space, "chain", prompt_tokens=5000)
    page = browser.get(reverse("usage"), headers={"Accept-Language": "zh-CN"}).content.decode()
    assert '<html lang="zh-hans"' in page
    assert "5,000" in page


def test_budgets_are_shown_with_what_is_spent(browser: Client, world: ConsoleWorld) -> None:
    set_policy(world.tenant.id, actor="ida", overrides={"llm.budget_tokens_per_day": 5000})
    page = browser.get(reverse("usage")).content.decode()
    assert "1,280 of 5,000" in page


def test_it_says_where_budgets_and_prices_are_set(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        make_call(world.space, model="unheard-of", created_at=timezone.now())
    page = browser.get(reverse("usage")).content.decode()
    assert f'<a href="{reverse("models")}">models and budgets</a>' in page
    assert "unheard-of." in page.partition("No price is set for ")[2]


def test_words_of_a_call_are_for_admins(client: Client, world: ConsoleWorld) -> None:
    address = reverse("usage-call", args=[world.call.id])
    with tenant_scope(world.tenant.id):
        ModelCall.objects.update(output="the answer", input=[{"role": "user", "content": "asked"}])
    client.force_login(world.admin)
    assert "the answer" in client.get(address).content.decode()
    client.force_login(make_member(world.tenant, Membership.Role.VIEWER))
    page = client.get(address).content.decode()
    assert "the answer" not in page
    assert "1,200 asked" in page


def test_E22_a_change_names_the_calls_it_was_made_with(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        job = make_job(world.space)
        made = make_event(world.space, job_id=job.id)
        mine = make_call(world.space, "construct", job=job)
        other = make_call(world.space, "chain")
    page = browser.get(reverse("space-event", args=[world.space.id, made.id])).content.decode()
    assert reverse("usage-call", args=[mine.id]) in page
    assert reverse("usage-call", args=[other.id]) not in page


def test_E16_waiting_for_the_next_day_is_said_in_words(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        make_job(world.space, "retry", error="budget_spent: Today's budget is spent")
        make_job(world.space, "retry", error="breaker_open: small keeps failing")
    page = browser.get(reverse("overview")).content.decode()
    assert "model budget is used up: 1 job will continue tomorrow" in page
    assert "A model keeps failing, so calls are paused for a while: 1 job postponed" in page
    assert "will be retried" not in page
    page = browser.get(reverse("jobs")).content.decode()
    assert "Waiting for tomorrow&#x27;s budget" in page
    assert "Waiting for the model" in page


def test_the_overview_has_todays_figures(browser: Client, world: ConsoleWorld) -> None:
    page = browser.get(reverse("overview")).content.decode()
    assert ">Models<" in page
    assert "1,280" in page
