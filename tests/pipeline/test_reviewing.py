"""A person answers proposals; each answer is an event by hand (spec §11.7, E20)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from memoryhub.errors import Conflict, InvalidInput
from memoryhub.pipeline import corrections
from memoryhub.pipeline.review import answer_proposals
from memoryhub.tenants.scope import tenant_scope
from notes.history.change_set import serialize_row
from notes.models import Derivation, Entity, EvolutionEvent, Fact, Proposal, Receipt
from notes.review.moot import MOOT
from notes.review.proposals import propose_change
from tests.support.hand_writer import HandWriter, Kind
from tests.support.hub import ScriptedHub


@pytest.fixture
def hand(hub: ScriptedHub) -> Iterator[HandWriter]:
    with tenant_scope(hub.tenant.id):
        yield HandWriter(hub)


def make_second_claim(hand: HandWriter, text: str, value: str, days: int) -> Fact:
    """A second claim of a person's word against another's, stored beside it."""
    at = hand.hub.now + timedelta(days=days)
    fact = Fact(
        tenant_id=hand.space.tenant_id,
        space=hand.space,
        owner="Ana",
        speaker="Hub",
        text=text,
        text_key=text,
        predicate_key="lives_in",
        cardinality="multi",
        object=value,
        valid_from=at,
        asserted_at=at,
        recorded_at=hand.hub.now,
        confidence=0.3,
    )
    fact.save(force_insert=True)
    return fact


def make_conflict(hand: HandWriter) -> tuple[Fact, Fact, Proposal]:
    hand.add_claim("Ana lives in Porto", "Porto")
    old = Fact.objects.get()
    new = make_second_claim(hand, "Ana lives in Rome", "Rome", 3)
    payload = {"op": "supersede", "fact_id": str(new.id), "candidate": serialize_row(new)}
    made = propose_change(
        hand.space, "conflict", "x", "says otherwise", hand.hub.now, payload=payload, row=old
    )
    return old, new, made


def test_replacing_closes_the_old_claim_for_the_new_one(hub: ScriptedHub, hand: HandWriter) -> None:
    old, new, proposal = make_conflict(hand)
    answer_proposals.answer_proposal(proposal, "replace", "eva", hub.now)
    old.refresh_from_db()
    new.refresh_from_db()
    assert (old.status, old.valid_to) == ("superseded", new.valid_from)
    assert (new.supersedes_id, new.cardinality, new.confidence) == (old.id, "single", 0.9)
    proposal.refresh_from_db()
    assert (proposal.state, proposal.decided_by) == ("accepted", "eva")
    assert EvolutionEvent.objects.get(kind=Kind.MANUAL).actor == "eva"
    with pytest.raises(Conflict):
        answer_proposals.answer_proposal(proposal, "keep", "rui", hub.now)


def test_keeping_both_changes_nothing(hub: ScriptedHub, hand: HandWriter) -> None:
    _, _, proposal = make_conflict(hand)
    before = list(Fact.objects.order_by("id").values())
    answer_proposals.answer_proposal(proposal, "keep", "eva", hub.now)
    assert list(Fact.objects.order_by("id").values()) == before
    assert Proposal.objects.get().state == "rejected"


def test_discarding_withdraws_the_new_claim(hub: ScriptedHub, hand: HandWriter) -> None:
    old, new, proposal = make_conflict(hand)
    answer_proposals.answer_proposal(proposal, "discard", "eva", hub.now)
    assert Fact.objects.get(id=new.id).status == "retracted"
    assert Fact.objects.get(id=old.id).status == "active"


def test_an_unknown_answer_leaves_the_proposal_open(hub: ScriptedHub, hand: HandWriter) -> None:
    _, _, proposal = make_conflict(hand)
    with pytest.raises(InvalidInput):
        answer_proposals.answer_proposal(proposal, "erase", "eva", hub.now)
    assert Proposal.objects.get().state == "open"


def test_what_fails_is_open_again(hub: ScriptedHub, hand: HandWriter) -> None:
    old, _, proposal = make_conflict(hand)
    Proposal.objects.update(payload={"op": "supersede", "fact_id": str(old.space_id)})
    proposal.refresh_from_db()
    with pytest.raises(Exception, match="no such fact"):
        answer_proposals.answer_proposal(proposal, "replace", "eva", hub.now)
    assert Proposal.objects.get().state == "open"


def make_candidate(hand: HandWriter, text: str, value: str, days: int) -> dict[str, Any]:
    fact = make_second_claim(hand, text, value, days)
    values, turn = serialize_row(fact), hand.add_turn(text)
    fact.delete()
    values["cardinality"] = "single"
    return {"candidate": values, "sources": [{"turn": str(turn.id), "start": 0, "end": 3}]}


@pytest.mark.parametrize(
    ("op", "status", "facts"),
    [("supersede", "superseded", 2), ("correct", "retracted", 2), ("close", "superseded", 1)],
)
def test_what_a_person_corrected_changes_only_on_a_persons_word(
    hub: ScriptedHub, hand: HandWriter, op: str, status: str, facts: int
) -> None:
    hand.add_claim("Ana lives in Porto", "Porto")
    Fact.objects.update(corrected_by="eva")
    old = Fact.objects.get()
    payload = {"op": op, **make_candidate(hand, "Ana lives in Rome", "Rome", 3)}
    proposal = propose_change(
        hand.space, "overwrite", "y", "says otherwise", hub.now, payload=payload, row=old
    )
    answer_proposals.answer_proposal(proposal, "apply", "eva", hub.now)
    old.refresh_from_db()
    assert old.status == status
    assert Fact.objects.count() == facts


def test_a_rewording_that_a_person_lets_pass_keeps_the_sources_and_the_slot(
    hub: ScriptedHub, hand: HandWriter
) -> None:
    hand.add_claim("Ana lives in Porto", "Porto")
    Fact.objects.update(pinned=True, shelf="user_kb", shelved_at=hub.now)
    old = Fact.objects.get()
    payload = {
        "op": "augment",
        **make_candidate(hand, "Ana lives in Porto by the river", "Porto", 3),
    }
    proposal = propose_change(
        hand.space, "overwrite", "y", "more", hub.now, payload=payload, row=old
    )
    answer_proposals.answer_proposal(proposal, "apply", "eva", hub.now)
    old.refresh_from_db()
    new = Fact.objects.get(retired_at=None)
    assert (new.lineage, new.lineage_version) == (old.lineage, 2)
    assert (new.valid_from, new.mention_count) == (old.valid_from, old.mention_count + 1)
    assert (old.shelf, new.shelf, new.shelved_at) == ("", "user_kb", hub.now)
    support = Derivation.objects.filter(child_id=new.id, role="support")
    assert support.values("turn").distinct().count() == 2


def test_the_values_of_other_rows_are_written_as_proposed(
    hub: ScriptedHub, hand: HandWriter
) -> None:
    note = hand.add_note("Paddling in spring")
    corrections.set_pinned(hand.space, "note", note.id, True, "eva", hub.now)
    payload = {"values": {"keywords": ["kayak"], "context": "A sport"}}
    proposal = propose_change(
        hand.space, "overwrite", "z", "more", hub.now, payload=payload, row=note
    )
    answer_proposals.answer_proposal(proposal, "apply", "eva", hub.now)
    note.refresh_from_db()
    assert (note.keywords, note.context, note.version) == (["kayak"], "A sport", 3)


def test_X11_what_was_held_back_is_stored_when_a_person_vouches_for_it(
    hub: ScriptedHub, hand: HandWriter
) -> None:
    payload = {"op": "add", **make_candidate(hand, "Ana lives in Rome", "Rome", 3)}
    proposal = propose_change(hand.space, "quarantine", "q", "a command", hub.now, payload=payload)
    assert not Fact.objects.exists()
    answer_proposals.answer_proposal(proposal, "store", "eva", hub.now)
    assert Fact.objects.get().text == "Ana lives in Rome"


def test_merging_is_one_event_that_can_be_undone(hub: ScriptedHub, hand: HandWriter) -> None:
    common = {"tenant": hub.tenant, "space": hand.space}
    ann = Entity.objects.create(name="Ann", canonical_key="ann", **common)
    anna = Entity.objects.create(name="Anna", canonical_key="anna", **common)
    payload = {"entity": str(ann.id), "into": str(anna.id), "cosine": 0.8}
    proposal = propose_change(hand.space, "merge", "m", "alike", hub.now, payload=payload, row=ann)
    answer_proposals.answer_proposal(proposal, "merge", "eva", hub.now)
    ann.refresh_from_db()
    anna.refresh_from_db()
    assert ann.merged_into_id == anna.id
    assert anna.aliases == ["Ann"]


@pytest.mark.parametrize(("mode", "certain"), [("auto", True), ("auto", False), ("confirm", True)])
def test_E20_AA7_a_wish_to_forget_is_granted_at_once_only_where_it_is_clear(
    hub: ScriptedHub, hand: HandWriter, mode: str, certain: bool
) -> None:
    hub.set_policy(erase__on_request=mode)
    hand.add_claim("Ana lives in Porto", "Porto")
    fact = Fact.objects.get()
    payload = {"fact_ids": [str(fact.id)], "auto": certain}
    proposal = propose_change(
        hand.space, "erase", "w", "asked to forget", hub.now, payload=payload, row=fact
    )
    granted = answer_proposals.grant_forget_requests(hand.space, hub.now)
    assert granted == int(mode == "auto" and certain)
    if not granted:
        assert Fact.objects.exists()
        answer_proposals.answer_proposal(proposal, "erase", "eva", hub.now)
    assert not Fact.objects.exists()
    receipt = Receipt.objects.get()
    assert receipt.counts["turns"] == 1


def test_a_case_about_a_claim_that_ended_is_settled_and_comes_back_with_it(
    hub: ScriptedHub, hand: HandWriter
) -> None:
    old, _, proposal = make_conflict(hand)
    ended = corrections.end_fact(hub.space, old.id, "eva", hub.now)
    proposal.refresh_from_db()
    assert (proposal.state, proposal.decided_by) == ("rejected", MOOT)
    corrections.undo_event(ended.event, "eva", hub.now)
    proposal.refresh_from_db()
    assert (proposal.state, proposal.decided_by, proposal.decided_at) == ("open", "", None)


def test_an_answer_of_a_person_stays_whatever_becomes_of_the_claim(
    hub: ScriptedHub, hand: HandWriter
) -> None:
    old, _, proposal = make_conflict(hand)
    answer_proposals.answer_proposal(proposal, "keep", "eva", hub.now)
    ended = corrections.end_fact(hub.space, old.id, "eva", hub.now)
    corrections.undo_event(ended.event, "eva", hub.now)
    proposal.refresh_from_db()
    assert (proposal.state, proposal.decided_by) == ("rejected", "eva")
