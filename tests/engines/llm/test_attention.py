"""Knowledge, traits and an agent's steps: what is taken of a reply, and what is dropped."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from memoryhub.engines.llm.engine import LLMEngine
from memoryhub.engines.types import AgentContext, AgentMessage, AgentTool, Passage, TraitState
from memoryhub.errors import EngineError
from personas.dimensions import DIMENSIONS, list_allowed_keys
from tests.support.hub import ScriptedModel

AT = datetime(2024, 5, 10, 15, tzinfo=UTC)
PAGES = [Passage("p1", "Nora: I sing.", AT), Passage("p2", "Nora: I moved.", AT)]
KEYS = list_allowed_keys(extras=False, sensitive=False)
SCALES = [DIMENSIONS[key] for key in KEYS]
LOOK = AgentTool("look", "Look.", {"type": "object", "properties": {"query": {"type": "string"}}})


def make_engine(*replies: Any, purpose: str) -> tuple[LLMEngine, ScriptedModel]:
    model = ScriptedModel()
    model.script(purpose, *replies)
    return LLMEngine(model), model


def test_knowledge_rests_on_pages_that_were_offered() -> None:
    reply = {
        "user": [
            {"text": "Nora sings.", "evidence": ["p1", "p9"]},
            {"text": "Nora flies.", "evidence": ["p9"]},
            {"text": "", "evidence": ["p1"]},
            {"text": "Nora sings.", "evidence": "p2"},
        ],
        "agent": {"text": "The assistant booked a van.", "evidence": "p2"},
    }
    made, model = make_engine(reply, purpose="kb_extract")
    known = made.extract_knowledge(PAGES, subject="Nora")
    assert [(item.text, item.evidence) for item in known.user] == [("Nora sings.", ("p1",))]
    assert [(item.text, item.evidence) for item in known.agent] == [
        ("The assistant booked a van.", ("p2",))
    ]
    assert made.rejected == 3
    assert model.list_calls("kb_extract")[0]["pages"][0] == {
        "handle": "p1",
        "at": "2024-05-10T15:00+00:00",
        "text": "Nora: I sing.",
    }


def test_no_more_is_kept_than_the_cap() -> None:
    many = [{"text": f"Fact {n}.", "evidence": ["p1"]} for n in range(90)]
    made, _ = make_engine({"user": many}, purpose="kb_extract")
    assert len(made.extract_knowledge(PAGES, subject="Nora").user) == 20


def test_MO10_traits_of_the_registry_on_offered_pages() -> None:
    def said(key: str, level: str, *evidence: str) -> dict[str, Any]:
        return {"key": key, "level": level, "why": "So.", "evidence": list(evidence)}

    reply = {
        "traits": [
            said("music", "HIGH", "p1"),
            said("singing", "high", "p1"),
            said("openness", "very high", "p2"),
            said("autonomy", "high", "p9"),
            said("gender", "high", "p1"),
            said("music", "low", "p2"),
        ]
    }
    made, model = make_engine(reply, purpose="trait_update")
    held = [TraitState("music", "low", "Hums."), TraitState("gender", "low", "Not offered here.")]
    (only,) = made.assess_traits(PAGES, held, SCALES)
    assert (only.key, only.level, only.evidence) == ("music", "high", ("p1",))
    assert made.rejected == 5
    data = model.list_calls("trait_update")[0]
    assert data["keys"]["autonomy"] == {
        "high": "decides alone",
        "low": "leans on rules and others",
    }
    assert list(data["keys"]) == KEYS
    assert data["current"] == [{"key": "music", "level": "low", "why": "Hums."}]


@pytest.mark.parametrize("purpose", ["kb_extract", "trait_update"])
def test_E15_an_apology_is_a_failure_and_no_empty_result(purpose: str) -> None:
    made, _ = make_engine(*["I'm sorry, I can't help with that."] * 2, purpose=purpose)
    asked: dict[str, Callable[[], object]] = {
        "kb_extract": lambda: made.extract_knowledge(PAGES, subject="Nora"),
        "trait_update": lambda: made.assess_traits(PAGES, [], SCALES),
    }
    with pytest.raises(EngineError) as failed:
        asked[purpose]()
    assert failed.value.code in ("unreadable_reply", "refused")


def test_nothing_is_asked_about_nothing() -> None:
    made, model = make_engine(purpose="kb_extract")
    assert made.extract_knowledge([], subject="Nora").user == ()
    assert made.assess_traits(PAGES, [], []) == []
    assert model.requests == []


@pytest.mark.parametrize(
    ("reply", "tool", "arguments", "text"),
    [
        ({"tool": "look", "arguments": {"query": "x", "page": None}}, "look", '{"query": "x"}', ""),
        ({"tool": "look", "arguments": '{"query": "x"}'}, "look", '{"query": "x"}', ""),
        ({"tool": "look", "arguments": None, "text": "Why."}, "look", "{}", "Why."),
        ({"tool": "none", "arguments": {}, "text": " Hello. "}, "", "{}", "Hello."),
        ({"text": "Hello."}, "", "", "Hello."),
        ('{"tool": "look", "arguments": "{query: x"}', "look", "{query: x", ""),
    ],
)
def test_a_step_is_a_tool_with_its_arguments_as_sent_or_a_text(
    reply: Any, tool: str, arguments: str, text: str
) -> None:
    made, model = make_engine(reply, purpose="agent_step")
    step = made.choose_agent_step(AgentContext([AgentMessage("user", "Hi")], [LOOK]))
    assert (step.tool, step.text) == (tool, text)
    assert step.arguments == arguments
    data = model.list_calls("agent_step")[0]
    assert data["tools"] == [
        {"name": "look", "description": "Look.", "parameters": dict(LOOK.parameters)}
    ]


def test_what_the_agent_did_before_is_shown_to_it() -> None:
    made, model = make_engine({"text": "Done."}, purpose="agent_step")
    before = [
        AgentMessage("user", "Hi"),
        AgentMessage("assistant", "", "call-1", "look", '{"query": "x"}'),
        AgentMessage("tool", "OK: nothing", "call-1", "look"),
    ]
    made.choose_agent_step(AgentContext(before, [LOOK]))
    assert json.loads(json.dumps(model.list_calls("agent_step")[0]["messages"]))[1:] == [
        {"role": "assistant", "content": "", "tool": "look", "arguments": {"query": "x"}},
        {"role": "tool", "content": "OK: nothing", "tool": "look"},
    ]


def test_the_prompts_name_no_trait_that_is_not_registered() -> None:
    """The keys travel as data: another registry needs no other prompt."""
    from memoryhub.engines.llm.packaged_prompts import read_template

    said = read_template("trait_update")
    assert not [key for key in DIMENSIONS if f"`{key}`" in said]
