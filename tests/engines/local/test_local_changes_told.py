"""What is told by its change is kept as the state that it leads to."""

from __future__ import annotations

import pytest

from memoryhub.engines.local import LocalEngine
from memoryhub.engines.local.grammar.speech import is_question
from memoryhub.engines.types import Exchange
from tests.engines.local.dialogue import make_utterances
from tests.engines.local.test_local_whereabouts import SPEAKER, find_value, tell


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("We have a new landlord, Mrs Keane.", f"{SPEAKER}'s landlord is Mrs Keane now."),
        ("I've got a new boss called Irene", f"{SPEAKER}'s boss is Irene now."),
        ("we got a new dentist, Dr Amari", f"{SPEAKER}'s dentist is Dr Amari now."),
        ("We have a new boss now, Irene, and I moved desks.", f"{SPEAKER}'s boss is Irene now."),
        (
            "Changed my number btw, it's 07700 900456 now.",
            f"{SPEAKER}'s phone number is 07700 900456 now.",
        ),
        ("I traded my Golf in for a Kia.", f"{SPEAKER} has a Kia now."),
        ("I swapped the Rex for a Bosch, what a relief", f"{SPEAKER} has a Bosch now."),
    ],
)
def test_what_is_new_is_told_as_what_is(text: str, told: str) -> None:
    assert told in [fact.text for fact in tell(text)]


def test_what_was_given_for_it_is_over() -> None:
    ended = [
        fact.text for fact in tell("I traded my Golf in for a Kia.") if fact.polarity == "ended"
    ]
    assert ended == [f"{SPEAKER} does not have their Golf any more."]


@pytest.mark.parametrize(
    "text",
    [
        "Do we have a new landlord, Mrs Keane?",
        "I want a new boss called Irene",
        "She got a new dentist, Dr Amari",
        "I might trade my Golf in for a Kia.",
    ],
)
def test_what_is_asked_wished_or_another_s_is_no_change_of_ones_own(text: str) -> None:
    assert not [fact.text for fact in tell(text) if fact.text.endswith(" now.")]


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("First day as a school nurse today!", "works_as", "school nurse"),
        ("today was my first day at Lidl", "works_at", "Lidl"),
    ],
)
def test_a_first_day_at_work_is_a_job(text: str, key: str, value: str) -> None:
    assert find_value(tell(text), key) == value


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("quick intro: I'm Petra, vet nurse up in Inverness", "works_as", "vet nurse"),
        ("I'm Petra, vet nurse up in Inverness", "lives_in", "Inverness"),
        (
            "out of the shoebox at last, me and Jo got a place together in Nairn",
            "lives_in",
            "Nairn",
        ),
        ("back home in Sheffield, mum is fine", "lives_in", "Sheffield"),
        ("Just moved to Lisbon for a job at a surf school", "works_at", "a surf school"),
        ("gonna be driving lorries for Stobart from may", "works_at", "Stobart"),
        ("I teach year 4 at a primary school in Hackney", "works_at", "a primary school"),
        ("I've been made deputy head from September!", "works_as", "deputy head"),
        ("started at a hostel reception, mostly nights", "works_at", "hostel reception"),
    ],
)
def test_what_is_told_on_the_way_is_kept(text: str, key: str, value: str) -> None:
    assert find_value(tell(text), key) == value


@pytest.mark.parametrize(
    "text",
    [
        "My brother is driving a van for Stobart",
        "My sister moved to Lisbon for a job at a bank",
        "My mum is back home in Sheffield",
        "If we got a house in Nairn, I'd be happy",
        "I'm home in Leeds for the weekend",
        "I teach my kids to swim at a school",
    ],
)
def test_what_is_another_s_imagined_or_passing_is_not_ones_own(text: str) -> None:
    told = [fact for fact in tell(text) if fact.owner == SPEAKER]
    assert not {fact.predicate_key for fact in told} & {"lives_in", "works_at", "works_as"}


def test_what_one_can_not_do_at_table_is_not_eaten() -> None:
    told = [f.text for f in tell("I can't do dairy, it gives me migraines")]
    assert f"{SPEAKER} can not eat dairy." in told


def test_a_pet_s_name_is_told_behind_how_it_was_got() -> None:
    told = [f.text for f in tell("Ended up getting a rescue greyhound, she's called Biscuit")]
    assert f"{SPEAKER}'s greyhound is called Biscuit." in told


def test_who_has_the_room_now_is_the_flatmate() -> None:
    told = [f.text for f in tell("Ines moved out, there's a guy called Bruno in her room now")]
    assert f"{SPEAKER}'s flatmate is Bruno now." in told


def test_there_is_the_place_named_before() -> None:
    (_, moved) = tell("Tobias got an offer in Hamburg and moved there last week.")
    assert moved.text == "Tobias moved to Hamburg last week."
    value = moved.object or moved.complement
    assert (moved.owner, moved.predicate_key, value) == ("Tobias", "lives_in", "Hamburg")


def test_an_aside_without_a_comma_is_no_part_of_what_is_told() -> None:
    (told,) = tell("By the way I finally gave up sugar in my coffee")
    assert told.text == f"{SPEAKER} finally gave up sugar in their coffee."
    assert told.polarity == "ended"


def test_a_shared_flat_is_told_and_a_shared_view_is_not() -> None:
    assert [fact.text for fact in tell("I share a flat with Declan.")] == [
        f"{SPEAKER} shares a flat with Declan."
    ]
    assert tell("I share that view.") == []


def test_a_list_that_begins_like_an_order_answers_what_was_asked() -> None:
    before = [
        *make_utterances((SPEAKER, "I run a bakery."), first=90),
        *make_utterances(("Hub", "Lovely, what do you bake?"), role="assistant", first=91),
    ]
    said = make_utterances((SPEAKER, "Mostly rye bread and cinnamon buns."))
    facts = LocalEngine().extract_memories([Exchange(said, before, (SPEAKER,), SPEAKER)])[0].facts
    assert [fact.text for fact in facts] == [f"{SPEAKER} bakes rye bread and cinnamon buns."]


@pytest.mark.parametrize(
    ("text", "told", "over"),
    [
        (
            "My manager Priya left, now it's Tom",
            f"{SPEAKER}'s manager is Tom now.",
            f"Priya was {SPEAKER}'s manager.",
        ),
        (
            "My boss quit. Irene took over",
            f"{SPEAKER}'s boss is Irene now.",
            f"{SPEAKER}'s boss quit.",
        ),
        ("My manager left. It's Tom Baker now.", f"{SPEAKER}'s manager is Tom Baker now.", None),
        (
            "the old landlord sold up, the new one is a Mrs Vance. a note for her please",
            f"{SPEAKER}'s landlord is Mrs Vance now.",
            None,
        ),
        (
            "the old dentist retired, the new one is Dr Osei",
            f"{SPEAKER}'s dentist is Dr Osei now.",
            f"{SPEAKER}'s old dentist retired.",
        ),
    ],
)
def test_who_follows_somebody_holds_now(text: str, told: str, over: str | None) -> None:
    facts = {fact.text: fact for fact in tell(text)}
    assert facts[told].polarity == "holds"
    assert facts[told].predicate_key == ""
    assert not [each for each in facts if "new one" in each]
    assert over is None or facts[over].polarity == "ended"


def test_nobody_follows_where_nobody_left() -> None:
    facts = tell("My manager is nice. It's Monday now.")
    assert not [fact for fact in facts if "Monday" in fact.text]


def test_who_is_introduced_as_dead_or_gone_was_somebodys() -> None:
    assert (f"Rex was {SPEAKER}'s dog.", "ended") in [
        (fact.text, fact.polarity) for fact in tell("My dog Rex died in May")
    ]
    assert f"Ana is {SPEAKER}'s wife." in [f.text for f in tell("My wife Ana left the house early")]


def test_where_one_was_before_that_is_told_of_home_or_work() -> None:
    homes = tell("we moved to Leeds in March, before that we were in Hull")
    assert f"{SPEAKER} lived in Hull before." in [fact.text for fact in homes]
    jobs = tell("I work at Aldi now, before that I was at Lidl")
    assert f"{SPEAKER} worked at Lidl before." in [fact.text for fact in jobs]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("I smoke", f"{SPEAKER} smokes."),
        ("I don't drive", f"{SPEAKER} does not drive."),
        ("I love kayaking and my dog is called Bigos", f"{SPEAKER} loves kayaking."),
        ("my neighbour Ines came by", f"{SPEAKER}'s neighbour Ines came by."),
        ("I adopted a grey cat, her name is Mitzi", f"{SPEAKER}'s cat is called Mitzi."),
        ("it's my birthday on the 4th of June", f"{SPEAKER}'s birthday is on the 4th of June."),
    ],
)
def test_little_is_told_and_kept(text: str, told: str) -> None:
    assert told in [fact.text for fact in tell(text)]


def test_what_one_cannot_stand_is_no_liking() -> None:
    (fact,) = tell("I can't stand the cold")
    assert (fact.polarity, fact.predicate_key, fact.object) == ("denied", "likes", "the cold")


def test_a_number_in_groups_is_one_value() -> None:
    assert tell("my phone number is 07700 900123")[0].complement == "07700 900123"


def test_what_is_told_of_somebody_is_not_put_to_who_they_are() -> None:
    facts = tell("My sister Devi came over. They called her Dev at school.")
    assert f"Devi is {SPEAKER}'s sister." in [fact.text for fact in facts]


@pytest.mark.parametrize(
    ("text", "firm"),
    [
        ("My company is called Harlow Freight", "Harlow Freight"),
        ("my new employer is Bosch", "Bosch"),
    ],
)
def test_a_firm_goes_by_its_name(text: str, firm: str) -> None:
    assert find_value(tell(text), "works_at") == firm


def test_what_a_firm_is_like_is_no_name() -> None:
    assert find_value(tell("My company is Swedish"), "works_at") is None


def test_beside_what_is_new_the_rest_of_the_sentence_is_read() -> None:
    told = tell("We have a new landlord now, Mr Okoro, and I moved to York last week.")
    assert find_value(told, "lives_in") == "York"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("We have two kids, Ella (7) and Max (4).", "Max is 4 years old."),
        ("Hi, I'm Dana, 34, I teach maths.", f"{SPEAKER} is 34 years old."),
        (
            "Owen got a job in Glasgow so we're moving there in June",
            f"{SPEAKER} is moving to Glasgow in June.",
        ),
        ("We had to rehome the dog last week.", f"{SPEAKER} does not have the dog any more."),
    ],
)
def test_what_stands_beside_a_name_or_behind_a_reason_is_told_by_itself(
    text: str, told: str
) -> None:
    assert told in [fact.text for fact in tell(text)]


def test_brackets_that_are_opened_are_closed() -> None:
    texts = [fact.text for fact in tell("We have two kids, Ella (7) and Max (4)")]
    assert all(text.count("(") == text.count(")") for text in texts)


@pytest.mark.parametrize(
    "text",
    ["I'm moving to Glasgow in June.", "We are moving to Glasgow.", "I'm moving to Glasgow."],
)
def test_who_is_moving_has_not_moved_yet(text: str) -> None:
    assert {fact.polarity for fact in tell(text) if fact.predicate_key == "lives_in"} == {"planned"}


@pytest.mark.parametrize(
    "text", ["I'm a welder now.", "I work as a postwoman.", "I'm a dog groomer these days."]
)
def test_less_usual_jobs_are_jobs(text: str) -> None:
    assert find_value(tell(text), "works_as")


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Whats my job", True),
        ("whos my landlord", True),
        ("how many kids do i have", True),
        ("what kind of music does she like", True),
        ("What's more, I moved.", False),
        ("What a day it was!", False),
        ("What's good about it is the sea.", False),
    ],
)
def test_questions_typed_in_a_hurry(text: str, asks: bool) -> None:
    assert is_question(text) is asks


def test_two_ages_in_one_breath_are_two_claims() -> None:
    told = {fact.text for fact in tell("Tilda's 7 and Moss is 3, both awake since five.")}
    assert told >= {"Tilda is 7 years old.", "Moss is 3 years old."}


@pytest.mark.parametrize(
    "text", ["Tilda's 7 minutes and Moss is 3 minutes away.", "Is it that Tilda's 7 and Moss's 3?"]
)
def test_numbers_that_are_no_ages_are_none(text: str) -> None:
    assert not [fact.text for fact in tell(text) if "years old" in fact.text]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("no dairy please bc im lactose intolerant", "lactose intolerant"),
        ("Skip the cashews because I'm allergic to nuts.", "allergic to nuts"),
        ("no stairs for me cos im pregnant", "pregnant"),
    ],
)
def test_what_is_told_of_oneself_as_a_reason_is_a_claim(text: str, told: str) -> None:
    assert f"{SPEAKER} is {told}." in [fact.text for fact in tell(text)]


def test_a_reason_of_the_moment_is_no_claim() -> None:
    assert not [f for f in tell("no thanks because I'm on my way home") if "is on" in f.text]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("they let me go on friday", f"{SPEAKER} was let go on Friday."),
        ("no more bowls for me, knee is shot", f"{SPEAKER} has given up bowls."),
        ("Mateo and I got engaged", f"Mateo is now engaged to {SPEAKER}."),
        ("tess and me got engaged!", f"Tess is now engaged to {SPEAKER}."),
        ("me and trent are over", f"{SPEAKER} broke up with Trent."),
        ("Ivo and I have decided to end things.", f"{SPEAKER} broke up with Ivo."),
        ("moved to support", f"{SPEAKER} is on support now."),
        ("ring me on 07700 900456 instead", f"{SPEAKER}'s phone number is 07700 900456 now."),
        (
            "use ana@parkside.org instead, the old one is dead",
            f"{SPEAKER}'s email is ana@parkside.org now.",
        ),
        (
            "my new number is 0151 496 0142, the old phone went in the lake",
            f"{SPEAKER}'s phone number is 0151 496 0142 now.",
        ),
        ("so Dr Mensah will supervise me", f"{SPEAKER}'s supervisor will be Dr Mensah."),
        ("The doctor says I've got high blood pressure", f"{SPEAKER} has got high blood pressure."),
    ],
)
def test_what_has_changed_is_told_as_what_is(text: str, told: str) -> None:
    assert told in [fact.text for fact in tell(text)]


@pytest.mark.parametrize(
    "text",
    [
        "they let me go early on friday",
        "they let me go on friday to the match",
        "my boss let me go home",
        "no more wine for me tonight",
        "no more coffee for me thanks",
        "Mateo and I got engaged two years ago",
        "me and my sister are over it",
        "hubby and me got engaged here",
        "me and Tom are over the moon",
        "me and Tom called it off last week",
        "moved to vegan cheese",
        "use orders@example.org instead of the form",
        "use tom@example.org instead, I'm away",
        "email her at jo@example.org now",
        "The doctor said I have to rest",
    ],
)
def test_what_only_sounds_like_it_has_not_changed(text: str) -> None:
    told = [fact.text for fact in tell(text)]
    marks = (" let go", "given up", "is now engaged", "broke up", " is on ", "email is", "rest.")
    assert not [each for each in told if any(mark in each for mark in marks)]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("My sister Naledi had her baby on Thursday. they named him Rohan", "Naledi's son"),
        ("Kaylee had the baby! 7 lbs, they named her Rohan", "Kaylee's daughter"),
        ("flatmate Ritu got a kitten, we're calling him Rohan", "Ritu's kitten"),
        ("we had a girl! We've called her Rohan after my nan", f"{SPEAKER}'s daughter"),
    ],
)
def test_a_newborn_is_known_by_the_name_it_was_given(text: str, told: str) -> None:
    facts = {fact.text for fact in tell(text)}
    assert f"Rohan is {told}." in facts
    assert not [each for each in facts if "calling" in each or "named Naledi" in each]


@pytest.mark.parametrize(
    "text",
    [
        "My boss Frank had a baby shower. we called him Frankie",
        "My nan is 90, we call her Biddy",
        "I called him Tuesday",
    ],
)
def test_who_is_called_so_was_not_always_born(text: str) -> None:
    assert not [f for f in tell(text) if f.text.startswith(("Frankie is", "Biddy is", "Tuesday"))]


def test_who_has_died_has_a_funeral_and_nobody_else() -> None:
    assert "Funeral is Tuesday." in [f.text for f in tell("mum died on sunday. funeral is tuesday")]
