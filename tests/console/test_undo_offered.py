"""What a person has just done is offered to be undone, in the message that tells it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from memoryhub.golden.models import GoldenQuestion
from memoryhub.policies.services import load_effective_policy, set_policy
from memoryhub.tenants.scope import tenant_scope
from personas.models import CoreBlock, ProfileAttribute, Trait
from tests.console.conftest import ConsoleWorld
from tests.support.factories import make_trait

Form = Mapping[str, Any]


def find_undo_address(page: str) -> str | None:
    """Where the last message's button leads."""
    (said,) = re.findall(r'<ul class="messages">.*?</ul>', page, re.DOTALL)
    found = re.search(r'<form class="end" method="post" action="([^"]+)"', said)
    return found[1] if found else None


def post_form(browser: Client, name: str, world: ConsoleWorld, form: Form) -> str:
    """The page after an act."""
    ids = world.collect_ids()
    own = {"block": "block_id", "space-golden-question": "question_id"}
    wanted = next((key for start, key in own.items() if name.startswith(start)), "")
    more = [ids[wanted]] if wanted and name != "block-new" else []
    where = reverse(name, args=[ids["space_id"], *more])
    return browser.post(where, form, follow=True).content.decode()


def get_state(world: ConsoleWorld) -> dict[str, Any]:
    """What the acts below change."""
    with tenant_scope(world.tenant.id):
        blocks = CoreBlock.objects.filter(retired_at=None, generated=False)
        return {
            "traits": list(
                Trait.objects.filter(valid_to=None, retired_at=None).values_list("key", "level")
            ),
            "profile": list(
                ProfileAttribute.objects.filter(retired_at=None).values_list("key", "value")
            ),
            "blocks": list(blocks.order_by("label").values_list("label", "value", "char_limit")),
            "questions": list(
                GoldenQuestion.objects.filter(retired_at=None).values_list("text", "tags")
            ),
        }


SAVED = {"version": 1, "value": "Likes rye.", "label": "person", "char_limit": 90}
ACTS: tuple[tuple[str, Form], ...] = (
    ("space-trait", {"key": "play", "level": "low"}),
    ("space-trait", {"key": "openness", "level": "low"}),
    ("space-trait", {"key": "openness", "level": ""}),
    ("space-profile", {"key": "nickname", "value": "Noor"}),
    ("block-new", {"label": "rules", "value": "Be brief.", "char_limit": 500}),
    ("block-new", {"label": "rules", "value": "Be brief.", "char_limit": 500, "shared": "1"}),
    ("block-save", SAVED),
    ("block-delete", {}),
    ("space-golden-new", {"text": "Any hives?"}),
    ("space-golden-question", {"text": "Any hives?", "tags": "late"}),
    ("space-golden-question", {"action": "remove"}),
)


@pytest.mark.parametrize("portrait", [False, True])
@pytest.mark.parametrize(("name", "form"), ACTS)
def test_what_was_done_is_undone_from_its_message(
    browser: Client, world: ConsoleWorld, name: str, form: Form, portrait: bool
) -> None:
    set_policy(world.tenant.id, actor="ida", overrides={"portrait.enabled": portrait})
    with tenant_scope(world.tenant.id):
        make_trait(world.space, "openness", "high", world.turn, rationale="Travels.")
    before = get_state(world)
    if name.startswith("space-golden"):
        form = {"expected": [f"fact:{world.fact.id}"], **form}
    page = post_form(browser, name, world, form)
    assert get_state(world) != before
    undo = find_undo_address(page)
    assert undo
    page = browser.post(undo, {"back": reverse("overview")}, follow=True).content.decode()
    assert "Undone. You can redo it from the history." in page
    assert get_state(world) == before


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("block-save", {**SAVED, "value": "Keeps bees.", "label": "human", "char_limit": 2000}),
        ("block-save", {**SAVED, "char_limit": 2}),
        ("space-trait", {"key": "play", "level": ""}),
        ("space-trait", {"key": "no such", "level": "low"}),
    ],
)
def test_where_nothing_was_changed_nothing_is_offered(
    browser: Client, world: ConsoleWorld, name: str, form: Form
) -> None:
    before = get_state(world)
    assert find_undo_address(post_form(browser, name, world, form)) is None
    assert get_state(world) == before


def get_preset(world: ConsoleWorld) -> str:
    with tenant_scope(world.tenant.id):
        return load_effective_policy(world.space).policy.preset


@pytest.mark.parametrize("of_space", [False, True])
def test_of_a_policy_the_version_before_is_put_in_force_again(
    browser: Client, world: ConsoleWorld, of_space: bool
) -> None:
    if of_space:
        set_policy(world.tenant.id, actor="ida", preset="mem0", space=world.space)
    ids = [world.space.id] if of_space else []
    change = reverse("space-policy-change" if of_space else "policy-change", args=ids)
    page = browser.post(change, {"preset": "memorybank", "version": "1"}, follow=True)
    assert get_preset(world) == "memorybank"
    undo = find_undo_address(page.content.decode())
    assert undo
    page = browser.post(undo, follow=True)
    assert get_preset(world) == "mem0"
    again = find_undo_address(page.content.decode())
    assert again
    browser.post(again)
    assert get_preset(world) == "memorybank"


def test_a_first_policy_is_undone_by_having_none(browser: Client, world: ConsoleWorld) -> None:
    before = get_preset(world)
    assert before != "rag"
    change = reverse("space-policy-change", args=[world.space.id])
    page = browser.post(change, {"preset": "rag", "version": "0"}, follow=True)
    assert get_preset(world) == "rag"
    undo = find_undo_address(page.content.decode())
    assert undo
    browser.post(undo)
    assert get_preset(world) == before
