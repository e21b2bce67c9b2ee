from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryhub.dialogues.messages import hash_text
from notes.facts.decide import ResolutionOp, decide_claim, find_roles_at_left_firm

START = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass
class PlainClaim:
    text: str
    object: str
    valid_from: datetime = START
    valid_to: datetime | None = None
    owner: str = "Ana"
    speaker: str = "Ana"
    verb: str = "lives"
    predicate_key: str = "lives_in"
    cardinality: str = "single"
    polarity: str = "holds"
    kind: str = "state"
    complement: str = ""
    event_from: datetime | None = None
    asserted_at: datetime = START

    @property
    def text_key(self) -> str:
        return hash_text(self.text)


def make_home_claim(city: str, day: int = 0, **more: object) -> PlainClaim:
    held = PlainClaim(f"Ana lives in {city}.", city, START + timedelta(days=day))
    return replace(held, **more)  # type: ignore[arg-type]  # field names of Held


def test_what_is_not_known_is_added() -> None:
    assert decide_claim(make_home_claim("Porto"), []).op is ResolutionOp.ADD


def test_M5_the_same_words_corroborate() -> None:
    old = make_home_claim("Porto")
    decision = decide_claim(make_home_claim("Porto", 30), [old])
    assert (decision.op, decision.target) == (ResolutionOp.SAME, old)
    assert not decision.inserts


def test_the_same_value_in_other_words_corroborates_a_single_predicate() -> None:
    new = replace(make_home_claim("porto", 30), text="Ana has settled in porto.")
    assert decide_claim(new, [make_home_claim("Porto")]).op is ResolutionOp.SAME


def test_an_event_on_another_day_is_another_event() -> None:
    run = PlainClaim("Ana ran 10 km.", "10 km", predicate_key="", cardinality="multi", kind="event")
    monday = replace(run, event_from=START)
    tuesday = replace(run, event_from=START + timedelta(days=1))
    assert decide_claim(tuesday, [monday]).op is ResolutionOp.ADD
    assert decide_claim(monday, [monday]).op is ResolutionOp.SAME


def test_a_newer_value_supersedes() -> None:
    old = make_home_claim("Porto")
    decision = decide_claim(make_home_claim("Madrid", 30), [old])
    assert (decision.op, decision.target, decision.until) == (ResolutionOp.SUPERSEDE, old, None)


def test_X4_late_news_is_history_and_leaves_the_current_value_alone() -> None:
    porto = make_home_claim("Porto", 30)
    decision = decide_claim(make_home_claim("Faro", 0), [porto])
    assert (decision.op, decision.target, decision.until) == (
        ResolutionOp.HISTORY,
        None,
        porto.valid_from,
    )


def test_late_news_inside_a_known_interval_splits_it() -> None:
    faro, porto = (
        make_home_claim("Faro", 0, valid_to=START + timedelta(days=60)),
        make_home_claim("Porto", 60),
    )
    decision = decide_claim(make_home_claim("Braga", 30), [faro, porto])
    assert (decision.op, decision.target, decision.until) == (
        ResolutionOp.SUPERSEDE,
        faro,
        porto.valid_from,
    )


def test_GR4_moving_back_is_a_third_interval() -> None:
    first = make_home_claim("Lisbon", 0, valid_to=START + timedelta(days=30))
    second = make_home_claim("Porto", 30)
    decision = decide_claim(make_home_claim("Lisbon", 60), [first, second])
    assert (decision.op, decision.target) == (ResolutionOp.SUPERSEDE, second)
    assert first.valid_to == second.valid_from


def test_of_the_same_time_the_later_assertion_wins_as_a_correction() -> None:
    old = make_home_claim("Porto")
    assert decide_claim(make_home_claim("Madrid"), [old]).op is ResolutionOp.CORRECT


def test_E19_a_correction_retracts() -> None:
    old = make_home_claim("Porto")
    decision = decide_claim(make_home_claim("Porto Alegre", 1), [old], correction=True)
    assert (decision.op, decision.target) == (ResolutionOp.CORRECT, old)


def test_GR3_a_predicate_with_many_values_is_never_contradicted() -> None:
    pizza = PlainClaim("Ana loves pizza.", "pizza", predicate_key="loves", cardinality="multi")
    burgers = PlainClaim(
        "Ana loves burgers.", "burgers", predicate_key="loves", cardinality="multi"
    )
    assert decide_claim(burgers, [pizza]).op is ResolutionOp.ADD


def test_a_denial_ends_what_it_denies_and_only_that() -> None:
    coffee = PlainClaim("Ana drinks coffee.", "coffee", predicate_key="drinks", cardinality="multi")
    tea = PlainClaim("Ana drinks tea.", "tea", predicate_key="drinks", cardinality="multi")
    stopped = replace(coffee, text="Ana no longer drinks coffee.", polarity="ended")
    decision = decide_claim(stopped, [tea, coffee])
    assert (decision.op, decision.target) == (ResolutionOp.END, coffee)


def test_one_thing_of_a_list_that_is_over_leaves_the_others() -> None:
    pills = PlainClaim("Ana takes metformin and ramipril.", "metformin and ramipril")
    pills = replace(pills, predicate_key="", cardinality="multi")
    stopped = replace(pills, text="Ana does not take ramipril any more.", object="ramipril")
    assert decide_claim(replace(stopped, polarity="ended"), [pills]).op is ResolutionOp.ADD
    alone = replace(pills, text="Ana takes ramipril.", object="ramipril")
    decision = decide_claim(replace(stopped, polarity="ended"), [pills, alone])
    assert (decision.op, decision.target) == (ResolutionOp.END, alone)


def test_what_was_told_at_once_is_no_end_of_what_happened() -> None:
    died = PlainClaim("Ana's wife Edna passed away.", "", owner="Edna", predicate_key="")
    died = replace(died, cardinality="multi", kind="event")
    was = replace(died, text="Edna was Ana's wife.", kind="state", polarity="ended")
    assert decide_claim(was, [died]).op is ResolutionOp.ADD


def test_a_job_that_was_left_is_known_by_some_of_its_words() -> None:
    job: dict[str, Any] = {"predicate_key": "works_at", "verb": "works at"}
    pub = make_home_claim("the Anchor pub", text="Ana works at the Anchor pub.", **job)
    mill = make_home_claim("the mill", text="Ana works at the mill.", **job)
    left = make_home_claim("pub", 9, text="Ana left the pub.", polarity="ended", **job)
    decision = decide_claim(left, [mill, pub])
    assert (decision.op, decision.target) == (ResolutionOp.END, pub)
    assert decide_claim(left, [mill]).op is ResolutionOp.ADD
    both = [pub, replace(pub, object="the Crown pub", text="Ana works at the Crown pub.")]
    assert decide_claim(left, both).op is ResolutionOp.ADD


def test_a_denial_of_what_is_not_held_is_kept_as_a_claim() -> None:
    denial = replace(make_home_claim("Porto"), polarity="denied", text="Ana doesn't live in Porto.")
    assert decide_claim(denial, []).op is ResolutionOp.ADD


LIKES = PlainClaim("Ana likes coffee.", "coffee", predicate_key="likes", cardinality="multi")
DISLIKES = replace(LIKES, text="Ana doesn't like coffee.", polarity="denied")


def move_claim(claim: PlainClaim, day: int, until: int | None = None) -> PlainClaim:
    end = None if until is None else START + timedelta(days=until)
    return replace(claim, valid_from=START + timedelta(days=day), valid_to=end)


def test_what_is_so_again_ends_its_denial() -> None:
    held = [move_claim(LIKES, 0, 10), move_claim(DISLIKES, 10)]
    decision = decide_claim(move_claim(LIKES, 20), held)
    assert (decision.op, decision.target) == (ResolutionOp.SUPERSEDE, held[1])


def test_denied_again_ends_it_again() -> None:
    held = [move_claim(LIKES, 0, 10), move_claim(DISLIKES, 10), move_claim(LIKES, 20)]
    decision = decide_claim(move_claim(DISLIKES, 30), held)
    assert (decision.op, decision.target) == (ResolutionOp.END, held[2])


def test_a_denial_said_twice_is_one() -> None:
    held = [move_claim(LIKES, 0, 10), move_claim(DISLIKES, 10)]
    assert decide_claim(move_claim(DISLIKES, 20), held).op is ResolutionOp.SAME


def test_E8_an_older_denial_ends_nothing_newer() -> None:
    paris = make_home_claim("Paris", 100)
    older = replace(
        make_home_claim("Paris", 0), text="Ana doesn't live in Paris.", polarity="denied"
    )
    decision = decide_claim(older, [paris])
    assert (decision.op, decision.target, decision.until) == (
        ResolutionOp.HISTORY,
        None,
        paris.valid_from,
    )


@pytest.mark.parametrize("polarity", ["holds", "ended", "denied"])
def test_X11_E24_what_is_not_a_persons_word_closes_nothing(polarity: str) -> None:
    old = make_home_claim("Porto")
    new = replace(
        make_home_claim("Porto" if polarity != "holds" else "Madrid", 5), polarity=polarity
    )
    new = replace(new, text=f"{new.text} ({polarity})", speaker="Hub")
    assert decide_claim(new, [old], trusted=False).op is ResolutionOp.REVIEW


def test_another_owners_claims_are_another_matter() -> None:
    assert (
        decide_claim(make_home_claim("Madrid", 3), [make_home_claim("Porto", owner="Rita")]).op
        is ResolutionOp.ADD
    )


@pytest.mark.parametrize("order", [1, -1])
def test_I4_a_claim_ended_the_moment_it_began_hides_no_other(order: int) -> None:
    held = [move_claim(make_home_claim("Porto"), 0, 0), move_claim(make_home_claim("Porto"), 0)][
        ::order
    ]
    decision = decide_claim(make_home_claim("Braga"), held)
    assert decision.op is ResolutionOp.CORRECT
    assert decision.target == move_claim(make_home_claim("Porto"), 0)


def test_a_plan_pushes_nothing_out() -> None:
    plan = replace(make_home_claim("Madrid", 3), polarity="planned", cardinality="multi")
    assert decide_claim(plan, [make_home_claim("Porto")]).op is ResolutionOp.ADD


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 30)), max_size=12))
def test_I4_intervals_of_a_single_valued_predicate_never_overlap(
    said: list[tuple[str, int]],
) -> None:
    held: list[PlainClaim] = []
    for city, day in said:
        new = make_home_claim(city, day)
        decision = decide_claim(new, held)
        if decision.op is ResolutionOp.SAME:
            continue
        new.valid_to = decision.until
        if decision.op is ResolutionOp.CORRECT and decision.target:
            held.remove(decision.target)
        elif decision.target:
            decision.target.valid_to = new.valid_from
        held.append(new)
    held.sort(key=lambda claim: claim.valid_from)
    for earlier, later in pairwise(held):
        assert earlier.valid_to is not None
        assert earlier.valid_to <= later.valid_from
    assert sum(claim.valid_to is None for claim in held) <= 1


def test_what_was_over_when_it_was_told_ends_nothing() -> None:
    """Somebody has lived in Porto since day 0; on day 90 a home of days 30 to 60 is told of."""
    held = make_home_claim("Porto")
    told = {"valid_to": START + timedelta(days=60), "asserted_at": START + timedelta(days=90)}
    decision = decide_claim(make_home_claim("Leeds", 30, **told), [held])
    assert (decision.op, decision.mutates) == (ResolutionOp.ADD, False)


def test_a_role_told_with_its_firm_ends_with_the_firm() -> None:
    at_cafe = make_home_claim(
        "Blue Door Coffee", predicate_key="works_at", text="Ana works at Blue Door Coffee."
    )
    role = make_home_claim(
        "barista", predicate_key="works_as", text="Ana is a barista at Blue Door Coffee in Leeds."
    )
    singer = make_home_claim("singer", predicate_key="works_as", text="Ana is a singer.")
    new = make_home_claim("library", 30, predicate_key="works_at", text="Ana works at a library.")
    held = [at_cafe, role, singer]
    assert find_roles_at_left_firm(new, at_cafe, held) == [role]
    assert find_roles_at_left_firm(new, singer, held) == []
