from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryhub.recall.candidates.channels.similar import build_arms
from memoryhub.recall.question.parse import ParsedQuestion, parse_question
from memoryhub.recall.ranking.score import MemoryCandidate, score_candidates
from memoryhub.recall.ranking.select import filter_relevant, score_relevance, select_distinct
from memoryhub.recall.ranking.signals import compute_z_scores
from memoryhub.recall.render.results import ArmRank, MemoryKind

NOW = datetime(2026, 6, 1, tzinfo=UTC)
numbers = st.floats(-2, 2, allow_nan=False)


def parse_route(question: str) -> ParsedQuestion:
    return parse_question(question, ["Ana", "Ben"], NOW, 256)


def make_candidate(
    dense: float | None = 0.0,
    lexical: float = 0.0,
    *,
    kind: MemoryKind = "turn",
    speaker: str = "",
    predicate: str = "",
    text: str = "",
    at: datetime = NOW,
    event: tuple[datetime, datetime] | None = None,
    session: UUID | None = None,
    place: int = 0,
) -> MemoryCandidate:
    start, end = event or (None, None)
    return MemoryCandidate(
        kind,
        uuid4(),
        dense,
        lexical,
        speaker,
        speaker,
        predicate,
        at,
        start,
        end,
        session,
        place,
        text,
    )


@given(st.lists(numbers, min_size=2))
def test_z_scores_keep_the_order_and_centre_it(values: list[float]) -> None:
    scores = compute_z_scores(values)
    assert sum(scores) == pytest.approx(0, abs=1e-6 * len(scores))
    for (a, za), (b, zb) in zip(
        zip(values, scores, strict=True), zip(values[1:], scores[1:], strict=True), strict=False
    ):
        assert (a - b) * (za - zb) >= 0


def test_equal_values_say_nothing() -> None:
    assert compute_z_scores([0.4, 0.4]).tolist() == [0, 0]
    assert compute_z_scores([]).tolist() == []


def test_small_differences_stay_small() -> None:
    assert max(compute_z_scores([0.40, 0.41], least=0.1)) < 0.1


@given(st.lists(st.tuples(numbers, st.floats(0, 2)), min_size=1, max_size=30))
def test_everything_found_is_ranked_best_first(pairs: list[tuple[float, float]]) -> None:
    ranked = score_candidates(parse_route("where is it"), [make_candidate(d, x) for d, x in pairs])
    assert len(ranked) == len(pairs)
    assert [s.score for s in ranked] == sorted((s.score for s in ranked), reverse=True)


@given(st.lists(st.integers(0, 50), min_size=2, max_size=20, unique=True))
def test_words_alone_decide_when_there_are_no_vectors(lexical: list[int]) -> None:
    ranked = score_candidates(parse_route("where"), [make_candidate(None, x) for x in lexical])
    assert [s.candidate.lexical for s in ranked] == sorted(lexical, reverse=True)


def test_without_a_vector_a_memory_counts_as_neither_near_nor_far() -> None:
    waiting = make_candidate(None)
    parts = {
        s.candidate.id: s.parts
        for s in score_candidates(parse_route("where"), [make_candidate(0.2), waiting])
    }
    assert parts[waiting.id]["dense"] == pytest.approx(0)


def test_the_speaker_s_words_are_raised_when_one_is_named() -> None:
    said = [make_candidate(0.5, speaker="Ben"), make_candidate(0.5, speaker="Ana")]
    assert score_candidates(parse_route("What does Ana play?"), said)[0].candidate.speaker == "Ana"
    both = score_candidates(parse_route("What do Ana and Ben play?"), said)
    assert all("speaker" not in scored.parts for scored in both)


def test_a_fact_with_the_predicate_asked_for_is_raised() -> None:
    home = make_candidate(0.2, kind="fact", predicate="lives_in")
    best = score_candidates(
        parse_route("Where does she live?"), [make_candidate(0.3), home, make_candidate(0.1)]
    )[0]
    assert best.candidate is home


def test_somebody_else_s_fact_is_not() -> None:
    homes = [
        make_candidate(kind="fact", predicate="lives_in", speaker=name) for name in ("Ana", "Ben")
    ]
    parts = {
        s.candidate.owner: s.parts
        for s in score_candidates(parse_route("Where does Ben live?"), homes)
    }
    assert ["predicate" in parts[name] for name in ("Ana", "Ben")] == [False, True]


def test_a_date_in_the_question_raises_what_was_said_or_happened_then() -> None:
    may = datetime(2026, 5, 3, 12, tzinfo=UTC)
    said = make_candidate(at=may)
    happened = make_candidate(at=NOW, event=(may, may + timedelta(hours=1)))
    parts = {
        s.candidate.id: s.parts
        for s in score_candidates(
            parse_route("What happened on 3 May 2026?"), [said, happened, make_candidate()]
        )
    }
    assert [("date" in row) for row in (parts[said.id], parts[happened.id])] == [True, True]
    assert sum("date" in row for row in parts.values()) == 2


@pytest.mark.parametrize(
    ("text", "timed"),
    [
        ("We sailed last Friday", True),
        ("我们昨天去了海边", True),
        ("We sailed in 2024", True),
        ("We love sailing", False),
    ],
)
def test_a_when_question_raises_turns_that_say_when(text: str, timed: bool) -> None:
    (scored,) = score_candidates(parse_route("When did they sail?"), [make_candidate(text=text)])
    assert ("when" in scored.parts) == timed


def test_a_question_gives_way_to_what_was_replied_to_it() -> None:
    here = uuid4()
    question = make_candidate(0.7, text="Do you play the cello?", session=here, place=4)
    reply = make_candidate(0.6, text="Since I was six.", session=here, place=5)
    others = [
        make_candidate(0.6, session=here, place=9),
        make_candidate(0.1, session=uuid4(), place=5),
    ]
    ranked = score_candidates(parse_route("Who plays the cello?"), [question, *others, reply])
    assert ranked[0].candidate is reply
    assert ranked[0].parts["answers"] > 0
    assert "asks" in next(s for s in ranked if s.candidate is question).parts


def test_the_newer_comes_first_among_equals() -> None:
    old, new = make_candidate(at=NOW - timedelta(days=9)), make_candidate(at=NOW)
    assert score_candidates(parse_route("where"), [old, new])[0].candidate is new


def test_the_floor_drops_what_neither_means_nor_says_it() -> None:
    junk, near, worded = make_candidate(0.1), make_candidate(1.2), make_candidate(0.1, 0.5)
    kept = filter_relevant(score_candidates(parse_route("where"), [junk, near, worded]))
    assert {s.candidate.id for s in kept} == {near.id, worded.id}


def test_nothing_is_kept_when_the_best_is_doubtful() -> None:
    assert (
        filter_relevant(
            score_candidates(parse_route("where"), [make_candidate(0.3), make_candidate(0.4)])
        )
        == []
    )
    assert filter_relevant([]) == []


def test_words_speak_for_both_where_there_is_no_vector() -> None:
    assert (
        len(filter_relevant(score_candidates(parse_route("where"), [make_candidate(None, 0.4)])))
        == 1
    )
    assert filter_relevant(score_candidates(parse_route("where"), [make_candidate(0.0, 0.3)])) == []


@given(numbers, st.floats(0, 2))
def test_relevance_is_never_negative_and_grows_with_both(dense: float, lexical: float) -> None:
    low, high = make_candidate(dense, lexical), make_candidate(dense + 0.1, lexical + 0.1)
    values = {
        s.candidate.id: score_relevance(s)
        for s in score_candidates(parse_route("where"), [low, high])
    }
    assert 0 <= values[low.id] <= values[high.id]


def test_a_fact_takes_its_turn_s_place() -> None:
    turn, other, fact = make_candidate(1.5), make_candidate(1.45), make_candidate(1.42, kind="fact")
    ranked = score_candidates(parse_route("where"), [turn, other, fact])
    chosen = select_distinct(ranked, {fact.id: [turn.id]}, 10)
    assert [s.candidate.id for s in chosen] == [fact.id, other.id]
    assert chosen[0].score == pytest.approx(ranked[0].score)


def test_a_turn_stays_where_its_fact_bears_much_less_on_the_question() -> None:
    turn, fact = make_candidate(1.5), make_candidate(0.2, kind="fact")
    ranked = score_candidates(parse_route("where"), [turn, make_candidate(1.0), fact])
    chosen = select_distinct(ranked, {fact.id: [turn.id]}, 10)
    assert [scored.candidate.id for scored in chosen][::2] == [turn.id, fact.id]


def test_a_turn_is_dropped_behind_its_fact_and_a_second_fact_keeps_its_rank() -> None:
    turn = make_candidate(0.4)
    facts = [make_candidate(1.5, kind="fact"), make_candidate(1.0, kind="fact")]
    ranked = score_candidates(parse_route("where"), [turn, *facts])
    chosen = select_distinct(ranked, {fact.id: [turn.id] for fact in facts}, 10)
    assert [s.candidate.id for s in chosen] == [fact.id for fact in facts]


def test_a_fact_stands_for_no_turn_that_alone_tells_the_amount_asked_for() -> None:
    turn = make_candidate(1.5)._replace(text="i drive for the post, 12 years by now")
    fact = make_candidate(1.45, kind="fact")._replace(text="Ana drives for the post.")
    links = {fact.id: [turn.id]}
    for scores in ((turn, fact), (fact._replace(dense=1.6), turn)):
        ranked = score_candidates(parse_route("where"), list(scores))
        asked = select_distinct(ranked, links, 10, value="amount")
        assert {each.candidate.id for each in asked} == {turn.id, fact.id}
        assert [s.candidate.id for s in select_distinct(ranked, links, 10)] == [fact.id]
    silent = turn._replace(text="i drive for the post")
    ranked = score_candidates(parse_route("where"), [silent, fact])
    assert len(select_distinct(ranked, links, 10, value="amount")) == 1


@given(st.integers(1, 8), st.integers(0, 12))
def test_never_more_than_the_limit(limit: int, count: int) -> None:
    ranked = score_candidates(parse_route("where"), [make_candidate(n / 10) for n in range(count)])
    assert select_distinct(ranked, {}, limit) == ranked[:limit]


def test_places_in_the_arms_are_among_all_that_was_found_whichever_are_wanted() -> None:
    said = [
        make_candidate(dense, lexical) for dense, lexical in ((0.9, 0), (None, 0.5), (1.2, 0.7))
    ]
    all_of_them = build_arms(said)
    assert all_of_them[said[2].id] == {"dense": ArmRank(1, 0.6), "lexical": ArmRank(1, 0.7)}
    assert all_of_them[said[1].id] == {"lexical": ArmRank(2, 0.5)}
    for each in said:
        assert build_arms(said, [each.id]) == {each.id: all_of_them[each.id]}
