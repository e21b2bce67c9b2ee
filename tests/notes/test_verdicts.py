"""How far a model's verdict is carried out: what code overrules, and what waits (spec §11.7)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from notes.facts.decide import ClaimDecision, ResolutionOp
from notes.facts.judge import apply_contradiction_policy, decide_by_verdict
from tests.notes.test_resolving import START, PlainClaim, make_home_claim

CHANGES = [("contradict", ResolutionOp.SUPERSEDE), ("deny", ResolutionOp.END)]


def make_claim(text: str, day: int = 0, **more: Any) -> PlainClaim:
    """Of no known predicate, told on this day."""
    at = START + timedelta(days=day)
    plain: dict[str, Any] = {
        "predicate_key": "",
        "cardinality": "multi",
        "valid_from": at,
        "asserted_at": at,
    }
    return PlainClaim(text, more.pop("value", text), **(plain | more))


def judge(op: Any, new: PlainClaim, old: PlainClaim | None, **more: Any) -> ClaimDecision[Any]:
    return decide_by_verdict(op, new, old, **more)


OLD, NEW = make_claim("Ana runs a bakery."), make_claim("Ana closed the bakery.", 30)


@pytest.mark.parametrize(("op", "done"), CHANGES)
@pytest.mark.parametrize("trust", ["guarded", "trusted"])
def test_a_models_word_is_carried_out(op: Any, done: ResolutionOp, trust: Any) -> None:
    decision = judge(op, NEW, OLD, trust=trust)
    assert (decision.op, decision.target) == (done, OLD)


@pytest.mark.parametrize("op", ["contradict", "deny", "augment"])
def test_where_a_person_confirms_a_models_word_waits(op: Any) -> None:
    decision = judge(op, NEW, OLD, trust="confirm")
    assert (decision.op, decision.target) == (ResolutionOp.REVIEW, OLD)
    assert decision.reason.startswith("a model's word waits for a person: ")


def test_where_a_person_confirms_what_changes_nothing_does_not_wait() -> None:
    assert judge("same", NEW, OLD, trust="confirm").op is ResolutionOp.SAME
    assert judge("add", NEW, OLD, trust="confirm").op is ResolutionOp.ADD
    assert judge("contradict", NEW, None, trust="confirm").op is ResolutionOp.ADD


def test_where_a_person_confirms_words_that_say_it_wait_too() -> None:
    decision = judge("contradict", NEW, OLD, trust="confirm", bears_exchange_out=True)
    assert decision.op is ResolutionOp.REVIEW


@pytest.mark.parametrize(
    ("trust", "done"),
    [("guarded", ResolutionOp.REVIEW), ("trusted", ResolutionOp.SUPERSEDE)],
)
def test_words_that_were_not_found_bear_nothing_out(trust: Any, done: ResolutionOp) -> None:
    decision = judge("contradict", NEW, OLD, trust=trust, quoted=False)
    assert (decision.op, decision.target) == (done, OLD)


@pytest.mark.parametrize(
    ("trust", "done"),
    [("guarded", ResolutionOp.REVIEW), ("trusted", ResolutionOp.SUPERSEDE)],
)
def test_what_is_said_of_one_speaker_ends_nothing_of_another(
    trust: Any, done: ResolutionOp
) -> None:
    of_rui = replace(OLD, owner="Rui")
    both = {"ana", "rui"}
    assert judge("contradict", NEW, of_rui, trust=trust, speakers=both).op is done
    # Who does not talk here may be the speaker by another name.
    assert judge("contradict", NEW, of_rui, speakers={"ana"}).op is ResolutionOp.SUPERSEDE


@pytest.mark.parametrize(
    ("trust", "done"),
    [("guarded", ResolutionOp.REVIEW), ("trusted", ResolutionOp.SUPERSEDE)],
)
def test_R9_other_values_of_what_has_many_are_put_before_a_person_where_no_words_bear_it_out(
    trust: Any, done: ResolutionOp
) -> None:
    likes: dict[str, Any] = {"predicate_key": "likes", "verb": "likes"}
    pizza = make_claim("Ana likes pizza.", value="pizza", **likes)
    burgers = make_claim("Ana likes burgers.", 30, value="burgers", **likes)
    assert judge("contradict", burgers, pizza, trust=trust).op is done
    told = judge("contradict", burgers, pizza, trust=trust, bears_exchange_out=True)
    assert told.op is ResolutionOp.SUPERSEDE
    of_rui = replace(burgers, owner="Rui")
    assert judge("contradict", of_rui, pizza, trust=trust, bears_exchange_out=True).op is done
    same = replace(burgers, text="Ana loathes pizza.", object="pizza")
    assert judge("contradict", same, pizza, trust=trust).op is ResolutionOp.SUPERSEDE
    other = replace(burgers, predicate_key="drives")
    assert judge("contradict", other, replace(pizza, predicate_key="drives"), trust=trust).op is (
        ResolutionOp.SUPERSEDE
    )
    gone = replace(burgers, polarity="ended", object="burgers")
    assert judge("deny", gone, pizza, trust=trust).op is ResolutionOp.END


def test_X4_news_of_an_earlier_time_are_history() -> None:
    told = START + timedelta(days=60)
    porto = make_home_claim("Porto", 30, event_from=START + timedelta(days=30))
    late = make_home_claim("Faro", 0, asserted_at=told)
    decision = judge("contradict", late, replace(porto, asserted_at=START + timedelta(days=31)))
    assert (decision.op, decision.target, decision.until) == (
        ResolutionOp.HISTORY,
        None,
        porto.valid_from,
    )
    denied = replace(late, polarity="denied")
    assert judge("deny", denied, porto).op is ResolutionOp.HISTORY


def test_what_is_told_later_takes_the_place_of_what_nobody_dated() -> None:
    """ "I moved on Monday", told on Tuesday, of a home that was known since Tuesday morning."""
    porto = make_home_claim("Porto", 30, asserted_at=START + timedelta(days=30))
    faro = make_home_claim("Faro", 29, asserted_at=START + timedelta(days=31))
    decision = judge("contradict", faro, porto)
    assert (decision.op, decision.target) == (ResolutionOp.SUPERSEDE, porto)
    over = replace(faro, valid_to=START + timedelta(days=29, hours=1))
    assert judge("contradict", over, porto).op is ResolutionOp.HISTORY
    said_before = replace(faro, asserted_at=START + timedelta(days=29))
    assert judge("contradict", said_before, porto).op is ResolutionOp.HISTORY


@pytest.mark.parametrize("trust", ["confirm", "guarded", "trusted"])
def test_a_plan_ends_nothing_that_is_so(trust: Any) -> None:
    plan = make_home_claim("Faro", 30, polarity="planned", kind="plan", cardinality="multi")
    decision = judge("contradict", plan, make_home_claim("Porto"), trust=trust)
    assert (decision.op, decision.target) == (ResolutionOp.ADD, None)
    other_plan = make_home_claim("Braga", polarity="planned", kind="plan")
    assert judge("contradict", plan, other_plan, trust="trusted").op is ResolutionOp.SUPERSEDE


@pytest.mark.parametrize("op", ["contradict", "deny", "augment"])
def test_E24_an_assistants_words_change_nothing_however_much_is_trusted(op: Any) -> None:
    decision = judge(op, replace(NEW, speaker="Hub"), OLD, trusted=False, trust="trusted")
    assert (decision.op, decision.target) == (ResolutionOp.REVIEW, OLD)


def test_a_correction_says_that_it_never_was_so() -> None:
    assert judge("contradict", NEW, OLD, correction=True).op is ResolutionOp.CORRECT
    assert judge("deny", NEW, OLD, correction=True).op is ResolutionOp.RETRACT
    same_time = replace(NEW, valid_from=OLD.valid_from)
    assert judge("contradict", same_time, OLD).op is ResolutionOp.CORRECT


def test_what_was_over_already_is_not_ended_again() -> None:
    over = replace(OLD, valid_to=START + timedelta(days=1))
    assert judge("contradict", NEW, over).op is ResolutionOp.ADD


def test_a_suspicion_is_a_persons_to_decide() -> None:
    assert judge("contradict", NEW, OLD, sure=False, trust="trusted").op is ResolutionOp.REVIEW


def test_an_augment_carries_the_words() -> None:
    decision = judge("augment", NEW, OLD, text=" Both. ")
    assert (decision.op, decision.text) == (ResolutionOp.AUGMENT, "Both.")
    denied = replace(NEW, polarity="denied")
    assert judge("augment", denied, OLD).op is ResolutionOp.REVIEW
    assert judge("same", denied, OLD).op is ResolutionOp.REVIEW


@pytest.mark.parametrize(
    ("contradiction", "store", "done"),
    [
        ("supersede", True, ResolutionOp.SUPERSEDE),
        ("supersede", False, ResolutionOp.CLOSE),
        ("retract", True, ResolutionOp.CORRECT),
        ("retract", False, ResolutionOp.RETRACT),
        ("keep_both", True, ResolutionOp.ADD),
    ],
)
def test_M10_the_policy_says_what_a_contradiction_comes_to(
    contradiction: Any, store: bool, done: ResolutionOp
) -> None:
    decision = judge("contradict", NEW, OLD)
    made = apply_contradiction_policy(decision, contradiction, store=store)
    assert (made.op, made.target) == (done, OLD)
    waits = judge("contradict", NEW, OLD, trust="confirm")
    assert apply_contradiction_policy(waits, contradiction, store=store) == waits
