"""Which slot a claim fills, and what it does to the claim that filled it before."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memoryhub.engines.local.comparison.frames import mark_subject, match_frames
from memoryhub.engines.local.comparison.slots import fills_slot_anew, read_slot
from memoryhub.engines.local.engine import LocalEngine
from memoryhub.engines.types import (
    ClaimCandidate,
    ClaimComparison,
    ClaimSlots,
    ClaimVerdict,
    FactKind,
    HeldClaim,
    Polarity,
)

ENGINE = LocalEngine()
AT = datetime(2026, 3, 4, 18, tzinfo=UTC)


def judge(
    new: str,
    *held: str,
    owner: str = "Ana",
    polarity: Polarity = "holds",
    thing: str = "",
    kind: FactKind = "state",
    assisted: bool = True,
) -> list[ClaimVerdict]:
    claims = [HeldClaim(f"m{n}", text, "Ana", "", AT, said_at=AT) for n, text in enumerate(held)]
    candidate = ClaimCandidate(
        "c1",
        new,
        owner,
        "Ana",
        AT + timedelta(days=60),
        slots=ClaimSlots(object=thing, kind=kind),
        offered=tuple(claim.handle for claim in claims),
        polarity=polarity,
        said=new,
        assisted=assisted,
    )
    found = ENGINE.resolve_claims(compare(candidate, claims))
    return [verdict for verdict in found if verdict.sure]


def compare(candidate: ClaimCandidate, held: list[HeldClaim]) -> ClaimComparison:
    return ClaimComparison([candidate], held, "Ana", ("Ana",))


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Ana's landlord is now a Mrs Green.", "Ana's landlord is Mr Patel."),
        ("Ana's new boss is Sofia.", "Ana's manager at Tesco is Gail."),
        ("Sofia is Ana's boss now.", "Ana's boss is called Henrik."),
        ("They put Ana's rent up to 920.", "Ana's rent is 850 a month."),
        ("Ana's email is a@new.example now.", "Ana's email is ana.k@old.example."),
        ("Ana switched to a Pixel 9.", "Ana has an iPhone 12."),
        ("Ana joined the climbing centre instead.", "Ana goes to PureGym on Mill Road."),
        ("Ana cycles to work now instead of taking the bus.", "Ana takes the bus to work."),
        ("Ana switched from history to economics.", "Ana is studying history at Leeds Uni."),
        ("Ana moved all their money to Monzo.", "Ana banks with Barclays."),
        ("Ana is on support now.", "Ana is on QA at work."),
        ("Ana is on days now.", "Ana works nights at the minute."),
        ("Ana passed B1 in German today.", "Ana's German is A2."),
        ("Ana的房租涨到三千五了。", "Ana房租一个月三千。"),
        ("Ana的领导姓赵。", "Ana的领导姓王。"),
        ("Ana现在骑车上班，不坐地铁了。", "Ana坐地铁上班。"),
        ("Ana的羽毛球改到周五了。", "Ana每周一晚上打羽毛球。"),
        ("Ana的房子换房东了，现在是张阿姨。", "Ana的房东姓李。"),
        ("Ana的邮箱换成 a@new.example 了。", "Ana的邮箱是 a@old.example。"),
    ],
)
def test_another_value_in_the_same_slot_takes_its_place(new: str, old: str) -> None:
    beside = (
        "Ana's sister is called Rita." if "的" not in new and new.isascii() else "Ana喜欢爬山。"
    )
    assert [(v.op, v.target) for v in judge(new, beside, old)] == [("contradict", "m1")]


def test_who_has_been_with_somebody_is_not_once_they_broke_up() -> None:
    held = "Ana has been with their boyfriend Gus."
    ended = judge("Gus and Ana broke up.", held, polarity="ended", kind="event")
    assert [(verdict.op, verdict.target) for verdict in ended] == [("deny", "m0")]


def leave(new: str) -> list[ClaimVerdict]:
    """What it ends of a post and a place of work."""
    at = ClaimSlots(predicate_key="works_at", object="Harlow Labs")
    held = [
        HeldClaim("m0", "Ana works at Harlow Labs.", "Ana", "works_at", AT, slots=at, said_at=AT),
        HeldClaim(
            "m1",
            "Ana works as a technician.",
            "Ana",
            "works_as",
            AT,
            slots=ClaimSlots(predicate_key="works_as"),
            said_at=AT,
        ),
    ]
    offered = tuple(claim.handle for claim in held)
    later = AT + timedelta(days=60)
    candidate = ClaimCandidate(
        "c1", new, "Ana", "Ana", later, offered=offered, said=new, assisted=True
    )
    return [v for v in ENGINE.resolve_claims(compare(candidate, held)) if v.sure]


def test_who_left_the_place_of_work_by_its_name_works_there_no_more() -> None:
    ended = [(verdict.op, verdict.target) for verdict in leave("Ana left Harlow Labs on Friday.")]
    assert ended == [("deny", "m0"), ("deny", "m1")]
    assert not leave("Ana left Harlow Labs at 9 last night.")
    assert not leave("Ana left Harlow at the age of ten.")


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Ana's friend is called Tom.", "Ana's friend is called Max."),
        ("Ana has a meeting on Wednesday.", "Ana has a meeting on Monday."),
        ("Ana's wedding was moved to October 17.", "Ana's wedding is in Savannah."),
        ("Ana's old boss is Henrik.", "Ana's boss is Sofia."),
        ("Ana's boss is great.", "Ana's boss is Sofia."),
        ("Rita's boss is Tom.", "Ana's boss is Sofia."),
        ("Ana's rent is 850.", "Ana's rent is 850 a month."),
        ("Ana has a Toyota.", "Ana drives a red Honda Jazz."),
        ("Ana's sister moved to Toronto.", "Ana's sister is called Rita."),
        ("Ana的朋友叫小马。", "Ana的朋友叫阿凯。"),
        ("Ana的前领导姓赵。", "Ana的领导姓王。"),
    ],
)
def test_what_is_another_slot_or_may_be_several_stands_beside_it(new: str, old: str) -> None:
    told, held = read_slot(mark_subject(new, ["Ana"])), read_slot(mark_subject(old, ["Ana"]))
    assert told is None or not fills_slot_anew(told, held)


@pytest.mark.parametrize(
    ("new", "old", "kind"),
    [
        (
            "Ana pays 45 pounds for piano lessons.",
            "Ana pays 40 pounds for piano lessons.",
            "number",
        ),
        ("Ana's choir meets on Thursdays now.", "Ana's choir meets on Mondays.", "weekday"),
        ("Ana reports to Priya.", "Ana reports to Tom.", "name"),
        ("Ana is in marketing.", "Ana is in Leeds.", ""),
        ("Ana likes long walks.", "Ana likes short films.", ""),
        ("Ana的体重是70公斤。", "Ana的体重是74公斤。", "number"),
        ("Ana的儿子叫浩浩。", "Ana的儿子五年级。", ""),
    ],
)
def test_claims_that_differ_by_one_value_are_of_one_frame(new: str, old: str, kind: str) -> None:
    assert match_frames(mark_subject(new, ["Ana"]), mark_subject(old, ["Ana"])) == kind


def test_of_names_one_may_have_several_unless_the_words_tell_of_a_change() -> None:
    old = "Ana speaks French at home."
    assert not judge("Ana speaks German at home.", old)
    assert judge("Ana speaks German at home now.", old)


def test_among_people_alike_words_alone_end_nothing() -> None:
    told = "Ana pays 45 pounds for lessons.", "Ana pays 40 pounds for lessons."
    assert judge(*told)
    assert not judge(*told, assisted=False)


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Biscuit died last night.", "Ana's dog is called Biscuit."),
        ("Biscuit died last night.", "Ana and others have a dog called Biscuit."),
        ("Ana had to put Biscuit down today.", "Biscuit is Ana's dog."),
        ("Clara and Ana broke up yesterday.", "Clara is Ana's girlfriend."),
        ("Kofi moved out.", "Ana's roommate is called Kofi."),
        ("Ana和小美分手了。", "Ana的女朋友叫小美。"),
        ("豆豆昨天走了。", "豆豆是Ana的狗。"),
        ("阿凯搬走了。", "Ana的室友叫阿凯。"),
    ],
)
def test_a_tie_ends_with_what_is_said_of_who_was_named(new: str, old: str) -> None:
    beside = "Ana's brother Kofi is a baker."
    (found,) = judge(new, beside, old, polarity="ended", owner="Biscuit")
    assert (found.op, found.target) == ("deny", "m1")


@pytest.mark.parametrize(
    ("new", "thing", "old"),
    [
        ("Ana left the Wet Socks, too much drama.", "the Wet Socks", "Ana plays in The Wet Socks."),
        ("Ana closed the Barclays account.", "the Barclays account", "Ana banks with Barclays."),
        ("Ana的法语班Ana退了。", "", "Ana报了周三晚上的法语班。"),
        ("Ana的高尔夫卖了。", "", "Ana开一辆白色的大众高尔夫。"),
    ],
)
def test_what_is_over_ends_what_it_names(new: str, thing: str, old: str) -> None:
    (found,) = judge(new, "Ana喜欢爬山。", old, polarity="ended", thing=thing, kind="event")
    assert (found.op, found.target) == ("deny", "m1")


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Ana switched from Iron Works to the climbing centre.", "Ana goes to Iron Works gym."),
        ("Ana traded in the Fiat for a Yaris.", "Ana drives a blue Fiat."),
        ("Ana swapped Dr Patel for Dr Novak.", "Ana's dentist is Dr Patel on Queen Street."),
        ("Ana replaced the Dell with a MacBook.", "Ana has a Dell from work."),
        ("Ana把卡罗拉换成了比亚迪。", "Ana开一辆卡罗拉。"),
        ("Ana从瑞幸换成了星巴克。", "Ana每天喝瑞幸。"),
    ],
)
def test_what_was_given_for_something_else_is_over(new: str, old: str) -> None:
    beside = "Ana likes Fiat adverts and Dr Who." if new.isascii() else "Ana喜欢爬山。"
    assert [verdict.target for verdict in judge(new, old, beside)] == ["m0"]


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Ana switched from Iron Works to the pool.", "Ana's brother goes to the pool."),
        ("Ana switched from tea to coffee.", "Ana has a dog called Rex."),
        ("Ana swapped the phone for a Pixel.", "Ana's phone number is 0770 900123."),
        ("Ana把卡罗拉换成了比亚迪。", "Ana在银行上班。"),
    ],
)
def test_what_an_exchange_does_not_name_stays(new: str, old: str) -> None:
    assert judge(new, old) == []


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Ana and Daniel got divorced in May.", "Ana's husband's name is Daniel."),
        ("Ana and Daniel got divorced in May.", "Ana is married to Daniel."),
        ("Ana split up with Lucy.", "Lucy is Ana's girlfriend."),
        ("Ana graduated yesterday.", "Ana is studying chemistry at Durham."),
        ("Ana上个月和王强离婚了。", "Ana的老公叫王强。"),
        ("Ana毕业了。", "Ana在读研究生。"),
    ],
)
def test_what_was_of_a_time_of_life_ends_with_it(new: str, old: str) -> None:
    assert [verdict.target for verdict in judge(new, old)] == ["m0"]


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Ana's sister got divorced.", "Ana is married to Daniel."),
        ("Ana and Daniel nearly got divorced.", "Ana's husband's name is Daniel."),
        ("Tom and Sue split up.", "Lucy is Ana's girlfriend."),
        ("Ana graduated in chemistry.", "Ana lives in Durham."),
    ],
)
def test_what_befell_others_or_nobody_ends_nothing(new: str, old: str) -> None:
    assert judge(new, old) == []


@pytest.mark.parametrize(
    ("new", "held"),
    [
        ("Ana's dad is on metformin now, 500 twice a day.", "Ana's dad is 71."),
        ("Ana's mum is in hospital now.", "Ana's mum is 71 and lives in Hexham."),
        ("Ana's boss is in Leeds now.", "Ana's boss is Karl."),
    ],
)
def test_how_somebody_is_now_does_not_take_the_place_of_who_they_are(new: str, held: str) -> None:
    assert read_slot(mark_subject(new, ["Ana"])) is None
    assert not any("at a time" in verdict.reason for verdict in judge(new, held))


def test_who_somebody_is_now_does() -> None:
    (verdict,) = judge("Ana's boss is Doug now.", "Ana's boss is Helen.")
    assert verdict.op == "contradict"


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Ana's flight got moved to the 15th.", "Ana's flight to Lisbon is on 14 March at 9:40."),
        ("Ana's interview was moved to Friday.", "Ana's interview is on Thursday at 3."),
        (
            "Ana's appointment was moved to 10 March.",
            "Ana has a dentist appointment on Friday at 2.",
        ),
    ],
)
def test_what_was_put_off_takes_the_place_of_what_was_planned(new: str, old: str) -> None:
    held = HeldClaim("m1", old, "Ana", "", AT, polarity="planned", said_at=AT)
    candidate = ClaimCandidate(
        "c1", new, "Ana", "Ana", AT + timedelta(days=1), offered=("m1",), said=new, assisted=True
    )
    found = ENGINE.resolve_claims(compare(candidate, [held]))
    assert [(v.target, v.sure) for v in found] == [("m1", True)]


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("Ana is on nights this week.", "Ana is on QA at work."),
        ("Ana is on days.", "Ana is on nights."),
        ("Ana passed B1 in Spanish today.", "Ana's German is A2."),
        ("Ana passed A2 in German today.", "Ana's German is B1."),
        ("Ana nearly passed B1 in German.", "Ana's German is A2."),
        ("Ana passed B1 today.", "Ana's German is A2."),  # a person is asked: it may be another
    ],
)
def test_another_hour_or_language_takes_the_place_of_nothing(new: str, old: str) -> None:
    assert not judge(new, old)


def court(new: str, owner: str, *held: tuple[str, str]) -> list[str]:
    """Which claims (owner, text) are over with how somebody is now married or engaged."""
    claims = [
        HeldClaim(f"m{n}", text, whose, "", AT, said_at=AT) for n, (whose, text) in enumerate(held)
    ]
    candidate = ClaimCandidate(
        "c1",
        new,
        owner,
        "Ana",
        AT + timedelta(days=60),
        slots=ClaimSlots(predicate_key="marital_status", kind="attribute"),
        offered=tuple(claim.handle for claim in claims),
        said=new,
        assisted=True,
    )
    found = ENGINE.resolve_claims(compare(candidate, claims))
    return [held[int(verdict.target[1:])][1] for verdict in found if verdict.sure]


def test_who_is_engaged_is_a_boyfriend_no_more_and_who_is_married_not_engaged() -> None:
    friend, promised = "Mateo is Ana's boyfriend.", "Mateo is now engaged to Ana."
    assert court(promised, "Mateo", ("Mateo", friend)) == [friend]
    assert court("Ana and others got married.", "Ana", ("Mateo", promised)) == [promised]
    # Another's, and nobody's that is named.
    assert not court("Ivo is engaged to Ana.", "Ivo", ("Mateo", friend))
    assert not court("Ana's sister got married.", "Ana's sister", ("Mateo", promised))
