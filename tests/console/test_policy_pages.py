"""Choosing a preset, changing switches, and coming back, on the policy pages."""

from __future__ import annotations

import re

import pytest
from django.http import QueryDict
from django.test import Client
from django.urls import reverse

from memoryhub.console.frame.text.purpose_words import CHAT_PURPOSE, PURPOSE_TITLES
from memoryhub.console.pages.policies import switch_form
from memoryhub.engines.llm.own_prompts import PURPOSES
from memoryhub.policies.compose import compose_policy
from memoryhub.policies.models import PolicyVersion
from memoryhub.policies.presets import DEFAULT_PRESET, PRESETS
from memoryhub.policies.schema import Policy
from memoryhub.policies.services import (
    PolicyLayers,
    load_effective_policy,
    load_tenant_policy,
    set_policy,
)
from memoryhub.policies.switches import PROXY_PURPOSE
from memoryhub.tenants.models import Membership
from memoryhub.tenants.scope import tenant_scope
from tests.console.conftest import ConsoleWorld
from tests.support.factories import make_member, make_tenant


def get_policy(world: ConsoleWorld) -> Policy:
    with tenant_scope(world.tenant.id):
        return load_effective_policy(world.space).policy


def build_form_fields(layers: PolicyLayers) -> dict[str, object]:
    """What the form sends when nothing was touched."""
    rows = [row for group in switch_form.build_switch_groups(layers) for row in group.rows]
    return {
        row.switch.name: ["", *row.chosen_values] if row.switch.kind == "list" else row.text
        for row in rows
    }


def build_layers(world: ConsoleWorld) -> PolicyLayers:
    return PolicyLayers(world.version, None)


def test_the_page_says_what_is_in_force_and_where_from(
    browser: Client, world: ConsoleWorld
) -> None:
    page = browser.get(reverse("policy")).content.decode()
    assert "In force: Mem0" in page
    assert "Set by ida" in page
    assert "1 changed" in page
    assert "MemoryBank (Zhong et al., 2023)" in page


def test_a_preset_shows_what_it_changes_before_it_is_applied(
    browser: Client, world: ConsoleWorld
) -> None:
    page = browser.get(reverse("policy") + "?preset=memorybank").content.decode()
    assert "What MemoryBank would change" in page
    table = page[page.index('id="compare"') :]
    table = table[: table.index("</table>")]
    assert "<code>forget.mode</code>" in table
    assert "<code>stm.pages</code>" in table  # changed by hand, and taken back
    assert "<code>graph.enabled</code>" not in table
    assert get_policy(world).preset == "mem0"


def test_applying_a_preset_takes_back_what_was_changed(
    browser: Client, world: ConsoleWorld
) -> None:
    form = {"preset": "memorybank", "version": "1", "reason": "we forget now"}
    page = browser.post(reverse("policy-change"), form, follow=True).content.decode()
    assert "Version 2 is in force" in page
    assert "we forget now" in page
    policy = get_policy(world)
    assert (policy.preset, policy.forget.mode, policy.stm.pages) == ("memorybank", "sample", 7)


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_every_preset_is_applied_from_the_page_and_then_in_force(
    browser: Client, world: ConsoleWorld, preset: str
) -> None:
    page = browser.post(reverse("policy-change"), {"preset": preset}, follow=True)
    assert page.status_code == 200
    policy = get_policy(world)
    assert policy == compose_policy(preset, {})
    own = reverse("space-policy-change", args=[world.space.id])
    browser.post(reverse("policy-change"), {"preset": "rag"})
    browser.post(own, {"preset": preset})
    assert get_policy(world) == policy


def test_another_preset_keeps_the_rules_of_the_house(browser: Client, world: ConsoleWorld) -> None:
    form = build_form_fields(build_layers(world)) | {"llm.budget_tokens_per_day": "5000"}
    browser.post(reverse("policy-change"), form)
    page = browser.get(reverse("policy") + "?preset=amem").content.decode()
    compared = page[page.index('id="compare"') :]
    assert "llm.budget" not in compared[: compared.index("</table>")]
    browser.post(reverse("policy-change"), {"preset": "amem"})
    policy = get_policy(world)
    assert (policy.preset, policy.stm.pages, policy.llm.budget_tokens_per_day) == ("amem", 7, 5000)


def test_saving_keeps_only_what_differs(browser: Client, world: ConsoleWorld) -> None:
    form = build_form_fields(build_layers(world)) | {
        "facts.neighbours": "7",
        "facts.enabled": "off",
        "version": "1",
    }
    browser.post(reverse("policy-change"), form)
    with tenant_scope(world.tenant.id):
        newest = PolicyVersion.objects.filter(space=None).first()
    assert newest is not None
    assert (newest.version, newest.preset, newest.actor) == (2, "mem0", world.admin.username)
    assert newest.overrides == {"stm.pages": 9, "facts.neighbours": 7, "facts.enabled": False}


def test_channels_are_boxes(browser: Client, world: ConsoleWorld) -> None:
    form = build_form_fields(build_layers(world)) | {"recall.channels": ["", "raw", "facts"]}
    browser.post(reverse("policy-change"), form)
    assert get_policy(world).recall.channels == ("raw", "facts")


def test_saving_without_a_change_makes_no_version(browser: Client, world: ConsoleWorld) -> None:
    browser.post(reverse("policy-change"), build_form_fields(build_layers(world)))
    with tenant_scope(world.tenant.id):
        assert PolicyVersion.objects.count() == 1


def test_what_is_out_of_bounds_is_said_beside_the_switch(
    browser: Client, world: ConsoleWorld
) -> None:
    form = build_form_fields(build_layers(world)) | {"facts.neighbours": "999", "stm.pages": "3"}
    form |= {"reason": 'asked by "Ida"'}
    answer = browser.post(reverse("policy-change"), form)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "whole number, 1 to 50" in page
    assert 'value="999"' in page  # what was typed is still there
    assert 'value="asked by &quot;Ida&quot;"' in page
    assert get_policy(world).stm.pages == 9


def test_a_change_on_an_older_version_is_refused(browser: Client, world: ConsoleWorld) -> None:
    set_policy(world.tenant.id, actor="rui", preset="amem")
    typed = {"facts.neighbours": "7"}
    form = build_form_fields(build_layers(world)) | typed | {"version": "1"}
    answer = browser.post(reverse("policy-change"), form)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "Someone else changed the policy in the meantime" in page
    assert get_policy(world).preset == "amem"


def test_what_was_typed_is_filled_into_the_newer_version_and_nothing_else_of_the_form(
    browser: Client, world: ConsoleWorld
) -> None:
    set_policy(world.tenant.id, actor="rui", preset="amem", overrides={"stm.pages": 11})
    typed = {"facts.neighbours": "7", "reason": "we try it"}
    form = build_form_fields(build_layers(world)) | typed | {"version": "1"}
    page = browser.post(reverse("policy-change"), form).content.decode()
    assert 'name="facts.neighbours" value="7"' in page
    assert 'name="stm.pages" value="11"' in page  # the other's change stands
    assert 'name="reason" value="we try it"' in page
    form |= {"version": re.findall(r'name="version" value="(\d+)"', page)[-1]}
    assert form["version"] == "2"


def test_a_preset_chosen_on_an_older_version_is_refused(
    browser: Client, world: ConsoleWorld
) -> None:
    set_policy(world.tenant.id, actor="rui", preset="amem")
    form = {"preset": "rag", "version": "1"}
    page = browser.post(reverse("policy-change"), form, follow=True).content.decode()
    assert "Someone else changed the policy in the meantime" in page
    assert get_policy(world).preset == "amem"


def test_returning_to_an_earlier_version_makes_a_new_one(
    browser: Client, world: ConsoleWorld
) -> None:
    set_policy(world.tenant.id, actor="rui", preset="amem")
    page = browser.post(
        reverse("policy-return", args=[world.version.id]), follow=True
    ).content.decode()
    assert "Version 1 is in force again, as 3" in page
    assert "2: A-Mem" in page
    policy = get_policy(world)
    assert (policy.preset, policy.stm.pages) == ("mem0", 9)


def test_also_the_first_change_can_be_undone(browser: Client, world: ConsoleWorld) -> None:
    change = reverse("space-policy-change", args=[world.space.id])
    unset = reverse("space-policy-unset", args=[world.space.id])
    page = browser.post(change, {"preset": "rag", "version": "0"}, follow=True).content.decode()
    assert f'action="{unset}"' in page
    page = browser.post(unset, follow=True).content.decode()
    assert "The setting before any change is in force again, as version 2" in page
    assert "Returned to the setting before any version" in page
    assert get_policy(world).preset == "mem0"


def test_a_tenant_returns_to_the_usual_preset(world: ConsoleWorld, client: Client) -> None:
    tenant = make_tenant()
    client.force_login(make_member(tenant))
    form = {"preset": "rag", "version": "0"}
    page = client.post(reverse("policy-change"), form, follow=True).content.decode()
    assert f'action="{reverse("policy-unset")}"' in page
    client.post(reverse("policy-unset"))
    with tenant_scope(tenant.id):
        assert load_tenant_policy(tenant.id).policy.preset == DEFAULT_PRESET


def test_a_space_says_its_own_and_can_follow_its_tenant_again(
    browser: Client, world: ConsoleWorld
) -> None:
    address = reverse("space-policy-change", args=[world.space.id])
    browser.post(address, {"preset": "rag", "version": "0"})
    assert get_policy(world).preset == "rag"
    page = browser.get(reverse("space-policy", args=[world.space.id])).content.decode()
    assert "In force: Plain retrieval" in page
    assert "Tenant setting" in page
    browser.post(address, {"preset": "", "version": "1"})
    assert get_policy(world).preset == "mem0"


def test_viewers_read_and_have_nothing_to_send(client: Client, world: ConsoleWorld) -> None:
    client.force_login(make_member(world.tenant, Membership.Role.VIEWER))
    for address in (reverse("policy"), reverse("space-policy", args=[world.space.id])):
        page = client.get(address + "?preset=rag").content.decode()
        assert "facts.neighbours" in page
        assert 'name="facts.neighbours"' not in page
        assert "Apply" not in page


def test_an_unknown_preset_compares_nothing(browser: Client, world: ConsoleWorld) -> None:
    page = browser.get(reverse("policy") + "?preset=oracle").content.decode()
    assert 'id="compare"' not in page
    answer = browser.post(reverse("policy-change"), {"preset": "oracle"})
    assert answer.status_code == 422


@pytest.mark.parametrize(
    ("text", "same"), [("0.6", True), ("0.60", True), ("0.61", False), ("", False)]
)
def test_numbers_are_compared_as_numbers(world: ConsoleWorld, text: str, same: bool) -> None:
    form = QueryDict(f"segments.theta={text}")
    found = switch_form.read_overrides(form, Policy(), {})
    assert (found == {}) is same


def test_every_purpose_of_a_model_has_a_title() -> None:
    assert set(PURPOSE_TITLES) == {*PURPOSES, PROXY_PURPOSE, CHAT_PURPOSE}
