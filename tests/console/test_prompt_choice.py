"""An operator's own prompts as a choice on the policy page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from memoryhub.engines.llm.packaged_prompts import read_template
from memoryhub.policies.services import load_effective_policy, set_policy
from memoryhub.tenants.models import Membership
from memoryhub.tenants.scope import tenant_scope
from tests.console.conftest import ConsoleWorld
from tests.support.factories import make_member

SWITCH = "llm.prompt.judge"


@pytest.fixture
def file(settings: Any, tmp_path: Path) -> Path:
    settings.PROMPTS = tmp_path
    found = tmp_path / "judge.careful.md"
    found.write_text(f"{read_template('judge')}Only <b>boats</b>.\n")
    return found


def page_of(browser: Client) -> str:
    return browser.get(reverse("policy")).content.decode()


def test_without_own_prompts_there_is_nothing_to_choose(
    browser: Client, world: ConsoleWorld, settings: Any, tmp_path: Path
) -> None:
    settings.PROMPTS = tmp_path
    assert "llm.prompt." not in page_of(browser)


def test_it_is_a_choice_shown_with_what_differs(
    browser: Client, world: ConsoleWorld, file: Path
) -> None:
    page = page_of(browser)
    assert '<option value="" selected>built-in</option>' in page
    assert '<option value="careful">careful</option>' in page
    assert "+Only &lt;b&gt;boats&lt;/b&gt;." in page
    assert "llm.prompt.route" not in page


def test_chosen_it_is_in_force_and_packaged_takes_it_back(
    browser: Client, world: ConsoleWorld, file: Path
) -> None:
    for name in ("careful", ""):
        browser.post(reverse("policy-change"), {SWITCH: name})
        with tenant_scope(world.tenant.id):
            assert load_effective_policy(world.space).policy.llm.prompt.get("judge", "") == name


def test_a_choice_whose_file_is_gone_stays_in_sight_and_is_refused(
    browser: Client, world: ConsoleWorld, file: Path
) -> None:
    set_policy(world.tenant.id, actor="ida", overrides={SWITCH: "careful"})
    file.unlink()
    assert '<option value="careful" selected>careful</option>' in page_of(browser)
    answer = browser.post(reverse("policy-change"), {SWITCH: "careful", "stm.pages": "9"})
    assert answer.status_code == 422
    assert "there is no prompt &#x27;careful&#x27;; there are: none" in answer.content.decode()


def test_only_admins_read_what_it_says(client: Client, world: ConsoleWorld, file: Path) -> None:
    client.force_login(make_member(world.tenant, Membership.Role.VIEWER))
    page = page_of(client)
    assert SWITCH in page
    assert "boats" not in page
