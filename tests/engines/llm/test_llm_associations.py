"""What the model may say of notes: by handles it was offered, in words that are bounded."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from memoryhub.engines.llm.engine import LLMEngine
from memoryhub.engines.types import Neighbourhood, NoteState, Passage
from memoryhub.errors import EngineError
from tests.support.hub import ScriptedModel

AT = datetime(2026, 5, 12, 9, tzinfo=UTC)
CUT = EngineError("too long", code="reply_cut")


def make_view(handle: str, content: str = "") -> NoteState:
    return NoteState(handle, content or f"About {handle}", ("word",), ("theme",), "Said.", AT)


def make_neighbourhood(new: str, *known: str) -> Neighbourhood:
    return Neighbourhood(make_view(new), [make_view(k) for k in known], [0.9] * len(known))


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel()


@pytest.fixture
def engine(model: ScriptedModel) -> LLMEngine:
    return LLMEngine(model)


def make_answer(*links: dict[str, Any], neighbours: Any = ()) -> dict[str, Any]:
    return {"links": list(links), "neighbours": list(neighbours)}


def test_AM3_handles_and_kinds_that_were_not_offered_are_dropped_and_counted(
    engine: LLMEngine, model: ScriptedModel
) -> None:
    fine = {"from": "n1", "to": "m1", "kind": "Continues", "reason": "next"}
    bad = [{"from": "n1", "to": "m99"}, {"from": "n1", "to": "m1", "kind": "married"}]
    strange = [{"from": "m1", "to": "m2"}, {"from": "n1", "to": "m3"}, {"to": ""}]
    model.script("link_evolve", make_answer(fine, *bad, *strange))
    found = engine.link_and_evolve(
        [make_neighbourhood("n1", "m1", "m2"), make_neighbourhood("n2", "m3")]
    )
    assert [(link.a, link.b, link.kind, link.reason) for link in found.links] == [
        ("n1", "m1", "continues", "next")
    ]
    assert engine.rejected == 5


def test_AM3_the_same_pair_twice_is_one_link(engine: LLMEngine, model: ScriptedModel) -> None:
    model.script("link_evolve", make_answer({"from": "n1", "to": "m1"}, {"from": "m1", "to": "n1"}))
    assert len(engine.link_and_evolve([make_neighbourhood("n1", "m1")]).links) == 1


def test_AM4_evolution_is_keyed_by_handles(engine: LLMEngine, model: ScriptedModel) -> None:
    """Guards A5: no list by position can shift one note's words to another."""
    said = [{"handle": "m2", "keywords": "tide"}, {"handle": "x"}, {"handle": "m2", "tags": ["b"]}]
    model.script("link_evolve", make_answer(neighbours=said))
    found = engine.link_and_evolve([make_neighbourhood("n1", "m1", "m2")])
    assert [(e.handle, e.keywords, e.tags, e.context) for e in found.evolutions] == [
        ("m2", ("tide",), None, None)
    ]
    assert engine.rejected == 1


def test_AM5_empty_values_are_no_values(engine: LLMEngine, model: ScriptedModel) -> None:
    model.script(
        "link_evolve", make_answer(neighbours=[{"handle": "m1", "tags": [], "context": " "}])
    )
    assert engine.link_and_evolve([make_neighbourhood("n1", "m1")]).evolutions == ()


def test_AM9_without_neighbours_nothing_is_asked(engine: LLMEngine, model: ScriptedModel) -> None:
    engine.link_and_evolve([make_neighbourhood("n1")])
    engine.link_and_evolve([make_neighbourhood("n1", "m1")], links=False, evolve=False)
    assert model.requests == []


def test_what_is_not_wanted_is_not_taken(engine: LLMEngine, model: ScriptedModel) -> None:
    both = make_answer({"to": "m1"}, neighbours=[{"handle": "m1", "tags": ["b"]}])
    model.script("link_evolve", both, both)
    assert engine.link_and_evolve([make_neighbourhood("n1", "m1")], links=False).links == ()
    assert engine.link_and_evolve([make_neighbourhood("n1", "m1")], evolve=False).evolutions == ()
    assert [data["wanted"] for data in model.list_calls("link_evolve")] == [
        ["neighbours"],
        ["links"],
    ]


def test_E14_what_is_too_long_is_cut(engine: LLMEngine, model: ScriptedModel) -> None:
    many = {"handle": "m1", "keywords": [f"w{n}" for n in range(40)], "context": "x" * 9000}
    model.script("link_evolve", make_answer(neighbours=[many]))
    (found,) = engine.link_and_evolve([make_neighbourhood("n1", "m1")]).evolutions
    assert (len(found.keywords or ()), len(found.context or "")) == (12, 500)


def test_too_many_notes_are_asked_about_in_halves(engine: LLMEngine, model: ScriptedModel) -> None:
    model.script("link_evolve", CUT, make_answer({"to": "m1"}), make_answer({"to": "m2"}))
    found = engine.link_and_evolve([make_neighbourhood("n1", "m1"), make_neighbourhood("n2", "m2")])
    assert [(link.a, link.b) for link in found.links] == [("n1", "m1"), ("n2", "m2")]


def test_of_an_only_note_the_farther_neighbours_are_given_up(
    engine: LLMEngine, model: ScriptedModel
) -> None:
    model.script("link_evolve", CUT, make_answer({"to": "m1"}))
    assert len(engine.link_and_evolve([make_neighbourhood("n1", "m1", "m2")]).links) == 1
    assert [len(data["known"]) for data in model.list_calls("link_evolve")] == [2, 1]


@pytest.mark.parametrize("reply", ["I'm sorry, I can't.", "{}", '{"type": "object"}'])
def test_E15_what_is_no_reply_is_a_failure(
    engine: LLMEngine, model: ScriptedModel, reply: str
) -> None:
    model.script("link_evolve", reply, reply)
    with pytest.raises(EngineError):
        engine.link_and_evolve([make_neighbourhood("n1", "m1")])


def test_notes_are_described_by_handle_and_those_left_out_are_none(
    engine: LLMEngine, model: ScriptedModel
) -> None:
    said = [
        {"handle": "n2", "keywords": ["b", "b", " "], "tags": "one", "context": "B."},
        {"handle": "n9", "keywords": ["x"]},
        {"handle": "n1", "keywords": [], "context": ""},
    ]
    model.script("note_build", {"notes": said})
    first, second, third = engine.describe_notes([Passage(f"n{n}", "t", AT) for n in (1, 2, 3)])
    assert (first, third) == (None, None)
    assert second is not None
    assert (second.keywords, second.tags, second.context) == (("b",), ("one",), "B.")
    assert engine.rejected == 1


def test_names_of_speakers_are_no_keywords(engine: LLMEngine, model: ScriptedModel) -> None:
    model.script("note_build", {"notes": [{"handle": "n1", "keywords": ["nora VOS", "Lucía"]}]})
    (draft,) = engine.describe_notes([Passage("n1", "Nora Vos: I met Lucía.\nHub: When?", AT)])
    assert draft is not None
    assert draft.keywords == ("Lucía",)


def test_too_many_texts_are_described_in_halves(engine: LLMEngine, model: ScriptedModel) -> None:
    one = {"notes": [{"handle": "n1", "context": "A."}]}
    model.script("note_build", CUT, one, {"notes": [{"handle": "n2", "context": "B."}]})
    drafts = engine.describe_notes([Passage("n1", "t", AT), Passage("n2", "t", AT)])
    assert [draft and draft.context for draft in drafts] == ["A.", "B."]
