"""Erasing by hand: what is meant is chosen, all that goes is seen, the receipt can be checked."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from memoryhub.dialogues.models import Turn
from memoryhub.pipeline.models import SealedErasure
from memoryhub.policies.services import set_policy
from memoryhub.tenants.scope import tenant_scope
from notes.models import EvolutionEvent, Fact, Proposal, Receipt, Relation
from tests.console.conftest import ConsoleWorld
from tests.support.factories import (
    MAY,
    make_entity,
    make_fact,
    make_proposal,
    make_receipt,
    make_turns,
)

CONFIRM = "Erase for good</button>"


def erase_at(world: ConsoleWorld) -> str:
    return reverse("space-erase", args=[world.space.id])


@pytest.fixture
def wish(world: ConsoleWorld) -> Proposal:
    """A wish of which nobody knows what it means."""
    with tenant_scope(world.tenant.id):
        return make_proposal(world.space, kind="erase", turn_ids=[world.turn.id])


def test_nothing_can_be_confirmed_before_something_is_chosen(
    browser: Client, world: ConsoleWorld, wish: Proposal
) -> None:
    page = browser.get(f"{erase_at(world)}?wish={wish.id}").content.decode()
    assert CONFIRM not in page
    assert "Nothing selected yet" in page
    sent = browser.post(erase_at(world), {"chosen": "yes", "wish": str(wish.id)}, follow=True)
    assert b"Nothing was erased: select what to erase first" in sent.content
    with tenant_scope(world.tenant.id):
        assert not Receipt.objects.filter(actor=world.admin.username).exists()
        assert Fact.objects.filter(id=world.fact.id).exists()


def test_what_a_wish_is_only_guessed_to_mean_is_offered_and_not_chosen(
    browser: Client, world: ConsoleWorld
) -> None:
    guess = {"fact_ids": [str(world.fact.id)], "auto": False, "guessed": True}
    with tenant_scope(world.tenant.id):
        wish = make_proposal(world.space, kind="erase", turn_ids=[world.turn.id], payload=guess)
    page = browser.get(f"{erase_at(world)}?wish={wish.id}").content.decode()
    assert f'name="facts" value="{world.fact.id}">' in page
    assert CONFIRM not in page


def test_likely_memories_are_offered_by_their_words(browser: Client, world: ConsoleWorld) -> None:
    with tenant_scope(world.tenant.id):
        make_fact(world.space, "Nora keeps bees in Ghent", world.turn)
    page = browser.get(erase_at(world), {"chosen": "yes", "q": "the bees"}).content.decode()
    assert "Nora keeps bees in Ghent" in page
    assert CONFIRM not in page


def test_what_goes_is_shown_row_by_row_before_it_is_confirmed(
    browser: Client, world: ConsoleWorld
) -> None:
    sent = {"chosen": "yes", "facts": str(world.fact.id), "sources": "yes"}
    page = browser.get(erase_at(world), sent).content.decode()
    assert "Permanently erased" in page
    assert "Loses these words, keeps the rest" in page
    assert world.fact.text in page
    assert CONFIRM in page
    with tenant_scope(world.tenant.id):
        assert Fact.objects.filter(id=world.fact.id).exists(), "looking erases nothing"


def test_what_becomes_true_again_is_named_before_it_is_confirmed(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        before = make_fact(world.space, "Nora lives with Isla", valid_to=MAY, status="superseded")
        after = make_fact(world.space, "Nora and Isla broke up", supersedes=before)
    page = browser.get(erase_at(world), {"chosen": "yes", "facts": str(after.id)}).content.decode()
    again = page.index("True again: nothing contradicts them any more")
    assert again < page.index("Nora lives with Isla", again) < page.index(CONFIRM)


def test_a_reply_goes_with_the_chosen_message_that_it_repeats(
    browser: Client, world: ConsoleWorld, wish: Proposal
) -> None:
    with tenant_scope(world.tenant.id):
        (said,) = make_turns(world.space, "My boat sank at Ostend.")
        make_fact(world.space, "My boat sank at Ostend", said)
        (reply,) = make_turns(world.space, "Your boat sank at Ostend.", role="assistant")
    sent = {"chosen": "yes", "wish": str(wish.id), "turns": str(said.id), "sources": "yes"}
    page = browser.get(erase_at(world), sent).content.decode()
    assert reply.text in page
    browser.post(erase_at(world), sent)
    with tenant_scope(world.tenant.id):
        left = Turn.objects.filter(id__in=[said.id, reply.id]).exclude(state=Turn.State.REDACTED)
        assert not left.exists()


def test_a_conversation_takes_along_what_replies_elsewhere_repeat_of_it(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        said, _ = make_turns(world.space, "My boat sank at Ostend.", "It was the Marlin.")
        make_fact(world.space, "My boat sank at Ostend", said)
        (reply,) = make_turns(world.space, "Your boat sank at Ostend.", role="assistant")
    sent = {"session": str(said.session_id)}
    page = browser.get(erase_at(world), sent).content.decode()
    assert "2 turns" in page
    assert reply.text in page
    assert 'name="sources" value="yes" checked' in page
    alone = browser.get(erase_at(world), {**sent, "chosen": "yes"}).content.decode()
    assert said.text in alone
    assert reply.text not in alone
    browser.post(erase_at(world), {**sent, "chosen": "yes", "sources": "yes"})
    with tenant_scope(world.tenant.id):
        left = Turn.objects.filter(id__in=[said.id, reply.id]).exclude(state=Turn.State.REDACTED)
        assert not left.exists()


def test_without_what_repeats_it_a_conversation_goes_alone(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        (said,) = make_turns(world.space, "My boat sank at Ostend.")
        make_fact(world.space, "My boat sank at Ostend", said)
        (reply,) = make_turns(world.space, "Your boat sank at Ostend.", role="assistant")
    browser.post(erase_at(world), {"session": str(said.session_id), "chosen": "yes"})
    with tenant_scope(world.tenant.id):
        states = Turn.objects.in_bulk([said.id, reply.id])
    assert states[said.id].state == Turn.State.REDACTED
    assert states[reply.id].state != Turn.State.REDACTED


def test_exchanges_and_relations_that_go_are_told_in_words(
    browser: Client, world: ConsoleWorld
) -> None:
    with tenant_scope(world.tenant.id):
        ends = {
            "src": make_entity(world.space, "Odile"),
            "dst": make_entity(world.space, "Ghent bridge"),
        }
        keys = {"tenant": world.tenant, "space": world.space, "fact": world.fact}
        Relation.objects.create(label="keeps_bees_at", **ends, **keys)
    page = browser.get(erase_at(world), {"chosen": "yes", "facts": str(world.fact.id)})
    assert "Odile keeps bees at Ghent bridge" in page.content.decode()
    assert "keeps_bees_at" not in page.content.decode()


def test_what_is_chosen_for_a_wish_answers_it(
    browser: Client, world: ConsoleWorld, wish: Proposal
) -> None:
    sent = {"chosen": "yes", "wish": str(wish.id), "facts": str(world.fact.id)}
    done = browser.post(erase_at(world), sent)
    with tenant_scope(world.tenant.id):
        receipt = Receipt.objects.get(actor=world.admin.username)
        assert not Proposal.objects.filter(id=wish.id, state="open").exists()
        assert not Fact.objects.filter(id=world.fact.id).exists()
    assert done["Location"] == reverse("receipt", args=[receipt.id])


def test_a_receipt_is_checked_by_the_ids_that_were_kept(
    browser: Client, world: ConsoleWorld
) -> None:
    sent = {"chosen": "yes", "facts": str(world.fact.id)}
    where = browser.post(erase_at(world), sent)["Location"]
    page = browser.get(where).content.decode()
    with tenant_scope(world.tenant.id):
        receipt = Receipt.objects.get(actor=world.admin.username)
    assert str(receipt.id) in page
    assert receipt.target_digest in page
    assert b"They match" in browser.get(where, {"ids": str(world.fact.id)}).content
    assert (
        b"The receipt covers different IDs"
        in browser.get(where, {"ids": str(world.turn.id)}).content
    )


def test_turns_can_go_beside_the_memories(browser: Client, world: ConsoleWorld) -> None:
    sent = {"chosen": "yes", "facts": str(world.fact.id), "turns": str(world.turn.id)}
    browser.post(erase_at(world), sent)
    with tenant_scope(world.tenant.id):
        assert Turn.objects.get(id=world.turn.id).state == Turn.State.REDACTED


def test_a_receipt_says_erased_only_of_what_is_gone(
    browser: Client, world: ConsoleWorld, wish: Proposal
) -> None:
    browser.post(
        erase_at(world), {"chosen": "yes", "wish": str(wish.id), "facts": str(world.fact.id)}
    )
    with tenant_scope(world.tenant.id):
        receipt = Receipt.objects.get(actor=world.admin.username)
    pages = (reverse("receipt", args=[receipt.id]), reverse("receipts"))
    assert "Erased: " in browser.get(pages[0]).content.decode()
    now = timezone.now()
    day = {"undoable_until": now + timedelta(days=1)}
    for word, state in (
        ("Undone", day | {"undone_at": now}),
        ("Permanently erased", {"gone_at": now}),
    ):
        with tenant_scope(world.tenant.id):
            Receipt.objects.filter(id=receipt.id).update(**state)
        page = browser.get(pages[0]).content.decode()
        assert word in page
        if word == "Undone":
            assert "Erased: " not in page
            assert 'class="badge good">Undone' in browser.get(pages[1]).content.decode()
            with tenant_scope(world.tenant.id):
                Receipt.objects.filter(id=receipt.id).update(undone_at=None)


@pytest.mark.parametrize(
    ("hours_left", "hold", "said", "is_offered"),
    [
        (1, False, "then it is permanently destroyed", True),
        (1, True, "while it is, nothing is destroyed", True),
        (-1, False, "is about to be destroyed for good", False),
        (-1, True, "while it is, nothing is destroyed", False),
    ],
)
def test_what_is_hidden_is_told_as_it_is(
    browser: Client, world: ConsoleWorld, hours_left: int, hold: bool, said: str, is_offered: bool
) -> None:
    """Past its time and before the sweep no undo is offered; under a hold no end is told."""
    now = timezone.now()
    until = now + timedelta(hours=hours_left)
    with tenant_scope(world.tenant.id):
        if hold:
            set_policy(world.tenant.id, actor="eva", overrides={"erase.hold": True})
        receipt = Receipt.objects.create(
            tenant=world.tenant, target="facts", target_digest="d", actor="a wish",
            created_at=now, undoable_until=until,
        )  # fmt: skip
        SealedErasure.objects.create(
            tenant=world.tenant, space=world.space, receipt=receipt, event_id=world.event.id,
            sealed="", created_at=now, until=until,
        )  # fmt: skip
    page = browser.get(reverse("receipt", args=[receipt.id])).content.decode()
    assert said in page
    undo = reverse("space-event", args=[world.space.id, world.event.id])
    assert (undo in page) is is_offered


@pytest.mark.parametrize(
    ("actor", "by", "is_checked"),
    [
        ("policy: erase.on_request", "the policy, as the person asked", False),
        ("the person themselves", "the person themselves", False),
        ("eva", "eva", True),
    ],
)
def test_a_receipt_says_in_words_who_erased_and_asks_only_for_ids_that_were_shown(
    browser: Client, world: ConsoleWorld, actor: str, by: str, is_checked: bool
) -> None:
    with tenant_scope(world.tenant.id):
        receipt = make_receipt(world.tenant, actor=actor, reason="asked to forget")
        EvolutionEvent.objects.filter(id=world.event.id).update(actor=actor)
    page = browser.get(reverse("receipt", args=[receipt.id])).content.decode()
    assert f"<dd>{by}</dd>" in page
    assert ("Paste the IDs that you kept" in page) is is_checked
    history = reverse("space-history", args=[world.space.id])
    for at in (reverse("receipts"), history):
        shown = browser.get(at).content.decode()
        assert f"by {by}" in shown
    assert f">{by}</option>" in shown


def test_what_is_hidden_is_not_said_to_be_erased(browser: Client, world: ConsoleWorld) -> None:
    until = timezone.now() + timedelta(days=1)
    with tenant_scope(world.tenant.id):
        receipt = make_receipt(world.tenant, undoable_until=until)
        keys = {"tenant": world.tenant, "space": world.space, "event_id": world.event.id}
        SealedErasure.objects.create(
            receipt=receipt, sealed="", created_at=timezone.now(), until=until, **keys
        )
    where = reverse("receipt", args=[receipt.id])
    page = browser.get(where).content.decode()
    assert "What was hidden" in page
    assert "Hidden by" in page
    with tenant_scope(world.tenant.id):
        Receipt.objects.filter(id=receipt.id).update(gone_at=until)
    page = browser.get(where).content.decode()
    assert "What was erased" in page
    assert "Erased by" in page


def test_the_ids_of_everything_are_shown_before_it_goes(
    browser: Client, world: ConsoleWorld
) -> None:
    page = browser.get(erase_at(world), {"all": "yes"}).content.decode()
    assert f"{world.space.id}</p>" in page


def test_an_earlier_erasure_that_becomes_final_is_named(
    browser: Client, world: ConsoleWorld
) -> None:
    until = timezone.now() + timedelta(days=1)
    with tenant_scope(world.tenant.id):
        receipt = make_receipt(world.tenant, undoable_until=until)
        SealedErasure.objects.create(
            tenant=world.tenant, space=world.space, receipt=receipt, event_id=world.event.id,
            turn_ids=[world.turn.id], sealed="", created_at=timezone.now(), until=until,
        )  # fmt: skip
        other = make_fact(world.space, "Nora likes rye")
    said = "An earlier erasure that could still be undone becomes final"
    sent = {"chosen": "yes", "facts": str(world.fact.id), "sources": "yes"}
    page = browser.get(erase_at(world), sent).content.decode()
    assert said in page
    assert reverse("receipt", args=[receipt.id]) in page
    page = browser.get(erase_at(world), sent | {"facts": str(other.id)}).content.decode()
    assert said not in page
