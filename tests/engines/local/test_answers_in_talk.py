"""What somebody is told who asks about their own talk with an assistant, as people type it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memoryhub.engines.local.answers.asked import find_asked_tense
from memoryhub.engines.local.answers.evidence import split_quote
from memoryhub.engines.local.answers.kinds import find_asked_kind
from memoryhub.engines.local.answers.typos import correct_typos
from memoryhub.engines.types import GroundedAnswer, Quote, TimeSpan
from memoryhub.subject_names import get_first_name
from tests.engines.local.dialogue import AT, ENGINE


def say(text: str, days: int = 0, **told: Any) -> Quote:
    """A message of Noor's, so many days after the first ones."""
    known: dict[str, Any] = {"speaker": "Noor", "relevance": 3.0, "assisted": True}
    return Quote(text, AT + timedelta(days=days), **known | told)


def hold(text: str, owner: str = "Noor", days: int = 0, **told: Any) -> Quote:
    """A fact that was read of such a message."""
    return say(text, days, **{"speaker": "", "owner": owner} | told)


def ask(question: str, *quotes: Quote, subject: str = "Noor") -> GroundedAnswer:
    ranked = [replace(q, relevance=(q.relevance or 0) - n / 10) for n, q in enumerate(quotes)]
    return ENGINE.answer_question(question, ranked, subject=subject)


FLAT = hold("Noor lives in a shared flat in Ghent.", predicate="lives_in", object="Ghent")
LEFT = hold("Noor moved out of the Ghent flat.", days=60, predicate="address", tells_end=True)
STUDIO = say("i moved out of the ghent flat and got a studio in Bruges", 60)


def test_a_home_that_was_left_is_no_home_and_was_one() -> None:
    now = ask("where do i live", LEFT, FLAT, STUDIO)
    assert now.text == (
        "“… got a studio in Bruges” (after “i moved out of the ghent flat”, July 2024)"
    )
    assert ask("where did i live before", FLAT, LEFT, STUDIO).text == "Ghent"
    assert ask("where do i live", FLAT, STUDIO).text == "Ghent"


def test_the_present_job_is_not_where_somebody_worked_before() -> None:
    bakery = hold("Noor works as a baker at a bakery.", predicate="works_as", object="baker")
    mill = hold("Noor started at Zeller Mill.", days=90, predicate="works_at", object="Zeller Mill")
    assert ask("where do i work", mill, bakery).text == "Zeller Mill"
    assert ask("where did i work before", mill, bakery).used == (1,)
    assert ask("where did i work before", mill).used == ()
    due = hold("Noor is going to work as a miller.", days=60, predicate="works_as", due=True)
    assert ask("where did i work before", mill, due, bakery).used == (2,)


def test_a_plan_to_move_whose_day_has_come_is_told_with_the_home() -> None:
    plan = hold("Noor is moving to Turin on the 20th.", days=30, due=True)
    assert ask("where do i live", FLAT, plan).text == (
        "“Noor is moving to Turin on the 20th.” (June 2024)"
        " “Noor lives in a shared flat in Ghent.” (May 2024)"
    )
    assert ask("where do i live", FLAT, replace(plan, due=False)).text == "Ghent"


def test_who_does_something_is_told_by_name_and_not_as_she() -> None:
    said = say("no she lives in Leuven with her husband Bart")
    read = hold("Sanne lives in Leuven with her husband Bart.", "Sanne", predicate="lives_in")
    assert ask("who lives in leuven", said, read).text == f"“{read.text}” (May 2024)"


def test_a_name_is_told_however_the_fact_puts_it() -> None:
    cat = hold("Noor's cat's name is biscuit.", "Noor's cat", object="biscuit")
    assert ask("whats my cats name", cat).text == "biscuit"
    # Told by other words than those of the question, and in small letters.
    known = hold("Carla went to Leuven with Noor.", "carla")
    seeing = say("seeing someone new, her names carla, shes a dental hygienist")
    assert ask("whats my girlfriends name", seeing, known).used == (0,)
    dentist = say("was seeing the dentist again on friday, carla was late")
    assert ask("whats my girlfriends name", dentist, known).used == ()


def test_a_wish_to_forget_is_never_quoted() -> None:
    wish = say("please wipe what i said about my parents divorcing")
    assert ask("are my parents divorced", wish).used == ()
    both = say("Forget my old address. I live in Ghent now.")
    told = ask("where do i live", both)
    assert "Ghent" in told.text
    assert "Forget" not in told.text


def test_the_age_of_one_is_not_that_of_another() -> None:
    dog = hold("Max was 14.", "Max", object="14")
    assert ask("how old are my kids", dog, say("the kids are devastated")).used == ()
    kid = hold("Noor's son is 9 years old.", "Noor's son", predicate="age", object="9")
    assert ask("how old is my son", dog, kid).text == "9"


def test_relatives_are_counted_by_what_says_who_they_are() -> None:
    held = [hold("Karin is Noor's daughter.", "Karin"), hold("Piet is Noor's son.", "Piet")]
    other = hold("Emma is Karin's daughter.", "Emma")
    answer = ask("how many children do i have", *held, other)
    assert answer.text == "“Karin is Noor's daughter.” “Piet is Noor's son.”"
    assert answer.used == (0, 1)
    cats = say("one of the cats died, luna. two left", 30)
    boys = say("married to Daan, 2 boys: Tim is 6, Bas is 2")
    assert ask("how many kids do i have", cats, boys).used == (1,)


@pytest.mark.parametrize(
    ("question", "told", "agreed"),
    [
        ("can i have a cat", "Noor is allergic to cats.", False),
        ("can i swim", "Noor can swim.", True),
    ],
)
def test_yes_is_said_to_what_was_told_alone(question: str, told: str, agreed: bool) -> None:
    assert ask(question, hold(told)).text.startswith("Yes: ") is agreed


def test_whether_somebody_is_married_is_told_by_what_speaks_of_it() -> None:
    fired = say("they let me go on friday. 7 years and they let me go", 30)
    wife = hold("Elena is Noor's wife.", "Elena")
    assert ask("am i divorced", fired, wife).used == (1,)
    assert ask("am i single", fired).used == ()
    over = hold("Noor broke up with Rahul yesterday.", tells_end=True)
    assert ask("am i single", fired, over).used == (1,)


def test_where_somebody_lived_before_a_town_is_not_that_town() -> None:
    here = hold("Noor moved to Lisbon in August.", predicate="lives_in", object="Lisbon")
    assert ask("where did i live before lisbon", here).used == ()


def test_a_day_is_nobody_s_name() -> None:
    moved = hold("Noor's mom moved out last Saturday.", "Noor's mom")
    assert ask("what is my moms name", moved).used == ()


def test_a_single_word_is_left_where_it_was_said() -> None:
    cats = say("one of the cats died, luna")
    assert ask("what pets do i have", cats).text.startswith("“one of the cats died")


def test_an_answer_is_quoted_without_how_it_is_told_to_be_one() -> None:
    told = Quote('Asked "At the mill?", Noor said: at the weir.', AT, owner="Noor")
    assert [told.text[start:end] for start, end, _ in split_quote(told)] == ["at the weir."]


def test_what_is_only_thought_of_comes_behind_what_holds() -> None:
    home = say("we live in my grandma's old house near Graz")
    dream = say("i'm thinking of moving to vienna next summer but not sure", 80)
    for order in ((home, dream), (dream, home)):
        answer = ask("where do i live", *order)
        assert order[answer.used[0]] == home


def test_what_was_bought_comes_before_what_was_sold() -> None:
    sold, bought = hold("Noor sold their old canon."), hold("Noor bought a sony camera.")
    answer = ask("what camera do i use", sold, bought)
    assert answer.used[0] == 1


def test_what_was_put_off_is_told_with_its_new_day() -> None:
    planned = hold(
        "Noor's dentist appointment is on June 6.",
        predicate="scheduled_dentist_appointment",
        object="June 6",
    )
    assert "6 June" in ask("when is my dentist appointment", planned).text or (
        "June 6" in ask("when is my dentist appointment", planned).text
    )
    moved = hold("Noor's dentist moved to July 2.", days=9)
    answer = ask("when is my dentist appointment", planned, moved)
    assert answer.text == "2 July 2024: “Noor's dentist moved to July 2.”"


def test_what_somebody_else_does_is_not_when_the_asker_did() -> None:
    own = hold("Noor retired in March after 38 years at Ford.")
    wife = say("Joan retires at the end of June. We booked a cruise", 5)
    held = hold("Joan retires at the end of June.", "Joan", days=5)
    assert ask("when did i retire", wife, own, held).used == (1,)


def test_when_something_comes_is_not_the_day_on_which_it_was_spoken_of() -> None:
    visa = hold("Noor's visa got extended to 2029.")
    assert ask("when does my visa expire", visa).text == f"“{visa.text}” (May 2024)"


def test_since_when_is_answered_with_the_day_it_began() -> None:
    flat = say("got a studio in Bruges since may 3", 12)
    assert ask("since when do i live in bruges", flat).text == f"3 May 2024: “{flat.text}”"


def test_a_name_with_a_point_in_it_ends_no_sentence() -> None:
    told = Quote("Sofia.m opened a bakery. It went well.", AT, owner="sofia.m")
    pieces = [told.text[start:end] for start, end, _ in split_quote(told)]
    assert pieces == ["Sofia.m opened a bakery.", "It went well."]


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("ana-roberts", "ana"),
        ("sofia.m", "sofia"),
        ("Ana Ferreira", "Ana"),
        ("Jean-Luc Blanc", "Jean-Luc"),
        ("user-anna", "user-anna"),
        ("client-204", "client-204"),
        ("jo", "jo"),
    ],
)
def test_an_account_s_name_has_a_first_name(name: str, first: str) -> None:
    assert get_first_name(name) == first


def test_whoever_is_called_by_their_account_is_asked_about_by_their_first_name() -> None:
    home = hold(
        "Ana-roberts moved to Bristol.", "ana-roberts", predicate="lives_in", object="Bristol"
    )
    sister = hold("Lucy lives in Leeds.", "Lucy", predicate="lives_in", object="Leeds")
    told = ask("where does Ana live", sister, home, subject="ana-roberts")
    assert told.text == "Bristol"


def test_a_name_with_an_s_is_no_slip() -> None:
    assert correct_typos("who is leahs husband", ["Leah has a husband."]) == "who is leahs husband"


@pytest.mark.parametrize(
    ("question", "tense"),
    [
        ("when did i start at the mill", ""),
        ("what did i start at", "former"),
        ("what was my salary when i started", "former"),
    ],
)
def test_when_something_began_is_no_question_after_what_was_before(
    question: str, tense: str
) -> None:
    assert find_asked_tense(question) == tense


def test_who_somebody_is_need_not_be_told_by_the_word_that_is_asked_with() -> None:
    seen = say("Saw Dr Adeyemi today, she put my metformin up")
    assert ask("who's my doctor", seen).used == (0,)
    assert ask("who's my doctor", say("Saw the doctor today, they put my metformin up")).abstained


def test_what_was_before_is_told_by_the_change_that_names_it() -> None:
    job = hold("Noor got a job at the rec center.", until=AT + timedelta(days=60))
    told = hold("Noor switched their minor from stats to econ.", days=90)
    assert ask("what was my minor before", told, job).text.startswith("“… stats to econ")


def test_the_day_of_something_need_not_be_told_by_its_name() -> None:
    trip = say("The class trip to Vindolanda is on 14 May")
    later = say("The coach firm let us down. We go on the 11th of June now.", 5)
    assert ask("when is the outing", later, trip).used[0] == 0


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("how old is my son", "My son has 13 years and thinks he knows it all"),
        ("我儿子多大了", "我儿子二十七了还没对象"),
    ],
)
def test_an_age_is_told_in_many_ways(question: str, told: str) -> None:
    assert ask(question, say(told)).used == (0,)


def test_what_a_search_takes_for_near_and_no_more_answers_where_it_is_read_as_an_answer() -> None:
    shelter = say("i'm at the animal shelter in Mesa now, so much better", bears=False)
    assert ask("where am i employed", shelter).used == (0,)
    pills = hold("Noor takes naproxen now.", bears=False)
    for unknown in ("what car have i got", "what is my wifi password", "which bank am i with"):
        assert ask(unknown, pills, shelter).abstained


FLATMATES = (
    hold("Mr Bassi is Noor's landlord.", owner="Mr Bassi", days=60),
    hold("Noor is after a new flatmate.", days=40),
    hold("Noor's new flatmate is called Petra.", days=50),
    hold("Jo is Noor's flatmate.", owner="Jo", until=AT + timedelta(days=50)),
)


def test_who_lets_a_flat_is_not_whom_one_lives_with() -> None:
    assert ask("who do i live with", *FLATMATES[:3]).text == (
        "“Noor's new flatmate is called Petra.” (July 2024)"
    )


@pytest.mark.parametrize(
    "question", ["who was my flatmate before", "who was my flatmate before Petra"]
)
def test_who_was_somebody_before_another_is_the_one_before(question: str) -> None:
    assert ask(question, *FLATMATES).text == "Jo"


def test_what_was_stolen_is_had_no_more() -> None:
    stolen = hold("Noor's bike got nicked from outside the library.", tells_end=True)
    assert ask("do i have a bike", stolen).text == f"“{stolen.text}” (May 2024)"
    assert ask("do i have a bike", hold("Noor has a bike.")).text.startswith("Yes: ")


def test_ones_own_name_is_what_one_said_and_nobody_elses() -> None:
    told = say("hi, im Noor, im cooking for two"), hold("Noor's dentist is Dr Osei now.", days=9)
    assert ask("what's my name", *told).text == "Noor"
    assert ask("what's my name", told[1]).abstained


TOOTH = say("wisdom tooth so pain, dentist says the op is 7 June at the Royal")
PUT_OFF = say("tooth op shifted to 21 June cos the dentist is sick", 9)


def test_of_what_was_put_off_the_later_day_is_told() -> None:
    told = ask("when is my wisdom tooth op", TOOTH, PUT_OFF)
    assert told.text.startswith("21 June 2024")
    assert ask("when is my wisdom tooth op", TOOTH).text.startswith("7 June 2024")


def test_the_day_planned_first_is_told_to_who_asks_for_it() -> None:
    told = ask("when was my wisdom tooth op originally supposed to be", TOOTH, PUT_OFF)
    assert not told.text.startswith("21 June")


def test_what_else_was_put_off_says_nothing_of_it() -> None:
    fair = say("the book fair moved to 28 June", 9)
    assert ask("when is my wisdom tooth op", TOOTH, fair).text.startswith("7 June 2024")


def test_what_a_cousin_put_off_says_nothing_of_ones_own() -> None:
    mine = hold("Noor's wedding is on 7 June.")
    theirs = hold("Noor's cousin's wedding moved to 21 June.", "Noor's cousin", 9)
    assert ask("when is my wedding", mine, theirs).text.startswith("7 June 2024")
    assert ask("when is my cousin's wedding", mine, theirs).text.startswith("21 June 2024")


def test_what_answered_before_is_told_though_nothing_was_ended() -> None:
    arkwright = hold("Noor's dentist is Dr Arkwright.")
    shah = hold("Noor goes to Dr Shah, a dentist in Mold, now.", days=60)
    first = say("dr arkwright my dentist says i need a filling")
    assert "Arkwright" in ask("who was my dentist before Dr Shah", shah, arkwright, first).text
    assert "Arkwright" in ask("who was my dentist at first", shah, arkwright, first).text
    assert "Arkwright" in ask("who was my previous dentist", shah, arkwright, first).text


def test_what_was_never_told_of_the_time_before_is_unknown() -> None:
    shah = hold("Noor's dentist is Dr Shah.", days=60)
    assert ask("who was my landlord before Dr Shah", shah).abstained


def test_a_number_that_has_changed_since_is_told_with_the_change() -> None:
    two = hold("Noor has two children.", predicate="has_count_kid", object="two")
    third = hold("Noor's third child, Ida, was born yesterday.", days=90)
    dog = hold("Noor's dog died.", days=90)
    assert ask("how many children do i have", two).text == "two"
    assert ask("how many children do i have", two, dog).text == "two"
    assert "third child" in ask("how many children do i have", two, third).text


def test_of_what_is_still_to_come_a_day_that_is_over_is_nothing() -> None:
    over = say("dentist appointment is on 20 May at eight", passed=True)
    ahead = say("eye test is on 14 December", 30)
    choir = say("choir rehearses every Tuesday", passed=True)
    assert ask("when is my next dentist appointment", over).abstained
    assert ask("when was my dentist appointment", over).text.startswith("20 May 2024")
    assert ask("when is my next eye test", over, ahead).text.startswith("14 December 2024")
    assert "Tuesday" in ask("when is choir next", choir).text


def test_an_oven_that_runs_hot_is_no_job() -> None:
    kind = find_asked_kind("where does Noor work")
    assert kind
    assert not kind.tells.search("The same oven runs forty degrees hot.")
    assert kind.tells.search("Noor runs a bakery.")


@pytest.mark.parametrize(
    "question", ["what's Gerald's A1C", "whats geralds a1c", "how much loan did Gerald take?"]
)
def test_what_is_asked_of_somebody_named_is_not_told_of_another(question: str) -> None:
    own = hold("Noor's A1C is 8.1.", owner="Noor's A1C")
    loan = hold("Noor took a loan of 62,000.")
    other = hold("Petra's A1C came back at 6.2 and her loan is paid.", owner="Petra")
    caught = say("Gerald caught 14, and a sunburn")
    assert ask(question, replace(own, owner="Noor"), loan, other, caught).used == ()


def test_what_is_told_of_somebody_named_answers_by_their_name_or_by_what_they_are() -> None:
    named = hold("Giles works at Anglian Water in Ipswich.", owner="Giles")
    kin = hold("Noor's son works at Anglian Water in Ipswich.", owner="Noor's son")
    assert ask("where does Giles work?", named).used == (0,)
    assert ask("where does Giles work?", kin, say("my son Giles came by")).used[:1] == (0,)


@pytest.mark.parametrize(
    ("question", "used"),
    [
        ("any plans in January?", (1,)),
        ("what's happening in december", (0,)),
        ("what have I got on in January", (1,)),
        ("any plans?", (0, 1)),
    ],
)
def test_of_plans_those_in_the_month_that_is_asked_for_are_told(
    question: str, used: tuple[int, ...]
) -> None:
    def day(month: int, at: int) -> TimeSpan:
        start = datetime(2024 + (month == 1), month, at, tzinfo=UTC)
        return TimeSpan(start, start + timedelta(days=1), "day", "then", 0)

    lisbon = hold("Noor is off to Lisbon.", event=day(12, 20))
    kiln = hold("Noor has booked a kiln course.", event=day(1, 12))
    assert ask(question, lisbon, kiln).used == used


def test_where_somebody_wants_to_live_is_not_where_they_do() -> None:
    wish = hold(
        "Noor is hoping to move to Wales.", predicate="lives_in", object="Wales", planned=True
    )
    work = hold("Noor works at Zeller Mill.", predicate="works_at", object="Zeller Mill")
    assert ask("where do i live", wish, work).text != "Wales"
    assert ask("where do i want to move", wish, work).text == "Wales"
