"""The persona and the blocks of a space: seen with their sources, corrected and edited by hand."""

from __future__ import annotations

from datetime import timedelta

from django.test import Client
from django.urls import reverse

from memoryhub.policies.services import set_policy
from memoryhub.tenants.models import Membership
from memoryhub.tenants.scope import tenant_scope
from notes.models import EvolutionEvent
from personas.models import BlockAttachment, CoreBlock, ProfileAttribute, Trait
from tests.console.conftest import ConsoleWorld
from tests.support.factories import MAY, make_block, make_fact, make_member, make_trait


def get_persona_page(browser: Client, world: ConsoleWorld) -> str:
    return browser.get(reverse("space-persona", args=[world.space.id])).content.decode()


def post_form(browser: Client, name: str, world: ConsoleWorld, **form: object) -> str:
    args = [world.space.id, *([form.pop("block")] if "block" in form else [])]
    answer = browser.post(reverse(name, args=args), form, follow=True)
    return answer.content.decode()


def test_a_trait_is_shown_with_words_level_evidence_and_what_was_before(
    browser: Client, world: ConsoleWorld
) -> None:
    later = MAY + timedelta(days=30)
    with tenant_scope(world.tenant.id):
        make_trait(world.space, "openness", "low", world.turn, rationale="Stays.", valid_to=later)
        make_trait(
            world.space, "openness", "high", world.turn, rationale="Travels.", valid_from=later
        )
    page = get_persona_page(browser, world)
    assert "curious about the new" in page
    assert "Travels." in page
    assert reverse("space-turn", args=[world.space.id, world.turn.id]) in page
    assert page.index("Travels.") < page.index("Before: 1") < page.index("Stays.")
    before = page.partition("Before: 1")[2].partition("</details>")[0]
    assert "fond of the familiar" in before
    assert "Low" not in before


def test_sensitive_traits_are_shown_only_when_the_policy_says_so(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        make_trait(world.space, "health", "high", world.turn, rationale="Broke a leg.")
    assert "Broke a leg." not in get_persona_page(browser, world)
    set_policy(world.tenant.id, actor="ida", overrides={"traits.sensitive": True})
    assert "Broke a leg." in get_persona_page(browser, world)


def test_a_trait_is_set_and_taken_back_by_hand(browser: Client, world: ConsoleWorld) -> None:
    page = post_form(browser, "space-trait", world, key="play", level="high")
    assert "seeks fun" in page
    assert f"set by {world.admin.username}" in page
    post_form(browser, "space-trait", world, key="play", level="")
    with tenant_scope(world.tenant.id):
        trait = Trait.objects.get(key="play")
        assert (trait.valid_to is None, trait.version) == (False, 2)
        by_hand = EvolutionEvent.objects.filter(kind="manual").exclude(trigger="block")
        assert by_hand.count() == 2
    assert "Not changed: no such trait" in post_form(
        browser, "space-trait", world, key="x", level=""
    )


def test_the_profile_is_written_by_hand_and_follows_facts(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        fact = make_fact(world.space, "Nora lives in Ghent.", world.turn, object="Ghent")
        keys = {"tenant": world.tenant, "space": world.space, "owner": world.space.subject}
        ProfileAttribute.objects.create(key="lives_in", value="Ghent", fact=fact, **keys)
    page = post_form(browser, "space-profile", world, key="Nick name", value="Noor")
    assert "Noor" in page
    assert reverse("space-fact", args=[world.space.id, fact.id]) in page
    refused = post_form(browser, "space-profile", world, key="lives_in", value="")
    assert "correct the fact" in refused
    assert "Noor" not in post_form(browser, "space-profile", world, key="nick_name", value="")


def test_the_portrait_follows_what_is_set_by_hand_at_once(
    browser: Client, world: ConsoleWorld
) -> None:
    set_policy(world.tenant.id, actor="ida", overrides={"portrait.enabled": True})
    assert (
        "fond of the familiar"
        in post_form(browser, "space-trait", world, key="openness", level="low")
        .partition("Portrait</h2>")[2]
        .partition("</section>")[0]
    )
    page = post_form(browser, "space-trait", world, key="openness", level="")
    assert "Not enough is known yet to write one." in page
    page = post_form(browser, "space-profile", world, key="Nick name", value="Noor")
    assert "nick name: Noor" in page


def test_the_shelf_says_how_much_it_holds(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        for n in range(3):
            shelved_at = MAY + timedelta(minutes=n)
            make_fact(world.space, f"Kept {n}.", shelf="user_kb", shelved_at=shelved_at)
    set_policy(world.tenant.id, actor="ida", overrides={"shelf.cap": 2})
    page = get_persona_page(browser, world)
    assert "2 of 2" in page
    assert "Kept 0." not in page
    assert "1 older fact has left the shelf" in page


def post_block(browser: Client, world: ConsoleWorld, **form: object) -> str:
    values = {"block": world.block.id, "version": 1, "label": "human", "char_limit": 2000} | form
    return post_form(browser, "block-save", world, **values)


def test_a_block_is_edited_as_a_new_version(browser: Client, world: ConsoleWorld) -> None:
    page = post_block(
        browser, world, value="Keeps bees.\r\nLikes rye.", char_limit=90, label="person"
    )
    assert "Saved as a new version" in page
    with tenant_scope(world.tenant.id):
        block = CoreBlock.objects.get(id=world.block.id)
        assert (block.value, block.label, block.char_limit) == (
            "Keeps bees.\nLikes rye.",
            "person",
            90,
        )


def test_what_was_typed_is_kept_when_somebody_else_was_there_first(
    browser: Client, world: ConsoleWorld
) -> None:
    post_block(browser, world, value="First.")
    page = post_block(browser, world, value="Second.")
    assert "it is in version 2 now" in page
    assert "Below is what you typed" in page
    assert ">Second.</textarea>" in page
    with tenant_scope(world.tenant.id):
        assert CoreBlock.objects.get(id=world.block.id).value == "First."


def test_a_new_block_that_is_refused_keeps_what_was_typed(
    browser: Client, world: ConsoleWorld
) -> None:
    form = {"label": "rota", "description": "Who is in", "value": "x" * 51, "char_limit": 50}
    page = post_form(browser, "block-new", world, **form, read_only="1")
    assert "Not changed" in page
    assert 'name="label" value="rota"' in page
    assert 'value="Who is in"' in page
    assert f">{'x' * 51}</textarea>" in page
    assert 'max="200000" value="50"' in page
    assert 'name="read_only" value="1" checked' in page
    assert 'name="shared" value="1">' in page
    again = browser.get(reverse("space-blocks", args=[world.space.id])).content.decode()
    assert "x" * 51 not in again


def test_a_refused_word_on_the_persona_stays_in_its_form(
    browser: Client, world: ConsoleWorld
) -> None:
    page = post_form(browser, "space-profile", world, key="!?", value="Noor")
    assert "Not changed" in page
    assert 'name="key" value="!?"' in page
    assert 'name="value" value="Noor"' in page
    page = post_form(browser, "space-trait", world, key="play", level="loud")
    assert "Not changed" in page
    assert '<option value="play" selected>' in page
    assert '<option value="low" selected>' in post_form(
        browser, "space-trait", world, key="x", level="low"
    )


def test_a_block_over_its_limit_is_refused_whole(browser: Client, world: ConsoleWorld) -> None:
    page = post_block(browser, world, value="x" * 51, label="renamed", char_limit=50)
    assert "Not changed" in page
    assert 'name="label" value="renamed"' in page
    assert 'max="200000" value="50"' in page
    with tenant_scope(world.tenant.id):
        block = CoreBlock.objects.get(id=world.block.id)
        assert (block.value, block.label, block.version) == ("Keeps bees.", "human", 1)


def test_a_shared_block_is_made_attached_detached_and_taken_away(
    browser: Client, world: ConsoleWorld
) -> None:
    form = {"label": "rules", "value": "Be brief.", "char_limit": 500, "shared": "1"}
    assert "shared with 1 space" in post_form(browser, "block-new", world, **form)
    with tenant_scope(world.tenant.id):
        shared = CoreBlock.objects.get(label="rules", space=None)
    page = post_form(browser, "block-detach", world, block=shared.id)
    assert "Attach" in page
    assert "shared with" not in page
    assert "shared with 1 space" in post_form(browser, "block-attach", world, block=shared.id)
    post_form(browser, "block-delete", world, block=shared.id)
    with tenant_scope(world.tenant.id):
        assert CoreBlock.objects.get(id=shared.id).retired_at is not None
        assert BlockAttachment.objects.count() == 1


def test_a_generated_block_is_not_offered_for_editing(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        block = make_block(world.space, "portrait", "Nora.", generated=True, read_only=True)
    address = reverse("space-block", args=[world.space.id, block.id])
    assert "<textarea" not in browser.get(address).content.decode()
    page = post_form(
        browser, "block-save", world, block=block.id, version=1, value="Mine.", label="x"
    )
    assert "is generated" in page


def test_viewers_read_only(client: Client, world: ConsoleWorld) -> None:
    client.force_login(make_member(world.tenant, Membership.Role.VIEWER))
    for name, args in (("space-persona", []), ("space-blocks", []), ("space-block", ["block"])):
        ids = [world.space.id, *([world.block.id] if args else [])]
        page = client.get(reverse(name, args=ids)).content.decode()
        assert 'method="post" action="/spaces' not in page
        assert "<textarea" not in page


def test_what_they_are_called_is_set_on_their_page(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        fact = make_fact(
            world.space,
            f"{world.space.display_name} keeps bees",
            world.turn,
            owner=world.space.display_name,
        )
    shown = post_form(browser, "space-name", world, subject_name="  Anna  Braun ")
    assert "Saved" in shown
    with tenant_scope(world.tenant.id):
        fact.refresh_from_db()
    assert (fact.owner, fact.text) == ("Anna Braun", "Anna Braun keeps bees")
    assert 'value="Anna Braun"' in get_persona_page(browser, world)
    assert "at most 120" in post_form(browser, "space-name", world, subject_name="x" * 121)
