"""What new claims do to those held, as learned; which claims a wish to forget means."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from memoryhub.engines.local.comparison.deciders import (
    get_shipped_deciders,
    read_deciders,
    weigh_by_choice,
    write_deciders,
)
from memoryhub.engines.local.comparison.forget import MeantBars, take_meant
from memoryhub.engines.local.comparison.pairs import ClaimView, describe_pairs, list_telling_words
from memoryhub.engines.local.engine import LocalEngine
from memoryhub.engines.local.grammar.speech import extract_wish_words, find_forget_wish
from memoryhub.engines.local.trees import BoostedTrees
from memoryhub.engines.types import (
    ClaimCandidate,
    ClaimComparison,
    ClaimSlots,
    ClaimVerdict,
    HeldClaim,
    Polarity,
)
from memoryhub.inference.selection import get_configured_embedder
from tests.support.deciders import decide_evenly

ENGINE = LocalEngine()
AT = datetime(2026, 3, 4, 18, tzinfo=UTC)
LATER = AT + timedelta(days=60)


def hold(*texts: str, owner: str = "Ana") -> list[HeldClaim]:
    return [HeldClaim(f"m{n}", text, owner, "", AT, said_at=AT) for n, text in enumerate(texts)]


def judge(
    new: str,
    said: str,
    held: list[HeldClaim],
    *,
    owner: str = "Ana",
    polarity: Polarity = "holds",
    embedder: str = "",
    assisted: bool = True,
    correction: bool = False,
) -> list[ClaimVerdict]:
    """The verdicts on `new`, with the cosines that its vectors have."""
    model = get_configured_embedder()
    vectors = model.embed([text.replace("Ana ", "") for text in [new, *(h.text for h in held)]])
    candidate = ClaimCandidate(
        "c1",
        new,
        owner,
        owner,
        LATER,
        offered=tuple(claim.handle for claim in held),
        polarity=polarity,
        similar=tuple(float(vectors[0] @ each) for each in vectors[1:]),
        said=said,
        assisted=assisted,
        correction=correction,
    )
    asked = ClaimComparison([candidate], held, owner, (owner,), embedder or model.name)
    return ENGINE.resolve_claims(asked)


ENGLISH = [
    ("Ana's phone number is 555 0199.", "its 555 0199 now", "Ana's phone number is 555 0123."),
    ("Ana goes to Ironworks gym now.", "switched to Ironworks", "Ana goes to Fitbox gym."),
    ("Ana lives in Leeds now.", "moved to Leeds last month", "Ana lives in York with her aunt."),
    ("Ana's boss is Mr Pell now.", "Mr Pell is my boss now", "Ana's boss is Judith."),
]  # fmt: skip
CHINESE = [
    ("小安的电话是13911112222。", "换号了，现在是13911112222", "小安的电话是13800001111。"),
    ("小安现在住在苏州。", "我搬家了，现在住在苏州", "小安住在杭州。"),
    ("小安的房租涨到3200了。", "房租涨了，现在3200", "小安的房租是2600。"),
]


@pytest.mark.parametrize(("new", "said", "old"), ENGLISH)
def test_a_newer_value_of_a_slot_takes_the_place_of_the_older(
    new: str, said: str, old: str
) -> None:
    held = hold("Ana plays the cello in an orchestra.", old, "Ana's sister is called Rita.")
    verdicts = judge(new, said, held)
    assert [(v.op, v.target) for v in verdicts] == [("contradict", "m1")]


@pytest.mark.parametrize(("new", "said", "old"), CHINESE)
def test_so_it_does_in_chinese(new: str, said: str, old: str) -> None:
    held = hold("小安喜欢看恐怖片。", old, "小安的姐姐是护士。", owner="小安")
    verdicts = judge(new, said, held, owner="小安")
    assert [(v.op, v.target) for v in verdicts] == [("contradict", "m1")]


def test_a_value_that_is_said_to_be_wrong_is_ended() -> None:
    (found,) = judge(
        "Otis was 5 and not 4.",
        "sorry, I wrote wrong, Otis was 5 and not 4",
        hold("Otis is 4.", "Otis plays the drums.", owner="Otis"),
        owner="Otis",
    )
    assert (found.target, found.sure) == ("m0", True)


def test_a_claim_told_anew_with_one_value_put_right_takes_the_others_place() -> None:
    told = hold("小安他们领证了，10月16号领的。", "小安的姐姐10月16号回来。", owner="小安")
    found = judge(
        "小安他们领证了，10月15号领的。", "说错了 是15号", told, owner="小安", correction=True
    )
    assert [(v.target, v.sure) for v in found] == [("m0", True)]


def test_who_gets_engaged_has_no_boyfriend_any_more() -> None:
    held = hold("Tom is Ana's boyfriend.", "Ana's brother is Tom.", owner="Tom")
    candidate = ClaimCandidate(
        "c1",
        "Ana is engaged.",
        "Ana",
        "Ana",
        LATER,
        slots=ClaimSlots(predicate_key="marital_status"),
        offered=("m0", "m1"),
    )
    found = ENGINE.resolve_claims(ClaimComparison([candidate], held, "Ana", ("Ana",)))
    assert [(each.target, each.sure) for each in found] == [("m0", False)]


def test_what_is_sure_says_why() -> None:
    (verdict,) = judge(
        "Ana's phone number is 555 0199 now.",
        "new number, 555 0199 now",
        hold("Ana's phone number is 555 0123."),
    )
    assert verdict.sure
    told = r"\d\d % about the same, \d\d % that it ends it; for it: .*\bnow\b.*"
    assert re.fullmatch(told, verdict.reason)


@pytest.mark.parametrize(
    ("new", "said", "old"),
    [
        ("Ana has a second cat called Pip.", "got a second cat, Pip", "Ana has a cat called Tom."),
        ("Ana's sister Rita lives in Braga.", "Rita is in Braga now", "Ana lives in Porto."),
        ("Ana saw a comet over the bay.", "saw a comet!", "Ana works at a bakery."),
        ("Ana bakes rye bread on Sundays.", "i bake rye on sundays", "Ana plays the cello."),
    ],
)
def test_what_stands_beside_it_ends_nothing(new: str, said: str, old: str) -> None:
    owner = "Rita" if "Rita lives" in new else "Ana"
    assert not [v for v in judge(new, said, hold(old), owner=owner) if v.sure]


def test_with_another_embedders_cosines_it_only_suspects() -> None:
    new, said = "Ana sleeps in the attic room now.", "sleeping in the attic now"
    held = hold("Ana sleeps in the small room.")
    assert [verdict.sure for verdict in judge(new, said, held)] == [True]
    assert [verdict.sure for verdict in judge(new, said, held, embedder="another")] == [False]


@pytest.mark.parametrize(
    ("new", "said", "old"),
    [
        (
            "Ana quit the bakery.",
            "quit the bakery",
            "Ana bakes bread at the bakery on Rose Street.",
        ),
        ("Ana stopped drinking coffee.", "no more coffee", "Ana drinks four espressos a day."),
        ("Ana gave up the night class.", "gave it up", "Ana goes to a night class in pottery."),
    ],
)
def test_an_ending_ends_what_it_names_or_asks_about_it(new: str, said: str, old: str) -> None:
    held = hold("Ana's sister is called Rita.", old, "Ana plays chess with Tom.")
    assert [v.target for v in judge(new, said, held, polarity="ended")] == ["m1"]


@pytest.mark.parametrize(
    ("new", "said", "old"),
    [
        ("Ana stopped drinking coffee.", "no more coffee", "Ana drinks two beers on Fridays."),
        ("Ana quit the bakery.", "quit the bakery", "Ana plays chess with Tom."),
        ("Ana sold the van.", "sold the van", "Ana drives a red scooter."),
        ("Ana gave up piano lessons.", "gave up piano", "Ana takes swimming lessons."),
        ("Ana stopped eating meat.", "no more meat for me", "Ana eats porridge every morning."),
        ("Ana quit smoking.", "quit smoking", "Ana sings in the choir."),
    ],
)
def test_an_ending_closes_nothing_that_it_does_not_name(new: str, said: str, old: str) -> None:
    held = hold("Ana's sister is called Rita.", old)
    assert not any(verdict.sure for verdict in judge(new, said, held, polarity="ended"))


def test_who_left_holds_no_post_any_more_and_stays_a_relative() -> None:
    held = hold(
        "Priya is Ana's manager.", "Priya is Ana's sister.", "Priya's desk is blue.", owner="Priya"
    )
    candidate = ClaimCandidate(
        "c1", "Priya left.", "Priya", "Ana", LATER, offered=("m0", "m1", "m2"), polarity="ended"
    )
    found = ENGINE.resolve_claims(ClaimComparison([candidate], held, "Ana", ("Ana",)))
    assert [each.target for each in found] == ["m0"]


def test_one_of_many_likes_ends_no_other() -> None:
    slots = ClaimSlots("likes", object="pizza")
    held = [HeldClaim("m1", "Ana likes pizza.", "Ana", "likes", AT, slots=slots)]
    new = ClaimCandidate(
        "c1", "Ana likes sushi.", "Ana", "Ana", LATER, offered=("m1",), slots=slots
    )
    assert ENGINE.resolve_claims(ClaimComparison([new], held)) == []


def test_telling_words_are_told_apart_by_what_they_speak_for() -> None:
    words = list_telling_words("I left Volta, I also still bake, now at Brandt's")
    assert words.ending == ["now", "left"]
    assert words.keeping == ["also", "still"]


@pytest.mark.parametrize("text", ["Ana left and moved " * 2600, "a@" * 25_000, "rent " * 10_000])
def test_pairs_are_described_in_linear_time(text: str) -> None:
    view = ClaimView(text, "Ana", AT, said=text)
    started = time.process_time()
    describe_pairs(view, [view, view], [0.5, None], "Ana")
    assert time.process_time() - started < 3


def test_the_more_a_new_claim_may_end_the_less_likely_is_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    decide_evenly(monkeypatch)
    new = ("Ana goes to Ironworks gym.", "off to Ironworks")
    gym = "Ana goes to Fitbox gym."
    others = [f"Ana's neighbour Tom has {count} apple trees." for count in range(2, 62)]
    assert [v.sure for v in judge(*new, hold(gym))] == [False]
    assert judge(*new, hold(gym, *others)) == []


def test_odds_are_shared_among_what_is_offered() -> None:
    shares = np.array([0.5, 0.8, 1.0])
    assert weigh_by_choice(shares, 25) == pytest.approx(shares)
    assert weigh_by_choice(shares, 3) == pytest.approx(shares)
    assert weigh_by_choice(shares, 100) == pytest.approx([0.2, 0.5, 1.0])


def test_among_people_a_question_needs_more_than_where_an_assistant_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    decide_evenly(monkeypatch)
    held = hold("Ana goes to Fitbox gym.")
    new = ("Ana goes to Ironworks gym.", "off to Ironworks")
    assert [v.sure for v in judge(*new, held, assisted=True)] == [False]
    assert judge(*new, held, assisted=False) == []


# The file


def test_the_file_tells_how_good_it_is() -> None:
    for decider in get_shipped_deciders().deciders.values():
        assert decider.scores["told_wrongly_closed"] <= 0.01
        assert decider.scores["told_closed"] + decider.scores["told_asked"] >= 0.45
        assert decider.scores["quiet_touched"] <= 0.025
        assert decider.ask <= decider.ask_among_people <= decider.act


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    shipped = get_shipped_deciders()
    write_deciders(tmp_path / "deciders.json", shipped)
    assert read_deciders(tmp_path / "deciders.json") == shipped


def test_a_tree_leads_each_row_to_its_leaf() -> None:
    rows = np.array([[0.0, 1.0], [2.0, 1.0], [2.0, 3.0]])
    deep = ((0, 1.0, 1, 2), (-2.0,), (1, 2.0, 3, 4), (0.0,), (2.0,))
    shares = BoostedTrees(start=0.0, trees=(deep,)).estimate_shares(rows)
    assert shares.round(3).tolist() == [0.119, 0.5, 0.881]


# Wishes to forget


@pytest.mark.parametrize(
    "text",
    [
        "can you get rid of that thing I told you about my knee?",
        "pls scrub what i said about my landlord",
        "Please don't keep that. I'd rather it stayed between us.",
        "my loan, could you lose that bit? nobody needs to know",
        "Forget who treats me medically.",
        "erase how much I earn, please",
        "Would you kindly wipe what I mentioned about the court from your notes?",
        "我跟你说过的贷款那件事，你别记着了",
        "刚才说的那段就当没听过吧",
        "麻烦把我的病历那事从记录里删掉",
        "忘掉谁给我看病",
    ],
)
def test_a_wish_is_recognised_however_it_is_put(text: str) -> None:
    assert find_forget_wish(text)


@pytest.mark.parametrize(
    "text",
    [
        "I want to lose ten pounds before June.",
        "We got rid of the old sofa and dropped the piano lessons.",
        "Can you delete this file from the list?",
        "Don't forget to call my mother.",
        "I forget who treats me these days.",
        "Don't forget who helped me.",
        "She told me to throw it out, so I did.",
        "我忘了带钥匙，气死了",
        "别忘了提醒我交房租",
        "他把手机里的照片都删了",
    ],
)
def test_ordinary_talk_of_losing_and_deleting_is_no_wish(text: str) -> None:
    assert not find_forget_wish(text)


def test_the_words_of_a_wish_are_without_its_frame_and_what_is_to_stay() -> None:
    words = extract_wish_words("pls scrub what i said about my landlord. the job part can stay")
    assert "landlord" in words
    assert "job" not in words
    assert "scrub" not in words


def wish(text: str, held: list[HeldClaim], owner: str = "Ana") -> list[ClaimVerdict]:
    model = get_configured_embedder()
    vectors = model.embed([extract_wish_words(text), *(claim.text for claim in held)])
    candidate = ClaimCandidate(
        "w1",
        text,
        owner,
        owner,
        LATER,
        offered=tuple(claim.handle for claim in held),
        is_wish=True,
        similar=tuple(float(vectors[0] @ each) for each in vectors[1:]),
    )
    return ENGINE.resolve_claims(ClaimComparison([candidate], held, owner, (owner,), model.name))


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("can you lose everything I told you about my love life", "m0"),
        ("can you erase the ink part", "m1"),
    ],
)
def test_of_what_only_reading_finds_a_person_is_asked(text: str, meant: str) -> None:
    held = hold(
        "Ana has been seeing Tomek from the lab.",
        "Ana has a snake tattoo on her hip.",
        "Ana rents a flat in Gdynia.",
        "Ana plays the cello.",
    )
    verdicts = wish(text, held)
    assert verdicts[0].target == meant
    assert not verdicts[0].sure


def test_nothing_like_it_is_asked_of_nobody() -> None:
    assert wish("forget about my swimming badge", hold("The boiler was serviced in May.")) == []


def test_a_wish_finds_what_is_meant_in_other_words() -> None:
    held = hold("Ana takes insulin for her diabetes.", "Ana rents a flat.", "Ana has two sons.")
    (verdict,) = wish("please delete what I told you about my sugar illness", held)
    assert (verdict.op, verdict.target, verdict.sure) == ("forget", "m0", True)


def test_so_it_does_in_chinese_too() -> None:
    held = hold("小安欠了银行八万贷款。", "小安在学游泳。", "小安有两个儿子。", owner="小安")
    (verdict,) = wish("我跟你说过的贷款那件事，你别记着了", held, "小安")
    assert (verdict.target, verdict.sure) == ("m0", True)


def test_what_was_told_twice_is_meant_both_times() -> None:
    held = hold(
        "Ana was let go from the cannery in May.",
        "Ana has been out of work since the cannery let her go.",
        "Ana plays the cello.",
        "Ana rents a flat in Gdynia.",
    )
    verdicts = wish("please wipe that the cannery let me go", held)
    assert {v.target: v.sure for v in verdicts} == {"m0": True, "m1": True}


@pytest.mark.parametrize(
    "text",
    [
        "forget what I told you about Tomek",
        "pls delete everything abt tomek. dont want to see his name",
        "Forget about my ex Tomek.",
    ],
)
def test_who_names_somebody_alone_means_all_that_is_told_of_them(text: str) -> None:
    held = hold("Tomek is a paramedic.", "Ana has been on two dates with Tomek.", "Ana has a van.")
    held[0] = replace(held[0], owner="Tomek")
    assert {v.target: v.sure for v in wish(text, held)} == {"m0": True, "m1": True}


def test_what_is_told_of_another_as_well_is_left() -> None:
    held = hold("Tomek is a paramedic.", "Lena is Tomek's sister.", "Ana has a van.")
    held = [replace(held[0], owner="Tomek"), replace(held[1], owner="Lena"), held[2]]
    assert [v.target for v in wish("forget what I told you about Tomek", held)] == ["m0"]


def test_so_is_meant_in_chinese_who_is_called_by_what_they_are() -> None:
    held = hold("小鱼是小安的女朋友。", "小安的女朋友在南京读研。", "小安在学游泳。", owner="小安")
    held = [replace(held[0], owner="小鱼"), replace(held[1], owner="小安的女朋友"), held[2]]
    verdicts = wish("把关于小鱼的都忘了吧", held, "小安")
    assert {v.target: v.sure for v in verdicts} == {"m0": True, "m1": True}


@pytest.mark.parametrize(
    "text",
    [
        "forget about Lena being pregnant",
        "delete what I told you about my brother's asthma",
        "please remove what I said about the van's insurance",
    ],
)
def test_what_was_never_told_takes_nothing_that_is_near_it(text: str) -> None:
    held = hold(
        "Lena is Ana's sister.",
        "Lena is training as a midwife in Gdynia.",
        "Ana's nephew has asthma.",
        "Ana drives a van for a bakery.",
    )
    assert not any(verdict.sure for verdict in wish(text, held))


def test_what_is_likely_is_meant_where_nothing_else_is() -> None:
    bars = MeantBars(0.7, 0.5, 0.15, 0.8)
    assert take_meant([0.1, 0.55, 0.15], bars) == [1]
    assert take_meant([0.1, 0.55, 0.2], bars) == []
    assert take_meant([0.85, 0.1, 0.9], bars) == [2, 0]
    assert take_meant([], bars) == []


def test_each_thing_that_a_wish_lists_is_found() -> None:
    held = hold(
        "Ana has gout in her left foot.", "Ana earns 2,300 euros a month.", "Ana plays the cello."
    )
    verdicts = wish("please forget my gout and my wages", held)
    assert {v.target: v.sure for v in verdicts} == {"m0": True, "m1": True}


def test_a_thing_that_a_wish_lists_and_nobody_told_of_is_asked_about() -> None:
    held = hold("Ana has gout in her left foot.", "Ana plays the cello.")
    verdicts = wish("please forget my gout and my court case", held)
    assert "m0" in {v.target for v in verdicts}
    assert not any(v.sure for v in verdicts)


def test_several_alike_wait_for_a_person() -> None:
    held = hold("Ana owes her brother 400 euros.", "Ana owes her sister 300 euros.")
    verdicts = wish("can you lose what I said about the euros I owe?", held)
    assert {v.target for v in verdicts} == {"m0", "m1"}
    assert not any(v.sure for v in verdicts)


def test_that_means_what_was_told_last() -> None:
    first, last = hold("Ana has a boat.", "Ana lost her job.")
    told = HeldClaim("m9", last.text, "Ana", "", AT, said_at=AT + timedelta(hours=1))
    (verdict,) = wish("please don't keep that, it's private", [first, told])
    assert (verdict.target, verdict.sure) == ("m9", True)


def test_each_thing_that_a_wish_names_is_found_by_itself() -> None:
    held = hold("Ana is allergic to peanuts.", "Ana sings in a choir.", "Ana has two sons.")
    verdicts = wish("please forget what I told you about the peanuts and the choir", held)
    assert {v.target: v.sure for v in verdicts} == {"m0": True, "m1": True}


def test_a_wish_of_which_one_part_finds_nothing_waits_for_a_person() -> None:
    held = hold("Ana sings in a choir.", "Ana has two sons.")
    verdicts = wish("please forget what I told you about the choir and the lawsuit", held)
    assert "m0" in {v.target for v in verdicts}
    assert not any(v.sure for v in verdicts)


def test_a_relation_that_several_claims_have_is_no_certain_wish() -> None:
    held = [
        HeldClaim("m0", "Ana works at a bank.", "Ana", "works_at", AT),
        HeldClaim("m1", "Mara works at a school.", "Mara", "works_at", AT),
    ]
    one = wish("forget where I work", held[:1])
    assert [v.sure for v in one] == [True]
    assert not any(v.sure for v in wish("forget where I work", held))
    assert not any(v.sure for v in wish("forget where my sister works", held[:1]))


@pytest.mark.parametrize(
    ("new", "said", "held", "owner"),
    [
        ("小安把手机换成了苹果。", "我把手机换成了苹果", "小安的手机号是13911112222。", "小安"),
        (
            "Ana switched to a Pixel.",
            "switched to a Pixel",
            "Ana's phone number is 555 0123.",
            "Ana",
        ),
    ],
)
def test_another_telephone_ends_no_number(new: str, said: str, held: str, owner: str) -> None:
    assert judge(new, said, hold(held, owner=owner), owner=owner) == []


@pytest.mark.parametrize(
    ("held", "ended"),
    [("Ana joined GoodLift on Barrington Street.", True), ("Ana met Jo at GoodLift.", False)],
)
def test_what_was_begun_is_over_when_the_thing_is(held: str, ended: bool) -> None:
    """Though it was told as something that happened."""
    old = HeldClaim("m0", held, "Ana", "", AT, slots=ClaimSlots(kind="event"), said_at=AT)
    new = ClaimCandidate(
        "c1",
        "Ana cancelled GoodLift.",
        "Ana",
        "Ana",
        LATER,
        offered=("m0",),
        polarity="ended",
        slots=ClaimSlots(verb="cancelled", object="GoodLift", kind="event"),
        assisted=True,
    )
    found = ENGINE.resolve_claims(ClaimComparison([new], [old], "Ana", ("Ana",)))
    assert [(each.target, each.sure) for each in found] == ([("m0", True)] if ended else [])
