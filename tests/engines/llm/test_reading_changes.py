"""What a model says that messages change of what is known, and what code takes of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from memoryhub.engines.llm.engine import LLMEngine
from memoryhub.engines.types import (
    ClaimChange,
    Exchange,
    Extraction,
    ExtractionOptions,
    FactCandidate,
    HeldClaim,
    Role,
    SourceSpan,
    Utterance,
)
from tests.support.claims import make_change_reply, make_changes_reply
from tests.support.hub import ScriptedModel
from tests.support.openai_server import OpenAIServer

AT = datetime(2024, 5, 20, 15, tzinfo=UTC)
MAY = datetime(2024, 5, 1, tzinfo=UTC)
MOVED = "moved to Faro on Monday, the flat is tiny"
HELD = [
    HeldClaim("m1", "Ana lives in Porto.", "Ana", "lives_in", MAY),
    HeldClaim("m2", "Rui likes tea.", "Rui", "likes", MAY, polarity="ended"),
]
FARO: dict[str, Any] = {
    "text": "Ana lives in Faro.",
    "quote": "moved to Faro on Monday",
    "relation": "lives_in",
    "value": "Faro",
}


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel()


def make_exchange(*texts: str, role: Role = "user", held: Sequence[HeldClaim] | None = HELD) -> Any:
    speaker = "Ana" if role == "user" else "Hub"
    said = [Utterance(f"t{n}", speaker, role, text, AT) for n, text in enumerate(texts, 1)]
    return Exchange(said, participants=("Ana",), subject="Ana", held=held, relations=("lives_in",))


def read_changes(
    model: ScriptedModel, exchange: Exchange, *changes: dict[str, Any], **parts: Any
) -> tuple[Extraction, int]:
    """What is taken of these changes, and how many items of the reply are not."""
    model.script("construct", make_changes_reply(*changes, **parts))
    engine = LLMEngine(model)
    (built,) = engine.extract_memories([exchange])
    return built, engine.rejected


def read_change(
    model: ScriptedModel, do: str, *targets: str, said: str = MOVED, **parts: Any
) -> FactCandidate:
    change = make_change_reply(do, *[], **({"targets": list(targets)} | FARO | parts))
    built, _ = read_changes(model, make_exchange(said), change)
    (fact,) = built.facts
    return fact


@pytest.mark.parametrize(
    ("do", "op", "polarity", "correction"),
    [
        ("same", "same", "holds", False),
        ("refine", "augment", "holds", False),
        ("replace", "contradict", "holds", False),
        ("end", "deny", "ended", False),
        ("wrong", "contradict", "holds", True),
    ],
)
def test_each_change_says_what_becomes_of_its_targets(
    model: ScriptedModel, do: str, op: Any, polarity: str, correction: bool
) -> None:
    fact = read_change(model, do, "m1")
    assert fact.changes == (ClaimChange(op, "m1"),)
    assert (fact.polarity, fact.correction) == (polarity, correction)
    assert (fact.owner, fact.verb, fact.object) == ("Ana", "lives in", "Faro")
    assert (fact.predicate_key, fact.kind, fact.quoted) == ("lives_in", "state", True)


def test_what_never_was_so_without_what_is_right_is_denied(model: ScriptedModel) -> None:
    fact = read_change(model, "wrong", "m1", value="", text="Ana does not live in Porto.")
    assert fact.changes == (ClaimChange("deny", "m1"),)
    assert (fact.polarity, fact.correction) == ("denied", True)


def test_what_is_new_changes_nothing(model: ScriptedModel) -> None:
    assert read_change(model, "add", "m1").changes == ()


def test_E13_targets_that_were_not_offered_are_dropped_and_counted(model: ScriptedModel) -> None:
    change = make_change_reply("replace", **(FARO | {"targets": ["m9", "m1", "m1", "2", ""]}))
    built, rejected = read_changes(model, make_exchange(MOVED), change)
    assert built.facts[0].changes == (ClaimChange("contradict", "m1"),)
    assert rejected == 4


def test_E13_what_is_no_change_costs_that_item_only(model: ScriptedModel) -> None:
    strange = make_change_reply("overwrite", **(FARO | {"targets": ["m1"]}))
    built, rejected = read_changes(
        model, make_exchange(MOVED), strange, make_change_reply(" Add ", **FARO)
    )
    assert [fact.changes for fact in built.facts] == [()]
    assert rejected == 1


def test_one_change_may_name_several_claims(model: ScriptedModel) -> None:
    fact = read_change(model, "replace", "m2", "m1")
    assert fact.changes == (ClaimChange("contradict", "m2"), ClaimChange("contradict", "m1"))


def test_a_number_names_an_earlier_change_of_the_reply(model: ScriptedModel) -> None:
    said = ("I live in Braga.", "No, wait: in Faro!")
    braga = make_change_reply(
        "add", "Ana lives in Braga.", quote="I live in Braga", relation="lives_in", value="Braga"
    )
    faro = FARO | {"quote": "in Faro", "source": "t2"}
    built, rejected = read_changes(
        model,
        make_exchange(*said),
        braga,
        make_change_reply("wrong", **(faro | {"targets": ["1", "2"]})),
    )
    first, second = built.facts
    assert second.changes == (ClaimChange("contradict", first.handle),)
    assert rejected == 1  # itself, and what comes later, is nobody's target


def test_nothing_is_judged_where_nothing_was_shown(model: ScriptedModel) -> None:
    change = make_change_reply("replace", **(FARO | {"targets": ["m1"]}))
    built, _ = read_changes(model, make_exchange(MOVED, held=None), change)
    assert built.facts[0].changes is None
    assert model.list_calls("construct")[0]["known"] == []


@pytest.mark.parametrize(
    ("parts", "kind", "polarity"),
    [
        ({"state": "now"}, "state", "holds"),
        ({"state": "planned"}, "plan", "planned"),
        ({"state": "past", "from": "2024-05-13", "to": "2024-05-13"}, "event", "holds"),
        ({"state": "past", "from": "2012", "to": "2016"}, "state", "holds"),
        ({"state": "past"}, "state", "holds"),
    ],
)
def test_a_state_says_whether_it_is_so_was_so_or_will_be(
    model: ScriptedModel, parts: dict[str, str], kind: str, polarity: str
) -> None:
    fact = read_change(model, "add", **parts)
    assert (fact.kind, fact.polarity) == (kind, polarity)


def test_what_is_told_as_over_has_an_end(model: ScriptedModel) -> None:
    until = read_change(model, "add", state="past", **{"from": "2012", "to": "2016"}).until
    assert until == datetime(2017, 1, 1, tzinfo=UTC)
    assert read_change(model, "add", state="past").until == AT
    later = read_change(model, "add", state="past", **{"from": "2012", "to": "2030"}).until
    assert later == AT  # what was told as over is not so after it was told
    assert read_change(model, "add", state="now").until is None
    assert read_change(model, "end", "m1", state="past").until is None


@pytest.mark.parametrize(
    ("parts", "cardinality"),
    [
        ({}, "single"),
        ({"one_at_a_time": False}, "multi"),
        ({"relation": "likes"}, "multi"),
        ({"relation": "phone_number", "one_at_a_time": True}, "single"),
        ({"relation": "phone_number", "one_at_a_time": True, "state": "planned"}, "multi"),
    ],
)
def test_a_model_says_whether_a_relation_has_one_value_at_a_time(
    model: ScriptedModel, parts: dict[str, Any], cardinality: str
) -> None:
    assert read_change(model, "add", **parts).cardinality == cardinality


def test_a_wish_to_forget_is_no_claim(model: ScriptedModel) -> None:
    said = "Please forget where I lived. I got a dog."
    wish = make_change_reply("forget", "", "m1", "m9", quote="forget where I lived")
    dog = make_change_reply("add", "Ana has a dog.", quote="I got a dog")
    built, rejected = read_changes(model, make_exchange(said), wish, dog)
    (asked,) = built.wishes
    assert asked.targets == ("m1",)
    assert said[asked.source.start : asked.source.end] == "forget where I lived"
    assert [fact.text for fact in built.facts] == ["Ana has a dog."]
    assert (built.speech_acts, rejected) == ({"t1": "forget"}, 1)


def test_only_people_wish(model: ScriptedModel) -> None:
    exchange = make_exchange("Forget where she lived.", role="assistant")
    built, rejected = read_changes(model, exchange, make_change_reply("forget", "", "m1"))
    assert (built.wishes, rejected) == ((), 1)


@pytest.mark.parametrize(
    ("said", "quote"),
    [
        ("I’ve moved to “Faro”.", 'I\'ve moved to "Faro"'),
        ("We moved\n  to   Faro!", "moved to Faro"),
        ("MOVED TO FARO", "moved to Faro"),
        ("moved to Faro", "Moved  to\nFARO"),
    ],
)
def test_a_quotation_is_found_whatever_its_case_its_space_and_its_marks(
    model: ScriptedModel, said: str, quote: str
) -> None:
    fact = read_change(model, "add", said=said, quote=quote)
    (source,) = fact.sources
    found = said[source.start : source.end]
    assert (fact.quoted, found.split()[-1].strip("”“").casefold()) == (True, "faro")
    assert fact.confidence == 0.9


def test_E13_without_its_quotation_a_claim_is_held_to_the_words(model: ScriptedModel) -> None:
    flat = {"text": "Ana has a tiny flat in Faro."}
    fact = read_change(model, "add", quote="she settled down in Faro", **flat)
    assert (fact.quoted, fact.confidence) == (False, 0.6)
    assert fact.sources == (SourceSpan("t1", 0, len(MOVED)),)
    made_up = FARO | {"text": "Ana keeps bees.", "quote": "Ana keeps bees"}
    asked = FARO | {"text": "Ana moves to Faro.", "quote": ""}
    for said, change in ((MOVED, made_up), ("Shall I move to Faro?", asked)):
        built, rejected = read_changes(
            model, make_exchange(said), make_change_reply("add", **change)
        )
        assert (built.facts, rejected) == ((), 1)


def test_E26_a_message_that_ends_in_a_question_mark_is_believed_where_it_is_quoted(
    model: ScriptedModel,
) -> None:
    said = "I moved to Faro, can you believe it?"
    fact = read_change(model, "add", said=said, quote=said)
    assert fact.quoted
    built, _ = read_changes(model, make_exchange(said), make_change_reply("add", **FARO))
    assert built.speech_acts == {"t1": "question"}  # nothing was taken of it


def test_E24_what_an_assistant_says_of_a_person_is_no_claim(model: ScriptedModel) -> None:
    change = make_change_reply("replace", **(FARO | {"targets": ["m1"], "quote": "moved to Faro"}))
    exchange = make_exchange("You moved to Faro, I hear.", role="assistant")
    built, rejected = read_changes(model, exchange, change)
    assert (built.facts, rejected) == ((), 1)


def test_E14_a_flood_of_changes_is_capped(model: ScriptedModel) -> None:
    note = {"keywords": [f"k{n}" for n in range(99)], "tags": [], "context": "x" * 10_000}
    many = [make_change_reply("add", **(FARO | {"text": f"{n} " + "y" * 900})) for n in range(200)]
    built, rejected = read_changes(model, make_exchange(MOVED), *many, note=note, new_topic=True)
    assert (len(built.facts), rejected) == (20, 180)
    assert max(len(fact.text) for fact in built.facts) == 500
    assert built.note is not None
    assert (len(built.note.keywords), len(built.note.context)) == (12, 500)
    assert built.topic_cue


def test_relations_name_the_change_that_says_them(model: ScriptedModel) -> None:
    entities = [{"name": "Ana", "type": "person"}, {"name": "Faro", "type": "place"}]
    relation = {"source": "Ana", "label": "lives_in", "target": "Faro", "fact": 1}
    built, rejected = read_changes(
        model,
        make_exchange(MOVED),
        make_change_reply("forget", "", "m1"),
        make_change_reply("add", **FARO),
        entities=entities,
        relations=[relation, relation | {"fact": 0}],
    )
    assert [(each.src, each.dst, each.fact) for each in built.relations] == [("Ana", "Faro", 0)]
    assert rejected == 1


def test_the_request_shows_what_is_known_and_what_was_said_before(model: ScriptedModel) -> None:
    before = Utterance("h1", "Ana", "user", "My flat in Porto is damp.", MAY)
    lately = replace(before, handle="h2", text="The new one is tiny.")
    exchange = replace(make_exchange(MOVED), earlier=[before], history=[lately], summary="S.")
    read_changes(model, exchange)
    (asked,) = model.list_calls("construct")
    assert asked["known"] == [
        {
            "handle": "m1",
            "owner": "Ana",
            "text": "Ana lives in Porto.",
            "since": "2024-05-01",
            "relation": "lives_in",
        },
        {
            "handle": "m2",
            "owner": "Rui",
            "text": "Rui likes tea.",
            "since": "2024-05-01",
            "relation": "likes",
            "state": "ended",
        },
    ]
    assert asked["relations"] == ["lives_in"]
    assert [each["handle"] for each in asked["history"]] == ["h1", "h2"]
    assert (asked["observed"], asked["summary"]) == ("2024-05-20", "S.")


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (ExtractionOptions(graph=False, notes=False, chain=False), []),
        (ExtractionOptions(notes=False, chain=False), ["entities", "relations"]),
        (ExtractionOptions(graph=False, notes=False), ["exchanges"]),
        (ExtractionOptions(), ["entities", "exchanges", "relations"]),
    ],
)
def test_only_what_is_wanted_is_asked_for_and_in_the_schema(
    options: ExtractionOptions, wanted: list[str]
) -> None:
    with OpenAIServer() as server:
        server.script_chat(json.dumps(make_changes_reply(make_change_reply("add", **FARO))))
        engine = LLMEngine.connect(server.url, "", "small", timeout=5)
        (built,) = engine.extract_memories([make_exchange(MOVED)], options)
        (request,) = server.requests
    assert [fact.text for fact in built.facts] == ["Ana lives in Faro."]
    sent = json.loads(request.body["messages"][1]["content"])
    schema = request.body["response_format"]["json_schema"]["schema"]
    assert sent["wanted"] == wanted
    assert sorted(schema["properties"]) == sorted(["changes", *wanted])
