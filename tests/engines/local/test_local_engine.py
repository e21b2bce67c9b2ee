"""The engine as a whole: batches, answers to questions, corrections, forgetting, languages."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from memoryhub.engines.local import LocalEngine
from memoryhub.engines.local.language import detect_language
from memoryhub.engines.types import Engine, Exchange, Extraction
from tests.engines.local.dialogue import AT, ENGINE, construct_lines, make_utterances

# Batches


def test_it_is_an_engine() -> None:
    engine: Engine = LocalEngine()
    assert engine.name == "local"


def test_one_construction_for_each_exchange_in_order() -> None:
    towns = ["Lisbon", "Ghent", "Turin", "Oslo"]
    made = ENGINE.extract_memories(
        [Exchange(make_utterances(("Ana", f"I moved to {town}."))) for town in towns]
    )
    assert [c.facts[0].object for c in made] == towns


def test_a_batch_reads_like_one_by_one() -> None:
    lines = ["I bought a canoe yesterday.", "What's your job?", "My sister is a vet."]
    exchanges = [Exchange(make_utterances(("Ana", line))) for line in lines]
    assert ENGINE.extract_memories(exchanges) == [
        ENGINE.extract_memories([e])[0] for e in exchanges
    ]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I cook on Sundays and sing in a choir.", "Ana sings in a choir."),
        ("I moved to Ghent and play the cello.", "Ana plays the cello."),
        ("We cook and sell jam.", "Ana and others cook and sell jam."),
        ("I helped Tom clean and paint the shed.", "Ana helped Tom clean and paint the shed."),
        ("I want to cook and sing in a choir.", "Ana wants to cook and sing in a choir."),
        ("I don't cook and clean.", "Ana does not cook and clean."),
        ("I can swim and dive.", "Ana can swim and dive."),
        ("We live in Leeds and sing.", "Ana and others live in Leeds."),
    ],
)
def test_verbs_that_share_a_subject_agree_with_it(said: str, told: str) -> None:
    assert told in [fact.text for fact in construct_lines(("Ana", said)).facts]


@pytest.mark.parametrize("texts", [(), ("",), ("  \n",), ("?!",), ("🎉",)])
def test_nothing_to_read(texts: tuple[str, ...]) -> None:
    made = construct_lines(*(("Ana", text) for text in texts))
    assert made.facts == ()
    assert made.note is None
    assert set(made.speech_acts.values()) <= {"chitchat", "question"}


def test_no_exchanges() -> None:
    assert ENGINE.extract_memories([]) == []


def test_threads_read_the_same() -> None:
    exchange = Exchange(
        make_utterances(("Ana", "I moved to Lisbon last week and I adopted a dog."))
    )
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda _: ENGINE.extract_memories([exchange])[0], range(8)))
    assert all(construction == made[0] for construction in made)


def test_the_history_is_context_and_yields_nothing() -> None:
    made = construct_lines(("Ana", "Fine, thanks."), before=(("Ben", "I bought a castle."),))
    assert made.facts == ()


# Questions and their answers


@pytest.mark.parametrize(
    ("question", "answer", "text", "key"),
    [
        ("What's your job?", "A nurse.", "Ana's job is a nurse.", "works_as"),
        ("What do you do for a living?", "A carpenter.", "Ana's job is a carpenter.", "works_as"),
        ("Where do you live?", "Porto.", "Ana lives in Porto.", "lives_in"),
        ("Where did you move to?", "To Oslo.", "Ana moved to Oslo.", "lives_in"),
        ("How old are you?", "34.", "Ana is 34 years old.", "age"),
        ("How many cats do you have?", "Three.", "Ana has three cats.", "has_count_cat"),
        ("Do you have any pets?", "Yes, two cats.", "Ana has two cats.", "has_count_cat"),
        ("Do you like jazz?", "Yes!", "Ana likes jazz.", "likes"),
        ("Have you been to Japan?", "Yes, twice.", "Ana has been to Japan.", ""),
        (
            "What's your favourite colour?",
            "Green.",
            "Ana's favourite colour is green.",
            "favourite_colour",
        ),
    ],
)
def test_a_short_answer_is_completed(question: str, answer: str, text: str, key: str) -> None:
    made = construct_lines(("Ana", answer), before=(("Ben", question),))
    (fact,) = made.facts
    assert (fact.text.casefold(), fact.predicate_key) == (text.casefold(), key)
    assert (fact.owner, fact.speaker, fact.sources[0].handle) == ("Ana", "Ana", "m0")
    assert made.speech_acts["m0"] == "assertion"


def test_question_and_answer_in_one_exchange() -> None:
    made = construct_lines(("Ben", "Where do you live?"), ("Ana", "In Ghent."))
    assert [(f.text, f.sources[0].handle) for f in made.facts] == [("Ana lives in Ghent.", "m1")]


def test_no_denies() -> None:
    made = construct_lines(("Ben", "Do you eat meat?"), ("Ana", "No."))
    assert [(f.text, f.polarity) for f in made.facts] == [("Ana does not eat meat.", "denied")]


def test_the_time_of_an_answer_is_found_in_the_answer() -> None:
    made = construct_lines(("Ben", "When did you move to Rome?"), ("Ana", "Oh, in 2019."))
    event = made.facts[0].event
    assert event is not None
    assert (event.start.year, event.text, event.at) == (2019, "2019", 7)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What's your plan?", "Thanks!"),
        ("Why do you run?", "The views."),
        ("Do you know Tom?", "Yes."),
        ("Do you like it?", "Yes."),
        ("Do you have any advice for my brother?", "Definitely!"),
        ("What's your job?", "What about yours?"),
        ("Tea or coffee?", "Tea."),
    ],
)
def test_what_cannot_be_completed_is_left(question: str, answer: str) -> None:
    assert construct_lines(("Ben", question), ("Ana", answer)).facts == ()


def test_nobody_answers_themselves() -> None:
    assert construct_lines(("Ana", "Where do you live?"), ("Ana", "Porto.")).facts == ()


# Speech acts


@pytest.mark.parametrize(
    ("text", "act"),
    [
        ("I moved to Porto.", "assertion"),
        ("Did I move to Porto?", "question"),
        ("Close the window.", "request"),
        ("If I were rich, I would travel.", "hypothetical"),
        ("Thanks a lot!", "chitchat"),
        ("Forget my address.", "forget"),
        ("Please delete what I said about my divorce.", "forget"),
        ("Can you forget my phone number?", "forget"),
        ("I want you to forget that I smoke.", "forget"),
        ("Don't remember my birthday.", "forget"),
        ("I forget my keys all the time.", "assertion"),
        ("Thanks! I moved to Porto.", "assertion"),
    ],
)
def test_speech_act(text: str, act: str) -> None:
    assert construct_lines(("Ana", text)).speech_acts == {"m0": act}


@pytest.mark.parametrize(
    "text", ["I'll never forget my trip.", "Don't forget to call my mother.", "Forget about it."]
)
def test_forgetting_in_passing_is_no_order(text: str) -> None:
    assert construct_lines(("Ana", text)).speech_acts["m0"] != "forget"


# Corrections


def test_a_correction_within_the_exchange() -> None:
    made = construct_lines(
        ("Ana", "My interview is on Monday."), ("Ana", "Actually it was Tuesday, not Monday.")
    )
    first, second = made.facts
    assert (first.text, first.correction) == ("Ana's interview is on Monday.", False)
    assert (second.text, second.correction) == ("Ana's interview is on Tuesday.", True)
    assert (second.predicate_key, second.cardinality) == ("scheduled_interview", "single")
    assert second.sources[0].handle == "m1"


def test_a_correction_of_something_said_before() -> None:
    made = construct_lines(
        ("Ana", "Oh sorry, it's Ghent, not Bruges."),
        before=(("Ana", "My brother lives in Bruges."), ("Ben", "Nice.")),
    )
    assert [(f.text, f.correction) for f in made.facts] == [("Ana's brother lives in Ghent.", True)]


def test_only_the_speakers_own_words_are_put_right() -> None:
    made = construct_lines(
        ("Ana", "Sorry, it's Ghent, not Bruges."), before=(("Ben", "I live in Bruges."),)
    )
    assert made.facts == ()


def test_a_correction_that_is_a_sentence() -> None:
    (fact,) = construct_lines(("Ana", "Actually I moved to Porto, not Lisbon.")).facts
    assert (fact.object, fact.predicate_key, fact.correction) == ("Porto", "lives_in", True)


def test_never_said() -> None:
    (fact,) = construct_lines(("Ana", "I never said I live in Rome.")).facts
    assert (fact.predicate_key, fact.object) == ("lives_in", "Rome")
    assert (fact.polarity, fact.correction) == ("denied", True)


def test_an_ordinary_statement_is_no_correction() -> None:
    assert not construct_lines(("Ana", "I moved to Porto.")).facts[0].correction


# Notes, entities, relations, times, topic


def test_relations_point_at_their_fact_and_at_listed_entities() -> None:
    made = construct_lines(("Ana", "Thanks! I moved to Lisbon and I adopted a greyhound."))
    names = {entity.name for entity in made.entities}
    assert {(r.src, r.label, r.dst) for r in made.relations} == {
        ("Ana", "lives_in", "Lisbon"),
        ("Ana", "adopt", "greyhound"),
    }
    for relation in made.relations:
        assert {relation.src, relation.dst} <= names
        assert relation.dst in made.facts[relation.fact].text


@pytest.mark.parametrize(
    "text",
    ["My interview is on Monday.", "Monday was awful.", "It was Tuesday.", "I hate Mondays."],
)
def test_days_of_the_week_are_no_entities(text: str) -> None:
    made = construct_lines(("Ana", text))
    assert not [entity.name for entity in made.entities if "day" in entity.name]
    assert not [relation.dst for relation in made.relations if "day" in relation.dst]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("I finished another quilt.", "quilt"),
        ("I went to a reading last Fri.", "reading"),
        ("I loved all the red leaves.", "red leaves"),
        ("I have lots of kids' books.", ""),
        ("We had a blast at the fair.", ""),
        ("FYI, I had a great time.", ""),
    ],
)
def test_an_entity_is_what_one_could_be_told_more_of(text: str, name: str) -> None:
    made = construct_lines(("Ana", text))
    assert [e.name for e in made.entities if e.name not in ("Ana", "Ben")] == (
        [name] if name else []
    )


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("My sister Rita lives in Braga.", "Braga", "place"),
        ("I work at Escuela Las Moreras.", "Escuela Las Moreras", "organisation"),
        ("My neighbour Lucía brought me tortilla.", "Lucía", "person"),
        ("My daughter Paris started school.", "Paris", "person"),
        ("My dog Bolota lies on the tiles.", "Bolota", "person"),
        ("I moved to Paris.", "Paris", "place"),
        ("Our team Paris played well.", "Paris", "place"),
        ("Denver is my family.", "Denver", "place"),
    ],
)
def test_what_is_told_of_a_name_says_what_it_is(text: str, name: str, kind: str) -> None:
    made = construct_lines(("Ana", text))
    assert {e.name: e.type for e in made.entities}[name] == kind


def test_what_does_not_hold_makes_no_relation() -> None:
    assert construct_lines(("Ana", "I don't eat meat and I will visit Peru.")).relations == ()


def test_speakers_are_entities_even_when_no_name_is_found() -> None:
    made = construct_lines(("Ana", "Hm."), ("Ben", "Yes."))
    assert {(e.name, e.type) for e in made.entities} == {("Ana", "person"), ("Ben", "person")}


def test_keywords_without_names_or_times() -> None:
    note = construct_lines(
        ("Ana", "Ben and I restored a wooden sailboat in March in the old harbour.")
    ).note
    assert note is not None
    assert "wooden sailboat" in note.keywords
    assert not {"ben", "march", "ana"} & set(" ".join(note.keywords).split())
    assert note.context


@pytest.mark.parametrize(
    "text", ["Thanks, Ben! The sailboat is dry.", "Congrats, Ben! Lots of sailboats."]
)
def test_courtesies_are_no_keywords(text: str) -> None:
    note = construct_lines(("Ana", text)).note
    assert note is not None
    assert note.keywords == ("sailboat",)


def test_tags_are_broad() -> None:
    note = construct_lines(("Ana", "My daughter plays the violin in the school concert.")).note
    assert note is not None
    assert {"music", "family", "education"} <= set(note.tags)


def test_times_of_each_utterance() -> None:
    made = construct_lines(("Ana", "We met yesterday."), ("Ben", "Nice."))
    assert {handle: [t.text for t in spans] for handle, spans in made.times.items()} == {
        "m0": ["yesterday"]
    }


@pytest.mark.parametrize(
    ("text", "cue"),
    [
        ("Hey Ben, long time no see!", True),
        ("By the way, I bought a boat.", True),
        ("Anyway, how is work?", True),
        ("The boat is blue.", False),
        ("", False),
    ],
)
def test_topic_cue(text: str, cue: bool) -> None:
    assert construct_lines(("Ana", text)).topic_cue is cue


# Languages


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("I live in Porto.", "en"),
        ("ok", "en"),
        ("123 !?", "en"),
        ("", "en"),
        ("I love 北京 so much", "en"),
        ("我上个月搬到了上海", "zh"),
        ("我在 Google 工作", "zh"),
        ("こんにちは、元気ですか", "other"),
        ("Привет, как дела", "other"),
        ("Ich wohne mit meiner Frau in der Stadt und arbeite nicht", "other"),
        ("Muchas gracias por la comida", "other"),
    ],
)
def test_language(text: str, language: str) -> None:
    assert detect_language(text) == language


def test_chinese_goes_to_the_chinese_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Exchange] = []

    def reader(exchange: Exchange, *_: object) -> Extraction:
        seen.append(exchange)
        return Extraction(speech_acts={u.handle: "question" for u in exchange.utterances})

    monkeypatch.setattr("memoryhub.engines.local.engine._load_chinese_extractor", lambda: reader)
    made = construct_lines(("Ana", "I live in Porto."), ("Ben", "你喜欢那里吗"))
    assert [u.text for u in seen[0].utterances] == ["你喜欢那里吗"]
    assert made.speech_acts == {"m0": "assertion", "m1": "question"}
    assert [f.text for f in made.facts] == ["Ana lives in Porto."]


def test_without_chinese_rules_chinese_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memoryhub.engines.local.engine._load_chinese_extractor", lambda: None)
    made = construct_lines(("Ana", "我上个月搬到了上海"))
    assert made.facts == ()
    assert made.speech_acts == {"m0": "chitchat"}


def test_the_clock_is_never_read() -> None:
    (fact,) = construct_lines(("Ana", "I moved to Lisbon yesterday.")).facts
    assert fact.event is not None
    assert (AT - fact.event.start).days == 1
