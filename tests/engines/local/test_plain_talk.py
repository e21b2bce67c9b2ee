"""Plain talk to an assistant: what stands beside and before a statement, who is named by a role,
what an assistant is to do, and what was asked and is answered with a name."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from memoryhub.engines.types import Exchange, FactCandidate, Utterance
from tests.engines.local.dialogue import ENGINE, make_utterances
from tests.engines.local.test_local_statements import tell, tell_texts


def tell_after(*lines: str) -> list[str]:
    """The facts of the last of lines that a person and an assistant say by turns."""
    turns = [
        make_utterances(
            ("user-31" if (len(lines) - at) % 2 else "Hub", line),
            role="user" if (len(lines) - at) % 2 else "assistant",
            first=at,
        )[0]
        for at, line in enumerate(lines)
    ]
    return tell_last(turns)


def tell_last(turns: Sequence[Utterance]) -> list[str]:
    """The facts of the last of them."""
    exchange = Exchange(turns[-1:], turns[:-1], ("user-31",), "user-31")
    return [fact.text for fact in ENGINE.extract_memories([exchange])[0].facts]


def find_told(text: str, told: str) -> FactCandidate:
    (found,) = (fact for fact in tell(text) if fact.text == told)
    return found


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("My sister Rita, who lives in Porto, called.", "Rita lives in Porto."),
        ("Zola is my brother.", "Zola is user-31's brother."),
        ("tegan is my housemate", "Tegan is user-31's housemate."),
        ("housemate Tegan is throwing me a party", "Tegan is user-31's housemate."),
        ("How do I word a text to the vet, Anneke?", "Anneke is user-31's vet."),
        ("It's in Lahinch with Donal's sister Nuala.", "Nuala is Donal's sister."),
        ("I have a son, Matthis.", "Matthis is user-31's son."),
        ("I've got a sister called Rita in Leeds.", "Rita is user-31's sister."),
        ("Mrs Solheim is his teacher, my son Oskar adores her.", "Oskar is user-31's son."),
        ("the other one, Sorcha, is 14", "The other one, Sorcha, is 14."),
        ("write to me brother Lee", "Lee is user-31's brother."),
    ],
)
def test_who_somebody_is(text: str, told: str) -> None:
    assert told in tell_texts(text)


def test_a_role_before_a_name_is_no_part_of_it() -> None:
    assert find_told(
        "Husband Angus does the cooking.", "Husband Angus does the cooking."
    ).owner == ("Angus")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("My mum stays in Cork with my brother Sean.", "user-31's mum stays in Cork"),
        ("I get up at five and walk in the park.", "user-31 gets up at five"),
        (
            "My flatmate Nikhil is late with the rent. Polite but firm, he is my old friend.",
            "Nikhil is user-31's old friend",
        ),
        ("My son goes to St Brigid's now.", "user-31's son goes to St Brigid's now"),
        ("our lass Becky's finally got room for it all", "user-31's lass Becky has finally got"),
        (
            "We are camping in July, four of us.",
            "user-31 and others are camping in July, four of them",
        ),
        ("say I speak Yoruba", "user-31 speaks Yoruba"),
        ("name's Brett by the way", "user-31's name is Brett"),
        ("Myself I never drive at night.", "user-31 never drives at night"),
        ("quick one. firefighter, blue watch, Swansea, so 4 days off", "user-31 is a firefighter"),
        ("Started at Harlow on Monday, so what's the weather like there?", "user-31 started"),
    ],
)
def test_a_statement_is_told_without_what_stands_before_it(text: str, told: str) -> None:
    assert [each for each in tell_texts(text) if each.startswith(told)]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Otis swapped the trumpet for drums, quiet pads?", "Otis swapped the trumpet for drums."),
        ("we pay 795 for the flat, is that a lot", "user-31 and others pay 795 for the flat."),
        ("Hana's training as a medic, how long does it take", "Hana is training as a medic."),
        ("Nora is getting married in June, write me a toast", "Nora is getting married in June."),
        ("My brother lives in Oslo, any tips", "user-31's brother lives in Oslo."),
    ],
)
def test_what_is_asked_or_wanted_behind_what_is_told_is_no_part_of_it(text: str, told: str) -> None:
    assert tell_texts(text) == [told]


@pytest.mark.parametrize(
    "text",
    [
        "Farida likes tea, right?",  # all of it is asked
        "I could take the bus, the train?",
        "If Otis quits, who plays?",
    ],
)
def test_what_is_asked_as_a_whole_is_no_claim(text: str) -> None:
    assert not [each for each in tell_texts(text) if each.startswith(("Farida", "Otis", "user-31"))]


@pytest.mark.parametrize(
    "text",
    [
        "I need a packing list for a long trip.",
        "Need a hand with an application, a grant.",
        "I want to write my teacher that I'm late.",
        "bro explain accruals in four lines",
        "omg help me outline an essay about flies",
        "my mum says I'm too thin",  # nobody says so of themselves
    ],
)
def test_what_an_assistant_is_to_do_is_no_claim(text: str) -> None:
    assert not [each for each in tell_texts(text) if each.startswith(("user-31 ", "user-31's "))]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("I'm vegetarian and no eggs please, gives me itching.", "user-31 gives"),
        ("My hands are bad, it's the arthritis in both thumbs.", "The "),
        ("One of the kelpies, Tiger, is lame. Here is the text.", "The text"),
        ("He's big, a shepherd, the name is Bary.", "user-31's name"),
        ("It's just me on my own now.", "user-31 is user-31"),
        ("left meniscus, I was 19", "user-31 left"),
        ("hazelnut gives me a rash", "user-31's hazelnut"),
        ("I can't abide it, nor can I eat sesame.", "Can "),
    ],
)
def test_what_nobody_said_is_not_told(text: str, wrong: str) -> None:
    assert not [each for each in tell_texts(text) if each.startswith(wrong)]


@pytest.mark.parametrize(
    ("text", "polarity"),
    [
        ("I volunteer there, every second Saturday.", "holds"),
        ("I go by night bus once in a month.", "holds"),
        ("I've had the pair since January.", "holds"),
        ("My wife Dolores still has the photograph on the piano.", "holds"),
        ("I go by night bus on Friday.", "planned"),
    ],
)
def test_a_habit_is_no_plan_and_what_lasts_is_not_over(text: str, polarity: str) -> None:
    assert polarity in [fact.polarity for fact in tell(text)]
    assert polarity == "planned" or not [f for f in tell(text) if f.polarity != "holds"]


def test_an_age_that_was_is_no_age() -> None:
    assert not [fact for fact in tell("I was 19 then.") if fact.predicate_key == "age"]


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (("Want a line about your mum?", "yeah, Sheila."), "user-31's mum is Sheila."),
        (("Tag your coach?", "yeah coach Rena."), "user-31's coach is Rena."),
        (
            ("And the doctor's name?", "Dr Okoro, she never rushes."),
            "user-31's doctor is Dr Okoro.",
        ),
        (("Your date of birth?", "The 3rd of June 1944."), "user-31's date of birth is the 3rd"),
        (("Shall I add your email?", "ana@example.org"), "user-31's email is ana@example.org."),
        (("Any certificates?", "TIG and MAG"), "user-31's certificates are TIG and MAG."),
        (("Any allergies?", "only penicillin"), "user-31 is allergic to penicillin."),
        (("Who is the appointment with?", "Dr Foss, on June 19."), "user-31's appointment is with"),
        (("What do you teach, out of interest?", "Music, in Ennis."), "user-31 teaches music, in"),
        (
            ("How many hours?", "ok", "How old is your son?", "six"),
            "user-31's son is six years old.",
        ),
        (("My mum moved.", "Where does she live?", "In Cork."), "user-31's mum lives in Cork."),
    ],
)
def test_an_answer_is_told_as_a_statement(lines: tuple[str, ...], told: str) -> None:
    assert [each for each in tell_after(*lines) if each.startswith(told)]


@pytest.mark.parametrize(
    "lines",
    [
        ("Is your mum at home?", "Rarely."),
        ("Do you want the lyrics too?", "yes, short"),
        ("Any allergies?", "none for me"),
        ("A postie's bag with a loom?", "that's class"),
    ],
)
def test_an_answer_that_tells_nothing_is_none(lines: tuple[str, ...]) -> None:
    assert not [each for each in tell_after(*lines) if each.startswith(("user-31 ", "user-31's "))]


def test_nobody_answers_what_they_asked_themselves() -> None:
    lines = ("Is 62,000 km a lot for a car?", "That is moderate.", "Grand, we bought it.")
    assert not [each for each in tell_after(*lines) if each.startswith("Asked")]


def test_a_name_that_only_the_assistant_said_is_nobody_spoken_of() -> None:
    lines = ("what is a decent present?", "Pearl is traditional.", "She grew up in Kiama.")
    assert not [each for each in tell_after(*lines) if "Pearl grew" in each]


@pytest.mark.parametrize(
    ("text", "told", "owner", "predicate"),
    [
        ("my sister sold her car", "user-31's sister sold her car.", "user-31's sister", "owns"),
        ("Jen lost her job last week", "Jen lost her job last week.", "Jen", "works_as"),
        ("Dad broke his wrist", "user-31's dad broke his wrist.", "user-31's dad", ""),
        (
            "Dad fell and broke his wrist so he's staying with us in Corbridge",
            "user-31's dad broke his wrist so he is staying with user-31 and others in Corbridge.",
            "user-31's dad",
            "",
        ),
        (
            "dad's back in his own house since Saturday",
            "user-31's dad is back in his own house since Saturday.",
            "user-31's dad",
            "",
        ),
    ],
)
def test_what_somebody_does_with_what_is_theirs_is_told_of_them(
    text: str, told: str, owner: str, predicate: str
) -> None:
    found = find_told(text, told)
    assert (found.owner, found.predicate_key) == (owner, predicate)


def test_of_two_who_are_named_nobody_is_meant() -> None:
    assert tell_texts("Jen called Mia because she was sad") == ["Jen called Mia."]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("my dad's nurse is called Beth, she comes on Wednesdays", "Beth comes on Wednesdays."),
        (
            "Beth has left, the new nurse is Paul and he comes on Fridays instead",
            "Paul comes on Fridays instead.",
        ),
        ("the vet is called Ines, she's very good with cats", "Ines is very good with cats."),
        ("My sister is Clara. Her husband is Ben.", "Clara's husband is Ben."),
    ],
)
def test_who_was_just_introduced_is_he_or_she(text: str, told: str) -> None:
    assert told in tell_texts(text)


def test_who_is_he_is_looked_for_behind_another_he() -> None:
    lines = ("My dad has diabetes.", "He's 71 and lives in Hexham.", "his nurse is called Beth")
    turns = make_utterances(*(("user-31", line) for line in lines))
    assert tell_last(turns) == ["user-31's dad's nurse is called Beth."]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Helen's on maternity leave, so I report to Doug now", "user-31's manager is Doug now."),
        ("we report to Anna Kowalska these days", "user-31's manager is Anna Kowalska now."),
    ],
)
def test_who_one_reports_to_is_the_manager(text: str, told: str) -> None:
    assert told in tell_texts(text)


@pytest.mark.parametrize("text", ["I'd report to Sarah if they asked", "I report to HR"])
def test_not_everybody_one_reports_to_is(text: str) -> None:
    assert not any("manager" in told for told in tell_texts(text))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("got two kids, Milo who's 9 and Edie, 6", "Edie is 6 years old."),
        ("got two kids, Milo who's 9 and Edie, 6", "Milo is 9 years old."),
        ("my girls are June (7) and Kim (4)", "June is 7 years old."),
        ("Edie's turned 7, unicorn everything", "Edie has turned 7."),
        ("dev's moved in, kids adore him", "Dev has moved in."),
        (
            "met someone, called Dev, he's a paramedic, early days",
            "Dev is a paramedic, early days.",
        ),
        ("met a girl called Ines, she's a vet", "Ines is a vet."),
        ("Milo loves climbing, goes every thursday after school", "Milo goes every Thursday after"),
        ("also im coeliac so nothing with gluten please", "user-31 is coeliac."),
        ("I'm vegan, so nothing with eggs please", "user-31 is vegan."),
    ],
)
def test_what_is_told_in_passing_of_a_life(text: str, told: str) -> None:
    assert any(fact.startswith(told) for fact in tell_texts(text))


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("got two kids, Milo who's 9 and Edie, 6", "Milo is 9 and Edie"),
        ("the kids come on Sunday, 6, and stay", "Sunday is 6"),
        ("turns out its not coeliac, had the biopsy, it's just lactose", "biopsy is"),
        ("i've gone onto days! 8 to 4, they finally said yes", "they finally said"),
        ("Milo loves climbing, goes every thursday after school", "user-31: goes"),
    ],
)
def test_what_belongs_to_something_else_is_not_told_so(text: str, wrong: str) -> None:
    assert not any(wrong in fact for fact in tell_texts(text))


def test_what_came_through_is_not_over() -> None:
    assert find_told("my promotion came through", "user-31's promotion came through.").polarity != (
        "ended"
    )


def test_what_was_booked_anew_lies_ahead() -> None:
    (fact,) = (f for f in tell("rebooked for the 30th of july") if "30th" in f.text)
    assert fact.event is not None
    assert fact.event.start > fact.event.start.replace(month=1, day=1)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "I live with our two cats, Miso and Tofu.",
            ["Miso is user-31's cat.", "Tofu is user-31's cat."],
        ),
        ("my kids are Tom (7) and Ella", ["Tom is user-31's kid.", "Ella is user-31's kid."]),
        ("I've got three sisters: Ann, Bea and Cleo", ["Bea is user-31's sister."]),
        (
            "We've got two guinea pigs now, Pip and Marble, do they need a vet?",
            ["Pip is user-31's guinea pig.", "Marble is user-31's guinea pig."],
        ),
        ("Our two kittens, Bo and Fay, hate the vet.", ["Fay is user-31's kitten."]),
        (
            "my brothers Tom and Lee are visiting",
            ["Tom is user-31's brother.", "Lee is user-31's brother."],
        ),
    ],
)
def test_each_of_those_who_are_named_in_a_row_is_known(text: str, told: list[str]) -> None:
    assert set(told) <= set(tell_texts(text))


@pytest.mark.parametrize(
    ("text", "polarity"),
    [
        ("I sold the Corolla and bought a Tesla Model 3.", "ended"),
        ("I sold my van.", "ended"),
        ("I sold a painting at the fair.", "holds"),
    ],
)
def test_what_is_sold_is_no_longer_had_unless_it_is_wares(text: str, polarity: str) -> None:
    assert [fact.polarity for fact in tell(text) if "sold" in fact.text] == [polarity]


def test_a_wedding_is_an_occasion_and_nothing_that_somebody_does() -> None:
    fact, place = tell("My sister's wedding is on 12 June in Cork.")
    assert place.text == "user-31's sister's wedding is in Cork."
    assert (fact.text, fact.owner) == (
        "user-31's sister's wedding is on 12 June in Cork.",
        "user-31's sister",
    )


def test_who_speaks_is_not_named_twice() -> None:
    assert tell_texts("Lena and I broke up.") == ["Lena and user-31 broke up."]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("me and my gf sam live in brooklyn", "Sam is user-31's gf."),
        ("my brother tom is a vet", "Tom is user-31's brother."),
        ("new boss there is someone called Priya", "User-31's boss is Priya now."),
        ("Marcus left so the new head chef is Elena.", "User-31's head chef is Elena now."),
        ("My landlord is Mr. Petrov.", "User-31's landlord is Mr. Petrov."),
        ("Dr Whitfield is supervising me from June", "User-31's supervisor is Dr Whitfield now."),
        ("Abby's wedding is on September 5 in Savannah", "Abby's wedding is in Savannah."),
        ("My flight to Lisbon is on 14 March.", "User-31's flight is to Lisbon."),
        ("I'm doing a master's in biology", "User-31 is doing a master's in biology."),
        ("We finally moved! New house in Harrogate.", "User-31 lives in Harrogate now."),
        ("Sad day. We had to say goodbye to Rolo this morning.", "Rolo is gone."),
        ("Flatmates are Callum and Ines.", "Ines is user-31's flatmate."),
        ("I'm a line cook at a place called Nino's.", "User-31 works at Nino's."),
        (
            "the dentist moved me to june 16, 10am",
            "User-31's dentist moved user-31 to June 16, 10am.",
        ),
    ],
)
def test_what_is_typed_in_a_hurry_is_told(text: str, told: str) -> None:
    assert told.casefold() in {fact.casefold() for fact in tell_texts(text)}


@pytest.mark.parametrize("text", ["my sister works at tesco", "my dog food is expensive"])
def test_what_a_relative_does_is_no_name(text: str) -> None:
    assert not any(" is user-31's " in fact and "food" not in fact for fact in tell_texts(text))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("my parents? they're divorced", "user-31's parents are divorced."),
        ("Mum rang and dad didn't, they're divorced", "user-31's parents are divorced."),
        ("My kids hate peas, they love corn.", "user-31's kids love corn."),
        ("My sons play football. They are 8 and 10.", "user-31's sons are 8 and 10."),
    ],
)
def test_they_are_the_relatives_spoken_of(text: str, told: str) -> None:
    assert find_told(text, told).owner != "user-31"


def test_nobody_is_what_they_are_said_to_be_where_nobody_can_tell_who() -> None:
    assert not [fact for fact in tell("They're divorced.") if fact.predicate_key]


def test_whose_age_it_is_was_said_just_before() -> None:
    assert find_told("Admiral died. Thirteen years old.", "Admiral: thirteen years old.").owner == (
        "Admiral"
    )


def test_a_reading_of_the_blood_is_nobody() -> None:
    assert {fact.owner for fact in tell("HbA1c is 41 now, chuffed")} == {"user-31"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Matteo and I broke up, he never came.", "Matteo and user-31 broke up."),
        ("I'm allergic to walnuts, in case you suggest a cake.", "user-31 is allergic to walnuts."),
        ("My parents visit next week, they live in Leeds.", "user-31's parents live in Leeds."),
    ],
)
def test_what_stands_beside_a_statement_does_not_hide_or_bend_it(text: str, told: str) -> None:
    assert find_told(text, told).polarity != "planned"


def test_the_rest_of_a_question_is_no_claim() -> None:
    assert not tell_texts("████, is grapefruit ok")  # what an erasure leaves


@pytest.mark.parametrize("text", ["So much for Portugal.", "Paper accepted!!! after 2 rejections."])
def test_what_is_no_state_is_not_told_as_one(text: str) -> None:
    assert not [each for each in tell_texts(text) if each.startswith("user-31 is")]


@pytest.mark.parametrize(
    "text",
    [
        "Winston's keeping the team for good.",
        "I kept my own name.",
        "My paper got accepted in Nature.",
        "We booked Madeira in the end.",
        "The doctor has put me on warfarin.",
    ],
)
def test_what_goes_on_or_begins_is_not_over(text: str) -> None:
    assert {fact.polarity for fact in tell(text)} == {"holds"}


def test_who_hands_in_their_notice_has_left() -> None:
    found = find_told(
        "handed in my notice at La Verne", "user-31 handed in their notice at La Verne."
    )
    assert (found.predicate_key, found.polarity) == ("works_at", "ended")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "sold the van, got a Transit on finance, 320 a month",
            ["User-31 sold the van.", "User-31 got a Transit on finance, 320 a month."],
        ),
        (
            "My manager is Arjun and standup is at 9:30.",
            ["User-31's manager is Arjun.", "User-31's standup is at 9:30."],
        ),
        (
            "My supervisor is Professor Hollins and my contract runs until 2027.",
            ["User-31's supervisor is Professor Hollins.", "User-31's contract runs until 2027."],
        ),
        (
            "I sold the van and we got a new one.",
            ["User-31 sold the van.", "User-31 and others got a new van."],
        ),
        (
            "We were in Rome and Tom is in Paris now.",
            ["User-31 and others were in Rome.", "Tom is in Paris now."],
        ),
        ("I said Al is in Leeds. He is in York.", ["Al is in York."]),
    ],
)
def test_two_statements_in_one_breath_are_told_apart(text: str, told: list[str]) -> None:
    assert [each[:1].upper() + each[1:] for each in tell_texts(text)] == told


def test_where_somebody_moved_to_is_home_and_where_from_is_not() -> None:
    (found,) = tell("I moved from Lyon to Bristol in January.")
    assert (found.predicate_key, found.object) == ("lives_in", "Bristol")


def test_how_long_it_goes_on_is_not_when_it_is() -> None:
    (found,) = tell("off till january with my back")
    assert (found.polarity, found.event) == ("holds", None)


def test_what_is_so_now_is_not_of_the_day_told_before_it() -> None:
    told = {
        f.text: f.event for f in tell("Ife arrived on Friday and is staying with us until May.")
    }
    assert told["Ife is staying with user-31 and others until May."] is None


def test_what_one_likes_of_a_season_is_no_plan() -> None:
    (found,) = tell("I like skiing in winter.")
    assert found.polarity == "holds"


def test_when_a_job_ends_is_not_when_it_is_done() -> None:
    found = {f.predicate_key: f for f in tell("Lars is a welder at Elm and retires in December.")}
    assert found["works_as"].polarity == "holds"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("I send 300 euros every month to my aunt", "user-31 sends 300 euros every month"),
        ("I see my physio every Tuesday", "user-31 sees their physio every Tuesday."),
        ("I talk to my nan twice a week", "user-31 talks to their nan twice a week."),
        ("I stay in my uncle's loft in Leith", "user-31 stays in their uncle's loft in Leith."),
        ("And the Leith flat is let, to two students.", "user-31's Leith flat is let, to two"),
        ("Note to self, via you: new cell is 416 555 0134.", "user-31's new cell is 416 555 0134."),
        ("The Herons said no so we changed to Ferry Aquatics.",
         "user-31 and others changed to Ferry Aquatics."),
        ("i work at Ferry Books now how mad is that??", "user-31 works at Ferry Books"),
        ("Omar proposed on a roof, I'm engaged???", "user-31 is engaged."),
        ("2 yrs sober this month, pls remember", "user-31 has been sober for 2 yrs."),
        ("my gym's Copper Bay, the big one", "user-31's gym is Copper Bay, the big one."),
        ("exam was to be Feb 20, now it's March 6", "Now the exam is March 6."),
        ("running's done, hung up the shoes", "user-31: running is done, hung up the shoes."),
        ("Andre and I got married in January.", "Andre and user-31 got married in January."),
        ("The neighbours complained so rehearsals are on Thursdays", "Rehearsals are on Thurs"),
        ("my letter says 4 May", "user-31's letter says 4 May."),
        ("lol. dana@saltmarsh.example. call me later", "user-31: dana@saltmarsh.example."),
    ],
)  # fmt: skip
def test_what_is_told_in_a_few_words_is_read(text: str, told: str) -> None:
    assert [each for each in tell_texts(text) if each.startswith(told)]


@pytest.mark.parametrize(
    "text",
    [
        "Stay strong!",
        "GOT IT. so happy",
        "yo need a resume",
        "and so much for Portugal, one look and it was Spain",
        "I tell you this every time",
        "I see her every Sunday",
        "Hi! I'm Callum Whitlock.",
        "she's leaving me for a man with a boat",
        "I would rather keep the boat and the trailer",
        "my cousin reckons the shop will close in May",
    ],
)
def test_what_rests_on_nothing_is_not_kept_as_it_was_said(text: str) -> None:
    assert not [each for each in tell_texts(text) if "happy" not in each]


def test_that_is_somebody_names_who_was_spoken_of() -> None:
    told = tell_texts("Otter has a little brother, Max. my other half picked him. thats Farida")
    assert not [each for each in told if "is Farida" in each]
