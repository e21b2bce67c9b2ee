"""What short answers tell of something that is asked after: whether it is still so, and what became
of it."""

from __future__ import annotations

import pytest

from tests.engines.local.test_local_statements import tell, tell_texts


@pytest.mark.parametrize(
    ("asked", "answer", "told"),
    [
        ("Still at Pulse?", "omg no", "user-31 is not at Pulse any more."),
        ("Still vegan?", "not any more", "user-31 is not vegan any more."),
        ("Still single?", "ha no", "user-31 is not single any more."),
        ("Still on the boat?", "nope", "user-31 is not on the boat any more."),
        ("Still on the boat?", "I'm afraid not", "user-31 is not on the boat any more."),
        ("Are you engaged?", "not any more", "user-31 is not engaged any more."),
        ("Do you still smoke?", "not since Easter", "user-31 does not smoke any more."),
        ("Do you still smoke?", "gave up in June", "user-31 gave up smoking in June."),
        ("And still teaching?", "gave it up in June", "user-31 gave up teaching in June."),
        ("Still driving the Micra?", "sold it", "user-31 sold the Micra."),
        ("Are you still at the bakery?", "left in March", "user-31 left the bakery in March."),
        ("Still taking the sertraline?", "came off it", "user-31 came off the sertraline."),
        ("Are you still going to Rome?", "no, cancelled",
         "user-31 is not going to Rome any more."),
        ("And Rex, is he still on steroids?", "no", "Rex is not on steroids any more."),
        ("Is your sister still in Leeds?", "nah", "user-31's sister is not in Leeds any more."),
        ("What happened to the van?", "sold it", "user-31 sold the van."),
        ("How's the job at Aldi?", "quit", "user-31 quit the job at Aldi."),
    ],
)  # fmt: skip
def test_an_answer_ends_what_is_asked_after(asked: str, answer: str, told: str) -> None:
    assert [(f.text, f.polarity) for f in tell(answer, asked)] == [(told, "ended")]


@pytest.mark.parametrize(
    ("asked", "answer", "told"),
    [
        ("Still with Tom?", "yep", "user-31 is with Tom."),
        ("Do you still smoke?", "sadly yes", "user-31 smokes."),
        ("And Rex, is he still on steroids?", "yes", "Rex is on steroids."),
        ("Is your rent still 640?", "700 since May", "user-31's rent is 700 since May."),
        ("Who picks up Tim these days?", "my mum", "user-31's mum picks up Tim."),
        ("Have you left the choir?", "left", "user-31 has left the choir."),
        ("Have you left the choir?", "yes, in January", "user-31 has left the choir in January."),
        ("Did you sell the bike?", "yes, to my cousin", "user-31 sold the bike to their cousin."),
        ("Did you get the job?", "no :(", "user-31 did not get the job."),
        ("Did you move?", "yes, to Hove", "user-31 moved to Hove."),
        ("Any medication I should note?", "ramipril 5 mg", "user-31 takes ramipril 5 mg."),
        ("Any allergies I should know of?", "latex", "user-31 is allergic to latex."),
    ],
)
def test_an_answer_says_what_is_so(asked: str, answer: str, told: str) -> None:
    assert tell_texts(answer, asked) == [told]


@pytest.mark.parametrize(
    ("asked", "answer", "ended", "new"),
    [
        ("Is Lani still your aide?", "No, she's on leave.",
         "Lani is not user-31's aide any more.", "Lani is on leave."),
        ("Is Lani still your aide?", "no, it's Bo now",
         "Lani is not user-31's aide any more.", "user-31's aide is Bo now."),
        ("Does Duarte still do your taxes?", "nope, Leonor does them",
         "Duarte does not do user-31's taxes any more.", "Leonor does user-31's taxes."),
        ("And your mum, is she still in Corbridge?", "no, she's moved in with us",
         "user-31's mum is not in Corbridge any more.",
         "user-31's mum has moved in with user-31 and others."),
        ("Is your rent still 640?", "no, 700 now",
         "user-31's rent is not 640 any more.", "user-31's rent is 700 now."),
        ("Is your sister still in Leeds?", "no, york",
         "user-31's sister is not in Leeds any more.", "user-31's sister is in York."),
        ("Do you still have the van?", "sold it last week, got a Yaris",
         "user-31 sold the van last week.", "user-31 got a Yaris."),
        ("And Fintan, is he still on the stick?", "no, he walks to the shops",
         "Fintan is not on the stick any more.", "Fintan walks to the shops."),
    ],
)  # fmt: skip
def test_what_is_so_instead_is_told_beside_what_ended(
    asked: str, answer: str, ended: str, new: str
) -> None:
    first, second = tell(answer, asked)
    assert (first.text, first.polarity) == (ended, "ended")
    assert (second.text, second.polarity) == (new, "holds")


def test_a_clause_behind_the_value_is_told_by_itself() -> None:
    told = tell_texts("a Polo, the Micra died", "What do you drive now?")
    assert told == ["user-31 drives a Polo.", "The Micra died."]


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("Still raining?", "no"),
        ("Are you still there?", "nope"),
        ("Still interested?", "no"),
        ("Do you still want to hear it?", "no"),
        ("Still at Pulse, or have you moved on?", "no"),
        ("Is it still open?", "no idea"),
        ("Still at Pulse?", "no idea what you mean"),
        ("Where do you work now?", "same place"),
        ("Do you want more ideas?", "no more thanks"),
        ("Do you still need the list?", "no"),
    ],
)
def test_what_says_nothing_lasting_tells_nothing(asked: str, answer: str) -> None:
    assert [f.text for f in tell(answer, asked) if not f.text.startswith("Asked")] == []


@pytest.mark.parametrize(
    ("asked", "answer", "told"),
    [
        ("还住河西吗？", "上个月搬走了", "user-31不住河西了，上个月搬走了。"),
        ("还抽烟吗？", "戒了半年了", "user-31不抽烟了，戒了半年了。"),
        ("你还戴牙套吗？", "拆了", "user-31不戴牙套了，拆了。"),
        ("你妈还住院吗？", "上周出院了", "user-31的妈妈不住院了，上周出院了。"),
        ("你老板还是张总吗？", "不是，换人了", "user-31的老板不是张总了。"),
        ("还在球馆练吗？", "没，太贵", "user-31不在球馆练了，太贵。"),
    ],
)
def test_a_chinese_answer_ends_what_is_asked_after(asked: str, answer: str, told: str) -> None:
    first = tell(answer, asked)[0]
    assert (first.text, first.polarity) == (told, "ended")


@pytest.mark.parametrize(
    ("asked", "answer", "told"),
    [
        ("现在谁接孩子？", "我妈", "user-31的妈接孩子。"),
        ("你还单身吗？", "有对象了", "user-31有对象了。"),
        ("房租还是三千吗？", "涨到三千五了", "user-31的房租涨到三千五了。"),
        ("最近怎么样？", "粉丝破万了你敢信？", "user-31的粉丝破万了。"),
    ],
)
def test_a_chinese_answer_says_what_is_so(asked: str, answer: str, told: str) -> None:
    (fact,) = tell(answer, asked)
    assert (fact.text, fact.polarity) == (told, "holds")


def test_how_somebody_is_is_not_whether_they_still_are() -> None:
    told = [each.text for each in tell("出院了", "你妈身体还好吗？")]
    assert told
    assert not [each for each in told if "不好" in each]


@pytest.mark.parametrize(
    ("asked", "answer", "told"),
    [
        ("Who do you live with in Pune?", "my cousin", "user-31 lives with their cousin in Pune."),
        ("What do you eat for breakfast?", "oats", "user-31 eats oats for breakfast."),
        ("What do you listen to in the car?", "jazz", "user-31 listens to jazz in the car."),
        ("Who do you report to?", "Dana", "user-31 reports to Dana."),
        ("Where do you live now?", "Hull", "user-31 lives in hull."),
        ("What did the vet say?", "kidneys, poor thing",
         'Asked "What did the vet say?", user-31 said: kidneys, poor thing.'),
        ("How was the week?", "grand! boss is Sinead Dunne", "user-31's boss is Sinead Dunne."),
    ],
)  # fmt: skip
def test_an_answer_stands_where_it_is_asked_for(asked: str, answer: str, told: str) -> None:
    assert told in [fact.text for fact in tell(answer, asked)]
