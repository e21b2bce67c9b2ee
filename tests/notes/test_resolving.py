from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryhub.dialogues.messages import text_hash
from notes.resolving import Op, decide

START = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass
class Held:
    text: str
    o: str
    valid_from: datetime = START
    valid_to: datetime | None = None
    owner: str = "Ana"
    speaker: str = "Ana"
    v: str = "lives"
    predicate_key: str = "lives_in"
    cardinality: str = "single"
    polarity: str = "holds"
    kind: str = "state"
    c: str = ""
    event_from: datetime | None = None

    @property
    def text_key(self) -> str:
        return text_hash(self.text)


def lives(city: str, day: int = 0, **more: object) -> Held:
    held = Held(f"Ana lives in {city}.", city, START + timedelta(days=day))
    return replace(held, **more)  # type: ignore[arg-type]  # field names of Held


def test_what_is_not_known_is_added() -> None:
    assert decide(lives("Porto"), []).op is Op.ADD


def test_M5_the_same_words_corroborate() -> None:
    old = lives("Porto")
    decision = decide(lives("Porto", 30), [old])
    assert (decision.op, decision.target) == (Op.SAME, old)
    assert not decision.inserts


def test_the_same_value_in_other_words_corroborates_a_single_predicate() -> None:
    new = replace(lives("porto", 30), text="Ana has settled in porto.")
    assert decide(new, [lives("Porto")]).op is Op.SAME


def test_an_event_on_another_day_is_another_event() -> None:
    run = Held("Ana ran 10 km.", "10 km", predicate_key="", cardinality="multi", kind="event")
    monday = replace(run, event_from=START)
    tuesday = replace(run, event_from=START + timedelta(days=1))
    assert decide(tuesday, [monday]).op is Op.ADD
    assert decide(monday, [monday]).op is Op.SAME


def test_a_newer_value_supersedes() -> None:
    old = lives("Porto")
    decision = decide(lives("Madrid", 30), [old])
    assert (decision.op, decision.target, decision.until) == (Op.SUPERSEDE, old, None)


def test_X4_late_news_is_history_and_leaves_the_current_value_alone() -> None:
    porto = lives("Porto", 30)
    decision = decide(lives("Faro", 0), [porto])
    assert (decision.op, decision.target, decision.until) == (Op.HISTORY, None, porto.valid_from)


def test_late_news_inside_a_known_interval_splits_it() -> None:
    faro, porto = lives("Faro", 0, valid_to=START + timedelta(days=60)), lives("Porto", 60)
    decision = decide(lives("Braga", 30), [faro, porto])
    assert (decision.op, decision.target, decision.until) == (
        Op.SUPERSEDE,
        faro,
        porto.valid_from,
    )


def test_GR4_moving_back_is_a_third_interval() -> None:
    first = lives("Lisbon", 0, valid_to=START + timedelta(days=30))
    second = lives("Porto", 30)
    decision = decide(lives("Lisbon", 60), [first, second])
    assert (decision.op, decision.target) == (Op.SUPERSEDE, second)
    assert first.valid_to == second.valid_from


def test_of_the_same_time_the_later_assertion_wins_as_a_correction() -> None:
    old = lives("Porto")
    assert decide(lives("Madrid"), [old]).op is Op.CORRECT


def test_E19_a_correction_retracts() -> None:
    old = lives("Porto")
    decision = decide(lives("Porto Alegre", 1), [old], correction=True)
    assert (decision.op, decision.target) == (Op.CORRECT, old)


def test_GR3_a_predicate_with_many_values_is_never_contradicted() -> None:
    pizza = Held("Ana loves pizza.", "pizza", predicate_key="loves", cardinality="multi")
    burgers = Held("Ana loves burgers.", "burgers", predicate_key="loves", cardinality="multi")
    assert decide(burgers, [pizza]).op is Op.ADD


def test_a_denial_ends_what_it_denies_and_only_that() -> None:
    coffee = Held("Ana drinks coffee.", "coffee", predicate_key="drinks", cardinality="multi")
    tea = Held("Ana drinks tea.", "tea", predicate_key="drinks", cardinality="multi")
    stopped = replace(coffee, text="Ana no longer drinks coffee.", polarity="ended")
    decision = decide(stopped, [tea, coffee])
    assert (decision.op, decision.target) == (Op.END, coffee)


def test_a_denial_of_what_is_not_held_is_kept_as_a_claim() -> None:
    denial = replace(lives("Porto"), polarity="denied", text="Ana doesn't live in Porto.")
    assert decide(denial, []).op is Op.ADD


LIKES = Held("Ana likes coffee.", "coffee", predicate_key="likes", cardinality="multi")
DISLIKES = replace(LIKES, text="Ana doesn't like coffee.", polarity="denied")


def at(claim: Held, day: int, until: int | None = None) -> Held:
    end = None if until is None else START + timedelta(days=until)
    return replace(claim, valid_from=START + timedelta(days=day), valid_to=end)


def test_what_is_so_again_ends_its_denial() -> None:
    held = [at(LIKES, 0, 10), at(DISLIKES, 10)]
    decision = decide(at(LIKES, 20), held)
    assert (decision.op, decision.target) == (Op.SUPERSEDE, held[1])


def test_denied_again_ends_it_again() -> None:
    held = [at(LIKES, 0, 10), at(DISLIKES, 10), at(LIKES, 20)]
    decision = decide(at(DISLIKES, 30), held)
    assert (decision.op, decision.target) == (Op.END, held[2])


def test_a_denial_said_twice_is_one() -> None:
    held = [at(LIKES, 0, 10), at(DISLIKES, 10)]
    assert decide(at(DISLIKES, 20), held).op is Op.SAME


def test_E8_an_older_denial_ends_nothing_newer() -> None:
    paris = lives("Paris", 100)
    older = replace(lives("Paris", 0), text="Ana doesn't live in Paris.", polarity="denied")
    decision = decide(older, [paris])
    assert (decision.op, decision.target, decision.until) == (Op.HISTORY, None, paris.valid_from)


@pytest.mark.parametrize("polarity", ["holds", "ended", "denied"])
def test_X11_E24_what_is_not_a_persons_word_closes_nothing(polarity: str) -> None:
    old = lives("Porto")
    new = replace(lives("Porto" if polarity != "holds" else "Madrid", 5), polarity=polarity)
    new = replace(new, text=f"{new.text} ({polarity})", speaker="Hub")
    assert decide(new, [old], trusted=False).op is Op.REVIEW


def test_another_owners_claims_are_another_matter() -> None:
    assert decide(lives("Madrid", 3), [lives("Porto", owner="Rita")]).op is Op.ADD


@pytest.mark.parametrize("order", [1, -1])
def test_I4_a_claim_ended_the_moment_it_began_hides_no_other(order: int) -> None:
    held = [at(lives("Porto"), 0, 0), at(lives("Porto"), 0)][::order]
    decision = decide(lives("Braga"), held)
    assert decision.op is Op.CORRECT
    assert decision.target == at(lives("Porto"), 0)


def test_a_plan_pushes_nothing_out() -> None:
    plan = replace(lives("Madrid", 3), polarity="planned", cardinality="multi")
    assert decide(plan, [lives("Porto")]).op is Op.ADD


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 30)), max_size=12))
def test_I4_intervals_of_a_single_valued_predicate_never_overlap(
    said: list[tuple[str, int]],
) -> None:
    held: list[Held] = []
    for city, day in said:
        new = lives(city, day)
        decision = decide(new, held)
        if decision.op is Op.SAME:
            continue
        new.valid_to = decision.until
        if decision.op is Op.CORRECT and decision.target:
            held.remove(decision.target)
        elif decision.target:
            decision.target.valid_to = new.valid_from
        held.append(new)
    held.sort(key=lambda claim: claim.valid_from)
    for earlier, later in pairwise(held):
        assert earlier.valid_to is not None
        assert earlier.valid_to <= later.valid_from
    assert sum(claim.valid_to is None for claim in held) <= 1
